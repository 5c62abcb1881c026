"""The lists that the kinds do not name as sections: numbers beside their bytes, checksums, and the steps of
an Exclusive subscription in words."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from broker_core.conformance.kafka_records import run_varint_crc
from broker_core.conformance.pulsar_dispatch import run_failover
from broker_core.conformance.result import CaseResult
from tests.core.conformance.recorded import recorded, values, with_other

PAIRS = ("varint", "varlong", "unsigned_varint", "crc32c")


def outcomes(results: list[CaseResult]) -> list[str]:
    return [result.outcome for result in results]


def numbers(section: str, rows: list[Any]) -> list[CaseResult]:
    return list(run_varint_crc({section: rows}))


@pytest.mark.parametrize("section", PAIRS)
def test_every_recorded_pair_is_a_case_with_an_id_of_its_own(section: str) -> None:
    rows = recorded("kafka/records/varint_crc")[section]
    results = numbers(section, rows)
    assert outcomes(results) == ["passed"] * len(rows)
    assert len({result.id for result in results}) == len(rows)
    assert all(result.id.startswith(f"{section}/") for result in results)


@pytest.mark.parametrize("section", ["varint", "varlong", "unsigned_varint"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_number_beside_other_bytes_fails_alone(section: str, place: int) -> None:
    rows = copy.deepcopy(recorded("kafka/records/varint_crc")[section][:4])
    other = rows[1][place]
    rows[2][place] = other
    results = numbers(section, rows)
    assert outcomes(results) == ["passed", "passed", "failed", "passed"]


def test_bytes_behind_a_number_are_not_part_of_it() -> None:
    """A reader that swallows more, or stops before the end, has read another number of bytes."""
    (value, text), *_ = recorded("kafka/records/varint_crc")["varint"]
    assert outcomes(numbers("varint", [[value, text + "00"]])) == ["failed"]


def test_a_checksum_that_is_off_by_one_fails_with_both() -> None:
    text, crc = recorded("kafka/records/varint_crc")["crc32c"][0]
    (result,) = numbers("crc32c", [[text, crc + 1]])
    assert (result.id, result.outcome, result.expected, result.got) == ("crc32c/0", "failed", crc + 1, crc)


@pytest.mark.parametrize("name", ["read_varint", "read_varlong", "read_unsigned_varint_as_int32"])
def test_a_malformed_number_is_held_to_the_class_of_its_exception_not_to_its_text(name: str) -> None:
    row = next(
        row for row in recorded("kafka/records/varint_crc")["malformed"] if isinstance(row.get(name), str)
    )
    kind, _, text = row[name].partition(":")
    assert text, "the file has the original's text"
    assert outcomes(numbers("malformed", [{"hex": row["hex"], name: f"{kind}: said otherwise"}])) == [
        "passed"
    ]
    (result,) = numbers("malformed", [{"hex": row["hex"], name: f"Some{kind}: {text}"}])
    assert (result.outcome, result.got) == ("failed", {name: kind})


def test_a_reader_that_the_file_does_not_ask_is_not_asked() -> None:
    row = recorded("kafka/records/varint_crc")["malformed"][0]
    (result,) = numbers("malformed", [{"hex": row["hex"], "read_varint": 123_456}])
    assert isinstance(result.expected, dict) and result.expected.keys() == {"read_varint"}


# -- Exclusive -----------------------------------------------------------------------------------------------


def exclusive(steps: list[Any]) -> list[CaseResult]:
    return list(run_failover({"exclusive": steps}))


def test_the_exclusive_subscription_is_one_case_of_its_file() -> None:
    (result,) = exclusive(recorded("pulsar/failover")["exclusive"])
    assert (result.id, result.outcome) == ("exclusive", "passed")


def test_any_other_answer_of_the_exclusive_subscription_fails_and_names_its_step() -> None:
    steps = recorded("pulsar/failover")["exclusive"]
    for index, step in enumerate(steps):
        for place, value in values(step["result"]):
            changed = [
                *steps[:index],
                {**step, "result": with_other(step["result"], place)},
                *steps[index + 1 :],
            ]
            (result,) = exclusive(changed)
            assert result.outcome == "failed", (step["step"], place, value)
            assert isinstance(result.expected, dict) and list(result.expected) == [step["step"]]


def test_a_file_without_the_exclusive_subscription_has_no_such_case() -> None:
    rows = recorded("pulsar/failover")["cases"][:2]
    assert [result.id for result in run_failover({"cases": rows})] == [row["id"] for row in rows]
    assert list(run_failover({"cases": [], "exclusive": []})) == []


def test_a_failover_file_is_held_to_the_ring_of_current_too_where_it_has_its_answers() -> None:
    row = next(
        row
        for row in recorded("pulsar/failover")["cases"]
        if any("active_current_with_flag" in step for step in row["steps"])
    )
    index = next(index for index, step in enumerate(row["steps"]) if "active_current_with_flag" in step)
    (passed,) = run_failover({"cases": [row]})
    (failed,) = run_failover({"cases": [with_other(row, ("steps", index, "active_current_with_flag", 0))]})
    assert (passed.outcome, failed.outcome) == ("passed", "failed")
    assert isinstance(failed.expected, dict) and list(failed.expected) == [
        f"step {index}: active_current_with_flag"
    ]


@pytest.mark.parametrize("change", ["error", "order", "notified", "switched"])
def test_the_first_part_of_a_step_that_differs_is_what_a_failed_case_shows(change: str) -> None:
    row = copy.deepcopy(recorded("pulsar/failover")["cases"][0])
    step = row["steps"][1]
    step[change] = "ConsumerBusyException" if change == "error" else [*step[change], 9]
    (result,) = run_failover({"cases": [row]})
    assert isinstance(result.expected, dict) and isinstance(result.got, dict)
    assert list(result.expected) == list(result.got) == [f"step 1: {change}"]
