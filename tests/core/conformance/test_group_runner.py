"""Conversations with the group coordinator: what is compared as a set, what up to a point, and what a
recorded value leaves open."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from broker_core.conformance.kafka_group import run_group_coordinator, run_group_coordinator_old
from broker_core.conformance.kafka_group_view import (
    camel,
    comparable,
    like,
    records_like,
    request_fields,
    runs,
    snake,
)
from broker_core.conformance.report import beyond_line
from broker_core.conformance.result import CaseResult
from tests.core.conformance.recorded import recorded

Json = dict[str, Any]
OLD, NEW = "kafka/group/classic_old_scala", "kafka/group/classic"


def case_with(file: str, fits: Callable[[Json], bool]) -> Json:
    """A copy of the shortest of the first cases that fit."""
    cases = [row for row in recorded(file)["cases"][:200] if fits(row)]
    return copy.deepcopy(min(cases, key=lambda row: len(row["steps"])))


def old(row: Json) -> CaseResult:
    (result,) = run_group_coordinator_old({"cases": [row]})
    return result


def new(row: Json) -> CaseResult:
    (result,) = run_group_coordinator({"cases": [row]})
    return result


def spoiled(row: Json, number: int) -> Json:
    """The row with a step whose answer nobody gives."""
    changed = copy.deepcopy(row)
    changed["steps"][number]["answer"] = {"errorCode": 99}
    return changed


# -- the old coordinator: up to a point ----------------------------------------------------------------------


def parting() -> Json:
    """A case in which the old coordinator parts from the new one, neither at the first step nor at the
    last."""
    return case_with(
        OLD,
        lambda row: not row["same_as_new"] and 0 < row["first_difference"]["step"] < len(row["steps"]) - 1,
    )


def test_a_case_in_which_both_coordinators_agree_has_to_match_to_its_end() -> None:
    row = case_with(OLD, lambda row: row["same_as_new"] and len(row["steps"]) > 2)
    assert (old(row).outcome, old(row).beyond) == ("passed", None)
    failed = old(spoiled(row, len(row["steps"]) - 1))
    assert (failed.outcome, failed.beyond) == ("failed", None)


def test_where_they_part_a_case_has_to_match_up_to_there_and_the_rest_is_counted() -> None:
    row = parting()
    bound, count = row["first_difference"]["step"], len(row["steps"])
    assert old(row).outcome == "passed"
    for number in range(count):
        result = old(spoiled(row, number))
        assert result.outcome == ("failed" if number < bound else "passed"), number
        assert result.beyond is not None and result.beyond[1] == count - bound
        assert result.beyond[0] <= max(0, number - bound), "no step after the spoiled one is counted as met"


def test_a_case_that_failed_before_the_point_has_met_nothing_beyond_it() -> None:
    row = parting()
    assert old(spoiled(row, 0)).beyond == (0, len(row["steps"]) - row["first_difference"]["step"])


def test_a_later_point_asks_for_more() -> None:
    row = parting()
    row["first_difference"]["step"] = len(row["steps"])
    assert old(spoiled(row, len(row["steps"]) - 1)).outcome == "failed"


def test_the_report_sums_what_is_met_beyond_the_point() -> None:
    def result(met: int, steps: int) -> CaseResult:
        return CaseResult("x", "passed", beyond=(met, steps))

    assert beyond_line([CaseResult("x", "passed")]) is None
    assert beyond_line([]) is None
    line = beyond_line([result(3, 3), result(1, 4), CaseResult("y", "passed"), result(0, 2)])
    assert line == "  3 cases have to match up to a point; beyond it 4 of 9 steps match, 1 cases to their end"


# -- what a failed conversation shows ------------------------------------------------------------------------


def test_a_failed_conversation_names_the_first_step_that_differs_and_only_the_parts_that_do() -> None:
    row = case_with(NEW, lambda row: len(row["steps"]) > 3)
    for number in (1, len(row["steps"]) - 1):
        failed = new(spoiled(row, number))
        assert (
            failed.outcome == "failed" and isinstance(failed.expected, dict) and isinstance(failed.got, dict)
        )
        assert list(failed.expected) == list(failed.got) == [f"step {number}"]
        assert list(failed.expected[f"step {number}"]) == ["answer"]


def test_a_group_that_should_be_gone_and_one_that_should_be_there_are_differences() -> None:
    row = case_with(NEW, lambda row: any(step.get("state") for step in row["steps"]))
    number = next(number for number, step in enumerate(row["steps"]) if step.get("state"))
    group = next(iter(row["steps"][number]["state"]))
    gone, more = copy.deepcopy(row), copy.deepcopy(row)
    gone["steps"][number]["state"][group] = None
    more["steps"][number]["state"]["another"] = row["steps"][number]["state"][group]
    for changed in (gone, more):
        failed = new(changed)
        assert isinstance(failed.expected, dict) and list(failed.expected[f"step {number}"]) == ["groups"]


def test_a_timer_that_fires_later_or_writes_nothing_is_a_difference() -> None:
    row = case_with(
        NEW,
        lambda row: any(step.get("timers") and step["timers"][0].get("completed") for step in row["steps"]),
    )
    number = next(
        number
        for number, step in enumerate(row["steps"])
        if step.get("timers") and step["timers"][0].get("completed")
    )
    changes: list[Json] = [
        {"at_ms": row["steps"][number]["timers"][0]["at_ms"] + 1},
        {"key": "another"},
        {"completed": []},
    ]
    for change in changes:
        changed = copy.deepcopy(row)
        changed["steps"][number]["timers"][0] |= change
        failed = new(changed)
        assert isinstance(failed.expected, dict) and "timers" in failed.expected[f"step {number}"], change


def test_a_deadline_off_by_a_millisecond_is_a_difference() -> None:
    row = case_with(NEW, lambda row: bool(row["steps"][0].get("timers_pending")))
    name = next(iter(row["steps"][0]["timers_pending"]))
    row["steps"][0]["timers_pending"][name] += 1
    failed = new(row)
    assert isinstance(failed.expected, dict) and list(failed.expected["step 0"]) == ["timers_pending"]


def test_a_request_of_an_unknown_kind_fails_its_conversation_alone() -> None:
    row = case_with(NEW, lambda row: len(row["steps"]) > 1)
    unknown = copy.deepcopy(row)
    unknown["steps"][0]["request"]["api"] = "ShareGroupHeartbeat"
    results = list(run_group_coordinator({"cases": [unknown, row]}))
    assert [result.outcome for result in results] == ["failed", "passed"]
    assert results[0].got == "KeyError: 'ShareGroupHeartbeat'"


def test_the_ids_that_the_original_drew_are_given_in_the_order_of_their_numbers() -> None:
    """A member id shows in what Java's maps order, so ours must draw the same ones."""
    row = case_with(NEW, lambda row: {"#1", "#2"} <= row["member_ids"].keys())
    assert new(row).outcome == "passed"
    row["member_ids"] = {"#1": "never-drawn"}
    assert new(row).outcome == "passed", "each place of #1 in the file is the id that #1 stands for"


