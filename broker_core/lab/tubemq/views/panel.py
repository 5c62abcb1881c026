"""The TubeMQ page's view of its lane: panel `tubemq`, made while that page is open.

rule        id: of the lane's algorithm; over: "configured" or "subscribable", the set that clients share out;
            source_count: what the group's clients have to start with, -1 for a count that is not used;
            own: text of the user's own rule, null without one; failed: {reason, line, code, params}, why that gave no
            answer the last time, so that the shares before it hold; null if it did. line: 0 where it has none; code: of
            a limit, "" for an exception of its own
clients     consumer -> client_id, state (booting starting started refused stopping stopped crashed gone), node_id and
            source_count as it gave them to start() (-2: not used), refused_code, is_own_refusal (its own
            start() refuses its arguments, and no master hears of it), next_pass_us, map_us (when it
            last asked the master, null: never), by_hand (its partitions are a list that a person gave)
            takes: what the rule gives it, by its own source count and map, or by what is configured while it has none; of one
            that the master serves what that has planned for it; closed: what its
            map says may not be subscribed; has: registered; releases, registers: the set difference as its next pass
            would compute it now, (H - (A and S)) and ((A and S) - H)
            pass: its last one, {at_us, releases, registers, refused: key -> code}, null before the
                first
            reading: partition of the batch that it works on, ""; unconfirmed: partitions whose batch is handled
            and held back; first_record_us: when it had its first record; first: `first_record.py`
            calls: each of the 17 by name -> {at_us, argument, code, why, exception, value} of its last answer, null: never
            called. code: null for a call that gives none; why: which of the client's own checks refused; value: what it
            gives beside a code. answers: the same of a person's own calls; waiting: those without an answer yet
brokers     id -> state (online offline), accepts_subscribe, is_black_listed, partitions: their keys
partitions  key -> broker, hash, node: node id that the modulo gives it, null under another rule or on a list by
            hand; is_configured (the
            master's own state), is_subscribable (now), is_shown (in the group's map, up to a cycle old: null before
            the first), takers: consumers that the rule gives it by the group's source count, or a list by hand, those
            that run first, owner: consumer registered at the broker, at one that is down: who still holds it,
            is_ghost: it is a process of the owner's that is dead, owner_until_us, refused: consumers that
            were refused it (410) lately, offset, end (bytes), lag, pending (messages)
            unread: null, or {"code", ...} of `unread.py`: why its records wait
masters     name -> is_active, condition (running paused crashed, null: none), clients: that it knows
query       what the active master answers an operator about the group (`queries.group_detail`): kind, members:
            {client_id, node_id, partitions}, these as each last reported them; null where no master is active
cycle_us    when the master computes the group's map again, null while there is no group
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.hashing.java_hash import string_hash_unsigned
from broker_core.lab.consumer import CRASHED, GONE, PAUSED, Consumer
from broker_core.lab.tubemq.nodes import GROUP, Client
from broker_core.lab.tubemq.reading import TubeMqReading
from broker_core.lab.tubemq.sharing import is_dealt
from broker_core.lab.tubemq.views import served, unread
from broker_core.lab.tubemq.views.calls import answers_view, calls_view, waiting_view
from broker_core.lab.tubemq.views.first_record import first_record, first_record_us
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import Connect, node_of
from broker_core.tubemq.client.assigner import difference, takes
from broker_core.tubemq.client.program_state import ProgramState
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState
from broker_core.tubemq.client.reading_program import BOOTING, REFUSED, STARTED, STOPPING
from broker_core.tubemq.client.start_arguments import start_refusal
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.configuration import ConfiguredBroker
from broker_core.tubemq.master import BALANCE_PERIOD_US, MasterState
from broker_core.tubemq.metadata import UNDEFINED
from broker_core.tubemq.partition_key import broker_of
from broker_core.tubemq.queries import group_detail

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


def tubemq_view(lane: Lane, reads: TubeMqReading) -> Json:
    present = {
        name: reads.client(consumer.incarnation)
        for name, consumer in lane.consumers.items()
        if consumer.state != GONE
    }
    active, master = reads.master()
    is_active = reads.is_active(active)
    clients = {name: _client(lane, reads, name, state) for name, state in present.items()}
    return {
        "rule": {
            "id": lane.algorithm,
            "over": reads.over,
            "source_count": reads.group_count(),
            "own": reads.notes.own_rule,
            "failed": reads.notes.rule_failure,
        },
        "clients": clients,
        "brokers": {
            str(broker_id): _broker(reads, broker_id, broker, master)
            for broker_id, broker in sorted(master.brokers.items())
        },
        "partitions": _partitions(lane, reads, present, clients, master),
        "masters": {
            name.removeprefix("tubemq:"): {
                "is_active": reads.is_active(name),
                "condition": lane.world.condition(name),
                "clients": sum(len(group.members) for group in state.groups.values())
                if reads.is_up(name)
                else 0,
            }
            for name, state in reads.master_states().items()
        },
        "query": _query(master) if is_active else None,
        "cycle_us": _next_cycle_us(lane.now_us, master) if is_active and master.groups else None,
    }


def _query(master: MasterState) -> Json:
    detail = group_detail(GROUP, master.groups.get(GROUP))
    members = [
        {"client_id": each.client_id, "node_id": each.node_id, "partitions": each.partitions}
        for each in detail.members
    ]
    return {"kind": detail.kind, "members": members}


def _next_cycle_us(now_us: int, master: MasterState) -> int:
    past = (now_us - master.started_us) // BALANCE_PERIOD_US
    return master.started_us + (past + 1) * BALANCE_PERIOD_US


def _client(lane: Lane, reads: TubeMqReading, name: str, client: Client) -> Json:
    common: Json = {
        "client_id": client.client_id,
        "state": _state(lane.consumers[name], client),
        "refused_code": client.refused_code or None,
        "is_own_refusal": _refuses_itself(client),
        "by_hand": name in reads.notes.by_hand,
        "has": sorted(client.registered),
        "reading": client.reading,
        "first_record_us": first_record_us(client),
        "first": first_record(client, reads.member(client.client_id), lane.now_us),
    }
    if isinstance(client, PullConsumerState):
        return common | _given_out(client, served.given(client.registered, reads.member(client.client_id)))
    releases, registers = difference(client)
    last, (source_count, node_id) = client.last_pass, _terms(client)
    return common | {
        "node_id": node_id,
        "source_count": source_count,
        "next_pass_us": client.next_pass_us,
        "map_us": client.map_us,
        "takes": takes(client, reads.partition_keys),
        "closed": sorted(key for key, is_open in client.consumer.metadata.status.items() if not is_open),
        "releases": releases,
        "registers": registers,
        "pass": last and {
            "at_us": last.at_us, "releases": last.releases, "registers": last.registers, "refused": dict(last.refused),
        },
        "unconfirmed": sorted(client.unconfirmed),
        "contexts": dict(sorted(client.unconfirmed.items())),
        "calls": calls_view(client, lane.messages),
        "answers": answers_view(client, lane.messages),
        "waiting": waiting_view(client),
    }  # fmt: skip


def _terms(client: ProgramState) -> tuple[int, int]:
    """Source count and node id that it runs with; while its process starts those that it will start with."""
    if client.phase != BOOTING:
        return client.consumer.source_count, client.consumer.node_id
    return (client.source_count, client.node_id) if client.source_count > 0 else (UNDEFINED, UNDEFINED)


def _given_out(client: PullConsumerState, given: list[str]) -> Json:
    """Of a client whose partitions the master gives out: the event that it carries out takes the difference's place."""
    event = client.events[0] if client.events else None
    is_release = event is not None and event.kind in (r.DISCONNECT, r.ONLY_DISCONNECT)
    partitions = sorted(event.partitions) if event is not None else []
    return {
        "node_id": UNDEFINED,
        "source_count": UNDEFINED,
        "next_pass_us": None,
        "map_us": None,
        "takes": given,
        "closed": [],
        "releases": [key for key in partitions if key in client.registered] if is_release else [],
        "registers": [] if is_release else [key for key in partitions if key not in client.registered],
        "pass": None,
        "unconfirmed": [],
        "contexts": {},
        "calls": {},
        "answers": {},
        "waiting": [],
    }


