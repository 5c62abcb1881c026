"""How a broker follows: a fetcher for each leader, one request under way for all partitions of that leader.

    todo ─► cut to the high watermark, where no epochs can be compared
         ─► OffsetsForLeaderEpoch for those that must truncate first ─► truncated ┐
         ─► ListOffsets for those that were out of range            ─► truncated ├─► todo
         ─► Fetch: a long poll over all the others, in a session    ─► appended  ┘

An error of one partition, or a broken connection, is tried again a second later (`replica.fetch.backoff.ms`).

Source: Kafka 3.9 core AbstractFetcherManager, AbstractFetcherThread, ReplicaFetcherThread,
RemoteLeaderEndPoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from broker_core.kafka.cluster import changes, slow_disk
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.requests import (
    NO_EPOCH,
    EpochEnd,
    EpochPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ListedOffset,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from broker_core.kafka.cluster.requests import FetchedPartition as FetchedMessage
from broker_core.kafka.cluster.state import LeaderFetcher, Replica, TopicPartition
from broker_core.kafka.cluster.truncations import was_truncated
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.fetch import FetchedPartition, PartitionFetch
from broker_core.kafka.replication.fetcher import EpochQuestion, OffsetQuestion, Truncated
from broker_core.sim.node import Outbox

_new_tuple = tuple.__new__  # a named tuple in half the time
_Part = TypeVar("_Part", EpochEnd, ListedOffset)


def add(host: Host, key: TopicPartition, replica: Replica, leader: int, now_us: int, out: Outbox) -> None:
    """Follow that leader from now on."""
    fetchers = host.state.fetchers
    fetcher = fetchers.get(leader)
    if fetcher is None:
        fetcher = fetchers[leader] = LeaderFetcher(leader)
    replica.fetcher.start()
    fetcher.partitions[key] = None
    fetcher.todo[key] = None
    fetcher.delayed.pop(key, None)


def remove(host: Host, key: TopicPartition, replica: Replica) -> None:
    """Follow nobody. An answer that is still under way is passed over."""
    replica.fetcher.stop()
    for fetcher in host.state.fetchers.values():
        for table in (fetcher.partitions, fetcher.todo, fetcher.delayed):
            table.pop(key, None)


def go_on(host: Host, now_us: int, out: Outbox) -> None:
    """After a change of roles: fetchers without partitions end, the others send what is to be sent."""
    fetchers = host.state.fetchers
    for leader in [leader for leader, fetcher in fetchers.items() if not fetcher.partitions]:
        _end_fetcher(fetchers.pop(leader), out)
    for fetcher in list(fetchers.values()):
        step(host, fetcher, now_us, out)


def stop_all(host: Host, out: Outbox) -> None:
    for fetcher in host.state.fetchers.values():
        _end_fetcher(fetcher, out)
    host.state.fetchers.clear()


def step(host: Host, fetcher: LeaderFetcher, now_us: int, out: Outbox) -> None:
    """Send the next request, unless one is under way."""
    if fetcher.is_asking or not fetcher.partitions:
        return
    if not fetcher.connection:
        if fetcher.partitions.keys() <= fetcher.delayed.keys():
            return  # the timer of the back-off goes on
        fetcher.connection, fetcher.has_session = out.connect(broker_node(fetcher.leader)), False
        fetcher.sent.clear()
        fetcher.todo = dict.fromkeys(key for key in fetcher.partitions if key not in fetcher.delayed)
        _set_timer(fetcher, host.state.settings.replica_socket_timeout_ms * 1_000, now_us, out)
    now_ms = host.state.now_ms(now_us)
    epochs: dict[TopicPartition, EpochQuestion] = {}
    offsets: dict[TopicPartition, OffsetQuestion] = {}
    fetches: dict[TopicPartition, PartitionFetch] = {}
    for key in fetcher.todo:
        replica = host.state.replicas[key]
        if not replica.fetcher.is_fetching:
            was = _offsets(replica)
            cut = replica.fetcher.truncate_to_high_watermark(now_ms)
            if cut is not None:
                was_truncated(host, key, replica, was, cut, out)
        request = replica.fetcher.next_request()
        if isinstance(request, PartitionFetch):
            fetches[key] = request
        elif isinstance(request, EpochQuestion):
            epochs[key] = request
        elif request is not None:
            offsets[key] = request
    fetcher.sent_us = now_us
    if epochs:
        fetcher.is_asking, fetcher.epochs_asked = True, epochs
        out.send(
            fetcher.connection,
            OffsetsForLeaderEpochRequest(
                [EpochPartition(*key, ask.leader_epoch, ask.epoch) for key, ask in epochs.items()],
                host.state.broker_id,
            ),
        )
    elif offsets:
        fetcher.is_asking, fetcher.offsets_asked = True, offsets
        out.send(
            fetcher.connection,
            ListOffsetsRequest(
                [ListOffsetsPartition(*key, ask.timestamp, ask.leader_epoch) for key, ask in offsets.items()],
                host.state.broker_id,
            ),
        )
    else:
        _fetch(host, fetcher, fetches, out)


def fetch_answered(host: Host, connection: int, answer: FetchResponse, now_us: int, out: Outbox) -> None:
    """Append what came to each partition, and ask for more: at once, or when a slow disk has taken it."""
    size = 0
    for part in answer.partitions:
        for batch in part.records:
            size += len(batch.data)
    if not size or not slow_disk.is_written_later(host, connection, answer, size, now_us, out):
        append(host, connection, answer, now_us, out)


def append(host: Host, connection: int, answer: FetchResponse, now_us: int, out: Outbox) -> None:
    fetcher = _fetcher_of(host, connection)
    if fetcher is None:
        return
    fetcher.is_asking = False
    now_ms = host.state.now_ms(now_us)
    for part in answer.partitions:
        key = (part.topic, part.partition)
        if key in fetcher.partitions and key not in fetcher.delayed and key in fetcher.sent:
            _take(host, fetcher, key, host.state.replicas[key], part, now_ms, now_us, out)
    step(host, fetcher, now_us, out)


def epochs_answered(
    host: Host, connection: int, answer: OffsetsForLeaderEpochResponse, now_us: int, out: Outbox
) -> None:
    """Each partition cuts off what its leader does not have."""
    fetcher = _fetcher_of(host, connection)
    if fetcher is None or not fetcher.epochs_asked:
        return
    asked, fetcher.epochs_asked = fetcher.epochs_asked, {}

    def cut(replica: Replica, part: EpochEnd, now_ms: int) -> Truncated | None:
        return replica.fetcher.epoch_answered(
            asked[part.topic, part.partition], (part.leader_epoch, part.end_offset), now_ms
        )

    _questions_answered(host, fetcher, asked, answer.partitions, cut, now_us, out)


def offsets_answered(
    host: Host, connection: int, answer: ListOffsetsResponse, now_us: int, out: Outbox
) -> None:
    """After OFFSET_OUT_OF_RANGE: where the leader's log ends, or begins."""
    fetcher = _fetcher_of(host, connection)
    if fetcher is None or not fetcher.offsets_asked:
        return
    asked, fetcher.offsets_asked = fetcher.offsets_asked, {}

    def cut(replica: Replica, part: ListedOffset, now_ms: int) -> Truncated | None:
        return replica.fetcher.offset_answered(asked[part.topic, part.partition], part.offset, now_ms)

    _questions_answered(host, fetcher, asked, answer.partitions, cut, now_us, out)


