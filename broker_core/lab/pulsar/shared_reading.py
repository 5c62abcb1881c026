"""What the nodes' states of a Pulsar lane say where keys have no owner: Shared, whose consumers take
turns."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.pulsar.owners import program_names
from broker_core.lab.pulsar.reading import PulsarReading
from broker_core.lab.shared.in_flight import BUCKETS_KEPT_S
from broker_core.pulsar import commands as c
from broker_core.pulsar.dispatchers.shared import SharedDispatcher
from broker_core.pulsar.settings import SHARED
from broker_core.pulsar.subscription import Subscription

if TYPE_CHECKING:
    pass

HEAD_SHOWN, IN_FLIGHT_SHOWN = 12, 24


def records_in(
    subscription: Subscription, positions: Iterable[int], most: int, again: Container[int] = ()
) -> list[Json]:
    """The first records of these entries that are not acknowledged; redelivered: the entry is among
    `again`."""
    found: list[Json] = []
    for position in positions:
        entry = subscription.entries[position]
        numbers = entry.batch or (entry.message,)
        places = subscription.cursor.places_left(position, entry.size) or range(entry.size)
        found += [{"record": numbers[place], "redelivered": position in again} for place in places]
        if len(found) >= most:
            break
    return found[:most]


class SharedReading(PulsarReading):
    """One topic, one Shared subscription."""

    counts_keys = False
    has_order = False

    def dispatcher(self) -> SharedDispatcher | None:
        """None until somebody has connected."""
        dispatcher = self.subscription().dispatcher
        return dispatcher if isinstance(dispatcher, SharedDispatcher) else None

    def living(self) -> list[str]:
        """Programs that are alive and that the broker serves."""
        alive = [
            consumer for consumer in self.lane.consumers.values() if consumer.state not in (CRASHED, GONE)
        ]
        return [consumer.name for consumer in alive if self.is_served(consumer)]

    def would_wait(self, index: int, code: int) -> bool:
        return not self.living()

    def weights(self) -> dict[str, int]:
        second = self.lane.now_us // SECOND_US
        return {
            name: consumer.acked_between(second - BUCKETS_KEPT_S, second + 1)
            for name, consumer in self.lane.consumers.items()
        }

    def key_owners(self) -> None:  # type: ignore[override]  # no key has an owner
        return None

    def space(self) -> None:  # type: ignore[override]  # no hash is looked up
        return None

    def dark_units(self) -> tuple[int, int]:
        return int(not self.living()), 1

    def stuck(self) -> tuple[int, int]:
        dispatcher, dead = self.dispatcher(), self.dead()
        held = (
            {} if dispatcher is None else {key: known.unacked for key, known in dispatcher.consumers.items()}
        )
        return sum(count for key, count in held.items() if key in dead), sum(held.values())

    def waiting_for(self, consumer: Consumer) -> int:
        return self.held(consumer) - self.unreported(self.lane.world.slots[consumer.incarnation])

    def way_in(self) -> str:
        return "turn"

    def stopped(self) -> Mapping[str, int]:
        return {}

    def route(self, index: int, code: int) -> Json:
        """Where the record is: at whom, at which place of those that wait, or done."""
        subscription, dispatcher = self.subscription(), self.dispatcher()
        position = self.position_of(index)
        consumer, place = None, None
        if dispatcher is not None:
            names = program_names(self.broker())
            consumer = next(
                (names[key] for key, known in dispatcher.consumers.items() if position in known.pending), None
            )
        if (
            consumer is None
            and position < subscription.cursor.end
            and not subscription.cursor.is_acked(position)
        ):
            place = self.waiting(subscription)
        return {
            "hash": None,
            "unit": None,
            "consumer": consumer,
            "place": place,
            "waits": consumer is None and not self.living(),
        }

    def position_of(self, index: int) -> int:
        """Where the record is in the topic: one for one, unless the producer makes batches, or may have sent
        it twice."""
        if not self.has_receipts and not self.has_batches:
            return index - self.lane.first_record
        entries, end = self.subscription().entries, self.subscription().cursor.end
        if index >= self.lane.next_record - self.under_way():
            return end
        return next(
            (
                position
                for position, entry in entries.items()
                if index == entry.message or index in entry.batch
            ),
            -1,
        )

    def picture(self) -> Json:
        subscription, dispatcher, names = (
            self.subscription(),
            self.dispatcher(),
            program_names(self.broker()),
        )
        cursor, again = (
            subscription.cursor,
            subscription.attached.sent_before if subscription.dispatcher is not None else set(),
        )
        waiting = [] if dispatcher is None else dispatcher.replay.first(HEAD_SHOWN)
        unread = range(
            cursor.read_position, min(cursor.end, cursor.read_position + HEAD_SHOWN - len(waiting))
        )
        order = [] if dispatcher is None else [known.consumer for known in dispatcher.turns.consumers]
        ring = (
            []
            if dispatcher is None
            else list(dict.fromkeys(names[known.consumer] for known in dispatcher.turns.upcoming()))
        )
        permits = {names[key]: subscription.permits(key) for key in order}
        held = {} if dispatcher is None else {key: dispatcher.consumers[key].pending for key in order}
        at: dict[str, list[int]] = {}  # by name: who came back has what its former connection holds, too
        for key, pending in held.items():
            at.setdefault(names[key], []).extend(pending)
        return {
            "kind": "queue",
            "type": SHARED,
            "name": c.TOPIC,
            "ready": self.waiting(subscription),
            "head": records_in(subscription, (*waiting, *unread), HEAD_SHOWN, again),
            "prefetch": 0,
            "ring": ring,
            "turn": ring[0] if ring else None,
            "permits": permits,
            "in_flight": {
                name: records_in(subscription, sorted(positions)[:IN_FLIGHT_SHOWN], IN_FLIGHT_SHOWN)
                for name, positions in at.items()
            },
            "unacked": 0 if dispatcher is None else dispatcher.unacked,
            "mark_delete": cursor.mark_delete + self.lane.first_record,
            **self.letters(),
        }

    def check(self) -> None:
        subscription = self.subscription()
        subscription.check()
        for consumer in self.lane.consumers.values():
            self.check_queue(consumer)
