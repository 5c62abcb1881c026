"""The controller: send this, expect that."""

import pytest

from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.controller.controller import Controller, NewLeaderElected
from broker_core.kafka.controller.records import BrokerChangeRecord, PartitionChangeRecord
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.election import Election
from broker_core.kafka.replication.partition_state import AlterPartitionRequest, LeaderRecoveryState
from broker_core.kafka.replication.registration import PartitionChange, PartitionRegistration

T0 = ("t", 0)
SESSION_MS = 9_000


def cluster(
    *assignments: list[int], brokers: int = 3, min_isr: int = 1, allows_unclean_election: bool = False
) -> Controller:
    """Brokers 1 to 3 with epochs 101 to 103, unfenced; topic t."""
    controller = Controller(JavaRandom.seeded(1))
    for broker in range(1, brokers + 1):
        controller.register_broker(broker, 100 + broker, 0)
        controller.heartbeat(broker, 100 + broker, 0)
    given = assignments or ([1, 2, 3],)
    controller.create_topic_at(
        "t", given, min_insync_replicas=min_isr, allows_unclean_election=allows_unclean_election
    )
    return controller


def partition(controller: Controller) -> PartitionRegistration:
    return controller.topics["t"].partitions[0]


def beat(controller: Controller, broker: int, now_ms: int = 0, **wants: bool) -> None:
    controller.heartbeat(broker, controller.brokers[broker].epoch, now_ms, **wants)


def isr_request(partition_epoch: int, *members: int, leader_epoch: int = 0) -> AlterPartitionRequest:
    return AlterPartitionRequest(
        leader_epoch, partition_epoch, tuple((member, 100 + member) for member in members)
    )


def code(refused: pytest.ExceptionInfo[Refused]) -> ErrorCode:
    return refused.value.code


def test_a_broker_is_fenced_until_its_first_heartbeat() -> None:
    controller = Controller(JavaRandom.seeded(1))
    controller.register_broker(1, 101, 0)
    assert not controller.is_active(1)
    reply, records = controller.heartbeat(1, 101, 0)
    assert (reply.is_fenced, records, controller.is_active(1)) == (
        False,
        [BrokerChangeRecord(1, is_fenced=False)],
        True,
    )
    with pytest.raises(Refused) as refused:
        controller.heartbeat(1, 100, 0)
    assert code(refused) is ErrorCode.STALE_BROKER_EPOCH
    with pytest.raises(Refused) as refused:
        controller.register_broker(1, 102, 0)
    assert code(refused) is ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_a_silent_broker_is_fenced_after_more_than_the_session_timeout() -> None:
    controller = cluster()
    for broker in (2, 3):
        beat(controller, broker, 5_000)
    assert controller.fence_stale_broker(SESSION_MS) == []
    records = controller.fence_stale_broker(SESSION_MS + 1)
    assert records == [
        PartitionChangeRecord(T0, PartitionChange(leader=2, isr=(2, 3))),
        BrokerChangeRecord(1, is_fenced=True),
    ]
    assert (partition(controller).leader_epoch, partition(controller).partition_epoch) == (1, 1)


def test_the_last_member_stays_in_the_isr_without_a_leader_and_leads_again_when_it_comes_back() -> None:
    controller = cluster()
    for broker in (1, 2, 3):
        beat(controller, broker, wants_fence=True)
    assert (partition(controller).leader, partition(controller).isr, partition(controller).leader_epoch) == (
        -1,
        (3,),
        3,
    )
    beat(controller, 1)
    assert partition(controller).leader == -1, "it is not in the ISR"
    beat(controller, 3)
    assert (partition(controller).leader, partition(controller).isr, partition(controller).leader_epoch) == (
        3,
        (3,),
        4,
    )


def test_with_unclean_election_somebody_leads_and_records_may_be_lost() -> None:
    controller = cluster(allows_unclean_election=True)
    for broker in (1, 2, 3):
        beat(controller, broker, wants_fence=True)
    beat(controller, 2)
    assert (partition(controller).leader, partition(controller).isr) == (2, (2,))
    assert partition(controller).leader_recovery_state is LeaderRecoveryState.RECOVERING