def connection_lost(host: Host, fetcher: LeaderFetcher, now_us: int, out: Outbox) -> None:
    """The leader has gone, or was not heard of for too long: again after the back-off."""
    fetcher.connection, fetcher.is_asking = 0, False
    fetcher.epochs_asked, fetcher.offsets_asked = {}, {}
    until_us = now_us + host.state.settings.replica_fetch_backoff_ms * 1_000
    fetcher.todo.clear()
    fetcher.delayed = dict.fromkeys(fetcher.partitions, until_us)
    out.deadline(f"fetcher:{fetcher.leader}", until_us)


def fetcher_timer(host: Host, rest: str, now_us: int, out: Outbox) -> None:
    """A back-off is over, or a leader has not answered for `replica.socket.timeout.ms`. The deadline of a
    request may be an earlier one's."""
    fetcher = host.state.fetchers.get(int(rest))
    if fetcher is None:
        return
    timeout_us = host.state.settings.replica_socket_timeout_ms * 1_000
    if fetcher.is_asking and now_us - fetcher.sent_us >= timeout_us:
        out.blame_silence(fetcher.connection)
        out.close(fetcher.connection)
        connection_lost(host, fetcher, now_us, out)
        return
    for key in [key for key, until_us in fetcher.delayed.items() if until_us <= now_us]:
        del fetcher.delayed[key]
        fetcher.todo[key] = None
    step(host, fetcher, now_us, out)
    _set_timer(fetcher, timeout_us, now_us, out)


# --- inside


def _end_fetcher(fetcher: LeaderFetcher, out: Outbox) -> None:
    if fetcher.connection:
        out.close(fetcher.connection)
    out.cancel(f"fetcher:{fetcher.leader}")


def _questions_answered(
    host: Host,
    fetcher: LeaderFetcher,
    asked: Mapping[TopicPartition, EpochQuestion | OffsetQuestion],
    parts: Sequence[_Part],
    cut: Callable[[Replica, _Part, int], Truncated | None],
    now_us: int,
    out: Outbox,
) -> None:
    """Epochs or offsets have come: each partition that is still followed here is cut, or waits if it was
    refused."""
    fetcher.is_asking = False
    now_ms = host.state.now_ms(now_us)
    for part in parts:
        key = (part.topic, part.partition)
        if key not in fetcher.partitions:
            continue
        replica = host.state.replicas[key]
        if part.error_code:
            _refused(host, fetcher, key, replica, asked[key], part.error_code, now_us, out)
            continue
        was = _offsets(replica)
        truncated = cut(replica, part, now_ms)
        if truncated is not None:
            told = (
                {"leader_epoch": part.leader_epoch, "leader_end": part.end_offset}
                if isinstance(part, EpochEnd)
                else {}
            )
            was_truncated(host, key, replica, was, truncated, out, **told)
    step(host, fetcher, now_us, out)


