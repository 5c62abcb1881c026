"""The hottest keys of a workload, and the sample of its keys that the timed runs take: one job over the
records, bounded memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.hashing.murmur2 import MASK, murmur2
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.hashing.xxhash64 import xxhash64_column
from broker_core.lab.workload.weighted_keys import KEYS_MAX
from broker_core.pipeline.group_tasks import COUNTED_SQL, count_by_key
from broker_core.pipeline.hot_key_tasks import (
    ERROR,
    HOT,
    SAMPLED,
    SUMMARY_SCHEMA,
    SUMMARY_SQL,
    merge,
    short_key,
    summarise,
)
from broker_core.pipeline.strategies import RouteTable
from broker_core.pipeline.timed_workload import HOT_KEYS, SampleKeys

if TYPE_CHECKING:
    from broker_core.pipeline.sources.workload import Workload


ARROW_BATCH_ROWS = 65_536
"""As the session has it (session.py): a summary of many keys depends on where the batches end."""


@dataclass(frozen=True, slots=True)
class HotKey:
    """A key and how many records have it: at least `records`, at most `records` + `error`."""

    key: bytes
    records: int
    error: int


@dataclass(frozen=True, slots=True)
class KeyProfile:
    """hottest: the most frequent keys, the hottest first (equal ones by key). sampled: keys drawn evenly,
    with exact counts."""

    hottest: Sequence[HotKey]
    sampled: Sequence[tuple[bytes, int]]

    def sample(self, records: int, no_key: int) -> SampleKeys:
        """Keys for a lab that represent the workload. records: of all, no_key: of them those without key."""
        hottest = [(short_key(key.key), max(1, key.records)) for key in self.hottest[:HOT_KEYS]]
        known = dict(hottest)
        rest = [(key, count) for key, count in self.sampled if key not in known][: KEYS_MAX - len(hottest)]
        other_records = records - no_key - sum(known.values())
        return SampleKeys(hottest, rest if other_records > 0 else [], max(0, other_records), no_key)


def key_profile(workload: "Workload") -> KeyProfile:
    """Look through the records once."""
    from pyspark.sql import functions as f

    counted = workload.map_in_arrow(("key", "bytes"), count_by_key(()), COUNTED_SQL)
    keyed = counted.where(f.col("key").isNotNull()).select("key", f.xxhash64("key").alias("mix"), "records")
    summaries = keyed.mapInArrow(summarise(KEYS_MAX), SUMMARY_SQL)
    rows = summaries.repartition(1).mapInArrow(merge(KEYS_MAX, HOT_KEYS), SUMMARY_SQL).collect()
    return _profile([(row.kind, row.key, row.records) for row in rows])


def counted_profile(counted: Sequence[Any]) -> KeyProfile:
    """The same from keys that are counted already. counted: tables of COUNTED_SCHEMA, one for each task that
    read; nothing runs in Spark."""
    summaries = (summary for table in counted for summary in summarise(KEYS_MAX)(_mixed(table)))
    together = pa.Table.from_batches(summaries, SUMMARY_SCHEMA).combine_chunks().to_batches(ARROW_BATCH_ROWS)
    merged = pa.Table.from_batches(merge(KEYS_MAX, HOT_KEYS)(together), SUMMARY_SCHEMA)
    return _profile(
        list(zip(*(merged[name].to_pylist() for name in ("kind", "key", "records")), strict=True))
    )


def _mixed(counted: Any) -> Iterator[pa.RecordBatch]:
    """Rows of (key, mix, records) in batches as Spark cuts them; rows without a key are left out."""
    keyed = counted.filter(pc.is_valid(counted["key"]))
    for batch in keyed.combine_chunks().to_batches(ARROW_BATCH_ROWS):
        mix = pa.array(xxhash64_column(batch.column("key")))
        yield pa.RecordBatch.from_arrays(
            [batch.column("key"), mix, batch.column("records")], names=["key", "mix", "records"]
        )


def _profile(rows: Sequence[tuple[int, bytes, int]]) -> KeyProfile:
    """rows: (kind, key, records) as `merge` gives them."""
    error = sum(records for kind, _, records in rows if kind == ERROR)
    return KeyProfile(
        hottest=[HotKey(bytes(key), records, error) for kind, key, records in rows if kind == HOT],
        sampled=[(bytes(key), records) for kind, key, records in rows if kind == SAMPLED],
    )


def key_owner(key: bytes, hash_name: str | None, table: RouteTable) -> str | None:
    """Who has the key under this table; None for nobody, and where keys have no owner."""
    return None if hash_name is None else table.owner_of(key_hash(key, hash_name))


def key_hash(key: bytes, hash_name: str) -> int:
    """The key's unsigned 32-bit hash, as a family names it: murmur3, murmur2 or java."""
    match hash_name:
        case "murmur3":
            return murmur3_32(key)
        case "murmur2":
            return murmur2(key) & MASK
        case _:
            return string_hash_unsigned(java_text(key))
