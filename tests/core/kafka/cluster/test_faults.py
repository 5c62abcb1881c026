"""What a person does to a cluster, and what follows: elections, ISRs, refusals, moves; a wrong verb changes
nothing."""

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan, cluster_world
from broker_core.kafka.cluster.requests import DeleteRecordsRequest, ListOffsetsPartition, ListOffsetsRequest
from broker_core.kafka.error_codes import ErrorCode
from tests.core.kafka.cluster.clusters import KEY, Cluster


def three(min_isr=1, unclean=False, **settings):
    return Cluster(3, (TopicPlan("t", 1, 3, min_isr, unclean, ((1, 2, 3),)),), **settings)


def of_kind(cluster, kind):
    return [event for event in cluster.told if event.kind == kind]


# --- brokers


def test_crashed_leader_is_fenced_after_nine_seconds_and_the_next_in_line_leads():
    cluster = three()
    cluster.produce(1, "a")
    cluster.told.clear()
    crashed_us = cluster.world.now_us
    verbs.crash(cluster.world, 1)
    cluster.run(12)
    fenced = of_kind(cluster, "kafka.broker.fenced")[0]
    assert (
        fenced.rule == "kafka.controller.session_timeout"
        and 7_000_000 < fenced.at_us - crashed_us <= 9_002_000
    )
    changed = of_kind(cluster, "kafka.partition.leader_changed")[0]
    assert (changed.rule, changed.data["leader"], changed.data["isr"]) == (
        "kafka.election.first_in_isr",
        2,
        [2, 3],
    )
    assert cluster.consumed(2) == ["a"] and cluster.produce(2, "b") == (0, 1)


def test_broker_that_comes_back_at_once_is_refused_until_its_session_is_over():
    cluster = three()
    verbs.crash(cluster.world, 1)
    verbs.come_back(cluster.world, 1)
    cluster.run(5)
    assert cluster.state(1).stage == "starting" and cluster.decided.leader == 1
    cluster.run(20)
    assert cluster.state(1).stage == "running" and cluster.decided.leader == 2
    assert sorted(cluster.decided.isr) == [1, 2, 3], "it has caught up and is in sync again"


def test_clean_stop_moves_the_leadership_first():
    cluster = three()
    cluster.produce(1, "a")
    cluster.told.clear()
    verbs.stop(cluster.world, 1)
    cluster.run(1)
    assert verbs.is_down(cluster.world, 1)
    kinds = [event.kind for event in cluster.told]
    assert (
        kinds.index("kafka.broker.shutting_down")
        < kinds.index("kafka.partition.leader_changed")
        < kinds.index("kafka.broker.fenced")
    )
    verbs.come_back(cluster.world, 1)
    cluster.run(3)
    assert cluster.decided.leader == 2 and sorted(cluster.decided.isr) == [1, 2, 3]


def test_leader_moves_back_with_the_automatic_preferred_election():
    cluster = three(leader_imbalance_check_interval_ms=60_000)
    verbs.stop(cluster.world, 1)
    cluster.run(1)
    verbs.come_back(cluster.world, 1)
    cluster.run(70)
    assert cluster.decided.leader == 1
    assert of_kind(cluster, "kafka.partition.leader_changed")[-1].rule == "kafka.election.preferred"


def test_preferred_election_by_request():
    cluster = three(auto_leader_rebalance=False)
    verbs.stop(cluster.world, 1)
    cluster.run(1)
    verbs.come_back(cluster.world, 1)
    cluster.run(5)
    assert cluster.decided.leader == 2
    verbs.elect_leaders(cluster.world, [KEY])
    cluster.run(1)
    assert cluster.decided.leader == 1
    verbs.elect_leaders(cluster.world, [KEY])
    cluster.run(1)
    assert of_kind(cluster, "kafka.controller.refused")[-1].data["error"] == "ELECTION_NOT_NEEDED"


def test_paused_leader_goes_on_as_a_follower_and_cuts_what_nobody_had():
    cluster = three()
    cluster.produce(1, "a")
    verbs.cut_link(cluster.world, 1, 2)
    verbs.cut_link(cluster.world, 1, 3)
    cluster.produce(1, "lost", acks=1)
    verbs.pause(cluster.world, 1)
    cluster.run(12)
    assert cluster.decided.leader == 2
    verbs.heal_link(cluster.world, 1, 2)
    verbs.heal_link(cluster.world, 1, 3)
    cluster.produce(2, "b")
    verbs.resume(cluster.world, 1)
    cluster.run(40)
    assert cluster.values(1) == ["a", "b"] and sorted(cluster.decided.isr) == [1, 2, 3]
    cut = of_kind(cluster, "kafka.replica.truncated")[-1]
    assert (cut.rule, cut.data["broker"], cut.data["cut_count"]) == ("kafka.replica.diverging_epoch", 1, 1)


