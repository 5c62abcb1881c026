"""The compiled loops over records: of validation.py (whether a batch can be read, and what it spans) and of
arrow_columns.py (where the parts of each record are, and copying them into Arrow's buffers).

They take only what record.py takes, and leave a batch alone at the first byte that is odd: record.py then
says what it is. They share a file because numba keeps what it compiled for as long as the kernel's own file
is unchanged, and looks at no other.
Source of the rules: record.py (Kafka clients 3.9.2, DefaultRecord).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from broker_core.hashing.compiled import compiled

OFFSET, TIMESTAMP, KEY_START, KEY_SIZE, VALUE_START, VALUE_SIZE, HEADERS_START, HEADER_COUNT, SIZE = range(9)
PART_COUNT = 9
BATCH_START, BATCH_END, BATCH_RECORDS, BASE_OFFSET, BASE_TIMESTAMP, HAS_APPEND_TIME, APPEND_TIME = range(7)
_UNSOUND = -1
_DELTA_MAX = 1 << 60


@compiled
def _varint(octets: Any, position: int, end: int, bytes_max: int) -> tuple[Any, int]:
    """A zigzag number and the position after it; a position of -1: the bytes end inside, or the number does
    not."""
    value = np.uint64(0)
    for index in range(bytes_max):
        if position >= end:
            return np.int64(0), _UNSOUND
        octet = octets[position]
        position += 1
        value |= np.uint64(octet & 0x7F) << np.uint64(7 * index)
        if octet < 0x80:
            if bytes_max == 5:
                value &= np.uint64(0xFFFFFFFF)
            return np.int64(value >> np.uint64(1)) ^ -np.int64(value & np.uint64(1)), position
    return np.int64(0), _UNSOUND


@compiled
def survey(octets: Any, position: int, count: int) -> tuple[bool, Any, Any, bool]:
    """Walk over `count` records, uncompressed, from a position to the end of the bytes.

    Returns whether they are sound and numbered 0, 1, 2, ...; the smallest and the largest difference to the
    batch's base timestamp; and whether a record has no key. The other three mean nothing where the records
    are not sound.
    """
    end = len(octets)
    smallest, largest, has_null_key = np.int64(_DELTA_MAX), np.int64(-_DELTA_MAX), False
    for index in range(count):
        size, position = _varint(octets, position, end, 5)
        if position < 0 or size < 0 or size > end - position:
            return False, smallest, largest, has_null_key
        record_end = position + size
        delta, position = _varint(octets, position + 1, end, 10)
        if position < 0 or delta > _DELTA_MAX or delta < -_DELTA_MAX:
            return False, smallest, largest, has_null_key
        smallest, largest = min(smallest, delta), max(largest, delta)
        offset_delta, position = _varint(octets, position, end, 5)
        if position < 0 or offset_delta != index:
            return False, smallest, largest, has_null_key
        length, position = _varint(octets, position, end, 5)
        if position < 0 or length > end - position:
            return False, smallest, largest, has_null_key
        has_null_key |= length < 0
        position += max(length, 0)
        length, position = _varint(octets, position, end, 5)
        if position < 0 or length > end - position:
            return False, smallest, largest, has_null_key
        position += max(length, 0)
        header_count, position = _varint(octets, position, end, 5)
        if position < 0 or header_count < 0 or header_count > end - position:
            return False, smallest, largest, has_null_key
        for _ in range(header_count):
            length, position = _varint(octets, position, end, 5)
            if position < 0 or length < 0 or length > end - position:
                return False, smallest, largest, has_null_key
            length, position = _varint(octets, position + length, end, 5)
            if position < 0 or length > end - position:
                return False, smallest, largest, has_null_key
            position += max(length, 0)
        if position != record_end:
            return False, smallest, largest, has_null_key
    return position == end, smallest, largest, has_null_key


@compiled
def find_parts(octets: Any, batches: Any, parts: Any) -> tuple[int, int]:
    """Find the parts of all records. batches: int64 [batch, 7]; fills parts: int64 [9, record].

    Returns how many batches are sound up to the first that is not, and how many records those have.
    """
    row = 0
    for batch in range(len(batches)):
        first_row = row
        position, end, count = (
            batches[batch, BATCH_START],
            batches[batch, BATCH_END],
            batches[batch, BATCH_RECORDS],
        )
        if count < 0:
            return batch, first_row
        for _ in range(count):
            start = position
            size, position = _varint(octets, position, end, 5)
            if position < 0 or size < 0 or size > end - position:
                return batch, first_row
            record_end = position + size
            position += 1
            delta, position = _varint(octets, position, end, 10)
            if position < 0 or delta > _DELTA_MAX or delta < -_DELTA_MAX:
                return batch, first_row
            parts[TIMESTAMP, row] = (
                batches[batch, APPEND_TIME]
                if batches[batch, HAS_APPEND_TIME]
                else batches[batch, BASE_TIMESTAMP] + delta
            )
            delta, position = _varint(octets, position, end, 5)
            if position < 0:
                return batch, first_row
            parts[OFFSET, row] = batches[batch, BASE_OFFSET] + delta
            for part in (KEY_START, VALUE_START):
                length, position = _varint(octets, position, end, 5)
                if position < 0 or length > end - position:
                    return batch, first_row
                parts[part, row] = position
                parts[part + 1, row] = max(length, -1)
                position += max(length, 0)
            count_of_headers, position = _varint(octets, position, end, 5)
            if position < 0 or count_of_headers < 0 or count_of_headers > end - position:
                return batch, first_row
            parts[HEADERS_START, row] = position
            parts[HEADER_COUNT, row] = count_of_headers
            for _ in range(count_of_headers):
                length, position = _varint(octets, position, end, 5)
                if position < 0 or length < 0 or length > end - position:
                    return batch, first_row
                position += length
                length, position = _varint(octets, position, end, 5)
                if position < 0 or length > end - position:
                    return batch, first_row
                position += max(length, 0)
            if position != record_end:
                return batch, first_row
            parts[SIZE, row] = record_end - start
            row += 1
        if count and position != end:
            return batch, first_row
    return len(batches), row


@compiled
def find_headers(octets: Any, starts: Any, counts: Any, headers: Any) -> None:
    """Find the parts of the headers of sound records. Fills headers: int64 [4, header]: key start, size,
    value start, size."""
    row = 0
    end = len(octets)
    for record in range(len(starts)):
        position = starts[record]
        for _ in range(counts[record]):
            for part in (0, 2):
                length, position = _varint(octets, position, end, 5)
                headers[part, row] = position
                headers[part + 1, row] = max(length, -1)
                position += max(length, 0)
            row += 1


@compiled
def copy_parts(octets: Any, starts: Any, sizes: Any, offsets: Any, present: Any, out: Any) -> None:
    """Copy byte runs one after another, as an Arrow binary column has them. A size of -1 is null."""
    # Unsigned places: a signed one may be negative, which Python counts from the end, and asking that of each
    # byte keeps the compiler from copying many at once (a fourth of the time for 100 bytes).
    written = np.uint64(0)
    for row in range(len(starts)):
        offsets[row] = written
        present[row] = sizes[row] >= 0
        start, size = np.uint64(starts[row]), np.uint64(max(sizes[row], 0))
        for index in range(size):
            out[written + index] = octets[start + index]
        written += size
    offsets[len(starts)] = written
