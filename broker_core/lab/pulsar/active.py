"""What the nodes' states of a Pulsar lane say where one consumer is active on a topic or on each partition:
Exclusive and Failover."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.pulsar.reading import BROKER, PulsarReading, messages_in
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker_state import consumer_key, topic_key
from broker_core.pulsar.client.consumer import CONSUMER_ID
from broker_core.pulsar.client.producer import MASK_31
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.settings import EXCLUSIVE
from broker_core.pulsar.subscription import Subscription
from broker_core.pulsar.topic import Topic

if TYPE_CHECKING:
    pass

STANDBYS_SHOWN = 8


class ActiveReading(PulsarReading):
    """type: Exclusive or Failover. parts: the (topic, partition) that consumers have; each is shown as the
    partition of its place. count: how many there are to choose from, 0 for the one topic without partitions.
    in_order: there whoever came first is active, as the documentation has it."""

    counts_keys = False
    has_order = False

    def __init__(self, setup: LaneSetup, kind: str, partitions: int, topics: int) -> None:
        super().__init__(setup)
        self.type = kind
        self.count = topics or partitions
        self.in_order = setup.algorithm == "failover_document" and not topics
        self.parts = c.parts_of(c.TOPIC, partitions, topics)
        self.hashes = self.owners.hashes

    # -- nodes -----------------------------------------------------------------------------------------------

    def subscriptions(self) -> list[Subscription]:
        broker = self.broker()
        return [self.of(broker, topic) for topic in self.topics()]

    def topics(self) -> list[Topic]:
        topics = self.broker().state.topics
        return [topics[topic_key(*part)] for part in self.parts]

    def active(self, subscription: Subscription) -> str | None:
        """The program that is active there, also during the second in which it does not read yet."""
        dispatcher = subscription.dispatcher
        if not isinstance(dispatcher, ActiveDispatcher) or dispatcher.active is None:
            return None
        return dispatcher.consumers[dispatcher.active].name

    def is_read(self, subscription: Subscription) -> bool:
        """Whether somebody alive reads it."""
        dispatcher = subscription.dispatcher
        if not isinstance(dispatcher, ActiveDispatcher) or dispatcher.active is None or dispatcher.switching:
            return False
        return dispatcher.active.partition(".")[0] not in {
            str(self.client(name).connection) for name in self.lane.crash_positions
        }

    def keys_of(self, incarnation: str) -> list[str]:
        """What the partitions' subscriptions call this program's consumers."""
        connection = self.client(incarnation).connection
        return [consumer_key(connection, CONSUMER_ID + place) for place in range(len(self.parts))]

    def partition_of(self, code: int) -> int:
        """The place of a key's partition."""
        return (self.hashes[code] & MASK_31) % self.count if self.count else 0

    # -- what the state says ---------------------------------------------------------------------------------

    def would_wait(self, index: int, code: int) -> bool:
        place = 0 if code == NO_KEY else self.partition_of(code)
        return not self.is_read(self.subscriptions()[place])

    def weights(self) -> dict[str, int]:
        weights = {name: 0 for name, consumer in self.lane.consumers.items() if self.is_served(consumer)}
        for topic, subscription in zip(self.topics(), self.subscriptions(), strict=True):
            name = self.active(subscription)
            if name is not None:
                weights[name] = weights.get(name, 0) + topic.ledger.messages
        return weights

    def key_owners(self) -> list[str | None]:
        active = [self.active(subscription) for subscription in self.subscriptions()]
        return [
            active[self.partition_of(code)]
            for code in self.lane.keys.codes[: self.lane.keys.count_at(self.lane.next_record)]
        ]

    def units(self) -> dict[str, str | None]:  # type: ignore[override]  # here there are some
        return {
            str(place): self.active(subscription) for place, subscription in enumerate(self.subscriptions())
        }

    def space(self) -> None:  # type: ignore[override]  # no hash is looked up
        return None

    def is_settled(self) -> bool:
        """Everybody is let in or refused, and no switch waits for its second."""
        dispatchers = [subscription.dispatcher for subscription in self.subscriptions()]
        if any(isinstance(known, ActiveDispatcher) and known.switching for known in dispatchers):
            return False
        # From the newest on, who is answered last: this is asked at each turning point, of all who are there.
        living = [
            consumer.incarnation
            for consumer in reversed(self.lane.consumers.values())
            if consumer.state not in (CRASHED, GONE)
        ]
        if not all(self.is_answered(incarnation) for incarnation in living):
            return False
        return not self.served().difference(living, self.lane.crash_positions)

    def is_answered(self, incarnation: str) -> bool:
        """Whether the broker has let this program's consumers in, or refused them; the word may still be on
        its way."""
        state, broker = self.client(incarnation), self.lane.world.slots[BROKER]
        known = self.broker().state.connections.get(state.connection)
        if known is None:
            return False
        coming = [
            message.request_id
            for message, _ in broker.links[state.connection].queue
            if type(message) is c.CommandError
        ]
        return bool(state.parts) and all(
            consumer_id in known.consumers
            or bool(part.refused)
            or part.unsubscribe_id > 0
            or part.request_id in coming
            for consumer_id, part in state.parts.items()
        )

    def dark_units(self) -> tuple[int, int]:
        return sum(not self.is_read(subscription) for subscription in self.subscriptions()), len(self.parts)

    def stuck(self) -> tuple[int, int]:
        live = self.lane.keys.count_at(self.lane.next_record)
        if not live:
            return self.dark_units()
        read = [self.is_read(subscription) for subscription in self.subscriptions()]
        return sum(not read[self.partition_of(code)] for code in self.lane.keys.codes[:live]), live

    def waiting_for(self, consumer: Consumer) -> int:
        mine = [known for known in self.subscriptions() if self.active(known) == consumer.name]
        # What it reports of a partition that is another's by now is none of its backlog.
        return max(
            0, sum(map(self.backlog, mine)) - self.unreported(self.lane.world.slots[consumer.incarnation])
        )

    def way_in(self) -> str:
        return "exclusive" if self.type == EXCLUSIVE else "standby" if self.in_order else "failover"

    def held(self, consumer: Consumer) -> int:
        keys = self.keys_of(consumer.incarnation)
        held = zip(self.subscriptions(), keys, strict=True)
        if self.has_batches:
            return sum(messages_in(known, known.unacked(key)) for known, key in held)
        return sum(known.unacked_count(key) for known, key in held)

    def waiting(self, subscription: Subscription) -> int:
        """All that nobody has read."""
        if not self.has_batches:
            return subscription.waiting
        return self.backlog(subscription) - sum(
            messages_in(subscription, subscription.unacked(key)) for key in subscription.consumers
        )

    def held_back(self, consumer: Consumer) -> int:
        """No order rule keeps anybody waiting here."""
        return 0

    def stopped(self) -> Mapping[str, int]:
        """Also of a partition that nobody has read yet, the second before somebody does."""
        found = {}
        for place, subscription in enumerate(self.subscriptions()):
            dispatcher = subscription.dispatcher
            if place in self.notes.unread_us:
                found[str(place)] = self.notes.unread_us[place]
            elif (
                isinstance(dispatcher, ActiveDispatcher) and dispatcher.switching and subscription.cursor.end
            ):
                found[str(place)] = dispatcher.since_us
        return found

    def note_readers(self) -> None:
        notes = self.notes
        read = [
            place for place, subscription in enumerate(self.subscriptions()) if self.is_read(subscription)
        ]
        for place in read:
            since_us = notes.unread_us.pop(place, None)
            if since_us is not None:
                self.lane.ledger.note_pause(since_us)
        for place in sorted({*notes.read}.difference(read)):
            notes.unread_us[place] = self.lane.now_us
        notes.read = read

    def route(self, index: int, code: int) -> Json:
        if code == NO_KEY:
            state = self.lane.world.slots["(producer)"].node.state
            place = (state.next_partition - 1) % self.count if self.count else 0
        else:
            place = self.partition_of(code)
        subscription = self.subscriptions()[place]
        hash31 = None if code == NO_KEY else self.hashes[code] & MASK_31
        return {
            "hash": hash31, "unit": str(place), "consumer": self.active(subscription), "place": None,
            "waits": not self.is_read(subscription),
        }  # fmt: skip

    def picture(self) -> Json:
        before, stopped = self.lane.ledger.units_before(), self.stopped()
        partitions: Json = {}
        for place, subscription in enumerate(self.subscriptions()):
            cursor, dispatcher = subscription.cursor, subscription.dispatcher
            owner, key = self.active(subscription), str(place)
            # Who came back before its former connection was given up has two consumers there, and stands
            # once.
            order = (
                {}
                if not isinstance(dispatcher, ActiveDispatcher)
                else dict.fromkeys(one.name for one in dispatcher.picker.consumers)
            )
            partitions[key] = {
                "owner": owner,
                "before": before.get(key),
                "lag": self.backlog(subscription),
                "end": cursor.end,
                "position": cursor.read_position,
                "committed": cursor.mark_delete + 1,
                "stopped": key in stopped,
                "standbys": [name for name in order if name != owner][:STANDBYS_SHOWN],
            }
        refused = [
            consumer.name
            for consumer in self.lane.consumers.values()
            if self.client(consumer.incarnation).refused
        ]
        return {
            "kind": "grid",
            "type": self.type,
            "topic": c.TOPIC,
            "state": "Active",
            "partitions": partitions,
            "refused": refused,
            "max_lag": max(partition["lag"] for partition in partitions.values()),
        }

    def check(self) -> None:
        for place, subscription in enumerate(self.subscriptions()):
            subscription.check()
            if subscription.cursor.end < subscription.cursor.read_position:
                raise InvariantError(f"partition {place} is read past its end")
