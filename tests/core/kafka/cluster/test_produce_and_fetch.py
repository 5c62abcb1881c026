"""A produce reaches every replica, is answered by its acks, and consumers see what the high watermark has
passed."""

from broker_core.kafka.cluster.cluster import TopicPlan
from broker_core.kafka.cluster.requests import MetadataRequest, ProducePartition, ProduceRequest
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.replica_log import light_batch
from tests.core.kafka.cluster.clusters import Ask, Cluster

FIRST_LEADS = (TopicPlan("t", 1, 3, 2, assignments=((1, 2, 3),)),)


def test_acks_all_is_answered_when_every_member_of_the_isr_has_it():
    cluster = Cluster(topics=FIRST_LEADS)
    assert cluster.produce(1, "a", "b") == (0, 0)
    assert {end for end, _ in cluster.ends().values()} == {2}
    assert cluster.consumed(1) == ["a", "b"]


def test_follower_learns_of_the_high_watermark_one_fetch_later():
    cluster = Cluster(topics=FIRST_LEADS)
    cluster.produce(1, "a")
    cluster.run(1)  # the long poll that brings it waits 500 ms
    assert cluster.ends() == {1: (1, 1), 2: (1, 1), 3: (1, 1)}


def test_acks_1_is_answered_before_the_high_watermark_moves_and_acks_0_never():
    cluster = Cluster(topics=FIRST_LEADS)
    cluster.world.order("client", _ask(1, 1, "a"))
    cluster.run(0.0021)
    assert cluster.client.got[0].partitions[0].base_offset == 0 and cluster.ends()[1] == (1, 0)
    assert cluster.produce(1, "b", acks=0) is None
    assert cluster.values(1) == cluster.values(2) == cluster.values(3) == ["a", "b"]


def test_error_with_acks_0_closes_the_connection():
    cluster = Cluster(topics=FIRST_LEADS)
    assert [type(message).__name__ for message in cluster.ask(2, _ask(2, 0, "a").request)] == ["Closed"]


def test_broker_that_does_not_lead_names_the_one_that_does():
    cluster = Cluster(topics=FIRST_LEADS)
    answer = cluster.ask(2, _ask(2, -1, "a").request)[0].partitions[0]
    assert (answer.error_code, answer.current_leader) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 1)
    unknown = ProduceRequest(1, 1000, [ProducePartition("nobody", 0, light_batch(["a"], timestamp=0))])
    assert cluster.ask(1, unknown)[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_requests_of_a_connection_are_answered_in_their_order():
    cluster = Cluster(topics=FIRST_LEADS)
    cluster.world.order("client", _ask(1, -1, "a"))
    cluster.world.order("client", _ask(1, 1, "b"))
    cluster.run(0.5)
    assert [answer.partitions[0].base_offset for answer in cluster.client.got] == [0, 1]


def test_batch_of_an_idempotent_producer_is_taken_once():
    cluster = Cluster(topics=FIRST_LEADS)
    batch = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    assert cluster.produce(1, "a", **batch) == (0, 0)
    assert cluster.produce(1, "a", **batch) == (0, 0)
    assert cluster.values(1) == ["a"]
    assert (
        cluster.produce(1, "c", producer_id=7, producer_epoch=0, base_sequence=5)[0]
        == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    )


def test_metadata_name_leader_replicas_and_isr():
    cluster = Cluster(topics=FIRST_LEADS)
    answer = cluster.ask(3, MetadataRequest())[0]
    part = answer.topics[0].partitions[0]
    assert (part.leader_id, part.replica_nodes, part.isr_nodes, part.offline_replicas) == (
        1,
        [1, 2, 3],
        [1, 2, 3],
        [],
    )
    assert [broker.node_id for broker in answer.brokers] == [1, 2, 3]


def test_one_cluster_is_the_same_in_every_run():
    one, other = (Cluster(topics=(TopicPlan("t", 6, 3),), seed=5) for _ in range(2))
    for cluster in (one, other):
        cluster.produce(1, "a", acks=1)
    assert one.told == other.told and one.ends() == other.ends() and one.world.made == other.world.made


def _ask(broker, acks, *values):
    return Ask(
        f"broker-{broker}",
        ProduceRequest(acks, 30_000, [ProducePartition("t", 0, light_batch(values, timestamp=0))]),
    )