def test_an_unclean_election_by_request() -> None:
    controller = cluster([1, 2])
    beat(controller, 2, wants_fence=True)
    beat(controller, 1, wants_fence=True)
    with pytest.raises(Refused) as refused:
        controller.elect_leader(T0, Election.UNCLEAN, 0)
    assert code(refused) is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    beat(controller, 2)
    controller.elect_leader(T0, Election.UNCLEAN, 0)
    assert (partition(controller).leader, partition(controller).isr) == (2, (2,))


def test_leadership_comes_back_only_by_a_preferred_election() -> None:
    controller = cluster()
    beat(controller, 1, wants_fence=True)
    beat(controller, 1)
    assert (partition(controller).leader, partition(controller).isr) == (2, (2, 3))
    with pytest.raises(Refused) as refused:
        controller.elect_leader(T0, Election.PREFERRED, 0)
    assert code(refused) is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    controller.alter_partition(2, 102, T0, isr_request(1, 2, 3, 1, leader_epoch=1), 0)
    assert controller.balance_leaders(0) == [PartitionChangeRecord(T0, PartitionChange(leader=1))]
    with pytest.raises(Refused) as refused:
        controller.elect_leader(T0, Election.PREFERRED, 0)
    assert code(refused) is ErrorCode.ELECTION_NOT_NEEDED


def test_controlled_shutdown_gives_away_what_it_leads_and_then_lets_go() -> None:
    controller = cluster([1, 2])
    controller.create_topic_at("u", [[1]])
    reply, _ = controller.heartbeat(1, 101, 0, wants_shutdown=True)
    assert (reply.is_in_controlled_shutdown, reply.should_shut_down) == (True, False)
    assert (partition(controller).leader, partition(controller).isr) == (2, (2,))
    alone = controller.topics["u"].partitions[0]
    assert (alone.leader, alone.isr) == (-1, (1,))
    reply, _ = controller.heartbeat(1, 101, 0, wants_shutdown=True)
    assert (reply.should_shut_down, reply.is_fenced) == (True, True)


def test_a_broker_that_left_may_not_join_an_isr_before_it_registers_again() -> None:
    controller = cluster([1, 2])
    for _ in range(2):
        beat(controller, 1, wants_shutdown=True)
    beat(controller, 1)
    assert not controller.brokers[1].is_fenced
    with pytest.raises(Refused) as refused:
        controller.alter_partition(2, 102, T0, isr_request(1, 2, 1, leader_epoch=1), 0)
    assert code(refused) is ErrorCode.INELIGIBLE_REPLICA


@pytest.mark.parametrize(
    ("broker", "request_", "error"),
    [
        (1, isr_request(0, 1, 2, leader_epoch=1), ErrorCode.NOT_CONTROLLER),
        (1, isr_request(3, 1, 2), ErrorCode.NOT_CONTROLLER),
        (1, isr_request(0, 1, 2, leader_epoch=-1), ErrorCode.FENCED_LEADER_EPOCH),
        (2, isr_request(0, 1, 2), ErrorCode.INVALID_REQUEST),
        (1, isr_request(-1, 1, 2), ErrorCode.INVALID_UPDATE_VERSION),
        (1, isr_request(0, 1, 9), ErrorCode.INVALID_REQUEST),
        (1, isr_request(0, 2, 3), ErrorCode.INVALID_REQUEST),
        (1, isr_request(0, 1, 1), ErrorCode.INVALID_REQUEST),
        (
            1,
            isr_request(0, 1)._replace(leader_recovery_state=LeaderRecoveryState.RECOVERING),
            ErrorCode.INVALID_REQUEST,
        ),
        (1, isr_request(0)._replace(isr=((1, 101), (2, 77))), ErrorCode.INELIGIBLE_REPLICA),
    ],
)
def test_alter_partition_is_refused_by_the_first_check_that_fails(
    broker: int, request_: AlterPartitionRequest, error: ErrorCode
) -> None:
    controller = cluster()
    before = partition(controller)
    with pytest.raises(Refused) as refused:
        controller.alter_partition(broker, 100 + broker, T0, request_, 0)
    assert (code(refused), partition(controller)) == (error, before)


