"""A name that leaves and comes back at once is another life: nothing that the former one set going reaches
it."""

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json


def lab_of(*models):
    # One record takes a second, so work is in hand whenever a consumer goes. In Pulsar a newcomer would wait
    # for all that was before it.
    more = {"pulsar": {"order": "out_of_order"}}
    lanes = [{"model": model, **more.get(model, {})} for model in models]
    scenario = {"lanes": lanes, "consumer_rate": 1, "workload": {"kind": "uniform", "keys": 50, "rate": 20}}
    lab = Lab(scenario_from_json(scenario))
    lab.advance_to(20_300_000)
    return lab


def order(lab, kind, consumer, **args):
    lab.submit({"command_id": f"x{lab.position}", "kind": kind, "consumer": consumer, "args": args})


@pytest.mark.parametrize("model", ["pulsar", "kafka", "tubemq", "rabbitmq"])
def test_leaver_that_joins_again_at_once_works_on_its_own_records_only(model):
    lab = lab_of(model)
    lane = lab.lanes[model]
    for _ in range(3):
        order(lab, "leave", "c1")
        order(lab, "join", "c1")
        lab.advance_to(lab.now_us + 100_000)
    began = lane.consumers["c1"].joined_us
    lab.advance_to(lab.now_us + 30_000_000)
    lane.reads.check()
    assert lane.consumers["c1"].acked_between(0, 1_000) <= (lab.now_us - began) // 1_000_000
    assert lane.consumers["c1"].acked_between(0, 1_000) > 0


@pytest.mark.parametrize("way", [("leave", "join"), ("crash", "rejoin")])
def test_tubemq_client_that_comes_back_begins_one_pass_a_period(way):
    lab = lab_of("tubemq")
    lane = lab.lanes["tubemq"]
    for kind in way:
        order(lab, kind, "c1")
    lab.advance_to(lab.now_us + 60_000_000)
    slots = [
        slot for slot in lane.world.slots.values() if slot.kind == "consumer" and "pass" in slot.deadlines
    ]
    assert sorted(slot.name for slot in slots) == sorted(
        consumer.incarnation for consumer in lane.consumers.values()
    )
