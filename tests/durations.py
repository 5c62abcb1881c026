"""What each folder of tests costs, in a table at the end of a run: `pytest --folders`.

Seconds of the clock are those of all workers added up; of processor time, those of the worker's own process:
what a test's child processes (a site, Chromium, Java) use shows in the clock only.
"""

import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest

DEEP = "tests/core"
"""Its folders are the rooms of the core, so they have lines of their own."""
SLOWEST = 10


@dataclass(slots=True)
class Cost:
    tests: int = 0
    skipped: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0


def folder_of(nodeid: str) -> str:
    """The line of the table that a test counts in.

    >>> folder_of("tests/core/kafka/log/test_retention.py::test_a"), folder_of("tests/test_bench.py::test_b")
    ('tests/core/kafka', 'tests')
    """
    folders = PurePosixPath(nodeid.split("::")[0]).parts[:-1]
    return "/".join(folders[: 3 if "/".join(folders[:2]) == DEEP else 2])


def table(costs: dict[str, Cost]) -> list[str]:
    """Lines, the dearest folder first, and their sum."""
    total = Cost(
        sum(cost.tests for cost in costs.values()),
        sum(cost.skipped for cost in costs.values()),
        sum(cost.wall_s for cost in costs.values()),
        sum(cost.cpu_s for cost in costs.values()),
    )
    rows = [*sorted(costs.items(), key=lambda row: -row[1].wall_s), ("all", total)]
    width = max(len(name) for name, _ in rows)
    return [
        f"{'folder':<{width}}  {'tests':>6}  {'skipped':>7}  {'seconds':>8}  {'cpu':>8}",
        *(
            f"{name:<{width}}  {cost.tests:>6}  {cost.skipped:>7}  {cost.wall_s:>8.1f}  {cost.cpu_s:>8.1f}"
            for name, cost in rows
        ),
    ]


class Folders:
    """Measures each phase of a test where it runs, and adds up where the run is reported."""

    def __init__(self) -> None:
        self.costs: dict[str, Cost] = {}
        self.files: dict[str, Cost] = {}
        self.since_s = time.process_time()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now_s = time.process_time()
        # What a report carries travels from xdist's workers to the process that adds up.
        report.cpu_s = now_s - self.since_s  # type: ignore[attr-defined]
        self.since_s = now_s
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cost = self.costs.setdefault(folder_of(report.nodeid), Cost())
        cost.tests += report.when == "setup"
        cost.skipped += report.skipped
        cost.wall_s += report.duration
        cost.cpu_s += getattr(report, "cpu_s", 0.0)
        file = self.files.setdefault(report.nodeid.split("::")[0], Cost())
        file.wall_s += report.duration
        file.cpu_s += getattr(report, "cpu_s", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.costs:
            return
        terminalreporter.section("time by folder")
        for line in table(self.costs):
            terminalreporter.line(line)
        for words, spent in (("longest files", "wall_s"), ("files that use most processor time", "cpu_s")):
            most = sorted(self.files.items(), key=lambda row: -getattr(row[1], spent))[:SLOWEST]
            listed = ", ".join(f"{file} {getattr(cost, spent):.0f} s" for file, cost in most)
            terminalreporter.line(f"{words}: {listed}")
