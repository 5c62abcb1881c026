"""The cleaner's map from a key to the last offset that has it: of fixed memory, whatever the keys are.

    a slot, 24 bytes:  MD5 of the key 16   offset 8

The keys themselves are not kept: two keys of one MD5 would be taken for one, which at 128 bits does not
happen. A look-up tries the slots that the digest's four-byte windows at byte 0, 1, ... 12 name, then the ones
after the last of them. With 90 % of the slots in use the map is full, and the cleaner stops there for this
round.

Whole batches of keys are put and looked up at once, by the compiled loops of cleaner_kernels.py, which is
imported when the first key comes.

Source: Kafka 3.9 storage/internals/log/SkimpyOffsetMap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broker_core.errors import CommandError

Digests = NDArray[np.uint64]
"""Rows of two words: the 16 bytes of each key's MD5, the lowest first."""
SLOT_BYTES = 24
LOAD_FACTOR_PERCENT = 90


class OffsetMap:
    """Key -> last offset, in `memory_bytes` and no more.

    >>> offsets = OffsetMap(memory_bytes=240)
    >>> offsets.put_all([b"a", b"b", b"a"], [1, 2, 3])
    3
    >>> offsets.get_all([b"a", b"b", b"c"]).tolist()
    [3, 2, -1]
    """

    def __init__(self, memory_bytes: int = 128 << 20) -> None:
        self.slot_count = memory_bytes // SLOT_BYTES
        if self.slot_count < 2:
            raise CommandError("memory_bytes", "must hold two slots of 24 bytes")
        self.size_max = self.slot_count * LOAD_FACTOR_PERCENT // 100
        self.size = 0
        self.latest_offset = -1
        self._digests = np.zeros((self.slot_count, 2), dtype=np.uint64)
        self._offsets = np.zeros(self.slot_count, dtype=np.int64)

    @property
    def is_full(self) -> bool:
        return self.size >= self.size_max

    @property
    def memory_bytes(self) -> int:
        """What the slots take."""
        return self._digests.nbytes + self._offsets.nbytes

    def put_all(self, keys: Sequence[bytes], offsets: ArrayLike) -> int:
        """Put keys in order of their offsets, until all are in or the map is full. Returns how many were
        put."""
        return self.put_digests(digests_of(keys), offsets)

    def put_digests(self, digests: Digests, offsets: ArrayLike) -> int:
        """The same for keys of which only the digests are at hand."""
        from broker_core.kafka.log.cleaner_kernels import map_put

        row = np.asarray(offsets, dtype=np.int64)
        put, self.size = map_put(self._digests, self._offsets, self.size, self.size_max, digests, row)
        if put:
            self.latest_offset = max(self.latest_offset, int(row[put - 1]))
        return int(put)

    def get_all(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Give the last offset of each key, -1 for a key that is not in the map."""
        return self.get_digests(digests_of(keys))

    def get_digests(self, digests: Digests) -> NDArray[np.int64]:
        """The same for keys of which only the digests are at hand."""
        from broker_core.kafka.log.cleaner_kernels import map_get

        found = np.empty(len(digests), dtype=np.int64)
        map_get(self._digests, self._offsets, digests, found)
        return found


def digests_of(keys: Sequence[bytes]) -> Digests:
    """Give the MD5 of each key."""
    from broker_core.kafka.log.cleaner_kernels import md5_digests

    sizes = np.array([len(key) for key in keys], dtype=np.int64)
    digests = np.empty((len(keys), 2), dtype=np.uint64)
    md5_digests(np.frombuffer(b"".join(keys), dtype=np.uint8), np.cumsum(sizes) - sizes, sizes, digests)
    return digests
