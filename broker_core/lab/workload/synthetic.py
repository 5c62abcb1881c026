"""Made-up keys for questions that real data does not ask: all alike, a few favourites (Zipf), one far too
popular.

Record i's key follows from (seed, i) alone (see workload_draws), so any record can be looked at without those
before it.
"""

import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from broker_core.lab.workload.base import CodeArray, CodeChunks, EvenArrivals, KeyedPayloads, distinct_until
from broker_core.lab.workload.draws import U64, draws, scale, zipf_table

MILLION = 1_000_000


@dataclass(slots=True)
class SyntheticWorkload(EvenArrivals):
    """Keys "key-0" to "key-<n-1>", every record keyed. What the kinds have in common; a kind says `_codes`
    and `to_json`."""

    rate: int
    keys: int
    seed: int
    key_count: int | None = field(init=False)
    _chunks: CodeChunks = field(init=False, repr=False)
    _sizes: KeyedPayloads = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.key_count = self.keys
        self._chunks = CodeChunks(self._codes)
        self._sizes = KeyedPayloads(lambda code: self._payload(0, code))

    @abstractmethod
    def _codes(self, start: int, stop: int) -> CodeArray:
        """The key codes of records start..stop-1, drawn."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """What `workload_from_json` reads back."""

    def key_code(self, index: int) -> int:
        """The code of the record's key: its number."""
        return self._chunks.at(index)

    def codes_of(self, records: Sequence[int]) -> list[int]:
        """The key codes of these records."""
        return self._chunks.of(records)

    def key_codes(self, start: int, stop: int) -> list[int]:
        """The key codes of records start..stop-1."""
        return self._chunks.between(start, stop)

    def key(self, code: int) -> str:
        """The key's text."""
        return f"key-{code}"

    def code_of(self, key: str) -> int | None:
        """The code of the key with this text; None: no record can have it."""
        number = key.removeprefix("key-")
        code = int(number) if number.isascii() and number.isdigit() else -1
        return code if 0 <= code < self.keys and self.key(code) == key else None

    def distinct_until(self, count: int) -> tuple[list[int], list[int]]:
        """Codes of the keys among the first `count` records by first appearance, and the record in which each
        appeared first."""
        return distinct_until(self._codes, count, self.keys)

    def row(self, index: int) -> None:
        """None: a made-up record has no row to show."""

    def payload(self, index: int) -> str:
        """The record as JSON: its index and its key."""
        return self._payload(index, self.key_code(index))

    def size(self, index: int) -> int:
        """Of the payload, in bytes."""
        return self._sizes[self._chunks.at(index)] + len(str(index))

    def _payload(self, index: int, code: int) -> str:
        return json.dumps({"record": index, "key": self.key(code)}, separators=(",", ":"))

    def view(self, record_count: int) -> dict[str, Any]:
        """The view's `workload`; made-up records never repeat, so `loop` stays 0."""
        return self.to_json() | {"key": None, "keys": [], "key_total": self.keys, "loop": 0}


@dataclass(slots=True)
class UniformWorkload(SyntheticWorkload):
    """Every key equally likely."""

    def _codes(self, start: int, stop: int) -> CodeArray:
        return scale(draws(self.seed, 0, start, stop), self.keys).astype(np.int64)

    def to_json(self) -> dict[str, Any]:
        """What `workload_from_json` reads back."""
        return {"kind": "uniform", "keys": self.keys, "rate": self.rate}


@dataclass(slots=True)
class ZipfWorkload(SyntheticWorkload):
    """Key k (from 0) as likely as 1 / (k + 1) ** exponent. exponent_milli: the exponent in thousandths; 0 is
    uniform."""

    exponent_milli: int

    def _codes(self, start: int, stop: int) -> CodeArray:
        table = _zipf_table(self.keys, self.exponent_milli)
        # side="right": a key whose weight was rounded down to nothing is never drawn.
        return np.searchsorted(
            table, scale(draws(self.seed, 0, start, stop), int(table[-1])), side="right"
        ).astype(np.int64)

    def to_json(self) -> dict[str, Any]:
        """What `workload_from_json` reads back."""
        return {"kind": "zipf", "keys": self.keys, "exponent": self.exponent_milli / 1000, "rate": self.rate}


@dataclass(slots=True)
class HotKeyWorkload(SyntheticWorkload):
    """Key 0 takes a share of all records, the others share the rest evenly. share_ppm: that share in
    millionths."""

    share_ppm: int

    def _codes(self, start: int, stop: int) -> CodeArray:
        is_hot = scale(draws(self.seed, 0, start, stop), MILLION) < np.uint64(self.share_ppm)
        others = np.uint64(1) + scale(draws(self.seed, 1, start, stop), self.keys - 1)
        return np.where(is_hot, np.uint64(0), others).astype(np.int64)

    def to_json(self) -> dict[str, Any]:
        """What `workload_from_json` reads back."""
        return {"kind": "hot_key", "keys": self.keys, "share": self.share_ppm / MILLION, "rate": self.rate}


@lru_cache(maxsize=8)
def _zipf_table(key_count: int, exponent_milli: int) -> U64:
    return zipf_table(key_count, exponent_milli)
