"""One strategy's count of a file by DuckDB or Polars: records by key, each key's partition by murmur2, records by
partition. A process of its own, so that its CPU time and memory are its own: `python -m tests.bench.peer_count duckdb csv WARM PATH`
prints `{"cpu_s", "peak_bytes", "keys", "partitions"}`."""

import json
import os
import resource
import sys

import numpy as np
import pyarrow as pa

from broker_core.hashing.columns import murmur2_column

PARTITIONS = 12
POSITIVE = 0x7FFFFFFF


def by_key(engine: str, kind: str, path: str) -> tuple[pa.Array, np.ndarray]:
    """The keys and how many records each has."""
    if engine == "duckdb":
        import duckdb

        source, key = {
            "csv": (f"read_csv('{path}', header = true)", "customer"),
            "jsonl": (f"read_json('{path}', format = 'newline_delimited')", "payload.after.customer"),
            "parquet": (f"read_parquet('{path}')", "customer"),
        }[kind]
        table = duckdb.sql(
            f"SELECT {key} AS customer, count(*) AS n FROM {source} GROUP BY ALL"
        ).to_arrow_table()
    else:
        import polars as pl

        if kind == "csv":
            frame = pl.scan_csv(path).select("customer")
        elif kind == "parquet":
            frame = pl.scan_parquet(path).select("customer")
        else:
            frame = pl.scan_ndjson(path).select(
                pl.col("payload").struct.field("after").struct.field("customer").alias("customer")
            )
        table = frame.group_by("customer").agg(pl.len().alias("n")).collect(engine="streaming").to_arrow()
    keys = table["customer"].combine_chunks().cast(pa.string()).cast(pa.binary())
    return keys, table["n"].to_numpy()


def main(engine: str, kind: str, warm: str, path: str) -> None:
    murmur2_column(by_key(engine, kind, warm)[0])  # what it loads and compiles first is not the file's
    before = os.times()
    keys, records = by_key(engine, kind, path)
    places = (murmur2_column(keys).astype(np.int64) & POSITIVE) % PARTITIONS
    partitions = np.bincount(places, records, PARTITIONS).astype(int).tolist()
    after = os.times()
    used = after.user + after.system - before.user - before.system
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"cpu_s": used, "peak_bytes": peak, "keys": len(keys), "partitions": partitions}))


if __name__ == "__main__":
    main(*sys.argv[1:])
