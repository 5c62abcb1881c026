"""A producer's sequences: what an error of the broker means, by the producer's own books. Source:
TransactionManager.canRetry and its neighbours."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.client.producer.sequences import EPOCH_MAX, Sequences
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.record_batch import NO_PRODUCER_ID

HERE, THERE = ("t", 0), ("t", 1)
FORGOTTEN, OUT_OF_ORDER = ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


class Books:
    """Sequences of producer 7 in epoch 0, and the batches that it has numbered."""

    def __init__(self, *, is_transactional: bool = False) -> None:
        self.sequences = Sequences(7, 0)
        self.batches: dict[int, Batch] = {}
        self.is_transactional = is_transactional

    def batch(self, records: int = 2, partition: tuple[str, int] = HERE) -> Batch:
        batch = Batch(len(self.batches) + 1, partition, 0, 0, values=list(range(records)))
        self.batches[batch.number] = batch
        self.sequences.give(batch, self.is_transactional)
        return batch

    def retries(self, error: ErrorCode, batch: Batch, log_start: int = 0) -> bool | None:
        return self.sequences.may_retry(
            error, batch, log_start, self.batches, is_transactional=self.is_transactional
        )


def test_batches_of_a_partition_are_numbered_by_their_records_each_partition_from_0():
    books = Books()
    assert [
        books.batch(3).base_sequence,
        books.batch(1).base_sequence,
        books.batch(2, THERE).base_sequence,
    ] == [0, 3, 0]


def test_an_error_that_is_none_of_sequences_is_not_decided_here():
    books = Books()
    assert books.retries(ErrorCode.NOT_LEADER_OR_FOLLOWER, books.batch()) is None


# --- UNKNOWN_PRODUCER_ID


def test_a_broker_that_does_not_say_where_its_log_starts_is_asked_again():
    books = Books()
    assert books.retries(FORGOTTEN, books.batch(), log_start=-1) and not books.sequences.is_bump_required


def test_a_forgotten_idempotent_producer_needs_the_next_epoch_and_begins_at_0():
    books = Books()
    books.sequences.acked(books.batch(), 10)
    waiting = books.batch()
    assert books.retries(FORGOTTEN, waiting) and books.sequences.is_bump_required
    books.sequences.bump(books.batches)
    assert (waiting.producer_id, waiting.producer_epoch, waiting.base_sequence, waiting.is_reset) == (
        7,
        1,
        0,
        True,
    )
    assert books.batch().base_sequence == 2 and not books.sequences.is_bump_required
    assert books.retries(FORGOTTEN, waiting), "numbered anew already: it is only sent again"
    assert not books.sequences.is_bump_required


@pytest.mark.parametrize(("log_start", "retries", "sequence"), [(12, True, 0), (11, False, 2)])
def test_a_forgotten_transactional_one_begins_again_only_where_retention_took_its_records(
    log_start, retries, sequence
):
    books = Books(is_transactional=True)
    books.sequences.acked(books.batch(), 10)  # offsets 10 and 11
    waiting = books.batch()
    assert books.retries(FORGOTTEN, waiting, log_start) is retries
    assert waiting.base_sequence == sequence and not books.sequences.is_bump_required, (
        "its epoch is the coordinator's to raise"
    )


# --- OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_batch_whose_predecessor_is_still_on_its_way_is_sent_again():
    books = Books()
    books.batch()
    assert books.retries(OUT_OF_ORDER, books.batch()) and not books.sequences.is_bump_required


@pytest.mark.parametrize("is_transactional", [False, True])
def test_a_gap_right_after_what_was_acked_is_past_only_with_a_new_epoch(is_transactional):
    books = Books(is_transactional=is_transactional)
    books.sequences.acked(books.batch(), 0)
    assert books.retries(OUT_OF_ORDER, books.batch()) is not is_transactional
    assert books.sequences.is_bump_required is not is_transactional


def test_after_an_expired_batch_only_the_one_that_follows_it_asks_for_the_epoch():
    books = Books()
    lost, following, later = books.batch(), books.batch(), books.batch()
    books.sequences.mark_unresolved(lost)
    books.sequences.drop(lost)
    assert books.retries(OUT_OF_ORDER, later) and not books.sequences.is_bump_required
    assert books.retries(OUT_OF_ORDER, following) and books.sequences.is_bump_required
    books.sequences.bump(books.batches)
    assert [following.base_sequence, later.base_sequence] == [0, 2] and HERE not in books.sequences.unresolved


# --- what is in doubt


def test_nothing_new_is_numbered_where_a_batch_is_in_doubt_and_elsewhere_it_is():
    books = Books()
    lost = books.batch()
    books.sequences.mark_unresolved(lost)
    fresh = [Batch(90, HERE, 0, 0, values=[1]), Batch(91, THERE, 0, 0, values=[1])]
    assert [books.sequences.may_drain(one, books.batches) for one in fresh] == [False, True]


def test_a_later_ack_resolves_the_doubt_and_none_costs_the_epoch():
    books = Books()
    lost, later = books.batch(), books.batch()
    books.sequences.mark_unresolved(lost)
    books.sequences.drop(lost)
    assert books.sequences.settled() == [], "the later one may still be acked"
    books.sequences.acked(later, 5)
    assert books.sequences.settled() == [] and not books.sequences.unresolved, (
        "the broker took it: so it has the first"
    )
    alone = books.batch()
    books.sequences.mark_unresolved(alone)
    books.sequences.drop(alone)
    assert books.sequences.settled() == [HERE]


def test_only_the_first_in_flight_is_sent_again():
    books = Books()
    first, second = books.batch(), books.batch()
    assert [books.sequences.may_drain(one, books.batches) for one in (first, second)] == [True, False]
    books.sequences.acked(first, 0)
    assert books.sequences.may_drain(second, books.batches)


def test_without_an_id_nothing_leaves():
    assert not Sequences().may_drain(Batch(1, HERE, 0, 0, values=[1]), {})


def test_a_batch_of_the_next_epoch_waits_for_those_of_the_last():
    books = Books()
    books.batch()
    books.sequences.bump(books.batches)
    fresh = Batch(90, HERE, 0, 0, values=[1])
    assert not books.sequences.may_drain(fresh, books.batches)
    books.sequences.drop(books.batches[1])
    assert books.sequences.may_drain(fresh, books.batches)
    books.sequences.give(fresh, False)
    assert (fresh.producer_epoch, fresh.base_sequence) == (1, 0)


def test_after_the_last_epoch_the_id_is_given_up():
    books = Books()
    books.sequences.producer_epoch = EPOCH_MAX
    books.sequences.bump(books.batches)
    assert books.sequences.producer_id == NO_PRODUCER_ID and not books.sequences.has_producer_id


def test_a_refused_transactional_batch_leaves_no_gap():
    books = Books(is_transactional=True)
    before, refused, after = books.batch(1), books.batch(3), books.batch(2)
    books.sequences.drop(refused)
    books.sequences.close_gap(refused, books.batches)
    assert [before.base_sequence, after.base_sequence] == [0, 1] and after.is_reset and not before.is_reset
    assert books.batch().base_sequence == 3


def test_a_new_id_forgets_every_partition():
    books = Books()
    books.sequences.mark_unresolved(books.batch())
    books.sequences.ask_bump(THERE)
    books.sequences.forget()
    books.sequences.adopt(8, 3)
    fresh = books.batch()
    assert (fresh.producer_id, fresh.producer_epoch, fresh.base_sequence) == (
        8,
        3,
        0,
    ) and not books.sequences.unresolved


@given(
    st.lists(
        st.tuples(st.sampled_from(["give", "ack", "expire", "settle", "refuse"]), st.integers(1, 3)),
        max_size=30,
    )
)
def test_law_what_is_in_flight_is_numbered_without_gap_or_overlap(steps):
    """After each step, what is in flight to a partition in one epoch follows on from one another."""
    books = Books()
    flying: list[Batch] = []
    for what, records in steps:
        fresh = Batch(len(books.batches) + 1, HERE, 0, 0, values=list(range(records)))
        if what == "give" and books.sequences.may_drain(fresh, books.batches):
            books.batches[fresh.number] = fresh
            books.sequences.give(fresh, False)
            flying.append(fresh)
        elif what == "ack" and flying:
            books.sequences.acked(flying.pop(0), 0)
        elif what == "expire" and flying:
            lost = flying.pop(0)
            books.sequences.mark_unresolved(lost)
            books.sequences.drop(lost)
        elif what == "settle":
            for partition in books.sequences.settled():
                books.sequences.ask_bump(partition)
        elif (
            what == "refuse"
            and flying
            and books.retries(OUT_OF_ORDER, flying[0])
            and books.sequences.is_bump_required
        ):
            books.sequences.bump(books.batches)
        if books.sequences.is_bump_required and not flying:
            books.sequences.bump(books.batches)
        assert books.sequences.of(HERE).in_flight == [batch.number for batch in flying]
        for one, following in pairwise(flying):
            assert (
                following.producer_epoch == one.producer_epoch
                and following.base_sequence == one.last_sequence + 1
            )
