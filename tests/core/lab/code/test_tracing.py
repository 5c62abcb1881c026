"""A call that is watched: its lines, its variables, and nothing else changed."""

import sys

from broker_core.lab.code.catalogue import GROUPS, algorithms
from broker_core.lab.code.source import source_of
from broker_core.lab.code.tracing import STEPS_MAX, Trace
from broker_core.lab.code.values import LENGTH, text_of
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.pulsar.selectors.consistent_hash import RingSelector

SECOND = 1_000_000
FOUR = {
    "name": "x",
    "workload": {"kind": "uniform", "keys": 40, "rate": 30},
    "lanes": [
        {"model": "pulsar", "id": "one"},
        {"model": "pulsar", "id": "other"},
        {"model": "kafka"},
        {"model": "tubemq"},
        {"model": "rabbitmq"},
    ],
}


def lived(function=None, lane="one", of=0):  # type: ignore[no-untyped-def]
    """(lab, trace) of ten seconds."""
    lab = Lab(scenario_from_json(FOUR))
    if function is None:
        lab.advance_to(10 * SECOND)
        return lab, None
    with Trace(function, lane, of=of) as trace:
        lab.advance_to(10 * SECOND)
    return lab, trace


def test_watching_changes_nothing() -> None:
    before = sys.gettrace()
    watched, trace = lived(RingSelector.select)
    assert watched.checkpoint() == lived()[0].checkpoint()
    assert sys.gettrace() is before and trace.calls == 40 and trace.call is None  # once a key


def test_the_call_that_is_asked_for_is_followed_to_its_result() -> None:
    count = lived(RingSelector.select)[1].calls
    last = lived(RingSelector.select, of=count)[1].call
    assert last is not None and 0 < last.at_us <= 10 * SECOND
    numbers = [line["number"] for line in source_of(RingSelector.select)["lines"]]
    assert [step.line for step in last.steps[:-1]] == [numbers[-2], numbers[-1]]
    assert int(last.steps[1].changed["slot"]) == int(last.given["hash32"]) & (2**31 - 1)
    assert last.result.strip("'") and not last.raised


def test_only_calls_below_the_lane_that_is_asked_about_count() -> None:
    one, other = (lived(RingSelector.select, lane=lane)[1].calls for lane in ("one", "other"))
    assert one > 0 and other > 0
    assert lived(RingSelector.select, lane="kafka")[1].calls == 0


def test_each_algorithm_is_a_short_function_of_its_own_model() -> None:
    models = {"pulsar", "kafka", "tubemq", "rabbitmq"}
    functions = [each.function for each in algorithms().values()]
    assert len({id(function.__code__) for function in functions}) == len(functions)  # type: ignore[attr-defined]
    for each in algorithms().values():
        source = source_of(each.function)
        assert each.model in models and each.group in GROUPS
        assert source["file"].startswith((f"broker_core/{each.model}/", "broker_core/hashing/"))
        assert 2 <= len(source["lines"]) <= 60, "short enough to be read"
        text = "\n".join("".join(part for _kind, part in line["parts"]) for line in source["lines"])
        compile(text, "again", "exec")  # nothing is lost between its parts


def test_a_text_of_a_value_is_short_and_has_no_addresses() -> None:
    lab, _trace = lived()
    for value in (
        lab,
        lab.lanes["kafka"],
        lab.lanes["kafka"].world,
        list(range(10_000)),
        {"a": {"b": {"c": {"d": {}}}}},
    ):
        text = text_of(value)
        assert len(text) <= LENGTH and " at 0x" not in text
    assert text_of({"c1": [("t", 0)]}) == "{'c1': [('t', 0)]}"
    assert text_of(list(range(14))).endswith("… 2 more]")


def test_a_long_call_is_cut_with_the_number_of_what_is_left_out() -> None:
    def goes_on(count: int) -> int:
        total = 0
        for number in range(count):
            total += number
        return total

    lab = Lab(scenario_from_json(FOUR))
    lane = lab.lanes["one"]

    class Caller(type(lane)):  # type: ignore[misc]
        def run(self) -> int:
            return goes_on(1_000)

    lane.__class__ = Caller
    with Trace(goes_on, "one", of=1) as trace:
        lane.run()
    assert trace.call is not None and len(trace.call.steps) == STEPS_MAX + 1
    assert trace.call.cut > 1_000 and trace.call.result == "499500"
