"""A broker's part in transactions: it coordinates some ids, gives producer ids, and writes markers into the
partitions that it leads.

    FindCoordinator ─► leader of the id's partition of __transaction_state          the rules: txn/coordinator.py
    coordinator ─► record to __transaction_state ─► on all of the ISR ─► answer
                ─► WriteTxnMarkers to each leader ─► control batch ─► on all of its ISR ─► answered ─► complete

Markers go over one connection to each broker, one request at a time; those for partitions of this broker are
written without one. `__transaction_state` is a topic of the plan (`transaction_topic`), where Kafka makes it
when the first client asks.

Source: Kafka 3.9 core KafkaApis (handleFindCoordinatorRequest, handleInitProducerIdRequest,
handleAddPartitionsToTxnRequest, handleEndTxnRequest, handleWriteTxnMarkersRequest),
TransactionMarkerChannelManager, RPCProducerIdManager.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from broker_core.events import Cause, Json
from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import groups, produce
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.requests import ProducedPartition
from broker_core.kafka.cluster.state import MarkerLink, PendingProduce, Replica, TopicPartition
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.group import messages as m
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.replication.partition import ACKS_ALL
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.kafka.txn.coordinator import ABORT_INTERVAL_MS, TRY_LATER, Marker
from broker_core.kafka.txn.records import TRANSACTION_STATE_TOPIC
from broker_core.sim.node import Outbox

REQUEST_TIMEOUT_MS = 30_000
MARKER_RETRY_US = 100_000
PREFETCH_IDS = 100
"""So many producer ids are left when the next block is asked for."""


@dataclass(slots=True)
class CoordinatorSide:
    """What the coordinator can do on this broker (`txn.coordinator_out.CoordinatorOut`). A ticket is the
    connection of the request."""

    host: Host
    now_us: int
    out: Outbox

    def answer(self, ticket: int, response: t.TransactionMessage) -> None:
        if ticket in self.host.state.held:
            self.host.answer(ticket, response, self.now_us, self.out)

    def append(self, write: int, state_partition: int, record: Any) -> None:
        host, key = self.host, (TRANSACTION_STATE_TOPIC, state_partition)
        pending = PendingProduce(0, [], 1, write=write)
        records = light_batch([record], timestamp=host.state.now_ms(self.now_us))
        replica = host.state.replicas.get(key)
        if replica is None:
            written(host, write, ErrorCode.NOT_LEADER_OR_FOLLOWER, self.now_us, self.out)
            return
        host.touch_followers(key, replica.partition)
        try:
            appended, is_raised = replica.partition.append_as_leader(
                records,  # type: ignore[arg-type]
                ACKS_ALL,
                host.state.now_ms(self.now_us),
            )
        except (Refused, LogError) as error:
            written(host, write, ErrorCode(error.code), self.now_us, self.out)
            return
        produce.wait(
            host, pending, [(replica, appended.last_offset + 1)], REQUEST_TIMEOUT_MS, self.now_us, self.out
        )
        produce.follow_up(host, key, replica, self.now_us, self.out, is_raised=is_raised)

    def send_markers(self) -> None:
        self.out.deadline("markers", self.now_us)

    def new_producer_id(self) -> int:
        ids = self.host.state.transactions.producer_ids
        if ids.end - ids.next <= PREFETCH_IDS:
            ask_producer_ids(self.host, self.out)
        if ids.next == ids.end:
            return t.NO_PRODUCER_ID
        ids.next += 1
        return ids.next - 1

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        return self.out.tell(kind, rule, inputs, data)


# --- roles


def role_changed(host: Host, key: TopicPartition, now_us: int, out: Outbox) -> None:
    """A partition of `__transaction_state` has perhaps another leader, or epoch."""
    state = host.state
    coordinator, number = host.transactions, key[1]
    replica = state.replicas.get(key)
    if replica is None or not replica.partition.is_leader or replica.partition.log is None:
        if number in coordinator.state.led:
            coordinator.resigned(number)
        return
    led, epoch = coordinator.state.led.get(number), replica.partition.leader_epoch
    if led is not None and led.coordinator_epoch == epoch:
        return
    batches: Any = replica.partition.log.batches()
    records = [value for batch in batches if not batch.header.is_control for value in batch.values]
    coordinator.elected(number, epoch, records, state.now_ms(now_us), CoordinatorSide(host, now_us, out))
    if records:
        out.tell(
            "kafka.transaction.coordinator_elected",
            "kafka.transaction.coordinator",
            {"epoch": epoch, "records": len(records)},
            {
                "broker": broker_node(state.broker_id),
                "partition": number,
                "transactions": len(coordinator.state.led[number].ids),
            },
        )
    if not state.transactions.is_timed:
        state.transactions.is_timed = True
        out.deadline("transactions", now_us + ABORT_INTERVAL_MS * 1_000)


def metadata_changed(host: Host, changed: Sequence[TopicPartition]) -> None:
    """Partitions have come or changed; an id's partition depends on how many there are of
    `__transaction_state`."""
    if any(topic == TRANSACTION_STATE_TOPIC for topic, _ in changed):
        host.transactions.state.partition_count = sum(
            topic == TRANSACTION_STATE_TOPIC for topic, _ in host.state.registrations
        )


def transactions_due(host: Host, _: str, now_us: int, out: Outbox) -> None:
    """Every 10 s: transactions that have lasted too long."""
    host.transactions.abort_timed_out(host.state.now_ms(now_us), CoordinatorSide(host, now_us, out))
    out.deadline("transactions", now_us + ABORT_INTERVAL_MS * 1_000)


def written(host: Host, write: int, error: ErrorCode, now_us: int, out: Outbox) -> None:
    """A record of `__transaction_state` is on all of the ISR, or never will be for sure."""
    host.transactions.written(write, error, host.state.now_ms(now_us), CoordinatorSide(host, now_us, out))


# --- requests of clients


def find_coordinator(
    host: Host, connection: int, request: t.FindCoordinatorRequest, now_us: int, out: Outbox
) -> None:
    """Who coordinates: the leader of the partition to which the id's hash leads. Groups: groups.py."""
    if request.key_type not in (t.GROUP, t.TRANSACTION):
        out.send(connection, t.FindCoordinatorResponse(ErrorCode.INVALID_REQUEST, -1, "no such type of key"))
        return
    if request.key_type == t.GROUP:
        groups.find_coordinator(host, connection, request, now_us, out)
        return
    key = _coordinated_by(host, TRANSACTION_STATE_TOPIC, request.key)
    leader = -1 if key is None else host.leader_known(key)[0]
    known = host.state.brokers.get(leader)
    if known is None or known.is_fenced:
        out.send(
            connection,
            t.FindCoordinatorResponse(ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, "nobody leads its partition"),
        )
    else:
        out.send(connection, t.FindCoordinatorResponse(0, leader))


