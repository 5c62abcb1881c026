"""The words of the report: a failed case narrowed down to where the two answers part, and the counting
lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from broker_core.conformance.result import CaseResult

FAILURES_SHOWN = 20
VALUE_CHARACTERS_SHOWN = 600


def tally_line(counts: Counter[str]) -> str:
    """Give the line that counts outcomes.

    >>> tally_line(Counter(passed=2))
    '2 passed, 0 failed, 0 skipped'
    """
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))


def beyond_line(results: Sequence[CaseResult]) -> str | None:
    """Tell what is met beyond the point up to which cases have to match; None when a file has no such
    cases."""
    counts = [result.beyond for result in results if result.beyond is not None]
    if not counts:
        return None
    whole = sum(met == steps for met, steps in counts)
    met, steps = sum(met for met, _ in counts), sum(steps for _, steps in counts)
    return (
        f"  {len(counts)} cases have to match up to a point; beyond it {met} of {steps} steps match, {whole} "
        f"cases to their end"
    )


def failure_lines(result: CaseResult) -> list[str]:
    """Tell a failed case: its id, where the answers part, what was expected and what came."""
    where, expected, got = narrowed(result.expected, result.got)
    place = f" at {where}" if where else ""
    return [
        f"  failed {shown_id(result.id)}{place}",
        f"    expected {_shown(expected)}",
        f"    got      {_shown(got)}",
    ]


def skip_line(result: CaseResult) -> str:
    """Tell a skipped case and why."""
    return f"  skipped {shown_id(result.id)}: {result.reason}"


def narrowed(expected: object, got: object) -> tuple[str, object, object]:
    """Follow two answers down as long as they differ in one single place. Returns the place and what each has
    there.

    >>> narrowed({"a": [1, 2], "b": 0}, {"a": [1, 3], "b": 0})
    ('a[1]', 2, 3)
    """
    where = ""
    while True:
        if isinstance(expected, dict) and isinstance(got, dict) and expected.keys() == got.keys():
            parts = [key for key in expected if expected[key] != got[key]]
            label = f".{parts[0]}" if parts and where else str(parts[0]) if parts else ""
        elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
            parts = [index for index in range(len(expected)) if expected[index] != got[index]]
            label = f"[{parts[0]}]" if parts else ""
        else:
            return where, expected, got
        if len(parts) != 1:
            return where, expected, got
        where, expected, got = where + label, expected[parts[0]], got[parts[0]]


def shown_id(case_id: str) -> str:
    """Give a case's id on one line: recorded strings are ids too, and may hold anything."""
    return case_id if case_id.isprintable() else json.dumps(case_id)


def _shown(value: object) -> str:
    text = json.dumps(value, default=repr)
    return (
        text
        if len(text) <= VALUE_CHARACTERS_SHOWN
        else f"{text[:VALUE_CHARACTERS_SHOWN]}… ({len(text)} characters)"
    )