def _refuses_itself(client: Client) -> bool:
    return (
        isinstance(client, ProgramState)
        and client.phase == REFUSED
        and bool(start_refusal(dict.fromkeys(client.topics), client.source_count, client.node_id))
    )


def _state(consumer: Consumer, client: Client) -> str:
    return consumer.state if consumer.state in (CRASHED, GONE) else client.phase


def _broker(reads: TubeMqReading, broker_id: int, broker: ConfiguredBroker, master: MasterState) -> Json:
    placed = broker.topics.get(reads.topic)
    return {
        "state": "online" if broker.is_online else "offline",
        "accepts_subscribe": placed is not None and placed.accepts_subscribe,
        "is_black_listed": reads.topic in master.black_lists.get(GROUP, ()),
        "partitions": [key for key in reads.partition_keys if broker_of(key) == broker_id],
    }


def _partitions(
    lane: Lane, reads: TubeMqReading, present: dict[str, Client], clients: Json, master: MasterState
) -> Json:
    shown, units, count = reads.group_map(), reads.units(), reads.group_count()
    is_led = any(map(reads.is_active, reads.masters))
    taking, plan = _by_groups_count(lane, reads, clients), _planned(reads, count)
    cycle_us = _next_cycle_us(lane.now_us, master) if is_led else None
    waits = served.waits(lane, reads)
    listed = {key for keys in reads.notes.by_hand.values() for key in keys}
    living = _living(lane, present)
    views: Json = {}
    for key, partition in reads.partitions().items():
        place = reads.place(key)
        owner = _owner(lane, reads, present, key)
        is_ghost = owner is not None and broker_of(key) not in reads.notes.down and place.owner not in living
        why = _unsubscribable(reads, key, master)
        names = sorted(
            (name for name in taking if key in clients[name]["takes"]),
            key=lambda name: clients[name]["state"] != STARTED,
        )
        node = node_of(key, count) if count > 0 and key not in listed else None
        rule = _rule(lane, reads, present, clients, key, node)
        own = [rule.own.name] if rule.own is not None and not rule.is_by_hand else []
        planned = units[key] if node is None else plan.get(node)
        # A client that has left takes nothing.
        meant = names or own or [name for name in (planned,) if name is not None]
        # A client reads what it has registered while its pass goes on, and reports it at the end.
        is_read = key in reads.notes.readers or (owner in present and key in present[owner].registered)
        if is_read and owner in present and (reads.by_master or clients[owner]["state"] == STARTED):
            meant = [owner]  # until it hears that it is another's, or that its count is not the group's
        takers = [
            _taker(lane, name, present[name], clients[name], key)
            if name in present
            else unread.Taker(name, UNDEFINED, GONE, None, 0, False, None, 0, False, False)
            for name in meant
        ]
        views[key] = {
            "broker": broker_of(key),
            "hash": string_hash_unsigned(key),
            "node": node,
            "is_configured": why != unread.NOT_CONFIGURED,
            "is_subscribable": not why,
            "is_shown": shown.get(key),
            "takers": names,
            "owner": owner,
            "is_ghost": is_ghost,
            "owner_until_us": place.deadline_us if place.owner and broker_of(key) not in reads.notes.down else None,
            "refused": [name for name, client in present.items() if _refused_until(client, key) > lane.now_us],
            "offset": place.offset * r.ENTRY_BYTES,
            "end": partition.end * r.ENTRY_BYTES,
            "lag": partition.end - place.offset,
            "pending": place.pending,
            "unread": unread.why_unread(
                unsubscribable=why, is_read=is_read, owner=owner, ghost_until_us=place.deadline_us if is_ghost else None, takers=takers,
                rule=rule, clients=len(present),
                by_master=reads.by_master, cycle_us=cycle_us, given=waits.get(key),
                map_us=None if shown.get(key) or not master.groups else cycle_us,
            ),
        }  # fmt: skip
    return views


