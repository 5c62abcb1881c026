"""What a study costs beside its data: one row cold from the command line, one row and a million on a warm
session, next to DuckDB.

CPU-seconds of all processes, Java included, so that a busy machine shows in them less than in seconds. DuckDB
reads the same million rows of CSV and counts the records of each key, which is what a study does first.
HIGHWATER_COST_ROWS: how many rows (1,000,000).
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import django
import duckdb

from tests.bench.cpu import command_cpu_s, tree_cpu_s

Figure = tuple[str, float, str, str, str]

ROWS = int(os.environ.get("HIGHWATER_COST_ROWS", "1000000"))
KEYS = 100_003
STRATEGY = "kafka.range"
HISTORY = {"kind": "given", "start": 4, "changes": [{"kind": "join"}] * 4}
REPEATS = 5
COLD_RUNS = 2
IS_ALL_COLD = True
"""Whether all rows are counted cold, too, not one row alone."""
IS_PREPARED = True
"""Whether the cold runs come after what `make install` prepares in the background."""
COUNT = (
    "SELECT count(*), sum(records) FROM (SELECT customer, count(*) AS records FROM read_csv('{path}', header "
    "= true) GROUP BY customer)"
)


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as name:
        folder = Path(name)
        one, many = folder / "one.csv", folder / "many.csv"
        one.write_text("customer,amount\nalice,5\n")
        many.write_text(
            "customer,amount\n" + "".join(f"customer-{row * row % KEYS},{row}\n" for row in range(ROWS))
        )
        return [*_cold(folder, one, many), *_warm(folder, one, many)]


def _cold(folder: Path, one: Path, many: Path) -> list[Figure]:
    """Each in processes of its own, from the command line."""
    if IS_PREPARED:
        command_cpu_s([sys.executable, "manage.py", "prepare_studies"])

    def study(path: Path) -> float:
        command = [
            sys.executable,
            "manage.py",
            "study",
            str(path),
            "--key",
            "customer",
            "--strategies",
            STRATEGY,
            "--out",
            str(folder / "cold"),
        ]
        return min(command_cpu_s(command) for _ in range(COLD_RUNS))

    count = f"import duckdb; duckdb.sql({COUNT.format(path=many)!r}).fetchall()"
    peer = min(command_cpu_s([sys.executable, "-c", count]) for _ in range(COLD_RUNS))
    first = study(one)
    figures: list[Figure] = [
        (
            "command line, cold: one row under one strategy",
            first,
            "CPU-s",
            "at most 15",
            f"{first / peer:.3g} times DuckDB's count of {ROWS:,} rows, cold: {peer:.2f}",
        )
    ]
    if IS_ALL_COLD:
        all_rows = study(many)
        figures.append(
            (
                f"command line, cold: {ROWS:,} rows",
                all_rows,
                "CPU-s",
                "-",
                f"{all_rows / peer:.3g} times DuckDB's count",
            )
        )
    return figures


def _warm(folder: Path, one: Path, many: Path) -> list[Figure]:
    """In this process, as the site's worker does it: a session that has run a study before."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mqsite.settings.dev")
    django.setup()
    from broker_core.pipeline.result import result_json
    from broker_core.pipeline.study_request import study_check
    from dashboard.studies.spark import SparkEngine

    engine = SparkEngine(folder / "spark")

    def study(path: Path) -> None:
        source = {"kind": "csv", "path": str(path), "key": "customer"}
        engine.run(
            "bench",
            study_check({"source": source, "strategies": [STRATEGY], "history": HISTORY}),
            folder / "warm",
            _quiet,
            lambda: False,
        )

    def count() -> None:
        counted.append(duckdb.sql(COUNT.format(path=many)).fetchall()[0])

    counted: list[tuple[int, int]] = []
    try:
        study(one), study(many)
        first, all_rows, peer = (_cpu_s(each) for each in (lambda: study(one), lambda: study(many), count))
    finally:
        engine.close()
    workload = result_json(folder / "warm")["workload"]
    assert (workload["keys"], workload["records"]) == counted[-1] and workload["records"] == ROWS
    return [
        ("warm session: one row", first, "CPU-s", "-", "all overhead"),
        (f"warm session: {ROWS:,} rows, beyond DuckDB's count of them", all_rows - peer, "CPU-s", "at most 3",
         f"study {all_rows:.2f}, DuckDB {peer:.2f}: {all_rows / peer:.3g} times"),
    ]  # fmt: skip


def _cpu_s(work: Callable[[], object]) -> float:
    """The median of a few runs."""
    taken = []
    for _ in range(REPEATS):
        before = tree_cpu_s()
        work()
        taken.append(tree_cpu_s() - before)
    return statistics.median(taken)


def _quiet(_: object) -> None:
    pass
