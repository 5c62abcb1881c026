"""Single changes of a partition: who leads, which epochs rise, when a reassignment ends."""

import pytest

from broker_core.kafka.replication.election import ChangeBuilder, Election, MetadataVersion
from broker_core.kafka.replication.partition_state import LeaderRecoveryState
from broker_core.kafka.replication.registration import PartitionChange, PartitionRegistration


def partition(isr: tuple[int, ...] = (1, 2, 3), leader: int = 1, **more: object) -> PartitionRegistration:
    return PartitionRegistration((1, 2, 3), isr, leader, 5, 10)._replace(**more)


def change(was: PartitionRegistration, *alive: int, **asked: object) -> PartitionChange | None:
    return ChangeBuilder(was, alive.__contains__, **asked).build()  # type: ignore[arg-type]


def test_a_leader_in_the_isr_and_alive_stays() -> None:
    assert change(partition(), 1, 2, 3) is None


def test_else_the_first_replica_of_the_assignment_that_is() -> None:
    assert change(partition(isr=(3, 2)), 2, 3) == PartitionChange(leader=2)


def test_without_anybody_there_is_no_leader_and_the_isr_stays() -> None:
    assert change(partition(isr=(3,), leader=3), isr=()) == PartitionChange(leader=-1)


def test_an_unclean_leader_is_alone_in_the_isr_and_recovering() -> None:
    was = partition(isr=(3,), leader=-1)
    assert change(was, 1, 2) is None
    assert change(was, 2, 1, election=Election.UNCLEAN) == PartitionChange(
        1, (1,), LeaderRecoveryState.RECOVERING
    )


def test_a_preferred_election_takes_the_first_replica_then_the_leader() -> None:
    assert change(partition(leader=3), 1, 3, election=Election.PREFERRED) == PartitionChange(leader=1)
    assert change(partition(leader=3), 2, 3, election=Election.PREFERRED) is None
    assert change(partition(leader=3), 2, election=Election.PREFERRED) == PartitionChange(leader=2)


@pytest.mark.parametrize(("version", "epoch"), [("3.9-IV0", 5), ("3.6-IV0", 5), ("3.5-IV2", 6)])
def test_a_shrink_raised_the_leader_epoch_before_3_6_and_an_expansion_never_did(
    version: str, epoch: int
) -> None:
    spoken = MetadataVersion.of(version)
    shrink = change(partition(), 1, 2, 3, isr=(1, 2), metadata_version=spoken)
    assert shrink is not None
    smaller = partition().merge(shrink)
    assert (smaller.isr, smaller.leader_epoch, smaller.partition_epoch) == ((1, 2), epoch, 11)
    back = change(smaller, 1, 2, 3, isr=(1, 2, 3), metadata_version=spoken)
    assert back == PartitionChange(isr=(1, 2, 3))


def test_a_reassignment_ends_when_the_replicas_that_stay_are_in_sync() -> None:
    moving = partition(isr=(1, 2), replicas=(4, 2, 1), adding=(4,), removing=(1,))
    assert change(moving, 1, 2, 4) is None
    ended = change(moving, 1, 2, 4, isr=(1, 2, 4))
    assert ended == PartitionChange(leader=4, isr=(2, 4), replicas=(4, 2), adding=(), removing=())


def test_the_epoch_of_the_same_leader_rises_when_a_replica_is_taken_out() -> None:
    assert change(partition(), 1, 2, 3, replicas=(1, 2), isr=(1, 2)) == PartitionChange(
        leader=1, isr=(1, 2), replicas=(1, 2)
    )


def test_eligible_leader_replicas_take_those_that_leave_an_isr_below_the_minimum() -> None:
    with_elr = {"metadata_version": MetadataVersion(4), "is_elr_enabled": True, "min_isr": 2}
    was = partition(isr=(1, 2))
    left = change(was, 1, 3, isr=(1,), **with_elr)
    assert left == PartitionChange(isr=(1,), elr=(2,))
    alone = was.merge(left)
    gone = change(alone, isr=(), **with_elr)
    assert gone == PartitionChange(leader=-1, isr=(), elr=(1, 2), last_known_elr=(1,))
    back = change(alone.merge(gone), 2, **with_elr)
    assert back == PartitionChange(leader=2, isr=(2,), elr=(1,), last_known_elr=())
