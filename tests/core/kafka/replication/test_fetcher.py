"""A follower and its leader, three ways of truncation: the article's stories of loss and divergence, and what
a fetcher does in trouble."""

import pytest

from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.fetcher import Fetcher, Step, Truncated, Truncation
from broker_core.kafka.replication.partition import Partition
from tests.core.kafka.replication.brokers_of_a_test import (
    NOW,
    append,
    brokers,
    decided,
    fetch_round,
    follow,
    hw,
    pair,
    replica,
    values,
)

WITH_EPOCHS = [Truncation.EPOCH_REQUEST, Truncation.FETCH]
ALL = [*WITH_EPOCHS, Truncation.HIGH_WATERMARK]


def replicated(truncation: Truncation) -> tuple[Partition, Fetcher]:
    """Both have m1 and m2; the follower's high watermark is still 1."""
    leading, fetcher = pair(truncation)
    append(leading, "m1")
    fetch_round(fetcher, leading)
    fetch_round(fetcher, leading)
    append(leading, "m2")
    fetch_round(fetcher, leading)
    fetch_round(fetcher, leading)
    assert (values(fetcher.partition), hw(leading)) == (["m1", "m2"], 2)
    fetcher.partition.log.high_watermark = 1  # as its checkpoint has it when it comes back
    return leading, fetcher


def restarted(fetcher: Fetcher, leading: Partition) -> None:
    """The follower has come back, and truncates before it can reach its leader."""
    fetcher.partition.leader_epoch = -1
    follow(fetcher, leading, 0, 0)
    fetcher.truncate_to_high_watermark(NOW)


def lead(partition: Partition, epoch: int) -> None:
    partition.make_leader(decided(partition.broker_id, epoch, epoch, (partition.broker_id,), (1, 2)), NOW)


@pytest.mark.parametrize(
    ("truncation", "survives"), [(Truncation.HIGH_WATERMARK, False), *((way, True) for way in WITH_EPOCHS)]
)
def test_a_restarted_follower_that_is_elected_loses_a_committed_record_only_with_the_high_watermark(
    truncation: Truncation, survives: bool
) -> None:
    first, fetcher = replicated(truncation)
    restarted(fetcher, first)
    lead(fetcher.partition, 1)
    assert values(fetcher.partition) == (["m1", "m2"] if survives else ["m1"])


@pytest.mark.parametrize("truncation", ALL)
def test_two_logs_that_part_agree_again_only_with_epochs(truncation: Truncation) -> None:
    first, fetcher = replicated(truncation)
    second = fetcher.partition
    second.log.truncate_to(1, NOW)  # a power cut took m2, which was not flushed
    lead(second, 1)
    append(second, "m3")
    back = Fetcher(first, truncation)
    first.make_follower(decided(2, 1, 1, (), (1, 2)))
    back.start()
    for _ in range(3):
        fetch_round(back, second)
    agree = truncation is not Truncation.HIGH_WATERMARK
    assert values(first) == (["m1", "m3"] if agree else ["m1", "m2"])
    assert values(second) == ["m1", "m3"]


@pytest.mark.parametrize("truncation", ALL)
def test_a_follower_copies_offsets_epochs_and_the_high_watermark(truncation: Truncation) -> None:
    leading, fetcher = pair(truncation)
    append(leading, "m1")
    append(leading, "m2", "m3")
    for _ in range(3):
        fetch_round(fetcher, leading)
    assert values(fetcher.partition) == ["m1", "m2", "m3"]
    assert (fetcher.partition.log.epochs.rows, hw(fetcher.partition)) == ([(0, 0)], 3)
    assert fetcher.state is not None and (fetcher.state.offset, fetcher.state.lag) == (3, 0)


@pytest.mark.parametrize(
    ("truncation", "offset", "step"),
    [
        (Truncation.FETCH, 2, Step.FETCHING),
        (Truncation.EPOCH_REQUEST, 1, Step.TRUNCATING),
        (Truncation.HIGH_WATERMARK, 1, Step.TRUNCATING),
    ],
)
def test_where_a_fetcher_begins(truncation: Truncation, offset: int, step: Step) -> None:
    leading, fetcher = replicated(truncation)
    fetcher.partition.leader_epoch = -1
    follow(fetcher, leading, 0, 0)
    assert fetcher.state is not None and (fetcher.state.offset, fetcher.state.step) == (offset, step)


