"""Orders carried out: what each does to a small lab's world, its card, its sentence, and to lanes that have
nothing of the kind."""

from typing import Any

import pytest

from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.small import SECOND, kinds, lab_of, lane_of, order, refusal

CLUSTER = {"model": "kafka", "brokers": 2, "partitions": 2, "offsets_partitions": 1}
WORKLOAD = {"kind": "uniform", "keys": 5, "rate": 5}


def cluster_lab(*more: Json, seconds: float = 1) -> Lab:
    lab = Lab(scenario_from_json({"lanes": [CLUSTER, *more], "consumers": 1, "workload": WORKLOAD}))
    lab.advance_to(int(seconds * SECOND))
    return lab


def cards(lab: Lab) -> list[tuple[str, list[str]]]:
    return [(card["verb"], card["target"]) for card in lab.view()["lanes"]["kafka"]["cluster"]["faults"]]


def broker(lab: Lab, number: int) -> Json:
    found: Json = lab.view()["lanes"]["kafka"]["cluster"]["brokers"][str(number)]
    return found


@pytest.mark.parametrize(
    ("verb", "args", "seen"),
    [
        ("crash", {}, {"condition": "crashed"}),
        ("cut_power", {}, {"condition": "crashed"}),
        ("pause", {}, {"condition": "paused"}),
        ("stop", {}, {"stage": "shutting_down"}),
        ("slow_disk", {"write_us": 7_000}, {"disk": "slow"}),
        ("skew_clock", {"skew_ms": 9}, {"skew_ms": 9}),
        ("skew_clock", {"skew_ms": -9}, {"skew_ms": -9}),
    ],
)
def test_fault_is_done_to_the_broker_that_is_named_and_to_no_other(
    verb: str, args: dict[str, Any], seen: Json
) -> None:
    lab = cluster_lab()
    before = broker(lab, 1)
    order(lab, f"cluster_{verb}", broker=2, **args)
    assert {name: broker(lab, 2)[name] for name in seen} == seen
    assert {name: broker(lab, 1)[name] for name in ("condition", "stage")} == {
        name: before[name] for name in ("condition", "stage")
    }
    assert cards(lab) == [(f"{verb}_behind" if args.get("skew_ms", 0) < 0 else verb, ["broker-2"])]


@pytest.mark.parametrize(
    ("verb", "end"), [("pause", "resume"), ("crash", "come_back"), ("cut_power", "come_back")]
)
def test_fault_can_be_ended(verb: str, end: str) -> None:
    lab = cluster_lab()
    order(lab, f"cluster_{verb}", broker=2, seconds=0.5)
    order(lab, f"cluster_{end}", broker=2)
    assert broker(lab, 2)["condition"] == "running" and [card[0] for card in cards(lab)] == [verb, end]


def test_disk_that_is_lost_cannot_be_lost_again_and_that_is_foreseen() -> None:
    lab = cluster_lab()
    order(lab, "cluster_lose_disk", broker=2)
    assert refusal(lambda: order(lab, "cluster_lose_disk", broker=2)) == (
        "args.broker",
        "args.broker: broker 2 has lost its disk already",
    )


def links(lab: Lab, name: str) -> Json:
    found: Json = lab.view()["lanes"]["kafka"]["cluster"]["links"][name]
    return found


def test_link_is_cut_one_way_or_both_slowed_and_healed() -> None:
    lab = cluster_lab()
    order(lab, "cluster_cut_link", one="broker-2", other="broker-1", one_way=True)
    assert links(lab, "broker-1>broker-2") == {
        "cut": ["broker-2"],
        "slow": {},
        "verbs": ["heal_link", "cut_link", "slow_link"],
    }
    order(lab, "cluster_cut_link", one="broker-1", other="broker-2")
    assert (
        links(lab, "broker-1>broker-2")["cut"] == ["broker-1", "broker-2"]
        and links(lab, "broker-1>controller")["cut"] == []
    )
    order(lab, "cluster_slow_link", one="broker-2", other="broker-1", delay_us=9_000)
    assert links(lab, "broker-1>broker-2")["slow"] == {"broker-1": 9_000, "broker-2": 9_000}
    order(lab, "cluster_heal_link", one="broker-1", other="broker-2")
    order(lab, "cluster_slow_link", one="broker-1", other="broker-2")
    assert links(lab, "broker-1>broker-2") == {"cut": [], "slow": {}, "verbs": ["cut_link", "slow_link"]}
    assert [card[1] for card in cards(lab)][:2] == [["broker-2", "broker-1"], ["broker-1", "broker-2"]]


def test_link_of_a_consumer_is_that_of_its_present_life() -> None:
    lab = cluster_lab()
    order(lab, "crash", "c1", seconds=0.1)
    order(lab, "rejoin", "c1", seconds=0.5)
    order(lab, "cluster_cut_link", one="c1", other="broker-1")
    world = lane_of(lab).world
    assert world.routes["c1~2", "broker-1"].is_cut and ("c1", "broker-1") not in world.routes
    assert links(lab, "broker-1>c1")["cut"] == ["broker-1", "c1"]


def test_fault_for_all_lanes_leaves_those_without_a_cluster_as_they_are() -> None:
    lab = cluster_lab({"model": "rabbitmq"}, {"model": "tubemq", "id": "plain"})
    before = {name: lab.lanes[name].to_json() for name in ("rabbitmq", "plain")}
    told = order(lab, "cluster_crash", broker=1) + order(lab, "group_assignor")
    assert {name: lab.lanes[name].to_json() for name in before} == before and {
        event["lane"] for event in told
    } <= {"kafka"}
    assert [entry["command"]["kind"] for entry in lab.history[1:]] == ["cluster_crash", "group_assignor"]


