"""Groups records by key within a task, before Spark groups what the tasks found: Arrow batches in, counted
keys out.

A task holds a bounded number of keys; when there are more it hands on what it has and starts again, so a key
may come several times from one task. Exact whatever the keys are.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker_core.hashing.columns import murmur3_column

Batches = Iterable[pa.RecordBatch]

PENDING_ROWS = 1 << 21
PENDING_BYTES = 64 << 20
HELD_KEYS = 1 << 20
HELD_BYTES = 128 << 20
BATCH_ROWS = 16_384
BATCH_BYTES = 16 << 20
COUNTED_SQL = "key binary, place int, records bigint, bytes bigint"
DIFFERENT_SQL = "keys_there bigint, different bigint"
COUNTED_SCHEMA = pa.schema(
    [("key", pa.binary()), ("place", pa.int32()), ("records", pa.int64()), ("bytes", pa.int64())]
)


def count_by_key(
    ats: Sequence[int],
    held_keys: int = HELD_KEYS,
    pending_rows: int = PENDING_ROWS,
    held_bytes: int = HELD_BYTES,
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """For mapInArrow over (key binary, bytes bigint, and where there are `ats` ordinal bigint).

    ats: ascending; a record's place is how many of them are at or below its ordinal. held_keys, held_bytes:
    how many a task holds.
    pending_rows: how many it takes in before it groups them.
    """

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
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
                    yield from _batches(held)
                    held = COUNTED_SCHEMA.empty_table()
        yield from _batches(grouped([held, pa.Table.from_batches(pending, COUNTED_SCHEMA)]))

    return run


def count_different(batches: Batches) -> Iterator[pa.RecordBatch]:
    """mapInArrow over (key binary): how many of a task's records have a key, and how many different ones
    these are. For samples: their hashes are held, and nobody minds two keys of one hash."""
    found = [pa.array(murmur3_column(batch.column("key").drop_null())) for batch in batches]
    hashes = pa.chunked_array(found, pa.uint32())
    yield pa.RecordBatch.from_pydict(
        {"keys_there": [len(hashes)], "different": [pc.count_distinct(hashes).as_py()]}
    )


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


def _batches(table: Any) -> list[pa.RecordBatch]:
    """The rows in batches of BATCH_ROWS or, with long keys, of about BATCH_BYTES."""
    row_bytes = table.nbytes // max(1, table.num_rows)
    batches: list[pa.RecordBatch] = table.to_batches(
        max(1, min(BATCH_ROWS, BATCH_BYTES // max(1, row_bytes)))
    )
    return batches


def grouped(tables: list[Any]) -> Any:
    """Rows of the same key and place as one. In this thread: the cores are those of Spark's tasks."""
    whole = pa.concat_tables(tables)
    summed = whole.group_by(["key", "place"], use_threads=False).aggregate(
        [("records", "sum"), ("bytes", "sum")]
    )
    return summed.rename_columns(COUNTED_SCHEMA.names).combine_chunks()
