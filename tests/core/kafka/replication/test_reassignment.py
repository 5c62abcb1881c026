"""Moving a partition: who is added and who leaves, when a move can end, and what taking it back gives."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.partition_state import LeaderRecoveryState
from broker_core.kafka.replication.reassignment import Reassignment, completed, reassignment, reverted
from broker_core.kafka.replication.registration import PartitionChange, PartitionRegistration

BROKERS = st.lists(st.integers(1, 6), min_size=1, max_size=5, unique=True).map(tuple)


@pytest.mark.parametrize(
    ("current", "target", "replicas", "adding", "removing"),
    [
        ((1, 2, 3), (1, 2, 3), (1, 2, 3), (), ()),
        (
            (1, 2, 3),
            (3, 1, 2),
            (3, 1, 2),
            (),
            (),
        ),  # another order: the preferred leader is another one, nobody moves
        ((1, 2), (1, 2, 3), (1, 2, 3), (3,), ()),
        ((1, 2, 3), (2,), (2, 1, 3), (), (1, 3)),
        ((3, 2, 1), (5, 4), (5, 4, 1, 2, 3), (4, 5), (1, 2, 3)),
    ],
)
def test_a_move_from_some_replicas_to_others(
    current: tuple[int, ...],
    target: tuple[int, ...],
    replicas: tuple[int, ...],
    adding: tuple[int, ...],
    removing: tuple[int, ...],
) -> None:
    assert reassignment(current, target) == Reassignment(replicas, adding, removing)


MOVE = Reassignment((4, 2, 1, 3), (4,), (1, 3))


@pytest.mark.parametrize(
    ("isr", "ended"),
    [
        ((1, 2, 3), None),
        ((4, 1), None),  # 2 stays, and is not in sync
        ((2, 4), ((4, 2), (2, 4))),
        ((3, 2, 4, 1), ((4, 2), (2, 4))),  # in the order of the ISR
        ((1, 3), None),
        ((), None),
    ],
)
def test_a_move_ends_when_all_that_stay_are_in_sync(
    isr: tuple[int, ...], ended: tuple[tuple[int, ...], tuple[int, ...]] | None
) -> None:
    assert completed(MOVE, isr) == ended


def test_where_nobody_moves_nothing_ends() -> None:
    assert completed(Reassignment((1, 2), (), ()), (1, 2)) is None


def test_a_move_that_would_leave_nobody_does_not_end() -> None:
    assert completed(Reassignment((1, 2), (), (1, 2)), (1, 2)) is None


@pytest.mark.parametrize(
    ("isr", "replicas", "back_isr", "is_unclean"),
    [((1, 3, 4), (2, 1, 3), (1, 3), False), ((4,), (2, 1, 3), (2,), True)],
)
def test_taking_a_move_back_leaves_the_old_replicas_in_their_order(
    isr: tuple[int, ...], replicas: tuple[int, ...], back_isr: tuple[int, ...], is_unclean: bool
) -> None:
    moving = PartitionRegistration((4, 2, 1, 3), isr, isr[0], adding=(4,), removing=(1, 3))
    assert reverted(moving) == (replicas, back_isr, is_unclean)


def test_where_every_replica_is_being_added_there_is_nothing_to_go_back_to() -> None:
    with pytest.raises(Refused) as refused:
        reverted(PartitionRegistration((4, 5), (), -1, adding=(4, 5)))
    assert refused.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT


@settings(max_examples=50, deadline=None)
@given(BROKERS, BROKERS)
def test_law_a_move_can_be_taken_back_at_its_beginning_and_ends_at_its_target(
    current: tuple[int, ...], target: tuple[int, ...]
) -> None:
    move = reassignment(current, target)
    assert set(move.replicas) == {*current, *target} and len(move.replicas) == len(set(move.replicas))
    moving = PartitionRegistration(
        move.replicas, current, current[0], adding=move.adding, removing=move.removing
    )
    if moving.is_reassigning:
        assert set(reverted(moving).replicas) == set(current)
        assert completed(move, move.replicas) == (target, target)


# --- a registration and its changes


def test_the_leader_epoch_rises_with_every_change_that_names_a_leader_and_the_partition_epoch_with_every_one() -> (
    None
):
    was = PartitionRegistration((1, 2), (1, 2), 1, 5, 9)
    for change, leader_epoch in (
        (PartitionChange(isr=(1,)), 5),
        (PartitionChange(leader=1), 6),
        (PartitionChange(leader=-1), 6),
        (PartitionChange(replicas=(2, 1)), 5),
        (PartitionChange(leader_recovery_state=LeaderRecoveryState.RECOVERING), 5),
    ):
        now = was.merge(change)
        assert (now.leader_epoch, now.partition_epoch) == (leader_epoch, 10), change


def test_what_a_change_empties_is_empty_and_what_it_does_not_name_stays() -> None:
    was = PartitionRegistration((1, 2, 3), (1,), 1, adding=(3,), removing=(2,), elr=(2,), last_known_elr=(3,))
    now = was.merge(PartitionChange(isr=(), adding=(), elr=()))
    assert (now.isr, now.adding, now.removing, now.elr, now.last_known_elr, now.replicas) == (
        (),
        (),
        (2,),
        (),
        (3,),
        (1, 2, 3),
    )


def test_the_preferred_leader_is_the_first_of_the_assignment() -> None:
    assert PartitionRegistration((2, 1), (1, 2), 2).has_preferred_leader
    assert not PartitionRegistration((2, 1), (1, 2), 1).has_preferred_leader
    assert not PartitionRegistration((), (), -1).has_preferred_leader
