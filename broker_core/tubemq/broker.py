"""A TubeMQ broker: its partitions, who is registered for each, and how far each group has consumed.

One owner per group and partition. A request of another one is refused (410) while the owner is alive; once
its 30 s are over, the first such request removes it and is still refused, the second succeeds. A batch that
was read and not confirmed is read again. What a client registers and releases is reported by that client; a
broker tells only what no client knows.
Source: TubeMQ (InLong a6c7a6a670) BrokerServiceServer, DefaultOffsetManager; docs/tubemq/facts.md, "Broker".
Vectors: tubemq/broker_register.json.
A registration of a partition id that the topic does not have here is refused (403), and yet its owner is kept
until it times out, as in the original: `BrokerState.absent`.
Offsets in requests and answers are bytes of the partition's index log, 28 for each message; state counts
messages, so every stored offset is a multiple of 28.
Flow rules of the broker (`flow_control.py`) hold for a group that has none of its own.
Left out: filters, retention by time (unless it keeps what was read, a log begins where nobody reads
any more).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

from broker_core.sim.node import Closed, Opened, Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.flow_control import FIRST_READ_BYTES, SAMPLES, Pace, parse_rules
from broker_core.tubemq.message_log import GONE_AT_ONCE, HEADER_BYTES, MessageLog

TRANSFER_BYTES_MAX = 512 * 1024
"""transferSize of BrokerConfig."""


@dataclass(slots=True)
class Consumed:
    """One group's place in one partition. offset: stored, the next message to read. pending: messages read
    and not yet confirmed.

    owner: client id registered for it, "" for none. connection: on which it registered. deadline_us: when the
    owner counts as dead.
    furthest: no message from here on was ever handed out. pace: of the owner, where the broker has flow rules.
    """

    offset: int = 0
    pending: int = 0
    owner: str = ""
    connection: int = 0
    deadline_us: int = 0
    furthest: int = 0
    pace: Pace | None = None


@dataclass(slots=True)
class Partition:
    """end: how many messages were written. groups: group -> its place. log: the messages that one of them may
    still read. keeps_read: messages that every group has read stay, for one that goes back by its bootstrap
    offset."""

    end: int = 0
    groups: dict[str, Consumed] = field(default_factory=dict)
    log: MessageLog = field(default_factory=MessageLog)
    keeps_read: bool = False

    def confirm(self, place: Consumed) -> None:
        """What this group has read and not confirmed is done."""
        place.offset += place.pending
        if (
            place.offset - self.log.start >= GONE_AT_ONCE and not self.keeps_read
        ):  # else another group, which is behind, lets nothing go either
            self.log.forget(min(group.offset for group in self.groups.values()))
        place.pending = 0

    def first_offset(self, read_status: int) -> int:
        """Where a group without a stored offset begins."""
        return self.log.start if read_status == r.FROM_FIRST else self.end

    def corrected(self, offset: int) -> int:
        """The offset, or the end of the log that it lies beyond."""
        return max(self.log.start, min(offset, self.end))


@dataclass(slots=True)
class BrokerState:
    """partitions: partition key -> partition. absent: key of a partition that its topic does not have here, and
    that a client registered all the same -> its owners. transfer_bytes_max: a read's batch ends with the message that
    reaches it. read_again: messages handed out twice so far. flow_rules: as an operator writes them, "" for none."""

    broker_id: int
    partitions: dict[str, Partition]
    transfer_bytes_max: int = TRANSFER_BYTES_MAX
    read_again: int = 0
    absent: dict[str, Partition] = field(default_factory=dict)
    flow_rules: str = ""

    def has_topic_of(self, key: str) -> bool:
        """Whether this broker has partitions of the key's topic."""
        return any(of_same_topic(key, other) for other in self.partitions)


