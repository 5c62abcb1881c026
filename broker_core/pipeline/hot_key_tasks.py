"""Which keys are frequent, and a fair sample of all keys, in one pass with bounded memory. Runs in Spark's
Python workers, on Arrow alone.

    rows (key, mix, records)  ──►  summed by key  ──►  too many?  keep the most frequent, take the count of the first one that goes off all (error)
                                         └──►  keep the keys with the smallest mix: an even sample of the keys, with exact counts

Frequent keys are counted as Misra and Gries do ("Finding repeated elements", 1982): a kept count is never too
high, and too low by at most the error. As long as nothing had to go the error is 0 and the counts are exact.
The sample keeps the k smallest values of a mix that has nothing to do with the hashes that strategies use:
whichever key is among the k smallest of all was so in every task, so nothing of its count is lost. Only keyed
rows come here.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker_core.lab.workload.weighted_keys import KEY_BYTES_MAX

HOT, SAMPLED, ERROR = 0, 1, 2
KEPT_ROWS = 1 << 16
KEPT_BYTES = 16 << 20
PENDING_ROWS = 1 << 20
PENDING_BYTES = 64 << 20
SUMMARY_SCHEMA = pa.schema(
    [("kind", pa.int8()), ("key", pa.binary()), ("mix", pa.int64()), ("records", pa.int64())]
)
SUMMARY_SQL = "kind tinyint, key binary, mix bigint, records bigint"

_COUNTED = pa.schema([("key", pa.binary()), ("mix", pa.int64()), ("records", pa.int64())])
Batches = Iterable[pa.RecordBatch]


@dataclass
class KeySummary:
    """What one task remembers. sampled: how many keys the sample holds. samples_all: whether what is added
    goes into the sample as well.
    error: how much a count in `hot` may be too low."""

    sampled: int
    kept_rows: int = KEPT_ROWS
    kept_bytes: int = KEPT_BYTES
    samples_all: bool = True
    hot: Any = field(default_factory=_COUNTED.empty_table)
    sample: Any = field(default_factory=_COUNTED.empty_table)
    error: int = 0
    _pending: list[Any] = field(default_factory=list)
    _pending_rows: int = 0
    _pending_bytes: int = 0

    def add(self, counted: Any) -> None:
        """Take in rows of (key, mix, records)."""
        self._pending.append(counted)
        self._pending_rows += counted.num_rows
        self._pending_bytes += counted.nbytes
        if self._pending_rows >= PENDING_ROWS or self._pending_bytes >= PENDING_BYTES:
            self.settle()

    def settle(self) -> None:
        """Bring what is pending into the two tables."""
        if not self._pending:
            return
        fresh = _merged(self._pending)
        self._pending, self._pending_rows, self._pending_bytes = [], 0, 0
        if self.samples_all:
            self.add_sample(fresh)
        self._keep(_merged([self.hot, fresh]))

    def add_sample(self, fresh: Any) -> None:
        """Take in rows of (key, mix, records) whose counts are exact."""
        if (pc.max(pc.binary_length(fresh["key"])).as_py() or 0) > KEY_BYTES_MAX:
            keys = pa.array([short_key(key.as_py()) for key in fresh["key"]], pa.binary())
            fresh = fresh.set_column(0, "key", keys)
        merged = _merged([self.sample, fresh])
        if merged.num_rows > self.sampled:
            merged = merged.take(pc.select_k_unstable(merged, self.sampled, sort_keys=[("mix", "ascending")]))
        self.sample = merged

    def _keep(self, merged: Any) -> None:
        if merged.num_rows > self.kept_rows or merged.nbytes > self.kept_bytes:
            merged = merged.take(pc.sort_indices(merged, sort_keys=[("records", "descending")]))
            sizes = np.cumsum(pc.binary_length(merged["key"]).to_numpy() + 16)
            fitting = min(
                self.kept_rows,
                int(np.searchsorted(sizes, self.kept_bytes, side="right")),
                merged.num_rows - 1,
            )
            cut = merged["records"][fitting].as_py()
            self.error += cut
            left = merged.slice(0, fitting)
            left = left.set_column(2, "records", pc.subtract(left["records"], cut))
            merged = left.filter(pc.greater(left["records"], 0))
        self.hot = merged

    def batches(self, hottest: int | None = None) -> Iterator[pa.RecordBatch]:
        """Both tables and the error, as rows of SUMMARY_SCHEMA. hottest: so many of the frequent keys, the
        hottest first, equal ones by key."""
        self.settle()
        hot = self.hot
        if hottest is not None:
            # Ties by key: the same workload has the same hottest keys, however its tasks were cut.
            order = pc.sort_indices(hot, sort_keys=[("records", "descending"), ("key", "ascending")])
            hot = hot.take(order.slice(0, hottest))
        for kind, table in ((HOT, hot), (SAMPLED, self.sample)):
            kinds = pa.array(np.full(table.num_rows, kind, np.int8))
            columns = [kinds, table["key"], table["mix"], table["records"]]
            yield from (
                pa.Table.from_arrays(columns, schema=SUMMARY_SCHEMA)
                .combine_chunks()
                .to_batches(max_chunksize=4_096)
            )
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([ERROR], pa.int8()),
                pa.array([None], pa.binary()),
                pa.array([0]),
                pa.array([self.error]),
            ],
            schema=SUMMARY_SCHEMA,
        )


def summarise(
    sampled: int, kept_rows: int = KEPT_ROWS, kept_bytes: int = KEPT_BYTES
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """First stage, mapInArrow over (key binary, mix bigint, records bigint): a summary of each task's
    rows."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        summary = KeySummary(sampled, kept_rows, kept_bytes)
        for batch in batches:
            if batch.num_rows:
                summary.add(
                    pa.Table.from_arrays([batch.column(name) for name in _COUNTED.names], schema=_COUNTED)
                )
        yield from summary.batches()

    return run


def merge(
    sampled: int, hottest: int, kept_rows: int = KEPT_ROWS, kept_bytes: int = KEPT_BYTES
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Second stage, mapInArrow over the first one's rows in one task: one summary of all, with so many of the
    hottest keys."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        # A kept count may be too low, so the sample is fed by the samples alone.
        summary = KeySummary(sampled, kept_rows, kept_bytes, samples_all=False)
        for batch in batches:
            table = pa.Table.from_batches([batch])
            summary.error += pc.sum(table.filter(pc.equal(table["kind"], ERROR))["records"]).as_py() or 0
            summary.add(table.filter(pc.equal(table["kind"], HOT)).select(_COUNTED.names))
            summary.add_sample(table.filter(pc.equal(table["kind"], SAMPLED)).select(_COUNTED.names))
        yield from summary.batches(hottest)

    return run


def short_key(key: bytes) -> bytes:
    """The key, or a digest in place of one too long for a lab: as frequent, but with another owner."""
    return key if len(key) <= KEY_BYTES_MAX else sha256(key).hexdigest().encode()


def _merged(tables: list[Any]) -> Any:
    """Rows of the same key as one."""
    grouped = pa.concat_tables(tables).group_by("key").aggregate([("mix", "min"), ("records", "sum")])
    return (
        grouped.rename_columns({"mix_min": "mix", "records_sum": "records"})
        .select(_COUNTED.names)
        .cast(_COUNTED)
    )
