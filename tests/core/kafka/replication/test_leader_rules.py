"""A partition on its own, rule by rule: roles, markers, times, holes in its log, what a follower may append,
and the purgatory of produces."""

import pytest

from broker_core.errors import InvariantError
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.errors import OffsetOutOfRange, UnexpectedAppendOffset
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import LATEST, PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import ControlType, encode_batch, with_offset
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.delayed_produce import DelayedProduces, WaitingProduce
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.partition_state import LeaderAndIsr
from tests.core.kafka.replication.brokers_of_a_test import (
    NOW,
    append,
    batches_in,
    brokers,
    decided,
    fetch,
    hw,
    leader,
    replica,
    values,
)

TWO = (1, 2)


def log_of(partition: Partition) -> PartitionLog:
    assert partition.log is not None
    return partition.log


def refusal(act: object) -> ErrorCode:
    with pytest.raises(Refused) as refused:
        act()  # type: ignore[operator]
    return refused.value.code


def batch_at(base_offset: int, *texts: str, epoch: int = 0) -> memoryview:
    records = [Record(index, NOW, None, text.encode()) for index, text in enumerate(texts)]
    return memoryview(with_offset(encode_batch(records), base_offset, epoch).data)


# --- roles


def test_a_leader_notes_where_its_epoch_begins_though_it_never_writes() -> None:
    partition = replica(1, brokers())
    log_of(partition).append_as_follower(batch_at(0, "a", "b", epoch=2), now_ms=NOW)
    assert partition.make_leader(decided(1, 5, 1, TWO), NOW)
    assert (partition.epoch_start_offset, log_of(partition).epochs.rows) == (2, [(2, 0), (5, 2)])
    assert partition.last_offset_for_epoch(4, None) == (2, 2)


def test_the_same_leader_epoch_with_another_isr_begins_nothing() -> None:
    partition = leader(isr=TWO, replicas=TWO)
    append(partition, "a")
    assert not partition.make_leader(decided(1, 0, 1, (1,), TWO), NOW)
    assert (partition.epoch_start_offset, log_of(partition).epochs.rows, hw(partition)) == (0, [(0, 0)], 1)


def test_only_a_higher_leader_epoch_makes_a_follower_begin_anew() -> None:
    partition = replica(1, brokers())
    assert partition.make_follower(decided(2, 3, 1, ()))
    assert not partition.make_follower(decided(2, 3, 2, ()))
    assert partition.make_follower(decided(3, 4, 3, ()))
    assert not partition.make_follower(decided(2, 9, 2, ())), (
        "of a partition epoch from before nothing is taken"
    )
    assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (3, 4, 3)


def test_a_follower_forgets_what_it_knew_as_a_leader() -> None:
    partition = leader(isr=TWO, replicas=TWO)
    append(partition, "a")
    fetch(partition, 2, 1)
    partition.make_follower(decided(2, 1, 1, TWO, TWO))
    assert (partition.followers, partition.epoch_start_offset, partition.isr_state.isr) == (
        {},
        None,
        frozenset(),
    )
    assert (log_of(partition).leader_epoch, partition.is_under_min_isr) == (1, False)


def test_a_replica_without_a_log_has_no_role_and_answers_nobody() -> None:
    partition = Partition(1, brokers(), 101)
    with pytest.raises(InvariantError):
        partition.make_leader(decided(1, 0, 0, (1,)), NOW)
    assert refusal(lambda: partition.log_for(None, needs_leader=False)) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_replicas_that_come_and_go_are_followed_or_forgotten_with_the_same_epoch() -> None:
    partition = leader(isr=TWO, replicas=TWO)
    append(partition, "a")
    fetch(partition, 2, 1)
    partition.make_leader(LeaderAndIsr(1, 0, 1, (1, 2, 3), TWO, adding=(3,)), NOW)
    assert (
        sorted(partition.followers),
        partition.followers[2].log_end_offset,
        partition.followers[3].log_end_offset,
    ) == ([2, 3], 1, -1)
    partition.make_leader(decided(1, 0, 2, (1, 3), (1, 3)), NOW)
    assert sorted(partition.followers) == [3]


# --- appends