class Broker:
    def __init__(self, state: BrokerState) -> None:
        self.state = state
        self.handler_of = dict(HANDLERS).get  # a plain dict is twice as fast

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        handler = self.handler_of(type(message))
        if handler is not None:
            handler(self, connection, message, now_us, out)
        elif type(message) not in (Opened, Closed):
            out.send(connection, r.NO_METHOD)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """The sweep: an owner's 30 s are over, the partition is free and its unconfirmed batch forgotten."""
        _, group, key = name.split(":", 2)
        place = self.known_place(unquote(group), key)
        if place is None or not place.owner:
            return
        if (
            now_us < place.deadline_us
        ):  # it has been heard of since; moving the deadline with every read would cost more than this look
            out.deadline(name, place.deadline_us)
        else:
            time_out(place, key, out)
            self.state.absent.pop(key, None)

    def known_place(self, group: str, key: str) -> Consumed | None:
        """The group's place in a partition, None where no client of it has registered there. To ask makes none: it
        would keep the log's messages for a group that nobody reads for."""
        partition = self.state.partitions.get(key) or self.state.absent.get(key)
        return None if partition is None else partition.groups.get(group)

    def place(self, group: str, key: str, read_status: int = r.FROM_FIRST) -> Consumed:
        """The group's place in a partition. A group that is new begins where its read status says."""
        state = self.state
        partition = state.partitions.get(key) or state.absent.setdefault(key, Partition())
        place = partition.groups.get(group)
        if place is None:
            first = partition.first_offset(read_status)
            place = partition.groups[group] = Consumed(first, furthest=first)
        return place


def of_same_topic(key: str, other: str) -> bool:
    """Whether two keys name partitions of one topic on one broker.

    >>> of_same_topic("1:t:7", "1:t:0"), of_same_topic("1:t", "1:t:0"), of_same_topic("2:t:0", "1:t:0")
    (True, False, False)
    """
    topic, mark, number = key.rpartition(":")
    return bool(mark) and number.isascii() and number.isdecimal() and other.rpartition(":")[0] == topic


def sweep_name(group: str, key: str) -> str:
    return f"registration:{quote(group, safe='')}:{key}"


def time_out(place: Consumed, key: str, out: Outbox) -> None:
    """The owner has not been heard of for 30 s: the partition is free, and its unconfirmed batch will be read
    again."""
    out.blame_silence(place.connection)
    client_id = place.owner
    place.owner, place.pending = "", 0
    out.tell("tubemq.broker.registration_timed_out", "tubemq.timeout", {"timeout_us": r.TIMEOUT_US},
             {"consumer": host_of(client_id), "client": client_id, "partition": key})  # fmt: skip


def register(
    broker: Broker, connection: int, request: r.RegisterRequestC2B, now_us: int, out: Outbox
) -> None:
    """connect2Partition and disconnectFromPartition at the broker."""
    key = request.partition
    if not is_from_member(request):
        code = r.BAD_REQUEST
    elif not broker.state.has_topic_of(key):
        code = r.FORBIDDEN
    elif request.op_type not in (r.REGISTER, r.UNREGISTER):
        code = r.BAD_REQUEST
    else:
        take = claim if request.op_type == r.REGISTER else release
        code = take(broker, connection, request, now_us, out)
    partition, place = broker.state.partitions.get(key), broker.known_place(request.group, key)
    offset = 0 if partition is None or place is None else place.offset * r.ENTRY_BYTES
    end = 0 if partition is None or place is None else partition.end * r.ENTRY_BYTES
    out.send(connection, r.RegisterResponseB2C(code, request.op_type, key, offset, end))