def _by_groups_count(lane: Lane, reads: TubeMqReading, clients: Json) -> list[str]:
    """Clients that share out by the source count that the master checks, or do not share out by a count."""
    if reads.by_master or is_dealt(lane):
        return [*clients]
    count = reads.group_count()
    return [name for name, each in clients.items() if each["by_hand"] or each["source_count"] == count]


def _planned(reads: TubeMqReading, count: int) -> dict[int, str]:
    """Node id under the group's source count -> whom the plan gives it, whether or not that one is there."""
    notes = reads.notes
    names: dict[int, str] = {}
    for name in notes.plan:
        its, node = notes.started_with(name)
        if its == count and name not in notes.by_hand:
            names.setdefault(node, name)
    return names


def _owner(lane: Lane, reads: TubeMqReading, present: dict[str, Client], key: str) -> str | None:
    """Whom the broker has registered. One that is down has nobody, whatever its disk says: then the client that has not
    noticed yet."""
    if broker_of(key) in reads.notes.down:
        return next((name for name, client in present.items() if key in client.registered), None)
    owner = host_of(reads.place(key).owner)
    return owner if owner in lane.consumers else None


def _living(lane: Lane, present: dict[str, Client]) -> set[str]:
    """Ids of clients whose process runs; one that is restarted may still be on its way out."""
    leaving = [
        slot.node.state.client_id
        for slot in lane.world.slots.values()
        if slot.kind == "consumer" and slot.condition != CRASHED and slot.node.state.phase == STOPPING
    ]
    return {
        *leaving,
        *(each.client_id for name, each in present.items() if lane.consumers[name].state != CRASHED),
    }


