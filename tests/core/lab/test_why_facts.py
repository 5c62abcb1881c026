"""The turning points of Pulsar and RabbitMQ explain their numbers: which points landed where and whose keys
they took, whose turn it was."""

import json
from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.pulsar.reading import PulsarReading
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.lane import Lane

LISTED = 8


def lab_of(model: str, algorithm: str, **scenario: Any) -> Lab:
    lanes = [{"id": model, "model": model, "algorithm": algorithm}]
    lab = Lab(scenario_from_json({"seed": 7, "lanes": lanes, **scenario}))
    lab.advance_to(30_000_000)
    return lab


def order(lab: Lab, kind: str, **rest: Any) -> list[dict[str, Any]]:
    told = lab.submit({"command_id": f"x{lab.position}", "kind": kind, "lane": "all", **rest})
    return told + lab.advance_to(lab.now_us + lab.answer_us)


@pytest.mark.parametrize(
    "algorithm",
    [
        "consistent_hash",
        "consistent_hash_3_2_0",
        "consistent_hash_current",
        "ring_document",
        "auto_split",
        "sticky",
    ],
)
def test_a_newcomers_slices_sum_up_to_the_number_of_moved_keys(algorithm: str) -> None:
    lab = lab_of("pulsar", algorithm)
    data = order(lab, "join")[-1]["data"]
    lane = lab.lanes["pulsar"]
    bill = lane.ledger.bill
    assert isinstance(lane, Lane) and isinstance(lane.reads, PulsarReading)
    selector = lane.reads.subscription().selector
    assert bill is not None and bill.keys_moved > 0
    assert data["keys_moved"] == sum(entry["keys"] for entry in data["taken"]) == bill.keys_moved
    assert data["keys_total"] == bill.keys_total
    count = data["points"] if "points" in data else data["slices"]
    assert sum(entry["slices"] for entry in data["taken"]) == count
    assert [entry["keys"] for entry in data["largest"]] == sorted(
        (entry["keys"] for entry in data["largest"]), reverse=True
    )
    bounds, owners = selector.slices()
    for entry in data["largest"]:
        holder = lane.reads.key_of("c4")
        assert owners[list(bounds).index(entry["end"])] == holder and entry["consumer"] in ("c1", "c2", "c3")
    if algorithm.startswith("consistent"):
        assert count == 100 and {entry["consumer"] for entry in data["taken"]} == {"c1", "c2", "c3"}
    if algorithm in ("auto_split", "sticky"):
        assert len(data["taken"]) == len(data["largest"]) == count == 1


def test_a_slice_that_wraps_over_the_top_of_the_ring_is_counted_once() -> None:
    for seed in range(12):
        lab = Lab(
            scenario_from_json(
                {
                    "seed": seed,
                    "lanes": [{"id": "p", "model": "pulsar", "algorithm": "consistent_hash", "points": 2}],
                }
            )
        )
        lab.advance_to(20_000_000)
        data, bill = order(lab, "join", consumer=f"n{seed}")[-1]["data"], lab.lanes["p"].ledger.bill
        assert bill is not None and sum(entry["keys"] for entry in data["taken"]) == bill.keys_moved
        assert (
            sum(entry["keys"] for entry in data["largest"]) == bill.keys_moved
        )  # two points: all of them are listed


@pytest.mark.parametrize("algorithm", ["consistent_hash", "auto_split", "sticky"])
def test_a_leaver_names_who_has_its_keys_now(algorithm: str) -> None:
    lab = lab_of("pulsar", algorithm)
    data = order(lab, "leave", consumer="c1")[-1]["data"]
    bill = lab.lanes["pulsar"].ledger.bill
    assert (
        bill is not None
        and sum(entry["keys"] for entry in data["given"]) == data["keys_moved"] == bill.keys_moved
    )
    assert {entry["consumer"] for entry in data["given"]} <= (
        {None} if algorithm == "sticky" else {"c2", "c3"}
    )


def test_ten_newcomers_keep_their_turning_points_small() -> None:
    lab = lab_of("pulsar", "consistent_hash", consumers=30)
    events = order(lab, "join", args={"count": 10})
    told = [event["data"] for event in events if "taken" in event["data"]]
    assert 1 <= len(told) <= 4 and all(len(data["taken"]) <= LISTED for data in told)
    assert told[0]["taken_more"] > 0
    assert max(len(json.dumps(event)) for event in events) < 1500


def test_rabbitmq_tells_whose_turn_it_was_and_who_was_passed_over() -> None:
    lab = lab_of("rabbitmq", "prefetch_5")
    (joined,) = order(lab, "join")
    data, queue = joined["data"], lab.view()["lanes"]["rabbitmq"]["picture"]
    assert queue["ready"] > 0, "a backlog, so everybody's prefetch is full"
    assert data["turns"] == ["c4"] and data["received"] == [{"consumer": "c4", "records": 5}]
    assert {entry["consumer"] for entry in data["skipped"]} == {"c1", "c2", "c3", "c4"}
    assert all(entry["unacked"] == 5 for entry in data["skipped"])


def test_rabbitmqs_turn_goes_round_while_there_is_room() -> None:
    lab = lab_of("rabbitmq", "prefetch_unlimited")
    (closed,) = order(lab, "leave", consumer="c2")
    data = closed["data"]
    assert sorted(data["turns"]) == ["c1", "c3"] and data["skipped"] == []
    counts = {entry["consumer"]: entry["records"] for entry in data["received"]}
    assert sum(counts.values()) == data["delivered"] == closed["inputs"]["unacked"]
    assert max(counts.values()) - min(counts.values()) <= 1
    # The first in turn gets the odd one.
    if data["delivered"] % 2:
        assert counts[data["turns"][0]] > counts[data["turns"][1]]
