"""Messages of formats 0 and 1, which Kafka wrote before 0.11: enough to walk over them and show them.

    offset 8   size 4   crc 4   magic 1   attributes 1   [timestamp 8, format 1]   key length 4   key   value length 4   value

Each message is a batch of one. Left out: compressed ones, which hold messages inside a message; Kafka itself has
dropped both formats in 4.0.

Source: Kafka clients 3.9.2, AbstractLegacyRecordBatch, LegacyRecord. Vectors: kafka/records/corrupt.json (magic-0, magic-1).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from broker_core.kafka.log.errors import CorruptRecord, InvalidRecord
from broker_core.kafka.log.record import NO_TIMESTAMP, Record
from broker_core.kafka.log.varint import Buffer

CRC_START = 16
CODEC_MASK = 0x07
_OFFSET = struct.Struct(">q")
_CRC = struct.Struct(">I")
_TIMESTAMP = struct.Struct(">q")
_LENGTH = struct.Struct(">i")


class LegacyBatch(NamedTuple):
    """One old message where it lies."""

    data: Buffer

    @property
    def magic(self) -> int:
        return self.data[16]

    @property
    def size_in_bytes(self) -> int:
        return len(self.data)

    @property
    def base_offset(self) -> int:
        offset: int = _OFFSET.unpack_from(self.data)[0]
        return offset

    def ensure_valid(self) -> None:
        """Raise CorruptRecord unless the CRC-32 (not 32C) is right."""
        (stored,) = _CRC.unpack_from(self.data, 12)
        computed = zlib.crc32(memoryview(self.data)[CRC_START:])
        if stored != computed:
            raise CorruptRecord(f"the stored crc is {stored}, that of the bytes {computed}")

    def records(self) -> Iterator[Record]:
        """Give the one record. Key and value are cut at the message's end, where a length points behind it."""
        if self.data[17] & CODEC_MASK:
            raise InvalidRecord(f"a compressed message of format {self.magic}")
        timestamp = _TIMESTAMP.unpack_from(self.data, 18)[0] if self.magic else NO_TIMESTAMP
        key, position = self._field(26 if self.magic else 18)
        value, _ = self._field(position)
        yield Record(self.base_offset, timestamp, key, value, (), len(self.data))

    def _field(self, position: int) -> tuple[bytes | None, int]:
        if position + _LENGTH.size > len(self.data):
            return None, position
        (length,) = _LENGTH.unpack_from(self.data, position)
        position += _LENGTH.size
        return (None, position) if length < 0 else (bytes(self.data[position : position + length]), position + length)
