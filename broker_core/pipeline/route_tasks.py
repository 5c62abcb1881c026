"""What Spark's Python workers do to count by unit: Arrow batches in, one batch of counts out. Nothing here
imports pyspark or Django.

Grouped rows (key, place, is_first, records, bytes) are counted at once. Rows that were not grouped (key,
bytes) are counted as records; how many keys they are is found out by prints: murmur3, murmur2 and Java hash
of a key, 96 bits, sorted into shards, and in the second stage each shard is looked through for prints that
come again. Two keys that agree in all three hashes count as one: among a hundred million keys the chance that
any two do is below 1 in 10**12, and what they are counted at, their unit, is right even then.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from broker_core.hashing.columns import java_column, key_buffers, murmur2_column, murmur3_column
from broker_core.pipeline import unit_kernels as kernels
from broker_core.pipeline.strategies.base import Int64s
from broker_core.pipeline.units import Int32s, UnitMap

NO_KEY, EMPTY_KEY = -1, -2
"""Map numbers of the counts of records without a key and with an empty one; their unit is the place."""
PRINTS_KEPT = 1 << 18
"""Prints that a task holds before it sends them on: 3 MB in SHARDS rows."""

COUNTS_SCHEMA = pa.schema(
    [
        ("map", pa.int32()),
        ("unit", pa.int64()),
        ("keys", pa.int64()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
    ]
)
COUNTS_SQL = "map int, unit bigint, keys bigint, records bigint, bytes bigint"
SHARDS_SCHEMA = pa.schema([("shard", pa.int32()), ("prints", pa.binary()), ("counts", pa.binary())])
SHARDS_SQL = "shard int, prints binary, counts binary"

Batches = Iterable[pa.RecordBatch]
Prints = NDArray[np.uint32]
_HASHES: dict[str, Callable[[pa.Array], NDArray[np.uint32]]] = {
    "murmur3": murmur3_column,
    "murmur2": lambda keys: murmur2_column(keys).view(np.uint32),
    "java": java_column,
}
_PRINT_HASHES = ("murmur3", "murmur2", "java")


@dataclass
class Counter:
    """Counts by map, place and unit. maps: of all strategies, none twice. places: stretches of the workload
    between changes, 1 without.

    counts[map][place * units + unit] = (keys, records, bytes); odd[NO_KEY - kind][place]: of records without
    key, with an empty key.
    """

    maps: Sequence[UnitMap]
    places: int
    counts: list[Int64s] = field(init=False)
    odd: Int64s = field(init=False)

    def __post_init__(self) -> None:
        self.counts = [np.zeros((self.places * each.count, 3), np.int64) for each in self.maps]
        self.odd = np.zeros((2, self.places, 3), np.int64)

    def add_rows(
        self, keys: pa.Array, is_first: Int64s, records: Int64s, sizes: Int64s, places: Int64s
    ) -> None:
        """Count grouped rows. A null key is not a key; each row's numbers go to its place."""
        if keys.null_count:
            missing = keys.is_null().to_numpy(zero_copy_only=False)
            self._add_odd(0, missing, is_first, records, sizes, places)
            there = ~missing
            keys = keys.drop_null()
            is_first, records, sizes, places = is_first[there], records[there], sizes[there], places[there]
        empty = _are_empty(keys)
        if empty.any():
            self._add_odd(1, empty, is_first, records, sizes, places)
        self.add_hashes(_hashes_of(keys, self.maps), is_first, records, sizes, places)

    def add_hashes(
        self,
        hashes: dict[str, NDArray[np.uint32]],
        keys: Int64s,
        records: Int64s,
        sizes: Int64s,
        places: Int64s,
    ) -> None:
        """Count rows by the hashes of their keys."""
        for each, counts in zip(self.maps, self.counts, strict=True):
            kernels.count_rows(
                _units(each, hashes[each.hash]), keys, records, sizes, places, each.count, counts
            )

    def add_each(self, hashes: dict[str, NDArray[np.uint32]], sizes: Int64s) -> None:
        """Count rows by the hashes of their keys, each as one record of one key, in a workload of one
        stretch."""
        for each, counts in zip(self.maps, self.counts, strict=True):
            kernels.count_each(_units(each, hashes[each.hash]), sizes, counts)

    def _add_odd(
        self,
        kind: int,
        which: NDArray[np.bool_],
        keys: Int64s,
        records: Int64s,
        sizes: Int64s,
        places: Int64s,
    ) -> None:
        for column, values in enumerate((keys, records, sizes)):
            np.add.at(self.odd[kind, :, column], places[which], values[which])

    def add_odd(self, kind: int, sizes: Int64s) -> None:
        """Count records of a kind (NO_KEY, EMPTY_KEY) in a workload of one stretch."""
        self.odd[NO_KEY - kind, 0, 1:] += (len(sizes), sizes.sum())

    def to_batch(self) -> pa.RecordBatch:
        """What is not zero, as rows of COUNTS_SCHEMA."""
        parts = [(number, counts) for number, counts in enumerate(self.counts)]
        parts += [(kind, self.odd[NO_KEY - kind]) for kind in (NO_KEY, EMPTY_KEY)]
        maps, units, values = [], [], []
        for number, counts in parts:
            used = np.flatnonzero(counts.any(axis=1))
            maps.append(np.full(len(used), number, np.int32))
            units.append(used)
            values.append(counts[used])
        numbers = np.concatenate(values)
        columns = [
            np.concatenate(maps),
            np.concatenate(units),
            *(np.ascontiguousarray(numbers[:, place]) for place in range(3)),
        ]
        return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=COUNTS_SCHEMA)

    def dump(self) -> bytes:
        """All counts as bytes; `load` of a counter of the same maps adds them."""
        return b"".join(counts.tobytes() for counts in (*self.counts, self.odd))

    def load(self, data: bytes) -> None:
        """Add what another counter dumped."""
        numbers, at = np.frombuffer(data, np.int64), 0
        for counts in (*self.counts, self.odd):
            counts += numbers[at : at + counts.size].reshape(counts.shape)
            at += counts.size


