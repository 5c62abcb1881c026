"""What moves a leader's high watermark, and what holds it back."""

import pytest

from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.delayed_produce import DelayedProduces, WaitingProduce
from tests.core.kafka.replication.brokers_of_a_test import (
    NOW,
    append,
    batches_in,
    controller_agrees,
    decided,
    fetch,
    hw,
    leader,
)


def test_it_is_what_the_whole_isr_has() -> None:
    partition = leader()
    append(partition, "a")
    append(partition, "b")
    fetch(partition, 2, 2)
    assert hw(partition) == 0, "of broker 3 nothing is known"
    fetch(partition, 3, 1)
    assert hw(partition) == 1


def test_an_isr_of_one_moves_it_with_the_append() -> None:
    partition = leader(isr=(1,), replicas=(1,))
    assert append(partition, "a").is_hw_raised
    assert hw(partition) == 1


def test_a_follower_learns_of_it_one_fetch_later() -> None:
    partition = leader(isr=(1, 2), replicas=(1, 2))
    append(partition, "a")
    assert (batches_in(fetch(partition, 2, 0)), hw(partition)) == ([(0, 0)], 0)
    assert (fetch(partition, 2, 1).high_watermark, hw(partition)) == (0, 1)
    assert fetch(partition, 2, 1).high_watermark == 1


def test_an_idle_healthy_follower_outside_the_isr_holds_it_back_and_a_fenced_one_does_not() -> None:
    partition = leader(isr=(1, 2))
    fetch(partition, 2, 0)
    append(partition, "a")
    partition.brokers[3].is_shutting_down = True
    fetch(partition, 3, 0)  # may not join, but has been caught up just now with what was there before
    partition.brokers[3].is_shutting_down = False
    partition.followers[3].last_caught_up_ms = NOW
    fetch(partition, 2, 1)
    assert hw(partition) == 0
    partition.brokers[3].is_fenced = True
    append(partition, "b")
    fetch(partition, 2, 2)
    assert hw(partition) == 2


def test_it_stands_still_under_min_isr_and_waits_for_the_commit_of_an_expansion() -> None:
    partition = leader(isr=(1,), min_isr=2, replicas=(1, 2))
    append(partition, "a")
    assert (partition.is_under_min_isr, hw(partition)) == (True, 0)
    fetch(partition, 2, 1)
    assert (sorted(partition.isr_state.maximal_isr), hw(partition)) == ([1, 2], 0)
    controller_agrees(partition)
    assert (partition.is_under_min_isr, hw(partition)) == (False, 1)


def test_while_a_shrink_is_pending_the_late_member_still_counts() -> None:
    partition = leader(isr=(1, 2), replicas=(1, 2))
    append(partition, "a", now_ms=NOW)
    partition.maybe_shrink_isr(NOW + 30_001)
    append(partition, "b", now_ms=NOW + 30_001)
    assert (sorted(partition.isr_state.maximal_isr), hw(partition)) == ([1, 2], 0)
    controller_agrees(partition, NOW + 30_001)
    assert (sorted(partition.isr_state.isr), hw(partition)) == ([1], 2)


def test_a_new_leader_moves_it_only_when_each_member_has_fetched() -> None:
    partition = leader(isr=(1, 2), replicas=(1, 2))
    append(partition, "a")
    fetch(partition, 2, 1)
    partition.make_follower(decided(2, 1, 1, (), (1, 2)))
    partition.make_leader(decided(1, 2, 2, (1, 2), (1, 2)), NOW)
    append(partition, "b")
    assert (partition.followers[2].log_end_offset, hw(partition)) == (-1, 1)


def test_min_isr_is_asked_of_acks_all_alone_and_never_exceeds_the_replicas() -> None:
    partition = leader(isr=(1,), min_isr=2)
    with pytest.raises(Refused) as refused:
        append(partition, "a", acks=-1)
    assert refused.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    assert append(partition, "a", acks=1).appended.first_offset == 0
    assert leader(isr=(1,), min_isr=3, replicas=(1, 2)).min_isr == 2


def test_a_waiting_produce_is_decided_by_the_high_watermark_or_the_loss_of_the_lead() -> None:
    partition, delayed = leader(isr=(1, 2), replicas=(1, 2)), DelayedProduces()
    for number, value in enumerate("abc"):
        delayed.add(
            WaitingProduce(number, append(partition, value, acks=-1).appended.last_offset + 1, until_ms=100)
        )
    assert delayed.complete(partition) == []
    fetch(partition, 2, 1)
    assert delayed.complete(partition) == [(0, ErrorCode.NONE)]
    assert delayed.expire(99) == []
    partition.make_follower(decided(2, 1, 1, (), (1, 2)))
    assert delayed.complete(partition) == [
        (1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (2, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ]


def test_a_produce_whose_time_is_over_is_told_so_though_its_records_stay() -> None:
    partition, delayed = leader(isr=(1, 2), replicas=(1, 2)), DelayedProduces()
    delayed.add(WaitingProduce(0, append(partition, "a", acks=-1).appended.last_offset + 1, until_ms=100))
    assert delayed.expire(100) == [(0, ErrorCode.REQUEST_TIMED_OUT)]
    assert partition.log is not None and partition.log.log_end_offset == 1


def test_not_enough_replicas_after_append_needs_a_high_watermark_that_had_passed_the_offset() -> None:
    partition = leader(isr=(1, 2), min_isr=2, replicas=(1, 2))
    append(partition, "a", acks=-1)
    fetch(partition, 2, 1)
    append(partition, "b", now_ms=NOW)
    partition.maybe_shrink_isr(NOW + 30_001)
    assert partition.check_acks(1) == (True, ErrorCode.NONE), "the maximal ISR still counts two"
    controller_agrees(partition, NOW + 30_001)
    assert partition.check_acks(1) == (True, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    assert partition.check_acks(2) == (False, ErrorCode.NONE)
