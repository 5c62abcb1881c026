"""How far a live study is behind its lab: four lanes at 1,000 records a second, reported windows against the
wall clock; and how long the first takes.

The lab runs in its own process, as in a shard's worker; the distance is from the end of a lab's second to the
callback with it.
"""

import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path

from django.conf import settings

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.pipeline.live import live_start
from dashboard.labs.chunks import ChunkWriter
from tests.bench.spark import bench_spark

Figure = tuple[str, float, str, str, str]

SECONDS = 75
WARM_UP_S = 35
FIRST_WINDOW_S = 20
SECOND = 1_000_000
FRAME_S = 0.1


def run() -> list[Figure]:
    """Measure. Returns (what, value, unit, bar, note) rows."""
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as path:
        folder = Path(path)
        chunks = folder / "chunks" / "bench"
        told: dict[int, float] = {}

        def on_windows(rows: list[dict[str, object]]) -> None:
            now = time.monotonic()
            for row in rows:
                told.setdefault(int(str(row["start_us"])) // SECOND, now)

        with bench_spark(folder) as spark:
            began, cost = (
                multiprocessing.get_context("spawn").Queue(),
                multiprocessing.get_context("spawn").Queue(),
            )
            lab = multiprocessing.get_context("spawn").Process(
                target=_drive, args=(folder, began, cost, SECONDS, WARM_UP_S)
            )
            lab.start()
            start_s = began.get()
            asked_s = time.monotonic()
            query = live_start(
                spark,
                {"kind": "lab", "chunks": str(chunks)},
                checkpoint=folder / "checkpoint",
                on_windows=on_windows,
            )
            while lab.is_alive():
                assert query.isActive, query.exception()
                time.sleep(1)
            writing_s = cost.get()
            query.query.processAllAvailable()
            query.stop()
    behind = sorted(at - (start_s + second + 1) for second, at in told.items() if second >= WARM_UP_S)
    return [
        (
            "first window of a live study after its request, Spark open",
            min(told.values()) - asked_s,
            "s",
            f"at most {FIRST_WINDOW_S}",
            "",
        ),
        (
            "live study behind its lab, median",
            statistics.median(behind),
            "s",
            "at most 2",
            f"{len(behind)} windows at 1,000 records/s",
        ),
        ("live study behind its lab, 99th percentile", behind[int(len(behind) * 0.99)], "s", "at most 2", ""),
        (
            "what writing chunks costs the shard, for each second of the lab",
            writing_s * 1_000,
            "ms",
            "at most 10",
            "of the processor",
        ),
    ]


def _drive(
    folder: Path,
    began: "multiprocessing.Queue[float]",
    cost: "multiprocessing.Queue[float]",
    seconds: int,
    warm_up_s: int,
) -> None:
    """The lab, in a process of its own, which reads this file again: how long is handed to it."""
    settings.configure(RUN_DIR=folder)
    core = Lab(
        scenario_from_json(
            {"workload": {"kind": "zipf", "keys": 1_000, "rate": 1_000}, "consumers": 8, "consumer_rate": 150}
        )
    )
    writer = ChunkWriter("bench")
    start_s = time.monotonic()
    began.put(start_s)
    writing_s = 0.0
    while (now := time.monotonic() - start_s) < seconds:
        core.advance_to(int(now * SECOND))
        before = time.process_time()
        writer.write(core, now)
        if now > warm_up_s:
            writing_s += time.process_time() - before
        time.sleep(max(0.0, FRAME_S - (time.monotonic() - start_s - now)))
    cost.put(writing_s / (seconds - warm_up_s))


if __name__ == "__main__":
    for figure in run():
        print(*figure, sep="  ")
