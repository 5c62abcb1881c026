"""What one task does: read a range of a segment into Arrow batches, set damaged batches aside or stop at
them.

    records   topic, partition, offset, timestamp_ms, key, value, if wanted headers
    sizes     topic, partition, offset, timestamp_ms, key, key_bytes, value_bytes      values are not copied
    batches   one row a batch: where it is, what it holds, and what is wrong with it; nothing is decompressed

With a column `problem` the first two views also tell of the damaged batches, one row each, at the end of
their range. Control batches (the markers that end transactions) are not records; the view `batches` has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.kafka.log.arrow_columns import COLUMNS, BrokenBatch, arrow_columns
from broker_core.kafka.log.batch_reader import batch_at
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.pipeline.sources.kafka_log_plan import Bounds, LogRange, map_file
from broker_core.pipeline.sources.rows import SourceFailed

GROUP_RECORDS = 65_536
GROUP_BYTES = 16 << 20

PROBLEM = "problem"
BATCH_COLUMNS = (
    "topic",
    "partition",
    "segment",
    "position",
    "bytes",
    "base_offset",
    "last_offset",
    "records",
    "max_timestamp_ms",
    "codec",
    "is_control",
    "is_transactional",
    PROBLEM,
)

Batch = RecordBatch | LegacyBatch


@dataclass
class _Damage:
    """The damaged batches of a range. Raises SourceFailed at the first one unless they are to be skipped."""

    given: LogRange
    is_skipped: bool
    rows: list[tuple[int, int, int | None, str]] = field(default_factory=list)
    next_offset: int | None = None
    first_ms: int | None = None
    last_ms: int | None = None

    def pass_by(self, batch: Batch) -> None:
        """A sound batch: damage after it is about as old, and begins where it ends."""
        self.next_offset = (
            batch.last_offset + 1 if isinstance(batch, LegacyBatch) else batch.header.next_offset
        )
        if isinstance(batch, RecordBatch):
            self.last_ms = batch.header.max_timestamp
            self.first_ms = self.last_ms if self.first_ms is None else self.first_ms

    def add(self, position: int, batch: Batch | None, problem: str) -> None:
        """Note a batch if it is within the range's offsets."""
        if not self.is_skipped:
            file = segment_name(self.given)
            raise SourceFailed(
                "{file}: the batch at {position} is damaged: {reason}",
                file=file,
                position=position,
                reason=problem,
            )
        bounds = self.given.bounds
        offset = bounds.from_offset if self.next_offset is None else self.next_offset
        if batch is not None:
            offset = batch.base_offset if isinstance(batch, LegacyBatch) else batch.header.base_offset
        if bounds.from_offset <= offset < bounds.until_offset:
            self.rows.append((position, offset, self.last_ms, problem))

    def batch(self, schema: pa.Schema) -> pa.RecordBatch:
        """A row for each, at the time of the nearest sound batch, as its own cannot be believed."""
        told = {
            "topic": [self.given.topic] * len(self.rows),
            "partition": [self.given.partition] * len(self.rows),
            "offset": [offset for _, offset, _, _ in self.rows],
            "timestamp_ms": [self.first_ms if last_ms is None else last_ms for _, _, last_ms, _ in self.rows],
            PROBLEM: [problem for _, _, _, problem in self.rows],
        }
        columns = [pa.array(told.get(column.name, [None] * len(self.rows)), column.type) for column in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def read_range(
    given: LogRange, schema: pa.Schema, view: str, *, skip_damaged: bool
) -> Iterator[pa.RecordBatch]:
    """The range's rows in offset order, with the schema's columns of the view. Raises SourceFailed at a
    damaged batch, unless such are to be skipped; if the schema has a column `problem` they follow at the
    end."""
    if view == "batches":
        yield from _batch_rows(given, schema)
        return
    damage = _Damage(given, skip_damaged)
    yield from _records(given, schema, damage)
    if PROBLEM in schema.names:
        yield damage.batch(schema)


def damaged_batches(given: LogRange) -> list[tuple[int, str]]:
    """Position and fault of each damaged batch of the range. All is decompressed and read: a batch whose CRC
    is right may be broken inside."""
    damage = _Damage(given, is_skipped=True)
    for _ in _records(given, pa.schema([("offset", pa.int64())]), damage):
        pass
    return [(position, problem) for position, _, _, problem in damage.rows]


def _records(given: LogRange, schema: pa.Schema, damage: _Damage) -> Iterator[pa.RecordBatch]:
    group: list[Batch] = []
    places: list[int] = []
    records = size = 0
    for position, batch, problem in sound_batches(given):
        if problem is not None:
            damage.add(position, batch, problem)
            continue
        damage.pass_by(batch)
        if _is_wanted(given, batch):
            group.append(batch)
            places.append(position)
            records += 1 if isinstance(batch, LegacyBatch) else batch.header.record_count
            size += batch.size_in_bytes
            if records >= GROUP_RECORDS or size >= GROUP_BYTES:
                yield from _read(given, group, places, schema, damage)
                group, places, records, size = [], [], 0, 0
    yield from _read(given, group, places, schema, damage)


def sound_batches(given: LogRange) -> Iterator[tuple[int, Any, str | None]]:
    """(position, batch, None) for each batch whose CRC is right; (position, batch or None, what is wrong) for
    the others.

    After bytes that are not a batch, the start of the next one is unknown: the rest of the range is one
    problem.
    """
    try:
        view = map_file(Path(given.path))[: given.end]
    except FileNotFoundError:
        raise SourceFailed("{file}: was removed while it was being read", file=segment_name(given)) from None
    position = given.start
    while position < len(view):
        try:
            batch = batch_at(view, position)
        except LogError as error:
            yield position, None, str(error)
            return
        if batch is None:
            if not given.is_tail:
                yield position, None, f"{len(view) - position} bytes are no whole batch"
            return
        try:
            batch.ensure_valid()
        except LogError as error:
            yield position, batch, str(error)
        else:
            yield position, batch, None
        position += batch.size_in_bytes


def _is_wanted(given: LogRange, batch: Batch) -> bool:
    if isinstance(batch, LegacyBatch):
        return True
    header, bounds = batch.header, given.bounds
    if (
        header.is_control
        or header.last_offset < bounds.from_offset
        or header.base_offset >= bounds.until_offset
    ):
        return False
    if bounds.from_ms is not None and header.max_timestamp < bounds.from_ms:
        return False
    return not (given.aborted and header.is_transactional and _is_aborted(given, batch))


def _is_aborted(given: LogRange, batch: RecordBatch) -> bool:
    header = batch.header
    return any(
        row.producer_id == header.producer_id and row.first_offset <= header.base_offset <= row.last_offset
        for row in given.aborted or ()
    )


def _read(
    given: LogRange, group: list[Batch], places: list[int], schema: pa.Schema, damage: _Damage
) -> Iterator[pa.RecordBatch]:
    while group:
        try:
            yield from _rows(given, group, schema)
            return
        except BrokenBatch as broken:
            damage.add(places[broken.index], group[broken.index], str(broken))
            group, places = group[broken.index + 1 :], places[broken.index + 1 :]


def _rows(given: LogRange, group: Sequence[Batch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The group's records within the bounds, with the columns of the schema. Raises BrokenBatch after the
    records before it."""
    for made in arrow_columns(
        group, [name for name in COLUMNS if name in schema.names or name in ("offset", "timestamp_ms")]
    ):
        wanted = _within(given.bounds, made)
        if wanted.num_rows:
            same = {
                "topic": pa.scalar(given.topic),
                "partition": pa.scalar(given.partition, pa.int32()),
                PROBLEM: pa.scalar(None, pa.string()),
            }
            columns = [
                pa.repeat(same[name], wanted.num_rows) if name in same else wanted.column(name)
                for name in schema.names
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _within(bounds: Bounds, made: pa.RecordBatch) -> pa.RecordBatch:
    offsets, times = made.column("offset"), made.column("timestamp_ms")
    wanted = pc.and_(pc.greater_equal(offsets, bounds.from_offset), pc.less(offsets, bounds.until_offset))
    if bounds.from_ms is not None:
        wanted = pc.and_(wanted, pc.greater_equal(times, bounds.from_ms))
    if bounds.until_ms is not None:
        wanted = pc.and_(wanted, pc.less(times, bounds.until_ms))
    return made.filter(wanted) if pc.all(wanted).as_py() is False else made


def _batch_rows(given: LogRange, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    rows: list[tuple[Any, ...]] = []
    for position, batch, problem in sound_batches(given):
        start = (given.topic, given.partition, segment_name(given), position)
        if batch is None:
            rows.append((*start, given.end - position, None, None, None, None, None, False, False, problem))
        elif isinstance(batch, LegacyBatch):
            rows.append(
                (
                    *start,
                    batch.size_in_bytes,
                    batch.base_offset,
                    batch.last_offset,
                    None,
                    None,
                    None,
                    False,
                    False,
                    problem,
                )
            )
        else:
            header = batch.header
            codec = header.attributes & 7
            rows.append(
                (
                    *start,
                    batch.size_in_bytes,
                    header.base_offset,
                    header.last_offset,
                    header.record_count,
                    header.max_timestamp,
                    codec,
                    header.is_control,
                    header.is_transactional,
                    problem,
                )
            )
        if len(rows) == GROUP_RECORDS:
            yield _table(rows, schema)
            rows = []
    if rows:
        yield _table(rows, schema)


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = dict(zip(BATCH_COLUMNS, zip(*rows, strict=True), strict=True))
    return pa.RecordBatch.from_arrays(
        [pa.array(columns[field.name], field.type) for field in schema], schema=schema
    )


def segment_name(given: LogRange) -> str:
    """The segment's file with its folder, as messages name it."""
    path = Path(given.path)
    return f"{path.parent.name}/{path.name}"
