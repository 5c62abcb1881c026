"""The picture of a producer: what is on its way, what waits, and the sequences of an idempotent one."""

from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import ProducerState, Unsent
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan, cluster_world
from broker_core.lab.kafka.views.cluster import cluster_view

SECOND = 1_000_000


class Nobody:
    def acked(self, *told):
        """Nobody counts."""

    failed = acked


def world_with_producer():
    topics = (TopicPlan("t", 1, 3, 2, assignments=((1, 2, 3),)),)
    kinds = {"producer": (ProducerState, lambda state: ClusterProducer(state, Nobody()))}
    world = cluster_world(ClusterPlan(3, topics=topics), 1, kinds=kinds, messages=o.ProducerOrder)
    world.start("producer", "producer", ProducerState.of(ProducerSettings(max_in_flight=2)))
    world.advance(SECOND)
    world.order("producer", o.Connect([1], ["t"]))
    world.advance(2 * SECOND)
    send(world, 1)
    world.advance(3 * SECOND)
    return world


def send(world, *values):
    slot = world.slots["producer"]
    for value in values:
        slot.node.send(Unsent(value, "t", -1, 0, 100), world.now_us, slot)
        world.advance(world.now_us + 10)


def test_batches_on_their_way_and_those_that_wait():
    world = world_with_producer()
    send(world, 2, 3, 4)
    view = cluster_view(world)["producers"]["producer"]
    assert [[batch["sequence"] for batch in flight["batches"]] for flight in view["in_flight"]["1"]] == [
        [1],
        [2],
    ]
    assert [(batch["partition"], batch["count"], batch["sequence"]) for batch in view["waiting"]["t-0"]] == [
        ("t-0", 1, -1)
    ]
    assert (view["acks"], view["max_in_flight"], view["id"] >= 0, view["epoch"]) == (-1, 2, True, 0)
    assert view["sequences"] == {"t-0": {"next": 3, "last_acked": 0}}
    world.advance(world.now_us + SECOND)
    later = cluster_view(world)["producers"]["producer"]
    assert (later["in_flight"]["1"], later["waiting"], later["counts"]["acked"]) == ([], {}, 4)


def test_a_batch_that_comes_back_says_how_often():
    world = world_with_producer()
    send(world, 2)
    verbs.crash(world, 1)
    world.advance(world.now_us + SECOND)
    view = cluster_view(world)["producers"]["producer"]
    sent = [
        batch for flights in view["in_flight"].values() for flight in flights for batch in flight["batches"]
    ]
    assert [batch["sequence"] for batch in sent + view["waiting"].get("t-0", []) if batch["attempts"]] == [1]
