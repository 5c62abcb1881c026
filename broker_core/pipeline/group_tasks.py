"""Groups records by key within a task: Arrow batches in, tables of counted keys out.

A task holds a bounded number of keys; when there are more it hands on what it has and starts again, so a key
may come several times from one task. Exact whatever the keys are.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from broker_core.pipeline.strategies.base import Int64s

Batches = Iterable[pa.RecordBatch]

PENDING_ROWS = 1 << 21
PENDING_BYTES = 64 << 20
HELD_KEYS = 1 << 20
HELD_BYTES = 128 << 20
COUNTED_SCHEMA = pa.schema(
    [("key", pa.binary()), ("place", pa.int32()), ("records", pa.int64()), ("bytes", pa.int64())]
)


def count_by_key(
    ats: Sequence[int],
    held_keys: int = HELD_KEYS,
    pending_rows: int = PENDING_ROWS,
    held_bytes: int = HELD_BYTES,
) -> Callable[[Batches], Iterator[Any]]:
    """Of batches with key binary, bytes bigint, and where there are `ats` ordinal bigint: tables of COUNTED_SCHEMA.

    ats: ascending; a record's place is how many of them are at or below its ordinal. held_keys, held_bytes:
    how many a task holds. pending_rows: how many it takes in before it groups them.
    """

    def run(batches: Batches) -> Iterator[Any]:
        held = COUNTED_SCHEMA.empty_table()
        pending: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in batches:
            pending.append(_each(batch, ats))
            rows += batch.num_rows
            size += pending[-1].nbytes
            if rows >= pending_rows or size >= PENDING_BYTES:
                held = grouped([held, pa.Table.from_batches(pending)])
                pending, rows, size = [], 0, 0
                if held.num_rows >= held_keys or held.nbytes >= held_bytes:
                    yield held
                    held = COUNTED_SCHEMA.empty_table()
        if pending:
            held = grouped([held, pa.Table.from_batches(pending)])
        if held.num_rows:
            yield held

    return run


def _each(batch: pa.RecordBatch, ats: Sequence[int]) -> pa.RecordBatch:
    """Each record as one of its key and place."""
    count = batch.num_rows
    places = (
        np.searchsorted(ats, batch.column("ordinal").to_numpy(), side="right") if ats else np.zeros(count)
    )
    columns = [
        batch.column("key"),
        pa.array(places.astype(np.int32)),
        pa.array(np.ones(count, np.int64)),
        batch.column("bytes"),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=COUNTED_SCHEMA)


def grouped(tables: Sequence[Any]) -> Any:
    """Rows of the same key and place as one. In this thread: the cores are those of Spark's tasks."""
    return _summed(pa.concat_tables(tables), ["key", "place"]).combine_chunks()


def by_key(counted: Any) -> Any:
    """Rows of the same key as one: (key, records, bytes)."""
    return _summed(counted, ["key"]).combine_chunks()


def _summed(whole: Any, keys: list[str]) -> Any:
    summed = whole.group_by(keys, use_threads=False).aggregate([("records", "sum"), ("bytes", "sum")])
    return summed.rename_columns([*keys, "records", "bytes"])


def first_of_keys(keys: Any, places: Int64s) -> Int64s:
    """1 where a row is of the first stretch in which its key comes, else 0. keys: an array, null for no key;
    no row comes twice."""
    codes = keys.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
    first = np.full(int(codes.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, codes, places)
    is_first: Int64s = (places == first[codes]).astype(np.int64)
    return is_first
