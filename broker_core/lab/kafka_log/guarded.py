"""Reading records of somebody else's batch with bounded memory: a few bytes of a compressed stream may expand
to many GB.

Kafka bounds a batch before it is compressed, by its producers' settings; a file that somebody uploads is
bounded by nothing. So before records are read the stream is unpacked into room of a fixed size; what does not
fit is reported as unreadable.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import cramjam

from broker_core.kafka.log.batch_reader import batch_at
from broker_core.kafka.log.codecs import XERIAL_HEADER, XERIAL_MAGIC, Codec
from broker_core.kafka.log.errors import InvalidRecord
from broker_core.kafka.log.indexed_batches import BatchPosition
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import HEADER_SIZE, RecordBatch
from broker_core.kafka.log.segment import Segment

UNPACKED_BYTES_MAX = 8 * 1024 * 1024
_GZIP_WINDOW_BITS = 31
_LENGTH = struct.Struct(">i")


class GuardedBatch(RecordBatch):
    """A batch whose records are read only if they are small enough."""

    def records(self, *, with_stored_times: bool = False) -> Iterator[Record]:
        """As RecordBatch; also raises InvalidRecord for more than UNPACKED_BYTES_MAX."""
        ensure_small(self)
        return super().records(with_stored_times=with_stored_times)


class GuardedLegacyBatch(LegacyBatch):
    """The same for the older formats."""

    def records(self) -> Iterator[Record]:
        """As LegacyBatch; also raises InvalidRecord for more than UNPACKED_BYTES_MAX."""
        ensure_small(self)
        return super().records()


class GuardedSegment(Segment):
    """A segment that gives guarded batches; all of the log's own reading goes through `batches`."""

    def batches(
        self, position: int = 0, end: int | None = None, window_bytes: int = 64 * 1024
    ) -> Iterator[BatchPosition]:
        for found in super().batches(position, end, window_bytes):
            yield BatchPosition(found.position, GuardedBatch(*found.batch))


def guarded_at(view: memoryview) -> GuardedBatch | GuardedLegacyBatch | None:
    """The batch at the start of a view, as `batch_at` gives it. Raises CorruptRecord."""
    found = batch_at(view, 0)
    if found is None:
        return None
    return GuardedLegacyBatch(found.data) if isinstance(found, LegacyBatch) else GuardedBatch(*found)


def ensure_small(batch: RecordBatch | LegacyBatch) -> None:
    """Raise InvalidRecord where the records take more than UNPACKED_BYTES_MAX, UnknownCodec for a codec that
    does not exist."""
    codec = batch.codec if isinstance(batch, LegacyBatch) else batch.header.codec
    if codec is Codec.NONE:
        return
    stream = (
        _legacy_value(batch)
        if isinstance(batch, LegacyBatch)
        else bytes(memoryview(batch.data)[HEADER_SIZE:])
    )
    if not _fits(codec, stream):
        raise InvalidRecord(
            f"the records take more than {UNPACKED_BYTES_MAX} bytes, or the stream of "
            f"{codec.name.lower()} breaks: not read"
        )


def _legacy_value(batch: LegacyBatch) -> bytes:
    """A compressed message's value: what is left after the key, which is usually null."""
    position = 26 if batch.magic else 18
    if len(batch.data) < position + _LENGTH.size:
        return b""
    (key_bytes,) = _LENGTH.unpack_from(batch.data, position)
    return bytes(memoryview(batch.data)[position + 2 * _LENGTH.size + max(0, key_bytes) :])


def _fits(codec: Codec, stream: bytes) -> bool:
    match codec:
        case Codec.GZIP:
            try:
                return (
                    len(
                        zlib.decompressobj(wbits=_GZIP_WINDOW_BITS).decompress(stream, UNPACKED_BYTES_MAX + 1)
                    )
                    <= UNPACKED_BYTES_MAX
                )
            except zlib.error:
                return True  # it breaks before the limit: the codec tells where
        case Codec.SNAPPY:
            return sum(_snappy_sizes(stream)) <= UNPACKED_BYTES_MAX
        case _:
            unpack = cramjam.lz4.decompress_into if codec is Codec.LZ4 else cramjam.zstd.decompress_into
            # Most are small: a page of room first, all of it only where that is not enough.
            for room in (min(UNPACKED_BYTES_MAX, 32 * len(stream) + 4096), UNPACKED_BYTES_MAX):
                try:
                    unpack(stream, bytearray(room))
                    return True
                except cramjam.DecompressionError as error:
                    if "whole buffer" not in str(error):
                        return True  # it breaks before the limit
            return False


def _snappy_sizes(stream: bytes) -> Iterator[int]:
    """How long each block says it is, which is how much room its reader makes."""
    if not stream.startswith(XERIAL_MAGIC):
        yield _leading_varint(stream)
        return
    position = len(XERIAL_HEADER)
    while position + _LENGTH.size <= len(stream):
        (size,) = _LENGTH.unpack_from(stream, position)
        position += _LENGTH.size
        if size < 0:
            return
        yield _leading_varint(stream[position : position + 5])
        position += size


def _leading_varint(stream: bytes) -> int:
    value = 0
    for place, byte in enumerate(stream[:5]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            break
    return value
