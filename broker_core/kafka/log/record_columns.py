"""The records of a batch as columns: what the cleaner asks of a thousand records, in a few array operations.

It needs the key, the offset and whether there is a value, of every record of the log, twice. The loops
themselves are
compiled: cleaner_kernels.py, which is imported when the first batch is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from broker_core.kafka.log.errors import InvalidRecord
from broker_core.kafka.log.offset_map import Digests

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_COLUMN_COUNT = 8
_WRONG = (
    "",
    "the bytes end inside a record",
    "a number that is too long",
    "a record without bytes",
    "a key ends behind its record",
)


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """One entry per record. starts, ends: of the record in `data`. rests: the position after the timestamp
    delta. key_sizes: -1 is null."""

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
        from broker_core.kafka.log.cleaner_kernels import md5_digests

        digests = np.empty((int(np.count_nonzero(chosen)), 2), dtype=np.uint64)
        md5_digests(
            np.frombuffer(self.data, dtype=np.uint8), self.key_starts[chosen], self.key_sizes[chosen], digests
        )
        return digests


def record_columns(data: bytes, count: int) -> RecordColumns:
    """Read the uncompressed records of a batch. Raises InvalidRecord where the bytes are not that many
    records.

    >>> from broker_core.kafka.log.record import encode_pairs
    >>> columns = record_columns(*encode_pairs([(b"a", b"1"), (None, None)]))
    >>> columns.key_sizes.tolist(), columns.has_values.tolist()
    ([1, -1], [True, False])
    """
    from broker_core.kafka.log.cleaner_kernels import scan_records

    if not 0 <= count <= len(data):
        raise InvalidRecord(f"{count} records in {len(data)} bytes")
    columns = np.empty((_COLUMN_COUNT, count), dtype=np.int64)
    found, position, wrong = scan_records(np.frombuffer(data, dtype=np.uint8), columns)
    if wrong:
        raise InvalidRecord(f"record {found} of {count} at {position}: {_WRONG[wrong]}")
    if position != len(data):
        raise InvalidRecord(f"{count} records end at {position} of {len(data)} bytes")
    starts, rests, ends, timestamp_deltas, offset_deltas, key_starts, key_sizes, has_values = columns
    return RecordColumns(
        data,
        starts,
        rests,
        ends,
        timestamp_deltas,
        offset_deltas,
        key_starts,
        key_sizes,
        has_values.astype(np.bool_),
    )
