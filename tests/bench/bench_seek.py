"""Seek in the demo, anywhere in an hour of it, with the checkpoints that its worker takes: CPU time, beside an older
commit in the same run; then over HTTP, from press to picture (past_http.py).

    the commit's checkout ─ an hour, seeks ─┐
    this one              ─ an hour, seeks ─┴─ median, the 99th of a hundred, what an hour costs with its checkpoints
"""

import gc
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if __name__ != "__main__":
    from tests.bench import past_http
    from tests.bench.smoke import is_smoke

ROOT = Path(__file__).parents[2]
BEFORE = "5c21dac3"
"""The commit before checkpoints by cost."""
SPAN_S, SEEKS = 3_600, 60
MEDIAN_MS, P99_MS = 200, 400
Figure = tuple[str, float, str, str, str]


def run() -> list[Figure]:
    """(what, value, unit, bar, note) per figure."""
    now, was = _in(ROOT), None
    if not is_smoke():
        with before() as checkout:
            was = None if checkout is None else _in(checkout)
    figures = [
        ("seek in the demo: median", "median_ms", "ms", f"<= {MEDIAN_MS}"),
        ("seek in the demo: 99 of 100", "p99_ms", "ms", f"<= {P99_MS}"),
        ("an hour of the demo with its checkpoints", "hour_s", "s", ""),
        ("of that for checkpoints", "part", "%", "about 20"),
        ("its checkpoints as stored", "mb", "MB", "<= 33.6"),
        ("how many they are", "checkpoints", "", ""),
    ]
    return [
        (what, now[name], unit, bar, "" if was is None else f"{was[name]:.4g} at {BEFORE}")
        for what, name, unit, bar in figures
    ] + past_http.run(SPAN_S, SEEKS)


@contextmanager
def before() -> Iterator[Path | None]:
    """A checkout of the commit before, None where the history does not have it."""
    git = ["git", "-C", str(ROOT)]
    known = subprocess.run([*git, "cat-file", "-e", f"{BEFORE}^{{commit}}"], capture_output=True, check=False)
    if known.returncode:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "before"
        subprocess.run([*git, "worktree", "add", "--detach", "--quiet", str(checkout), BEFORE], check=True)
        try:
            (checkout / "var").mkdir(exist_ok=True)
            (checkout / "var" / "flights").symlink_to(ROOT / "var" / "flights")
            yield checkout
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(checkout)], check=True)


def _in(folder: Path) -> dict[str, float]:
    """What this file measures of that checkout's lab; the programs are this environment's."""
    done = subprocess.run(
        [sys.executable, __file__, str(SPAN_S), str(SEEKS)],
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measured(span_s: int, seeks: int) -> dict[str, float]:
    from broker_core.lab.journal import Cadence, Journal
    from broker_core.lab.lab import Lab
    from broker_core.lab.scenario import scenario_from_json

    scenario = scenario_from_json({})
    lab, journal, cadence = Lab(scenario), Journal(scenario), Cadence()
    takes_wall_time = len(inspect.signature(journal.keep).parameters) == 3  # so it was at BEFORE
    gc.set_threshold(700, 10, 1_000_000)  # as a worker has them (GENERATIONS): full collections in between
    began, keeping_s = time.process_time(), 0.0
    for second in range(1, span_s + 1):
        lab.advance_to(second * 1_000_000)
        keeps = time.process_time()
        journal.keep(lab, cadence, *([second] if takes_wall_time else []))
        keeping_s += time.process_time() - keeps
    hour_s = time.process_time() - began
    took = []
    for place in range(seeks):
        at_us = place * 7_919 % span_s * 1_000_000 + 500_000
        gc.collect()
        began = time.process_time()
        journal.seek(at_us)
        took.append((time.process_time() - began) * 1000)
    took.sort()
    stored = [getattr(kept, "packed", kept) for kept in journal.checkpoints.values()]
    return {
        "median_ms": took[len(took) // 2],
        "p99_ms": took[min(len(took) - 1, len(took) * 99 // 100)],
        "hour_s": hour_s,
        "part": 100 * keeping_s / hour_s,
        "checkpoints": len(stored),
        "mb": sum(map(len, stored)) / 1e6,
    }


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]), int(sys.argv[2]))))