# --- the ISR


def test_slow_follower_leaves_the_isr_and_comes_back():
    cluster = three(min_isr=2, replica_lag_time_max_ms=10_000)
    verbs.slow_disk(cluster.world, 3, 25_000_000)
    cluster.produce(1, "a")
    for _ in range(20):
        cluster.produce(1, "b", acks=1)
        cluster.run(1)
    shrunk = [event for event in of_kind(cluster, "kafka.partition.isr_changed") if event.data["left"]]
    assert shrunk[0].data["left"] == [3] and shrunk[0].rule == "kafka.isr.replica_lag_time_max"
    verbs.slow_disk(cluster.world, 3, 0)
    cluster.run(60)
    assert sorted(cluster.decided.isr) == [1, 2, 3]
    assert of_kind(cluster, "kafka.partition.isr_changed")[-1].data["came"] == [3]


def test_writes_are_refused_below_min_isr_and_it_is_told_once():
    cluster = three(min_isr=2)
    verbs.crash(cluster.world, 2)
    verbs.crash(cluster.world, 3)
    cluster.run(12)
    assert [cluster.produce(1, "a") for _ in range(3)] == [(ErrorCode.NOT_ENOUGH_REPLICAS, -1)] * 3
    refused = of_kind(cluster, "kafka.partition.writes_refused")
    assert len(refused) == 1 and refused[0].inputs == {"isr": [1], "min_insync_replicas": 2, "acks": -1}
    assert cluster.produce(1, "b", acks=1) == (0, 0)
    assert cluster.ends()[1] == (1, 0), "acks=1 is taken, and the high watermark stands still"
    verbs.come_back(cluster.world, 2)
    cluster.run(5)
    assert cluster.produce(1, "c") == (0, 1)


def test_produce_times_out_where_the_followers_do_not_answer():
    cluster = three(min_isr=2)
    for follower in (2, 3):
        verbs.cut_link(cluster.world, 1, follower)
    assert cluster.produce(1, "a", timeout_ms=3_000) is None
    cluster.run(4)
    assert cluster.client.got[0].partitions[0].error_code == ErrorCode.REQUEST_TIMED_OUT
    assert cluster.values(1) == ["a"], "the record stays, and may yet be replicated"


def test_leader_that_nobody_can_reach_keeps_its_acks_1_records_to_itself():
    """One way cut: the leader hears its clients; what it sends to the controller and to the followers does
    not arrive."""
    cluster = three()
    cluster.produce(1, "a")
    for end in ("controller", 2, 3):
        verbs.cut_link(cluster.world, 1, end, one_way=True)
    cluster.run(5)
    assert cluster.produce(1, "lost", acks=1) == (0, 1)
    cluster.run(15)
    assert cluster.decided.leader == 2
    for end in ("controller", 2, 3):
        verbs.heal_link(cluster.world, 1, end)
    cluster.run(40)
    assert cluster.values(1) == cluster.values(2) == ["a"]


def test_burst_makes_followers_leave_by_the_rule_of_before_0_9():
    cluster = three(lag_messages_max=4)
    verbs.slow_link(cluster.world, 1, 3, 14_000_000)
    cluster.produce(1, *range(10), acks=1)
    cluster.run(16)
    left = [event.data["left"] for event in of_kind(cluster, "kafka.partition.isr_changed")]
    assert [3] in left


# --- elections outside the ISR, disks


def outlive(unclean):
    cluster = three(unclean=unclean)
    cluster.produce(1, "a")
    verbs.crash(cluster.world, 3)
    cluster.run(12)
    cluster.produce(1, "b")
    for broker in (1, 2):
        verbs.crash(cluster.world, broker)
    cluster.run(15)
    verbs.come_back(cluster.world, 3)
    cluster.run(5)
    return cluster


def test_nobody_leads_while_the_isr_is_down():
    cluster = outlive(unclean=False)
    assert cluster.decided.leader == -1
    verbs.elect_leaders(cluster.world, [KEY], unclean=True)
    cluster.run(1)
    assert (
        cluster.decided.leader == 3
        and of_kind(cluster, "kafka.partition.leader_changed")[-1].rule == "kafka.election.unclean"
    )


