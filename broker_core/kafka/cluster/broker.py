"""A broker of the cluster: a table leads from request to handler, and a request is read when the one before it on its connection is answered.

    clients, followers ─► produce.py, fetch.py, offsets.py, metadata.py        long polls and produces wait in the state, by connection
    leaders            ─► replication.py: a fetcher per leader
    controller         ─► lifecycle.py: registration, heartbeats               roles.py: who leads, who follows     isr.py: AlterPartition
    groups             ─► groups.py: the coordinators of the offsets partitions that this broker leads
    timers             ─► isr.py: who is late                                  checkpoints.py: high watermarks to disk

Source: Kafka 3.9 core KafkaApis, ReplicaManager, BrokerServer, SocketServer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from broker_core.kafka.cluster import (
    checkpoints,
    fetch,
    groups,
    isr,
    lifecycle,
    metadata,
    offsets,
    produce,
    replication,
    roles,
    slow_disk,
    transactions,
    verification,
)
from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.state import DOWN, PendingProduce, TopicPartition
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import Closed, Opened, Outbox

Handler = Callable[[Host, int, Any, int, Outbox], None]
Waker = Callable[[Host, str, int, Outbox], None]


class Broker(Host):
    """The node. What it remembers is `BrokerState`."""

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        held = self.state.held.get(connection)
        if held is not None and type(message) is not Closed:
            held.append(message)
            return
        HANDLERS[type(message)](self, connection, message, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        what, _, rest = name.partition(":")
        TIMERS[what](self, rest, now_us, out)

    def answer(self, connection: int, response: Any, now_us: int, out: Outbox) -> None:
        """Answer a request that was held, and go on with those that came after it."""
        out.send(connection, response)
        if connection in self.state.held:
            self.go_on(connection, now_us, out)

    def go_on(self, connection: int, now_us: int, out: Outbox) -> None:
        """The request that held the others is done. The next one is read in its own step: what is being done now may still change what it finds."""
        if self.state.held[connection]:
            out.deadline(f"held:{connection}", now_us)
        else:
            del self.state.held[connection]

    def read_on(self, rest: str, now_us: int, out: Outbox) -> None:
        """Handle what a connection has sent meanwhile, up to the next request that waits."""
        connection = int(rest)
        held = self.state.held.pop(connection, None)
        while held:
            message = held.popleft()
            HANDLERS[type(message)](self, connection, message, now_us, out)
            if connection in self.state.held:
                self.state.held[connection] = held
                return

    def produced(self, pending: PendingProduce, error: ErrorCode, now_us: int, out: Outbox) -> None:
        """What waited for the ISR is decided. error: of its last partition."""
        if pending.write:
            transactions.written(self, pending.write, error, now_us, out)
        elif pending.marker_ids is not None:
            transactions.markers_written(self, pending, now_us, out)
        elif pending.connection:
            self.answer(pending.connection, r.ProduceResponse(pending.answers), now_us, out)

    def verified(self, connection: int, request: r.ProduceRequest, now_us: int, out: Outbox) -> None:
        produce.write(self, connection, request, now_us, out)

    def hold(self, connection: int) -> None:
        """The request just read is answered later: the next one waits."""
        self.state.held[connection] = deque()

    def offsets_moved(self, number: int, high_watermark: int, now_us: int, out: Outbox) -> None:
        groups.high_watermark_moved(self, number, high_watermark, now_us, out)

    def offsets_role_changed(self, key: TopicPartition, now_us: int, out: Outbox) -> None:
        groups.role_changed(self, key, now_us, out)


def opened(host: Host, connection: int, message: Opened, now_us: int, out: Outbox) -> None:
    """Somebody has connected."""
    if host.state.stage == DOWN:
        out.close(connection)
    else:
        host.state.clients[connection] = None


def closed(host: Host, connection: int, message: Closed, now_us: int, out: Outbox) -> None:
    """A client, a leader or the controller has gone, or the connection to it."""
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
    host.forget_connection(connection)


HANDLERS: Mapping[type, Handler] = MappingProxyType({
    Opened: opened, Closed: closed,
    r.ProduceRequest: produce.produce, r.FetchRequest: fetch.fetch, r.ListOffsetsRequest: offsets.list_offsets,
    r.OffsetsForLeaderEpochRequest: offsets.offsets_for_leader_epoch, r.DeleteRecordsRequest: offsets.delete_records,
    r.MetadataRequest: metadata.metadata,
    r.FetchResponse: replication.fetch_answered, r.OffsetsForLeaderEpochResponse: replication.epochs_answered,
    r.ListOffsetsResponse: replication.offsets_answered,
    t.FindCoordinatorRequest: transactions.find_coordinator, t.InitProducerIdRequest: transactions.init_producer_id,
    t.AddPartitionsToTxnRequest: transactions.add_partitions, t.AddOffsetsToTxnRequest: transactions.add_offsets,
    t.EndTxnRequest: transactions.end_transaction, t.WriteTxnMarkersRequest: transactions.write_markers,
    t.WriteTxnMarkersResponse: transactions.markers_answered, t.AddPartitionsToTxnResponse: verification.answered,
    c.AllocateProducerIdsResponse: transactions.producer_ids_given,
    c.MetadataDelta: roles.metadata_delta,
    c.BrokerRegistrationResponse: lifecycle.registered, c.BrokerHeartbeatResponse: lifecycle.heartbeat_answered,
    c.AlterPartitionResponse: isr.alter_partition_answered,
    lifecycle.Start: lifecycle.start, lifecycle.Stop: lifecycle.stop,
    **groups.HANDLERS,
})  # fmt: skip

TIMERS: Mapping[str, Waker] = MappingProxyType({
    "fetch": fetch.fetch_over, "produces": produce.produces_over, "fetcher": replication.fetcher_timer, "heartbeat": lifecycle.heartbeat_due,
    "verify": verification.verify_over, "markers": transactions.markers_due, "transactions": transactions.transactions_due,
    "group": groups.group_timer, "isr": isr.look_at_isrs, "checkpoint": checkpoints.checkpoint_due, "alter": isr.alter_again,
    "disk": slow_disk.written, "held": Broker.read_on,  # type: ignore[dict-item]
})  # fmt: skip
