"""Eligible leader replicas (KIP-966, metadata version 4.0): who may lead outside the ISR, and the last known
leader when nobody is left."""

from typing import Any

import pytest

from broker_core.kafka.replication.election import METADATA_3_9, ChangeBuilder, Election, MetadataVersion
from broker_core.kafka.replication.partition_state import LeaderRecoveryState
from broker_core.kafka.replication.registration import PartitionChange, PartitionRegistration

RECOVERING = LeaderRecoveryState.RECOVERING
V4 = MetadataVersion(4)


def partition(isr: tuple[int, ...], leader: int, **more: Any) -> PartitionRegistration:
    return PartitionRegistration((1, 2, 3), isr, leader, 5, 10)._replace(**more)


def change(was: PartitionRegistration, *alive: int, min_isr: int = 2, **asked: Any) -> PartitionChange | None:
    return ChangeBuilder(was, alive.__contains__, V4, min_isr=min_isr, is_elr_enabled=True, **asked).build()


# --- who is eligible


def test_while_the_isr_has_enough_members_nobody_else_is_eligible() -> None:
    assert change(partition((1, 2, 3), 1), 1, 2, isr=(1, 2)) == PartitionChange(isr=(1, 2))


def test_below_the_minimum_those_that_leave_stay_eligible_in_the_order_of_their_ids() -> None:
    left = change(partition((3, 2, 1), 3), 3, isr=(3,), min_isr=3)
    assert left == PartitionChange(isr=(3,), elr=(1, 2))


def test_who_comes_back_into_the_isr_is_not_eligible_beside_it() -> None:
    was = partition((1,), 1, elr=(2, 3))
    assert change(was, 1, 2, isr=(1, 2), min_isr=3) == PartitionChange(isr=(1, 2), elr=(3,))


def test_with_enough_in_the_isr_again_nobody_is_eligible_any_more() -> None:
    assert change(partition((1,), 1, elr=(2, 3)), 1, 2, isr=(1, 2)) == PartitionChange(isr=(1, 2), elr=())


def test_a_broker_that_came_back_without_a_clean_shutdown_is_not_eligible() -> None:
    was = partition((1,), 1, elr=(2, 3))
    assert change(was, 1, 3, unclean_shutdown=(2,)) == PartitionChange(elr=(3,))


def test_without_the_feature_an_isr_never_becomes_empty_and_nobody_is_eligible() -> None:
    was = partition((1,), 1)
    off = ChangeBuilder(was, (2,).__contains__, METADATA_3_9, min_isr=2, isr=()).build()
    assert off == PartitionChange(leader=-1)
    on = change(was, 2, isr=())
    assert on == PartitionChange(leader=-1, isr=(), elr=(1,), last_known_elr=(1,))


# --- who is elected


def test_an_eligible_replica_leads_when_the_isr_is_empty_and_is_alone_in_it_then() -> None:
    was = partition((), -1, elr=(3, 2))
    assert change(was, 2, 3) == PartitionChange(leader=2, isr=(2,), elr=(3,)), (
        "the first of the assignment that is eligible"
    )


def test_an_eligible_replica_does_not_lead_while_the_isr_has_somebody_though_nobody_of_it_is_alive() -> None:
    assert change(partition((1,), 1, elr=(2,)), 2, isr=(1,)) == PartitionChange(leader=-1)


def test_a_leader_out_of_the_eligible_ones_loses_nothing_and_does_not_recover() -> None:
    found = change(partition((), -1, elr=(2,)), 2, election=Election.UNCLEAN)
    assert found is not None and found.leader_recovery_state is None and found.leader == 2


def test_an_unclean_leader_comes_after_the_eligible_ones() -> None:
    was = partition((), -1, elr=(3,))
    assert change(was, 1, 3, election=Election.UNCLEAN) == PartitionChange(leader=3, isr=(3,), elr=())
    assert change(was, 1, 2, election=Election.UNCLEAN) == PartitionChange(
        leader=1, isr=(1,), leader_recovery_state=RECOVERING, elr=()
    )


# --- the last known leader


def test_the_last_known_leader_is_elected_alive_or_not_when_nobody_is_eligible() -> None:
    was = partition((), -1, last_known_elr=(3,))
    expected = PartitionChange(leader=3, isr=(3,), leader_recovery_state=RECOVERING, last_known_elr=())
    assert change(was) == change(was, 1, 2, 3) == expected


