"""The controller and its topics: making and growing them, elections by request and by round, moves, and that
a refusal changes nothing."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.controller.controller import Controller, NewLeaderElected
from broker_core.kafka.controller.records import PartitionChangeRecord, PartitionRecord, Record
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.election import Election
from broker_core.kafka.replication.partition_state import AlterPartitionRequest, LeaderRecoveryState
from broker_core.kafka.replication.registration import PartitionChange, PartitionRegistration
from broker_core.plain import to_plain

T0 = ("t", 0)


def cluster(*assignments: list[int], brokers: int = 4, allows_unclean: bool = False) -> Controller:
    """Brokers from 1 on, unfenced; topic t."""
    controller = Controller(JavaRandom.seeded(1))
    for broker in range(1, brokers + 1):
        controller.register_broker(broker, 100 + broker, 0)
        beat(controller, broker)
    if assignments:
        controller.create_topic_at("t", assignments, allows_unclean_election=allows_unclean)
    return controller


def beat(controller: Controller, broker: int, **wants: bool) -> None:
    controller.heartbeat(broker, 100 + broker, 0, **wants)


def fence(controller: Controller, *brokers: int) -> None:
    for broker in brokers:
        beat(controller, broker, wants_fence=True)


def part(controller: Controller, number: int = 0, topic: str = "t") -> PartitionRegistration:
    return controller.topics[topic].partitions[number]


def alter(controller: Controller, broker: int, *members: int, number: int = 0) -> list[Record]:
    now = part(controller, number)
    request = AlterPartitionRequest(
        now.leader_epoch, now.partition_epoch, tuple((member, 100 + member) for member in members)
    )
    return controller.alter_partition(broker, 100 + broker, ("t", number), request, 0)[1]


def refusal(controller: Controller, act: Callable[[], object]) -> ErrorCode:
    """Why that was refused; everything is unchanged."""
    before = to_plain(controller)
    with pytest.raises(Refused) as refused:
        act()
    assert to_plain(controller) == before
    return refused.value.code


# --- making topics


def test_a_topic_with_given_replicas_is_led_by_the_first_of_them_that_is_active() -> None:
    controller = cluster()
    fence(controller, 2)
    records = controller.create_topic_at("u", [[2, 1, 3], [1, 2, 3]], min_insync_replicas=2)
    assert records == [
        PartitionRecord(("u", 0), PartitionRegistration((2, 1, 3), (1, 3), 1)),
        PartitionRecord(("u", 1), PartitionRegistration((1, 2, 3), (1, 3), 1)),
    ]
    assert controller.topics["u"].min_insync_replicas == 2


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda each: each.create_topic_at("t", [[1]]), ErrorCode.TOPIC_ALREADY_EXISTS),
        (
            lambda each: each.create_topic("t", 1, 9),
            ErrorCode.TOPIC_ALREADY_EXISTS,
        ),  # before anything is drawn
        (lambda each: each.create_topic("u", -1, 1), ErrorCode.INVALID_PARTITIONS),
        (lambda each: each.create_topic_at("u", []), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (lambda each: each.create_topic_at("u", [[1, 2], [3]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (lambda each: each.create_topic_at("u", [[3, 4], [4, 4]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (lambda each: each.create_partitions("t", 2, [[1, 2], [2, 1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (lambda each: each.create_partitions("t", 3, [[1, 2]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (lambda each: each.create_partitions("t", 2, [[1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (lambda each: each.create_partitions("t", 2, [[1, 9]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (lambda each: each.create_partitions("t", 1), ErrorCode.INVALID_PARTITIONS),
        (lambda each: each.create_partitions("x", 1), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (lambda each: each.reassign(("t", 1), [1], 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (lambda each: each.reassign(("t", -1), [1], 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (lambda each: each.reassign(T0, [1, 9], 0), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (lambda each: each.reassign(T0, None, 0), ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
        (lambda each: each.elect_leader(("x", 0), Election.UNCLEAN, 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (lambda each: each.elect_leader(T0, Election.UNCLEAN, 0), ErrorCode.ELECTION_NOT_NEEDED),
        (lambda each: each.elect_leader(T0, Election.PREFERRED, 0), ErrorCode.ELECTION_NOT_NEEDED),
    ],
)
def test_a_refusal_changes_nothing_not_even_what_is_drawn_next(
    act: Callable[[Controller], object], error: ErrorCode
) -> None:
    controller = cluster([1, 2])
    assert refusal(controller, lambda: act(controller)) is error


def test_two_topics_never_differ_in_dots_and_underscores_alone() -> None:
    controller = cluster()
    controller.create_topic_at("a_b.c", [[1]])
    for name in ("a.b_c", "a_b_c", "a.b.c"):
        assert (
            refusal(controller, lambda name=name: controller.create_topic(name, 1, 1))
            is ErrorCode.INVALID_TOPIC_EXCEPTION
        )
    assert (
        refusal(controller, lambda: controller.create_topic("a_b.c", 1, 1)) is ErrorCode.TOPIC_ALREADY_EXISTS
    )
    for name in ("ab.c", "a-b.c", "a_b.d"):
        controller.create_topic(name, 1, 1)


def test_where_all_of_a_partitions_replicas_are_fenced_there_is_no_topic() -> None:
    controller = cluster()
    fence(controller, 3, 4)
    assert (
        refusal(controller, lambda: controller.create_topic_at("u", [[1, 2], [3, 4]]))
        is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    )


def test_partitions_that_are_added_count_on_and_have_as_many_replicas_as_the_first() -> None:
    controller = cluster([1, 2])
    records = controller.create_partitions("t", 4)
    assert [record.partition for record in records if isinstance(record, PartitionRecord)] == [
        ("t", 1),
        ("t", 2),
        ("t", 3),
    ]
    assert all(
        len(set(each.replicas)) == 2 and each.isr == each.replicas
        for each in controller.topics["t"].partitions
    )
    given_ones = controller.create_partitions("t", 5, [[4, 3]])
    assert given_ones == [PartitionRecord(("t", 4), PartitionRegistration((4, 3), (4, 3), 4))]


# --- elections


def test_a_round_of_preferred_elections_passes_over_those_that_need_none_or_cannot_have_one() -> None:
    controller = cluster([1, 2], [2, 1], [3, 4])
    fence(controller, 1, 3)
    beat(controller, 1)
    alter(controller, 2, 2, 1)
    assert controller.balance_leaders(0) == [PartitionChangeRecord(T0, PartitionChange(leader=1))], (
        "3 is still fenced"
    )
    assert controller.balance_leaders(0) == []


def test_a_round_elects_no_more_than_so_many_and_the_next_one_goes_on() -> None:
    controller = cluster([1, 2], [1, 3], [1, 4])
    controller.elections_max = 2
    fence(controller, 1)
    beat(controller, 1)
    for number in (0, 1, 2):
        alter(controller, number + 2, number + 2, 1, number=number)
    assert [len(controller.balance_leaders(0)) for _ in range(3)] == [2, 1, 0]


def test_an_automatic_unclean_round_elects_only_where_the_topic_allows_it_and_somebody_is_alive() -> None:
    controller = cluster([1, 2], [3, 4])
    controller.create_topic_at("u", [[1, 2], [3, 4]])
    for topic in ("t", "u"):
        for number, leader in ((0, 1), (1, 3)):
            now = part(controller, number, topic)
            request = AlterPartitionRequest(now.leader_epoch, now.partition_epoch, ((leader, 100 + leader),))
            controller.alter_partition(leader, 100 + leader, (topic, number), request, 0)
    fence(controller, 4, 3, 1)
    controller.topics["u"].allows_unclean_election = True
    records = controller.elect_unclean_leaders(0)
    recovering = PartitionChange(leader=2, isr=(2,), leader_recovery_state=LeaderRecoveryState.RECOVERING)
    assert records == [PartitionChangeRecord(("u", 0), recovering)], "u-1 has nobody; t may not"
    assert controller.elect_unclean_leaders(0) == []


def test_an_unclean_election_by_request_needs_no_allowance_but_a_partition_without_a_leader() -> None:
    controller = cluster([1, 2])
    fence(controller, 2, 1)
    beat(controller, 2)
    assert part(controller).leader == -1
    controller.elect_leader(T0, Election.UNCLEAN, 0)
    assert (part(controller).leader, part(controller).isr) == (2, (2,))
    assert (
        refusal(controller, lambda: controller.elect_leader(T0, Election.UNCLEAN, 0))
        is ErrorCode.ELECTION_NOT_NEEDED
    )


def test_a_recovering_leader_may_not_bring_others_into_the_isr_before_it_has_said_that_it_is_done() -> None:
    controller = cluster([1, 2])
    fence(controller, 2, 1)
    beat(controller, 2)
    controller.elect_leader(T0, Election.UNCLEAN, 0)
    beat(controller, 1)
    now = part(controller)

    def ask(state: LeaderRecoveryState, *members: int) -> AlterPartitionRequest:
        return AlterPartitionRequest(
            now.leader_epoch, now.partition_epoch, tuple((member, 100 + member) for member in members), state
        )

    recovering = ask(LeaderRecoveryState.RECOVERING, 2, 1)
    assert (
        refusal(controller, lambda: controller.alter_partition(2, 102, T0, recovering, 0))
        is ErrorCode.INVALID_REQUEST
    )
    assert controller.alter_partition(2, 102, T0, ask(LeaderRecoveryState.RECOVERING, 2), 0)[1] == [], (
        "alone it may go on recovering"
    )
    after, records = controller.alter_partition(2, 102, T0, ask(LeaderRecoveryState.RECOVERED, 2, 1), 0)
    assert (after.leader_recovery_state, after.isr, len(records)) == (
        LeaderRecoveryState.RECOVERED,
        (2, 1),
        1,
    )


# --- the ISR


@pytest.mark.parametrize("state", ["fenced", "shutting down", "registered again", "unknown epoch"])
def test_who_may_not_join_keeps_the_whole_change_from_being_made(state: str) -> None:
    controller = cluster([1, 2, 3], [2, 1, 3])
    alter(controller, 1, 1, 2)
    now, epoch = part(controller), 103
    if state == "fenced":
        fence(controller, 3)
    elif state == "shutting down":
        controller.brokers[3].is_in_controlled_shutdown = True
    elif state == "registered again":
        fence(controller, 3)
        controller.register_broker(3, 203, 1)
        controller.heartbeat(3, 203, 1)
    else:
        epoch = 99
    request = AlterPartitionRequest(now.leader_epoch, now.partition_epoch, ((1, 101), (2, 102), (3, epoch)))
    assert (
        refusal(controller, lambda: controller.alter_partition(1, 101, T0, request, 0))
        is ErrorCode.INELIGIBLE_REPLICA
    )


def test_a_member_whose_epoch_is_not_said_is_taken_at_its_word() -> None:
    controller = cluster([1, 2])
    request = AlterPartitionRequest(0, 0, ((1, 101), (2, -1)))
    after, records = controller.alter_partition(1, 101, T0, request, 0)
    assert (after.isr, records) == ((1, 2), [])


# --- moves


def test_a_move_to_the_replicas_that_there_are_changes_nothing() -> None:
    controller = cluster([1, 2])
    assert controller.reassign(T0, [1, 2], 0) == []


def test_a_move_to_another_order_is_done_at_once_and_makes_another_leader_preferred() -> None:
    controller = cluster([1, 2])
    assert controller.reassign(T0, [2, 1], 0) == [PartitionChangeRecord(T0, PartitionChange(replicas=(2, 1)))]
    assert (part(controller).leader, part(controller).is_reassigning) == (1, False)
    assert controller.balance_leaders(0) == [PartitionChangeRecord(T0, PartitionChange(leader=2))]


def test_a_move_that_only_removes_is_done_at_once_and_fences_what_the_leader_still_sends() -> None:
    controller = cluster([1, 2, 3])
    controller.reassign(T0, [1, 2], 0)
    now = part(controller)
    assert (now.replicas, now.isr, now.leader, now.leader_epoch, now.is_reassigning) == (
        (1, 2),
        (1, 2),
        1,
        1,
        False,
    )


def test_a_move_away_from_its_leader_goes_to_a_new_one_when_the_new_replicas_are_in_sync() -> None:
    controller = cluster([1, 2])
    controller.reassign(T0, [3, 4], 0)
    alter(controller, 1, 1, 2, 3)
    assert part(controller).is_reassigning, "4 is not there yet"
    with pytest.raises(NewLeaderElected):
        alter(controller, 1, 1, 2, 3, 4)
    now = part(controller)
    assert (now.replicas, now.isr, now.leader, now.adding, now.removing) == ((3, 4), (3, 4), 3, (), ())


def test_another_move_takes_the_place_of_one_that_has_not_ended() -> None:
    controller = cluster([1, 2])
    controller.reassign(T0, [1, 3], 0)
    controller.reassign(T0, [1, 4], 0)
    now = part(controller)
    assert (now.replicas, now.adding, now.removing) == ((1, 4, 2, 3), (4,), (2, 3))
    alter(controller, 1, 1, 2, 4)
    assert (part(controller).replicas, part(controller).isr, part(controller).leader) == ((1, 4), (1, 4), 1)


def test_a_move_whose_old_replicas_are_gone_is_taken_back_only_where_records_may_be_lost() -> None:
    def moving(allows_unclean: bool) -> Controller:
        """Only 3, which is being added, is in sync."""
        controller = cluster([1, 2], allows_unclean=allows_unclean)
        controller.reassign(T0, [3, 2, 1], 0)
        held = controller.topics["t"].partitions
        held[0] = held[0]._replace(isr=(3,), leader=3)
        return controller

    careful, careless = moving(False), moving(True)
    assert refusal(careful, lambda: careful.reassign(T0, None, 0)) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    careless.reassign(T0, None, 0)
    assert (part(careless).replicas, part(careless).isr) == ((2, 1), (2,))


# --- laws


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["fence", "beat", "shut", "alter", "prefer", "unclean", "move", "back"]),
            st.integers(1, 4),
        ),
        max_size=25,
    )
)
def test_law_a_leader_is_in_the_isr_the_isr_in_the_replicas_and_epochs_only_rise(
    steps: list[tuple[str, int]],
) -> None:
    controller = cluster([1, 2, 3], allows_unclean=False)
    before = part(controller)
    for what, broker in steps:
        try:
            if what == "alter":
                now = part(controller)
                alter(controller, now.leader, *dict.fromkeys((now.leader, *now.isr, broker)))
            elif what in ("prefer", "unclean"):
                controller.elect_leader(T0, Election.PREFERRED if what == "prefer" else Election.UNCLEAN, 0)
            elif what in ("move", "back"):
                controller.reassign(T0, None if what == "back" else [broker, broker % 4 + 1], 0)
            else:
                beat(controller, broker, wants_fence=what == "fence", wants_shutdown=what == "shut")
        except Refused:
            pass
        now = part(controller)
        assert now.isr and set(now.isr) <= set(now.replicas) and len(set(now.isr)) == len(now.isr)
        assert now.leader == -1 or (now.leader in now.isr and not controller.brokers[now.leader].is_fenced)
        assert now.partition_epoch >= before.partition_epoch and now.leader_epoch >= before.leader_epoch
        assert (now.partition_epoch == before.partition_epoch) == (now == before)
        assert now.leader == before.leader or now.leader_epoch > before.leader_epoch
        before = now
