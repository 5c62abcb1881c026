"""The flights by tail number at 4 to 16 consumers: a study says of each change exactly what the live lab
says, on the same records.

HIGHWATER_FLIGHTS=336776 runs the whole year (about two minutes); the default is enough records for every
change to come to rest.
"""

import os

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.pipeline.result import result_json
from broker_core.pipeline.strategies import strategies_default
from broker_core.pipeline.study import study_check, study_run

RECORDS = int(os.environ.get("HIGHWATER_FLIGHTS", "7000"))
START, END = 4, 16
RATE, CONSUMER_RATE, SEED = 36, 10, 7
SCENARIO = {
    "seed": SEED,
    "consumers": START,
    "consumer_rate": CONSUMER_RATE,
    "workload": {"kind": "flights", "key": "tail_number", "rate": RATE},
}
CHANGES = [RECORDS * (number + 1) // (END - START + 2) for number in range(END - START)]
STRATEGIES = strategies_default()


@pytest.fixture(scope="module")
def study(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("equality")
    request = study_check(
        {
            "source": {"kind": "lab", "scenario": SCENARIO, "records": RECORDS},
            "strategies": [strategy.id for strategy in STRATEGIES],
            "history": {
                "kind": "given",
                "start": START,
                "changes": [{"kind": "join", "at": at} for at in CHANGES],
            },
            "service": {"rate": RATE, "consumer_rate": CONSUMER_RATE, "records_max": max(RECORDS, 1_000)},
        }
    )
    study_run(spark, request, folder, lambda progress: None, lambda: False)
    return result_json(folder)


def live_steps(strategy):
    """What the live lab shows at the end of each step: bill, weights, shares, skew, taken from the lab as a
    page would see it."""
    scenario = scenario_from_json(SCENARIO | {"lanes": [_lane(strategy)]})
    lab = Lab(scenario)
    (lane,) = lab.lanes.values()
    for number, (_, end) in enumerate(zip([0, *CHANGES], [*CHANGES, RECORDS], strict=True)):
        if number:
            lab.submit({"command_id": f"join-{number}", "kind": "join"})
        lab.advance_to(lab.workload.arrival_us(end - 1))
        assert lab.record_count == end
        view = lab.view()["lanes"][lane.id]
        assert not number or view["bill"]["settled"], "the changes follow too fast for this test"
        yield view, dict(lane.reads.weights())


def _lane(strategy):
    spec = strategy.lane_spec()
    return {"id": spec.id, "model": spec.model, "algorithm": spec.algorithm, **spec.options}


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.id)
def test_a_study_of_the_flights_is_the_live_lab_to_the_last_record(study, strategy):
    told = next(entry for entry in study["strategies"] if entry["id"] == strategy.id)
    for step, (view, weights) in zip(told["steps"], live_steps(strategy), strict=True):
        consumers = {name: consumer["share"] for name, consumer in view["consumers"].items()}
        assert {name: share["share"] for name, share in step["consumers"].items()} == consumers
        assert step["skew"] == view["skew"]
        if strategy.hash is not None:
            assert {name: share["records"] for name, share in step["consumers"].items()} == weights
        if step["step"]:
            bill = view["bill"]
            expected = (bill["keys_moved"], bill["keys_total"]) if strategy.hash else (None, None)
            assert (step["keys_moved"], step["keys_total"]) == expected
            assert (
                step["partitions_moved"] == bill["partitions_moved"]
                and step["partitions_total"] == bill["partitions_total"]
            )
            assert step["space_moved"] == bill["space_moved"]


def test_the_workload_is_told_as_it_is(study):
    lab = Lab(scenario_from_json(SCENARIO))
    codes = lab.workload.key_codes(0, RECORDS)
    workload = study["workload"]
    assert workload["records"] == RECORDS and workload["keyless_exact"]
    assert workload["no_key"] == codes.count(-1) and workload["keys"] == len(set(codes) - {-1})
    assert study["limits"]["timed_sample"] == {
        "records": RECORDS,
        "keys": workload["keys"],
        "rate": RATE,
        "exact": True,
    }
    hottest = study["hot_keys"][0]
    counts = sorted(
        ((codes.count(code), lab.workload.key(code)) for code in set(codes) - {-1}),
        key=lambda pair: (-pair[0], pair[1]),
    )
    assert (hottest["records"], hottest["key"]) == counts[0]
