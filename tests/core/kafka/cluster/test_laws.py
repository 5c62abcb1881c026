"""The checker notices what it is there for: each law is broken by hand once."""

import pytest

from broker_core.errors import InvariantError
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import TopicPlan
from broker_core.kafka.cluster.laws import DIVERGED, ClusterLaws
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.kafka.replication.replica_log import light_batch
from tests.core.kafka.cluster.clusters import KEY, Cluster


@pytest.fixture
def watched():
    cluster = Cluster(3, (TopicPlan("t", 1, 3, 2, assignments=((1, 2, 3),)),))
    laws = ClusterLaws(cluster.world)
    cluster.world.listener = laws.hear
    for value in "abc":
        cluster.produce(1, value, producer_id=7, producer_epoch=0, base_sequence="abc".index(value))
    cluster.run(1)
    laws.look()
    assert laws.ledger(KEY).end == 3
    return cluster, laws


def test_committed_records_that_are_gone(watched):
    cluster, laws = watched
    for broker in (1, 2, 3):
        cluster.log(broker).truncate_to(1, 0)
    laws.reigns.clear()
    for seen in laws.seen.values():
        seen.end = 1  # as if nobody had seen it get shorter
    with pytest.raises(InvariantError, match=r"2 committed records .* nothing explains it"):
        laws.look()


def test_high_watermark_that_goes_back(watched):
    cluster, laws = watched
    cluster.log(1).high_watermark = 2
    with pytest.raises(InvariantError, match="went back from 3 to 2"):
        laws.look()


def test_member_of_the_isr_that_lacks_a_record(watched):
    cluster, laws = watched
    cluster.log(2).truncate_to(2, 0)
    laws.seen[KEY, 2].end = 2
    with pytest.raises(InvariantError, match=r"2 is in the ISR .* ends at 2, below the high watermark 3"):
        laws.look()


def test_replica_with_another_record_below_its_high_watermark(watched):
    cluster, laws = watched
    log = cluster.log(3)
    log.truncate_to(2, 0)
    other = light_batch(["x"], timestamp=0, base_offset=2, partition_leader_epoch=0)
    log.append_as_follower((other,), now_ms=0)
    log.high_watermark = 3
    laws.seen[KEY, 3].matched = 2
    with pytest.raises(InvariantError, match=r"broker 3 has .*'x'.* where .*'c'"):
        laws.look()


def test_consumer_that_reads_what_is_not_committed(watched):
    _, laws = watched
    laws.consumed(KEY, 1, "b")
    with pytest.raises(InvariantError, match="a consumer read 'x'"):
        laws.consumed(KEY, 1, "x")
    laws.consumed(KEY, 3, "d")
    with pytest.raises(InvariantError, match="never committed"):
        laws.check_calm()


def test_sequence_that_is_there_twice(watched):
    cluster, laws = watched
    cluster.log(1).producers.entries.clear()
    cluster.produce(1, "c", producer_id=7, producer_epoch=0, base_sequence=2)
    with pytest.raises(InvariantError, match="twice, at 2 and 3"):
        laws.look()


def test_confirmed_record_that_is_not_there(watched):
    _, laws = watched
    assert laws.check_acked(KEY, 0, "a")
    with pytest.raises(InvariantError, match="was confirmed, and is not there"):
        laws.check_acked(KEY, 5, "z")


def test_records_of_one_crash_are_kept(watched):
    cluster, laws = watched
    verbs.cut_power(cluster.world, 1)
    cluster.run(12)
    verbs.come_back(cluster.world, 1)
    cluster.run(12)
    laws.check_calm()
    assert not laws.losses and laws.ledger(KEY).end == 3


def test_replica_that_was_moved_away_is_no_member_that_lacks_records():
    """Its leader hears of the move later, and takes the deleted replica for a member of the ISR until
    then."""
    cluster = Cluster(4, (TopicPlan("t", 1, 3, 2, assignments=((1, 2, 3),)),))
    laws = ClusterLaws(cluster.world)
    cluster.produce(1, "a")
    cluster.run(1)
    laws.look()
    verbs.slow_link(cluster.world, "controller", 1, 1_000_000)
    verbs.reassign(cluster.world, "t", 0, [1, 2, 4])
    for _ in range(400):
        cluster.run(0.01)
        laws.look()
    assert set(cluster.decided.isr) == {1, 2, 4} and cluster.ends().keys() == {1, 2, 4}


def test_loss_by_copies_that_nobody_compared_is_explained():
    """Before 0.11 a follower compares nothing but high watermarks: after its leader lost its disk it keeps
    the old records, and may lead again."""
    cluster = Cluster(
        3, (TopicPlan("t", 1, 3, 1, assignments=((2, 1, 3),)),), truncation=Truncation.HIGH_WATERMARK
    )
    laws = ClusterLaws(cluster.world)
    cluster.world.listener = laws.hear
    cluster.produce(2, "old")
    cluster.run(1)
    laws.look()
    for broker in (2, 3):
        verbs.stop(cluster.world, broker)
        cluster.run(2)
    verbs.lose_disk(cluster.world, 1)
    cluster.run(10)
    verbs.come_back(cluster.world, 1)
    cluster.run(2)
    laws.look()
    cluster.produce(1, "new")
    laws.look()
    assert [entry.value for entry in laws.ledger(KEY).entries] == ["new"]
    laws.losses.clear()
    for broker in (2, 3):
        verbs.come_back(cluster.world, broker)
    cluster.run(5)
    laws.look()
    verbs.elect_leaders(cluster.world)
    cluster.run(1)
    laws.look()
    assert cluster.decided.leader == 2 and cluster.values(1) == ["new"] and cluster.values(2) == ["old"]
    assert [loss.reason for loss in laws.losses] == [DIVERGED]