def test_more_partitions_are_no_fault_and_have_no_card() -> None:
    lab = cluster_lab()
    order(lab, "cluster_add_partitions", topic="records", count=4, seconds=1)
    assert cards(lab) == [] and len(lab.view()["lanes"]["kafka"]["cluster"]["partitions"]) == 4


def test_writer_runs_is_paused_and_goes_on() -> None:
    lab = cluster_lab()
    order(lab, "cluster_create_topic", topic="t", partitions=1, replication_factor=2, seconds=0.5)
    order(lab, "cluster_start_writer", writer=2, topic="t", seconds=0.2)
    for kind, condition in (("pause", "paused"), ("resume", "running")):
        order(lab, f"cluster_{kind}_writer", writer=2)
        assert lab.view()["lanes"]["kafka"]["cluster"]["clients"]["writer-2"]["condition"] == condition
    assert [card[0] for card in cards(lab)] == [
        "create_topic",
        "start_writer",
        "pause_writer",
        "resume_writer",
    ]


def pulsar(**lane: Any) -> Lab:
    return lab_of("pulsar", seconds=2, **lane)


@pytest.mark.parametrize(
    ("kind", "args", "code", "params"),
    [
        ("hold_acks", {}, "pulsar.hold_acks", {}),
        ("release_acks", {}, "pulsar.release_acks", {}),
        ("seek", {"entry": 3}, "pulsar.seek", {}),
        ("priority", {"level": 4}, "pulsar.priority", {"level": 4}),
        ("unsubscribe", {}, "pulsar.unsubscribe", {}),
        ("redeliver", {}, "pulsar.redeliver", {}),
    ],
)
def test_order_to_a_pulsar_consumer_is_told_with_what_was_given(
    kind: str, args: dict[str, Any], code: str, params: Json
) -> None:
    lab = pulsar()
    told = order(lab, f"pulsar_{kind}", "c1", **args)
    (event,) = [event for event in told if event["kind"] == f"pulsar.consumer.{kind}"]
    assert (event["inputs"], event["data"], event["cause"]) == (args, {"consumer": "c1"}, {"command": 1})
    assert lane_of(lab).sentence == {"code": code, "params": {"consumer": "c1", **params}}


def test_consumer_that_holds_its_acks_keeps_what_it_handled_and_gives_it_back_in_order() -> None:
    lab = pulsar(consumers=1)
    lane = lane_of(lab)
    order(lab, "pulsar_hold_acks", "c1", seconds=2)
    held = lane.reads.held(lane.consumers["c1"])
    assert held > 10 and lane.reads.lag() >= held
    order(lab, "pulsar_release_acks", "c1", seconds=1)
    assert lane.reads.held(lane.consumers["c1"]) < 5


def test_priority_outlives_the_connection_with_the_ranges_that_it_had() -> None:
    lab = pulsar(algorithm="shared")
    order(lab, "pulsar_priority", "c1", level=4, seconds=1)
    consumer = lane_of(lab).consumers["c1"]
    assert consumer.set_to == {"priority": 4}
    order(lab, "crash", "c1", seconds=1)
    order(lab, "rejoin", "c1", seconds=1)
    assert lab.view()["lanes"]["pulsar"]["pulsar"]["consumers"]["c1"]["priority"] == 4


def test_sticky_ranges_are_for_sticky_lanes_alone_when_the_order_is_for_all() -> None:
    lanes = [{"model": "pulsar", "id": "ring"}, {"model": "pulsar", "id": "sticky", "algorithm": "sticky"}]
    lab = Lab(scenario_from_json({"lanes": lanes, "consumers": 1, "workload": WORKLOAD}))
    lab.advance_to(SECOND)
    field, _ = refusal(lambda: order(lab, "pulsar_ranges", "c1", ranges=[[0, 9]]))
    assert field == "consumer", "in one of the lanes it makes no sense"
    lab.submit(
        {
            "command_id": "r",
            "kind": "pulsar_ranges",
            "lane": "sticky",
            "consumer": "c1",
            "args": {"ranges": [[0, 9]]},
        }
    )
    lab.advance_to(2 * SECOND)
    assert (
        lab.lanes["sticky"].sentence["code"] == "pulsar.ranges"
        and lab.lanes["ring"].sentence["code"] == "none"
    )


def test_lost_receipts_cut_only_what_the_broker_says_and_end_by_themselves() -> None:
    lab = lab_of("pulsar", seconds=2, receipts=True)
    told = order(lab, "pulsar_lose_receipts")
    assert "pulsar.receipts.lost" in kinds(told) and lane_of(lab).sentence == {
        "code": "pulsar.lose_receipts",
        "params": {"seconds": 2},
    }
    told = lab.advance_to(lab.now_us + 6 * SECOND)
    assert "pulsar.producer.sent_again" in kinds(told)


def test_order_for_a_crashed_consumer_of_a_replayed_past_does_nothing() -> None:
    """In another lane's past it may still have been alive."""
    lab = pulsar()
    order(lab, "pulsar_hold_acks", "c1")
    order(lab, "crash", "c2", seconds=1)
    told = lab.submit(
        {"command_id": "s", "kind": "set_algorithm", "lane": "pulsar", "args": {"algorithm": "shared"}}
    )
    assert kinds(told) == ["pulsar.algorithm_switched"] and lane_of(lab).consumers["c2"].state == "crashed"
