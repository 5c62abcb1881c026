"""What is stored beside a view is what the lab itself knows, but for what time changes; and it comes back from its
text as it was made."""

from collections.abc import Callable
from typing import Any

import pytest

from broker_core.clock import SECOND_US
from broker_core.lab.facts import facts_from_text
from broker_core.lab.kafka.facts import KafkaFacts
from broker_core.lab.lab import Lab
from broker_core.lab.pulsar.facts import PulsarFacts
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.small import SECOND, lab_of, order, stored


def agree(lab: Lab) -> None:
    own, known = lab.facts(), stored(lab)
    assert {name: lane.settled() for name, lane in own.lanes.items()} == known.lanes
    assert list(own.lanes) == list(known.lanes)
    assert (own.is_playing, own.limits, own.parts) == (known.is_playing, known.limits, known.parts)


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
def test_web_and_lab_know_the_same_of_consumers(model: str, life: str) -> None:
    lab = lab_of(model, seconds=9, rate=2)
    LIVES[life](lab)
    agree(lab)


@pytest.mark.parametrize(("life", "is_its_own"), [("slow", True), ("fast", True), ("own pace", False)])
def test_pace_that_an_order_set_is_its_own_unless_it_is_the_scenarios(life: str, is_its_own: bool) -> None:
    lab = lab_of("rabbitmq", seconds=9, rate=2, consumer_rate=10)
    LIVES[life](lab)
    assert stored(lab).lanes["rabbitmq"].consumer("c1").has_own_pace is is_its_own


@pytest.mark.parametrize(
    "lane", [{"algorithm": "shared"}, {"order": "draining"}, {"receipts": True}, {"algorithm": "sticky"}]
)
def test_web_and_lab_know_the_same_of_a_pulsar_lane(lane: dict[str, Any]) -> None:
    lab = lab_of("pulsar", seconds=1, **lane)
    agree(lab)
    known = stored(lab).lanes["pulsar"]
    assert isinstance(known, PulsarFacts)
    assert (known.order, known.has_receipts) == (
        None if lane.get("algorithm") == "shared" else lane.get("order", known.order),
        lane.get("receipts", False),
    )


@pytest.mark.parametrize("rate", [1, 3, 7, 999, 3_001, 70_000, 99_999])
def test_pace_of_the_scenario_is_nobodys_own_however_it_divides_a_second(rate: int) -> None:
    lab = lab_of("rabbitmq", consumer_rate=rate)
    assert stored(lab).lanes["rabbitmq"].consumer("c1").has_own_pace is False
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


def known_of(lab: Lab) -> KafkaFacts:
    known = stored(lab).lanes["kafka"]
    assert isinstance(known, KafkaFacts)
    return known


def test_web_and_lab_know_the_same_of_a_cluster(faulty: Lab) -> None:
    agree(faulty)
    known = known_of(faulty)
    assert known.topics == {"records": 2, "t-1": 2} and known.own_topic == "records"
    assert [known.partitions(topic) for topic in ("records", "t-1", "t")] == [2, 2, 0]
    assert known.writers == {"writer-1": "paused"}
    assert [known.brokers[number].stage for number in (1, 2, 3, 4)] == [
        "running", "paused", "crashed", "crashed",
    ]  # fmt: skip
    assert "lose_disk" not in known.brokers[4].verbs
    assert known.group_state is None and known.owned is None
    live = faulty.facts().lanes["kafka"]
    assert isinstance(live, KafkaFacts) and live.group_state is not None and live.owned is not None


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
def test_it_is_known_who_is_not_heard_whichever_end_is_named_first(
    faulty: Lab, one: str, other: str, cut: list[str]
) -> None:
    assert sorted(known_of(faulty).cut(one, other)) == cut


def test_frozen_and_stuck_members_are_known(faulty: Lab) -> None:
    known = known_of(faulty)
    assert known.consumer("c2").is_frozen and known.consumer("c3").is_stuck


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"lanes": [{"type": "lane"}], "is_playing": false, "parts": 0}']
)
def test_facts_of_another_version_are_not_known(text: str) -> None:
    assert facts_from_text(text, lab_of("rabbitmq").limits) is None