@pytest.mark.parametrize(
    ("isr", "min_isr", "is_refused"), [((1,), 2, True), (TWO, 2, False), ((1,), 1, False)]
)
def test_a_marker_asks_for_enough_in_sync_as_acks_all_does(
    isr: tuple[int, ...], min_isr: int, is_refused: bool
) -> None:
    partition = leader(isr=isr, min_isr=min_isr, replicas=TWO)
    log_of(partition).append_pairs(
        [(b"k", b"v")], now_ms=NOW, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    if is_refused:
        assert (
            refusal(lambda: partition.append_marker(ControlType.COMMIT, 7, 0, 0, NOW))
            is ErrorCode.NOT_ENOUGH_REPLICAS
        )
        assert log_of(partition).log_end_offset == 1
    else:
        assert partition.append_marker(ControlType.COMMIT, 7, 0, 0, NOW).appended.last_offset == 1


def test_a_marker_moves_the_high_watermark_where_nobody_follows_and_is_refused_where_it_does_not_lead() -> (
    None
):
    partition = leader(isr=(1,), replicas=(1,))
    assert partition.append_marker(ControlType.ABORT, 7, 0, 0, NOW).is_hw_raised and hw(partition) == 1
    partition.make_follower(decided(2, 1, 1, ()))
    assert (
        refusal(lambda: partition.append_marker(ControlType.ABORT, 7, 0, 0, NOW))
        is ErrorCode.NOT_LEADER_OR_FOLLOWER
    )
    assert refusal(lambda: append(partition, "x")) is ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("end", "first", "texts", "is_taken"),
    [
        # the batch reaches the start: 4; or ends just below it
        ((4, 4), 2, "abc", True), ((4, 4), 2, "ab", False), ((4, 4), 4, "a", True),
        ((4, 5), 3, "ab", False), ((4, 5), 5, "a", True), ((4, 4), 6, "a", True),
    ],
)  # fmt: skip
def test_what_a_follower_may_append_to_a_log_that_begins_at_an_offset(
    end: tuple[int, int], first: int, texts: str, is_taken: bool
) -> None:
    """Where DeleteRecords has cut into a batch, an empty log is given the whole batch, and begins below its
    start."""
    partition = replica(2, brokers())
    log = log_of(partition)
    log.restart_at(end[0], NOW)
    if end[1] > end[0]:
        log.append_as_follower(batch_at(4, "x"), now_ms=NOW)
    if is_taken:
        partition.append_as_follower(batch_at(first, *texts), NOW)
        assert log.log_end_offset == first + len(texts) and log.segments[0].base_offset == min(first, end[0])
    else:
        with pytest.raises(UnexpectedAppendOffset):
            partition.append_as_follower(batch_at(first, *texts), NOW)
        assert (log.log_start_offset, log.log_end_offset) == end


# --- times and offsets


@pytest.fixture
def timed() -> Partition:
    """Records at 10, 20 and 30 ms, of which the high watermark has passed the first two."""
    partition = leader(isr=TWO, replicas=TWO)
    for number, text in enumerate("abc", 1):
        append(partition, text, now_ms=10 * number)
    fetch(partition, 2, 2)
    assert hw(partition) == 2
    return partition


@pytest.mark.parametrize(
    ("time", "isolation", "offset"),
    [
        (10, Isolation.HIGH_WATERMARK, 0),
        (11, Isolation.HIGH_WATERMARK, 1),
        (20, Isolation.HIGH_WATERMARK, 1),
        (21, Isolation.HIGH_WATERMARK, None),
        (21, Isolation.LOG_END, 2),
        (31, Isolation.LOG_END, None),
        (LATEST, Isolation.HIGH_WATERMARK, 2),
        (LATEST, Isolation.LOG_END, 3),
    ],
)
def test_a_time_finds_what_its_reader_may_see(
    timed: Partition, time: int, isolation: Isolation, offset: int | None
) -> None:
    answer = timed.list_offset(time, isolation)
    assert (None if answer is None else answer.found.offset) == offset


def test_while_the_new_leader_lags_a_client_is_not_told_that_there_is_nothing_and_a_replica_is(
    timed: Partition,
) -> None:
    timed.make_leader(decided(1, 1, 1, TWO, TWO), NOW)
    assert refusal(lambda: timed.list_offset(21, Isolation.HIGH_WATERMARK)) is ErrorCode.OFFSET_NOT_AVAILABLE
    assert refusal(lambda: timed.list_offset(99, Isolation.TXN_COMMITTED)) is ErrorCode.OFFSET_NOT_AVAILABLE
    assert timed.list_offset(99, Isolation.LOG_END) is None
    seen = timed.list_offset(15, Isolation.HIGH_WATERMARK)
    assert seen is not None and seen.found == (20, 1), (
        "what is below the high watermark is known all the same"
    )


