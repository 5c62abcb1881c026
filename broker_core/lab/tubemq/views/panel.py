"""The TubeMQ page's view of its lane: panel `tubemq`, made while that page is open.

rule        id: of the lane's algorithm; over: "configured" or "subscribable", the set that clients share out;
            source_count: what the group's clients should start with, -1 for a count that is not used;
            own: text of the user's own rule, null without one
clients     consumer -> client_id, state (booting starting started refused stopping stopped crashed gone), node_id and
            source_count as it gave them to start() (-2: not used), refused_code, next_pass_us, map_us (when it
            last asked the master, null: never), by_hand (its partitions are a list that a person gave)
            takes: what the rule gives it, by its own map; has: registered; releases, registers: the set difference
            as its next pass would compute it now, (H - (A and S)) and ((A and S) - H)
            pass: its last one, {at_us, releases, registers, refused: key -> code}, null before the
                first
            reading: partition of the batch that it works on, ""; unconfirmed: partitions whose batch is handled
            and held back; started_us, first_record_us: when its process started, and had its first record
            calls: each of the 17 by name -> {at_us, argument, code, value} of its last answer, null: never called.
            code: null for a call that gives a value
brokers     id -> state (online offline), accepts_subscribe, is_black_listed, partitions: their keys
partitions  key -> broker, is_configured (the master's own state), is_subscribable (now), is_shown (in the group's
            map, up to a cycle old: null before the first), takers: consumers that the rule gives it, owner:
            consumer registered at the broker, owner_until_us, refused: consumers that were refused it
            (410) lately, offset, end (bytes), lag, pending (messages)
            unread: null, or {"code", ...} of `unread.py`: why its records wait
masters     name -> is_active, condition (running paused crashed, null: none), clients: that it knows
cycle_us    when the master computes the group's map again, null while there is no group
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE, PAUSED, Consumer
from broker_core.lab.tubemq.reading import GROUP, MASTER, TubeMqReading
from broker_core.lab.tubemq.views import unread
from broker_core.lab.tubemq.views.calls import calls_view
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.assigner import difference, takes
from broker_core.tubemq.client.program_state import STARTED, ProgramState
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.configuration import ConfiguredBroker
from broker_core.tubemq.master import BALANCE_PERIOD_US, MasterState
from broker_core.tubemq.metadata import expand_topic_meta
from broker_core.tubemq.partition_key import broker_of

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


def tubemq_view(lane: Lane, reads: TubeMqReading) -> Json:
    present = {
        name: reads.client(consumer.incarnation)
        for name, consumer in lane.consumers.items()
        if consumer.state != GONE
    }
    master: MasterState = lane.world.slots[MASTER].node.state
    clients = {name: _client(lane, reads, name, state) for name, state in present.items()}
    return {
        "rule": {
            "id": lane.algorithm,
            "over": "configured",
            "source_count": len(reads.notes.plan),
            "own": None,
        },
        "clients": clients,
        "brokers": {
            str(broker_id): _broker(reads, broker_id, broker, master)
            for broker_id, broker in sorted(master.brokers.items())
        },
        "partitions": _partitions(lane, reads, present, clients, master),
        "masters": {
            MASTER.removeprefix("tubemq:"): {
                "is_active": not master.is_standby,
                "condition": lane.world.condition(MASTER),
                "clients": len(reads.members()),
            }
        },
        "cycle_us": _next_cycle_us(lane.now_us, master) if master.groups else None,
    }


def _next_cycle_us(now_us: int, master: MasterState) -> int:
    past = (now_us - master.started_us) // BALANCE_PERIOD_US
    return master.started_us + (past + 1) * BALANCE_PERIOD_US


def _client(lane: Lane, reads: TubeMqReading, name: str, client: ProgramState) -> Json:
    consumer = lane.consumers[name]
    releases, registers = difference(client)
    last = client.last_pass
    return {
        "client_id": client.client_id,
        "state": _state(consumer, client),
        "node_id": client.consumer.node_id,
        "source_count": client.consumer.source_count,
        "refused_code": client.refused_code or None,
        "next_pass_us": client.next_pass_us,
        "map_us": client.map_us,
        "by_hand": client.share is not None,
        "takes": takes(client),
        "has": sorted(client.consumer.held),
        "releases": releases,
        "registers": registers,
        "pass": last
        and {
            "at_us": last.at_us,
            "releases": last.releases,
            "registers": last.registers,
            "refused": last.refused,
        },
        "reading": client.reading,
        "unconfirmed": sorted(client.unconfirmed),
        "started_us": client.started_us,
        "first_record_us": client.first_record_us,
        "calls": calls_view(client),
    }


def _state(consumer: Consumer, client: ProgramState) -> str:
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
    lane: Lane, reads: TubeMqReading, present: dict[str, ProgramState], clients: Json, master: MasterState
) -> Json:
    group = master.groups.get(GROUP)
    shown = expand_topic_meta(group.topic_meta, [*master.brokers]) if group is not None else {}
    views: Json = {}
    for key, partition in reads.partitions().items():
        place = reads.place(key)
        owner = host_of(place.owner) if host_of(place.owner) in lane.consumers else None
        why = _unsubscribable(reads, key, master)
        names = [name for name, client in clients.items() if key in client["takes"]]
        takers = [_taker(lane, name, present[name], clients[name], key) for name in names]
        is_read = key in reads.notes.readers
        views[key] = {
            "broker": broker_of(key),
            "is_configured": why != unread.NOT_CONFIGURED,
            "is_subscribable": not why,
            "is_shown": shown.get(key),
            "takers": names,
            "owner": owner,
            "owner_until_us": place.deadline_us if place.owner else None,
            "refused": [name for name, client in present.items() if client.consumer.guarded.get(key, 0) > lane.now_us],
            "offset": place.offset * r.ENTRY_BYTES,
            "end": partition.end * r.ENTRY_BYTES,
            "lag": partition.end - place.offset,
            "pending": place.pending,
            "unread": unread.why_unread(
                unsubscribable=why, is_read=is_read, owner=owner, takers=takers,
                rule_is_off=any(client.consumer.source_count <= 0 for client in present.values()), clients=len(present),
            ),
        }  # fmt: skip
    return views


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


def _taker(lane: Lane, name: str, client: ProgramState, view: Json, key: str) -> unread.Taker:
    consumer = lane.consumers[name]
    return unread.Taker(
        name,
        client.consumer.node_id,
        view["state"],
        consumer.deadline_us,
        client.refused_code if client.phase != STARTED else 0,
        client.consumer.metadata.status.get(key, False),
        client.next_pass_us,
        client.consumer.guarded.get(key, 0),
        consumer.state == PAUSED,
        key in view["unconfirmed"],
    )
