"""Pulsar's recorded answers, case by case."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core.conformance.pulsar import run_auto_split, run_consistent_hash, run_murmur, run_sticky_ranges
from broker_core.conformance.pulsar_dispatch import run_failover
from broker_core.conformance.result import CaseResult

VECTORS = Path(__file__).parents[2] / "vectors" / "pulsar"
Runner = Callable[[dict[str, Any]], Iterator[CaseResult]]


def _recorded(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(gzip.decompress((VECTORS / f"{name}.json.gz").read_bytes()))
    return document


def _single_cases() -> Iterator[Any]:
    """Every sequence as a document of its own, so that each is a test."""
    runners: list[tuple[str, Runner]] = [
        ("auto_split", run_auto_split),
        ("consistent_hash", run_consistent_hash),
        ("sticky_ranges", run_sticky_ranges),
    ]
    for name, runner in runners:
        for entry in _recorded(name)["cases"]:
            yield pytest.param(runner, {"cases": [entry]}, id=f"{name}-{entry['id']}")


@pytest.mark.parametrize(("runner", "document"), list(_single_cases()))
def test_selector_does_what_the_recorded_one_did(runner: Runner, document: dict[str, Any]) -> None:
    for result in runner(document):
        assert result.outcome == "passed", (result.expected, result.got)


@pytest.mark.parametrize(
    ("runner", "name", "part", "count"),
    [(run_murmur, "murmur", "strings", 600), (run_murmur, "murmur", "bytes", 100),
     (run_sticky_ranges, "sticky_ranges", "client_validate", 54)],
)  # fmt: skip
def test_hashes_and_client_checks_are_the_recorded_ones(
    runner: Runner, name: str, part: str, count: int
) -> None:
    results = list(runner({part: _recorded(name)[part]}))
    assert len(results) == count
    assert [result for result in results if result.outcome != "passed"] == []


@pytest.mark.parametrize(
    ("name", "runner"), [("auto_split", run_auto_split), ("sticky_ranges", run_sticky_ranges)]
)
def test_wrong_answer_is_seen_in_every_part_of_a_step(name: str, runner: Runner) -> None:
    """Each recorded answer of a step is really compared: a foreign value in its place fails the case."""
    entry = _recorded(name)["cases"][0]
    first = entry["steps"][0]
    answers = first.get("expect", {}).get("3.2") or first
    for field in [field for field in answers if field not in ("op", "c", "ok", "ranges")]:
        right, answers[field] = answers[field], ["foreign"]
        assert [result.outcome for result in runner({"cases": [entry]})] == ["failed"], field
        answers[field] = right
    assert [result.outcome for result in runner({"cases": [entry]})] == ["passed"]


def test_wrong_answer_is_seen_in_every_part_of_a_ring_step() -> None:
    entry = _recorded("consistent_hash")["cases"][0]
    for answers in entry["steps"][0]["expect"].values():
        for field in list(answers):
            right, answers[field] = answers[field], ["foreign"]
            assert [result.outcome for result in run_consistent_hash({"cases": [entry]})] == ["failed"], field
            answers[field] = right


def test_success_that_is_claimed_for_a_refusal_fails() -> None:
    entry = next(entry for entry in _recorded("sticky_ranges")["cases"] if entry["id"] == "no_meta")
    expect = entry["steps"][0]["expect"]["current"]
    del expect["error"]
    expect["ok"] = True
    assert [result.outcome for result in run_sticky_ranges({"cases": [entry]})] == ["failed"]


@pytest.mark.parametrize(
    ("told", "outcome"),
    [({"error": "ServerMetadataException"}, "passed"), ({}, "failed"), ({"error": "other"}, "failed")],
)
def test_failover_refuses_the_leave_of_a_consumer_that_never_joined_and_stays_as_it_was(
    told: dict[str, str], outcome: str
) -> None:
    same = {"active": [1], "order": [1]}
    steps = [
        {"op": "join", "c": 1, "priority": 0, "switched": [True], "notified": [[1]], **same},
        {"op": "leave", "c": 2, "switched": [False], "notified": [[]], **same, **told},
    ]
    topics = [{"name": "persistent://public/default/t", "partition": 0}]
    (result,) = run_failover(
        {"cases": [{"id": "unknown leaves", "names": {"1": "A", "2": "B"}, "topics": topics, "steps": steps}]}
    )
    assert result.outcome == outcome, (result.expected, result.got)
