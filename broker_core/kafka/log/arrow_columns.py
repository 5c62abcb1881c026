"""The records of many batches as Arrow columns: what a data pipeline asks of a log, at a million records a
second and more.

    batches ─► records, uncompressed, one after another ─► where each part is ─► offset | timestamp | key | value | headers
                                                                 (one pass)              only the columns that are asked for

Gives what record.py gives, record by record; a batch in which something is odd is handed to record.py, which
reads it or says what is wrong.

Source: the rules of record.py and record_batch.py. The compiled loops: record_kernels.py, imported when the
first batch is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from broker_core.kafka.log.codecs import Codec, decompress
from broker_core.kafka.log.errors import InvalidRecord, LogError
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import HEADER_SIZE, RecordBatch

HEADERS = pa.list_(pa.struct([("key", pa.binary()), ("value", pa.binary())]))
COLUMNS = {
    "offset": pa.int64(),
    "timestamp_ms": pa.int64(),
    "key": pa.binary(),
    "value": pa.binary(),
    "headers": HEADERS,
    "key_bytes": pa.int32(),
    "value_bytes": pa.int32(),
    "record_bytes": pa.int32(),
}
"""What can be asked for. key_bytes, value_bytes: null where key or value is; record_bytes: in the
uncompressed batch."""

PIECE_BYTES = 64 << 20
_ARROW_BYTES_MAX = 2**31 - 1

Ints = NDArray[np.int64]
Batch = RecordBatch | LegacyBatch


class BrokenBatch(LogError):
    """A batch cannot be read. index: its place among those given. cause: what record.py or the codec says."""

    def __init__(self, index: int, cause: LogError) -> None:
        super().__init__(str(cause))
        self.index = index
        self.cause = cause


def arrow_columns(
    batches: Sequence[Batch], columns: Sequence[str] = tuple(COLUMNS)
) -> Iterator[pa.RecordBatch]:
    """Read the batches' records, in order, PIECE_BYTES of uncompressed records at once. Does not ask the
    CRCs. Raises BrokenBatch at the first batch that cannot be read, when all records before it have been
    given.

    >>> from broker_core.kafka.log.record_batch import encode_pairs_batch
    >>> [made.to_pydict() for made in arrow_columns([encode_pairs_batch([(b"a", b"1"), (None, b"2")], timestamp=9)], ["key", "timestamp_ms"])]
    [{'key': [b'a', None], 'timestamp_ms': [9, 9]}]
    """
    from broker_core.kafka.log.record_kernels import PART_COUNT, find_parts

    begin = 0
    while begin < len(batches):
        pieces, fields, is_odd = _plain(batches, begin)
        sound = 0
        if fields:
            octets = np.frombuffer(pieces[0] if len(pieces) == 1 else b"".join(pieces), np.uint8)
            spans = np.array(fields, dtype=np.int64)
            parts = np.empty((PART_COUNT, int(np.maximum(spans[:, 2], 0).sum())), np.int64)
            sound, rows = find_parts(octets, spans, parts)
            if rows:
                yield _assemble(octets, parts[:, :rows], columns)
        begin += sound
        if sound < len(fields) or is_odd:
            yield _one_by_one(batches[begin], begin, columns)
            begin += 1


def _plain(batches: Sequence[Batch], begin: int) -> tuple[list[Any], list[tuple[int, ...]], bool]:
    """The uncompressed records of some batches from `begin` on, up to one that only record.py can read
    (True)."""
    pieces: list[Any] = []
    fields: list[tuple[int, ...]] = []
    position = 0
    for index in range(begin, len(batches)):
        batch = batches[index]
        # A count that cannot be would ask for that much room.
        if isinstance(batch, LegacyBatch) or len(batch.data) < HEADER_SIZE:
            return pieces, fields, True
        header = batch.header
        if header.attributes & 7 > Codec.ZSTD:
            return pieces, fields, True
        out = decompress(header.codec, memoryview(batch.data)[HEADER_SIZE:])
        size = len(out.data)
        if out.failure is not None or not 0 <= header.record_count <= size:
            return pieces, fields, True
        if position + size > _ARROW_BYTES_MAX:
            if not pieces:
                raise BrokenBatch(
                    index,
                    InvalidRecord(
                        f"{size} bytes uncompressed: a column of Arrow's holds {_ARROW_BYTES_MAX} at most"
                    ),
                )
            break
        append_time = header.is_log_append_time
        fields.append(
            (
                position,
                position + size,
                header.record_count,
                header.base_offset,
                header.base_timestamp,
                append_time,
                header.max_timestamp,
            )
        )
        pieces.append(out.data)
        position += size
        if position >= PIECE_BYTES:
            break
    return pieces, fields, False


def _assemble(octets: NDArray[np.uint8], parts: Ints, columns: Sequence[str]) -> pa.RecordBatch:
    from broker_core.kafka.log import record_kernels as at

    def plain(part: int) -> pa.Array:
        return pa.array(np.ascontiguousarray(parts[part]))

    def size(part: int) -> pa.Array:
        return pa.array(parts[part].astype(np.int32), mask=parts[part] < 0)

    makers: dict[str, Callable[[], pa.Array]] = {
        "offset": lambda: plain(at.OFFSET),
        "timestamp_ms": lambda: plain(at.TIMESTAMP),
        "key": lambda: _binary(octets, parts[at.KEY_START], parts[at.KEY_SIZE]),
        "value": lambda: _binary(octets, parts[at.VALUE_START], parts[at.VALUE_SIZE]),
        "headers": lambda: _headers(octets, parts[at.HEADERS_START], parts[at.HEADER_COUNT]),
        "key_bytes": lambda: size(at.KEY_SIZE),
        "value_bytes": lambda: size(at.VALUE_SIZE),
        "record_bytes": lambda: size(at.SIZE),
    }
    arrays = [makers[name]() for name in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema([(name, COLUMNS[name]) for name in columns]))


def _binary(octets: NDArray[np.uint8], starts: Ints, sizes: Ints) -> pa.Array:
    from broker_core.kafka.log.record_kernels import copy_parts

    count = len(starts)
    offsets = np.empty(count + 1, np.int32)
    present = np.empty(count, np.bool_)
    out = np.empty(int(np.maximum(sizes, 0).sum()), np.uint8)
    copy_parts(octets, starts, sizes, offsets, present, out)
    mask = None if present.all() else pa.array(present).buffers()[1]
    return pa.Array.from_buffers(pa.binary(), count, [mask, pa.py_buffer(offsets), pa.py_buffer(out)])


def _headers(octets: NDArray[np.uint8], starts: Ints, counts: Ints) -> pa.Array:
    from broker_core.kafka.log.record_kernels import find_headers

    found = np.empty((4, int(counts.sum())), np.int64)
    find_headers(octets, starts, counts, found)
    fields = [_binary(octets, found[0], found[1]), _binary(octets, found[2], found[3])]
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.StructArray.from_arrays(fields, fields=list(HEADERS.value_type)), type=HEADERS
    )


def _one_by_one(batch: Batch, index: int, columns: Sequence[str]) -> pa.RecordBatch:
    """As record.py reads it."""
    try:
        records = list(batch.records())
        return pa.RecordBatch.from_arrays(
            [pa.array([_value_of(record, name) for record in records], COLUMNS[name]) for name in columns],
            schema=pa.schema([(name, COLUMNS[name]) for name in columns]),
        )
    except LogError as error:
        raise BrokenBatch(index, error) from error
    except (OverflowError, pa.ArrowInvalid) as error:
        raise BrokenBatch(index, InvalidRecord(f"a number beyond 64 bits: {error}")) from error


def _value_of(record: Record, name: str) -> Any:
    match name:
        case "offset":
            return record.offset
        case "timestamp_ms":
            return record.timestamp
        case "key" | "value":
            return getattr(record, name)
        case "headers":
            return [{"key": key, "value": value} for key, value in record.headers]
        case "record_bytes":
            return record.size_in_bytes
    content = record.key if name == "key_bytes" else record.value
    return None if content is None else len(content)
