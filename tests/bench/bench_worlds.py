"""What worlds cost beside the commit before them: CPU time a record, of a seek and of a study's timed
records, bytes of a checkpoint.

    two processes, one with each checkout's core ─► stretches in turn ─► the least of each, so that a busy moment of the machine meets both

Of the four lanes so in three pairs of processes: where a process finds its memory makes five per cent of
difference.

HIGHWATER_BEFORE names a checkout of the commit before; without it a worktree of the repository's own history
is made and taken away again. Run alone: python -m tests.bench.bench_worlds
"""

import importlib.util
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BEFORE = "213e526"
ROOT = Path(__file__).parents[2]
STRETCHES, PAIRS = 40, 3
BUSY = {"consumers": 12, "consumer_rate": 200, "workload": {"rate": 2_000}}
ONE_PULSAR = {"lanes": [{"model": "pulsar"}]}
ONE_BROKER = {
    "lanes": [
        {"model": "pulsar"},
        {"model": "kafka", "cluster": False},
        {"model": "tubemq"},
        {"model": "rabbitmq"},
    ]
}
"""What is compared: before worlds there was no cluster."""
CHECKPOINT_S = 300
TIMED, TIMED_KEYS = 50_000, 500

Figure = tuple[str, float, str, str, str]


def run() -> list[Figure]:
    with before(os.environ.get("HIGHWATER_BEFORE")) as checkout:
        if checkout is None:
            print(
                f"  The commit before worlds, {BEFORE}, is not in this repository: nothing to measure "
                f"against."
            )
            return []
        figures: list[Figure] = []
        for what, case in (("served as they come, 2,000 a second", "busy"), ("the demo", "demo")):
            was, now = (
                min(each) for each in zip(*(in_turn(checkout, case) for _ in range(PAIRS)), strict=True)
            )
            figures.append(
                (
                    f"worlds: four lanes, {what}, beside before",
                    was / now,
                    "of before",
                    ">= 0.6",
                    f"{now:.1f} us, {was:.1f} before",
                )
            )
            figures.append((f"worlds: four lanes, {what}", 1e6 / now, "records/s of CPU", ">= 15,000", ""))
        was, now = in_turn(checkout, "seek", 12)
        figures.append(
            (
                "worlds: a seek in the demo beside before",
                now / was,
                "times",
                "",
                f"{now / 1000:.0f} ms, {was / 1000:.0f} before",
            )
        )
        was, now = in_turn(checkout, "timed", 3)
        figures.append(
            (
                (
                    f"worlds: {TIMED:,} timed records in four lanes, a study's part in the lab alone, beside "
                    f"before"
                ),
                now / was,
                "times",
                "",
                f"{now:.2g} CPU-s, {was:.2g} before",
            )
        )
        was, now = studies(checkout)
        figures.append(
            (
                f"worlds: a study of {TIMED:,} timed records from the command line, beside before",
                now / was,
                "times",
                "<= 1",
                f"{now:.3g} s, {was:.3g} before",
            )
        )
        was, now = in_turn(checkout, "bytes", 1)
        figures.append(
            (
                "worlds: checkpoint of the demo beside before",
                now / was,
                "times",
                "<= 2",
                f"{now:,.0f} B, {was:,.0f} before",
            )
        )
        return figures


@contextmanager
def before(named: str | None = None, commit: str = BEFORE) -> Iterator[Path | None]:
    """A checkout of a commit before, None where the history does not have it. named: where there is one
    already."""
    if named:
        yield Path(named)
        return
    git = ["git", "-C", str(ROOT)]
    if subprocess.run(
        [*git, "cat-file", "-e", f"{commit}^{{commit}}"], capture_output=True, check=False
    ).returncode:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "before"
        subprocess.run([*git, "worktree", "add", "--detach", "--quiet", str(checkout), commit], check=True)
        try:
            (checkout / "var").mkdir(exist_ok=True)
            (checkout / "var" / "flights").symlink_to(ROOT / "var" / "flights")
            yield checkout
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(checkout)], check=True)


def in_turn(checkout: Path, case: str, stretches: int = STRETCHES) -> tuple[float, float]:
    """(before, now): the least figure of each over so many stretches."""
    workers = [
        subprocess.Popen(
            [sys.executable, __file__, case],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for folder in (checkout, ROOT)
    ]
    try:
        figures = [[_ask(worker) for worker in workers] for _ in range(stretches)]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    was, now = (min(each) for each in zip(*figures, strict=True))
    return was, now


def studies(checkout: Path) -> tuple[float, float]:
    """(before, now): wall seconds of the command that studies a file of so many records under every strategy,
    the least of three in turn."""
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records.csv"
        records.write_text(
            "customer\n" + "".join(f"key-{row * 7_919 % 1_000_003 % TIMED_KEYS}\n" for row in range(TIMED))
        )
        command = [
            sys.executable,
            "manage.py",
            "study",
            str(records),
            "--key",
            "customer",
            "--members",
            "8 + -c2 c3x +c3",
            "--rate",
            "2000",
            "--consumer-rate",
            "300",
            "--out",
            str(Path(folder) / "out"),
        ]
        times = [[_seconds(command, place) for place in (checkout, ROOT)] for _ in range(3)]
    was, now = (min(each) for each in zip(*times, strict=True))
    return was, now


def _seconds(command: list[str], place: Path) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=place, check=True, capture_output=True)
    return time.perf_counter() - began


