"""Kafka's recorded answers, case by case."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core.conformance.kafka import (
    run_assignor_sequences,
    run_assignors,
    run_assignors_rack,
    run_partitioner,
)
from broker_core.conformance.result import CaseResult

VECTORS = Path(__file__).parents[2] / "vectors" / "kafka"
Runner = Callable[[dict[str, Any]], Iterator[CaseResult]]


def _recorded(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(gzip.decompress((VECTORS / f"{name}.json.gz").read_bytes()))
    return document


def _single_cases() -> Iterator[Any]:
    """Every scenario and sequence as a document of its own, so that each is a test."""
    runners: list[tuple[str, str, Runner]] = [
        ("assignors", "scenarios", run_assignors),
        ("assignors_rack", "scenarios", run_assignors_rack),
        ("assignor_sequences", "sequences", run_assignor_sequences),
    ]
    for name, part, runner in runners:
        for entry in _recorded(name)[part]:
            yield pytest.param(runner, {part: [entry]}, id=f"{name}-{entry['id']}")


@pytest.mark.parametrize(("runner", "document"), list(_single_cases()))
def test_assignment_is_the_recorded_one(runner: Runner, document: dict[str, Any]) -> None:
    for result in runner(document):
        assert result.outcome == "passed", (result.expected, result.got)


def test_partitions_of_keys_groups_and_draws_are_the_recorded_ones() -> None:
    results = list(run_partitioner(_recorded("partitioner")))
    assert len(results) == 523
    assert [result for result in results if result.outcome != "passed"] == []
