"""What Spark's Python workers do with keys: which unit of each map a key is in, and counts by unit. Nothing here
imports pyspark or Django."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from broker_core.hashing.columns import (
    java_column,
    key_buffers,
    murmur2_column,
    murmur3_column,
    phash2_column,
)
from broker_core.pipeline import unit_kernels as kernels
from broker_core.pipeline.strategies.base import Int64s
from broker_core.pipeline.units import Int32s, UnitMap

NO_KEY, EMPTY_KEY = -1, -2
"""Map numbers of the counts of records without a key and with an empty one; their unit is the place."""

COUNTS_SCHEMA = pa.schema(
    [
        ("map", pa.int32()),
        ("unit", pa.int64()),
        ("keys", pa.int64()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
    ]
)

Batches = Iterable[pa.RecordBatch]
_HASHES: dict[str, Callable[[pa.Array], NDArray[np.uint32]]] = {
    "murmur3": murmur3_column,
    "murmur2": lambda keys: murmur2_column(keys).view(np.uint32),
    "java": java_column,
    "phash2": phash2_column,
}


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


def _hashes_of(keys: pa.Array, maps: Sequence[UnitMap]) -> dict[str, NDArray[np.uint32]]:
    return {name: _HASHES[name](keys) for name in dict.fromkeys(each.hash for each in maps)}


def _are_empty(keys: pa.Array) -> NDArray[np.bool_]:
    """Of a column without nulls, which keys have no bytes."""
    _, offsets = key_buffers(keys)
    empty: NDArray[np.bool_] = offsets[1:] == offsets[:-1]
    return empty
