"""What a coordinator decides about one transactional id: tables of states, producers and requests; a refusal
changes nothing.

Source: TransactionMetadata.prepareIncrementProducerEpoch, TransactionCoordinator.endTransaction and
handleAddPartitionsToTransaction.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.kafka.txn import transactional_id as rules
from broker_core.kafka.txn.records import as_record, loaded
from broker_core.kafka.txn.states import TransactionState as S
from broker_core.kafka.txn.transactional_id import EPOCH_EXHAUSTED, TransactionalId

P, Q = ("t", 0), ("t", 1)
NOBODY, ME, OLDER, STRANGER = (-1, -1), (9, 5), (9, 4), (8, 5)
REST = (S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)


def known(state: S = S.EMPTY, epoch: int = 5, **fields: Any) -> TransactionalId:
    """Producer 9 in epoch 5; with a transaction of partition P since time 100 where the state has one."""
    partitions = {P: None} if state in (S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT) else {}
    made: dict[str, Any] = {"partitions": partitions, "started_ms": 100 if partitions else -1} | fields
    return TransactionalId("a", 9, 60_000, epoch, state=state, **made)


def init(before: TransactionalId, expected: tuple[int, int], new_id: int = 77) -> TransactionalId | E:
    copy = deepcopy(before)
    decision = rules.init(before, 30_000, expected, new_id, 500)
    assert before == copy
    return decision


# --- InitProducerId


@pytest.mark.parametrize("state", REST)
def test_a_newcomer_gets_the_next_epoch_and_nothing_of_an_older_producer_counts_any_more(state: S) -> None:
    wanted = init(known(state, last_producer_epoch=4), NOBODY)
    assert isinstance(wanted, TransactionalId)
    assert (wanted.producer_id, wanted.producer_epoch, wanted.last_producer_epoch, wanted.state) == (
        9,
        6,
        -1,
        S.EMPTY,
    )
    assert (wanted.timeout_ms, wanted.started_ms, wanted.updated_ms, wanted.partitions) == (
        30_000,
        -1,
        500,
        {},
    )


def test_the_first_producer_of_an_id_begins_with_epoch_0() -> None:
    wanted = init(TransactionalId("a", 9, 60_000), NOBODY)
    assert isinstance(wanted, TransactionalId) and (wanted.producer_id, wanted.producer_epoch) == (9, 0)


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        (ME, (9, 6)),  # the newest: one more
        ((9, 4), (9, 5)),  # it asked before and the answer was lost: the same again
        ((9, 3), E.PRODUCER_FENCED),
        ((9, 6), E.PRODUCER_FENCED),
        ((8, 5), E.PRODUCER_FENCED),
        ((8, 4), E.PRODUCER_FENCED),
    ],
)
def test_a_producer_that_asks_for_its_next_epoch_must_be_the_newest_or_have_just_asked(
    expected: tuple[int, int], answer: tuple[int, int] | E
) -> None:
    wanted = init(known(last_producer_id=9, last_producer_epoch=4), expected)
    got = (wanted.producer_id, wanted.producer_epoch) if isinstance(wanted, TransactionalId) else wanted
    assert got == answer
    if isinstance(wanted, TransactionalId):
        assert wanted.last_producer_epoch == (5 if expected == ME else 4)


@pytest.mark.parametrize("state", [S.PREPARE_COMMIT, S.PREPARE_ABORT])
@pytest.mark.parametrize("expected", [NOBODY, ME])
def test_while_it_is_being_completed_everybody_is_told_to_come_back(
    state: S, expected: tuple[int, int]
) -> None:
    assert init(known(state), expected) is E.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize("expected", [NOBODY, ME, STRANGER])
def test_while_a_change_is_being_written_everybody_is_told_to_come_back_also_a_stranger(
    expected: tuple[int, int],
) -> None:
    assert init(known(pending=S.EMPTY), expected) is E.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize(("epoch", "is_exhausted"), [(EPOCH_EXHAUSTED - 1, False), (EPOCH_EXHAUSTED, True)])
def test_the_last_epoch_but_one_is_given_and_then_a_new_id_begins(epoch: int, is_exhausted: bool) -> None:
    for expected in (NOBODY, (9, epoch)):
        wanted = init(known(epoch=epoch), expected)
        assert isinstance(wanted, TransactionalId)
        assert (wanted.producer_id, wanted.producer_epoch) == ((77, 0) if is_exhausted else (9, epoch + 1))
        assert wanted.last_producer_id == 9 and wanted.last_producer_epoch == (
            -1 if expected == NOBODY else epoch
        )


def test_who_got_the_new_id_and_lost_the_answer_asks_with_the_old_one_and_gets_the_new_one_again() -> None:
    wanted = init(known(epoch=EPOCH_EXHAUSTED), (9, EPOCH_EXHAUSTED))
    assert isinstance(wanted, TransactionalId)
    again = init(wanted, (9, EPOCH_EXHAUSTED))
    assert isinstance(again, TransactionalId) and (again.producer_id, again.producer_epoch) == (77, 0)
    assert rules.fits(wanted, (9, EPOCH_EXHAUSTED - 1)) is E.PRODUCER_FENCED, (
        "an older epoch of it is a zombie's"
    )
    assert rules.fits(wanted, (8, EPOCH_EXHAUSTED)) is E.PRODUCER_FENCED


# --- AddPartitionsToTxn


@pytest.mark.parametrize("state", S, ids=lambda state: state.value)
@pytest.mark.parametrize(
    ("producer", "refusal"),
    [
        (STRANGER, E.INVALID_PRODUCER_ID_MAPPING),
        ((8, 9), E.INVALID_PRODUCER_ID_MAPPING),
        (OLDER, E.PRODUCER_FENCED),
        ((9, 6), E.PRODUCER_FENCED),
    ],
)
def test_another_producer_is_refused_before_anything_else_by_id_and_then_by_epoch(
    state: S, producer: tuple[int, int], refusal: E
) -> None:
    before = known(state, pending=S.PREPARE_COMMIT)
    assert rules.add(before, producer, [P], 500) is refusal
    assert rules.end(before, producer, True, 500) is refusal
    assert rules.verify(before, producer, P) is refusal


@pytest.mark.parametrize("state", REST)
def test_the_first_partitions_begin_the_transaction_and_its_clock(state: S) -> None:
    wanted = rules.add(known(state), ME, [P, Q], 500)
    assert isinstance(wanted, TransactionalId)
    assert (wanted.state, list(wanted.partitions), wanted.started_ms, wanted.updated_ms) == (
        S.ONGOING,
        [P, Q],
        500,
        500,
    )


def test_later_ones_join_it_and_its_clock_goes_on() -> None:
    before = known(S.ONGOING)
    wanted = rules.add(before, ME, [Q, P], 500)
    assert isinstance(wanted, TransactionalId)
    assert (list(wanted.partitions), wanted.started_ms, list(before.partitions)) == ([P, Q], 100, [P])
    assert rules.add(before, ME, [P], 500) is E.NONE, "nothing has to be written"
    assert rules.add(before, ME, [], 500) is E.NONE


@pytest.mark.parametrize(
    "before",
    [
        known(S.PREPARE_COMMIT),
        known(S.PREPARE_ABORT),
        known(S.ONGOING, pending=S.ONGOING),
        known(pending=S.EMPTY),
    ],
)
def test_none_join_while_it_is_completed_or_written(before: TransactionalId) -> None:
    assert rules.add(before, ME, [P], 500) is E.CONCURRENT_TRANSACTIONS


# --- a leader asks back


@pytest.mark.parametrize(
    ("before", "partition", "answer"),
    [
        (known(S.ONGOING), P, E.NONE),
        (known(S.ONGOING), Q, E.INVALID_TXN_STATE),
        (known(S.EMPTY), P, E.INVALID_TXN_STATE),
        (known(S.COMPLETE_COMMIT), P, E.INVALID_TXN_STATE),
        (known(S.PREPARE_COMMIT), P, E.CONCURRENT_TRANSACTIONS),
        (known(S.ONGOING, pending=S.ONGOING), P, E.NONE),  # another partition is being added meanwhile
        (known(S.COMPLETE_COMMIT, pending=S.ONGOING), P, E.INVALID_TXN_STATE),
    ],
)
def test_only_a_partition_of_the_open_transaction_is_verified(
    before: TransactionalId, partition: tuple[str, int], answer: E
) -> None:
    assert rules.verify(before, ME, partition) is answer


# --- EndTxn


@pytest.mark.parametrize(
    ("state", "commit", "abort"),
    [
        (S.EMPTY, E.INVALID_TXN_STATE, E.INVALID_TXN_STATE),
        (S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT),
        (S.PREPARE_COMMIT, E.CONCURRENT_TRANSACTIONS, E.INVALID_TXN_STATE),
        (S.PREPARE_ABORT, E.INVALID_TXN_STATE, E.CONCURRENT_TRANSACTIONS),
        (S.COMPLETE_COMMIT, E.NONE, E.INVALID_TXN_STATE),
        (S.COMPLETE_ABORT, E.INVALID_TXN_STATE, E.NONE),
    ],
)
def test_each_state_answers_an_end_as_the_original_does(state: S, commit: S | E, abort: S | E) -> None:
    for is_commit, expected in ((True, commit), (False, abort)):
        decision = rules.end(known(state), ME, is_commit, 500)
        assert (decision.state if isinstance(decision, TransactionalId) else decision) is expected
        if isinstance(decision, TransactionalId):
            assert (list(decision.partitions), decision.started_ms, decision.producer_epoch) == ([P], 100, 5)
    assert rules.end(known(state, pending=S.EMPTY), ME, True, 500) is E.CONCURRENT_TRANSACTIONS


# --- fencing, and time


def test_a_fence_raises_the_epoch_once_and_aborts() -> None:
    before = known(S.ONGOING, last_producer_epoch=4)
    fenced = rules.fence(before, 500)
    assert (fenced.state, fenced.producer_epoch, fenced.last_producer_epoch, list(fenced.partitions)) == (
        S.PREPARE_ABORT,
        6,
        -1,
        [P],
    )
    assert before.producer_epoch == 5
    before.has_failed_fence = True
    assert rules.fence(before, 500).producer_epoch == 5, "it was raised before and could not be written"


@pytest.mark.parametrize(("now_ms", "is_over"), [(60_100, False), (60_101, True)])
def test_only_an_open_transaction_can_last_too_long(now_ms: int, is_over: bool) -> None:
    assert known(S.ONGOING).is_timed_out(now_ms) is is_over
    assert not known(S.ONGOING, pending=S.PREPARE_COMMIT).is_timed_out(now_ms), "its end is being written"
    for state in (S.EMPTY, S.PREPARE_COMMIT, S.COMPLETE_ABORT):
        assert not known(state, started_ms=0).is_timed_out(10**9)


# --- records


IDS = st.builds(
    TransactionalId,
    st.sampled_from(["a", "b"]),
    st.integers(0, 99),
    st.integers(1, 900_000),
    st.integers(-1, 32_766),
    st.integers(-1, 99),
    st.integers(-1, 32_766),
    st.sampled_from(S),
    st.dictionaries(st.tuples(st.sampled_from(["t", "u"]), st.integers(0, 3)), st.none(), max_size=3),
    st.integers(-1, 10**6),
    st.integers(-1, 10**6),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(IDS, max_size=6))
def test_law_of_each_id_the_newest_record_is_what_a_new_coordinator_knows(
    written: list[TransactionalId],
) -> None:
    assert loaded([as_record(one) for one in written]) == {one.transactional_id: one for one in written}


def test_what_is_only_in_memory_is_not_written() -> None:
    before = known(S.ONGOING, pending=S.PREPARE_COMMIT, has_failed_fence=True)
    (after,) = loaded([as_record(before)]).values()
    assert (after.pending, after.has_failed_fence) == (None, False)