@pytest.mark.parametrize("more", [{"elr": (2,)}, {"last_known_elr": (2, 3)}, {"last_known_elr": ()}])
def test_it_is_not_elected_where_somebody_is_eligible_or_it_is_not_one_alone(
    more: dict[str, tuple[int, ...]],
) -> None:
    was = partition((), -1, **{"last_known_elr": (3,), **more})
    assert change(was) is None


def test_whoever_leads_makes_the_last_known_leader_forgotten() -> None:
    was = partition((), -1, elr=(2,), last_known_elr=(1,))
    assert change(was, 2) == PartitionChange(leader=2, isr=(2,), elr=(), last_known_elr=())


def test_without_the_last_known_leader_all_who_were_last_are_kept_instead() -> None:
    was = partition((1,), 1, elr=(2,))
    found = change(was, isr=(), unclean_shutdown=(1, 2), uses_last_known_leader=False)
    assert found == PartitionChange(leader=-1, isr=(), elr=(), last_known_elr=(1, 2))


# --- versions of the metadata


@pytest.mark.parametrize(
    ("text", "recovery", "raises", "elr"),
    [
        ("3.1-IV0", False, True, False),
        ("3.2-IV0", True, True, False),
        ("3.5-IV2", True, True, False),
        ("3.6-IV0", True, False, False),
        ("3.9", True, False, False),
        ("4.0-IV0", True, False, True),
    ],
)
def test_what_a_metadata_version_brings(text: str, recovery: bool, raises: bool, elr: bool) -> None:
    spoken = MetadataVersion.of(text)
    assert (spoken.has_leader_recovery, spoken.shrink_raises_leader_epoch, spoken.has_elr) == (
        recovery,
        raises,
        elr,
    )


def test_before_3_2_an_unclean_leader_was_not_known_to_recover() -> None:
    was = PartitionRegistration((1, 2), (1,), -1)
    unclean = ChangeBuilder(was, (2,).__contains__, MetadataVersion.of("3.1-IV0"), Election.UNCLEAN).build()
    assert unclean == PartitionChange(leader=2, isr=(2,))


def test_a_leader_that_recovers_already_is_not_told_so_again() -> None:
    was = PartitionRegistration((1, 2, 3), (1,), -1, leader_recovery_state=RECOVERING)
    unclean = ChangeBuilder(was, (2,).__contains__, election=Election.UNCLEAN).build()
    assert unclean == PartitionChange(leader=2, isr=(2,))


# --- what else a change may hold


@pytest.mark.parametrize("state", [None, LeaderRecoveryState.RECOVERED])
def test_a_recovery_state_that_holds_already_is_no_change(state: LeaderRecoveryState | None) -> None:
    was = PartitionRegistration((1, 2), (1,), 1)
    assert ChangeBuilder(was, (1,).__contains__, leader_recovery_state=state).build() is None
    recovering = was._replace(leader_recovery_state=RECOVERING)
    done = ChangeBuilder(
        recovering, (1,).__contains__, leader_recovery_state=LeaderRecoveryState.RECOVERED
    ).build()
    assert done == PartitionChange(leader_recovery_state=LeaderRecoveryState.RECOVERED)


def test_a_shrink_by_which_the_leader_changes_raises_its_epoch_once() -> None:
    was = PartitionRegistration((1, 2), (1, 2), 1, 5, 10)
    old = ChangeBuilder(was, (2,).__contains__, MetadataVersion.of("3.5-IV2"), isr=(2,)).build()
    assert old == PartitionChange(leader=2, isr=(2,)) and was.merge(old).leader_epoch == 6


def test_a_move_that_only_adds_keeps_the_leader_epoch_until_it_ends() -> None:
    was = PartitionRegistration((1, 2), (1, 2), 1, 5, 10)
    begun = ChangeBuilder(was, (1, 2, 3).__contains__, replicas=(1, 2, 3), adding=(3,)).build()
    assert begun == PartitionChange(replicas=(1, 2, 3), adding=(3,))
    ended = ChangeBuilder(was.merge(begun), (1, 2, 3).__contains__, isr=(1, 2, 3)).build()
    assert ended == PartitionChange(isr=(1, 2, 3), adding=())


def test_a_preferred_election_without_anybody_in_the_isr_elects_nobody() -> None:
    was = PartitionRegistration((1, 2), (2,), -1)
    assert ChangeBuilder(was, (1,).__contains__, election=Election.PREFERRED).build() is None
