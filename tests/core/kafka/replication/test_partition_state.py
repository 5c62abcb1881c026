"""Who is in sync: late members leave, caught-up followers come, and the controller is asked each time."""

import pytest

from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.partition import Partition
from tests.core.kafka.replication.brokers_of_a_test import (
    NOW,
    append,
    controller_agrees,
    decided,
    fetch,
    hw,
    leader,
)

LAG_MS = 30_000


def isr(partition: Partition) -> list[int]:
    return sorted(partition.isr_state.isr)


def shrinking() -> Partition:
    """A leader with a request to drop broker 2 on its way."""
    partition = leader(isr=(1, 2), replicas=(1, 2))
    append(partition, "a")
    partition.maybe_shrink_isr(NOW + LAG_MS + 1)
    assert partition.isr_state.is_pending
    return partition


@pytest.mark.parametrize(("waited_ms", "late"), [(LAG_MS, []), (LAG_MS + 1, [2, 3])])
def test_a_member_is_late_after_more_than_the_lag_time(waited_ms: int, late: list[int]) -> None:
    partition = leader()
    append(partition, "a")
    assert partition.out_of_sync(NOW + waited_ms) == late


def test_without_traffic_nobody_is_late() -> None:
    partition = leader()
    fetch(partition, 2, 0)
    fetch(partition, 3, 0)
    assert partition.out_of_sync(NOW + 100 * LAG_MS) == []


def test_a_follower_that_reaches_the_end_of_its_last_fetch_each_time_stays_for_ever() -> None:
    partition = leader(isr=(1, 2), replicas=(1, 2))
    for number in range(10):
        append(partition, "a")
        fetch(partition, 2, number, now_ms=NOW + number * 20_000)
        assert partition.out_of_sync(NOW + number * 20_000) == []


def test_by_the_old_rule_a_burst_makes_a_healthy_follower_leave_and_silence_an_idle_one() -> None:
    partition = leader(isr=(1, 2), replicas=(1, 2))
    fetch(partition, 2, 0)
    append(partition, *"abcde")
    assert partition.out_of_sync(NOW) == []
    partition.lag_messages_max = 5
    assert partition.out_of_sync(NOW) == [], "five behind is not more than five"
    append(partition, "f")
    assert partition.out_of_sync(NOW) == [2]
    fetch(partition, 2, 6, now_ms=NOW + 1)
    assert partition.out_of_sync(NOW + 1 + LAG_MS) == []
    assert partition.out_of_sync(NOW + 2 + LAG_MS) == [2], "it has all there is, and has not asked for more"
    partition.lag_messages_max = None
    assert partition.out_of_sync(NOW + 2 + LAG_MS) == []


def test_to_come_back_a_follower_must_reach_the_high_watermark_and_the_epochs_start() -> None:
    partition = leader(isr=(1,))
    append(partition, "a")
    append(partition, "b")
    fetch(partition, 2, 1)
    assert (hw(partition), isr(partition), partition.isr_state.is_pending) == (2, [1], False)
    fetch(partition, 2, 2)
    assert sorted(partition.isr_state.maximal_isr) == [1, 2]
    lagging = leader(isr=(1, 2))
    append(lagging, "a")
    lagging.make_leader(decided(1, 1, 1, (1, 2)), NOW)  # epoch 1 starts at 1, the high watermark is 0
    fetch(lagging, 3, 0)
    assert not lagging.isr_state.is_pending
    fetch(lagging, 3, 1)
    assert sorted(lagging.isr_state.maximal_isr) == [1, 2, 3]


def test_a_fenced_or_leaving_broker_or_one_of_another_epoch_may_not_join() -> None:
    partition = leader(isr=(1,))
    known = partition.brokers[2]
    for change in ("is_fenced", "is_shutting_down"):
        setattr(known, change, True)
        fetch(partition, 2, 0)
        assert not partition.isr_state.is_pending
        setattr(known, change, False)
    known.epoch = 50  # it fetches as 102: the registration that this broker knows is an old one
    fetch(partition, 2, 0)
    assert not partition.isr_state.is_pending
    known.epoch = 102
    fetch(partition, 2, 0)
    assert partition.isr_state.is_pending


