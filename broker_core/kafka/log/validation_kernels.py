"""The compiled loop of validation.py: whether the records of a batch can be read, and what they span.

It takes only what record.py takes, and answers "odd" at the first byte that is not plain: record.py then says what it is.
Source of the rules: record.py (Kafka clients 3.9.2, DefaultRecord).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from broker_core.hashing.compiled import compiled

_UNSOUND = -1
_DELTA_MAX = 1 << 60


@compiled
def _long_number(octets: Any, position: int, end: int, bytes_max: int) -> tuple[Any, int]:
    """A zigzag number and the position after it; a position of -1: the bytes end inside, or the number does not."""
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

    Returns whether they are sound and numbered 0, 1, 2, ...; the smallest and the largest difference to the batch's base
    timestamp; and whether a record has no key. The other three mean nothing where the records are not sound.
    """
    end = len(octets)
    smallest, largest, has_null_key = np.int64(_DELTA_MAX), np.int64(-_DELTA_MAX), False
    for index in range(count):
        size, position = _long_number(octets, position, end, 5)
        if position < 0 or size < 0 or size > end - position:
            return False, smallest, largest, has_null_key
        record_end = position + size
        delta, position = _long_number(octets, position + 1, end, 10)
        if position < 0 or delta > _DELTA_MAX or delta < -_DELTA_MAX:
            return False, smallest, largest, has_null_key
        smallest, largest = min(smallest, delta), max(largest, delta)
        offset_delta, position = _long_number(octets, position, end, 5)
        if position < 0 or offset_delta != index:
            return False, smallest, largest, has_null_key
        length, position = _long_number(octets, position, end, 5)
        if position < 0 or length > end - position:
            return False, smallest, largest, has_null_key
        has_null_key |= length < 0
        position += max(length, 0)
        length, position = _long_number(octets, position, end, 5)
        if position < 0 or length > end - position:
            return False, smallest, largest, has_null_key
        position += max(length, 0)
        header_count, position = _long_number(octets, position, end, 5)
        if position < 0 or header_count < 0 or header_count > end - position:
            return False, smallest, largest, has_null_key
        for _ in range(header_count):
            length, position = _long_number(octets, position, end, 5)
            if position < 0 or length < 0 or length > end - position:
                return False, smallest, largest, has_null_key
            length, position = _long_number(octets, position + length, end, 5)
            if position < 0 or length > end - position:
                return False, smallest, largest, has_null_key
            position += max(length, 0)
        if position != record_end:
            return False, smallest, largest, has_null_key
    return position == end, smallest, largest, has_null_key
