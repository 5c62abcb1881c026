"""One record inside a batch: the smallest thing that the log holds, written without its own offset or time.

    length  attributes  timestamp delta  offset delta  key length  key  value length  value  header count  headers
    varint     int8         varlong         varint       varint           varint                varint

All numbers but the attributes are zigzag varints. A length of -1 is null, for keys and values alike; a
header's key is never null. Offset and time are differences to the batch's base, so a batch can be moved to
another offset, and nearly all numbers fit in a byte or two.

Source: Kafka clients 3.9.2, DefaultRecord. Vectors: kafka/records/batches.json, corrupt.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from broker_core.kafka.log.errors import CodecFailed, InvalidRecord
from broker_core.kafka.log.varint import (
    VARINTS,
    VarintError,
    encode_varint,
    read_varint,
    read_varlong,
)

Header = tuple[bytes, bytes | None]
NO_TIMESTAMP = -1
_NULL = b"\x01"


# A tuple with names: a batch of a thousand records makes a thousand, and a dataclass takes four times as long
# to make.
class Record(NamedTuple):
    """One record as a reader sees it.

    offset: in the partition. timestamp: ms since 1970, -1: none. key, value: None is null, which in a
    compacted topic makes the record a tombstone. headers: in order; a key may come twice. size_in_bytes: what
    it takes in the (uncompressed) batch, its length field included; 0: not written yet.
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    size_in_bytes: int = 0


def encode_record(record: Record, base_offset: int, base_timestamp: int) -> bytes:
    """Write a record into a batch with that base.

    >>> encode_record(Record(1, 0, b"k", None), base_offset=0, base_timestamp=0).hex()
    '0e000002026b0100'
    """
    key, value = record.key, record.value
    body = b"".join(
        (
            b"\x00",
            encode_varint(record.timestamp - base_timestamp),
            encode_varint(record.offset - base_offset),
            _encode_nullable(key),
            _encode_nullable(value),
            _encode_headers(record.headers),
        )
    )
    return encode_varint(len(body)) + body


def record_size(key: int, value: int, offset_delta: int = 0, time_delta: int = 0) -> int:
    """How many bytes a record without headers takes in its batch. key, value: their sizes, -1 for null.

    >>> record_size(1, -1, 1) == len(encode_record(Record(1, 0, b"k", None), 0, 0))
    True
    """
    body = (
        4
        + (1 if 0 <= offset_delta < 64 else len(encode_varint(offset_delta)))
        + (len(encode_varint(time_delta)) if time_delta else 1)
        + (key if 0 <= key < 64 else max(key, 0) + len(encode_varint(key)) - 1)
        + (value + 1 if 64 <= value < 8192 else max(value, 0) + len(encode_varint(value)) - 1)
    )
    return body + (2 if 64 <= body < 8192 else len(encode_varint(body)))


def size_at(size: int, offset_delta: int) -> int:
    """How many bytes a record takes at this place of its batch. size: what it takes as the first.

    >>> size_at(record_size(1, 200), 70) == record_size(1, 200, 70)
    True
    """
    body = size - (1 if size <= 65 else 2 if size <= 8194 else 3)
    body += len(encode_varint(offset_delta)) - 1
    return body + len(encode_varint(body))


def encode_pairs(pairs: Iterable[tuple[bytes | None, bytes | None]]) -> tuple[bytes, int]:
    """Write (key, value) pairs as consecutive records, all of the batch's base timestamp. Gives the bytes and
    the count.

    The same bytes as `encode_record` one by one, several times as fast: this is what most producers send.

    >>> encode_pairs([(b"k", None)])[0] == encode_record(Record(0, 5, b"k", None), 0, 5)
    True
    """
    encoded: list[bytes] = []
    varints = VARINTS
    count = 0
    for key, value in pairs:
        try:
            # A null ends in the `except`: to ask for it first would cost every record that has none.
            key_size, value_size = varints[len(key)], varints[len(value)]  # type: ignore[arg-type]
            body = b"".join((b"\x00\x00", varints[count], key_size, key, value_size, value, b"\x00"))  # type: ignore[arg-type]
            encoded += (varints[len(body)], body)
        except (TypeError, IndexError):  # a null, or a number that is not in the table
            encoded.append(encode_record(Record(count, 0, key, value), 0, 0))
        count += 1
    return b"".join(encoded), count