# -- what is compared, and how -------------------------------------------------------------------------------


def test_lists_are_sets_and_harness_words_do_not_count() -> None:
    one = {
        "members": [{"id": "a", "throttleTimeMs": 5}, {"id": "b"}],
        "errorMessage": "x",
        "new": True,
        "from": "KafkaApis",
        "error": "E",
    }
    assert comparable(one) == comparable({"members": [{"id": "b", "errorMessage": None}, {"id": "a"}]})
    assert comparable(one) != comparable({"members": [{"id": "b"}]})
    assert comparable(one) != comparable({"members": [{"id": "a"}, {"id": "b"}, {"id": "b"}]}), (
        "a set, and yet nothing comes twice unseen"
    )
    assert comparable({"errorCode": 1}) != comparable({"errorCode": 2})


def test_bytes_of_a_value_are_a_bag_and_those_of_a_key_are_not() -> None:
    assert comparable({"value_hex": "00ff01"}) == comparable({"value_hex": "01ff00"})
    assert comparable({"value_hex": "00ff01"}) != comparable({"value_hex": "01ff01"})
    assert comparable({"value_hex": None}) == {"value_hex": None}
    assert comparable({"key_hex": "00ff01"}) != comparable({"key_hex": "01ff00"})


def test_like_asks_only_for_what_the_recorded_version_knows() -> None:
    seen = {
        "errorCode": 0,
        "memberId": "m",
        "later": 7,
        "topics": [{"name": "t", "later": 1}, {"name": "u", "later": 2}],
    }
    assert like({"errorCode": 1, "topics": [{"name": "x"}]}, seen) == {
        "errorCode": 0,
        "topics": [{"name": "t"}, {"name": "u"}],
    }
    assert like({"missing": 1}, seen) == {"missing": None}, (
        "a field that ours lacks is null, so it cannot pass for the recorded one"
    )
    assert like([], [1, 2]) == [1, 2]
    assert like(None, seen) == seen


