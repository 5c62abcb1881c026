"""What each answer of a coordinator leads to: a table of requests and codes. Source: the handlers of
TransactionManager."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.states import Phase
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from tests.core.kafka.client.producer.producer_bench import MILLISECOND, SECOND, Bench

INIT, ADD, ADD_OFFSETS, COMMIT_OFFSETS, END = (
    t.InitProducerIdRequest,
    t.AddPartitionsToTxnRequest,
    t.AddOffsetsToTxnRequest,
    m.TxnOffsetCommitRequest,
    t.EndTxnRequest,
)
KINDS: list[type] = [INIT, ADD, ADD_OFFSETS, COMMIT_OFFSETS, END]


def response(kind: type, code: int) -> Any:
    if kind is INIT:
        return t.InitProducerIdResponse(code, -1 if code else 9, -1 if code else 3)
    if kind is ADD:
        return t.AddPartitionsToTxnResponse([("t", 0, code)])
    if kind is COMMIT_OFFSETS:
        return m.TxnOffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0, code)])])
    return t.AddOffsetsToTxnResponse(code) if kind is ADD_OFFSETS else t.EndTxnResponse(code)


def asking(kind: type, *, is_commit: bool = True) -> Bench:
    """A transactional producer that has asked this, and has no answer. Broker 1 coordinates it and its group
    g; broker 0 leads."""
    bench = Bench((0, 0), transactional_id="tx", enable_idempotence=True)
    bench.order(o.InitTransactions())
    bench.answer(t.FindCoordinatorRequest, t.FindCoordinatorResponse(0, 1))
    if kind is INIT:
        return bench
    bench.answer(INIT, response(INIT, 0))
    bench.order(o.BeginTransaction())
    if kind in (ADD_OFFSETS, COMMIT_OFFSETS):
        bench.order(o.SendOffsets("g", [("t", 0, 5)], 2, "member"))
        if kind is COMMIT_OFFSETS:
            bench.answer(ADD_OFFSETS, response(ADD_OFFSETS, 0))
            bench.answer(t.FindCoordinatorRequest, t.FindCoordinatorResponse(0, 1))
        return bench
    bench.send(7)
    if kind is END:
        bench.answer(ADD, response(ADD, 0))
        bench.produced()
        bench.order(o.CommitTransaction() if is_commit else o.AbortTransaction())
    return bench


# --- ask again


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        *((kind, E.COORDINATOR_LOAD_IN_PROGRESS) for kind in KINDS),
        *((kind, E.CONCURRENT_TRANSACTIONS) for kind in (INIT, ADD, ADD_OFFSETS, END)),
        *((kind, E.UNKNOWN_TOPIC_OR_PARTITION) for kind in (ADD, COMMIT_OFFSETS)),
        (INIT, E.REQUEST_TIMED_OUT),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else value.name,
)  # fmt: skip
def test_what_may_pass_is_asked_again_of_the_same_broker_after_the_back_off(kind: type, code: E) -> None:
    bench = asking(kind)
    (before,) = bench.waiting(kind)
    phase = bench.state.transaction.phase
    bench.answer(kind, response(kind, code), SECOND)
    wait = 20 * MILLISECOND if kind is ADD and code is E.CONCURRENT_TRANSACTIONS else 100 * MILLISECOND
    assert bench.state.transaction.retry_at_us == SECOND + wait and bench.state.transaction.phase is phase
    bench.wake(SECOND + wait - 1)
    assert bench.waiting(kind) == []
    bench.wake(SECOND + wait)
    assert bench.waiting(kind) == [before] and bench.state.transaction.coordinator == 1


@pytest.mark.parametrize(
    ("kind", "code"),
    [(kind, code) for kind in KINDS for code in (E.NOT_COORDINATOR, E.COORDINATOR_NOT_AVAILABLE)]
    + [(COMMIT_OFFSETS, E.REQUEST_TIMED_OUT)],
    ids=lambda value: value.__name__ if isinstance(value, type) else value.name,
)
def test_who_is_no_coordinator_is_looked_for_under_the_right_name_and_asked_again(
    kind: type, code: E
) -> None:
    bench = asking(kind)
    (before,) = bench.waiting(kind)
    bench.answer(kind, response(kind, code), SECOND)
    assert not bench.waiting(t.FindCoordinatorRequest)
    bench.wake(SECOND + 100 * MILLISECOND)
    found = bench.answer(t.FindCoordinatorRequest, t.FindCoordinatorResponse(0, 0), 2 * SECOND)
    assert found == (
        t.FindCoordinatorRequest("g", t.GROUP)
        if kind is COMMIT_OFFSETS
        else t.FindCoordinatorRequest("tx", t.TRANSACTION)
    )
    assert [
        (bench.broker_of(connection), request)
        for connection, request in bench.asked
        if isinstance(request, kind)
    ] == [(0, before)]
    assert (bench.state.transaction.coordinator == 0) is (kind is not COMMIT_OFFSETS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_refusal_doubles_the_wait_and_success_ends_that(kind: type) -> None:
    bench, now_us, waits = asking(kind), SECOND, []
    for _ in range(5):
        bench.answer(kind, response(kind, E.COORDINATOR_LOAD_IN_PROGRESS), now_us)
        waits.append((bench.state.transaction.retry_at_us - now_us) // MILLISECOND)
        now_us = bench.state.transaction.retry_at_us
        bench.wake(now_us)
    assert waits == [100, 200, 400, 800, 1_000] and bench.state.counts.errors == {
        E.COORDINATOR_LOAD_IN_PROGRESS: 5
    }
    bench.answer(kind, response(kind, 0), now_us)
    assert bench.state.transaction.failures == 0


# --- abortable, and fatal


@pytest.mark.parametrize(
    ("kind", "code", "phase", "error"),
    [
        *((kind, code, Phase.FATAL_ERROR, E.PRODUCER_FENCED) for kind in (INIT, ADD, ADD_OFFSETS, END)
          for code in (E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH)),
        *((kind, E.INVALID_TXN_STATE, Phase.FATAL_ERROR, E.INVALID_TXN_STATE) for kind in KINDS),
        (INIT, E.INVALID_TRANSACTION_TIMEOUT, Phase.FATAL_ERROR, E.INVALID_TRANSACTION_TIMEOUT),
        (INIT, E.INVALID_PRODUCER_ID_MAPPING, Phase.FATAL_ERROR, E.INVALID_PRODUCER_ID_MAPPING),
        *((kind, code, Phase.ABORTABLE_ERROR, code) for kind in (ADD, ADD_OFFSETS, END)
          for code in (E.UNKNOWN_PRODUCER_ID, E.INVALID_PRODUCER_ID_MAPPING)),
        (COMMIT_OFFSETS, E.PRODUCER_FENCED, Phase.FATAL_ERROR, E.PRODUCER_FENCED),
        *((COMMIT_OFFSETS, code, Phase.ABORTABLE_ERROR, E.UNKNOWN_SERVER_ERROR)
          for code in (codes.ILLEGAL_GENERATION, codes.UNKNOWN_MEMBER_ID, codes.FENCED_INSTANCE_ID)),
        *((COMMIT_OFFSETS, code, Phase.FATAL_ERROR, code)
          for code in (E.INVALID_PRODUCER_EPOCH, E.UNKNOWN_PRODUCER_ID, E.UNKNOWN_SERVER_ERROR)),
        (COMMIT_OFFSETS, codes.NON_EMPTY_GROUP, Phase.FATAL_ERROR, E.UNKNOWN_SERVER_ERROR),
        (COMMIT_OFFSETS, E.TRANSACTION_ABORTABLE, Phase.ABORTABLE_ERROR, E.TRANSACTION_ABORTABLE),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else getattr(value, "name", str(value)),
)  # fmt: skip
def test_what_does_not_pass_fails_the_transaction_or_the_producer(
    kind: type, code: int, phase: Phase, error: E
) -> None:
    bench = asking(kind)
    bench.answer(kind, response(kind, code), SECOND)
    transaction = bench.state.transaction
    assert (transaction.phase, transaction.error) == (phase, error) and transaction.retry_at_us <= SECOND
    bench.wake(2 * SECOND)
    assert not any(bench.waiting(other) for other in KINDS), (
        "until the application says what to do nothing is asked"
    )
    if phase is Phase.FATAL_ERROR:
        what = "fenced" if error is E.PRODUCER_FENCED else "failed"
        assert bench.kinds()[-1] == what and bench.out.told[-1][1] == (
            {"transactional_id": "tx"} if what == "fenced" else {"error": error.name}
        )
        with pytest.raises(CommandError, match=error.name):
            bench.order(o.BeginTransaction())
    else:
        assert bench.kinds()[-1] == "transaction_failed"


@pytest.mark.parametrize("is_commit", [True, False])
def test_an_end_that_went_well_is_counted_as_what_it_was(is_commit: bool) -> None:
    bench = asking(END, is_commit=is_commit)
    bench.answer(END, response(END, 0))
    counts = bench.state.counts
    assert (counts.committed, counts.aborted) == (
        (1, 0) if is_commit else (0, 1)
    ) and bench.state.transaction.phase is Phase.READY


@pytest.mark.parametrize("kind", [ADD, ADD_OFFSETS, END], ids=lambda kind: kind.__name__)
def test_an_id_that_the_coordinator_does_not_know_is_not_ended_but_asked_for_anew_also_while_it_commits(
    kind: type,
) -> None:
    """TransactionManager.abortableErrorIfPossible: whatever the producer is at, the next epoch is
    required."""
    bench = asking(kind)
    bench.answer(kind, response(kind, E.INVALID_PRODUCER_ID_MAPPING))
    bench.order(o.AbortTransaction())
    assert bench.waiting(INIT) == [t.InitProducerIdRequest("tx", 60_000, 9, 3)] and not bench.waiting(END)
    bench.answer(INIT, t.InitProducerIdResponse(0, 20, 0))
    assert (
        bench.state.counts.aborted == 1
        and not bench.state.transaction.is_id_lost
        and bench.state.transaction.phase is Phase.READY
    )
    assert bench.out.told[-1] == ("kafka.producer.id_given", {"producer_id": 20, "epoch": 0})


def test_of_two_batches_that_fail_only_the_first_is_told_as_the_transaction_s_end() -> None:
    bench = asking(ADD)
    bench.send(8, partition=1)
    bench.answer(ADD, response(ADD, 0))
    bench.answer(ADD, t.AddPartitionsToTxnResponse([("t", 1, 0)]))
    assert bench.produces() == [(0, {0: [7]}), (0, {1: [8]})]
    bench.produced(E.MESSAGE_TOO_LARGE)
    bench.produced(E.INVALID_TIMESTAMP)
    assert (
        bench.kinds().count("transaction_failed") == 1
        and bench.state.transaction.error is E.MESSAGE_TOO_LARGE
    )
    assert bench.heard.failures == [("MESSAGE_TOO_LARGE", [7]), ("INVALID_TIMESTAMP", [8])]


# --- ids


@pytest.mark.parametrize("is_transactional", [False, True])
def test_a_new_id_makes_every_partition_begin_at_zero_and_the_first_one_of_all_keeps_what_is_numbered(
    is_transactional: bool,
) -> None:
    bench = asking(INIT) if is_transactional else Bench((0,), enable_idempotence=True)
    if is_transactional:
        bench.state.sequences.of(("t", 0)).next_sequence = 8
        bench.answer(INIT, response(INIT, 0))
        assert bench.state.sequences.partitions == {}
        return
    bench.send(1)
    assert bench.headers() == [(9, 3, 0)] and bench.state.sequences.of(("t", 0)).next_sequence == 1


def test_an_idempotent_producer_asks_whoever_is_there_for_its_id_until_one_gives_it() -> None:
    bench = Bench((0,), enable_idempotence=True)
    bench.state.transaction.phase = Phase.UNINITIALIZED
    bench.state.sequences.adopt(-1, -1)
    bench.send(1, now_us=SECOND)
    assert bench.produces() == [], "without an id nothing leaves"
    bench.answer(INIT, response(INIT, E.COORDINATOR_LOAD_IN_PROGRESS), SECOND)
    bench.wake(SECOND + 100 * MILLISECOND)
    bench.answer(INIT, response(INIT, 0), SECOND + 100 * MILLISECOND)
    assert bench.headers() == [(9, 3, 0)]


# --- several partitions


def test_partitions_that_were_added_let_their_batches_go_and_one_refusal_lets_none() -> None:
    bench = asking(ADD)
    bench.send(8, partition=1)
    bench.answer(ADD, response(ADD, 0))
    assert bench.produces() == [(0, {0: [7]})]
    results: list[tuple[str, int, int]] = [
        ("t", 1, E.OPERATION_NOT_ATTEMPTED),
        ("t", 2, E.COORDINATOR_LOAD_IN_PROGRESS),
    ]
    bench.answer(ADD, t.AddPartitionsToTxnResponse(results))
    assert bench.produces() == [(0, {0: [7]})] and list(bench.state.transaction.pending) == [("t", 1)]


def test_of_several_offsets_the_first_that_was_refused_decides() -> None:
    bench = asking(COMMIT_OFFSETS)
    rows = [
        m.PartitionResult(0, 0),
        m.PartitionResult(1, E.NOT_COORDINATOR),
        m.PartitionResult(2, E.PRODUCER_FENCED),
    ]
    bench.answer(COMMIT_OFFSETS, m.TxnOffsetCommitResponse([m.TopicResult("t", rows)]), SECOND)
    assert (
        bench.state.transaction.phase is Phase.IN_TRANSACTION
        and bench.state.transaction.group_coordinators == {}
    )


# --- connections


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_connection_that_breaks_with_the_question_means_to_look_for_the_coordinator_and_ask_again(
    kind: type,
) -> None:
    bench = asking(kind)
    (before,) = bench.waiting(kind)
    bench.breaks(1, SECOND)
    assert bench.state.transaction.asked == ""
    found = 0
    for step in range(1, 12):
        bench.wake(SECOND + step * 50 * MILLISECOND)
        for request, answer in (
            (r.MetadataRequest, bench.metadata()),
            (t.FindCoordinatorRequest, t.FindCoordinatorResponse(0, 1)),
        ):
            if bench.waiting(request):
                found += request is t.FindCoordinatorRequest
                bench.answer(request, answer, SECOND + step * 50 * MILLISECOND)
    assert bench.waiting(kind) == [before] and found == 1
