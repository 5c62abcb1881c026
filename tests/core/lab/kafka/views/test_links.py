"""Cables of a cluster: who is linked with whom, who is not heard, and whom a consumer's cable is listed
for."""

import pytest

from broker_core.events import Json
from broker_core.lab.kafka.views.broker_verbs import link_verbs
from broker_core.lab.kafka.views.links import (
    are_linked,
    clients_of,
    clients_view,
    cut_links,
    links_view,
    nodes_of,
    writers_of,
)
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.sim.world import World
from tests.core.lab.small import SECOND, lab_of, lane_of, order


def cluster(consumers: int = 1, seconds: float = 1) -> Lab:
    lane = {"model": "kafka", "brokers": 3, "partitions": 3, "offsets_partitions": 1}
    lab = Lab(
        scenario_from_json(
            {"lanes": [lane], "consumers": consumers, "workload": {"kind": "uniform", "keys": 5, "rate": 5}}
        )
    )
    lab.advance_to(int(seconds * SECOND))
    return lab


def world_of(lab: Lab) -> World:
    return lane_of(lab).world


def test_brokers_and_the_controller_are_linked_with_one_another_and_the_producer_with_each_broker() -> None:
    links = links_view(world_of(cluster(consumers=0)))
    assert set(links) == {
        "broker-1>broker-2",
        "broker-1>broker-3",
        "broker-1>controller",
        "broker-2>broker-3",
        "broker-2>controller",
        "broker-3>controller",
        "broker-1>producer",
        "broker-2>producer",
        "broker-3>producer",
    }
    assert all(link == {"cut": [], "slow": {}, "verbs": ["cut_link", "slow_link"]} for link in links.values())


def test_consumers_cable_is_listed_where_it_is_connected_or_in_trouble() -> None:
    lab = cluster(consumers=0)
    order(lab, "join", "c1")

    def listed() -> list[str]:
        return [name for name in links_view(world_of(lab)) if "c1" in name]

    assert listed() == ["broker-1>c1"], "the broker that it asks first"
    order(lab, "cluster_slow_link", one="c1", other="broker-3", delay_us=5)
    assert listed() == ["broker-1>c1", "broker-3>c1"] and links_view(world_of(lab))["broker-3>c1"][
        "slow"
    ] == {"broker-3": 5, "c1": 5}
    order(lab, "cluster_slow_link", one="c1", other="broker-3")
    order(lab, "cluster_cut_link", one="broker-2", other="c1", one_way=True)
    assert listed() == ["broker-1>c1", "broker-2>c1"] and links_view(world_of(lab))["broker-2>c1"]["cut"] == [
        "broker-2"
    ]


def test_one_way_that_is_cut_is_that_of_the_one_who_is_not_heard() -> None:
    lab = cluster()
    order(lab, "cluster_cut_link", one="controller", other="broker-2", one_way=True)
    world = world_of(lab)
    assert cut_links(world) == {"broker-2>controller": ["controller"]}
    assert links_view(world)["broker-2>controller"]["cut"] == ["controller"]


@pytest.mark.parametrize(
    ("cut_count", "is_slow", "verbs"),
    [
        (0, False, ["cut_link", "slow_link"]),
        (1, False, ["heal_link", "cut_link", "slow_link"]),
        (2, False, ["heal_link", "slow_link"]),
        (2, True, ["heal_link", "quick_link"]),
    ],
)
def test_what_can_be_done_to_a_link(cut_count: int, is_slow: bool, verbs: list[str]) -> None:
    assert link_verbs(cut_count, is_slow) == verbs


@pytest.mark.parametrize(
    ("one", "other", "linked"),
    [
        ("broker-1", "broker-2", True),
        ("producer", "broker-1", True),
        ("broker-3", "c1", True),
        ("controller", "broker-1", True),
        ("controller", "producer", False),
        ("c1", "c2", False),
        ("c1", "producer", False),
    ],
)
def test_cable_has_a_broker_at_one_end(one: str, other: str, linked: bool) -> None:
    assert are_linked(one, other) is are_linked(other, one) is linked


def test_consumer_is_called_by_its_name_in_each_of_its_lives() -> None:
    lab = cluster()
    order(lab, "crash", "c1", seconds=0.1)
    order(lab, "rejoin", "c1", seconds=0.5)
    assert clients_of(world_of(lab))["c1"] == "c1~2" and set(clients_view(world_of(lab))) == {
        "producer",
        "c1",
    }
    assert clients_view(world_of(lab))["c1"] == {"kind": "consumer", "condition": "running", "verbs": []}


def test_writer_is_a_producer_that_can_be_paused() -> None:
    lab = cluster(consumers=0)
    order(lab, "cluster_create_topic", topic="t", partitions=1, replication_factor=1, seconds=0.5)
    order(lab, "cluster_start_writer", writer=3, topic="t", seconds=0.1)
    clients: Json = clients_view(world_of(lab))
    assert (
        clients["writer-3"] == {"kind": "producer", "condition": "running", "verbs": ["pause_writer"]}
        and clients["producer"]["verbs"] == []
    )
    order(lab, "cluster_pause_writer", writer=3)
    assert writers_of(world_of(lab)) == {"writer-3": "paused"} and clients_view(world_of(lab))["writer-3"][
        "verbs"
    ] == ["resume_writer"]


def test_world_without_a_cluster_has_neither_nodes_nor_clients_of_one() -> None:
    world = world_of(lab_of("rabbitmq", seconds=1))
    assert nodes_of(world) == [] and clients_of(world) == {} and writers_of(world) == {}


def test_other_groups_readers_are_no_clients_of_the_page() -> None:
    lane = {
        "model": "kafka",
        "brokers": 1,
        "partitions": 1,
        "offsets_partitions": 1,
        "groups": {"audit": {"consumers": 1}},
    }
    lab = Lab(
        scenario_from_json(
            {"lanes": [lane], "consumers": 1, "workload": {"kind": "uniform", "keys": 5, "rate": 5}}
        )
    )
    lab.advance_to(SECOND)
    assert set(clients_of(world_of(lab))) == {"producer", "c1"}