def test_the_same_isr_again_is_no_change() -> None:
    controller = cluster()
    now, records = controller.alter_partition(1, 101, T0, isr_request(0, 1, 2, 3), 0)
    assert (now.partition_epoch, records) == (0, [])
    now, records = controller.alter_partition(1, 101, T0, isr_request(0, 1, 2), 0)
    assert (now.partition_epoch, now.isr, now.leader_epoch, len(records)) == (1, (1, 2), 0, 1)


def test_a_reassignment_ends_with_the_isr_and_tells_a_leader_that_had_to_go() -> None:
    controller = cluster([1, 2])
    controller.reassign(T0, [2, 3], 0)
    moving = partition(controller)
    assert (moving.replicas, moving.adding, moving.removing, moving.leader) == ((2, 3, 1), (3,), (1,), 1)
    with pytest.raises(NewLeaderElected) as elected:
        controller.alter_partition(1, 101, T0, isr_request(1, 1, 2, 3), 0)
    assert (elected.value.code, len(elected.value.records)) == (ErrorCode.NEW_LEADER_ELECTED, 1)
    ended = partition(controller)
    assert (ended.replicas, ended.isr, ended.leader, ended.is_reassigning) == ((2, 3), (2, 3), 2, False)


def test_a_reassignment_is_taken_back() -> None:
    controller = cluster([1, 2])
    with pytest.raises(Refused) as refused:
        controller.reassign(T0, None, 0)
    assert code(refused) is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    controller.reassign(T0, [3], 0)
    controller.reassign(T0, None, 0)
    assert partition(controller)[:3] == ((1, 2), (1, 2), 1)
    assert not partition(controller).is_reassigning


@pytest.mark.parametrize("replicas", [[], [1, 1], [1, 9]])
def test_an_assignment_that_cannot_be_is_refused(replicas: list[int]) -> None:
    controller = cluster()
    with pytest.raises(Refused) as refused:
        controller.reassign(T0, replicas, 0)
    assert code(refused) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    with pytest.raises(Refused) as refused:
        controller.create_topic_at("u", [replicas])
    assert code(refused) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert "u" not in controller.topics


def test_a_new_topics_replicas_are_placed_and_those_that_are_active_are_in_sync() -> None:
    controller = cluster()
    beat(controller, 3, wants_fence=True)
    controller.create_topic("u", 6, 3)
    made = controller.topics["u"].partitions
    assert all(
        sorted(each.replicas) == [1, 2, 3] and sorted(each.isr) == [1, 2] and each.leader == each.isr[0]
        for each in made
    )
    with pytest.raises(Refused) as refused:
        controller.create_topic("v", 0, 1)
    assert code(refused) is ErrorCode.INVALID_PARTITIONS
    for factor in (0, 4):
        with pytest.raises(Refused) as refused:
            controller.create_topic("v", 1, factor)
        assert code(refused) is ErrorCode.INVALID_REPLICATION_FACTOR
    with pytest.raises(Refused) as refused:
        controller.create_topic("u", 1, 1)
    assert code(refused) is ErrorCode.TOPIC_ALREADY_EXISTS


def test_an_unregistered_broker_leads_nothing_and_is_unknown() -> None:
    controller = cluster()
    controller.unregister_broker(1, 0)
    assert (partition(controller).leader, partition(controller).isr, 1 in controller.brokers) == (
        2,
        (2, 3),
        False,
    )
    with pytest.raises(Refused) as refused:
        controller.unregister_broker(1, 0)
    assert code(refused) is ErrorCode.BROKER_ID_NOT_REGISTERED
    with pytest.raises(Refused) as refused:
        controller.elect_leader(("t", 7), Election.PREFERRED, 0)
    assert code(refused) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