def init_producer_id(
    host: Host, connection: int, request: t.InitProducerIdRequest, now_us: int, out: Outbox
) -> None:
    known = (request.producer_id != t.NO_PRODUCER_ID, request.producer_epoch != t.NO_PRODUCER_EPOCH)
    if known[0] != known[1]:
        out.send(connection, t.InitProducerIdResponse(ErrorCode.INVALID_REQUEST))
        return
    host.hold(connection)
    host.transactions.init_producer_id(
        connection, request, host.state.now_ms(now_us), CoordinatorSide(host, now_us, out)
    )


def add_partitions(
    host: Host, connection: int, request: t.AddPartitionsToTxnRequest, now_us: int, out: Outbox
) -> None:
    """All partitions must be there; else none is added. Only brokers may ask whether they are part of the
    transaction."""
    if request.verify_only and not host.has_cluster_action(connection):
        refused = [(*key, int(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)) for key in request.partitions]
        out.send(connection, t.AddPartitionsToTxnResponse(refused))
        return
    unknown = [key for key in request.partitions if key not in host.state.registrations]
    if unknown and not request.verify_only:
        out.send(
            connection,
            t.AddPartitionsToTxnResponse(
                [
                    (
                        *key,
                        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                        if key in unknown
                        else ErrorCode.OPERATION_NOT_ATTEMPTED,
                    )
                    for key in request.partitions
                ]
            ),
        )
        return
    host.hold(connection)
    host.transactions.add_partitions(
        connection, request, host.state.now_ms(now_us), CoordinatorSide(host, now_us, out)
    )


