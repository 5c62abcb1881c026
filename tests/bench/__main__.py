"""`make bench`: every figure, beside its bar. `python -m tests.bench core ring` runs only those; `--smoke`
(`make bench-smoke`) at sizes that show no more than that they run.

Machines are noisy: ratios bind, absolute figures are for a quiet machine of two cores.
"""

import importlib
import os
import sys
import time
from pathlib import Path

from tests.bench.smoke import SIZES, VARIABLE, shrink

ORDER = (
    "start",
    "click",
    "labs",
    "neighbour",
    "fair",
    "feed",
    "room",
    "stage",
    "assignors",
    "ring",
    "amqp",
    "clients",
    "rabbitmq",
    "subscriptions",
    "core",
    "seek",
    "log",
)


def main(wanted: list[str]) -> int:
    smoke = "--smoke" in wanted
    wanted = [name for name in wanted if name != "--smoke"]
    there = (
        set(SIZES)
        if smoke
        else {path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")}
    )
    unknown = [name for name in wanted if name not in there]
    if unknown:
        print(
            f"There is no benchmark {', '.join(unknown)}; there are {', '.join(sorted(there))}.",
            file=sys.stderr,
        )
        return 2
    for name in [name for name in (*ORDER, *sorted(there - set(ORDER))) if name in (wanted or there)]:
        began = time.monotonic()
        bench = importlib.import_module(f"tests.bench.bench_{name}")
        if smoke:
            os.environ[VARIABLE] = "1"
            shrink(name, bench)
        figures = bench.run()
        print(f"\n{name} ({time.monotonic() - began:.0f} s)")
        for what, value, unit, bar, note in figures:
            print(
                f"  {what}: {number(value)} {unit}   bar: {bar}" + (f"   ({note})" if note else ""),
                flush=True,
            )
    return 0


def number(value: float) -> str:
    """Three digits that matter, thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
