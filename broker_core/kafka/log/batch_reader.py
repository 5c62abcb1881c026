"""Finding the batches in a run of bytes: a file, a part of one, or what came over the network.

    offset 8   length 4   length bytes            offset 8   length 4   length bytes          ...

A batch that the buffer cuts off at the end is not an error: a fetch may end anywhere, and so may a file after
a crash. A length that is impossible for a batch, or a format that does not exist, is one.

Source: Kafka clients 3.9.2, ByteBufferLogInputStream, DefaultRecordBatch, AbstractLegacyRecordBatch.
Vectors: kafka/records/corrupt.json.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from broker_core.kafka.log.errors import CorruptRecord
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.record_batch import (
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    RecordBatch,
)
from broker_core.kafka.log.varint import Buffer

LENGTH_MIN = 14  # what the smallest message of format 0 has after its length field
MAGIC_POSITION = 16
_LENGTH = struct.Struct(">i")
_new_tuple = tuple.__new__
_NO_HEADER = BatchHeader(-1, 0, -1, MAGIC, 0, 0, 0, -1, -1, -1, -1, -1, 0)


def read_batches(buffer: Buffer) -> Iterator[RecordBatch | LegacyBatch]:
    """Give each whole batch, as a view into the buffer. Raises CorruptRecord at bytes that cannot be a batch.

    >>> list(read_batches(b"cut off"))
    []
    """
    view = memoryview(buffer)
    position = 0
    while (batch := batch_at(view, position)) is not None:
        yield batch
        position += batch.size_in_bytes


def whole_batches(buffer: Buffer) -> list[RecordBatch]:
    """Give the batches of a request: at least one, whole, of format 2, and nothing after them. Raises
    CorruptRecord.

    >>> from broker_core.kafka.log.record_batch import encode_pairs_batch
    >>> len(whole_batches(encode_pairs_batch([(b"k", b"v")]).data * 2))
    2
    """
    view = memoryview(buffer)
    end = len(view)
    if end >= HEADER_SIZE:  # most requests are one batch
        header = _new_tuple(BatchHeader, HEADER.unpack_from(view))
        if header[3] == MAGIC and LOG_OVERHEAD + header[1] == end:
            return [_new_tuple(RecordBatch, (header, view))]
    position = 0
    batches: list[RecordBatch] = []
    while position < end and (batch := batch_at(view, position)) is not None:
        if isinstance(batch, LegacyBatch):
            raise CorruptRecord(f"a message of format {batch.magic}; this log holds format {MAGIC}")
        batches.append(batch)
        position += len(batch.data)
    if position != end or not batches:
        raise CorruptRecord(f"{end - position} bytes that are no whole batch")
    return batches


def batch_at(view: memoryview, position: int) -> RecordBatch | LegacyBatch | None:
    """Give the batch that starts there. None: the buffer ends before the batch does. Raises CorruptRecord."""
    remaining = len(view) - position
    if remaining >= HEADER_SIZE:
        header = _new_tuple(BatchHeader, HEADER.unpack_from(view, position))
        size = LOG_OVERHEAD + header[1]
        if header[3] == MAGIC and HEADER_SIZE <= size <= remaining:
            # As `RecordBatch(BatchHeader(*...), ...)`, in half the time: nearly every batch comes this way.
            return _new_tuple(RecordBatch, (header, view[position : position + size]))
    return _unusual_batch_at(view, position, remaining)


def _unusual_batch_at(view: memoryview, position: int, remaining: int) -> RecordBatch | LegacyBatch | None:
    """Give anything but a whole batch of format 2: cut off, of an older format, too short for its header, or
    no batch."""
    if remaining < LOG_OVERHEAD:
        return None
    (length,) = _LENGTH.unpack_from(view, position + 8)
    if length < LENGTH_MIN:
        raise CorruptRecord(f"a batch of {length} bytes at {position}; the smallest has {LENGTH_MIN}")
    if remaining <= MAGIC_POSITION:
        return None
    magic = view[position + MAGIC_POSITION]
    if magic > MAGIC:
        raise CorruptRecord(f"format {magic - 256 if magic > 127 else magic} at {position} does not exist")
    size = LOG_OVERHEAD + length
    if remaining < size:
        return None
    data = view[position : position + size]
    # A batch shorter than its header is kept as one, because the walk goes on after it; it is never valid.
    return LegacyBatch(data) if magic < MAGIC else RecordBatch(_NO_HEADER._replace(length=length), data)


def records_only(buffer: Buffer) -> Iterator[RecordBatch]:
    """Give the batches of format 2, each checked by its CRC. Raises CorruptRecord, also for the older
    formats."""
    for batch in read_batches(buffer):
        if isinstance(batch, LegacyBatch):
            raise CorruptRecord(f"a message of format {batch.magic}; this log holds format {MAGIC}")
        batch.ensure_valid()
        yield batch