def _ask(worker: "subprocess.Popen[str]") -> float:
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    figure: float = json.loads(worker.stdout.readline())
    return figure


# In a worker; what it imports is one of the two checkouts'.


def stretches_of(case: str) -> Callable[[], float]:
    """One figure at each call: CPU microseconds a record or of a seek, or bytes."""
    from broker_core.lab.lab import Lab
    from broker_core.lab.scenario import scenario_from_json

    has_clusters = importlib.util.find_spec("broker_core.lab.cluster_options") is not None
    lanes = ONE_PULSAR if "pulsar" in case else ONE_BROKER if has_clusters else {}
    is_busy = case.startswith("busy")
    scenario = scenario_from_json({**(BUSY if is_busy else {}), **lanes})
    if case == "timed":
        return timed(scenario)
    lab = Lab(scenario)
    if case == "bytes":
        lab.advance_to(CHECKPOINT_S * 1_000_000)
        return lambda: float(len(lab.checkpoint()))
    if case == "seek":
        return seeks(scenario, lab)
    warm_s, stretch_s = (5, 1) if is_busy else (60, 30)
    lab.advance_to(warm_s * 1_000_000)

    def advance() -> float:
        first, began = lab.record_count, time.process_time()
        lab.advance_to(lab.now_us + stretch_s * 1_000_000)
        return (time.process_time() - began) * 1e6 / (lab.record_count - first)

    return advance


def timed(scenario: Any) -> Callable[[], float]:
    """CPU seconds of what a study runs in the lab, once in each of the demo's lanes: eight consumers, a
    crash, a newcomer."""
    import numpy as np

    from broker_core.pipeline.members import Step
    from broker_core.pipeline.timed import timed_run, timetable
    from broker_core.pipeline.timed_workload import SequenceWorkload

    names = tuple(f"c{number}" for number in range(1, 9))
    steps = [
        Step(0, "start", None, "", names, None), Step(1, "crash", "c2", "", tuple(set(names) - {"c2"}), None),
        Step(2, "join", "c9", "", (*names, "c9"), None),
    ]  # fmt: skip
    table = timetable(steps, 2_000, 300, TIMED)
    codes = (np.arange(TIMED) * 7_919 % 1_000_003 % TIMED_KEYS).astype(np.int64)
    workload = SequenceWorkload(
        table.rate, [b"key-%d" % key for key in range(TIMED_KEYS)], codes, np.full(TIMED, 100), False
    )
    lanes = scenario.lanes if hasattr(scenario, "lanes") else scenario.rigs
    asked: list[Any] = [lambda step: None][
        : len(inspect.signature(timed_run).parameters) - 5
    ]  # before each step, in those days

    def run_once() -> float:
        began = time.process_time()
        for spec in lanes:
            timed_run(spec, steps, table, workload, 7, *asked)
        return time.process_time() - began

    return run_once


def seeks(scenario: Any, lab: Any) -> Callable[[], float]:
    """Seeks all over five minutes of the demo, with the checkpoints that each of the two takes on its own."""
    try:
        from broker_core.lab.journal import Cadence, Journal
    except ImportError:  # before worlds
        from broker_core.lab.replay import Journal  # type: ignore[import-not-found,no-redef]

        journal, keep = Journal(scenario), lambda second: journal.keep(lab)
    else:
        journal, cadence = Journal(scenario), Cadence()
        keep = lambda second: journal.keep(lab, cadence, second)  # noqa: E731
    for second in range(1, CHECKPOINT_S + 1):
        lab.advance_to(second * 1_000_000)
        keep(second)
    places = iter(range(1_000_000))

    def seek() -> float:
        began = time.process_time()
        for _ in range(10):  # the same ten places each time
            journal.seek((next(places) % 10 * 7_919 % CHECKPOINT_S) * 1_000_000 + 500_000)
        return (time.process_time() - began) * 1e6 / 10

    return seek


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure = stretches_of(sys.argv[1])
        for _line in sys.stdin:
            print(json.dumps(measure()), flush=True)
    else:
        for figure in run():
            print(figure)
