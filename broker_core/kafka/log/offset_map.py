"""The cleaner's map from a key to the last offset that has it: of fixed memory, whatever the keys are.

    a slot, 24 bytes:  MD5 of the key 16   offset 8

The keys themselves are not kept: two keys of one MD5 would be taken for one, which at 128 bits does not happen. A
look-up tries the slots that the digest's four-byte windows at byte 0, 1, ... 12 name, then the ones after the last of
them. With `load_factor` of the slots in use the map is full, and the cleaner stops there for this round.

Whole batches of keys are put and looked up at once, as arrays: slot by slot in Python takes several times as long.

Source: Kafka 3.9 storage/internals/log/SkimpyOffsetMap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broker_core.errors import CommandError

# The same function as hashlib's, without a round through OpenSSL for each key: a third of the time. A Python built
# without it has hashlib's.
try:
    from _md5 import md5  # type: ignore[import-not-found]
except ImportError:
    from hashlib import md5

Digests = NDArray[np.uint64]
"""Rows of two words: the 16 bytes of each key's MD5."""
__all__ = ["Digests", "OffsetMap", "as_digests", "digests_of", "md5"]
SLOT_BYTES = 24
DIGEST_BYTES = 16
WINDOW_COUNT = DIGEST_BYTES - 3
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
        """Put keys in order of their offsets, until all are in or the map is full. Returns how many were put."""
        return self.put_digests(digests_of(keys), offsets)

    def put_digests(self, digests: Digests, offsets: ArrayLike) -> int:
        """The same for keys of which only the digests are at hand."""
        row = np.asarray(offsets, dtype=np.int64)
        put = 0
        while put < len(digests) and not self.is_full:
            # No more than would fit if all were new: so the map is full exactly where it would be one by one.
            end = min(len(digests), put + self.size_max - self.size)
            self._put(digests[put:end], row[put:end])
            put = end
        if put:
            self.latest_offset = max(self.latest_offset, int(row[put - 1]))
        return put

    def get_all(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Give the last offset of each key, -1 for a key that is not in the map."""
        return self.get_digests(digests_of(keys))

    def get_digests(self, digests: Digests) -> NDArray[np.int64]:
        """The same for keys of which only the digests are at hand."""
        found = np.full(len(digests), -1, dtype=np.int64)
        pending = np.arange(len(digests))
        attempt = 0
        while len(pending):
            slots = self._slots(digests[pending], attempt)
            held = self._digests[slots]
            is_own = (held == digests[pending]).all(axis=1)
            found[pending[is_own]] = self._offsets[slots[is_own]]
            pending = pending[~is_own & held.any(axis=1)]  # an empty slot ends the search
            attempt += 1
        return found

    def _put(self, digests: Digests, offsets: NDArray[np.int64]) -> None:
        pending = np.arange(len(digests))
        attempt = 0
        while len(pending):
            slots = self._slots(digests[pending], attempt)
            is_free = ~self._digests[slots].any(axis=1)
            # Of several that want one free slot the last gets it; the others see below that it is not theirs.
            self._digests[slots[is_free]] = digests[pending[is_free]]
            self.size += len(np.unique(slots[is_free]))
            is_own = (self._digests[slots] == digests[pending]).all(axis=1)
            # In rising order of offset, so the last write to a slot is the largest.
            self._offsets[slots[is_own]] = offsets[pending[is_own]]
            pending = pending[~is_own]
            attempt += 1

    def _slots(self, digests: Digests, attempt: int) -> NDArray[np.int64]:
        """The slot that each digest tries at this attempt."""
        window = min(attempt, WINDOW_COUNT - 1)
        octets = np.ascontiguousarray(digests).view(np.uint8).reshape(-1, DIGEST_BYTES)
        words = np.ascontiguousarray(octets[:, window : window + 4]).view(">i4").reshape(-1).astype(np.int64)
        probes = words + max(0, attempt - WINDOW_COUNT + 1)
        # The original's sum is a Java int, which wraps; its `abs` of the smallest one is 0.
        probes = (probes + 2**31) % 2**32 - 2**31
        return np.where(probes == -(2**31), 0, np.abs(probes)) % self.slot_count


def digests_of(keys: Sequence[bytes]) -> Digests:
    """Give the MD5 of each key."""
    return as_digests(b"".join([md5(key).digest() for key in keys]))


def as_digests(joined: bytes) -> Digests:
    """See digests, one behind the other, as rows."""
    return np.frombuffer(joined, dtype=np.uint64).reshape(-1, 2)
