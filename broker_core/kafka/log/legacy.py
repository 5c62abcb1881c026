"""Messages of formats 0 and 1, which Kafka wrote before 0.11: enough to read and to show them.

    offset 8   size 4   crc 4   magic 1   attributes 1   [timestamp 8, format 1]   key length 4   key   value length 4   value

    attributes: bits 0-2 codec   3 log append time (format 1)

Each message is a batch of one; or, compressed, its value is a run of messages of the same format, and its own
offset that of the last of them. Inside, offsets are whole in format 0, and 0, 1, 2, ... in format 1.

    offset 7, gzip [ 0:a  1:b  2:c ]    reads as 5:a 6:b 7:c        format 1; compaction may leave gaps: 0, 2 is 5, 7

Kafka itself has dropped both formats in 4.0.
Source: Kafka clients 3.9.2, AbstractLegacyRecordBatch (DeepRecordsIterator), LegacyRecord,
Lz4BlockInputStream.
Vectors: kafka/records/corrupt.json (magic-0, magic-1).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from broker_core.kafka.log.codecs import Codec, decompress, with_right_lz4_checksum
from broker_core.kafka.log.errors import CodecFailed, CorruptRecord, InvalidRecord, LogError, OutsideMessage
from broker_core.kafka.log.record import NO_TIMESTAMP, Record
from broker_core.kafka.log.varint import Buffer

CRC_START = 16
CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
SIZE_MIN = 14  # what the smallest message has after its size field
_OFFSET = struct.Struct(">q")
_OFFSET_AND_SIZE = struct.Struct(">qi")
_CRC = struct.Struct(">I")
_TIMESTAMP = struct.Struct(">q")
_LENGTH = struct.Struct(">i")


class LegacyBatch(NamedTuple):
    """One old message in its place."""

    data: Buffer

    @property
    def magic(self) -> int:
        return self.data[16]

    @property
    def size_in_bytes(self) -> int:
        return len(self.data)

    @property
    def last_offset(self) -> int:
        """The offset that is stored: the message's own, or that of the last one inside."""
        offset: int = _OFFSET.unpack_from(self.data)[0]
        return offset

    @property
    def base_offset(self) -> int:
        """The first record's offset; the stored one, where what is inside cannot be read. Opens a compressed
        message."""
        try:
            return next(self.records()).offset
        except LogError:
            return self.last_offset

    @property
    def codec(self) -> Codec:
        """Raises UnknownCodec."""
        return Codec.of(self.data[17] & CODEC_MASK)

    @property
    def crc(self) -> int:
        """As stored: a CRC-32, not 32C."""
        crc: int = _CRC.unpack_from(self.data, 12)[0]
        return crc

    @property
    def timestamp(self) -> int:
        """The message's, or of those inside the largest; -1 in format 0."""
        timestamp: int = _TIMESTAMP.unpack_from(self.data, 18)[0] if self.magic else NO_TIMESTAMP
        return timestamp

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.magic and self.data[17] & LOG_APPEND_TIME)

    def ensure_valid(self) -> None:
        """Raise CorruptRecord unless the CRC is right."""
        computed = zlib.crc32(memoryview(self.data)[CRC_START:])
        if self.crc != computed:
            raise CorruptRecord(f"the stored crc is {self.crc}, that of the bytes {computed}")

    def records(self) -> Iterator[Record]:
        """Give the one record, or those inside. Keys and values are cut at a message's end, where a length
        points past it.

        Raises UnknownCodec, CodecFailed, and InvalidRecord for a compressed message that holds none, or
        others than plain ones of its format; CorruptRecord for one inside that is too short; OutsideMessage
        where the length of its value would be outside.
        """
        codec = self.codec
        if codec is Codec.NONE:
            yield self._record(self.last_offset, self.timestamp)
            return
        messages = self._messages(codec)
        # In format 1 the last one's number inside tells the first one's offset.
        base = self.last_offset - messages[-1].last_offset if self.magic else 0
        for message in messages:
            if message.magic != self.magic or message.data[17] & CODEC_MASK:
                raise InvalidRecord(
                    f"a compressed message of format {self.magic} holds one of format {message.magic} or "
                    f"a compressed one"
                )
            timestamp = self.timestamp if self.is_log_append_time else message.timestamp
            yield message._record(base + message.last_offset, timestamp)

    def _messages(self, codec: Codec) -> list[LegacyBatch]:
        if codec is Codec.ZSTD:
            raise InvalidRecord("zstd came with format 2")
        _, position = self._field(self._key_position)
        if position + _LENGTH.size > len(self.data):
            raise OutsideMessage(f"the length of the value at byte {position} of {len(self.data)}")
        content, _ = self._field(position)
        if content is None:
            raise InvalidRecord("a compressed message without a value")
        # Format 0's writers worked the checksum of an lz4 frame's header out of the wrong bytes, and no
        # reader asks for it.
        out = decompress(
            codec, with_right_lz4_checksum(content) if codec is Codec.LZ4 and not self.magic else content
        )
        if out.failure is not None:
            raise CodecFailed(out.failure)
        view = memoryview(out.data)
        messages: list[LegacyBatch] = []
        position = 0
        while len(view) - position >= _OFFSET_AND_SIZE.size:
            _, size = _OFFSET_AND_SIZE.unpack_from(view, position)
            if size < SIZE_MIN:
                raise CorruptRecord(f"a message of {size} bytes inside another")
            end = position + _OFFSET_AND_SIZE.size + size
            if end > len(view):
                break
            messages.append(LegacyBatch(view[position:end]))
            position = end
        if not messages:
            raise InvalidRecord("a compressed message that holds none")
        return messages

    def _record(self, offset: int, timestamp: int) -> Record:
        key, value = self._key_and_value()
        return Record(offset, timestamp, key, value, (), len(self.data))

    def _key_and_value(self) -> tuple[bytes | None, bytes | None]:
        key, position = self._field(self._key_position)
        value, _ = self._field(position)
        return key, value

    @property
    def _key_position(self) -> int:
        return 26 if self.magic else 18

    def _field(self, position: int) -> tuple[bytes | None, int]:
        if position + _LENGTH.size > len(self.data):
            return None, position
        (length,) = _LENGTH.unpack_from(self.data, position)
        position += _LENGTH.size
        return (
            (None, position)
            if length < 0
            else (bytes(self.data[position : position + length]), position + length)
        )
