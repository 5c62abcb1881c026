"""The group coordinators that a broker hosts: one for each partition of `__consumer_offsets` that it leads.

    FindCoordinator ─► the leader of the group's partition          a group's request ─► its coordinator ─► records ─► that partition's log
    became the leader ─► the log is replayed                        high watermark moves ─► answers that waited for it
    no longer the leader ─► who waits gets NOT_COORDINATOR          topics change ─► consumer groups look again

A coordinator is loaded in the moment in which its broker begins to lead; in the original that takes as long
as the log is long, and answers COORDINATOR_LOAD_IN_PROGRESS meanwhile. Requests carry the newest version that
3.9 has.

Source: Kafka 3.9 core KafkaApis (handleFindCoordinatorRequest and the group requests),
BrokerMetadataPublisher, CoordinatorLoaderImpl, CoordinatorPartitionWriter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from broker_core.events import Cause
from broker_core.kafka.cluster import changes
from broker_core.kafka.cluster.gathering import Gathering, parts_of, together
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.requests import BYTES_MAX
from broker_core.kafka.cluster.state import Replica, TopicPartition
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest, FindCoordinatorResponse
from broker_core.kafka.error_codes import Refused
from broker_core.kafka.group import codes, versions
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.group_coordinator import GroupCoordinator
from broker_core.kafka.group.member_ids import draw_member_id
from broker_core.kafka.group.record_bytes import key_bytes, value_bytes
from broker_core.kafka.group.record_reading import UnknownRecord, read_key, read_value
from broker_core.kafka.group.records import EndOfTransaction, LogRecord, Record
from broker_core.kafka.group.runtime import Appended
from broker_core.kafka.group.topics import Topic, TopicsImage, topic_id
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import encode_pairs
from broker_core.kafka.log.record_batch import HEADER_SIZE, ControlType
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.replication.partition import ACKS_ALL
from broker_core.kafka.replication.replica_log import LightBatch, light_batch
from broker_core.sim.node import Outbox

VERSIONS: Mapping[type, int] = MappingProxyType(
    {
        m.JoinGroupRequest: 9,
        m.SyncGroupRequest: 5,
        m.HeartbeatRequest: 4,
        m.LeaveGroupRequest: 5,
        m.OffsetCommitRequest: 9,
        m.OffsetFetchRequest: 9,
        m.OffsetDeleteRequest: 0,
        m.TxnOffsetCommitRequest: 4,
        m.DescribeGroupsRequest: 5,
        m.ListGroupsRequest: 5,
        m.DeleteGroupsRequest: 2,
        m.ConsumerGroupHeartbeatRequest: 0,
        m.ConsumerGroupDescribeRequest: 0,
    }
)
"""Request -> its newest version in 3.9."""


class _Out:
    """What one coordinator may do, for as long as it handles one thing."""

    def __init__(self, host: Host, number: int, now_us: int, out: Outbox) -> None:
        self.host, self.number, self.now_us, self.out = host, number, now_us, out

    def answer(self, context: m.RequestContext, response: Any) -> None:
        hosted = self.host.groups.hosted
        connection = hosted.tickets.pop(context.ticket, 0)
        gathering = hosted.gathering.get(connection)
        if gathering is not None:
            gathering.answers[context.ticket] = response
            if not gathering.is_whole:
                return
            response = gathering.answer()
            del hosted.gathering[connection]
        if connection in self.host.state.clients:
            if self.host.groups.overhears is not None:
                self.host.groups.overhears.answered(connection, response)
            self.host.answer(connection, response, self.now_us, self.out)

    def append(self, records: Sequence[LogRecord]) -> Appended:
        host, key = self.host, (OFFSETS_TOPIC, self.number)
        replica = host.state.replicas.get(key)
        if replica is None:
            raise codes.AppendFailed(codes.NOT_LEADER_OR_FOLLOWER)
        coordinators = host.groups
        coordinators.writing = self.number
        try:
            host.touch_followers(key, replica.partition)
            is_raised = self._append(replica, records)
            changes.appended(host, key, replica, self.now_us, self.out)
            if is_raised:
                changes.high_watermark_moved(host, key, replica, self.now_us, self.out)
        except (Refused, LogError) as error:
            raise codes.AppendFailed(int(error.code)) from error
        finally:
            coordinators.writing = -1
        log = replica.partition.log
        assert log is not None
        return Appended(log.log_end_offset, log.high_watermark)

    def _append(self, replica: Replica, records: Sequence[LogRecord]) -> bool:
        now_ms = self.host.state.now_ms(self.now_us)
        is_raised = False
        for batch in _batches(records, now_ms):
            if isinstance(batch, EndOfTransaction):
                control = ControlType.COMMIT if batch.commit else ControlType.ABORT
                is_raised |= replica.partition.append_marker(
                    control, batch.producer_id, batch.producer_epoch, 0, now_ms
                ).is_hw_raised
            else:
                appended = replica.partition.append_as_leader(
                    batch,  # type: ignore[arg-type]
                    ACKS_ALL,
                    now_ms,
                    is_from_coordinator=True,
                )
                is_raised |= appended.is_hw_raised
        return is_raised

    def deadline(self, name: str, at_ms: int) -> None:
        self.out.deadline(f"group:{self.number}:{name}", (at_ms - self.host.state.skew_ms) * 1_000)

    def cancel(self, name: str) -> None:
        self.out.cancel(f"group:{self.number}:{name}")

    def draw_id(self, is_classic: bool) -> str:
        return draw_member_id(self.out, is_classic)

    def tell(self, kind: str, rule: str | None, inputs: Mapping[str, Any], data: Mapping[str, Any]) -> Cause:
        return self.out.tell(kind, rule, dict(inputs), {"coordinator": self.host.state.broker_id, **data})

    def because(self, cause: Cause) -> None:
        self.out.because(cause)


# --- requests


def find_coordinator(
    host: Host, connection: int, request: FindCoordinatorRequest, now_us: int, out: Outbox
) -> None:
    """Who coordinates this group: the leader of its partition of the offsets topic."""
    count = sum(topic == OFFSETS_TOPIC for topic, _ in host.state.registrations)
    known = (
        host.state.registrations.get((OFFSETS_TOPIC, coordinator_partition(request.key, count)))
        if count
        else None
    )
    if known is None or known.leader < 0:
        out.send(connection, FindCoordinatorResponse(codes.COORDINATOR_NOT_AVAILABLE))
    else:
        out.send(connection, FindCoordinatorResponse(codes.NONE, known.leader))


def group_request(host: Host, connection: int, request: Any, now_us: int, out: Outbox) -> None:
    """Hand a request to its group's coordinator; it answers now or later, and the connection reads nothing
    else before. One for several groups goes to the coordinator of each."""
    coordinators = host.groups
    hosted = coordinators.hosted
    partitions = sum(topic == OFFSETS_TOPIC for topic, _ in host.state.registrations) or 1
    parts = parts_of(request, partitions, coordinators.running)
    if coordinators.overhears is not None:
        coordinators.overhears.arrived(host.state.broker_id, connection, request)
    if not parts or (len(parts) == 1 and parts[0][0] not in coordinators.running):
        answer = versions.error_response(request, codes.NOT_COORDINATOR) if parts else together(request, [])
        if coordinators.overhears is not None:
            coordinators.overhears.answered(connection, answer)
        out.send(connection, answer)
        return
    host.hold(connection)
    first = hosted.ticket_count + 1
    hosted.ticket_count += len(parts)
    if len(parts) > 1:
        hosted.gathering[connection] = Gathering(request, [*range(first, first + len(parts))])
    for ticket, (number, part) in enumerate(parts, first):
        hosted.tickets[ticket] = connection
        context = m.RequestContext(ticket, VERSIONS[type(part)], getattr(part, "client_id", ""))
        side = _Out(host, number, now_us, out)
        coordinator = coordinators.running.get(number)
        if coordinator is None:
            side.answer(context, versions.error_response(part, codes.NOT_COORDINATOR))
        else:
            coordinator.receive(context, part, host.state.now_ms(now_us), side)


def group_timer(host: Host, rest: str, now_us: int, out: Outbox) -> None:
    """A timer of a coordinator is due."""
    number, _, name = rest.partition(":")
    coordinator = host.groups.running.get(int(number))
    if coordinator is not None:
        coordinator.wake(name, host.state.now_ms(now_us), _Out(host, int(number), now_us, out))


def end_transaction(
    host: Host, connection: int, number: int, request: m.WriteTxnMarkers, now_us: int, out: Outbox
) -> None:
    """A transaction that committed offsets has ended on this partition of the offsets topic."""
    coordinator = host.groups.running.get(number)
    if coordinator is not None:
        hosted = host.groups.hosted
        hosted.ticket_count += 1
        hosted.tickets[hosted.ticket_count] = connection
        context = m.RequestContext(hosted.ticket_count, 0)
        coordinator.receive(context, request, host.state.now_ms(now_us), _Out(host, number, now_us, out))


# --- what happens to the broker


def role_changed(host: Host, key: TopicPartition, now_us: int, out: Outbox) -> None:
    """A partition of the offsets topic has another leader: take its groups over, or hand them over."""
    number = key[1]
    replica = host.state.replicas.get(key)
    leads = replica is not None and replica.partition.is_leader
    coordinators = host.groups
    running = coordinators.running.get(number)
    if leads and running is None and replica is not None and replica.partition.log is not None:
        image = topics_image(host)
        if not coordinators.running:
            coordinators.hosted.image = image  # those at work hear what is new by `metadata_changed`
        coordinator = GroupCoordinator(coordinators.settings, image)
        coordinators.running[number], coordinators.hosted.shards[number] = coordinator, coordinator.state
        loaded = list(_stored(replica.partition.log))
        coordinator.load(
            loaded,
            replica.partition.log.log_end_offset,
            host.state.now_ms(now_us),
            _Out(host, number, now_us, out),
        )
        if coordinator.state.groups.present:
            out.tell(
                "kafka.group.coordinator_loaded",
                "kafka.group.offsets_leader",
                {"partition": number, "records": len(loaded)},
                {
                    "coordinator": host.state.broker_id,
                    "groups": len(coordinator.state.groups.present),
                },
            )
    elif not leads and running is not None:
        del coordinators.running[number], coordinators.hosted.shards[number]
        running.unload(host.state.now_ms(now_us), _Out(host, number, now_us, out))


def high_watermark_moved(host: Host, number: int, high_watermark: int, now_us: int, out: Outbox) -> None:
    """What was written is on all replicas of the ISR: answers that waited for it go out."""
    coordinator = host.groups.running.get(number)
    if coordinator is not None and host.groups.writing != number:
        coordinator.high_watermark_moved(
            high_watermark, host.state.now_ms(now_us), _Out(host, number, now_us, out)
        )


def metadata_changed(host: Host, now_us: int, out: Outbox) -> None:
    """Topics have come, gone or grown: groups of the consumer protocol look at theirs again."""
    coordinators = host.groups
    if not coordinators.running:
        return
    image, before = topics_image(host), coordinators.hosted.image
    changed = [
        name
        for name in {**before.by_name, **image.by_name}
        if before.by_name.get(name) != image.by_name.get(name)
    ]
    if changed:
        coordinators.hosted.image = image
        for number, coordinator in coordinators.running.items():
            coordinator.out = _Out(host, number, now_us, out)
            coordinator.now_ms = host.state.now_ms(now_us)
            coordinator.topics_changed(image, changed)


def topics_image(host: Host) -> TopicsImage:
    """What this broker's metadata say of topics."""
    replicas: dict[str, dict[int, Sequence[int]]] = {}
    for (topic, number), known in host.state.registrations.items():
        replicas.setdefault(topic, {})[number] = known.replicas
    racks = {broker_id: broker.rack for broker_id, broker in host.state.brokers.items() if broker.rack}

    def racks_of(rows: Mapping[int, Sequence[int]]) -> tuple[tuple[str, ...], ...]:
        if not racks:
            return ()
        return tuple(
            tuple(dict.fromkeys(racks[broker] for broker in rows[number] if broker in racks))
            for number in sorted(rows)
        )

    return TopicsImage.of(
        Topic(name, topic_id(name), len(rows), racks_of(rows))
        for name, rows in replicas.items()
        if name != OFFSETS_TOPIC
    )


