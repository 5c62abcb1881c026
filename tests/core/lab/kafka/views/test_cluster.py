"""The picture of a cluster says what the nodes' states say, while it is well, while a broker is dead, and
while a link is cut."""

import json

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import TopicPlan
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.requests import ProducePartition, ProduceRequest
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.lab.kafka.views.cluster import cluster_view
from tests.core.kafka.cluster.clusters import Ask, Cluster

FIRST_LEADS = (TopicPlan("t", 1, 3, 2, assignments=((1, 2, 3),)),)


def cluster_with_records():
    cluster = Cluster(
        topics=FIRST_LEADS,
        racks=("a", "b", "c"),
        broker_session_timeout_ms=3_000,
        replica_lag_time_max_ms=4_000,
    )
    cluster.produce(1, "a", "b")
    cluster.run(1)
    return cluster


def partition(cluster):
    return cluster_view(cluster.world)["partitions"]["t-0"]


def test_a_cluster_in_order():
    cluster = cluster_with_records()
    view = cluster_view(cluster.world)
    assert [
        (broker, one["rack"], one["stage"], one["is_fenced"], one["leads"])
        for broker, one in view["brokers"].items()
    ] == [
        ("1", "a", "running", False, 1),
        ("2", "b", "running", False, 0),
        ("3", "c", "running", False, 0),
    ]
    assert view["counts"] == {"healthy": 1, "under_replicated": 0, "below_min_isr": 0, "offline": 0}
    one = view["partitions"]["t-0"]
    assert (one["leader"], one["isr"], one["min_isr"], one["state"]) == (1, [1, 2, 3], 2, "healthy")
    assert (one["high_watermark"], one["end"]) == (2, 2)
    assert {
        broker: (copy["role"], copy["high_watermark"], copy["end"], copy["epochs"])
        for broker, copy in one["copies"].items()
    } == {
        "1": ("leads", 2, 2, [[0, 0]]),
        "2": ("follows", 2, 2, [[0, 0]]),
        "3": ("follows", 2, 2, [[0, 0]]),
    }
    assert one["copies"]["1"]["followers"]["2"]["end"] == 2
    assert [copy["lag"] for copy in one["copies"].values()] == [0, 0, 0]
    assert one["copies"]["2"]["fetch"] == {"step": "fetching", "offset": 2, "lag": 0}
    assert view["links"]["broker-1>broker-2"] == {"cut": [], "slow": {}, "verbs": ["cut_link", "slow_link"]}
    assert len(view["links"]) == 6  # three between brokers, three to the controller


def test_it_is_plain_and_looking_changes_nothing():
    cluster, other = cluster_with_records(), cluster_with_records()
    for _ in range(20):
        cluster.run(0.05)
        assert json.loads(json.dumps(cluster_view(cluster.world))) == cluster_view(cluster.world)
    other.run(1)
    assert cluster.told == other.told and cluster.world.made == other.world.made


def test_a_leader_that_crashes_keeps_its_log_and_loses_its_role():
    cluster = cluster_with_records()
    cluster.world.crash(broker_node(1))
    at_once = partition(cluster)
    assert (at_once["leader"], at_once["state"], at_once["high_watermark"], at_once["end"]) == (
        1,
        "healthy",
        None,
        None,
    )
    assert (at_once["copies"]["1"]["role"], at_once["copies"]["1"]["end"]) == ("not_running", 2)
    cluster.run(8)
    later = partition(cluster)
    assert (later["leader"], later["leader_epoch"], later["isr"], later["state"]) == (
        2,
        1,
        [2, 3],
        "under_replicated",
    )
    assert later["copies"]["2"]["epochs"] == [[0, 0], [1, 2]]
    assert (later["copies"]["3"]["follows"], later["copies"]["1"]["is_in_isr"]) == (2, False)
    assert cluster_view(cluster.world)["brokers"]["1"]["is_fenced"]


def test_too_few_in_sync_then_nobody():
    cluster = cluster_with_records()
    for broker, state in ((2, "under_replicated"), (3, "below_min_isr"), (1, "offline")):
        cluster.world.crash(broker_node(broker))
        cluster.run(8)
        assert partition(cluster)["state"] == state
    assert cluster_view(cluster.world)["counts"]["offline"] == 1


