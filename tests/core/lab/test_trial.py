"""What a change would do is what it does when it is made."""

from fractions import Fraction

import pytest

from broker_core.errors import CommandError
from broker_core.hashing.hash_range import moved_share
from broker_core.kafka.producer.partitioner import positive_key_hash
from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.trial import tried

JOIN = {"kind": "join", "lane": "all", "consumer": None, "args": {"count": 1}}


def lab_at(second: int, **scenario):
    lab = Lab(scenario_from_json(scenario))
    lab.advance_to(second * 1_000_000)
    return lab


def leave(name, lane="all"):
    return {"kind": "leave", "lane": lane, "consumer": name, "args": {}}


@pytest.mark.parametrize("order", [JOIN, leave("c2"), {**leave("c1"), "kind": "crash"}])
def test_the_outcome_is_that_of_the_lab_that_is_given_the_order(order):
    asked = whole(tried(lab_at(30), order, "N342NW"))
    lab = lab_at(30)
    lab.submit({"command_id": "x", **order})
    rests = {lane_id: told["outcome"]["rest_us"] for lane_id, told in asked["lanes"].items()}
    for lane_id, rest_us in sorted(rests.items(), key=lambda item: item[1] or 0):
        assert rest_us is not None
        lab.advance_to(30_000_000 + rest_us)
        shown = lab.view()["lanes"][lane_id]
        told = asked["lanes"][lane_id]
        assert told["outcome"]["bill"] == shown["bill"] and shown["bill"]["settled"]
        if "partitions" in shown["picture"] and told["key"]["after"]:
            unit = told["key"]["after"]["unit"]
            assert shown["picture"]["partitions"][unit]["owner"] == told["key"]["after"]["consumer"]


def test_a_key_goes_where_its_newest_record_went():
    lab = lab_at(40)
    routes = {lane_id: lane["route"] for lane_id, lane in lab.view()["lanes"].items()}
    key = routes["kafka"]["key"]
    told = whole(tried(lab, None, key))["lanes"]
    for lane_id in ("pulsar", "kafka", "tubemq"):
        now = told[lane_id]["key"]["now"]
        assert now == {name: routes[lane_id][name] for name in ("hash", "unit", "consumer", "waits")}
        assert told[lane_id]["key"]["after"] is None and told[lane_id]["outcome"] is None
    assert told["rabbitmq"]["key"] == {"now": None, "after": None}


def test_a_key_that_no_record_has_had_goes_somewhere_too():
    first, again = (whole(tried(lab_at(20), None, "never seen"))["lanes"] for _ in range(2))
    assert first == again
    assert first["kafka"]["key"]["now"]["unit"] == str(positive_key_hash(b"never seen") % 12)
    assert all(first[lane]["key"]["now"]["consumer"] for lane in ("pulsar", "kafka", "tubemq"))


def test_an_order_for_one_lane_has_an_outcome_in_that_lane_alone():
    told = whole(tried(lab_at(20), leave("c2", "kafka"), None))["lanes"]
    assert [lane for lane, said in told.items() if said["outcome"]] == ["kafka"]
    assert told["kafka"]["outcome"]["questions"][0]["figure"] == "partitions_moved"


def test_what_stays_without_a_reader_is_named_and_its_pause_is_no_question():
    told = whole(tried(lab_at(20), {**leave("c1"), "kind": "crash"}, None))["lanes"]["tubemq"]["outcome"]
    assert told["stopped"]
    assert [asked["figure"] for asked in told["questions"]] == ["partitions_moved"]


def test_what_the_lab_refuses_is_refused_at_its_field():
    with pytest.raises(CommandError) as refused:
        whole(tried(lab_at(20), leave("nobody"), None))
    assert refused.value.field == "consumer"


MARKED = {
    "workload": {"kind": "uniform", "keys": 40, "rate": 36},
    "lanes": [
        {"model": "pulsar", "id": "ranges", "algorithm": "auto_split"},
        {"model": "pulsar", "id": "ring"},
        {"model": "pulsar", "id": "turns", "algorithm": "shared"},
        {"model": "kafka"},
        {"model": "tubemq"},
        {"model": "rabbitmq"},
    ],
}


@pytest.mark.parametrize("order", [JOIN, leave("c1"), {**leave("c2"), "kind": "crash"}])
def test_what_can_be_marked_is_what_the_lab_then_comes_to(order):
    told = whole(tried(lab_at(15, **MARKED), order, None))["lanes"]
    lab = lab_at(15, **MARKED)
    spaces = {lane.id: lane.reads.space() for lane in lab.lanes.values()}
    held = {
        lane.id: {item["record"] for items in lane.reads.picture()["in_flight"].values() for item in items}
        for lane in lab.lanes.values()
        if "in_flight" in lane.reads.picture()
    }
    lab.submit({"command_id": "x", **order})
    for lane_id, lane in sorted(lab.lanes.items(), key=lambda item: told[item[0]]["outcome"]["rest_us"] or 0):
        outcome = told[lane_id]["outcome"]
        lab.advance_to(15_000_000 + outcome["rest_us"])
        marks = outcome["marks"]
        if marks["partition"] is not None:
            assert marks["partition"]["total"] == 12
            assert marks["partition"]["true"] == list(lane.ledger.bill.moved_units)
        if marks["slot"] is not None:
            (was, owners, size, first), (now, others, *_rest) = spaces[lane_id], lane.reads.space()
            share = moved_share((was, owners), (now, others), size, first)
            moved = sum(high - low + 1 for low, high in marks["slot"]["true"])
            assert share == Fraction(moved, size - first)
        if marks["record"] is not None:
            assert set(marks["record"]["true"]) <= held[lane_id] and marks["record"]["total"] == len(
                held[lane_id]
            )
    kinds = {
        lane_id: [kind for kind, part in lane["outcome"]["marks"].items() if part]
        for lane_id, lane in told.items()
    }
    assert kinds == {
        "ranges": ["slot"], "ring": ["slot"], "turns": ["record"], "kafka": ["partition"], "tubemq": ["partition"],
        "rabbitmq": ["record"],
    }  # fmt: skip


def test_messages_that_a_leaver_held_come_again_and_no_others():
    told = whole(tried(lab_at(15, **MARKED), leave("c1", "rabbitmq"), None))["lanes"]["rabbitmq"]["outcome"]
    lab = lab_at(15, **MARKED)
    held = [item["record"] for item in lab.lanes["rabbitmq"].reads.picture()["in_flight"]["c1"]]
    assert told["marks"]["record"]["true"] == sorted(held) and len(held) == told["bill"]["redelivered"]
