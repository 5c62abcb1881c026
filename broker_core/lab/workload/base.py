"""What every workload is: records that arrive evenly in virtual time, each with a key code. Time and codes
are whole numbers."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from broker_core.clock import SECOND_US

CHUNK_BITS = 14
CHUNK_SIZE = 1 << CHUNK_BITS
# 16 chunks hold the last 262,144 records, more than any lane looks back; beyond that a code is simply
# computed again.
CHUNKS_MAX = 16
# Distinct keys are collected a block at a time: a block of codes is 8 MB.
DISTINCT_BLOCK = 1 << 20

CodeArray = NDArray[np.signedinteger[Any]]


class Stretch(NamedTuple):
    """From `since_us` on records arrive at another rate, and `first` is the next of them."""

    first: int
    since_us: int
    rate: int


class Workload(Protocol):
    """The record stream that all lanes of a lab share. A record is its index, from 0; everything about it
    follows from that.

    rate: records per second of virtual time, now. key_count: how many different keys can appear, None if unknown.
    """

    rate: int
    rates: tuple[Stretch, ...]
    key_count: int | None

    def change_rate(self, at_us: int, rate: int) -> None: ...
    def arrival_us(self, index: int) -> int: ...
    def arrival_times(self, start: int, stop: int) -> list[int]: ...
    def count_until(self, at_us: int) -> int: ...
    def key_code(self, index: int) -> int: ...
    def key_codes(self, start: int, stop: int) -> list[int]: ...
    def codes_of(self, records: Sequence[int]) -> list[int]: ...
    def key(self, code: int) -> str: ...
    def key_bytes(self, code: int) -> bytes: ...
    def code_of(self, key: str) -> int | None: ...
    def distinct_until(self, count: int) -> tuple[list[int], list[int]]: ...
    def row(self, index: int) -> dict[str, str | int | None] | None: ...
    def payload(self, index: int) -> str: ...
    def size(self, index: int) -> int: ...
    def to_json(self) -> dict[str, Any]: ...
    def view(self, record_count: int) -> dict[str, Any]: ...


class EvenArrivals(ABC):
    """Records 1/rate seconds apart: record i arrives at (i + 1) / rate seconds, rounded down to the
    microsecond. From a change of the rate on they are counted from there in the same way.

    rates: the stretches of a workload whose rate has changed, the first from 0; none otherwise.
    """

    rate: int
    rates: tuple[Stretch, ...] = ()

    def change_rate(self, at_us: int, rate: int) -> None:
        """Records that arrive after `at_us`, which is not before the last change, do so at this rate."""
        before = self.rates or (Stretch(0, 0, self.rate),)
        self.rates, self.rate = (*before, Stretch(self.count_until(at_us), at_us, rate)), rate

    def arrival_us(self, index: int) -> int:
        """When record `index` arrives, in microseconds of virtual time. The first one waits a whole gap: at 0
        the lab is empty."""
        if not self.rates:
            return (index + 1) * SECOND_US // self.rate
        first, since_us, rate = self.rates[bisect_right(self.rates, index, key=_first) - 1]
        return since_us + (index - first + 1) * SECOND_US // rate

    def arrival_times(self, start: int, stop: int) -> list[int]:
        """When the records start..stop-1 arrive."""
        if self.rates and (start < self.rates[-1].first):
            return [self.arrival_us(index) for index in range(start, stop)]
        first, since_us, rate = self.rates[-1] if self.rates else (0, 0, self.rate)
        from_, until = (start - first + 1) * SECOND_US, (stop - first + 1) * SECOND_US
        return [since_us + moment // rate for moment in range(from_, until, SECOND_US)]

    def count_until(self, at_us: int) -> int:
        """How many records have arrived at or before `at_us`: the exact inverse of `arrival_us`."""
        first, since_us, rate = 0, 0, self.rate
        if self.rates:
            first, since_us, rate = self.rates[max(0, bisect_right(self.rates, at_us, key=_since) - 1)]
        # floor(n * 10**6 / rate) <= at  <=>  n * 10**6 < (at + 1) * rate
        return first + max(0, ((at_us - since_us + 1) * rate - 1) // SECOND_US)

    @abstractmethod
    def key(self, code: int) -> str:
        """The key as it is shown."""

    @abstractmethod
    def payload(self, index: int) -> str:
        """What record `index` carries."""

    def size(self, index: int) -> int:
        """Of record `index`'s payload, in bytes."""
        return len(self.payload(index).encode())

    def key_bytes(self, code: int) -> bytes:
        """The key as it is hashed: its text in UTF-8, unless a workload knows keys that are not text."""
        return self.key(code).encode()


