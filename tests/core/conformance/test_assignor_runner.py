"""The runners of Kafka's assignors: which recorded figure a match class holds, and where a history that goes
another way is reported."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from broker_core.conformance.assignment_match import movement_figures, owners, spread
from broker_core.conformance.kafka import run_assignor_sequences, run_assignors, run_assignors_rack
from broker_core.conformance.result import CaseResult
from tests.core.conformance.recorded import Place, at, recorded, shape_of, values, with_other

Json = dict[str, Any]
EXACT = ("exact_list", "exact_set")


def scenario_with(match: str, assignor: str = "sticky", file: str = "kafka/assignors", **parts: Any) -> Json:
    """The first scenario of whose results one has that class, and every one of these parts."""
    for scenario in recorded(file)["scenarios"]:
        result = scenario["results"].get(assignor, {})
        if result.get("match") == match and parts.items() <= scenario.items():
            return copy.deepcopy(scenario)
    raise LookupError(match)


def one(scenario: Json, run: Callable[[Json], Any] = run_assignors) -> CaseResult:
    (result,) = run({"scenarios": [scenario]})
    assert isinstance(result, CaseResult)
    return result


def sequence_with(fits: Callable[[Json], bool]) -> tuple[Json, int, int]:
    """A copy of the first history with such a round, and where it is."""
    for sequence in recorded("kafka/assignor_sequences")["sequences"]:
        for number, step in enumerate(sequence["steps"]):
            for place, each in enumerate(step["rounds"]):
                if fits(each):
                    return copy.deepcopy(sequence), number, place
    raise LookupError


def played(sequence: Json) -> CaseResult:
    (result,) = run_assignor_sequences({"sequences": [sequence]})
    return result


def parts(result: CaseResult) -> list[str]:
    """What of a failed history is reported to differ."""
    assert result.outcome == "failed" and isinstance(result.expected, dict) and isinstance(result.got, dict)
    assert result.expected.keys() == result.got.keys()
    return list(result.expected)


# -- single assignments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("assignor", "match"),
    [
        ("range", "exact_list"),
        ("range", "exact_set"),
        ("roundrobin", "exact_list"),
        ("sticky", "exact_list"),
        ("sticky", "exact_set"),
        ("cooperative-sticky", "exact_list"),
    ],
)
def test_every_value_of_an_exact_result_counts_and_names_its_assignor(assignor: str, match: str) -> None:
    scenario = scenario_with(match, assignor)
    assert one(scenario).outcome == "passed"
    result = scenario["results"][assignor]
    for place, value in values(result):
        if place in (("match",), ("spread_range",)):
            continue
        failed = one(with_other(scenario, ("results", assignor, *place)))
        assert failed.outcome == "failed", (place, value)
        assert isinstance(failed.expected, dict) and list(failed.expected) == [assignor]


@pytest.mark.parametrize(("match", "is_noticed"), [("exact_list", True), ("exact_set", False)])
def test_the_order_of_a_members_partitions_counts_only_where_the_original_promises_it(
    match: str, is_noticed: bool
) -> None:
    scenario = next(
        copy.deepcopy(scenario)
        for scenario in recorded("kafka/assignors")["scenarios"]
        if scenario["results"].get("range", {}).get("match") == match
        and any(len(listed) > 1 for listed in scenario["results"]["range"]["assignment"].values())
    )
    for listed in scenario["results"]["range"]["assignment"].values():
        listed.reverse()
    assert (one(scenario).outcome == "failed") is is_noticed


def test_what_one_assignor_missed_is_told_beside_what_another_missed() -> None:
    scenario = scenario_with("exact_list", "roundrobin")
    for result in scenario["results"].values():
        result["spread"] += 1
    failed = one(scenario)
    assert parts(failed) == list(scenario["results"])
    assert all(list(wanted) == ["spread"] for wanted in failed.expected.values())  # type: ignore[attr-defined]


def test_an_unknown_match_class_fails_rather_than_passing_everything() -> None:
    scenario = scenario_with("exact_list", "sticky")
    scenario["results"]["sticky"]["match"] = "as you like it"
    failed = one(scenario)
    assert (failed.expected, failed.got) == (
        {"sticky": {"match": "a known match class"}},
        {"sticky": {"match": "as you like it"}},
    )


def test_an_assignor_that_nobody_knows_fails_its_case_and_no_other() -> None:
    scenario = scenario_with("exact_list", "sticky")
    unknown = copy.deepcopy(scenario)
    unknown["results"] = {"random": unknown["results"]["sticky"]}
    results = list(run_assignors({"scenarios": [scenario, unknown, scenario]}))
    assert [result.outcome for result in results] == ["passed", "failed", "passed"]
    assert results[1].got == "KeyError: 'random'"


def test_where_the_original_throws_or_a_topic_shrank_ours_must_only_be_safe() -> None:
    shrunk = next(
        each
        for each in recorded("kafka/assignors")["scenarios"]
        if "error" in each["results"].get("sticky", {})
    )
    held = copy.deepcopy(shrunk)
    held["results"]["sticky"] = {"match": "exact_list", "assignment": {}, "spread": 0}
    assert (one(shrunk).outcome, one(held).outcome) == ("passed", "passed")
    assert (one(shrunk | {"kind": "prior"}).outcome, one(held | {"kind": "prior"}).outcome) == (
        "passed",
        "failed",
    )


def test_racks_reach_the_assignor() -> None:
    """Without them a result that follows the racks is another one."""
    scenarios = [
        each
        for each in recorded("kafka/assignors_rack")["scenarios"]
        if each["results"].get("range", {}).get("match") in EXACT
    ]
    assert all(one(scenario, run_assignors_rack).outcome == "passed" for scenario in scenarios[:8])
    without = [
        {name: value for name, value in scenario.items() if name != "partition_racks"}
        for scenario in scenarios
    ]
    assert any(one(scenario).outcome == "failed" for scenario in without)


# -- histories -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", ["spread", "moved", "kept", "from_departed"])
def test_a_figure_of_a_round_is_told_with_its_step_and_round(figure: str) -> None:
    sequence, number, place = sequence_with(lambda each: each["match"] == "exact_list" and figure in each)
    assert played(sequence).outcome == "passed"
    failed = played(with_other(sequence, ("steps", number, "rounds", place, figure)))
    assert parts(failed) == [f"step {number} round {place}"]
    assert list(failed.expected[f"step {number} round {place}"]) == [figure]  # type: ignore[index]


def test_the_least_moves_that_the_recorder_found_are_held_beside_the_round() -> None:
    sequence, number, place = sequence_with(lambda each: "lower_bound_moves" in each)
    failed = played(with_other(sequence, ("steps", number, "rounds", place, "lower_bound_moves")))
    assert parts(failed) == [f"step {number} round {place} lower_bound_moves"]


@pytest.mark.parametrize("field", ["revoked", "rejoin_needed"])
@pytest.mark.parametrize("match", ["exact_list", "hash_order"])
def test_what_members_let_go_of_is_held_in_every_class(match: str, field: str) -> None:
    sequence, number, place = sequence_with(lambda each: each["match"] == match and bool(each.get("revoked")))
    failed = played(with_other(sequence, ("steps", number, "rounds", place, field)))
    assert parts(failed) == [f"step {number} round {place} revoked"]


def test_which_of_equals_is_let_go_of_is_free_where_the_order_is_java_s_but_not_how_many() -> None:
    sequence, number, place = sequence_with(
        lambda each: each["match"] == "hash_order" and bool(each.get("revoked"))
    )
    revoked = sequence["steps"][number]["rounds"][place]["revoked"]
    revoked[0] = "another-0"
    assert played(sequence).outcome == "passed"
    exact, number, place = sequence_with(
        lambda each: each["match"] == "exact_list" and bool(each.get("revoked"))
    )
    exact["steps"][number]["rounds"][place]["revoked"][0] = "another-0"
    assert parts(played(exact)) == [f"step {number} round {place} revoked"]


def test_every_figure_of_what_a_step_cost_counts_where_it_is_exact() -> None:
    sequence, number, _ = sequence_with(
        lambda each: each["match"] == "exact_list" and bool(each.get("revoked"))
    )
    for place, _value in values(sequence["steps"][number]["final"]):
        failed = played(with_other(sequence, ("steps", number, "final", *place)))
        assert parts(failed) == [f"step {number} final"], place


@pytest.mark.parametrize("assignor", ["range", "roundrobin"])
@pytest.mark.parametrize("figure", ["moved", "spread"])
def test_the_assignors_without_memory_are_compared_over_the_same_history(assignor: str, figure: str) -> None:
    sequence = recorded("kafka/assignor_sequences")["sequences"][0]
    last = len(sequence["steps"]) - 1
    failed = played(with_other(sequence, ("steps", last, "comparison", assignor, figure)))
    assert parts(failed) == [f"step {last} {assignor}"]


def test_all_that_differs_in_a_history_is_told_not_only_the_first() -> None:
    sequence = copy.deepcopy(recorded("kafka/assignor_sequences")["sequences"][0])
    for step in sequence["steps"]:
        step["comparison"]["range"]["spread"] += 1
    assert parts(played(sequence)) == [f"step {number} range" for number in range(len(sequence["steps"]))]


def test_the_owners_before_a_step_are_the_recorded_ones() -> None:
    """Each round is given its recorded input: what is wrong in one step shows in the figures of the next one
    too."""
    sequence, _, _ = sequence_with(lambda each: each["match"] == "exact_list" and each["kept"] > 0)
    first = sequence["steps"][0]["rounds"][-1]["assignment"]
    member, partitions = next((member, listed) for member, listed in first.items() if listed)
    other = next(each for each in first if each != member)
    first[other].append(partitions.pop())
    told = parts(played(sequence))
    assert "step 0 round 0" in told and any(part.startswith("step 1") for part in told)


def test_every_part_of_the_comparison_and_the_final_cost_is_read_somewhere() -> None:
    """Over the first histories, each shape below `final` and `comparison` fails when it is changed."""
    seen: dict[str, tuple[Json, Place]] = {}
    for sequence in recorded("kafka/assignor_sequences")["sequences"][:12]:
        exact = [
            number for number, step in enumerate(sequence["steps"]) if step["rounds"][-1]["match"] in EXACT
        ]
        for place, _ in values(sequence):
            if len(place) > 2 and place[1] in exact and place[2] in ("final", "comparison"):
                seen.setdefault(shape_of(place), (sequence, place))
    assert len(seen) >= 9
    assert [
        at(sequence, place)
        for sequence, place in seen.values()
        if played(with_other(sequence, place)).outcome == "passed"
    ] == []


# -- the figures ---------------------------------------------------------------------------------------------


def test_figures_tell_moved_kept_let_go_and_taken_over_apart() -> None:
    before = {("t", 0): "a", ("t", 1): "a", ("t", 2): "b", ("t", 3): "left", ("t", 4): "left"}
    after = {"a": [("t", 0), ("t", 2)], "b": [("t", 3)]}
    assert movement_figures(before, after) == {"moved": 1, "kept": 1, "released": 1, "from_departed": 1}
    assert movement_figures({}, after) == {"moved": 0, "kept": 0, "released": 0, "from_departed": 0}


def test_spread_and_owners_of_a_group_without_members() -> None:
    assert (spread({}), spread({"a": []}), spread({"a": [1, 2], "b": [], "c": [3]})) == (0, 0, 2)
    assert owners({"a": [("t", 1)], "b": []}) == {("t", 1): "a"}
