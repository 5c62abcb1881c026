"""A fetcher on its own, rule by rule: what it asks next after each answer, refusal and question, and which
answers it passes over."""

import pytest

from broker_core.errors import InvariantError
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.local_log import EARLIEST, LATEST
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch, with_offset
from broker_core.kafka.replication.fetch import FetchedPartition, PartitionFetch
from broker_core.kafka.replication.fetcher import (
    EpochQuestion,
    Fetcher,
    OffsetQuestion,
    Step,
    Truncated,
    Truncation,
)
from broker_core.kafka.replication.partition import Partition
from tests.core.kafka.replication.brokers_of_a_test import NOW, brokers, decided, hw, replica, values

EPOCH = 5
UNDEFINED = (-1, -1)


def log_of(fetcher: Fetcher) -> PartitionLog:
    assert fetcher.partition.log is not None
    return fetcher.partition.log


def batch(base_offset: int, *texts: str, epoch: int = EPOCH) -> memoryview:
    records = [Record(index, NOW, None, text.encode()) for index, text in enumerate(texts)]
    return memoryview(with_offset(encode_batch(records), base_offset, epoch).data)


def follower(
    truncation: Truncation = Truncation.FETCH, epochs: tuple[int, ...] = (1, 1, 3), high_watermark: int = 1
) -> Fetcher:
    """Broker 2 follows broker 1 in epoch 5. It has a record for each of the epochs, and knows that high
    watermark."""
    partition = replica(2, brokers())
    fetcher = Fetcher(partition, truncation)
    for offset, epoch in enumerate(epochs):
        log_of(fetcher).append_as_follower(batch(offset, f"r{offset}", epoch=epoch), now_ms=NOW)
    log_of(fetcher).high_watermark = high_watermark
    partition.make_follower(decided(1, EPOCH, 1, ()))
    fetcher.start()
    return fetcher


def asked(fetcher: Fetcher) -> PartitionFetch:
    request = fetcher.next_request()
    assert isinstance(request, PartitionFetch)
    return request


def answer(
    *records: memoryview,
    high_watermark: int = 0,
    log_start: int = 0,
    diverging: tuple[int, int] | None = None,
) -> FetchedPartition:
    return FetchedPartition(
        high_watermark, high_watermark, log_start, -1, memoryview(b"".join(records)), diverging
    )


# --- what it asks


@pytest.mark.parametrize(
    ("truncation", "epochs", "request_"),
    [
        (Truncation.FETCH, (1, 1, 3), PartitionFetch(3, EPOCH, 3, 0)),
        (Truncation.EPOCH_REQUEST, (1, 1, 3), EpochQuestion(EPOCH, 3)),
        (Truncation.EPOCH_REQUEST, (), EpochQuestion(EPOCH, -1)),
        (Truncation.FETCH, (), EpochQuestion(EPOCH, -1)),
        (Truncation.HIGH_WATERMARK, (1, 1, 3), EpochQuestion(EPOCH, 3)),  # not asked: it is cut before
    ],
)
def test_the_first_request(truncation: Truncation, epochs: tuple[int, ...], request_: object) -> None:
    assert follower(truncation, epochs).next_request() == request_


@pytest.mark.parametrize(
    ("truncation", "cut"),
    [(Truncation.HIGH_WATERMARK, Truncated(1)), (Truncation.EPOCH_REQUEST, None), (Truncation.FETCH, None)],
)
def test_only_where_epochs_are_not_compared_it_is_cut_before_it_asks(
    truncation: Truncation, cut: Truncated | None
) -> None:
    fetcher = follower(truncation)
    assert fetcher.truncate_to_high_watermark(NOW) == cut
    assert len(values(fetcher.partition)) == (1 if cut else 3)
    assert fetcher.truncate_to_high_watermark(NOW) is None, "once"