def _rule(
    lane: Lane, reads: TubeMqReading, present: dict[str, Client], clients: Json, key: str, node: int | None
) -> unread.Rule:
    """The rule as it is for one partition, whose node id by the group's count is `node`."""
    by_hand, count = reads.notes.by_hand, reads.group_count()
    counts = {
        name: client.source_count for name, client in present.items()
        if isinstance(client, ProgramState) and client.node_id == node is not None
    }  # fmt: skip
    own = next(
        (
            name for name, its in counts.items()
            if its == count and (present[name].phase != STARTED or name in by_hand)
        ),
        None,
    )  # fmt: skip
    other = next((name for name, its in counts.items() if its != count), None)
    return unread.Rule(
        count=count,
        node=node,
        is_modulo=not is_dealt(lane),
        own=None if own is None else _taker(lane, own, present[own], clients[own], key),
        other=None if other is None else _taker(lane, other, present[other], clients[other], key),
        is_by_hand=own in by_hand,
        are_all_by_hand=bool(present) and all(name in by_hand for name in present),
    )


def _unsubscribable(reads: TubeMqReading, key: str, master: MasterState) -> str:
    broker = master.brokers.get(broker_of(key))
    placed = broker.topics.get(reads.topic) if broker is not None else None
    if broker is None or placed is None:
        return unread.NOT_CONFIGURED
    if not broker.is_online:
        return unread.BROKER_OFFLINE
    if not placed.accepts_subscribe:
        return unread.NO_SUBSCRIBING
    return unread.BLACK_LISTED if reads.topic in master.black_lists.get(GROUP, ()) else ""


def _refused_until(client: Client, key: str) -> int:
    return client.consumer.guarded.get(key, 0) if isinstance(client, ProgramState) else 0


def _taker(lane: Lane, name: str, client: Client, view: Json, key: str) -> unread.Taker:
    consumer = lane.consumers[name]
    knows = isinstance(client, PullConsumerState) or client.consumer.metadata.status.get(key, False)
    return unread.Taker(
        name,
        view["node_id"],
        view["state"],
        consumer.deadline_us,
        client.refused_code if client.phase != STARTED else 0,
        knows,
        view["next_pass_us"],
        _refused_until(client, key),
        consumer.state == PAUSED,
        key in view["unconfirmed"],
        client.source_count if isinstance(client, ProgramState) else UNDEFINED,
        isinstance(client, ProgramState)
        and key in [each.key for each in client.todo if isinstance(each, Connect)],
    )
