"""The picture of a cursor: what is acknowledged, with holes, who holds what is not, and where newcomers wait.

mark-delete          read position        end
########.##..##A#BB#wwA|..................|         first entries after mark-delete one by one, the rest as holes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from broker_core.events import Json
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeyDispatcher, KeySharedDispatcher
from broker_core.pulsar.subscription import Subscription

NEAR_MAX, HOLES_MAX = 96, 48
"""Entries after mark-delete that are listed one by one, and acknowledged ranges ahead of it."""
UNREAD, WAITING, ACKED = -3, -2, -1
"""Beside a consumer's place: not read yet; read, and at nobody; acknowledged."""


def cursor_view(subscription: Subscription, names: Mapping[str, str], order: Sequence[str]) -> Json:
    """One cursor. mark_delete, read, end: positions, end one past the last; first: of the lowest entry that
    is kept, to which one may seek.
    holes: first -> last position of each acknowledged range ahead of mark-delete, the lowest ones;
    hole_count: of all. joins: waiting newcomer -> the read position of its join. waiting: entries read and at
    nobody. near: [who, how many] from mark-delete + 1 on; who is a place in `order`, or one of the three
    codes above."""
    cursor, dispatcher = subscription.cursor, subscription.dispatcher
    holes = [(low + 1, high) for low, high in cursor.ranges]
    joins = joins_of(subscription)
    return {
        "mark_delete": cursor.mark_delete,
        "read": cursor.read_position,
        "end": cursor.end,
        "first": next(iter(subscription.entries), cursor.end),
        "backlog": cursor.backlog,
        "acked_ahead": len(cursor.ahead),
        "waiting": subscription.waiting - max(cursor.end - cursor.read_position, 0)
        if dispatcher is not None and dispatcher.consumers
        else 0,
        "holes": {str(first): last for first, last in holes[:HOLES_MAX]},
        "hole_count": len(holes),
        "joins": {names[key]: limit for key, limit in joins.items() if key in names},
        "near": near(subscription, names, order),
    }


def joins_of(subscription: Subscription) -> dict[str, int]:
    """The broker's consumers that wait by the rule of 3.2 -> the read position at their join, the oldest
    first."""
    dispatcher = subscription.dispatcher
    return dispatcher.recently_joined if isinstance(dispatcher, KeySharedDispatcher) else {}


def near(subscription: Subscription, names: Mapping[str, str], order: Sequence[str]) -> list[list[int]]:
    """The first entries after mark-delete, neighbours that are alike as one."""
    cursor = subscription.cursor
    places = {name: place for place, name in enumerate(order)}
    runs: list[list[int]] = []
    for position in range(cursor.mark_delete + 1, min(cursor.end, cursor.mark_delete + 1 + NEAR_MAX)):
        if position in cursor.ahead:
            who = ACKED
        elif position >= cursor.read_position:
            who = UNREAD
        else:
            key = holder_of(subscription, position)
            who = WAITING if key is None else places.get(names.get(key, ""), WAITING)
        if runs and runs[-1][0] == who:
            runs[-1][1] += 1
        else:
            runs.append([who, 1])
    return runs


def holder_of(subscription: Subscription, position: int) -> str | None:
    """The broker's consumer that has this entry and has not acknowledged it; None: nobody has it."""
    dispatcher = subscription.dispatcher
    if dispatcher is None:
        return None
    if isinstance(dispatcher, ActiveDispatcher):
        return dispatcher.active if position < subscription.cursor.read_position else None
    if isinstance(dispatcher, KeyDispatcher):
        entry = subscription.entries.get(position)
        owner = None if entry is None else dispatcher.owner(entry.hash32)
        if owner is not None and position in dispatcher.consumers[owner].pending:
            return owner
    return next((key for key, known in dispatcher.consumers.items() if position in known.pending), None)