def add_offsets(
    host: Host, connection: int, request: t.AddOffsetsToTxnRequest, now_us: int, out: Outbox
) -> None:
    key = _coordinated_by(host, OFFSETS_TOPIC, request.group_id)
    if key is None:
        out.send(connection, t.AddOffsetsToTxnResponse(ErrorCode.COORDINATOR_NOT_AVAILABLE))
        return
    host.hold(connection)
    host.transactions.add_offsets(
        connection, request, key, host.state.now_ms(now_us), CoordinatorSide(host, now_us, out)
    )


def end_transaction(host: Host, connection: int, request: t.EndTxnRequest, now_us: int, out: Outbox) -> None:
    host.hold(connection)
    host.transactions.end_transaction(
        connection, request, host.state.now_ms(now_us), CoordinatorSide(host, now_us, out)
    )


# --- producer ids


def ask_producer_ids(host: Host, out: Outbox) -> None:
    """Ask the controller for a block of ids, unless one was asked for on this connection."""
    state = host.state
    ids = state.transactions.producer_ids
    if state.control and ids.asked_on != state.control:
        ids.asked_on = state.control
        out.send(state.control, c.AllocateProducerIdsRequest(state.broker_id, state.broker_epoch))


def producer_ids_given(
    host: Host, connection: int, answer: c.AllocateProducerIdsResponse, now_us: int, out: Outbox
) -> None:
    """A block came. What is left of the block before is given up."""
    ids = host.state.transactions.producer_ids
    ids.asked_on = 0
    if not answer.error_code:
        ids.next, ids.end = answer.producer_id_start, answer.producer_id_start + answer.producer_id_len


# --- markers: the coordinator's side


def markers_due(host: Host, _: str, now_us: int, out: Outbox) -> None:
    """Send every marker that is not on its way to who leads its partition; give up on answers that do not
    come."""
    links = host.state.transactions.links
    for broker, link in list(links.items()):
        if link.asked and link.connection and now_us - link.sent_us >= REQUEST_TIMEOUT_MS * 1_000:
            out.blame_silence(link.connection)
            out.close(link.connection)
            marker_link_lost(host, broker, now_us, out)
    to_send: dict[int, list[Marker]] = {}
    is_leaderless = False
    for marker in host.transactions.take_markers():
        leader = host.leader_known(marker.partition)[0]
        known = host.state.brokers.get(leader)
        if known is None or known.is_fenced:
            is_leaderless = True
        else:
            to_send.setdefault(leader, []).append(marker)
    for broker, markers in to_send.items():
        link = links.setdefault(broker, MarkerLink())
        if link.asked:
            continue  # when that is answered
        for marker in markers:
            marker.is_asked = True
        link.asked, link.sent_us = markers, now_us
        if broker == host.state.broker_id:
            write_markers(host, 0, _request(markers), now_us, out)
            continue
        if not link.connection:
            link.connection = out.connect(broker_node(broker))
        out.send(link.connection, _request(markers))
    if is_leaderless:
        out.deadline("markers", now_us + MARKER_RETRY_US)
    elif any(link.asked for link in links.values()):
        out.deadline(
            "markers", min(link.sent_us for link in links.values() if link.asked) + REQUEST_TIMEOUT_MS * 1_000
        )


def markers_answered(
    host: Host, connection: int, answer: t.WriteTxnMarkersResponse, now_us: int, out: Outbox
) -> None:
    """A leader has written markers. connection: 0: this broker."""
    for link in host.state.transactions.links.values():
        if link.connection == connection and link.asked:
            asked, link.asked = link.asked, []
            _marked(host, asked, [ErrorCode(code) for *_, code in answer.results], now_us, out)
            return


def marker_link_lost(host: Host, broker: int, now_us: int, out: Outbox) -> None:
    """The connection to a leader broke: it may have written the markers, and will write them again, which
    changes nothing."""
    link = host.state.transactions.links.pop(broker)
    _marked(host, link.asked, [ErrorCode.NETWORK_EXCEPTION] * len(link.asked), now_us, out)


