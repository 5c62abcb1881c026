"""KIP-848: one request, three epochs, and a partition that never has two owners."""

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import (
    FENCED_MEMBER_EPOCH,
    GROUP_ID_NOT_FOUND,
    INVALID_REQUEST,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
    UNRELEASED_INSTANCE_ID,
    UNSUPPORTED_VERSION,
)
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.topics import Topic, TopicsImage
from tests.core.kafka.group.desk import TOPIC_ID, Desk, heartbeat848, stable_group


def held(answer):
    return (
        None
        if answer.assignment is None
        else sorted(n for topic in answer.assignment.topic_partitions for n in topic.partitions)
    )


def test_newcomer_gets_partitions_only_after_their_owner_let_go():
    desk = Desk(partitions=4)
    one = desk.send(heartbeat848())
    assert (one.member_epoch, held(one)) == (1, [0, 1, 2, 3])
    two = desk.send(heartbeat848())
    assert (two.member_epoch, held(two)) == (2, [])
    told = desk.send(heartbeat848(one.member_id, 1, owned=[0, 1, 2, 3]))
    assert (told.member_epoch, len(held(told))) == (1, 2), "told to let go; its epoch stays"
    assert held(desk.send(heartbeat848(two.member_id, 2))) is None, "not free yet"
    kept = held(told)
    assert desk.send(heartbeat848(one.member_id, 1, owned=kept)).member_epoch == 2
    taken = held(desk.send(heartbeat848(two.member_id, 2)))
    assert sorted(kept + taken) == [0, 1, 2, 3]
    assert desk.group().state == "Stable"


def test_member_that_does_not_let_go_is_fenced_at_its_rebalance_timeout():
    desk = Desk(partitions=2)
    one = desk.send(heartbeat848())
    two = desk.send(heartbeat848())
    desk.send(heartbeat848(one.member_id, 1, owned=[0, 1]))
    desk.pass_until(10_000)
    assert list(desk.group().members) == [two.member_id]
    assert desk.send(heartbeat848(one.member_id, 1)).error_code == UNKNOWN_MEMBER_ID
    assert held(desk.send(heartbeat848(two.member_id, 2))) == [0, 1]


def test_lost_answer_may_be_asked_for_again_and_any_other_epoch_is_fenced():
    desk = Desk(partitions=2)
    one = desk.send(heartbeat848())
    two = desk.send(heartbeat848())
    desk.send(heartbeat848(one.member_id, 1, owned=[0, 1]))
    kept = list(desk.group().members[one.member_id].assigned[TOPIC_ID])
    assert desk.send(heartbeat848(one.member_id, 1, owned=kept)).member_epoch == 2
    assert desk.send(heartbeat848(one.member_id, 1, owned=kept)).member_epoch == 2
    assert desk.send(heartbeat848(one.member_id, 1)).error_code == FENCED_MEMBER_EPOCH
    assert desk.send(heartbeat848(two.member_id, 9)).error_code == FENCED_MEMBER_EPOCH


def test_static_member_that_leaves_for_a_while_keeps_its_partitions_under_a_new_id():
    desk = Desk(partitions=2)
    one = desk.send(heartbeat848(instance_id="i"))
    assert desk.send(heartbeat848(instance_id="i")).error_code == UNRELEASED_INSTANCE_ID
    away = m.ConsumerGroupHeartbeatRequest("g", one.member_id, -2, instance_id="i")
    assert desk.send(away).member_epoch == -2
    back = desk.send(heartbeat848(instance_id="i"))
    assert back.member_id != one.member_id and held(back) == [0, 1] and back.member_epoch == 1
    assert desk.group().epoch == 1, "nobody else noticed"


def test_more_partitions_raise_the_epoch_with_the_next_heartbeat():
    desk = Desk(partitions=2)
    one = desk.send(heartbeat848())
    desk.coordinator.topics_changed(TopicsImage.of([Topic("t", TOPIC_ID, 3)]), ["t"])
    grown = desk.send(heartbeat848(one.member_id, 1))
    assert (grown.member_epoch, held(grown)) == (2, [0, 1, 2])


def test_commit_of_another_epoch_is_stale():
    desk = Desk()
    one = desk.send(heartbeat848())
    topics = [m.CommittedTopic("t", [m.CommittedPartition(0, 5)])]
    answers = [desk.send(m.OffsetCommitRequest("g", epoch, one.member_id, topics)) for epoch in (0, 1)]
    assert [answer.topics[0].partitions[0].error_code for answer in answers] == [STALE_MEMBER_EPOCH, 0]


def test_request_is_checked_before_the_group_is_looked_at():
    desk = Desk()
    assert desk.send(m.ConsumerGroupHeartbeatRequest("g", "", 0)).error_code == INVALID_REQUEST
    assert desk.send(heartbeat848("m", 3)).error_code == GROUP_ID_NOT_FOUND


def test_failover_rebuilds_members_epochs_and_owners_from_the_log():
    desk = Desk(partitions=4)
    one, two = desk.send(heartbeat848()), desk.send(heartbeat848())
    desk.send(heartbeat848(one.member_id, 1, owned=[0, 1, 2, 3]))
    before = desk.group()
    desk.fail_over()
    after = desk.group()
    assert after is not before and after.members == before.members and after.target == before.target
    assert after.owner_epochs == before.owner_epochs and (after.epoch, after.assignment_epoch) == (2, 2)
    assert (
        f"rebalance-timeout-g-{one.member_id}" in desk.deadlines
        and f"session-timeout-g-{two.member_id}" in desk.deadlines
    )


def test_classic_group_is_upgraded_by_the_first_heartbeat_where_the_policy_allows_it():
    desk, ids = stable_group("a", migration_policy="disabled")
    assert desk.send(heartbeat848()).error_code == GROUP_ID_NOT_FOUND
    desk, ids = stable_group("a", migration_policy="bidirectional")
    # The assignment of the test is no consumer protocol: the original gives up too.
    assert desk.send(heartbeat848()).error_code == GROUP_ID_NOT_FOUND
    assert not isinstance(desk.group(), ConsumerGroup) and list(desk.group().members) == ids


def test_instance_id_whose_member_went_on_under_another_one_is_unknown():
    desk = Desk(partitions=2)
    one = desk.send(heartbeat848(instance_id="i"))
    desk.send(m.ConsumerGroupHeartbeatRequest("g", one.member_id, 1, instance_id="i"))
    # Without its instance id the member may take another one, and leave; the first stays behind.
    desk.send(heartbeat848(one.member_id, 1, is_full=True))
    desk.send(heartbeat848(one.member_id, instance_id="k"))
    desk.send(m.ConsumerGroupHeartbeatRequest("g", one.member_id, -1))
    assert (
        desk.send(m.ConsumerGroupHeartbeatRequest("g", one.member_id, 2, instance_id="i")).error_code
        == UNKNOWN_MEMBER_ID
    )


def test_old_coordinator_does_not_know_the_consumer_protocol():
    assert Desk(is_old=True).send(heartbeat848()).error_code == UNSUPPORTED_VERSION
