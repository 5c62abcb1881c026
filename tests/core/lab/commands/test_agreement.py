"""A page knows of a lab what its commands need: each fact read from a view is the one that the lab itself
has."""

from collections.abc import Callable
from typing import Any

import pytest

from broker_core.clock import SECOND_US
from broker_core.lab.commands.facts import LaneFacts, facts_of_lab, facts_of_view
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.small import SECOND, lab_of, order


def both(lab: Lab, lane: str) -> tuple[LaneFacts, LaneFacts]:
    return facts_of_lab(lab).lanes[lane], facts_of_view(lab.view(), lab.limits).lanes[lane]


def agree(lab: Lab) -> None:
    own, seen = facts_of_lab(lab), facts_of_view(lab.view(), lab.limits)
    assert list(own.lanes) == list(seen.lanes) and (own.is_playing, own.limits) == (
        seen.is_playing,
        seen.limits,
    )
    for lane_id in own.lanes:
        lane, page = own.lanes[lane_id], seen.lanes[lane_id]
        for name in ("id", "model", "algorithm", "order", "algorithms", "has_receipts"):
            assert getattr(lane, name) == getattr(page, name), (lane_id, name)
        assert sorted(lane.names) == sorted(page.names)
        assert {name: lane.consumer(name) for name in lane.names} == {
            name: page.consumer(name) for name in page.names
        }
        assert sorted(lane.nodes) == sorted(page.nodes)


LIVES: dict[str, Callable[[Lab], Any]] = {
    "slow": lambda lab: order(lab, "slow", "c1", rate=3),
    "fast": lambda lab: order(lab, "slow", "c1", rate=70),
    "paused": lambda lab: order(lab, "pause", "c1"),
    "own pace": lambda lab: order(lab, "slow", "c1", rate=10),
    "crashed": lambda lab: order(lab, "crash", "c1"),
    "gone": lambda lab: order(lab, "crash", "c1", seconds=200),
    "back": lambda lab: (order(lab, "crash", "c1"), order(lab, "rejoin", "c1")),
    "left": lambda lab: order(lab, "leave", "c1"),
    "come": lambda lab: order(lab, "join", count=2),
    "playing": lambda lab: order(lab, "play"),
}


@pytest.mark.parametrize("model", ["rabbitmq", "tubemq", "pulsar"])
@pytest.mark.parametrize("life", LIVES)
def test_page_and_lab_know_the_same_of_consumers(model: str, life: str) -> None:
    lab = lab_of(model, seconds=9, rate=2)
    LIVES[life](lab)
    agree(lab)


@pytest.mark.parametrize(
    "lane", [{"algorithm": "shared"}, {"order": "draining"}, {"receipts": True}, {"algorithm": "sticky"}]
)
def test_page_and_lab_know_the_same_of_a_pulsar_lane(lane: dict[str, Any]) -> None:
    agree(lab_of("pulsar", seconds=1, **lane))


@pytest.mark.parametrize("rate", [1, 3, 7, 999, 3_001, 70_000, 99_999])
def test_pace_of_the_scenario_is_nobodys_own_however_it_divides_a_second(rate: int) -> None:
    lab = lab_of("rabbitmq", consumer_rate=rate)
    lane, page = both(lab, "rabbitmq")
    assert lane.consumer("c1").has_own_pace is page.consumer("c1").has_own_pace is False
    assert lab.service_us == SECOND_US // rate


@pytest.fixture(scope="module")
def faulty() -> Lab:
    """A cluster of four with a fault of each kind, a writer that is paused, and a topic beside the lane's
    own."""
    lane = {"model": "kafka", "brokers": 4, "partitions": 2, "offsets_partitions": 1, "replication_factor": 2}
    lab = Lab(
        scenario_from_json(
            {"lanes": [lane], "consumers": 3, "workload": {"kind": "uniform", "keys": 5, "rate": 5}}
        )
    )
    lab.advance_to(SECOND)
    order(lab, "cluster_create_topic", topic="t-1", partitions=2, replication_factor=2, seconds=1)
    order(lab, "cluster_start_writer", writer=1, topic="t-1", seconds=1)
    order(lab, "cluster_pause_writer", writer=1)
    order(lab, "cluster_pause", broker=2)
    order(lab, "cluster_crash", broker=3)
    order(lab, "cluster_lose_disk", broker=4)
    order(lab, "cluster_cut_link", one="broker-1", other="c1", one_way=True)
    order(lab, "cluster_cut_link", one="broker-1", other="controller")
    order(lab, "group_freeze", "c2")
    order(lab, "group_stick", "c3")
    return lab


def test_page_and_lab_know_the_same_of_a_cluster(faulty: Lab) -> None:
    agree(faulty)
    lane, page = both(faulty, "kafka")
    assert (
        dict(lane.topics) == dict(page.topics) == {"records": 2, "t-1": 2}
        and lane.own_topic == page.own_topic == "records"
    )
    assert (
        [lane.partitions(topic) for topic in ("records", "t-1", "t")]
        == [page.partitions(topic) for topic in ("records", "t-1", "t")]
        == [2, 2, 0]
    )
    assert lane.writers == page.writers == {"writer-1": "paused"}
    for number in (1, 2, 3, 4):
        assert lane.broker(number) == page.broker(number)


@pytest.mark.parametrize(
    ("one", "other", "cut"),
    [
        ("broker-1", "c1", ["broker-1"]),
        ("c1", "broker-1", ["broker-1"]),
        ("controller", "broker-1", ["broker-1", "controller"]),
        ("broker-1", "broker-2", []),
        ("producer", "broker-1", []),
    ],
)
def test_page_and_lab_know_who_is_not_heard_whichever_end_is_named_first(
    faulty: Lab, one: str, other: str, cut: list[str]
) -> None:
    lane, page = both(faulty, "kafka")
    assert sorted(lane.cut(one, other) or []) == sorted(page.cut(one, other) or []) == cut


def test_frozen_and_stuck_members_are_so_for_both(faulty: Lab) -> None:
    lane, page = both(faulty, "kafka")
    assert (
        lane.consumer("c2").is_frozen
        and page.consumer("c2").is_frozen
        and lane.consumer("c3").is_stuck
        and page.consumer("c3").is_stuck
    )
