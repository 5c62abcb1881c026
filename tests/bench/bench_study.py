"""A whole study on keys that Spark makes itself: seconds, memory at its highest, and against one hash()
histogram of the same keys.

HIGHWATER_STUDY_RECORDS=100000000 is the full size (default 2,000,000); HIGHWATER_STUDY_KEYS different keys
(default 1,000,000, Zipf 1.1).
"""

import os
import tempfile
import threading
import time
from pathlib import Path

from broker_core.pipeline.result import result_json
from broker_core.pipeline.sources.read import source_read
from broker_core.pipeline.study import study_check, study_run
from tests.bench.spark import bench_spark

RECORDS = int(os.environ.get("HIGHWATER_STUDY_RECORDS", "2000000"))
KEYS = int(os.environ.get("HIGHWATER_STUDY_KEYS", "1000000"))
WARM_RECORDS = 100_000
JOINS = 12
MASTER = os.environ.get("SPARK_MASTER", "local[2]")
DRIVER_MEMORY = os.environ.get("SPARK_DRIVER_MEMORY", "4g")
GIB = 2**30


def run():
    source = {"kind": "zipf", "keys": KEYS, "records": RECORDS, "exponent": 1.1, "seed": 7}
    history = {"kind": "given", "start": 4, "changes": [{"kind": "join"}] * JOINS}
    with (
        tempfile.TemporaryDirectory() as folder,
        HighestMemory() as memory,
        bench_spark(Path(folder), master=MASTER, driver_memory=DRIVER_MEMORY) as spark,
    ):
        _study(spark, source | {"records": WARM_RECORDS}, history, Path(folder) / "warm")
        began = time.perf_counter()
        from pyspark.sql import functions as f

        keys = source_read(spark, source).records.select("key")
        keys.groupBy(f.pmod(f.hash("key"), f.lit(65_536))).count().agg(f.sum("count")).collect()
        histogram_s = time.perf_counter() - began
        stages, result = _study(spark, source, history, Path(folder) / "out")
    assert result["workload"]["records"] == RECORDS
    study_s = sum(stages.values())
    told = ", ".join(f"{stage} {seconds:.0f} s" for stage, seconds in stages.items())
    return [
        (
            (
                f"study of {RECORDS:,} records, {result['workload']['keys']:,} keys, {len(result['strategies'])} "
                f"strategies at 4 to {4 + JOINS} consumers"
            ),
            study_s,
            "s",
            "-",
            told,
        ),
        (
            "routing against one hash() histogram",
            stages["routing"] / histogram_s,
            "times",
            "3",
            f"histogram {histogram_s:.1f} s",
        ),
        (
            "memory of Python, Java and workers at its highest",
            memory.highest / GIB,
            "GiB",
            "16",
            f"{MASTER}, driver {DRIVER_MEMORY}",
        ),
    ]


def _study(spark, source, history, out):
    """Seconds by stage, and the result."""
    stages, last = {}, [None, time.perf_counter()]

    def on_progress(progress):
        now = time.perf_counter()
        if last[0] is not None:
            stages[last[0]] = stages.get(last[0], 0) + now - last[1]
        last[:] = [progress["stage"], now]

    study_run(spark, study_check({"source": source, "history": history}), out, on_progress, lambda: False)
    return stages, result_json(out)


class HighestMemory:
    """The resident memory of this process and all its children, looked at ten times a second; pages they
    share count for each of them."""

    def __enter__(self):
        self.highest, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _watch(self):
        while not self._over.wait(0.1):
            self.highest = max(self.highest, sum(_resident(pid) for pid in _family(os.getpid())))


def _family(pid):
    children = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue
        children.setdefault(parent, []).append(int(status.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def _resident(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