def claim(broker: Broker, connection: int, request: r.RegisterRequestC2B, now_us: int, out: Outbox) -> int:
    """A client wants to own a partition. Gives the code."""
    key, client_id = request.partition, request.client_id
    place = broker.place(request.group, key, request.read_status)
    if place.owner not in ("", client_id):
        if now_us >= place.deadline_us:
            time_out(place, key, out)
        return r.PARTITION_OCCUPIED
    place.owner, place.connection, place.pending, place.pace = client_id, connection, 0, None
    place.deadline_us = now_us + r.TIMEOUT_US
    out.deadline(sweep_name(request.group, key), place.deadline_us)
    partition = broker.state.partitions.get(key)
    if partition is None:  # it owns what is not there until its time is over
        return r.FORBIDDEN
    if request.read_status == r.FROM_MAX_ALWAYS:
        place.offset = partition.end
    elif request.curr_offset >= 0:
        place.offset = partition.corrected(request.curr_offset // r.ENTRY_BYTES)
    return r.SUCCESS


def release(broker: Broker, connection: int, request: r.RegisterRequestC2B, now_us: int, out: Outbox) -> int:
    """The owner lets go of a partition, and may confirm its batch with that. Gives the code."""
    place = broker.known_place(request.group, request.partition)
    code = r.HB_NO_NODE if place is None else not_owner(place, request.client_id)
    if place is None or code != r.SUCCESS:
        return code
    partition = broker.state.partitions.get(request.partition)
    if partition is not None and request.last_pack_consumed:
        partition.confirm(place)
    place.owner, place.pending = "", 0
    broker.state.absent.pop(request.partition, None)
    out.cancel(sweep_name(request.group, request.partition))
    return r.SUCCESS


def heartbeat(
    broker: Broker, connection: int, request: r.HeartBeatRequestC2B, now_us: int, out: Outbox
) -> None:
    """The owner is alive; what it does not own is named in the answer, and it drops that."""
    failures: list[tuple[int, str]] = []
    for key in request.partitions:
        place = broker.known_place(request.group, key)
        code = r.HB_NO_NODE if place is None else not_owner(place, request.client_id)
        if place is None or code != r.SUCCESS:
            failures.append((code, key))
        else:
            place.deadline_us = now_us + r.TIMEOUT_US
    out.send(connection, r.HeartBeatResponseB2C(failures))


def get_message(
    broker: Broker, connection: int, request: r.GetMessageRequestC2B, now_us: int, out: Outbox
) -> None:
    """One batch from the stored offset, as much as fits the limit in bytes; a second read without a
    confirmation gives it again. Reading keeps the owner alive too."""
    key = request.partition
    state = broker.state
    place = broker.known_place(request.group, key)
    code = r.HB_NO_NODE if place is None else not_owner(place, request.client_id)
    if not is_from_member(request):
        code = r.BAD_REQUEST
    if place is None or code != r.SUCCESS:
        out.send(connection, r.GetMessageResponseB2C(code, key, [], 0, 0))
        return
    place.deadline_us = now_us + r.TIMEOUT_US
    partition = state.partitions.get(key)
    if partition is None:
        out.send(connection, r.GetMessageResponseB2C(r.FORBIDDEN, key, [], 0, 0))
        return
    if request.last_pack_consumed:
        partition.confirm(place)
    # The log's ends may have moved past what is stored.
    first = place.offset = partition.corrected(place.offset)
    end = partition.end
    if first >= end:
        at_end = end * r.ENTRY_BYTES
        out.send(connection, r.GetMessageResponseB2C(r.NOT_FOUND, key, [], at_end, at_end))
        return
    bytes_max = state.transfer_bytes_max
    if state.flow_rules:
        bytes_max = allowed_bytes(state, partition, place, request, now_us)
        if bytes_max <= 0:
            code = r.SERVER_CONSUME_SPEED_LIMIT
            out.send(connection, r.GetMessageResponseB2C(code, key, [], -1, 0, min_limit_us=-bytes_max))
            return
    stop = partition.log.batch_end(first, end, bytes_max)
    place.pending = stop - first
    if place.furthest < stop:
        state.read_again += max(0, place.furthest - first)
        place.furthest = stop
    else:
        state.read_again += stop - first
    messages = partition.log.between(first, stop)
    answer = r.GetMessageResponseB2C(r.SUCCESS, key, messages, first * r.ENTRY_BYTES, end * r.ENTRY_BYTES)
    if state.flow_rules or request.escapes_flow_control:
        answer.size = partition.log.size(first, stop) - HEADER_BYTES * len(messages)
        answer.lag = partition.log.size(stop, end)
        if place.pace is not None:
            place.pace.read(partition.log.size(first, stop))
            place.pace.read_until = stop
    out.send(connection, answer)


def allowed_bytes(
    state: BrokerState, partition: Partition, place: Consumed, request: r.GetMessageRequestC2B, now_us: int
) -> int:
    """How many bytes the owner may have with this read; if none, minus the microseconds that it has to rest.

    Source: TubeMQ (InLong) ConsumerNodeInfo.getCurrentAllowedSize.
    """
    pace = place.pace = place.pace or Pace()
    if pace.read_until < 0:
        return min(FIRST_READ_BYTES, state.transfer_bytes_max)
    limit = None
    if now_us > pace.minute_ends_us:
        log = partition.log
        lag = log.size(max(pace.read_until, log.start), partition.end)
        limit = parse_rules(state.flow_rules).data_limit(lag, now_us)
    pace.look(limit, now_us)
    if pace.is_over and not request.escapes_flow_control:
        return -pace.rest_us
    return min(state.transfer_bytes_max, pace.bytes_a_minute // SAMPLES)


def commit_offset(
    broker: Broker, connection: int, request: r.CommitOffsetRequestC2B, now_us: int, out: Outbox
) -> None:
    """confirmConsume: true moves the stored offset past the batch, false forgets the batch. Renews
    nothing."""
    key = request.partition
    partition, place = broker.state.partitions.get(key), broker.known_place(request.group, key)
    if not is_from_member(request):
        code = r.BAD_REQUEST
    elif partition is None:
        code = r.FORBIDDEN
    elif place is None or place.owner != request.client_id:
        code = r.UNAUTHORIZED
    else:
        code = r.SUCCESS
        if request.last_pack_consumed:
            partition.confirm(place)
        place.pending = 0
    offset = end = 0
    if partition is not None and place is not None and code != r.BAD_REQUEST:
        offset, end = place.offset * r.ENTRY_BYTES, partition.end * r.ENTRY_BYTES
    out.send(connection, r.CommitOffsetResponseB2C(code, key, offset, end))


def is_from_member(
    request: r.RegisterRequestC2B | r.GetMessageRequestC2B | r.CommitOffsetRequestC2B,
) -> bool:
    """Whether it names a client and a group."""
    return r.is_name(request.client_id) and r.is_name(request.group)


def not_owner(place: Consumed, client_id: str) -> int:
    """SUCCESS for the owner; 411 where nobody is registered, 412 where another one is."""
    if not place.owner:
        return r.HB_NO_NODE
    return r.SUCCESS if place.owner == client_id else r.DUPLICATE_PARTITION


def send_message(
    broker: Broker, connection: int, request: r.SendMessageRequestP2B, now_us: int, out: Outbox
) -> None:
    """A producer's message is written at the end of its partition. Refused are a partition that is not here, and
    data of no bytes or too many.

    Source: TubeMQ (InLong) BrokerServiceServer.sendMessageP2B.
    """
    partition = broker.state.partitions.get(request.partition)
    if partition is None or not 0 < request.size <= r.MESSAGE_BYTES_MAX:
        code = r.FORBIDDEN if partition is None else r.BAD_REQUEST
        out.send(connection, r.SendMessageResponseB2P(code, request.partition))
        return
    partition.log.append(request.message, request.size)
    partition.end += 1


HANDLERS: Mapping[type, Callable[[Broker, int, Any, int, Outbox], None]] = MappingProxyType(
    {
        r.SendMessageRequestP2B: send_message,
        r.RegisterRequestC2B: register,
        r.HeartBeatRequestC2B: heartbeat,
        r.GetMessageRequestC2B: get_message,
        r.CommitOffsetRequestC2B: commit_offset,
    }
)
