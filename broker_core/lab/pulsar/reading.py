"""What the nodes' states of a Pulsar lane say: who has which keys, who holds what, what waits, and the
picture of it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.pulsar.batches import BatchNotes
from broker_core.lab.pulsar.owners import Assignment, Owners, is_program
from broker_core.lab.pulsar.picture import Painted
from broker_core.lab.shared.bill import Space
from broker_core.lab.shared.darkness import SPACE_UNITS
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import consumer_key
from broker_core.pulsar.client.consumer import CONSUMER_ID
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.client.letters import dead_letter_topic, retry_topic
from broker_core.pulsar.client.producer import DEFAULT, ProducerState, Waiting
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.selectors import SELECTORS, make_selector
from broker_core.pulsar.selectors.protocol import Ranges
from broker_core.pulsar.settings import DRAINING, KEY_SHARED, RECENTLY_JOINED, STICKY, selector_of
from broker_core.pulsar.subscription import Subscription
from broker_core.pulsar.topic import Topic
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.slot import Slot

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

RINGS = ("consistent_hash", "consistent_hash_3_2_0", "consistent_hash_current", "ring_document")
BROKER, PRODUCER = "(broker)", "(producer)"
"""No consumer can be called so."""


@dataclass(slots=True)
class Notes:
    """key_counts: messages of each key so far, by its code. batches: what was sent, entry by entry, where the
    producer makes batches. read: places of the partitions that somebody alive is active on and reads;
    unread_us: of those that nobody reads any more, since when. rates: what each consumer finished
    (`lab/pulsar/history.py`)."""

    key_counts: Counter[int] = field(default_factory=Counter)
    batches: BatchNotes = field(default_factory=BatchNotes)
    read: list[int] = field(default_factory=list)
    unread_us: dict[int, int] = field(default_factory=dict)
    rates: dict[int, dict[str, int]] = field(default_factory=dict)


def messages_in(subscription: Subscription, positions: Iterable[int]) -> int:
    """Messages of these entries that are not acknowledged."""
    cursor, entries = subscription.cursor, subscription.entries
    return sum(cursor.left(position, entries[position].size) for position in positions)


class PulsarReading:
    """owners: who owns what now. counts_keys: whether messages are counted by their keys. has_order: whether
    an order rule of Key_Shared runs. notes, fresh: see `Reading`."""

    lane: Lane

    counts_keys = True
    has_order = True

    def __init__(self, setup: LaneSetup) -> None:
        self.is_ring, self.is_sticky = setup.algorithm in RINGS, setup.algorithm in STICKY
        self.has_batches = "batching" in setup.options
        self.has_receipts: bool = setup.options.get("receipts", False)
        self.has_dead_letters = "max_redeliver" in setup.options
        self.has_retry_topic = setup.options.get("retry_topic", False) and setup.algorithm not in (
            "exclusive",
            "failover",
            "failover_document",
        )
        algorithm = (
            setup.algorithm if setup.algorithm in SELECTORS else "auto_split"
        )  # of the other types only the keys' hashes are asked
        selector = make_selector(
            selector_of(algorithm, setup.options.get("order", RECENTLY_JOINED)), setup.options.get("points")
        )
        spreads_keyless = self.has_order and setup.options.get("order") == DRAINING
        self.owners = Owners(
            setup.messages, setup.keys, selector, setup.options.get("ordering_keys", 0), spreads_keyless
        )
        self._notes = Notes()
        self.fresh: list[int] | None = [] if self.counts_keys else None
        self.painted: Painted | None = None
        self.checked: Assignment | None = None  # whose slices are known to be whole

    @property
    def notes(self) -> Notes:
        if self.fresh:
            self._notes.key_counts.update(self.fresh)
            self.owners.note(self.fresh)
            self.fresh.clear()
        return self._notes

    @notes.setter
    def notes(self, notes: Notes) -> None:
        self._notes = notes

    def broker(self) -> Broker:
        return cast(Broker, self.lane.world.slots[BROKER].node)

    def subscription(self) -> Subscription:
        return self.of(self.broker(), self.topics()[0])

    def of(self, broker: Broker, topic: Topic) -> Subscription:
        """The programs' subscription of a topic or partition; an empty one where somebody has taken it
        away."""
        return topic.subscriptions.get(c.SUBSCRIPTION) or topic.nobodys(c.SUBSCRIPTION, broker.settings)

    def subscriptions(self) -> list[Subscription]:
        """Of the topic, or of each of its partitions."""
        return [self.subscription()]

    def topics(self) -> list[Topic]:
        """The lane's topic, or its partitions."""
        return [self.broker().state.topics[c.TOPIC]]

    def label(self, topic: Topic) -> str:
        """What a picture calls it: the partition, "-1" for the one topic without; of several topics its
        name."""
        return str(topic.partition) if topic.name == c.TOPIC else topic.name

    def under_way(self) -> int:
        """Records that were published and that the topic does not have yet."""
        if not self.has_receipts:
            return (
                self.lane.next_record
                - self.lane.first_record
                - sum(topic.ledger.messages for topic in self.topics())
            )
        return self.producer().sequence_id - sum(topic.taken for topic in self.topics())

    def client(self, incarnation: str) -> ConsumerState:
        return cast(ConsumerState, self.lane.world.slots[incarnation].node.state)

    def producer(self) -> ProducerState:
        return cast(ProducerState, self.lane.world.slots[PRODUCER].node.state)

    def key_of(self, incarnation: str) -> str:
        """What the broker's subscription calls this program's consumer."""
        return consumer_key(self.client(incarnation).connection, CONSUMER_ID)

    def served(self) -> set[str]:
        """Programs that have a consumer at the broker."""
        return {
            known.peer
            for known in self.broker().state.connections.values()
            if known.consumers and is_program(known.peer)
        }

    def dead(self) -> set[str]:
        """The broker's consumers whose programs are silent, which it has not noticed."""
        return {self.key_of(incarnation) for incarnation in self.lane.crash_positions}

    def ranges_of_living(self) -> dict[str, Ranges]:
        """What the programs ask for that are alive, in the order in which they were started."""
        programs = [
            slot
            for slot in self.lane.world.slots.values()
            if slot.kind == "consumer" and slot.condition != NODE_CRASHED
        ]
        return {slot.name: slot.node.state.ranges for slot in programs if not slot.node.state.refused}

    def dead_letters(self) -> int:
        """Messages in the subscription's dead-letter topic."""
        topic = self.broker().state.topics.get(dead_letter_topic(c.TOPIC, c.SUBSCRIPTION))
        return 0 if topic is None else topic.ledger.end

    def retry_letters(self) -> Subscription | None:
        """The programs' subscription of its retry letter topic; None: they use none, or have taken it
        away."""
        if not self.has_retry_topic:
            return None
        return self.broker().find(topic=retry_topic(c.TOPIC, c.SUBSCRIPTION))

    def letters(self) -> Json:
        """Of the picture: dead letters so far, and retry letters that wait or are worked on."""
        retries = self.retry_letters()
        return {
            **({"dead_letters": self.dead_letters()} if self.has_dead_letters else {}),
            **({} if retries is None else {"retry_letters": retries.cursor.backlog}),
        }

    def would_wait(self, index: int, code: int) -> bool:
        waiting = self.producer().waiting.get(0)
        _, holder = self.place(index, code, waiting[0] if waiting else None)
        return holder is None or (bool(self.lane.crash_positions) and holder in self.dead())

    def weights(self) -> dict[str, int]:
        return self.owners.weights(self.broker(), self.notes.key_counts)

    def key_owners(self) -> list[str | None]:
        return self.owners.key_owners(self.broker(), self.lane.keys.count_at(self.lane.next_record))

    def units(self) -> None:
        return None

    def space(self) -> Space:
        return self.owners.now(self.broker()).space

    def is_settled(self) -> bool:
        living = [
            consumer.incarnation
            for consumer in self.lane.consumers.values()
            if consumer.state not in (CRASHED, GONE)
        ]
        clients = {incarnation: self.client(incarnation) for incarnation in living}
        wanted = {
            name for name, client in clients.items() if not client.refused and not client.has_unsubscribed
        } | self.lane.crash_positions.keys()
        return wanted == self.served()

    def dark_units(self) -> tuple[int, int]:
        if not self.lane.crash_positions and not self.is_sticky and self.subscription().consumers:
            return (
                0,
                SPACE_UNITS,
            )  # a ring and split ranges have no gaps, and a large ring takes long to look at
        return self.owners.now(self.broker()).dark_units(self.dead()), SPACE_UNITS

    def stuck(self) -> tuple[int, int]:
        live, dead = self.lane.keys.count_at(self.lane.next_record), self.dead()
        if not live:
            return self.dark_units()
        holders = self.owners.now(self.broker()).holders_of(self.owners.slots(live))
        return sum(holder is None or holder in dead for holder in holders), live

    def waiting_for(self, consumer: Consumer) -> int:
        held = self.held(consumer) - self.unreported(self.lane.world.slots[consumer.incarnation])
        return held + self.subscription().waiting_for(self.key_of(consumer.incarnation))

    def way_in(self) -> str:
        return "ring" if self.is_ring else "halves"

    def redelivered(self) -> int:
        return self.broker().state.redelivered

    def held(self, consumer: Consumer) -> int:
        held = self.subscription().unacked_count(self.key_of(consumer.incarnation))
        retries = self.retry_letters()
        if retries is None:
            return held
        return held + retries.unacked_count(
            consumer_key(self.client(consumer.incarnation).connection, CONSUMER_ID + 1)
        )

    def is_served(self, consumer: Consumer) -> bool:
        """A newcomer that is kept from newer messages is so while it has older ones, that another gave
        back."""
        if self.key_of(consumer.incarnation) not in self.broker().consumers:
            return False
        return not self.held_back(consumer) or self.held(consumer) > 0

    def has_failed(self, consumer: Consumer) -> bool:
        return False

    def held_back(self, consumer: Consumer) -> int:
        """Unacknowledged records from before its join that keep a newcomer from everything newer, by the
        order rule of 3.2; else 0."""
        subscription = self.subscription()
        if not isinstance(subscription.dispatcher, KeySharedDispatcher):
            return 0
        limit = subscription.dispatcher.recently_joined.get(self.key_of(consumer.incarnation))
        if limit is None:
            return 0
        cursor = subscription.cursor
        return limit - 1 - cursor.mark_delete - sum(position < limit for position in cursor.ahead)

    def stopped(self) -> Mapping[str, int]:
        return {}

    def note_readers(self) -> None:
        """A consumer may have begun to read, or have stopped; here there are no partitions."""

    def owned_twice(self) -> tuple[str, ...]:
        return ()

    def lag(self) -> int:
        retries = self.retry_letters()
        again = 0 if retries is None else retries.cursor.backlog
        backlog = sum(self.backlog(known) for known in self.subscriptions())
        return (
            again
            + backlog
            + self.under_way()
            - sum(self.unreported(slot) for slot in self.lane.world.slots.values())
        )

    def lost(self) -> None:
        return None

    def backlog(self, subscription: Subscription) -> int:
        """Messages of a subscription that are not acknowledged."""
        cursor = subscription.cursor
        if not self.has_batches:
            return cursor.backlog
        return messages_in(
            subscription, (at for at in range(cursor.mark_delete + 1, cursor.end) if at not in cursor.ahead)
        )

    def waiting(self, subscription: Subscription) -> int:
        """Messages of them that are at nobody."""
        if not self.has_batches:
            return subscription.waiting
        return self.backlog(subscription) - sum(map(subscription.unacked_count, subscription.consumers))

    def gathering(self) -> int:
        """Messages that the producer has and has not sent: they wait for their batch to be whole."""
        return sum(map(len, self.producer().waiting.values()))

    def unreported(self, slot: Slot) -> int:
        """Messages that a program has handled and its broker will learn of: acknowledgements travel in
        groups."""
        if slot.kind != "consumer" or not slot.node.state.connection:
            return 0
        client = slot.node.state
        under_way = slot.links[client.connection].queue
        acks = [message for message, _ in under_way if type(message) is c.CommandAck]
        is_crashed = slot.condition == NODE_CRASHED
        if self.has_batches:
            waiting = (
                []
                if is_crashed
                else [
                    c.CommandAck(number, part.acks, False, part.in_batch)
                    for number, part in client.parts.items()
                ]
            )
            return self.acknowledged_by([*acks, *waiting], up_to=client.config.acks_cumulatively)
        return (0 if is_crashed else client.unreported) + sum(len(message.entries) for message in acks)

    def acknowledged_by(self, acks: Sequence[c.CommandAck], *, up_to: bool) -> int:
        """Messages that these will acknowledge, where an entry may hold several. up_to: each acknowledges all
        before it as well."""
        subscriptions, retries, count = self.subscriptions(), self.retry_letters(), 0
        if retries is not None:
            subscriptions = [*subscriptions, retries]
        for place, known in enumerate(subscriptions):
            cursor, mine = known.cursor, [ack for ack in acks if ack.consumer_id == CONSUMER_ID + place]
            whole = {
                entry
                for ack in mine
                for entry in ack.entries
                if not ack.is_cumulative or entry not in (ack.in_batch or {})
            }
            partly: dict[int, set[int]] = {}
            for ack in mine:
                for entry, places in (ack.in_batch or {}).items():
                    partly.setdefault(entry, set()).update(places)
            if up_to and (whole or partly):
                whole = set(
                    range(cursor.mark_delete + 1, max([*whole, *(entry - 1 for entry in partly)]) + 1)
                )
            count += messages_in(
                known, (entry for entry in whole if entry in known.entries and not cursor.is_acked(entry))
            )
            for entry in partly.keys() - whole:
                if not cursor.is_acked(entry):
                    count += len(partly[entry].difference(cursor.acked_in_batch.get(entry, ())))
        return count

    def place(self, index: int, code: int, first: Waiting | None) -> tuple[int, str | None]:
        """The slot of the newest message and the broker's consumer that owns it: of its key, or without one
        of what is hashed in its place. first: of its batch, None where there is none; the metadata of a
        default batch, and so its hash, is that of its first message."""
        number = index - self.lane.first_record
        if (
            code == NO_KEY
            and self.owners.spreads_keyless
            and first is not None
            and self.producer().batching == DEFAULT
        ):
            code, number = first.key, first.sequence_id
        return self.owners.place_of(self.broker(), code, PRODUCER, number)

    def route(self, index: int, code: int) -> Json:
        slot, holder = self.place(index, code, self.producer().first_of_batch)
        owner = None if holder is None else self.owners.now(self.broker()).names[holder]
        waits = holder is None or holder in self.dead()
        return {"hash": slot, "unit": None, "consumer": owner, "place": None, "waits": waits}

    def picture(self) -> Json:
        broker, subscription = self.broker(), self.subscription()
        before = self.lane.ledger.bill.space_before if self.lane.ledger.bill else None
        paint = Painted(
            self.owners.now(broker), before, frozenset(self.dead()), tuple(self.lane.consumers), self.is_ring
        )
        if self.painted is None or not paint.shows_the_same(self.painted):
            self.painted = paint
        keys = {name: self.key_of(consumer.incarnation) for name, consumer in self.lane.consumers.items()}
        return {
            **self.painted.picture,
            "type": KEY_SHARED,
            "waiting": self.waiting(subscription),
            "permits": {
                name: subscription.permits(key) for name, key in keys.items() if key in broker.consumers
            },
            "mark_delete": subscription.cursor.mark_delete + self.lane.first_record,
            "connected": len(subscription.consumers),
            **self.letters(),
        }

    def check(self) -> None:
        self.subscription().check()
        assignment = self.owners.now(self.broker())
        if assignment is not self.checked:  # the same object until a consumer comes or goes
            assignment.check()
            self.checked = assignment
        for consumer in self.lane.consumers.values():
            self.check_queue(consumer)

    def check_queue(self, consumer: Consumer) -> None:
        """Raise InvariantError if more waits in its client than the broker has given it. Batches do not count
        where a program may ask for them
        again: of what it has and has on its way, the broker may have taken back any. Nothing counts where
        there is a time-out: what is handled after it waits a second time by then, and the ack is for both;
        nor once a program has asked for messages again, for what was on its way then comes a second time."""
        client = self.client(consumer.incarnation)
        if (
            not client.queue
            or len(client.queue) <= self.held(consumer)
            or not client.is_subscribed
            or not self.is_served(consumer)
        ):
            return
        if client.config.timeout_us or any(part.has_asked for part in client.parts.values()):
            return
        queued = sum(not (client.config.cannot and message.places) for message in client.queue)
        if queued > self.held(consumer):
            raise InvariantError(
                f"{consumer.name} has {queued} messages waiting, the broker knows of {self.held(consumer)}"
            )