def decode_records(
    data: bytes,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None = None,
    stream_failure: str | None = None,
) -> Iterator[Record]:
    """Read the records of a batch one by one, as far as the bytes are sound.

    data: the uncompressed records, nothing else. count: as the batch says. append_time: what every record
    reads as, when the broker set the time. stream_failure: what was wrong with the compressed stream after
    the data, if anything.

    Raises InvalidRecord where the structure breaks, and CodecFailed where the stream does. As in the original
    the last record is given only when nothing follows it, and nothing is asked of what the batch's CRC would
    have caught.

    >>> data, count = encode_pairs([(b"k", b"v"), (None, b"w")])
    >>> [(record.offset, record.key) for record in decode_records(data, count, 7, 0)]
    [(7, b'k'), (8, None)]
    """
    if count < 0:
        raise InvalidRecord(f"a batch of {count} records")
    one_byte, new_tuple = _ONE_BYTE, tuple.__new__
    position, end = 0, len(data)
    for index in range(count):
        start = position
        try:
            # Each number has a short way for one byte, or for two where two are common; a call costs more
            # than the rest.
            byte = data[position]
            if byte < 0x80:
                size = one_byte[byte]
                position += 1
            elif not byte & 1 and (high := data[position + 1]) < 0x80:
                size = (high << 7 | byte & 0x7F) >> 1
                position += 2
            else:
                size, position = read_varint(data, position)
            record_end = position + size
            if record_end > end:
                raise VarintError("the record ends behind the batch")
            position += 1  # the record's own attributes, of which none is in use

            byte = data[position]
            if byte < 0x80:
                timestamp = base_timestamp + one_byte[byte]
                position += 1
            else:
                delta, position = read_varlong(data, position)
                timestamp = base_timestamp + delta

            byte = data[position]
            if byte < 0x80:
                offset = base_offset + one_byte[byte]
                position += 1
            elif not byte & 1 and (high := data[position + 1]) < 0x80:
                offset = base_offset + ((high << 7 | byte & 0x7F) >> 1)
                position += 2
            else:
                delta, position = read_varint(data, position)
                offset = base_offset + delta

            byte = data[position]
            if byte < 0x80:
                length = one_byte[byte]
                position += 1
            else:
                length, position = read_varint(data, position)
            if length < 0:
                key = None
            else:
                key = data[position : position + length]
                position += length

            byte = data[position]
            if byte < 0x80:
                length = one_byte[byte]
                position += 1
            elif not byte & 1 and (high := data[position + 1]) < 0x80:
                length = (high << 7 | byte & 0x7F) >> 1
                position += 2
            else:
                length, position = read_varint(data, position)
            if length < 0:
                value = None
            else:
                value = data[position : position + length]
                position += length

            headers: tuple[Header, ...] = ()
            if data[position]:
                headers, position = _read_headers(data, position, end)
            else:
                position += 1
        except (IndexError, VarintError) as error:
            if stream_failure is not None and (start == end or position >= end):
                raise CodecFailed(stream_failure) from None
            raise InvalidRecord(f"record {index} of {count}: {error}") from None
        if position != record_end:
            raise InvalidRecord(
                f"record {index} of {count} takes {position - start} bytes and not {record_end - start}"
            )
        if index == count - 1:
            if stream_failure is not None:
                raise CodecFailed(stream_failure)
            if position != end:
                raise InvalidRecord(f"{end - position} bytes behind the last of {count} records")
        # As `Record(...)`, in half the time.
        yield new_tuple(
            Record,
            (
                offset,
                timestamp if append_time is None else append_time,
                key,
                value,
                headers,
                record_end - start,
            ),
        )


def _encode_nullable(content: bytes | None) -> bytes:
    return _NULL if content is None else encode_varint(len(content)) + content


def _encode_headers(headers: Iterable[Header]) -> bytes:
    encoded = [_encode_nullable(key) + _encode_nullable(value) for key, value in headers]
    return encode_varint(len(encoded)) + b"".join(encoded)


def _read_headers(data: bytes, position: int, end: int) -> tuple[tuple[Header, ...], int]:
    count, position = read_varint(data, position)
    if not 0 <= count <= end - position:
        raise VarintError(f"{count} headers")
    headers: list[Header] = []
    for _ in range(count):
        length, position = read_varint(data, position)
        if not 0 <= length <= end - position:
            raise VarintError(f"a header key of {length} bytes")
        key = data[position : position + length]
        position += length
        length, position = read_varint(data, position)
        value = None if length < 0 else data[position : position + length]
        position += max(length, 0)
        headers.append((key, value))
    return tuple(headers), position


# The 128 numbers of one byte, without zigzag.
_ONE_BYTE = tuple(byte >> 1 ^ -(byte & 1) for byte in range(0x80))
