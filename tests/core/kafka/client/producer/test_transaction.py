"""A transaction's own state: what may be ordered when, and which request is next. Source:
TransactionManager.State, nextRequest, Priority."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError, InvariantError
from broker_core.kafka.client.producer.states import TRANSITIONS, Phase, Step
from broker_core.kafka.client.producer.transaction import GroupOffsets, Transaction
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.group import messages as m

P, Q = ("t", 0), ("t", 1)
ORDERS = (Step.INIT, Step.BEGIN, Step.COMMIT, Step.ABORT)


def at(phase: Phase, **fields: object) -> Transaction:
    transaction = Transaction(phase=phase, coordinator=4)
    for name, value in fields.items():
        setattr(transaction, name, value)
    return transaction


def offsets(*rows: tuple[str, int, int], group: str = "g", is_added: bool = False) -> GroupOffsets:
    return GroupOffsets(group, 2, "member", list(rows), is_added)


def asks(
    transaction: Transaction, *, transactional_id: str | None = "tx", has_incomplete: bool = False
) -> object:
    return transaction.next_request(transactional_id, 60_000, (9, 3), has_incomplete=has_incomplete)


# --- what may be ordered when


ALLOWED = {
    Phase.UNINITIALIZED: {Step.INIT},
    Phase.INITIALIZING: set[Step](),
    Phase.READY: {Step.BEGIN},
    Phase.IN_TRANSACTION: {Step.COMMIT, Step.ABORT},
    Phase.COMMITTING: set[Step](),
    Phase.ABORTING: set[Step](),
    Phase.ABORTABLE_ERROR: {Step.ABORT},
    Phase.FATAL_ERROR: set[Step](),
}


@pytest.mark.parametrize("phase", Phase, ids=lambda phase: phase.value)
@pytest.mark.parametrize("step", ORDERS, ids=lambda step: step.value)
def test_an_application_may_order_what_the_original_lets_it_and_a_refusal_changes_nothing(
    phase: Phase, step: Step
) -> None:
    transaction = at(
        phase,
        error=ErrorCode.PRODUCER_FENCED,
        new={P: None},
        pending={Q: None},
        offsets=[offsets(("t", 0, 1))],
    )
    if step in ALLOWED[phase]:
        transaction.order(step)
        assert transaction.phase is TRANSITIONS[phase, step]
        return
    with pytest.raises(CommandError) as refused:
        transaction.order(step)
    assert refused.value.field == "order" and transaction.new and transaction.pending and transaction.offsets
    expected = (
        "failed for good: PRODUCER_FENCED"
        if phase is Phase.FATAL_ERROR
        else f"cannot {step.value} while it is {phase.value}"
    )
    assert expected in refused.value.reason


@pytest.mark.parametrize(("phase", "kept"), [(Phase.IN_TRANSACTION, [Q]), (Phase.ABORTABLE_ERROR, [])])
def test_an_abort_drops_what_was_not_asked_for_and_after_an_error_also_what_was_being_asked(
    phase: Phase, kept: list[object]
) -> None:
    transaction = at(phase, new={P: None}, pending={Q: None}, offsets=[offsets(("t", 0, 1))])
    transaction.order(Step.ABORT)
    assert (transaction.new, transaction.offsets, list(transaction.pending)) == ({}, [], kept)


def test_a_commit_keeps_what_still_has_to_be_asked_for() -> None:
    transaction = at(Phase.IN_TRANSACTION, new={P: None}, offsets=[offsets(("t", 0, 1))])
    transaction.order(Step.COMMIT)
    assert list(transaction.new) == [P] and len(transaction.offsets) == 1


def test_a_step_that_the_table_does_not_have_is_our_own_mistake() -> None:
    for phase, step in (
        (Phase.READY, Step.ENDED),
        (Phase.UNINITIALIZED, Step.ABORTABLE),
        (Phase.INITIALIZING, Step.BUMP),
    ):
        with pytest.raises(InvariantError):
            at(phase).step(step)


def test_the_first_abortable_error_is_the_one_that_is_remembered_and_the_abort_forgets_it() -> None:
    transaction, errors = at(Phase.IN_TRANSACTION), []
    for step, error in (
        (Step.ABORTABLE, ErrorCode.MESSAGE_TOO_LARGE),
        (Step.ABORTABLE, ErrorCode.REQUEST_TIMED_OUT),
        (Step.ABORT, ErrorCode.NONE),
        (Step.FATAL, ErrorCode.PRODUCER_FENCED),
    ):
        transaction.step(step, error)
        errors.append(transaction.error.name)
    assert errors == ["MESSAGE_TOO_LARGE", "MESSAGE_TOO_LARGE", "NONE", "PRODUCER_FENCED"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(list(Step)), max_size=20))
def test_law_out_of_a_fatal_error_nothing_leads(steps: list[Step]) -> None:
    transaction, was_fatal = Transaction(), False
    for step in steps:
        if (transaction.phase, step) in TRANSITIONS:
            transaction.step(step)
        was_fatal = was_fatal or step is Step.FATAL
        assert (transaction.phase is Phase.FATAL_ERROR) is was_fatal


# --- partitions


def test_a_partition_is_new_once_until_the_transaction_is_over() -> None:
    transaction = at(Phase.IN_TRANSACTION, pending={P: None}, added={Q: None})
    for partition in (P, Q, ("t", 2), ("t", 2)):
        transaction.add(partition)
    assert list(transaction.new) == [("t", 2)]


@pytest.mark.parametrize(("is_bump_required", "phase"), [(False, Phase.READY), (True, Phase.INITIALIZING)])
def test_when_it_is_over_nothing_of_it_is_left(is_bump_required: bool, phase: Phase) -> None:
    transaction = at(
        Phase.ABORTING,
        new={P: None},
        pending={P: None},
        added={Q: None},
        offsets=[offsets()],
        is_started=True,
        is_id_lost=True,
        group_coordinators={"g": 2},
    )
    transaction.over(is_bump_required=is_bump_required)
    assert transaction == Transaction(phase=phase, coordinator=4, group_coordinators={"g": 2}), (
        "whom it asked it still knows"
    )


# --- which request is next


def test_without_a_transactional_id_any_broker_gives_an_id_and_nothing_else_is_asked() -> None:
    for phase in Phase:
        expected = (None, t.InitProducerIdRequest()) if phase is Phase.INITIALIZING else None
        assert asks(at(phase, new={P: None}), transactional_id=None, has_incomplete=True) == expected


@pytest.mark.parametrize(
    "phase", [Phase.UNINITIALIZED, Phase.READY, Phase.ABORTABLE_ERROR, Phase.FATAL_ERROR]
)
def test_at_rest_and_in_error_nothing_is_asked(phase: Phase) -> None:
    assert asks(at(phase, new={P: None}, offsets=[offsets()])) is None


def test_without_a_coordinator_any_broker_is_asked_for_it_first() -> None:
    find = (None, t.FindCoordinatorRequest("tx", t.TRANSACTION))
    assert asks(at(Phase.INITIALIZING, coordinator=-1)) == find
    assert asks(at(Phase.IN_TRANSACTION, coordinator=-1, new={P: None})) == find
    assert asks(at(Phase.IN_TRANSACTION, coordinator=-1)) is None, "with nothing to ask nobody is looked for"
    assert asks(at(Phase.INITIALIZING, coordinator=0)) == (0, t.InitProducerIdRequest("tx", 60_000, 9, 3))


def test_partitions_come_before_offsets_and_offsets_before_the_end() -> None:
    transaction = at(
        Phase.COMMITTING, new={P: None}, offsets=[offsets(("t", 0, 7))], group_coordinators={"g": 6}
    )
    assert asks(transaction) == (4, t.AddPartitionsToTxnRequest("tx", 9, 3, [P]))
    transaction.pending.clear()
    assert asks(transaction) == (4, t.AddOffsetsToTxnRequest("tx", 9, 3, "g"))
    transaction.offsets[0].is_added = True
    assert asks(transaction) == (
        6,
        m.TxnOffsetCommitRequest(
            "tx", "g", 9, 3, [m.CommittedTopic("t", [m.CommittedPartition(0, 7)])], 2, "member"
        ),
    )
    transaction.offsets.clear()
    assert asks(transaction) == (4, t.EndTxnRequest("tx", 9, 3, True))


def test_what_was_asked_and_not_answered_is_asked_again_with_what_came_since() -> None:
    transaction = at(Phase.IN_TRANSACTION, new={P: None})
    asks(transaction)
    transaction.add(Q)
    assert asks(transaction) == (4, t.AddPartitionsToTxnRequest("tx", 9, 3, [P, Q]))


def test_the_group_s_coordinator_is_looked_for_by_the_group_s_name_and_is_not_the_transaction_s() -> None:
    transaction = at(Phase.IN_TRANSACTION, coordinator=-1, offsets=[offsets(("t", 0, 7), is_added=True)])
    assert asks(transaction) == (None, t.FindCoordinatorRequest("g", t.GROUP))


def test_offsets_of_several_topics_travel_in_one_request_and_of_several_groups_in_one_each() -> None:
    rows = offsets(("t", 0, 7), ("u", 3, 1), ("t", 1, 8), is_added=True)
    transaction = at(
        Phase.IN_TRANSACTION, offsets=[rows, offsets(("t", 0, 1), group="h")], group_coordinators={"g": 6}
    )
    found = asks(transaction)
    assert isinstance(found, tuple)
    assert {
        topic.name: [(part.partition_index, part.committed_offset) for part in topic.partitions]
        for topic in found[1].topics
    } == {"t": [(0, 7), (1, 8)], "u": [(3, 1)]}
    transaction.offsets.pop(0)
    assert asks(transaction) == (4, t.AddOffsetsToTxnRequest("tx", 9, 3, "h"))


@pytest.mark.parametrize(("phase", "is_commit"), [(Phase.COMMITTING, True), (Phase.ABORTING, False)])
def test_the_end_waits_until_every_batch_is_decided(phase: Phase, is_commit: bool) -> None:
    assert asks(at(phase), has_incomplete=True) is None
    assert asks(at(phase)) == (4, t.EndTxnRequest("tx", 9, 3, is_commit))
    assert asks(at(Phase.IN_TRANSACTION)) is None
