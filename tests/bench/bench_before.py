"""The whole site beside the commit before worlds: 50 labs at once, click to picture, the feed. Each bench as
that commit has it, in turn.

    the commit's checkout ─ labs ─┐   ┌─ click ─┐   ┌─ feed ─┐          the better of two rounds each: a busy moment of the machine
    this one              ─ labs ─┴───┴─ click ─┴───┴─ feed ─┘          seldom meets all

What runs without a site (records a second, seek, checkpoint) is in `bench_worlds.py`. Run alone: python -m
tests.bench.bench_before
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.bench.bench_worlds import BEFORE, ROOT, Figure, before

BENCHES = ("labs", "click", "feed")
ROUNDS = 2
WITHIN = 1.15
"""Latencies of the same code differ by so much from run to run."""


def run() -> list[Figure]:
    with before(os.environ.get("HIGHWATER_BEFORE")) as checkout:
        if checkout is None:
            print(
                f"  The commit before worlds, {BEFORE}, is not in this repository: nothing to measure "
                f"against."
            )
            return []
        return [figure for bench in BENCHES for figure in _beside(checkout, bench)]


def _beside(checkout: Path, bench: str) -> list[Figure]:
    """Of every figure that both have: how many times that of before it is."""
    rounds = [[_figures(folder, bench) for folder in (checkout, ROOT)] for _ in range(ROUNDS)]
    was, now = (_best([each[side] for each in rounds]) for side in (0, 1))
    return [
        (
            f"{what}, beside before",
            value / was[what][1],
            "times",
            _bar(bar),
            f"{value:.3g} {unit}, {was[what][1]:.3g} before",
        )
        for what, value, unit, bar, _ in now.values()
        if what in was and was[what][1]
    ]


def _figures(folder: Path, bench: str) -> dict[str, Figure]:
    """What a bench of that checkout measures, by name; the programs are this environment's."""
    program = f"import json; from tests.bench.bench_{bench} import run; print(json.dumps(run()))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return {figure[0]: tuple(figure) for figure in json.loads(done.stdout.splitlines()[-1])}


def _best(rounds: list[dict[str, Figure]]) -> dict[str, Figure]:
    """Of every figure the better one: the higher where its bar asks for no less than so much."""
    found: dict[str, Figure] = {}
    for figures in rounds:
        for what, figure in figures.items():
            better = max if figure[3].startswith(">=") else min
            found[what] = better(found.get(what, figure), figure, key=lambda each: each[1])
    return found


def _bar(bar: str) -> str:
    """No worse than before, within what the same code differs by; none where the bench itself has none."""
    return "" if not bar else f">= {1 / WITHIN:.2g}" if bar.startswith(">=") else f"<= {WITHIN:.3g}"


if __name__ == "__main__":
    for figure in run():
        print(figure)