# --- records in the log


def _batches(records: Sequence[LogRecord], now_ms: int) -> Iterator[LightBatch | EndOfTransaction]:
    """Records as batches of their producers: one for all plain ones in a row."""
    row: list[Record] = []
    for record in records:
        is_other = isinstance(record, EndOfTransaction) or (row and row[0].producer_id != record.producer_id)
        if row and is_other:
            yield _batch(row, now_ms)
            row = []
        if isinstance(record, EndOfTransaction):
            yield record
        else:
            row.append(record)
    if row:
        yield _batch(row, now_ms)


def _batch(records: Sequence[Record], now_ms: int) -> LightBatch:
    """Values are the keys and values in hexadecimal, as a checkpoint can keep them; the batch counts with the
    size of its bytes."""
    pairs = [
        (key_bytes(record.key), None if record.value is None else value_bytes(record.value))
        for record in records
    ]
    first = records[0]
    return light_batch(
        [(key.hex(), None if value is None else value.hex()) for key, value in pairs],
        timestamp=now_ms,
        size_in_bytes=HEADER_SIZE + len(encode_pairs(pairs)[0]),
        producer_id=first.producer_id,
        producer_epoch=first.producer_epoch,
        base_sequence=-1,
        is_transactional=first.producer_id >= 0,
    )


def _stored(log: PartitionLog) -> Iterable[LogRecord]:
    """The records of an offsets partition, from its log start to its log end; those of a newer version are
    passed over, as Kafka does."""
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        batches: Any = log.read(offset, BYTES_MAX).data  # of a light log: batches
        if not batches:
            return
        for batch in batches:
            yield from _records(batch)
        offset = batches[-1].header.last_offset + 1


def _records(batch: LightBatch) -> Iterator[LogRecord]:
    header = batch.header
    if not header.record_count:
        return  # the cleaner has emptied it
    if header.is_control:
        yield EndOfTransaction(
            header.producer_id, header.producer_epoch, batch.control_type()[0] == ControlType.COMMIT
        )
        return
    for key_hex, value_hex in (stored for stored in batch.values if stored is not None):
        try:
            key = read_key(bytes.fromhex(key_hex))
            value = None if value_hex is None else read_value(key, bytes.fromhex(value_hex))
        except UnknownRecord:
            continue
        yield Record(key, value, header.producer_id, header.producer_epoch)


HANDLERS: Mapping[type, Any] = MappingProxyType(dict.fromkeys(VERSIONS, group_request))
"""Each request of a group; FindCoordinator is shared with transactions."""