def _first(stretch: Stretch) -> int:
    return stretch.first


def _since(stretch: Stretch) -> int:
    return stretch.since_us


class KeyedPayloads(dict[int, int]):
    """Key code -> bytes of a payload but for the record's number: `size` is asked for each record, and a payload
    takes 3 us to write.

    payload: gives the payload of record 0 with such a key.
    """

    def __init__(self, payload: Callable[[int], str]) -> None:
        self.payload = payload

    def __missing__(self, code: int) -> int:
        found = self[code] = len(self.payload(code).encode()) - 1
        return found


class CodeChunks:
    """Key codes by record index, read from arrays a chunk at a time, so that a hot loop costs one dictionary
    look-up.

    compute: (start, stop) -> the codes of records start..stop-1.
    """

    __slots__ = ("_chunks", "_compute")

    def __init__(self, compute: Callable[[int, int], CodeArray]) -> None:
        self._compute = compute
        self._chunks: dict[int, list[int]] = {}

    def at(self, index: int) -> int:
        """The code of record `index`."""
        try:
            return self._chunks[index >> CHUNK_BITS][index & (CHUNK_SIZE - 1)]
        except KeyError:
            return self._load(index >> CHUNK_BITS)[index & (CHUNK_SIZE - 1)]

    def of(self, records: Sequence[int]) -> list[int]:
        """The codes of these records, in whatever order they are."""
        if not records:
            return []
        number = min(records) >> CHUNK_BITS
        chunks = self._chunks
        if max(records) >> CHUNK_BITS == number:  # as most often: then a record costs one look
            chunk, first = chunks.get(number) or self._load(number), number << CHUNK_BITS
            return [chunk[index - first] for index in records]
        try:
            return [chunks[index >> CHUNK_BITS][index & (CHUNK_SIZE - 1)] for index in records]
        except KeyError:
            return [self.at(index) for index in records]

    def between(self, start: int, stop: int) -> list[int]:
        """The codes of records start..stop-1."""
        number = start >> CHUNK_BITS
        if start < stop and (stop - 1) >> CHUNK_BITS == number:
            chunk = self._chunks.get(number) or self._load(number)
            first = number << CHUNK_BITS
            return chunk[start - first : stop - first]
        return self._compute(start, stop).tolist() if start < stop else []

    def _load(self, number: int) -> list[int]:
        start = number << CHUNK_BITS
        if len(self._chunks) >= CHUNKS_MAX:
            # The oldest loaded goes; dicts keep the order in which they were filled.
            del self._chunks[next(iter(self._chunks))]
        chunk: list[int] = self._compute(start, start + CHUNK_SIZE).tolist()
        self._chunks[number] = chunk
        return chunk


def distinct_codes(codes: CodeArray) -> tuple[list[int], list[int]]:
    """The distinct codes of 0 or more, in order of first appearance, and the index at which each appeared
    first.

    >>> distinct_codes(np.array([4, -1, 2, 4]))
    ([4, 2], [0, 2])
    """
    values, first = np.unique(codes, return_index=True)
    keyed = values >= 0
    values, first = values[keyed], first[keyed]
    order = np.argsort(first, kind="stable")
    return values[order].tolist(), first[order].tolist()


def distinct_until(
    compute: Callable[[int, int], CodeArray], count: int, key_count: int
) -> tuple[list[int], list[int]]:
    """As `distinct_codes` of the first `count` records. compute: as for CodeChunks; once `key_count` codes
    are known no more are computed."""
    first_seen: dict[int, int] = {}
    for start in range(0, count, DISTINCT_BLOCK):
        codes, places = distinct_codes(compute(start, min(count, start + DISTINCT_BLOCK)))
        for code, place in zip(codes, places, strict=True):
            first_seen.setdefault(code, start + place)
        if len(first_seen) == key_count:
            break
    return list(first_seen), list(first_seen.values())