def test_the_request_names_each_member_with_its_broker_epoch() -> None:
    partition = leader(isr=(1, 3))
    fetch(partition, 2, 0)
    request = partition.alter_partition.take_request()
    assert request is not None and request.isr == ((1, 101), (2, 102), (3, -1))
    assert partition.alter_partition.take_request() is None, "it is sent once"


@pytest.mark.parametrize("error", [ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED])
def test_a_change_that_was_not_made_is_forgotten(error: ErrorCode) -> None:
    partition = shrinking()
    partition.alter_partition_failed(error)
    assert (isr(partition), partition.isr_state.is_pending, partition.alter_partition.in_flight) == (
        [1, 2],
        False,
        None,
    )


@pytest.mark.parametrize(
    "error",
    [
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NEW_LEADER_ELECTED,
    ],
)
def test_a_leader_that_has_missed_something_waits_for_metadata(error: ErrorCode) -> None:
    partition = shrinking()
    partition.alter_partition_failed(error)
    assert (partition.isr_state.is_pending, partition.alter_partition.in_flight) == (True, None)
    partition.maybe_shrink_isr(NOW + 2 * LAG_MS)
    assert partition.alter_partition.in_flight is None
    partition.make_leader(decided(1, 0, 1, (1, 2), (1, 2)), NOW)
    assert not partition.isr_state.is_pending


@pytest.mark.parametrize("error", [ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.REQUEST_TIMED_OUT])
def test_after_any_other_error_the_same_request_is_sent_again(error: ErrorCode) -> None:
    partition = shrinking()
    first = partition.alter_partition.take_request()
    partition.alter_partition_failed(error)
    assert partition.alter_partition.take_request() == first


def test_an_answer_to_a_change_that_was_overtaken_is_passed_over_and_until_then_nothing_else_is_asked() -> (
    None
):
    partition = shrinking()
    partition.make_leader(decided(1, 0, 1, (1, 2), (1, 2)), NOW)
    partition.maybe_shrink_isr(NOW + 2 * LAG_MS)
    assert not partition.isr_state.is_pending, "the request from before is still on its way"
    controller_agrees(partition)
    assert (isr(partition), partition.partition_epoch) == ([1, 2], 1)
    partition.maybe_shrink_isr(NOW + 2 * LAG_MS)
    assert partition.isr_state.is_pending


def test_the_same_leader_epoch_keeps_what_is_known_of_followers_and_an_older_partition_epoch_is_passed_over() -> (
    None
):
    partition = leader()
    append(partition, "a")
    fetch(partition, 2, 1, now_ms=5)
    assert not partition.make_leader(decided(1, 0, 0, (1, 2)), 9)
    assert (
        partition.followers[2].log_end_offset,
        partition.followers[2].last_caught_up_ms,
        isr(partition),
    ) == (1, 5, [1, 2])
    partition.partition_epoch = 7
    assert not partition.make_leader(decided(1, 4, 6, (1,)), 9)
    assert (partition.leader_epoch, isr(partition)) == (0, [1, 2])


def test_elected_again_a_leader_keeps_offsets_and_gives_members_new_time() -> None:
    partition = leader(isr=(1, 2))
    append(partition, "a")
    fetch(partition, 2, 1, now_ms=5)
    fetch(partition, 3, 0, now_ms=5)
    partition.make_leader(decided(1, 1, 1, (1, 2)), 900)
    second, third = partition.followers[2], partition.followers[3]
    assert (second.log_end_offset, second.last_caught_up_ms) == (1, 900)
    assert (third.log_end_offset, third.last_caught_up_ms) == (0, None)