def units_of(units: UnitMap, keys: pa.Array) -> Int32s:
    """The unit of each key of a column without nulls."""
    return _units(units, _HASHES[units.hash](keys))


def _units(units: UnitMap, hashes: NDArray[np.uint32]) -> Int32s:
    """The unit of each hash."""
    rule, out = units.rule, np.empty(len(hashes), np.int32)
    if len(units.slots):
        kernels.find_slots(hashes, rule.mask, rule.modulo, rule.offset, units.slots, out)
    else:
        kernels.find_cells(
            hashes,
            rule.mask,
            rule.modulo,
            rule.offset,
            units.uppers,
            units.first_units,
            units.parts,
            units.buckets,
            units.shift,
            out,
        )
    return out


def name_owners(
    maps: Sequence[UnitMap | None], owners: Sequence[NDArray[np.int16] | None], no_key: Sequence[int]
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """For mapInArrow over (key): the key and, for each strategy, the number of its owner. owners: [unit] of
    each strategy, None where no key has one; no_key: who gets a record without key. -1: nobody, or it depends
    on more than the key."""
    names = ["key", *(f"owner_{number}" for number in range(len(maps)))]

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = batch.column("key")
            there = keys.is_valid().to_numpy(zero_copy_only=False)
            present = keys.drop_null()
            columns = [keys]
            for units, held, missing in zip(maps, owners, no_key, strict=True):
                column = np.full(len(keys), missing, np.int16)
                column[there] = -1 if units is None or held is None else held[units_of(units, present)]
                columns.append(pa.array(column))
            yield pa.RecordBatch.from_arrays(columns, names=names)

    return run


def count_grouped(maps: Sequence[UnitMap], places: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """For mapInArrow over (key, place int, is_first bigint, records bigint, bytes bigint)."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        counter = Counter(maps, places)
        for batch in batches:
            columns = [_numbers(batch.column(name)) for name in ("is_first", "records", "bytes", "place")]
            counter.add_rows(batch.column("key"), *columns)
        yield counter.to_batch()

    return run


def count_rows(maps: Sequence[UnitMap]) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """First stage for rows that are not grouped, mapInArrow over (key, bytes bigint): records and bytes by
    unit, every record as if it had a separate key, and the prints of the keys by shard."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        counter, kept_count = Counter(maps, 1), 0
        kept: list[Prints] = []
        for batch in batches:
            keys, sizes = batch.column("key"), _numbers(batch.column("bytes"))
            if keys.null_count:
                missing = keys.is_null().to_numpy(zero_copy_only=False)
                counter.add_odd(NO_KEY, sizes[missing])
                keys, sizes = keys.drop_null(), sizes[~missing]
            empty = _are_empty(keys)
            if empty.any():
                counter.add_odd(EMPTY_KEY, sizes[empty])
            hashes = {name: _HASHES[name](keys) for name in _PRINT_HASHES}
            counter.add_each(hashes, sizes)
            kept.append(np.stack([hashes[name] for name in _PRINT_HASHES], axis=1))
            kept_count += len(keys)
            if kept_count >= PRINTS_KEPT:
                yield _shards(kept)
                kept, kept_count = [], 0
        if kept_count:
            yield _shards(kept)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([0], pa.int32()),
                pa.array([None], pa.binary()),
                pa.array([counter.dump()], pa.binary()),
            ],
            schema=SHARDS_SCHEMA,
        )

    return run