def _marked(
    host: Host, markers: Sequence[Marker], errors: Sequence[ErrorCode], now_us: int, out: Outbox
) -> None:
    side, now_ms = CoordinatorSide(host, now_us, out), host.state.now_ms(now_us)
    for marker, error in zip(markers, errors, strict=True):
        host.transactions.marked(marker, error, now_ms, side)
    if host.transactions.take_markers():
        out.deadline(
            "markers", now_us + (MARKER_RETRY_US if any(error in TRY_LATER for error in errors) else 0)
        )


def _request(markers: Sequence[Marker]) -> t.WriteTxnMarkersRequest:
    """One entry for each marker, in order, so that the answer's results are in the order of the markers."""
    return t.WriteTxnMarkersRequest(
        [
            t.TxnMarker(
                marker.producer_id,
                marker.producer_epoch,
                marker.is_commit,
                [marker.partition],
                marker.coordinator_epoch,
            )
            for marker in markers
        ]
    )


# --- markers: the leader's side


def write_markers(
    host: Host, connection: int, request: t.WriteTxnMarkersRequest, now_us: int, out: Outbox
) -> None:
    """Write a control batch into each partition, and answer when all of its ISR have it. connection: 0: this
    broker's own coordinator; else another broker's."""
    if connection and not host.has_cluster_action(connection):
        code = int(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        refused = [(each.producer_id, *key, code) for each in request.markers for key in each.partitions]
        out.send(connection, t.WriteTxnMarkersResponse(refused))
        return
    answers: list[ProducedPartition] = []
    ids: list[int] = []
    waits: list[tuple[Replica, int]] = []
    done: list[tuple[TopicPartition, Replica, bool]] = []
    for marker in request.markers:
        for key in marker.partitions:
            ids.append(marker.producer_id)
            replica = host.state.replicas.get(key)
            error = host.replica_error(key) if replica is None else ErrorCode.NONE
            if replica is not None:
                try:
                    host.touch_followers(key, replica.partition)
                    end_offset, is_raised = _write_marker(host, key, replica, marker, now_us, out)
                except (Refused, LogError) as refusal:
                    error = ErrorCode(refusal.code)
                else:
                    waits.append((replica, end_offset))
                    done.append((key, replica, is_raised))
            answers.append(ProducedPartition(*key, error))
    if connection:
        host.hold(connection)
    pending = PendingProduce(connection, answers, len(waits), marker_ids=ids)
    if waits:
        produce.wait(host, pending, waits, REQUEST_TIMEOUT_MS, now_us, out)
    else:
        markers_written(host, pending, now_us, out)
    for key, replica, is_raised in done:
        produce.follow_up(host, key, replica, now_us, out, is_raised=is_raised)


def _write_marker(
    host: Host, key: TopicPartition, replica: Replica, marker: t.TxnMarker, now_us: int, out: Outbox
) -> tuple[int, bool]:
    """Give where the log ends then, and whether the high watermark moved. Raises Refused, LogError.

    A partition of the offsets topic is written by its group coordinator, which makes the offsets count or
    forgets them.
    """
    log = replica.partition.log_for(None, needs_leader=True)
    if key[0] == OFFSETS_TOPIC:
        ended = m.WriteTxnMarkers(marker.producer_id, marker.producer_epoch, marker.transaction_result)
        groups.end_transaction(host, 0, key[1], ended, now_us, out)
        return log.log_end_offset, False
    control = ControlType.COMMIT if marker.transaction_result else ControlType.ABORT
    appended, is_raised = replica.partition.append_marker(
        control,
        marker.producer_id,
        marker.producer_epoch,
        marker.coordinator_epoch,
        host.state.now_ms(now_us),
    )
    return appended.last_offset + 1, is_raised


def markers_written(host: Host, pending: PendingProduce, now_us: int, out: Outbox) -> None:
    """Every marker of a request is decided."""
    response = t.WriteTxnMarkersResponse([
        (producer_id, answer.topic, answer.index, answer.error_code)
        for producer_id, answer in zip(pending.marker_ids or (), pending.answers, strict=True)
    ])  # fmt: skip
    if pending.connection:
        host.answer(pending.connection, response, now_us, out)
    elif host.state.broker_id in host.state.transactions.links:
        markers_answered(host, 0, response, now_us, out)


def _coordinated_by(host: Host, topic: str, name: str) -> TopicPartition | None:
    count = sum(each == topic for each, _ in host.state.registrations)
    return (topic, coordinator_partition(name, count)) if count else None