@pytest.mark.parametrize("truncation", list(Truncation))
def test_a_log_without_epochs_is_cut_to_its_high_watermark_whatever_the_way(truncation: Truncation) -> None:
    fetcher = follower(truncation, epochs=())
    assert fetcher.truncate_to_high_watermark(NOW) == Truncated(0)
    assert asked(fetcher) == PartitionFetch(0, EPOCH, None, 0)


def test_a_fetcher_that_was_stopped_asks_nothing_and_hears_nothing() -> None:
    fetcher = follower()
    request = asked(fetcher)
    fetcher.stop()
    assert (fetcher.next_request(), fetcher.is_fetching) == (None, False)
    assert fetcher.truncate_to_high_watermark(NOW) is None
    fetcher.fetch_answered(request, answer(batch(3, "x")), NOW)
    fetcher.refused(request, ErrorCode.FENCED_LEADER_EPOCH)
    assert not fetcher.high_watermark_told(request, 3)
    assert (len(values(fetcher.partition)), fetcher.is_failed) == (3, False)


def test_a_replica_without_a_log_cannot_follow() -> None:
    with pytest.raises(InvariantError):
        Fetcher(Partition(2, brokers(), 102)).start()


# --- records


def test_what_came_is_appended_and_the_next_fetch_names_its_epoch() -> None:
    fetcher = follower()
    fetcher.fetch_answered(
        asked(fetcher), answer(batch(3, "a", epoch=4), batch(4, "b", "c"), high_watermark=9), NOW
    )
    assert asked(fetcher) == PartitionFetch(6, EPOCH, EPOCH, 0)
    assert (hw(fetcher.partition), fetcher.state is not None and fetcher.state.lag) == (6, 3)


def test_an_answer_without_records_brings_the_high_watermark_and_the_log_start() -> None:
    fetcher = follower()
    fetcher.fetch_answered(asked(fetcher), answer(high_watermark=3, log_start=2), NOW)
    assert (hw(fetcher.partition), log_of(fetcher).log_start_offset, asked(fetcher)) == (
        3,
        2,
        PartitionFetch(3, EPOCH, 3, 2),
    )
    fetcher.fetch_answered(asked(fetcher), answer(high_watermark=2, log_start=1), NOW)
    assert (hw(fetcher.partition), log_of(fetcher).log_start_offset) == (2, 2), (
        "the one may go back, the other may not"
    )


def test_a_damaged_batch_is_asked_for_again() -> None:
    fetcher = follower()
    request = asked(fetcher)
    damaged = bytearray(batch(3, "a"))
    damaged[-1] ^= 1
    fetcher.fetch_answered(request, answer(memoryview(bytes(damaged)), high_watermark=4), NOW)
    assert (asked(fetcher), fetcher.is_failed, hw(fetcher.partition)) == (request, False, 1)


@pytest.mark.parametrize("records", [[batch(2, "again")], [batch(5, "b"), batch(4, "a")]])
def test_what_cannot_follow_its_log_ends_the_fetcher(records: list[memoryview]) -> None:
    fetcher = follower()
    fetcher.fetch_answered(asked(fetcher), answer(*records), NOW)
    assert (fetcher.is_failed, fetcher.next_request(), len(values(fetcher.partition))) == (True, None, 3)
    fetcher.start()
    assert (fetcher.is_failed, asked(fetcher).offset) == (False, 3)


@pytest.mark.parametrize("change", ["epoch", "offset", "step"])
def test_an_answer_to_another_question_is_passed_over(change: str) -> None:
    fetcher = follower()
    request = asked(fetcher)
    if change == "epoch":
        request = request._replace(leader_epoch=EPOCH - 1)
    elif change == "offset":
        request = request._replace(offset=2)
    else:
        assert fetcher.state is not None
        fetcher.state.step = Step.TRUNCATING
    assert fetcher.fetch_answered(request, answer(batch(3, "x"), diverging=(1, 1)), NOW) is None
    assert not fetcher.high_watermark_told(request, 3)
    assert (len(values(fetcher.partition)), hw(fetcher.partition), fetcher.is_failed) == (3, 1, False)


