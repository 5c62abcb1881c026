"""The records of a batch as columns: what the cleaner asks of a thousand records, in a few array operations.

It needs the key, the offset and whether there is a value, of every record of the log, twice. Only the way from record
to record is walked one by one, for each length is known only when it is read; all other numbers are read in step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from broker_core.kafka.log.errors import InvalidRecord
from broker_core.kafka.log.offset_map import Digests, as_digests, md5
from broker_core.kafka.log.varint import VARLONG_BYTES_MAX, VarintError, read_varint

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
ALIKE_BEFORE_A_LOOK_AHEAD = 4


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """One entry per record. starts, ends: of the record in `data`. rests: behind the timestamp delta. key_sizes: -1 is null."""

    data: bytes
    starts: Ints
    rests: Ints
    ends: Ints
    timestamp_deltas: Ints
    offset_deltas: Ints
    key_starts: Ints
    key_sizes: Ints
    has_values: Bools

    @property
    def count(self) -> int:
        return len(self.starts)

    def key_digests(self, chosen: Bools) -> Digests:
        """Give the digests of the chosen records' keys, which must have one."""
        starts = self.key_starts[chosen]
        ends = starts + self.key_sizes[chosen]
        data = self.data
        # Nothing between the slice and its digest: the two are most of what the cleaner does.
        joined = b"".join([md5(data[start:end]).digest() for start, end in zip(starts.tolist(), ends.tolist())])  # noqa: B905
        return as_digests(joined)


def record_columns(data: bytes, count: int) -> RecordColumns:
    """Read the uncompressed records of a batch. Raises InvalidRecord where the bytes are not that many records.

    >>> from broker_core.kafka.log.record import encode_pairs
    >>> columns = record_columns(*encode_pairs([(b"a", b"1"), (None, None)]))
    >>> columns.key_sizes.tolist(), columns.has_values.tolist()
    ([1, -1], [True, False])
    """
    # A few zeros behind the end, so that reading in step never leaves the array; what it finds there is refused below.
    octets = np.frombuffer(data + bytes(2 * VARLONG_BYTES_MAX), dtype=np.uint8)
    starts, bodies = _walk(data, octets, count)
    ends = np.append(starts[1:], len(data))
    timestamp_deltas, rests = _read_varints(octets, bodies + 1)
    offset_deltas, positions = _read_varints(octets, rests)
    key_sizes, key_starts = _read_varints(octets, positions)
    key_ends = key_starts + np.maximum(key_sizes, 0)
    if (key_ends >= ends).any():
        raise InvalidRecord("a key ends behind its record")
    # The first byte of the value's length is odd, zigzag for negative, only for null.
    has_values = (octets[key_ends] & 1) == 0
    return RecordColumns(data, starts, rests, ends, timestamp_deltas, offset_deltas, key_starts, np.maximum(key_sizes, -1), has_values)


def _walk(data: bytes, octets: NDArray[np.uint8], count: int) -> tuple[Ints, Ints]:
    """Give where each record starts, and where it does behind its length."""
    pieces: list[Ints] = []
    starts: list[int] = []
    prefixes: list[int] = []  # how many bytes the length takes
    position, found, end = 0, 0, len(data)
    last_size = alike = 0
    try:
        while found < count:
            byte = data[position]
            if byte < 0x80:
                prefix, size = 1, byte >> 1
            elif (high := data[position + 1]) < 0x80:
                prefix, size = 2, (high << 7 | byte & 0x7F) >> 1
            else:
                size, body = read_varint(data, position)
                prefix = body - position
            if size <= 0:
                raise InvalidRecord("a record without bytes")
            starts.append(position)
            prefixes.append(prefix)
            position += prefix + size
            found += 1
            alike = alike + 1 if size == last_size else 0
            last_size = size
            if alike == ALIKE_BEFORE_A_LOOK_AHEAD and found < count:
                # Records of one size are common. Where the same length stands at each step, all are taken at once.
                run = _run_of_equals(octets, position, prefix, prefix + size, min(count - found, (end - position) // (prefix + size)))
                pieces += (_pairs(starts, prefixes), np.stack((run, np.full(len(run), prefix))))
                starts, prefixes, alike = [], [], 0
                position += len(run) * (prefix + size)
                found += len(run)
    except (IndexError, VarintError) as error:
        raise InvalidRecord(str(error)) from None
    if position != end:
        raise InvalidRecord(f"{count} records end at {position} of {end} bytes")
    pieces.append(_pairs(starts, prefixes))
    all_starts, all_prefixes = np.concatenate(pieces, axis=1)
    return all_starts, all_starts + all_prefixes


def _run_of_equals(octets: NDArray[np.uint8], position: int, prefix: int, step: int, count_max: int) -> Ints:
    """Give the starts of the records from `position` on that have the same length as the one before it."""
    run: Ints = position + step * np.arange(count_max, dtype=np.int64)
    is_same = np.ones(count_max, dtype=np.bool_)
    for index in range(prefix):
        is_same &= octets[run + index] == octets[position - step + index]
    return run if is_same.all() else run[: int(is_same.argmin())]


def _pairs(starts: list[int], prefixes: list[int]) -> Ints:
    return np.array((starts, prefixes), dtype=np.int64)


def _read_varints(octets: NDArray[np.uint8], positions: Ints) -> tuple[Ints, Ints]:
    """Read a number at each position; give the numbers and the positions behind them."""
    values = np.zeros(len(positions), dtype=np.uint64)
    positions = np.minimum(positions, len(octets) - VARLONG_BYTES_MAX - 1)
    going = np.ones(len(positions), dtype=np.bool_)
    for shift in range(0, 7 * VARLONG_BYTES_MAX, 7):
        read = octets[positions]
        values |= np.where(going, read & 0x7F, 0).astype(np.uint64) << np.uint64(shift)
        positions = positions + going
        going = going & (read >= 0x80)
        if not going.any():
            break
    signed = (values >> np.uint64(1)).astype(np.int64) ^ -(values & np.uint64(1)).astype(np.int64)
    return signed, positions