def _fetch(
    host: Host, fetcher: LeaderFetcher, fetches: dict[TopicPartition, PartitionFetch], out: Outbox
) -> None:
    """The next fetch of the session: what has changed in it, and what is wanted no more."""
    settings, sent, todo = host.state.settings, fetcher.sent, fetcher.todo
    changed = [(key, fetch) for key, fetch in fetches.items() if sent.get(key) != fetch]
    gone: list[TopicPartition] = []
    if fetcher.delayed or len(fetches) < len(todo) or not sent.keys() <= fetcher.partitions.keys():
        # What has failed, waits for its back-off, or is followed here no more.
        gone = [
            key
            for key in sent
            if key not in fetcher.partitions or key in fetcher.delayed or (key in todo and key not in fetches)
        ]
        for key in gone:
            del sent[key]
    sent.update(changed)
    todo.clear()
    if not sent:
        return  # the timer of a back-off goes on
    epoch = 1 if fetcher.has_session else 0
    fetcher.has_session = True
    fetcher.is_asking = True
    out.send(
        fetcher.connection,
        FetchRequest(
            settings.replica_fetch_wait_max_ms,
            [
                FetchPartition(
                    *key,
                    fetch.offset,
                    NO_EPOCH if fetch.leader_epoch is None else fetch.leader_epoch,
                    NO_EPOCH if fetch.last_fetched_epoch is None else fetch.last_fetched_epoch,
                    fetch.log_start_offset,
                    settings.replica_fetch_max_bytes,
                )
                for key, fetch in (changed if epoch else sent.items())
            ],
            settings.replica_fetch_min_bytes,
            settings.replica_fetch_response_max_bytes,
            0,
            host.state.broker_id,
            host.state.broker_epoch,
            epoch,
            gone if epoch else [],
        ),
    )


def _take(
    host: Host,
    fetcher: LeaderFetcher,
    key: TopicPartition,
    replica: Replica,
    part: FetchedMessage,
    now_ms: int,
    now_us: int,
    out: Outbox,
) -> None:
    request = fetcher.sent[key]
    if part.error_code:
        _refused(host, fetcher, key, replica, request, part.error_code, now_us, out)
        return
    log = replica.partition.log
    was_at = -1 if log is None else log.high_watermark
    if (
        log is not None
        and not part.records
        and part.diverging is None
        and part.log_start_offset <= log.log_start_offset
    ):
        if not replica.fetcher.high_watermark_told(request, part.high_watermark):
            fetcher.todo[key] = None
        if log.high_watermark != was_at:
            changes.high_watermark_moved(host, key, replica, now_us, out)
        return
    was = _offsets(replica)
    answer = _new_tuple(
        FetchedPartition,
        (
            part.high_watermark,
            part.last_stable_offset,
            part.log_start_offset,
            -1,
            part.records,
            part.diverging,
            None,
        ),
    )
    cut = replica.fetcher.fetch_answered(request, answer, now_ms)
    fetcher.todo[key] = None
    if cut is not None:
        epoch, end = part.diverging or (-1, -1)
        was_truncated(host, key, replica, was, cut, out, leader_epoch=epoch, leader_end=end)
    if log is not None and log.high_watermark != was_at:
        changes.high_watermark_moved(host, key, replica, now_us, out)


def _refused(
    host: Host,
    fetcher: LeaderFetcher,
    key: TopicPartition,
    replica: Replica,
    request: PartitionFetch | EpochQuestion | OffsetQuestion,
    code: int,
    now_us: int,
    out: Outbox,
) -> None:
    """One partition was refused: it fails, asks for offsets, or waits."""
    replica.fetcher.refused(request, ErrorCode(code))
    state = replica.fetcher.state
    fetcher.todo[key] = None
    if state is None or state.asks is not None:
        return
    del fetcher.todo[key]
    until_us = now_us + host.state.settings.replica_fetch_backoff_ms * 1_000
    fetcher.delayed[key] = until_us
    out.deadline(f"fetcher:{fetcher.leader}", until_us)


def _set_timer(fetcher: LeaderFetcher, timeout_us: int, now_us: int, out: Outbox) -> None:
    """The next back-off that ends, or the time-out of what is under way."""
    last_us = fetcher.sent_us + timeout_us if fetcher.is_asking else now_us + timeout_us
    out.deadline(f"fetcher:{fetcher.leader}", max(now_us + 1, min([last_us, *fetcher.delayed.values()])))


def _fetcher_of(host: Host, connection: int) -> LeaderFetcher | None:
    for fetcher in host.state.fetchers.values():
        if fetcher.connection == connection:
            return fetcher
    return None


def _offsets(replica: Replica) -> range:
    """Which its log holds."""
    log = replica.partition.log
    return range(0) if log is None else range(log.log_start_offset, log.log_end_offset)
