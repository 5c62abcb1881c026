"""The hottest keys of a workload, and the sample of its keys that the timed runs take.

    whole keys with their counts ─► the hottest so far (exact) + the keys with the smallest mix (an even sample) ─► joined

Each takes in whole keys, none twice, so both keep little and are exact. The sample keeps the smallest values of a mix
that has nothing to do with the hashes that strategies use: whichever key is among the smallest of all was so in its shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.hashing.murmur2 import MASK, murmur2
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.hashing.phash2 import phash2
from broker_core.hashing.xxhash64 import xxhash64_column
from broker_core.lab.workload.weighted_keys import KEY_BYTES_MAX, KEYS_MAX
from broker_core.pipeline.strategies import RouteTable
from broker_core.pipeline.strategies.base import Int64s
from broker_core.pipeline.timed_workload import HOT_KEYS, SampleKeys

KEPT_BYTES = 16 << 20
"""Of the hottest keys together; with keys of a megabyte there are fewer."""

_HOT = pa.schema([("key", pa.binary()), ("records", pa.int64())])
_SAMPLE = pa.schema([("key", pa.binary()), ("mix", pa.int64()), ("records", pa.int64())])


@dataclass(frozen=True, slots=True)
class HotKey:
    """A key and how many records have it."""

    key: bytes
    records: int


@dataclass(frozen=True, slots=True)
class KeyProfile:
    """hottest: the most frequent keys, the hottest first (equal ones by key). sampled: keys drawn evenly, with their
    counts."""

    hottest: Sequence[HotKey]
    sampled: Sequence[tuple[bytes, int]]

    def sample(self, records: int, no_key: int) -> SampleKeys:
        """Keys for a lab that represent the workload. records: of all, no_key: of them those without key."""
        hottest = [(short_key(key.key), max(1, key.records)) for key in self.hottest[:HOT_KEYS]]
        known = dict(hottest)
        rest = [(key, count) for key, count in self.sampled if key not in known][: KEYS_MAX - len(hottest)]
        other_records = records - no_key - sum(known.values())
        return SampleKeys(hottest, rest if other_records > 0 else [], max(0, other_records), no_key)


@dataclass
class KeySummary:
    """hot: the hottest keys so far, the hottest first. sample: those with the smallest mix, in its order."""

    hottest: int = HOT_KEYS
    sampled: int = KEYS_MAX
    kept_bytes: int = KEPT_BYTES
    hot: Any = field(default_factory=_HOT.empty_table)
    sample: Any = field(default_factory=_SAMPLE.empty_table)

    def add(self, keys: pa.Array, records: Int64s) -> None:
        """Take in whole keys that have not come before, none of them null."""
        mix = xxhash64_column(keys)
        least = _places_of_least(mix, self.sampled)
        chosen = keys.take(least)
        if (pc.max(pc.binary_length(chosen)).as_py() or 0) > KEY_BYTES_MAX:
            chosen = pa.array([short_key(key.as_py()) for key in chosen], pa.binary())
        columns = [chosen, pa.array(mix[least]), pa.array(records[least])]
        self.join_sample(pa.Table.from_arrays(columns, schema=_SAMPLE))
        hot = self._hottest_of(keys, records)
        self.join_hot(pa.Table.from_arrays([keys.take(hot), pa.array(records[hot])], schema=_HOT))

    def _hottest_of(self, keys: pa.Array, records: Int64s) -> Any:
        """Places of the hottest; where many are as hot, of the first of these by key."""
        if len(records) <= self.hottest:
            return np.arange(len(records))
        least = np.partition(records, len(records) - self.hottest)[len(records) - self.hottest]
        above, equal = np.flatnonzero(records > least), np.flatnonzero(records == least)
        few = self.hottest - len(above)
        if len(equal) > few:
            first = pc.select_k_unstable(keys.take(equal), few, sort_keys=[("", "ascending")])
            equal = equal[first.to_numpy()]
        return np.concatenate([above, equal])

    def join_hot(self, other: Any) -> None:
        """Take in the hottest keys of another summary."""
        together = pa.concat_tables([self.hot, other]).combine_chunks()
        order = pc.sort_indices(together, sort_keys=[("records", "descending"), ("key", "ascending")])
        hot = together.take(order.slice(0, self.hottest))
        sizes = np.cumsum(pc.binary_length(hot["key"]).to_numpy().astype(np.int64))
        self.hot = hot.slice(0, int(np.searchsorted(sizes, self.kept_bytes, side="right")))

    def join_sample(self, other: Any) -> None:
        """Take in the sample of another summary."""
        together = pa.concat_tables([self.sample, other]).combine_chunks()
        order = pc.sort_indices(together, sort_keys=[("mix", "ascending")])
        self.sample = together.take(order.slice(0, self.sampled))

    def profile(self) -> KeyProfile:
        hot, sample = (
            list(zip(table["key"].to_pylist(), table["records"].to_pylist(), strict=True))
            for table in (self.hot, self.sample)
        )
        return KeyProfile([HotKey(key, records) for key, records in hot], sample)


def _places_of_least(values: Int64s, count: int) -> Any:
    return np.arange(len(values)) if len(values) <= count else np.argpartition(values, count)[:count]


def short_key(key: bytes) -> bytes:
    """The key, or a digest in place of one too long for a lab: as frequent, but with another owner."""
    return key if len(key) <= KEY_BYTES_MAX else sha256(key).hexdigest().encode()


def key_owner(key: bytes, hash_name: str | None, table: RouteTable) -> str | None:
    """Who has the key under this table; None for nobody, and where keys have no owner."""
    return None if hash_name is None else table.owner_of(key_hash(key, hash_name))


def key_hash(key: bytes, hash_name: str) -> int:
    """The key's unsigned 32-bit hash, as a family names it: murmur3, murmur2, java or phash2."""
    match hash_name:
        case "murmur3":
            return murmur3_32(key)
        case "murmur2":
            return murmur2(key) & MASK
        case "phash2":
            return phash2(key)
        case _:
            return string_hash_unsigned(java_text(key))
