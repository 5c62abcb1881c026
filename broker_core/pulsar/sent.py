"""A producer's messages, straight from what its application gives it into what the broker does with them: several in a row, none made.

    producer: stamp ─► broker: entry at the end of its topic ─► nothing waits: given to its consumer        up to whatever else is due, or until
                                                            └─► something does: dispatched as ever          somebody tells something

As long as the producer has one connection that is in order, one topic without partitions, waits for no receipts, and nobody looks for
duplicates; else each is a message that the broker receives (`sim/stream.py`), which comes to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from broker_core.pulsar.broker import Broker, spread
from broker_core.pulsar.client.producer import PRODUCER_ID, Producer
from broker_core.pulsar.commands import CommandMessage
from broker_core.pulsar.entry import Entry
from broker_core.sim.stream import Stream

if TYPE_CHECKING:
    from broker_core.pulsar.topic import Topic
    from broker_core.sim.network import Link
    from broker_core.sim.slot import Slot


class Sent(Stream):
    """ordering_keys: how many there are, 0 where the key is the sticky one. way: the link, the topic and the producer's name there; None where each
    message is received by itself, as it is while anything is the matter with the link."""

    def __init__(self, sender: Slot, receiver: Slot, publish: Callable[[int, int], tuple[int, Any]], ordering_keys: int = 0) -> None:
        super().__init__(sender, publish)
        self.producer, self.broker, self.receiver = cast(Producer, sender.node), cast(Broker, receiver.node), receiver
        self.ordering_keys = ordering_keys
        self.way: tuple[Link, Topic, str] | None = None

    def plan(self, sent: Sequence[int], keys: Sequence[int], number: int) -> None:
        super().plan(sent, keys, number)
        links, has_parts = list(self.sender.links.values()), self.producer.has_parts
        topic, name, wants_receipts = self.broker.producers.get(self.producer.state.connection, {}).get(PRODUCER_ID, (None, "", False))
        is_plain = topic is None or len(links) != 1 or has_parts or wants_receipts or self.broker.has_dedup
        self.way = None if is_plain else (links[0], cast("Topic", topic), name)

    def arrive(self, place: int, until_us: int) -> None:
        if self.way is None or self.way[0].trouble:
            super().arrive(place, until_us)
            return
        (link, topic, name), broker, world, out = self.way, self.broker, self.world, self.receiver
        state, ordering_keys, spreads_keyless = self.producer.state, self.ordering_keys, broker.spreads_keyless
        ledger, hash_of, heap, told = topic.ledger, broker.hash_of, world.heap, world.told
        entries, keys, times, number, stop = ledger.entries, self.keys, self.times, self.number, len(self.times)
        straight, at_us = broker.straight(topic, out), times[place]
        while True:
            # The producer's `stamp`, and the broker's `receive` of a message, written out: this is what every message goes through.
            code, self.place = keys[place], place + 1
            link.last_us = at_us
            key = code % ordering_keys if ordering_keys and code >= 0 else code
            entry = Entry(hash_of(key), number + place, key, at_us)
            if key < 0 and spreads_keyless:
                spread(entry, name, state.sequence_id)
            state.sequence_id += 1
            position = ledger.end
            entries[position] = entry
            ledger.end = position + 1
            if straight is None or (taker := straight.give(position, entry.hash32)) is None:
                broker.dispatch(topic, position, entry, at_us, out)
                straight = None
            else:
                straight.now_us = at_us
                to, consumer_id = broker.consumers[taker]
                out.feed(to, CommandMessage(consumer_id, position, entry.message))
            place += 1
            if place == stop or told or self.place != place:
                return
            at_us = times[place]
            if at_us > until_us or (heap and heap[0][0] <= at_us) or link.trouble:
                return
            world.now_us, world.cause = at_us, None
