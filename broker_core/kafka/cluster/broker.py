"""A broker of the cluster: a table leads from request to handler, and a request is read when the one before
it on its connection is answered.

    clients, followers ─► produce.py, fetch.py, offsets.py, metadata_cache.py  long polls and produces wait in the state, by connection
    leaders            ─► replication.py: a fetcher per leader
    controller         ─► lifecycle.py: registration, heartbeats               roles.py: who leads, who follows     isr_updates.py: AlterPartition
    groups             ─► groups.py: the coordinators of the offsets partitions that this broker leads
    timers             ─► isr_updates.py: who is late                          log_directory.py: high watermarks to disk

Source: Kafka 3.9 core KafkaApis, ReplicaManager, BrokerServer, SocketServer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import (
    fetch,
    groups,
    isr_updates,
    lifecycle,
    log_directory,
    metadata_cache,
    offsets,
    produce,
    replication,
    roles,
    slow_disk,
    transactions,
    verification,
)
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.cluster.hosting import Consequences, Host
from broker_core.kafka.cluster.state import DOWN, STARTING, BrokerState, PendingProduce
from broker_core.kafka.cluster.widths import fits
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import Closed, Opened, Outbox

Handler = Callable[[Host, int, Any, int, Outbox], None]
Waker = Callable[[Host, str, int, Outbox], None]


class Broker:
    """The node. What it remembers is `BrokerState`."""

    def __init__(self, state: BrokerState) -> None:
        self.state = state
        self.host = Host(state, CONSEQUENCES)

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state, kind = self.state, type(message)
        if kind in OWN and connection not in state.clients:
            OWN[kind](self.host, connection, message, now_us, out)
        elif kind is Closed:
            self.host.forget_connection(connection)
        elif kind not in REQUESTS or not (self.host.has_cluster_action(connection) or fits(message)):
            self.host.refuse_connection(connection, out)
        elif (held := state.held.get(connection)) is not None:
            held.append(message)
        else:
            REQUESTS[kind](self.host, connection, message, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        what, _, rest = name.partition(":")
        TIMERS[what](self.host, rest, now_us, out)


def read_on(host: Host, rest: str, now_us: int, out: Outbox) -> None:
    """Handle what a connection has sent meanwhile, up to the next request that waits."""
    connection, waiting = int(rest), host.state.held
    held = waiting.pop(connection, None)
    while held:
        message = held.popleft()
        REQUESTS[type(message)](host, connection, message, now_us, out)
        if connection not in host.state.clients:
            return
        if connection in waiting:
            waiting[connection] = held
            return


def produced(host: Host, pending: PendingProduce, error: ErrorCode, now_us: int, out: Outbox) -> None:
    """What waited for the ISR is decided: whoever appended it hears of it. error: of its last partition."""
    if pending.write:
        transactions.written(host, pending.write, error, now_us, out)
    elif pending.marker_ids is not None:
        transactions.markers_written(host, pending, now_us, out)
    elif pending.connection:
        host.answer(pending.connection, r.ProduceResponse(pending.answers), now_us, out)


def taken_by_disk(host: Host, connection: int, message: Any, now_us: int, out: Outbox) -> None:
    """Append what a slow disk has taken. A produce whose connection has closed meanwhile is dropped: nobody
    waits for its answer."""
    if not isinstance(message, r.ProduceRequest):
        replication.append(host, connection, message, now_us, out)
    elif connection in host.state.clients:
        produce.append(host, connection, message, now_us, out)


def opened(host: Host, connection: int, message: Opened, now_us: int, out: Outbox) -> None:
    """Somebody has connected. A broker listens from when it has read the metadata, up to its registration,
    until it goes."""
    state = host.state
    if state.stage in (DOWN, STARTING) or state.metadata_offset < state.broker_epoch:
        out.close(connection)
    else:
        state.clients[connection] = message.peer


def closed(host: Host, connection: int, message: Closed, now_us: int, out: Outbox) -> None:
    """A leader, a coordinator or the controller has gone, or the connection to it."""
    state = host.state
    if connection == state.control:
        lifecycle.control_lost(host, now_us, out)
        return
    for fetcher in state.fetchers.values():
        if fetcher.connection == connection:
            replication.connection_lost(host, fetcher, now_us, out)
            return
    for broker, link in state.transactions.links.items():
        if link.connection == connection:
            transactions.marker_link_lost(host, broker, now_us, out)
            return
    for coordinator, question_link in state.transactions.questions.items():
        if question_link.connection == connection:
            verification.link_lost(host, coordinator, now_us, out)
            return


def not_controller(host: Host, connection: int, message: Any, now_us: int, out: Outbox) -> None:
    """An operator's request: a tool speaks to the controller (`--bootstrap-controller`). The original's
    broker passes it on."""
    out.send(connection, c.ControlResponse(ErrorCode.NOT_CONTROLLER, "this is not the controller"))


REQUESTS: Mapping[type, Handler] = MappingProxyType(
    {
        r.ProduceRequest: produce.produce,
        r.FetchRequest: fetch.fetch,
        r.ListOffsetsRequest: offsets.list_offsets,
        r.OffsetsForLeaderEpochRequest: offsets.offsets_for_leader_epoch,
        r.DeleteRecordsRequest: offsets.delete_records,
        r.MetadataRequest: metadata_cache.metadata,
        t.FindCoordinatorRequest: transactions.find_coordinator,
        t.InitProducerIdRequest: transactions.init_producer_id,
        t.AddPartitionsToTxnRequest: transactions.add_partitions,
        t.AddOffsetsToTxnRequest: transactions.add_offsets,
        t.EndTxnRequest: transactions.end_transaction,
        t.WriteTxnMarkersRequest: transactions.write_markers,
        **dict.fromkeys(c.ToolRequest.__args__, not_controller),
        **groups.HANDLERS,
    }
)
"""What others ask on connections that they have opened. Anything else there closes the connection."""

OWN: Mapping[type, Handler] = MappingProxyType(
    {
        Opened: opened,
        Closed: closed,
        r.FetchResponse: replication.fetch_answered,
        r.OffsetsForLeaderEpochResponse: replication.epochs_answered,
        r.ListOffsetsResponse: replication.offsets_answered,
        t.WriteTxnMarkersResponse: transactions.markers_answered,
        t.AddPartitionsToTxnResponse: verification.answered,
        c.AllocateProducerIdsResponse: transactions.producer_ids_given,
        c.MetadataDelta: roles.metadata_delta,
        c.BrokerRegistrationResponse: lifecycle.registered,
        c.BrokerHeartbeatResponse: lifecycle.heartbeat_answered,
        c.AlterPartitionResponse: isr_updates.alter_partition_answered,
        lifecycle.Start: lifecycle.start,
        lifecycle.Stop: lifecycle.stop,
    }
)
"""What comes on connections that this broker has opened, and from a person."""

TIMERS: Mapping[str, Waker] = MappingProxyType(
    {
        "fetch": fetch.fetch_over,
        "produces": produce.produces_over,
        "fetcher": replication.fetcher_timer,
        "heartbeat": lifecycle.heartbeat_due,
        "verify": verification.verify_over,
        "markers": transactions.markers_due,
        "transactions": transactions.transactions_due,
        "group": groups.group_timer,
        "isr": isr_updates.look_at_isrs,
        "checkpoint": log_directory.checkpoint_due,
        "alter": isr_updates.alter_again,
        "disk": slow_disk.written,
        "held": read_on,
    }
)

CONSEQUENCES = Consequences(
    fetched_by_follower=isr_updates.fetched_by_follower, taken_by_disk=taken_by_disk,
    produced=produced, verified=produce.write,
    offsets_moved=groups.high_watermark_moved, offsets_role_changed=groups.role_changed,
)  # fmt: skip
