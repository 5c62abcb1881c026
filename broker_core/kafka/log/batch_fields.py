"""Which bytes of a batch are what: for a hex view that names the field under the pointer.

Source: the layouts of record_batch.py and record.py.
"""

from __future__ import annotations

from typing import NamedTuple

from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.errors import CorruptRecord, InvalidRecord
from broker_core.kafka.log.record_batch import HEADER_SIZE, RecordBatch
from broker_core.kafka.log.varint import VarintError, read_varint, read_varlong

_HEADER_FIELDS = (
    ("base_offset", 8),
    ("length", 4),
    ("partition_leader_epoch", 4),
    ("magic", 1),
    ("crc", 4),
    ("attributes", 2),
    ("last_offset_delta", 4),
    ("base_timestamp", 8),
    ("max_timestamp", 8),
    ("producer_id", 8),
    ("producer_epoch", 2),
    ("base_sequence", 4),
    ("record_count", 4),
)


class Field(NamedTuple):
    """Some bytes of a batch. start, end_exclusive: from the batch's first byte. record: its index; None: the
    header."""

    start: int
    end_exclusive: int
    name: str
    value: int | bytes | None
    record: int | None = None


def batch_fields(batch: RecordBatch) -> list[Field]:
    """Name all bytes of a batch, in order, without a gap. Compressed records are one field,
    `compressed_records`.

    Raises CorruptRecord for a batch shorter than its header, InvalidRecord where the records' structure
    breaks.
    """
    if len(batch.data) < HEADER_SIZE:
        raise CorruptRecord(f"a batch of {len(batch.data)} bytes")
    fields: list[Field] = []
    position = 0
    for (name, size), value in zip(_HEADER_FIELDS, batch.header, strict=True):
        fields.append(Field(position, position + size, name, value))
        position += size
    data = bytes(batch.data)
    if batch.header.codec is not Codec.NONE:
        fields.append(Field(HEADER_SIZE, len(data), "compressed_records", None))
        return fields
    try:
        for index in range(batch.header.record_count):
            position = _record_fields(data, position, index, fields)
    except (VarintError, IndexError) as error:
        raise InvalidRecord(str(error)) from None
    return fields


def _record_fields(data: bytes, position: int, record: int, fields: list[Field]) -> int:
    def number(name: str, is_long: bool = False) -> int:
        nonlocal position
        start = position
        value, position = (read_varlong if is_long else read_varint)(data, start)
        fields.append(Field(start, position, name, value, record))
        return value

    def content(name: str, size: int) -> None:
        nonlocal position
        if size > len(data) - position:
            raise VarintError(f"{name} ends behind the batch")
        if size > 0:
            fields.append(Field(position, position + size, name, data[position : position + size], record))
            position += size

    number("record_length")
    fields.append(Field(position, position + 1, "record_attributes", data[position], record))
    position += 1
    number("timestamp_delta", is_long=True)
    number("offset_delta")
    for name in ("key", "value"):
        content(name, number(f"{name}_length"))
    for _ in range(number("header_count")):
        for name in ("header_key", "header_value"):
            content(name, number(f"{name}_length"))
    return position