def test_a_high_watermark_alone_changes_nothing_in_what_is_asked() -> None:
    fetcher = follower()
    request = asked(fetcher)
    assert fetcher.high_watermark_told(request, 7)
    assert (hw(fetcher.partition), asked(fetcher), fetcher.state is not None and fetcher.state.lag) == (
        3,
        request,
        4,
    )


def test_a_log_that_was_changed_elsewhere_ends_the_fetcher_at_a_high_watermark_too() -> None:
    fetcher = follower()
    request = asked(fetcher)
    log_of(fetcher).truncate_to(2, NOW)
    assert not fetcher.high_watermark_told(request, 2) and fetcher.is_failed


# --- where the logs part


@pytest.mark.parametrize(
    ("leaders", "cut"),
    [
        ((3, 9), Truncated(3)),  # the epoch ends further there: all of ours agrees
        ((3, 2), Truncated(2)),
        ((1, 1), Truncated(1)),
        ((1, 2), Truncated(2)),
        (
            (2, 9),
            Truncated(2, is_complete=False),
        ),  # an epoch that is not known here: to the end of the one below it, and again
        ((0, 0), Truncated(0, is_complete=True)),  # older than all of ours: it ends, itself, where ours begin
        ((9, 2), Truncated(2)),  # above all of ours: where it ends there
        ((9, 9), Truncated(3)),
    ],
)
def test_where_a_log_is_cut_by_what_the_leader_says_of_an_epoch(
    leaders: tuple[int, int], cut: Truncated
) -> None:
    fetcher = follower()
    assert fetcher.fetch_answered(asked(fetcher), answer(diverging=leaders), NOW) == cut
    assert len(values(fetcher.partition)) == cut.offset and fetcher.is_fetching
    assert asked(fetcher).offset == cut.offset, (
        "the next fetch names the epoch that is left, and so asks again"
    )


@pytest.mark.parametrize(("leaders", "step"), [((3, 2), Step.FETCHING), ((2, 9), Step.TRUNCATING)])
def test_by_questions_it_goes_on_asking_until_the_leader_names_an_epoch_that_it_has(
    leaders: tuple[int, int], step: Step
) -> None:
    fetcher = follower(Truncation.EPOCH_REQUEST)
    fetcher.epoch_answered(EpochQuestion(EPOCH, 3), leaders, NOW)
    assert fetcher.state is not None and fetcher.state.step is step
    if step is Step.TRUNCATING:
        assert fetcher.next_request() == EpochQuestion(EPOCH, 1)


def test_a_leader_that_knows_nothing_of_epochs_cuts_it_to_where_it_began() -> None:
    fetcher = follower(Truncation.EPOCH_REQUEST)
    assert fetcher.epoch_answered(EpochQuestion(EPOCH, 3), UNDEFINED, NOW) == Truncated(1)
    assert asked(fetcher) == PartitionFetch(1, EPOCH, None, 0), (
        "at its high watermark, and it names no epoch in a fetch"
    )


@pytest.mark.parametrize("question", [EpochQuestion(EPOCH - 1, 3), EpochQuestion(EPOCH + 1, 3)])
def test_an_answer_under_another_leader_epoch_cuts_nothing(question: EpochQuestion) -> None:
    fetcher = follower(Truncation.EPOCH_REQUEST)
    assert fetcher.epoch_answered(question, (1, 1), NOW) is None and len(values(fetcher.partition)) == 3


def test_who_fetches_already_is_cut_by_no_late_answer_to_a_question() -> None:
    assert follower().epoch_answered(EpochQuestion(EPOCH, 3), (1, 1), NOW) is None


def test_a_divergence_is_of_no_interest_to_one_that_does_not_truncate_by_fetches() -> None:
    fetcher = follower(Truncation.HIGH_WATERMARK)
    fetcher.truncate_to_high_watermark(NOW)
    assert fetcher.fetch_answered(asked(fetcher), answer(diverging=(1, 0)), NOW) is None
    assert len(values(fetcher.partition)) == 1


