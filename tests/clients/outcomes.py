"""What came of each test of a suite, and which of those that fail may: reasons.toml says why."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

REASONS = Path(__file__).parent / "reasons.toml"
SAID_CHARS = 1_500


@dataclass(frozen=True)
class Reason:
    """suite: of its tests. test: `module.Class::name`, with its parameters or for all that it has. why: it fails. sometimes:
    it passes in other runs."""

    suite: str
    test: str
    why: str
    sometimes: bool = False

    def is_of(self, test: str) -> bool:
        return test == self.test or test.startswith(self.test + "[")


@dataclass(slots=True)
class Outcomes:
    """failed: test -> what pytest says. passed, skipped: tests. broken: why a run of the server does not hold, each."""

    failed: dict[str, str] = field(default_factory=dict)
    passed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0.0
    broken: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Verdict:
    """known: test that fails -> why it may. unknown: test that fails, and nobody says why -> what pytest says. idle: reasons
    whose tests all pass."""

    known: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    idle: list[Reason] = field(default_factory=list)


def read_reasons(suite: str, path: Path = REASONS) -> list[Reason]:
    rows = tomllib.loads(path.read_text())["reasons"]
    return [
        Reason(row["suite"], test, row["why"], row.get("sometimes", False))
        for row in rows
        if row["suite"] == suite
        for test in row["tests"]
    ]


def read_report(report: Path) -> Outcomes:
    """Of pytest's JUnit XML. A test that fails and whose fixture fails, too, has failed once."""
    outcomes = Outcomes()
    for case in ET.parse(report).iter("testcase"):
        test = f"{case.get('classname')}::{case.get('name')}"
        bad = case.find("failure")
        bad = case.find("error") if bad is None else bad
        if bad is not None:
            outcomes.failed[test] = (bad.text or bad.get("message") or "")[-SAID_CHARS:]
        elif case.find("skipped") is not None:
            outcomes.skipped.append(test)
        else:
            outcomes.passed.append(test)
    outcomes.passed = [test for test in outcomes.passed if test not in outcomes.failed]
    return outcomes


def judge(outcomes: Outcomes, reasons: Sequence[Reason]) -> Verdict:
    verdict = Verdict()
    for test, said in outcomes.failed.items():
        why = next((reason.why for reason in reasons if reason.is_of(test)), None)
        if why is None:
            verdict.unknown[test] = said
        else:
            verdict.known[test] = why
    verdict.idle = [
        reason for reason in reasons if not reason.sometimes and not any(map(reason.is_of, outcomes.failed))
    ]
    return verdict