def test_like_takes_the_fields_of_all_recorded_items_together() -> None:
    assert like([{"a": 1}, {"b": 2}], [{"a": 3, "b": 4, "c": 5}]) == [{"a": 3, "b": 4}]


def record(kind: str, key: str, value: Json | None = None, **more: Any) -> Json:
    return {"type": kind, "key": {"group": key}, "value": value, **more}


def test_records_keep_their_order_but_for_neighbours_of_one_kind() -> None:
    member, epoch = record("Member", "a", {"x": 1}), record("Epoch", "g", {"e": 1})
    other = record("Member", "b", {"x": 2})
    assert runs([member, other, epoch]) == runs([other, member, epoch])
    assert runs([member, other, epoch]) != runs([member, epoch, other])
    assert runs([member]) != runs([member, member])
    assert runs([]) == []


def test_tombstones_side_by_side_are_one_set_whatever_their_kinds() -> None:
    gone, epoch = record("Member", "a"), record("Epoch", "g")
    assert runs([gone, epoch]) == runs([epoch, gone])
    assert runs([gone, record("Member", "a", {"x": 1})]) != runs([record("Member", "a", {"x": 1}), gone])


def test_a_control_record_has_no_value_and_is_no_tombstone() -> None:
    control = {"type": "ControlRecord", "control": "COMMIT", "producer_id": 1, "producer_epoch": 0}
    assert [run["kind"] for run in runs([record("Member", "a"), control])] == ["tombstones", "ControlRecord"]


def test_parts_that_the_recorded_records_of_a_kind_lack_are_not_asked_for() -> None:
    seen = [record("Member", "a", {"x": 1, "later": 2}, value_version=0, value_hex="00", key_hex="01")]
    (view,) = records_like([record("Member", "b", {"x": 9}, value_version=0)], seen)
    assert view == record("Member", "a", {"x": 1}, value_version=0)
    (whole,) = records_like([record("Epoch", "b", {"x": 9})], seen)
    assert whole == seen[0], "a kind that the file has none of is shown whole, so that it differs"
    assert records_like([], seen) == seen


def test_names_go_there_and_back() -> None:
    for name in ("generation_id_or_member_epoch", "groups_names", "errors", "member_id"):
        assert snake(camel(name)) == name


@pytest.mark.parametrize(
    ("field", "expected"), [("metadata", b"\x03"), ("assignment", b"\x03"), ("name", "03")]
)
def test_hex_is_bytes_only_in_the_fields_that_hold_bytes(field: str, expected: object) -> None:
    assert request_fields({"protocols": [{field: "03"}]}) == {"protocols": [{snake(field): expected}]}
    assert request_fields({field: None}) == {field: None}