# --- refusals


@pytest.mark.parametrize(
    ("error", "is_failed", "asks"),
    [
        (ErrorCode.FENCED_LEADER_EPOCH, True, None),
        (ErrorCode.OFFSET_OUT_OF_RANGE, False, LATEST),
        (ErrorCode.UNKNOWN_LEADER_EPOCH, False, None),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, False, None),
        (ErrorCode.KAFKA_STORAGE_ERROR, False, None),
    ],
)
def test_what_a_refusal_of_a_fetch_makes_of_it(error: ErrorCode, is_failed: bool, asks: int | None) -> None:
    fetcher = follower()
    request = asked(fetcher)
    fetcher.refused(request, error)
    expected = None if is_failed else request if asks is None else OffsetQuestion(EPOCH, asks)
    assert (fetcher.is_failed, fetcher.next_request()) == (is_failed, expected)


def test_a_refusal_under_an_epoch_from_before_changes_nothing() -> None:
    fetcher = follower()
    fetcher.refused(asked(fetcher)._replace(leader_epoch=EPOCH - 1), ErrorCode.FENCED_LEADER_EPOCH)
    assert not fetcher.is_failed


def out_of_range() -> Fetcher:
    fetcher = follower()
    fetcher.refused(asked(fetcher), ErrorCode.OFFSET_OUT_OF_RANGE)
    return fetcher


@pytest.mark.parametrize(
    ("leaders_end", "leaders_start", "cut", "ends"),
    [
        (2, None, Truncated(2), (0, 2)),  # the leader is shorter
        (3, 1, None, (0, 3)),  # it is not: it has just been, perhaps
        (9, 3, None, (0, 3)),
        (9, 4, Truncated(4, is_all=True), (4, 4)),  # what comes next is deleted there
    ],
)
def test_out_of_range_it_asks_where_the_leader_ends_and_then_where_it_begins(
    leaders_end: int, leaders_start: int | None, cut: Truncated | None, ends: tuple[int, int]
) -> None:
    fetcher = out_of_range()
    told = fetcher.offset_answered(OffsetQuestion(EPOCH, LATEST), leaders_end, NOW)
    if leaders_start is not None:
        assert told is None and fetcher.next_request() == OffsetQuestion(EPOCH, EARLIEST)
        told = fetcher.offset_answered(OffsetQuestion(EPOCH, EARLIEST), leaders_start, NOW)
    log = log_of(fetcher)
    assert (told, (log.log_start_offset, log.log_end_offset)) == (cut, ends)
    assert asked(fetcher).offset == ends[1] and fetcher.state is not None
    assert fetcher.state.lag == (0 if leaders_start is None else leaders_end - ends[1])


@pytest.mark.parametrize("question", [OffsetQuestion(EPOCH, EARLIEST), OffsetQuestion(EPOCH - 1, LATEST)])
def test_an_answer_to_an_offset_that_was_not_asked_for_changes_nothing(question: OffsetQuestion) -> None:
    fetcher = out_of_range()
    assert fetcher.offset_answered(question, 0, NOW) is None
    assert fetcher.next_request() == OffsetQuestion(EPOCH, LATEST) and len(values(fetcher.partition)) == 3


def test_a_question_for_offsets_that_is_refused_begins_again_with_a_fetch() -> None:
    fetcher = out_of_range()
    fetcher.offset_answered(OffsetQuestion(EPOCH, LATEST), 9, NOW)
    fetcher.refused(OffsetQuestion(EPOCH, EARLIEST), ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert asked(fetcher).offset == 3
    fetcher = out_of_range()
    fetcher.refused(OffsetQuestion(EPOCH, LATEST), ErrorCode.OFFSET_OUT_OF_RANGE)
    assert asked(fetcher).offset == 3, "only a fetch can be out of range"