def count_shards(maps: Sequence[UnitMap]) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Second stage, mapInArrow over the first one's rows, those of a shard together and in order of shards:
    takes off what came again."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        counter = Counter(maps, 1)
        shard = -1
        kept: list[Prints] = []
        for batch in batches:
            for counted in batch.column("counts").drop_null():
                counter.load(counted.as_buffer())
            # Rows of one shard are contiguous, and so are their prints: they are taken as one piece.
            numbers = batch.column("shard").to_numpy()
            data, offsets = key_buffers(batch.column("prints"))
            starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
            for start, end in pairwise([*starts, len(numbers)]):
                if numbers[start] != shard:
                    _take_off_repeats(counter, kept)
                    shard, kept = numbers[start], []
                kept.append(
                    data[offsets[start] : offsets[end]].view(np.uint32).reshape(-1, kernels.PRINT_WORDS)
                )
        _take_off_repeats(counter, kept)
        yield counter.to_batch()

    return run


def _take_off_repeats(counter: Counter, kept: Sequence[Prints]) -> None:
    """Every print but the first of its kind was one key too many."""
    prints = np.concatenate(kept) if kept else np.zeros((0, kernels.PRINT_WORDS), np.uint32)
    table = np.full(1 << (2 * len(prints) + 1).bit_length(), -1, np.int32)
    repeats = np.empty(len(prints), np.int64)
    again = prints[repeats[: kernels.find_repeats(prints, table, repeats)]]
    hashes = {name: np.ascontiguousarray(again[:, place]) for place, name in enumerate(_PRINT_HASHES)}
    zeros = np.zeros(len(again), np.int64)
    counter.add_hashes(hashes, np.full(len(again), -1, np.int64), zeros, zeros, zeros)


def _shards(kept: Sequence[Prints]) -> pa.RecordBatch:
    """Prints as one row per shard; the column's buffer is the sorted array itself."""
    prints = np.concatenate(kept)
    sizes = np.zeros(kernels.SHARDS, np.int64)
    kernels.shard_sizes(prints, sizes)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    by_shard = np.empty_like(prints)
    kernels.shard_fill(prints, ends[:-1].copy(), by_shard)
    offsets = (ends * 4 * kernels.PRINT_WORDS).astype(np.int32)
    column = pa.Array.from_buffers(
        pa.binary(), kernels.SHARDS, [None, pa.py_buffer(offsets), pa.py_buffer(by_shard)]
    )
    shards = pa.array(np.arange(kernels.SHARDS, dtype=np.int32))
    return pa.RecordBatch.from_arrays(
        [shards, column, pa.nulls(kernels.SHARDS, pa.binary())], schema=SHARDS_SCHEMA
    )


def _hashes_of(keys: pa.Array, maps: Sequence[UnitMap]) -> dict[str, NDArray[np.uint32]]:
    return {name: _HASHES[name](keys) for name in dict.fromkeys(each.hash for each in maps)}


def _are_empty(keys: pa.Array) -> NDArray[np.bool_]:
    """Of a column without nulls, which keys have no bytes."""
    _, offsets = key_buffers(keys)
    empty: NDArray[np.bool_] = offsets[1:] == offsets[:-1]
    return empty


def _numbers(column: pa.Array) -> Int64s:
    numbers: Int64s = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return numbers