def test_unclean_election_by_setting_loses_what_the_isr_had():
    cluster = outlive(unclean=True)
    assert cluster.decided.leader == 3 and cluster.consumed(3) == ["a"]
    last = of_kind(cluster, "kafka.partition.leader_changed")[-1]
    assert last.rule == "kafka.election.unclean" and last.inputs["isr"] != [3]


def test_broker_without_its_disk_halts_and_copies_everything_anew():
    cluster = three()
    cluster.produce(1, "a", "b")
    verbs.lose_disk(cluster.world, 2)
    assert verbs.is_down(cluster.world, 2) and not cluster.state(2).disk.logs
    cluster.run(12)
    verbs.come_back(cluster.world, 2)
    cluster.run(5)
    assert cluster.values(2) == ["a", "b"] and sorted(cluster.decided.isr) == [1, 2, 3]


def test_power_cut_takes_what_was_not_flushed():
    cluster = three(flush_interval_messages=2)
    for value in "abc":
        cluster.produce(1, value)
    verbs.cut_power(cluster.world, 3)
    assert cluster.values(3) == ["a", "b"]
    verbs.crash(cluster.world, 2)
    assert cluster.values(2) == ["a", "b", "c"]


def test_producers_are_known_again_after_a_crash():
    cluster = three()
    batch = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    cluster.produce(1, "a", **batch)
    verbs.crash(cluster.world, 1)
    cluster.run(12)
    assert cluster.produce(2, "a", **batch) == (0, 0) and cluster.values(2) == ["a"]
    verbs.come_back(cluster.world, 1)
    cluster.run(5)
    verbs.elect_leaders(cluster.world, [KEY])
    cluster.run(1)
    assert cluster.produce(1, "a", **batch) == (0, 0) and cluster.values(1) == ["a"]


# --- moves, racks, small questions


