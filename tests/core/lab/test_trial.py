"""What a change would do is what it does when it is made."""

import pytest

from broker_core.errors import CommandError
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