def parted(truncation: Truncation) -> tuple[Partition, Fetcher]:
    """The leader's epochs are 0, 2, 4 and the follower's 0, 1, 3: two rounds of questions until they
    agree."""
    known = brokers()
    leading, second = replica(1, known), replica(2, known)
    for epoch in (0, 2, 4):
        lead(leading, epoch)
        append(leading, f"l{epoch}")
    for epoch in (0, 1, 3):
        lead(second, epoch)
        append(second, f"l{epoch}" if not epoch else f"f{epoch}")
    fetcher = Fetcher(second, truncation)
    leading.make_leader(decided(1, 5, 5, (1,), (1, 2)), NOW)
    follow(fetcher, leading, 5, 5)
    return leading, fetcher


@pytest.mark.parametrize("truncation", WITH_EPOCHS)
def test_an_epoch_that_the_follower_does_not_know_is_cut_at_the_largest_one_below(
    truncation: Truncation,
) -> None:
    leading, fetcher = parted(truncation)
    cuts: list[Truncated] = []
    for _ in range(4):
        cuts += fetch_round(fetcher, leading)
    assert [(cut.offset, cut.is_complete) for cut in cuts] == [(2, False), (1, True)]
    assert values(fetcher.partition) == values(leading) == ["l0", "l2", "l4"]


def test_a_follower_whose_end_the_leader_has_deleted_starts_where_the_leader_does() -> None:
    leading, fetcher = pair(Truncation.FETCH)
    leading.make_leader(decided(1, 0, 1, (1,), (1, 2)), NOW)
    for _ in range(6):
        append(leading, "m")
    leading.delete_records(4)
    assert fetch_round(fetcher, leading) == [Truncated(0), Truncated(4, is_all=True)]
    fetch_round(fetcher, leading)
    log = fetcher.partition.log
    assert log is not None and (log.log_start_offset, log.log_end_offset) == (4, 6)


def test_a_follower_that_ends_beyond_its_leader_is_cut_to_the_leaders_end() -> None:
    leading, fetcher = replicated(Truncation.HIGH_WATERMARK)
    leading.log.truncate_to(1, NOW)
    assert fetch_round(fetcher, leading) == [Truncated(1)]
    assert values(fetcher.partition) == ["m1"]


def test_a_fetcher_fenced_by_its_own_epoch_fails_until_it_is_made_follower_again() -> None:
    leading, fetcher = replicated(Truncation.FETCH)
    leading.make_leader(decided(1, 1, 1, (1, 2), (1, 2)), NOW)
    fetch_round(fetcher, leading)
    assert fetcher.is_failed and fetcher.next_request() is None
    follow(fetcher, leading, 1, 1)
    assert not fetcher.is_failed and fetcher.next_request() is not None


def test_a_fetcher_whose_leader_does_not_know_the_epoch_yet_asks_again() -> None:
    leading, fetcher = replicated(Truncation.FETCH)
    follow(fetcher, leading, 1, 1)
    before = fetcher.next_request()
    fetch_round(fetcher, leading)
    assert not fetcher.is_failed and fetcher.next_request() == before


def test_an_answer_to_an_offset_from_before_is_passed_over() -> None:
    leading, fetcher = replicated(Truncation.FETCH)
    append(leading, "m3")
    request = fetcher.next_request()
    assert isinstance(request, PartitionFetch)
    answer = leading.fetch_as_follower(2, 102, request, NOW)
    fetcher.fetch_answered(request, answer, NOW)
    fetcher.fetch_answered(request, answer, NOW)
    assert values(fetcher.partition) == ["m1", "m2", "m3"] and not fetcher.is_failed


def test_a_log_that_somebody_else_changed_fails_the_fetcher() -> None:
    leading, fetcher = replicated(Truncation.FETCH)
    append(leading, "m3")
    request = fetcher.next_request()
    assert isinstance(request, PartitionFetch)
    answer = leading.fetch_as_follower(2, 102, request, NOW)
    fetcher.partition.log.truncate_to(1, NOW)
    fetcher.fetch_answered(request, answer, NOW)
    assert fetcher.is_failed


def test_a_batch_that_begins_below_the_start_of_an_empty_log_restarts_it_there() -> None:
    leading, fetcher = pair(Truncation.FETCH)
    leading.make_leader(decided(1, 0, 1, (1,), (1, 2)), NOW)
    append(leading, "m1", "m2", "m3")
    leading.delete_records(2)
    for _ in range(3):
        fetch_round(fetcher, leading)
    log = fetcher.partition.log
    assert log is not None and (log.segments[0].base_offset, log.log_start_offset, log.log_end_offset) == (
        0,
        2,
        3,
    )
