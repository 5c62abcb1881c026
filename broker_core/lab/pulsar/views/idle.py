"""Why a consumer of a Pulsar subscription has nothing to do: the first of these that holds, with what is to
be known of it.

    crashed gone                                                       the program is silent
    acks_refused                                                       it acknowledges cumulatively, which its client refuses: it says so at work, too
    refused unsubscribed connecting paused holding                     the program, or its connection
    standby standby_priority switching                                 Failover: somebody else is active
    blocked subscription_full no_permits                               limits of unacknowledged messages, and permits
    no_range                                                           Key_Shared: no slot is its own
    better_level                                                       Shared: consumers of a better level have permits
    newcomer behind_newcomer draining key_waits out_of_reach delayed   something older has to be acknowledged, or its time has not come
    nothing_to_read                                                    all that it could get is acknowledged or at it

A consumer that works, or whose messages are on their way, is not idle. Source: the dispatchers, whose state
is read and not changed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE, PAUSED, Consumer
from broker_core.lab.pulsar.active import ActiveReading
from broker_core.lab.pulsar.views.cursor import holder_of, joins_of
from broker_core.pulsar.broker_state import consumer_key
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeyDispatcher
from broker_core.pulsar.dispatchers.pending import PendingDispatcher
from broker_core.pulsar.dispatchers.receiver import Receiver
from broker_core.pulsar.subscription import Subscription

if TYPE_CHECKING:
    from broker_core.lab.pulsar.reading import PulsarReading
    from broker_core.lab.shared.lane import Lane

CODES = (
    "crashed",
    "gone",
    "acks_refused",
    "refused",
    "unsubscribed",
    "connecting",
    "paused",
    "holding",
    "standby",
    "standby_priority",
    "switching",
    "blocked",
    "subscription_full",
    "no_permits",
    "no_range",
    "better_level",
    "newcomer",
    "behind_newcomer",
    "draining",
    "key_waits",
    "out_of_reach",
    "delayed",
    "nothing_to_read",
)
LOOKED_AT_MAX = 2_000
"""Entries that wait to be sent again, looked through for whose they are: a view takes no longer with a long
backlog."""


class WhyIdle:
    """One moment of a lane. names: what the broker calls a consumer -> its program's name."""

    def __init__(self, lane: Lane, subscriptions: Sequence[Subscription], names: Mapping[str, str]) -> None:
        self.lane, self.subscriptions, self.names = lane, subscriptions, names
        self.reads = cast("PulsarReading", lane.reads)
        self._waiting: dict[str, int] | None = None
        self._owning: set[str] | None = None

    def of(self, consumer: Consumer) -> Json | None:
        """{"code": one of CODES, and what its words name}; None: it works, or is about to."""
        client = self.reads.client(consumer.incarnation)
        if consumer.state in (CRASHED, GONE):
            return (
                {"code": "gone"}
                if consumer.state == GONE
                else {"code": "crashed", "deadline_us": consumer.deadline_us}
            )
        if client.refused_acks:
            return {
                "code": "acks_refused",
                "count": client.refused_acks,
                "unacked": self.lane.reads.held(consumer),
            }
        if self.lane.hand(consumer) >= 0:
            return None
        if client.refused:
            return {"code": "refused", "error": client.refused}
        if client.has_unsubscribed:
            return {"code": "unsubscribed"}
        if consumer.state == PAUSED:
            return {"code": "paused", "unacked": self.lane.reads.held(consumer)}
        if client.queue:
            return None
        if client.holds_acks and client.held:
            return {"code": "holding", "count": len(client.held)}
        if not client.is_subscribed:
            return {"code": "connecting"}
        if isinstance(self.reads, ActiveReading):
            return self._of_active(self.reads, consumer, client)
        subscription = self.subscriptions[0]
        key = self.reads.key_of(consumer.incarnation)
        dispatcher = subscription.dispatcher
        if not isinstance(dispatcher, PendingDispatcher) or key not in dispatcher.consumers:
            return {"code": "connecting"}
        known = dispatcher.consumers[key]
        if known.is_blocked:
            return {"code": "blocked", "unacked": known.unacked, "limit": dispatcher.unacked_max}
        if isinstance(dispatcher, KeyDispatcher):
            return self._of_keys(subscription, dispatcher, key)
        if known.permits <= 0:
            return {"code": "no_permits", "unacked": known.unacked}
        return self._of_all(subscription, dispatcher, known)

    # -- one active consumer ---------------------------------------------------------------------------------

    def _of_active(self, reads: ActiveReading, consumer: Consumer, client: ConsumerState) -> Json | None:
        mine = [known for known in self.subscriptions if reads.active(known) == consumer.name]
        if not mine:
            return self._of_standby(consumer, client)
        if any(
            isinstance(known.dispatcher, ActiveDispatcher) and known.dispatcher.switching for known in mine
        ):
            return {"code": "switching", "count": len(mine)}
        waiting = [known for known in mine if known.cursor.read_position < known.cursor.end]
        if not waiting:
            return {"code": "nothing_to_read", "end": sum(known.cursor.end for known in mine)}
        keys = {consumer_key(client.connection, number) for number in client.parts}
        if all(known.permits(key) <= 0 for known in waiting for key in keys.intersection(known.consumers)):
            return {"code": "no_permits", "unacked": self.lane.reads.held(consumer)}
        return None

    def _of_standby(self, consumer: Consumer, client: ConsumerState) -> Json:
        dispatcher = next(
            (
                known.dispatcher
                for known in self.subscriptions
                if isinstance(known.dispatcher, ActiveDispatcher)
            ),
            None,
        )
        order = (
            []
            if dispatcher is None
            else list({standby.name: standby.priority for standby in dispatcher.picker.consumers}.items())
        )
        best = min((priority for _, priority in order), default=0)
        if client.config.priority > best:
            return {"code": "standby_priority", "priority": client.config.priority, "best": best}
        place = next((place for place, (name, _) in enumerate(order, 1) if name == consumer.name), 0)
        return {
            "code": "standby",
            "place": place,
            "consumers": len(order),
            "partitions": len(self.subscriptions),
        }

    # -- many active consumers -------------------------------------------------------------------------------

    def _of_all(
        self, subscription: Subscription, dispatcher: PendingDispatcher, known: Receiver
    ) -> Json | None:
        """Shared: whatever waits could go to it, once no better level has permits."""
        cursor = subscription.cursor
        better = [
            other.priority
            for other in dispatcher.consumers.values()
            if other.priority < known.priority and other.is_available
        ]
        if better:
            return {"code": "better_level", "priority": known.priority, "best": min(better)}
        if dispatcher.is_full and cursor.read_position < cursor.end:
            return {
                "code": "subscription_full",
                "unacked": dispatcher.unacked,
                "limit": dispatcher.unacked_all_max,
            }
        if dispatcher.replay.positions or cursor.read_position < cursor.end:
            return None
        if dispatcher.delayed:
            return {"code": "delayed", "count": len(dispatcher.delayed), "until_us": dispatcher.delayed[0][0]}
        return {"code": "nothing_to_read", "end": cursor.end}

    def _of_keys(self, subscription: Subscription, dispatcher: KeyDispatcher, key: str) -> Json | None:
        """Key_Shared: only its own keys come to it, and never before what is older."""
        cursor, known, joins = subscription.cursor, dispatcher.consumers[key], joins_of(subscription)
        if key not in self.owning():
            return {"code": "no_range"}
        unread = cursor.end - cursor.read_position
        first = self.waiting(dispatcher).get(key)
        if key in joins and (first is not None or unread > 0 or known.permits > 0):
            return {"code": "newcomer", "limit": joins[key], **self.oldest(subscription, joins[key])}
        if known.permits <= 0:
            return {"code": "no_permits", "unacked": known.unacked}
        if dispatcher.is_full and unread > 0:
            return {
                "code": "subscription_full",
                "unacked": dispatcher.unacked,
                "limit": dispatcher.unacked_all_max,
            }
        if first is not None:
            return self._of_waiting(subscription, dispatcher, key, first)
        if joins and dispatcher.replay.positions and unread > 0:
            newcomer, limit = next(iter(joins.items()))
            return {
                "code": "behind_newcomer",
                "consumer": self.names.get(newcomer),
                "limit": limit,
                **self.oldest(subscription, limit),
            }
        if unread > 0:
            return None
        if any(
            dispatcher.owner(subscription.entries[position].hash32) == key
            for _, position in dispatcher.delayed[:LOOKED_AT_MAX]
        ):
            return {"code": "delayed", "count": len(dispatcher.delayed), "until_us": dispatcher.delayed[0][0]}
        return {"code": "nothing_to_read", "end": cursor.end}

    def _of_waiting(
        self, subscription: Subscription, dispatcher: KeyDispatcher, key: str, first: int
    ) -> Json | None:
        """An entry of its own was read and waits: for a slot that drains, for an older one of its key, or for
        nothing any more."""
        entry = subscription.entries[first]
        if isinstance(dispatcher, DrainingDispatcher):
            slot = dispatcher.slot(entry.hash32)
            drains = dispatcher.draining.get(slot)
            if drains is None or drains.consumer == key:
                return None
            return {
                "code": "draining",
                "slot": slot,
                "consumer": self.names.get(drains.consumer),
                "count": drains.count,
            }
        joins = joins_of(subscription)
        if joins:
            newcomer, limit = next(iter(joins.items()))
            return {
                "code": "behind_newcomer",
                "consumer": self.names.get(newcomer),
                "limit": limit,
                **self.oldest(subscription, limit),
            }
        older = next(
            (
                other
                for other, known in dispatcher.consumers.items()
                if other != key and entry.hash32 in known.pending.values()
            ),
            None,
        )
        if older is not None:
            return {"code": "key_waits", "position": first, "consumer": self.names.get(older)}
        # What waits is read again from the front, a batch at a time, and the rule of 3.2 never gets past a
        # batch that cannot be sent.
        reach, waiting = min(dispatcher.read_batch, dispatcher.available), dispatcher.replay.positions
        before = bisect_left(waiting, first)
        if before < reach:
            return None
        owner = dispatcher.owner(subscription.entries[waiting[0]].hash32)
        return {
            "code": "out_of_reach",
            "position": first,
            "before": before,
            "owner": None if owner is None else self.names.get(owner),
        }

    def oldest(self, subscription: Subscription, limit: int) -> Json:
        """What keeps the rule of 3.2 waiting: the first unacknowledged entry, who has it, and how many there
        are before the limit. unowned: nobody has it and nobody will, as its slot is nobody's."""
        cursor = subscription.cursor
        position = cursor.mark_delete + 1
        key = holder_of(subscription, position)
        older = limit - position - sum(ahead < limit for ahead in cursor.ahead)
        dispatcher, entry = subscription.dispatcher, subscription.entries.get(position)
        is_unowned = (
            key is None
            and isinstance(dispatcher, KeyDispatcher)
            and entry is not None
            and dispatcher.owner(entry.hash32) is None
        )
        found: Json = {
            "position": position,
            "holder": None if key is None else self.names.get(key),
            "older": older,
        }
        return found | {"unowned": True} if is_unowned else found

    def owning(self) -> set[str]:
        """The broker's consumers that have a slot."""
        if self._owning is None:
            holders = set(self.reads.owners.now(self.reads.broker()).raw.holders)
            self._owning = {
                one
                for holder in holders
                for one in (holder if isinstance(holder, tuple) else (holder,))
                if one is not None
            }
        return self._owning

    def waiting(self, dispatcher: KeyDispatcher) -> dict[str, int]:
        """Consumer -> the first entry of its own that was read and is at nobody."""
        if self._waiting is None:
            self._waiting = {}
            for position in dispatcher.replay.positions[:LOOKED_AT_MAX]:
                owner = (
                    dispatcher.owner(dispatcher.entries[position].hash32)
                    if position in dispatcher.entries
                    else None
                )
                if owner is not None:
                    self._waiting.setdefault(owner, position)
        return self._waiting
