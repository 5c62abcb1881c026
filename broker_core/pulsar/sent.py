"""A producer's messages, straight from what its application gives it into what the broker does with them:
several in a row, none made.

    producer: stamp ─► broker: entry at the end of its topic ─► given to its consumer                       up to whatever else is due, or until
                                                            ├─► waits with those that cannot be sent now    somebody tells something
                                                            └─► or is dispatched as ever

As long as the producer has one connection that is in order, one topic without partitions, waits for no
receipts, and nobody looks for duplicates; else each is a message that the broker receives (`sim/stream.py`),
which comes to the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from broker_core.pulsar.broker import Broker, spread
from broker_core.pulsar.client.producer import PRODUCER_ID, Producer
from broker_core.pulsar.commands import CommandMessage
from broker_core.pulsar.entry import Entry
from broker_core.sim.network import JITTER_MASK
from broker_core.sim.stream import Stream

if TYPE_CHECKING:
    from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
    from broker_core.pulsar.topic import Topic
    from broker_core.sim.network import Link
    from broker_core.sim.slot import Slot


class Sent(Stream):
    """ordering_keys: how many there are, 0 where the key is the sticky one. way: the link, the topic and the
    producer's name there; None where each message is received in its own step, as it is while the link is
    impaired."""

    def __init__(
        self,
        sender: Slot,
        receiver: Slot,
        publish: Callable[[int, int], tuple[int, Any]],
        ordering_keys: int = 0,
    ) -> None:
        super().__init__(sender, publish)
        self.producer, self.broker, self.receiver = (
            cast(Producer, sender.node),
            cast(Broker, receiver.node),
            receiver,
        )
        self.ordering_keys = ordering_keys
        self.way: tuple[Link, Topic, str] | None = None

    def plan(self, sent: Sequence[int], keys: Sequence[int], number: int) -> None:
        super().plan(sent, keys, number)
        links, has_parts = list(self.sender.links.values()), self.producer.has_parts
        topic, name, wants_receipts = self.broker.producers.get(self.producer.state.connection, {}).get(
            PRODUCER_ID, (None, "", False)
        )
        is_plain = topic is None or len(links) != 1 or has_parts or wants_receipts or self.broker.has_dedup
        self.way = None if is_plain else (links[0], cast("Topic", topic), name)

    def arrive(self, place: int, until_us: int) -> None:
        if self.way is None or self.way[0].trouble or self.broker.awaits(self.producer.state.connection):
            super().arrive(place, until_us)
            return
        (link, topic, _), world, times, stop = self.way, self.world, self.times, len(self.times)
        heap, told, straight = world.heap, world.told, self.broker.straight(topic, self.receiver)
        while True:
            done = place
            if straight is not None:
                limit_us = heap[0][0] if heap and heap[0][0] <= until_us else until_us + 1
                done = self.go_straight(
                    straight, place, bisect_left(times, limit_us, place + 1)
                )  # this one has waited for what is due with it
            if done == place:
                straight = None
                self.dispatch(place)
                done = place + 1
            place = done
            if place == stop or told or self.place != place:
                return
            at_us = times[place]
            if at_us > until_us or (heap and heap[0][0] <= at_us) or link.trouble:
                return
            world.now_us, world.cause = at_us, None

    def dispatch(self, place: int) -> None:
        """The broker takes the message at this place, and dispatches it."""
        link, topic, name = cast("tuple[Link, Topic, str]", self.way)
        broker, state, now_us = self.broker, self.producer.state, self.world.now_us
        self.place = place + 1
        link.last_us = now_us
        code = self.keys[place]
        key = code % self.ordering_keys if self.ordering_keys and code >= 0 else code
        entry = Entry(broker.hash_of(key), self.number + place, key, now_us)
        if key < 0 and broker.spreads_keyless:
            spread(entry, name, state.sequence_id)
        state.sequence_id += 1
        broker.dispatch(topic, topic.ledger.append(entry), entry, now_us, self.receiver)

    def go_straight(self, dispatcher: KeySharedDispatcher, first: int, stop: int) -> int:
        """The messages from one place on, before another, up to the first that does not go straight into its
        consumer's queue, nor waits with those that are known not to be sendable. Returns its place."""
        # What `dispatch`, the dispatcher's `arrived` and the slot's `feed` do, written out: this is what
        # every message goes through.
        link, topic, _ = cast("tuple[Link, Topic, str]", self.way)
        broker, ordering_keys, keys, times, number = (
            self.broker,
            self.ordering_keys,
            self.keys,
            self.times,
            self.number,
        )
        hash_of, consumers_of, links, jitter = (
            broker.hash_of,
            broker.consumers,
            self.receiver.links,
            self.world.jitter,
        )
        ledger, replay, cursor = topic.ledger, dispatcher.replay, dispatcher.cursor
        entries, owners, consumers, waiting, counts = (
            ledger.entries,
            dispatcher.owners,
            dispatcher.consumers,
            replay.waiting,
            replay.counts,
        )
        position, available, unacked = ledger.end, dispatcher.available, dispatcher.unacked
        last_unacked = dispatcher.limit_first - 1  # the message that reaches a limit has consequences
        place = first
        while place < stop and unacked < last_unacked:
            key, at_us = keys[place], times[place]
            if key < 0:
                if broker.spreads_keyless:
                    break
            elif ordering_keys:
                key %= ordering_keys
            hash32 = hash_of(key)
            owner = owners[hash32] if hash32 in owners else dispatcher.owner(hash32)
            if owner is None:
                break
            known = consumers[owner]
            if known.permits <= 0 or known.is_blocked or hash32 in counts:
                if not waiting or available <= 0:
                    break
                replay.add(position, hash32)
            else:
                connection, consumer_id = consumers_of[owner]
                to = links[connection]
                if not to.room:
                    break
                to.room -= 1
                arrives_us = at_us + to.delay_us + jitter[(at_us + to.number) & JITTER_MASK]
                if arrives_us < to.last_us:
                    arrives_us = to.last_us
                else:
                    to.last_us = arrives_us
                to.queue.append((CommandMessage(consumer_id, position, number + place), None))
                to.times.append(arrives_us)
                known.pending[position] = hash32
                known.permits -= 1
                known.unacked += 1
                available -= 1
                unacked += 1
            entries[position] = Entry(hash32, number + place, key, at_us)
            position += 1
            place += 1
        if place > first:
            self.place = place
            self.producer.state.sequence_id += place - first
            cursor.end = cursor.read_position = ledger.end = position
            dispatcher.available, dispatcher.unacked, dispatcher.looks_ahead = available, unacked, False
            link.last_us = dispatcher.now_us = self.world.now_us = times[place - 1]
        return place
