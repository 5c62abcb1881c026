"""The article's stories of the high watermark, played by brokers: 3.2 step by step, 3.3 loss, 3.4 divergence,
and what epochs do not save.

Under KRaft a broker that restarts has left the ISR before it is back, so the loss of 3.3 needs a follower
that is cut off from the new leader while it changes over to it: it has cut its log to its high watermark, and
is still in the ISR.
"""

import pytest

from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import TopicPlan
from broker_core.kafka.cluster.laws import ClusterLaws
from broker_core.kafka.replication.fetcher import Truncation
from tests.core.kafka.cluster.clusters import Cluster

EPOCHS = [Truncation.EPOCH_REQUEST, Truncation.FETCH]


def three(truncation, min_isr=2, **settings):
    topic = TopicPlan("t", 1, 3, min_isr, assignments=((1, 2, 3),))
    return Cluster(3, (topic,), truncation=truncation, **settings)


def two(truncation, **settings):
    topic = TopicPlan("t", 1, 2, 1, assignments=((1, 2),))
    return Cluster(2, (topic,), truncation=truncation, flush_interval_ms=5_000, **settings)


def test_high_watermark_moves_step_by_step():
    """3.2: the leader has the record; the follower has it; the leader knows; the follower knows."""
    cluster = two(Truncation.FETCH)
    cluster.world.order("client", cluster.produce_order(1, "m1"))
    seen = []
    for _ in range(1_400):
        cluster.run(0.0005)
        if not seen or seen[-1] != cluster.ends():
            seen.append(cluster.ends())
    # (LEO, HW) of the leader and of the follower. The last step is the answer of a long poll that found
    # nothing.
    assert seen[1:] == [
        {1: (1, 0), 2: (0, 0)},
        {1: (1, 0), 2: (1, 0)},
        {1: (1, 1), 2: (1, 0)},
        {1: (1, 1), 2: (1, 1)},
    ]


def lose(truncation):
    """m2 is on all three, and acknowledged; only the leader knows that it is committed. Then two leaders die,
    one after the other."""
    cluster = three(truncation)
    laws = ClusterLaws(cluster.world)
    cluster.world.listener = lambda events: (cluster.told.extend(events), laws.hear(events))
    assert cluster.produce(1, "m1")[0] == 0
    cluster.run(1)
    cluster.world.order("client", cluster.produce_order(1, "m2"))
    cluster.run(0.005)
    assert cluster.ends() == {1: (2, 2), 2: (2, 1), 3: (2, 1)}
    assert cluster.client.got[-1].partitions[0].error_code == 0
    laws.look()
    verbs.cut_link(cluster.world, 2, 3)
    verbs.crash(cluster.world, 1)
    cluster.run(12)
    laws.look()
    assert (cluster.decided.leader, cluster.decided.isr) == (2, (2, 3))
    verbs.crash(cluster.world, 2)
    cluster.run(12)
    assert (cluster.decided.leader, cluster.decided.isr) == (3, (3,))
    laws.look()
    return cluster, laws.losses


def test_truncation_to_the_high_watermark_loses_an_acknowledged_record():
    cluster, losses = lose(Truncation.HIGH_WATERMARK)
    assert cluster.values(3) == ["m1"]
    assert [(loss.reason, loss.offset, [entry.value for entry in loss.entries]) for loss in losses] == [
        ("truncated_to_high_watermark", 1, ["m2"])
    ]
    cut = next(event for event in cluster.told if event.kind == "kafka.replica.truncated")
    assert cut.rule == "kafka.replica.truncate_to_high_watermark"
    assert cut.data == {
        "broker": 3,
        "topic": "t",
        "partition": 0,
        "offset": 1,
        "cut_count": 1,
        "high_watermark": 1,
    }


@pytest.mark.parametrize("truncation", EPOCHS)
def test_epochs_keep_it(truncation):
    cluster, losses = lose(truncation)
    assert cluster.values(3) == ["m1", "m2"] and not losses
    verbs.come_back(cluster.world, 1)
    verbs.heal_link(cluster.world, 2, 3)
    cluster.run(15)
    assert cluster.values(1) == ["m1", "m2"] and cluster.decided.isr == (1, 3)
    assert cluster.consumed(3) == ["m1", "m2"]


def diverge(truncation):
    """m2 is on both; the leader stops in order, and its successor loses power before m2 is flushed."""
    cluster = two(truncation)
    cluster.produce(1, "m1")
    cluster.run(15)
    assert cluster.log(2).recovery_point == 1
    assert cluster.produce(1, "m2")[0] == 0
    verbs.stop(cluster.world, 1)
    cluster.run(1)
    assert verbs.is_down(cluster.world, 1) and cluster.decided.leader == 2
    verbs.cut_power(cluster.world, 2)
    cluster.run(12)
    verbs.come_back(cluster.world, 2)
    cluster.run(3)
    assert cluster.decided.leader == 2 and cluster.values(2) == ["m1"]
    assert cluster.produce(2, "m3")[0] == 0
    verbs.come_back(cluster.world, 1)
    cluster.run(5)
    return cluster


def test_truncation_to_the_high_watermark_leaves_different_logs_for_ever():
    cluster = diverge(Truncation.HIGH_WATERMARK)
    assert (cluster.values(1), cluster.values(2)) == (["m1", "m2"], ["m1", "m3"])
    assert cluster.decided.isr == (1, 2), "and nobody notices"


@pytest.mark.parametrize("truncation", EPOCHS)
def test_epochs_make_the_logs_the_same(truncation):
    cluster = diverge(truncation)
    assert cluster.values(1) == cluster.values(2) == ["m1", "m3"]
    cut = next(event for event in cluster.told if event.kind == "kafka.replica.truncated")
    assert cut.data["broker"] == 1 and cut.data["offset"] == 1 and cut.inputs["leader_end_offset"] == 1


@pytest.mark.parametrize("truncation", list(Truncation))
def test_no_truncation_saves_what_one_broker_alone_had_confirmed(truncation):
    """Two brokers crash, with min.insync.replicas=1: m2 was confirmed by the leader alone, and its power cut
    took it."""
    cluster = two(truncation)
    cluster.produce(1, "m1")
    cluster.run(15)
    verbs.crash(cluster.world, 2)
    cluster.run(12)
    assert cluster.decided.isr == (1,)
    assert cluster.produce(1, "m2") == (0, 1), "acks=-1 asks the ISR, and that is the leader alone"
    verbs.cut_power(cluster.world, 1)
    cluster.run(12)
    verbs.come_back(cluster.world, 2)
    cluster.run(5)
    assert cluster.decided.leader == -1, "broker 2 is back, and not in the ISR"
    verbs.come_back(cluster.world, 1)
    cluster.run(5)
    assert cluster.decided.leader == 1 and cluster.values(1) == cluster.values(2) == ["m1"]
