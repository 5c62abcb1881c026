"""Why a partition is not read: the first cause that holds, in the order in which a person would look for it.

    gone ─► not subscribable ─► no client takes it: its own is refused, a list leaves it out, the count is off,
            no client with that count has its node id, the deal is without it ─► its client is not running, or refused
         ─► the master's map is old, or its client's ─► the broker has a dead process registered, or another client,
         ─► its client is in a pass, or waits for it
         ─► paused ─► a batch is not confirmed

A cause is `{"code", ...}`; its words are in the page's catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.events import Json
from broker_core.lab.tubemq.views.served import GAINER_HEARS, GAINER_REGISTERS, LOSER_HEARS, LOSER_REPORTS
from broker_core.tubemq import requests as r
from broker_core.tubemq.metadata import UNDEFINED

NOT_CONFIGURED, BROKER_OFFLINE, NO_SUBSCRIBING, BLACK_LISTED = (
    "not_configured",
    "broker_offline",
    "no_subscribing",
    "black_listed",
)
NO_CLIENT, COUNT_OFF, NOT_GIVEN, NOT_DEALT = "no_client", "count_off", "not_given", "not_dealt"
LIST_WITHOUT, LISTS_WITHOUT = "list_without", "lists_without"
"""A person gave a list without it: to the client that the modulo gives it to, or to all."""
CRASHED, GONE, STARTING, REFUSED, STOPPED = (
    "client_crashed",
    "client_gone",
    "client_starting",
    "client_refused",
    "client_stopped",
)
MASTER_MAP, OLD_MAP, GHOST, OCCUPIED, THIS_PASS, NEXT_PASS, PAUSED, UNCONFIRMED = (
    "master_map",
    "old_map",
    "ghost",
    "occupied",
    "this_pass",
    "next_pass",
    "paused",
    "unconfirmed",
)
NEXT_CYCLE = "next_cycle"
"""Where the master gives partitions out: none has it, and the next cycle may give it to one."""
NO_MASTER = "no_master"
"""What it waits for only an active master gives, and none is."""
UNREAD_CODES = (
    NOT_CONFIGURED, BROKER_OFFLINE, NO_SUBSCRIBING, BLACK_LISTED, NO_CLIENT, COUNT_OFF, NOT_GIVEN, NOT_DEALT,
    LIST_WITHOUT, LISTS_WITHOUT,
    CRASHED, GONE, STARTING, REFUSED, STOPPED, MASTER_MAP, OLD_MAP, GHOST, OCCUPIED, THIS_PASS, NEXT_PASS, PAUSED, UNCONFIRMED, NEXT_CYCLE,
    NO_MASTER, LOSER_HEARS, LOSER_REPORTS, GAINER_HEARS, GAINER_REGISTERS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Taker:
    """The client that the rule gives a partition to. state: of the panel's clients. count: source count that it starts
    with. knows: whether its own map calls
    the partition subscribable. refused_until_us: how long the broker's 410 keeps it from asking, 0 if it does not. is_at_it: its pass
    under way has still to connect it."""

    name: str
    node_id: int
    state: str
    deadline_us: int | None
    refused_code: int
    knows: bool
    next_pass_us: int | None
    refused_until_us: int
    is_paused: bool
    is_unconfirmed: bool
    count: int = UNDEFINED
    is_at_it: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """By which the group's clients share out. count: the group's source count, 0 and below if it is not used. node: the
    partition's node id by that count. is_modulo: each client works it out. own: client that the modulo gives the
    partition to, though it does not take it, None if there is none; other: client with that node id and another source
    count, which the master refuses; is_by_hand: because a person gave it a list; are_all_by_hand: every client has one."""

    count: int
    node: int | None
    is_modulo: bool
    own: Taker | None
    other: Taker | None
    is_by_hand: bool
    are_all_by_hand: bool


def why_unread(
    *,
    unsubscribable: str,
    is_read: bool,
    owner: str | None,
    ghost_until_us: int | None = None,
    takers: list[Taker],
    rule: Rule,
    clients: int,
    by_master: bool = False,
    cycle_us: int | None = None,
    given: Json | None = None,
    map_us: int | None = None,
) -> Json | None:
    """None for a partition that is read, and has nothing that keeps its reader from it.

    unsubscribable: one of the first four codes, "" if it may be subscribed. owner: consumer that the broker has
    registered. ghost_until_us: when it lets go of that one, which a dead process of its registered, None where it lives.
    takers: to whom the rule gives it. by_master: the
    master gives it out. cycle_us: of the master's next cycle, None while no master is active. given: what keeps a partition
    that the master has planned for a client from it (`served.py`). map_us: when the master computes a map that shows it, None
    where its map does.
    """
    # A broker serves whom it has registered, until the client's own map tells it to release.
    if unsubscribable and (unsubscribable == BROKER_OFFLINE or not is_read):
        return {"code": unsubscribable}
    if not takers:
        if clients == 0:
            return {"code": NO_CLIENT}
        if by_master:
            return {"code": NO_MASTER} if cycle_us is None else {"code": NEXT_CYCLE, "until_us": cycle_us}
        if rule.own is None or rule.is_by_hand:
            return not_taken(rule)
        takers = [rule.own]
    taker = takers[0]
    about: Json = {"consumer": taker.name, "node_id": taker.node_id}
    ended = {"crashed": CRASHED, "gone": GONE, "starting": STARTING, "booting": STARTING, "stopped": STOPPED}
    is_refused = taker.state == "refused"
    if cycle_us is None and (
        taker.state == "starting" or (is_refused and taker.refused_code == r.UNSPECIFIED)
    ):
        return about | {"code": NO_MASTER}
    if is_refused:
        counts = {"count": taker.count, "group_count": rule.count}
        is_of_count = taker.refused_code == r.SOURCE_COUNT_DIFFERS and taker.count != rule.count
        return about | {"code": REFUSED, "refused_code": taker.refused_code} | (counts if is_of_count else {})
    if taker.state in ended:
        return about | {"code": ended[taker.state], "until_us": taker.deadline_us}
    if not is_read:
        if not taker.knows and cycle_us is None:
            return about | {"code": NO_MASTER}
        if not taker.knows and map_us is not None:
            return about | {"code": MASTER_MAP, "until_us": map_us}
        if not taker.knows:
            return about | {"code": OLD_MAP, "until_us": taker.next_pass_us}
        if owner is not None and ghost_until_us is not None:
            return about | {"code": GHOST, "owner": owner, "until_us": ghost_until_us}
        if given is not None:
            return about | given
        if owner is not None and owner != taker.name:
            return about | {"code": OCCUPIED, "owner": owner, "until_us": taker.refused_until_us or None}
        if taker.is_at_it:
            return about | {"code": THIS_PASS}
        return about | {"code": NEXT_PASS, "until_us": taker.next_pass_us}
    if taker.is_paused:
        return about | {"code": PAUSED}
    return about | {"code": UNCONFIRMED} if taker.is_unconfirmed else None


def not_taken(rule: Rule) -> Json:
    """Why the rule gives a partition to no client."""
    if rule.are_all_by_hand:
        return {"code": LISTS_WITHOUT}
    if rule.own is not None:
        return {"code": LIST_WITHOUT, "consumer": rule.own.name, "node_id": rule.own.node_id}
    if not rule.is_modulo:
        return {"code": NOT_DEALT}
    if rule.count <= 0:
        return {"code": COUNT_OFF}
    cause: Json = {"code": NOT_GIVEN, "node": rule.node, "group_count": rule.count}
    return cause | (
        {"consumer": rule.other.name, "count": rule.other.count} if rule.other is not None else {}
    )
