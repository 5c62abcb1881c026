"""The cleaner's inner loops, compiled: a step for every record of the log, twice, is too much for an
interpreter.

    scan_records    where each record of a batch and its key are        each length is known only when it is read
    md5_digests     the MD5 of each key                                 RFC 1321; the map's own hash is fixed by the original
    map_put, _get   the slots of an offset map                          probe by probe, as offset_map.py describes them

Imported by offset_map.py and record_columns.py when they first run, and by nothing else: numba takes the
better part of a second to load, and who does not compact shall not wait for it.

Source of the rules: record.py (Kafka clients 3.9.2, DefaultRecord), SkimpyOffsetMap of Kafka 3.9, RFC 1321.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broker_core.hashing.compiled import compiled

Octets = NDArray[np.uint8]
Ints = NDArray[np.int64]
Digests = NDArray[np.uint64]

SOUND, CUT_SHORT, TOO_LONG, EMPTY_RECORD, LONG_KEY = range(5)
_WINDOW_LAST = 12  # the last of the digest's four-byte windows
_SHIFTS = np.array(
    [7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4, dtype=np.uint32
)
_SINES = np.array([int(abs(math.sin(step)) * 2**32) for step in range(1, 65)], dtype=np.uint32)
_WORDS = np.array(
    [(factor * step + first) % 16 for factor, first in ((1, 0), (5, 1), (3, 5), (7, 0)) for step in range(16)]
)


@compiled
def _varint(octets: Octets, position: int, bytes_max: int) -> tuple[Any, int, int]:
    """Give a zigzag number, the position after it, and what is wrong with it."""
    value = np.uint64(0)
    for index in range(bytes_max):
        if position >= len(octets):
            return 0, position, CUT_SHORT
        octet = octets[position]
        position += 1
        value |= np.uint64(octet & 0x7F) << np.uint64(7 * index)
        if octet < 0x80:
            if bytes_max == 5:
                value &= np.uint64(0xFFFFFFFF)
            return np.int64(value >> np.uint64(1)) ^ -np.int64(value & np.uint64(1)), position, SOUND
    return 0, position, TOO_LONG


@compiled
def scan_records(octets: Octets, columns: Ints) -> tuple[int, int, int]:
    """Fill the columns; give how many records are sound, the position after them, and what ended the scan.

    octets: the uncompressed records. columns: int64[8, count], in the order of RecordColumns.
    """
    count = columns.shape[1]
    position = 0
    for index in range(count):
        start = position
        size, position, wrong = _varint(octets, position, 5)
        if wrong:
            return index, start, wrong
        if size <= 0:
            return index, start, EMPTY_RECORD
        end = position + size
        if end > len(octets):
            return index, start, CUT_SHORT
        timestamp_delta, rest, wrong = _varint(octets, position + 1, 10)
        if wrong:
            return index, start, wrong
        offset_delta, position, wrong = _varint(octets, rest, 5)
        if wrong:
            return index, start, wrong
        key_size, position, wrong = _varint(octets, position, 5)
        if wrong:
            return index, start, wrong
        key_end = position + max(key_size, 0)
        if key_end >= end:
            return index, start, LONG_KEY
        columns[0, index], columns[1, index], columns[2, index] = start, rest, end
        columns[3, index], columns[4, index] = timestamp_delta, offset_delta
        columns[5, index], columns[6, index] = position, max(key_size, -1)
        # The first byte of the value's length is odd, zigzag for negative, only for null.
        columns[7, index] = 1 - (octets[key_end] & 1)
        position = end
    return count, position, SOUND


@compiled
def md5_digests(octets: Octets, starts: Ints, sizes: Ints, digests: Digests) -> None:
    """Put the MD5 of octets[start : start + size] into the rows of `digests`, as two little-endian words."""
    block = np.zeros(16, dtype=np.uint32)
    for row in range(len(starts)):
        start, size = starts[row], sizes[row]
        a0, b0, c0, d0 = (
            np.uint32(0x67452301),
            np.uint32(0xEFCDAB89),
            np.uint32(0x98BADCFE),
            np.uint32(0x10325476),
        )
        # The message, a one bit, zeros, and its length in bits in the last eight bytes of a block of 64.
        for first in range(0, size + 9, 64):
            for word in range(16):
                value = np.uint32(0)
                for octet in range(4):
                    at = first + 4 * word + octet
                    if at < size:
                        value |= np.uint32(octets[start + at]) << np.uint32(8 * octet)
                    elif at == size:
                        value |= np.uint32(0x80) << np.uint32(8 * octet)
                block[word] = value
            if first + 64 >= size + 9:
                block[14] = np.uint32((size << 3) & 0xFFFFFFFF)
                block[15] = np.uint32(size >> 29)
            a, b, c, d = a0, b0, c0, d0
            for step in range(64):
                if step < 16:
                    mixed = (b & c) | (~b & d)
                elif step < 32:
                    mixed = (d & b) | (~d & c)
                elif step < 48:
                    mixed = b ^ c ^ d
                else:
                    mixed = c ^ (b | ~d)
                total = np.uint32(a + mixed + _SINES[step] + block[_WORDS[step]])
                shift = _SHIFTS[step]
                a, d, c, b = (
                    d,
                    c,
                    b,
                    np.uint32(b + np.uint32((total << shift) | (total >> (np.uint32(32) - shift)))),
                )
            a0, b0, c0, d0 = np.uint32(a0 + a), np.uint32(b0 + b), np.uint32(c0 + c), np.uint32(d0 + d)
        digests[row, 0] = np.uint64(a0) | np.uint64(b0) << np.uint64(32)
        digests[row, 1] = np.uint64(c0) | np.uint64(d0) << np.uint64(32)


@compiled
def _slot(low: Any, high: Any, attempt: int, slot_count: int) -> Any:
    """The slot that a digest tries at this attempt."""
    window = min(attempt, _WINDOW_LAST)
    value = np.uint32(0)
    for index in range(window, window + 4):
        octet = (low >> np.uint64(8 * index)) if index < 8 else (high >> np.uint64(8 * (index - 8)))
        value = np.uint32(value << np.uint32(8)) | np.uint32(octet & np.uint64(0xFF))
    # The original's sum is a Java int, which wraps; its `abs` of the smallest one is 0.
    probe = np.int64(np.int32(np.uint32(value + np.uint32(max(0, attempt - _WINDOW_LAST)))))
    return 0 if probe == -(2**31) else abs(probe) % slot_count


@compiled
def map_put(
    slots: Digests, slot_offsets: Ints, size: int, size_max: int, digests: Digests, offsets: Ints
) -> tuple[int, int]:
    """Put keys in order until all are in or `size_max` are held; give how many were put, and the size
    then."""
    for row in range(len(digests)):
        if size >= size_max:
            return row, size
        low, high = digests[row, 0], digests[row, 1]
        attempt = 0
        while True:
            slot = _slot(low, high, attempt, len(slots))
            if slots[slot, 0] == low and slots[slot, 1] == high:
                break
            if slots[slot, 0] == 0 and slots[slot, 1] == 0:
                slots[slot, 0], slots[slot, 1] = low, high
                size += 1
                break
            attempt += 1
        slot_offsets[slot] = offsets[row]
    return len(digests), size


@compiled
def map_get(slots: Digests, slot_offsets: Ints, digests: Digests, found: Ints) -> None:
    """Put the offset of each key into `found`, -1 for one that is not in the map."""
    for row in range(len(digests)):
        low, high = digests[row, 0], digests[row, 1]
        attempt = 0
        found[row] = -1
        while True:
            slot = _slot(low, high, attempt, len(slots))
            if slots[slot, 0] == low and slots[slot, 1] == high:
                found[row] = slot_offsets[slot]
                break
            if slots[slot, 0] == 0 and slots[slot, 1] == 0:  # an empty slot ends the search
                break
            attempt += 1