def test_a_compacted_topic_deletes_no_records_by_request() -> None:
    partition = replica(1, brokers())
    partition.log = PartitionLog.open(
        MemoryFolder(), LogSettings(cleanup_delete=False, cleanup_compact=True), now_ms=NOW, high_watermark=0
    )
    partition.make_leader(decided(1, 0, 0, (1,), (1,)), NOW)
    assert refusal(lambda: partition.delete_records(0)) is ErrorCode.POLICY_VIOLATION


def test_the_low_watermark_is_not_known_before_every_living_follower_has_fetched(timed: Partition) -> None:
    three = leader()
    assert three.low_watermark() == -1
    for follower in (2, 3):
        fetch(three, follower, 0, start=0)
    assert three.low_watermark() == 0
    timed.brokers[2].is_alive = False
    assert timed.delete_records(2) == 2


# --- holes


def test_a_follower_that_asks_inside_a_hole_at_the_logs_end_has_everything() -> None:
    """A truncation inside a batch takes it whole: below the log end there is no record, and the follower's
    own end may lie there."""
    partition = leader(isr=TWO, replicas=TWO)
    append(partition, "a")
    append(partition, "b", "c", "d")
    log_of(partition).truncate_to(3, NOW)
    answer = fetch(partition, 2, 2)
    assert (batches_in(answer), partition.followers[2].log_end_offset, hw(partition)) == ([], 3, 3)
    fetch(partition, 2, 0)
    assert partition.followers[2].log_end_offset == 0, "below the hole there is a record to read"


def test_a_fetch_below_the_log_start_is_out_of_range_and_notes_nothing() -> None:
    partition = leader(isr=(1,))
    append(partition, "a")
    append(partition, "b")
    partition.delete_records(1)
    for last in (None, 0):
        with pytest.raises(OffsetOutOfRange):
            fetch(partition, 2, 0, last=last)
    assert partition.followers[2].log_end_offset == -1


# --- the purgatory


def waiting(partition: Partition, *required: int) -> DelayedProduces:
    delayed = DelayedProduces()
    for number, offset in enumerate(required):
        delayed.add(WaitingProduce(number, offset, until_ms=100 + number))
    return delayed


def test_what_the_high_watermark_has_passed_is_decided_wherever_it_stands_in_the_line(
    timed: Partition,
) -> None:
    delayed = waiting(timed, 3, 2, 1)
    assert delayed.complete(timed) == [(1, ErrorCode.NONE), (2, ErrorCode.NONE)]
    assert [produce.number for produce in delayed.waiting] == [0]
    fetch(timed, 2, 3)
    assert delayed.complete(timed) == [(0, ErrorCode.NONE)] and delayed.complete(timed) == []


def test_times_are_over_one_by_one_and_a_produce_without_a_limit_waits_for_ever(timed: Partition) -> None:
    delayed = waiting(timed, 3, 3)
    delayed.add(WaitingProduce(9, 3))
    assert delayed.expire(100) == [(0, ErrorCode.REQUEST_TIMED_OUT)]
    assert delayed.expire(10**9) == [(1, ErrorCode.REQUEST_TIMED_OUT)]
    assert delayed.expire(10**12) == [] and [produce.number for produce in delayed.waiting] == [9]


@pytest.mark.parametrize(
    ("min_isr", "replicas", "error"),
    [(3, TWO, ErrorCode.NONE), (2, TWO, ErrorCode.NONE), (3, (1, 2, 3), ErrorCode.NOT_ENOUGH_REPLICAS)],
)
def test_a_minimum_above_the_replicas_counts_as_all_of_them(
    min_isr: int, replicas: tuple[int, ...], error: ErrorCode
) -> None:
    partition = leader(isr=TWO, min_isr=min_isr, replicas=replicas)
    if error is ErrorCode.NONE:
        append(partition, "a", acks=-1)
        fetch(partition, 2, 1)
        assert partition.check_acks(1) == (True, ErrorCode.NONE) and values(partition) == ["a"]
    else:
        assert refusal(lambda: append(partition, "a", acks=-1)) is error and values(partition) == []