def test_partition_moves_to_other_brokers():
    cluster = Cluster(4, (TopicPlan("t", 1, 2, assignments=((1, 2),)),))
    cluster.produce(1, "a")
    verbs.reassign(cluster.world, "t", 0, [3, 4])
    cluster.run(3)
    assert (cluster.decided.replicas, cluster.decided.leader, cluster.decided.removing) == ((3, 4), 3, ())
    assert cluster.values(3) == cluster.values(4) == ["a"] and KEY not in cluster.state(1).disk.logs
    assert cluster.produce(1, "b")[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER and cluster.produce(3, "b") == (
        0,
        1,
    )


def test_new_replica_that_leads_when_its_move_is_over_was_not_elected_outside_the_isr():
    cluster = Cluster(3, (TopicPlan("t", 1, 2, assignments=((1, 2),)),))
    cluster.produce(1, "a")
    verbs.reassign(cluster.world, "t", 0, [3, 2])
    cluster.run(3)
    (elected,) = of_kind(cluster, "kafka.partition.leader_changed")
    assert (elected.data["leader"], elected.inputs["isr"], elected.rule) == (
        3,
        [1, 2],
        "kafka.election.first_in_isr",
    )


def test_consumer_reads_from_the_replica_in_its_rack():
    cluster = Cluster(3, (TopicPlan("t", 1, 3, assignments=((1, 2, 3),)),), racks="abc", is_rack_aware=True)
    cluster.produce(1, "a")
    cluster.run(1)
    answer = cluster.consume(1, 0, rack="c")
    assert (answer.preferred_read_replica, answer.records) == (3, ())
    assert cluster.consumed(3, rack="c") == ["a"]
    assert cluster.consumed(1, rack="a") == ["a"]


def test_more_partitions_are_placed_and_led():
    cluster = three()
    verbs.create_partitions(cluster.world, "t", 4)
    cluster.run(1)
    partitions = cluster.world.node("controller").state.rules.topics["t"].partitions
    assert len(partitions) == 4 and all(len(partition.isr) == 3 for partition in partitions)
    assert cluster.produce(partitions[3].leader, "a", key=("t", 3)) == (0, 0)


def test_deleted_records_are_gone_on_every_replica():
    cluster = three()
    cluster.produce(1, "a")
    cluster.produce(1, "b")
    assert cluster.ask(1, DeleteRecordsRequest(1_000, [("t", 0, 1)]))[0].partitions[0].error_code == 0
    cluster.run(2)
    assert [cluster.log(broker).log_start_offset for broker in (1, 2, 3)] == [1, 1, 1]
    earliest = cluster.ask(1, ListOffsetsRequest([ListOffsetsPartition("t", 0, -2)]))[0].partitions[0]
    assert earliest.offset == 1
    assert cluster.consume(1, 0).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_clock_that_jumps_makes_the_followers_look_late():
    cluster = three(min_isr=1)
    cluster.produce(1, "a")
    verbs.cut_link(cluster.world, 1, 2)
    verbs.skew_clock(cluster.world, 1, 40_000)
    cluster.produce(1, "b", acks=1)
    cluster.run(16)
    left = [event.data["left"] for event in of_kind(cluster, "kafka.partition.isr_changed")]
    assert left[:1] == [[2]], (
        "by its own clock it has not fetched for 40 s; that link is cut, so it cannot say otherwise"
    )


# --- wrong verbs


WRONG = {
    "broker": [
        lambda world: verbs.crash(world, 9),
        lambda world: verbs.resume(world, 1),
        lambda world: verbs.come_back(world, 1),
        lambda world: verbs.stop(world, 0),
        lambda world: verbs.slow_disk(world, 7, 10),
    ],
    "link": [
        lambda world: verbs.heal_link(world, 1, 2),
        lambda world: verbs.cut_link(world, 1, 1),
        lambda world: verbs.cut_link(world, 1, "nobody"),
    ],
    "write_us": [lambda world: verbs.slow_disk(world, 1, -1)],
    "delay_us": [lambda world: verbs.slow_link(world, 1, 2, -5)],
    "skew_ms": [lambda world: verbs.skew_clock(world, 1, 10**12)],
    "replication_factor": [lambda world: verbs.create_topic(world, TopicPlan("u", 1, 4))],
    "partitions": [lambda world: verbs.create_topic(world, TopicPlan("u", 0, 1))],
    "assignments": [lambda world: verbs.create_topic(world, TopicPlan("u", 1, 1, assignments=((8,),)))],
    "topic": [
        lambda world: verbs.create_topic(world, TopicPlan("t", 1, 1)),
        lambda world: verbs.create_partitions(world, "nobody", 3),
    ],
    "count": [lambda world: verbs.create_partitions(world, "t", 1)],
    "replicas": [
        lambda world: verbs.reassign(world, "t", 0, [1, 9]),
        lambda world: verbs.reassign(world, "t", 0, []),
    ],
    "partition": [lambda world: verbs.reassign(world, "t", 3, [1])],
}


@pytest.mark.parametrize(
    ("field", "number"), [(field, number) for field in WRONG for number in range(len(WRONG[field]))]
)
def test_wrong_verb_is_refused_at_its_field_and_changes_nothing(field, number):
    cluster = three()
    before = (cluster.world.made, dict(cluster.world.routes), cluster.ends(), len(cluster.told))
    with pytest.raises(CommandError) as error:
        WRONG[field][number](cluster.world)
    assert error.value.field == field
    assert (cluster.world.made, dict(cluster.world.routes), cluster.ends(), len(cluster.told)) == before


def test_paused_broker_is_told_to_be_paused_when_it_is_asked_to_come_back():
    cluster = three()
    verbs.pause(cluster.world, 1)
    with pytest.raises(CommandError, match="broker 1 is paused") as error:
        verbs.come_back(cluster.world, 1)
    assert error.value.field == "broker"


def test_cut_link_cannot_be_cut_again_but_the_other_way_can():
    cluster = three()
    verbs.cut_link(cluster.world, 1, 2, one_way=True)
    with pytest.raises(CommandError):
        verbs.cut_link(cluster.world, 1, 2, one_way=True)
    verbs.cut_link(cluster.world, 1, 2)
    with pytest.raises(CommandError):
        verbs.cut_link(cluster.world, 2, 1, one_way=True)
    verbs.heal_link(cluster.world, 2, 1)


@pytest.mark.parametrize(
    ("field", "plan"),
    [
        ("brokers", ClusterPlan(10)),
        ("brokers", ClusterPlan(0)),
        ("racks", ClusterPlan(3, ("a", "b"))),
        ("replication_factor", ClusterPlan(2, topics=(TopicPlan("t", 1, 3),))),
        ("topic", ClusterPlan(2, topics=(TopicPlan("t", 1, 1), TopicPlan("t", 1, 1)))),
        ("min_insync_replicas", ClusterPlan(2, topics=(TopicPlan("t", 1, 1, 0),))),
    ],
)
def test_cluster_that_cannot_be_built_names_the_field(field, plan):
    with pytest.raises(CommandError) as error:
        cluster_world(plan, 1)
    assert error.value.field == field


def test_nine_brokers_come_up():
    cluster = Cluster(9, (TopicPlan("t", 96, 3),), racks="abcabcabc")
    partitions = cluster.world.node("controller").state.rules.topics["t"].partitions
    assert all(len(partition.isr) == 3 for partition in partitions)