def test_replica_that_a_move_adds_makes_nothing_under_replicated():
    cluster = Cluster(
        topics=(TopicPlan("t", 1, 2, 2, assignments=((1, 2),)),), broker_session_timeout_ms=3_000
    )
    cluster.world.crash(broker_node(3))
    cluster.run(8)
    verbs.reassign(cluster.world, "t", 0, [3, 1])
    cluster.run(1)
    assert (partition(cluster)["adding"], partition(cluster)["isr"], partition(cluster)["state"]) == (
        [3],
        [1, 2],
        "healthy",
    )
    cluster.world.crash(broker_node(2))
    cluster.run(8)
    assert (partition(cluster)["isr"], partition(cluster)["state"]) == ([1], "below_min_isr")


def test_what_is_on_the_wire_has_its_numbers_and_its_time():
    cluster = cluster_with_records()
    records = light_batch(["c"], timestamp=0, producer_id=7, producer_epoch=0, base_sequence=0)
    cluster.world.order(
        "client", Ask(broker_node(1), ProduceRequest(-1, 30_000, [ProducePartition("t", 0, records)]))
    )
    produce = next(one for one in cluster_view(cluster.world)["wire"].values() if one["kind"] == "produce")
    assert (produce["from"], produce["to"], produce["parts"]) == ("client", "broker-1", [["t", 0, 1, 0, -1]])
    assert produce["due_us"] == cluster.world.now_us + 1_000
    cluster.run(0.0015)
    answers = [one for one in cluster_view(cluster.world)["wire"].values() if one["kind"] == "fetched"]
    assert sorted(one["to"] for one in answers) == ["broker-2", "broker-3"]
    assert answers[0]["parts"] == [
        ["t", 0, 2, 1, 2, 0, -1, -1]
    ]  # from offset 2 one record; high watermark 2, no error, no divergence


def test_what_is_held_by_a_cut_has_no_time():
    cluster = cluster_with_records()
    world = cluster.world
    verbs.cut_link(world, 2, 1, one_way=True)
    verbs.slow_link(world, 1, 3, 50_000)
    cluster.run(2)
    view = cluster_view(world)
    assert view["links"]["broker-1>broker-2"] == {
        "cut": ["broker-2"],
        "slow": {},
        "verbs": ["heal_link", "cut_link", "slow_link"],
    }
    assert view["links"]["broker-1>broker-3"]["slow"] == {"broker-1": 50_000, "broker-3": 50_000}
    held = [one for one in view["wire"].values() if one["from"] == "broker-2" and one["to"] == "broker-1"]
    assert held and all(one["due_us"] is None for one in held)


CONDITIONS = {
    "running": lambda world: None,
    "shutting down": lambda world: (verbs.stop(world, 1), world.advance(world.now_us + 500)),
    "stopped": lambda world: (verbs.stop(world, 1), world.advance(world.now_us + 5_000_000)),
    "paused": lambda world: verbs.pause(world, 1),
    "crashed": lambda world: verbs.crash(world, 1),
    "without a disk": lambda world: verbs.lose_disk(world, 1),
}
REFUSED_AT_TIMES = ("stop", "pause", "resume", "crash", "cut_power", "lose_disk", "come_back")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_broker_is_offered_just_what_is_not_refused(condition):
    for verb in REFUSED_AT_TIMES:
        world = cluster_with_records().world
        CONDITIONS[condition](world)
        offered = cluster_view(world)["brokers"]["1"]["verbs"]
        if verb in offered:
            getattr(verbs, verb)(world, 1)
        else:
            with pytest.raises(CommandError):
                getattr(verbs, verb)(world, 1)


def test_a_link_is_offered_what_is_not_refused():
    world = cluster_with_records().world
    for ways in ([], ["broker-1"], ["broker-1", "broker-2"]):
        link = cluster_view(world)["links"]["broker-1>broker-2"]
        assert (link["cut"], "heal_link" in link["verbs"], "cut_link" in link["verbs"]) == (
            ways,
            bool(ways),
            len(ways) < 2,
        )
        if len(ways) < 2:
            verbs.cut_link(world, 1, 2, one_way=not ways)
    with pytest.raises(CommandError):
        verbs.cut_link(world, 1, 2)
