"""Laws of every lane, whatever its model: time in pieces is time at once, a restored lane goes on the same,
and all comes to rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import LANE_KINDS, algorithm_ids, scenario_from_json
from tests.examples import examples

SECOND = 1_000_000
END_US = 90 * SECOND
ACTS = ("join", "join", "ten", "leave", "crash", "rejoin", "pause", "resume", "slow", "switch")

each_lane = pytest.mark.parametrize("model", [model for model in LANE_KINDS if model != "kafka"])
"""Kafka's has three brokers: a life of it costs ten of another's, so it has tests with fewer of them."""
times = st.one_of(st.integers(0, 30 * SECOND), st.sampled_from([20 * SECOND, 20 * SECOND + 1]))
lives = st.lists(st.tuples(times, st.sampled_from(ACTS), st.integers(1, 6)), max_size=8).map(sorted)
choices = st.integers(0, 20)
few, fewer = examples(15, new=60), examples(3, new=20)


def lab_of(model: str, choice: int) -> Lab:
    """A lab of one lane. choice: of its algorithm, and of records with and without keys."""
    lane = {"model": model, "algorithm": algorithm_ids(model)[choice % len(algorithm_ids(model))]}
    workload = {"kind": "uniform", "keys": 50, "rate": 30} if choice % 2 else {"kind": "flights", "rate": 30}
    return Lab(scenario_from_json({"lanes": [lane], "workload": workload}))


def act(lab: Lab, kind: str, number: int) -> list:
    """Order it; what a lane refuses, as of a consumer that is not there, does not happen."""
    (lane,) = lab.lanes.values()
    command = {"command_id": f"x{lab.position + 1}", "kind": kind, "consumer": f"c{number}"}
    if kind in ("join", "ten"):
        command = command | {"kind": "join", "consumer": None, "args": {"count": 10 if kind == "ten" else 1}}
    elif kind == "switch":
        algorithms = algorithm_ids(lane.model)
        command = command | {
            "kind": "set_algorithm",
            "lane": lane.id,
            "consumer": None,
            "args": {"algorithm": algorithms[number % len(algorithms)]},
        }
    try:
        return lab.submit(command)
    except CommandError:
        return []


def run(lab: Lab, life, stops=(), restore_at=None):
    events = []
    for at_us, kind, number in sorted([*life, *((stop, "", 0) for stop in stops)]):
        if restore_at is not None and at_us > restore_at:
            events += lab.advance_to(restore_at)
            lab, restore_at = Lab.restore(lab.scenario, lab.checkpoint()), None
        events += lab.advance_to(at_us)
        if kind:
            events += act(lab, kind, number)
        else:
            lab.view()
        for lane in lab.lanes.values():
            lane.reads.check()
    events += lab.advance_to(END_US)
    return lab.checkpoint(), events


@each_lane
@given(choices, lives, st.lists(st.integers(0, END_US), max_size=4))
@few
def test_time_in_pieces_with_looks_between_equals_time_at_once(model, choice, life, stops):
    assert run(lab_of(model, choice), life, stops) == run(lab_of(model, choice), life)


@each_lane
@given(choices, lives, st.integers(0, 30 * SECOND))
@few
def test_restored_lane_goes_on_as_if_nothing_had_happened(model, choice, life, restore_at):
    assert run(lab_of(model, choice), life, restore_at=restore_at) == run(lab_of(model, choice), life)


@pytest.mark.slow
@given(choices, lives, st.lists(st.integers(0, END_US), max_size=4), st.integers(0, 30 * SECOND))
@fewer
def test_kafka_in_pieces_and_restored_equals_time_at_once(choice, life, stops, restore_at):
    at_once = run(lab_of("kafka", choice), life)
    assert run(lab_of("kafka", choice), life, stops) == at_once
    assert run(lab_of("kafka", choice), life, restore_at=restore_at) == at_once


@each_lane
@given(choices, lives)
@examples(5, new=60)
def test_when_people_have_let_it_be_a_lane_comes_to_rest_and_everything_is_served(model, choice, life):
    comes_to_rest(model, choice, life)


@pytest.mark.slow
@given(choices, lives)
@fewer
def test_when_people_have_let_it_be_kafka_comes_to_rest_and_everything_is_served(choice, life):
    comes_to_rest("kafka", choice, life)


def comes_to_rest(model, choice, life):
    lab = lab_of(model, choice)
    for at_us, kind, number in life:
        lab.advance_to(at_us)
        act(lab, kind, number)
    (lane,) = lab.lanes.values()
    for name, consumer in list(lane.consumers.items()):
        act(lab, "leave" if consumer.state in ("crashed", "gone") else "resume", int(name[1:]))
    act(lab, "join", 0)
    lab.advance_to(
        lab.now_us + 200 * SECOND
    )  # until the slowest broker has noticed the last silent connection
    assert lane.reads.is_settled() and lane.ledger.is_at_rest and not lane.crash_positions
    has_gaps = (model, lane.algorithm.partition("_")[0]) == (
        "pulsar",
        "sticky",
    )  # nobody takes what a leaver of fixed ranges had
    assert has_gaps or (lane.reads.dark_units()[0] == 0 and lane.reads.stuck()[0] == 0)
    lane.reads.check()
