"""A study of a file beside what DuckDB and Polars take for one strategy's count of it (`peer_count.py`), in the same run: CSV
with quotes, JSON lines whose key is inside an object, Parquet; one strategy and sixteen.

CPU-seconds of all processes, the study's Java included, on a session that has run a study before; memory at its
highest. Peers count in processes of their own, without what they load first. HIGHWATER_FILES_ROWS=10000000 is the full
size (default 1,000,000).
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from broker_core.pipeline.result import result_json
from broker_core.pipeline.strategies import strategies_default
from broker_core.pipeline.study import study_run
from broker_core.pipeline.study_request import study_check
from tests.bench.bench_study import HighestMemory
from tests.bench.cpu import tree_cpu_s
from tests.bench.peer_count import PARTITIONS
from tests.bench.spark import bench_spark

Figure = tuple[str, float, str, str, str]

ROWS = int(os.environ.get("HIGHWATER_FILES_ROWS", "1000000"))
WARM_ROWS = min(ROWS, 1_000_000)
"""So many that several tasks share them, as they do all."""
KEYS = 100_003
ONE = ["kafka.range:partitions=12"]
SIXTEEN = [
    *(strategy.id for strategy in strategies_default()),
    *("kafka.range:partitions=24", "kafka.sticky:partitions=24", "kafka.roundrobin:partitions=24"),
    *(
        "pulsar.consistent_hash:points=10",
        "pulsar.consistent_hash:points=1000",
        "tubemq.modulo:partitions=24",
    ),
]
HISTORY = {"kind": "given", "start": PARTITIONS}
"""As many consumers as partitions: what a peer counts by partition, the study has by consumer."""
FIELDS = {"csv": "customer", "jsonl": "payload.after.customer", "parquet": "customer"}
BARS = {"csv": 1.5, "jsonl": 2.0, "parquet": 1.5}
PEERS = ("duckdb", "polars")
CHUNK_ROWS = 500_000
GIB = 2**30


def run() -> list[Figure]:
    """Measure. Returns (what, value, unit, bar, note) rows."""
    figures: list[Figure] = []
    with (
        tempfile.TemporaryDirectory(prefix="highwater-bench-") as name,
        bench_spark(Path(name), driver_memory="1g") as spark,
    ):
        folder = Path(name)
        for kind in FIELDS:
            small, path = folder / f"small.{kind}", folder / f"orders.{kind}"
            write(kind, small, WARM_ROWS)
            write(kind, path, ROWS)
            _study(spark, folder, kind, small, SIXTEEN)
            one, memory, result = _study(spark, folder, kind, path, ONE)
            sixteen = _study(spark, folder, kind, path, SIXTEEN)[0]
            peers = {peer: _peer(peer, kind, small, path) for peer in PEERS}
            shares = result["strategies"][0]["steps"][0]["consumers"].values()
            for told in peers.values():
                assert told["keys"] == result["workload"]["keys"]
                assert sorted(told["partitions"]) == sorted(share["records"] for share in shares)
            path.unlink()
            figures += _figures(kind, one, sixteen, memory, peers)
    return figures


def _figures(kind: str, one: float, sixteen: float, memory: int, peers: dict[str, Any]) -> list[Figure]:
    beside = ", ".join(
        f"{peer} {told['cpu_s']:.1f} CPU-s, {told['peak_bytes'] / GIB:.2f} GiB"
        for peer, told in peers.items()
    )
    what = f"study of {ROWS:,} rows of {kind}"
    least = min(told["cpu_s"] for told in peers.values())
    return [
        (f"{what}, one strategy", one, "CPU-s", "-", beside),
        (f"{what}, one strategy, against the faster peer", one / least, "times", f"at most {BARS[kind]}", ""),
        (f"{what}, sixteen strategies", sixteen, "CPU-s", "-", f"{sixteen / one:.2f} times one"),
        (f"{what}: memory of Python, Java and workers at its highest", memory / GIB, "GiB", "-", ""),
    ]


def write(kind: str, path: Path, rows: int) -> None:
    """Orders of KEYS customers, in pieces."""
    make: dict[str, Callable[[int, int], str]] = {"csv": _csv, "jsonl": _jsonl}
    if kind == "parquet":
        schema = pa.schema([("customer", pa.string()), ("note", pa.string()), ("amount", pa.int64())])
        with pq.ParquetWriter(path, schema) as out:
            for first in range(0, rows, CHUNK_ROWS):
                numbers = range(first, min(rows, first + CHUNK_ROWS))
                columns = [[_customer(row) for row in numbers], ['so, "it" is'] * len(numbers), list(numbers)]
                out.write_table(pa.Table.from_arrays([pa.array(each) for each in columns], schema=schema))
        return
    with path.open("w") as file:
        file.write("id,customer,note,amount\n" if kind == "csv" else "")
        for first in range(0, rows, CHUNK_ROWS):
            file.write(make[kind](first, min(rows, first + CHUNK_ROWS)))


def _customer(row: int) -> str:
    return f"customer-{row * row % KEYS}"


def _csv(first: int, end: int) -> str:
    return "".join(f'{row},{_customer(row)},"so, ""it"" is",{row % 97}\n' for row in range(first, end))


def _jsonl(first: int, end: int) -> str:
    return "".join(
        f'{{"payload":{{"op":"c","after":{{"id":{row},"customer":"{_customer(row)}","amount":{row % 97}}}}}}}\n'
        for row in range(first, end)
    )


def _study(
    spark: Any, folder: Path, kind: str, path: Path, strategies: list[str]
) -> tuple[float, int, dict[str, Any]]:
    """CPU-seconds, bytes at the highest, and the result."""
    source = {"kind": kind, "path": str(path), "key": FIELDS[kind]}
    request = study_check({"source": source, "strategies": strategies, "history": HISTORY})
    with HighestMemory() as memory:
        before = tree_cpu_s()
        study_run(spark, request, folder / "out", lambda _: None, lambda: False)
        used = tree_cpu_s() - before
    return used, memory.highest, result_json(folder / "out")


def _peer(peer: str, kind: str, small: Path, path: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.peer_count", peer, kind, str(small), str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told
