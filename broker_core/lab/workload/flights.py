"""The default workload: real flights in order of their schedule, keyed by aircraft, airline, route or
airport."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from broker_core.lab.workload.base import EvenArrivals, distinct_codes
from broker_core.lab.workload.flights_table import COLUMNS, MISSING, NO_CODE, Flights, data_dir, open_flights

# What a person may choose as the key -> the column of the table.
KEY_COLUMNS = {"tail_number": "tailnum", "carrier": "carrier", "route": "route", "origin": "origin"}


@dataclass(slots=True)
class FlightsWorkload(EvenArrivals):
    """Record i is flight i; after the last flight the data starts over and the record index runs on.

    key_by: a name in KEY_COLUMNS. A flight without tail number is a record without key when keyed by tail
    number.
    """

    rate: int
    key_by: str
    key_count: int | None = field(init=False)
    _flights: Flights = field(init=False, repr=False)
    _codes: list[int] = field(init=False, repr=False)
    _keys: list[str] = field(init=False, repr=False)
    _sizes: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        folder = data_dir()
        self._flights = open_flights(folder)
        column = KEY_COLUMNS[self.key_by]
        self._keys = self._flights.texts[column]
        self.key_count = len(self._keys)
        self._codes = _codes_of(folder, column)
        self._sizes = _sizes_of(folder)

    @property
    def row_count(self) -> int:
        """Flights in one pass over the data."""
        return len(self._codes)

    def key_code(self, index: int) -> int:
        """The code of the record's key; -1: it has none."""
        return self._codes[index % len(self._codes)]

    def codes_of(self, records: Sequence[int]) -> list[int]:
        """The key codes of these records."""
        codes = self._codes
        try:
            return list(map(codes.__getitem__, records))
        except IndexError:  # beyond the first pass over the data
            return [codes[index % len(codes)] for index in records]

    def key_codes(self, start: int, stop: int) -> list[int]:
        """The key codes of records start..stop-1."""
        codes = self._codes
        first = start % len(codes)
        if first + stop - start <= len(codes):
            return codes[first : first + stop - start]
        return [codes[index % len(codes)] for index in range(start, stop)]

    def key(self, code: int) -> str:
        """The key's text: "N14228", "UA", "JFK-LAX" or "JFK"."""
        return self._keys[code]

    def code_of(self, key: str) -> int | None:
        """The code of the key with this text; None: no record can have it."""
        return self._keys.index(key) if key in self._keys else None

    def distinct_until(self, count: int) -> tuple[list[int], list[int]]:
        """Codes of the keys among the first `count` records by first appearance, and the record in which each
        appeared first."""
        return distinct_codes(self._flights.columns[KEY_COLUMNS[self.key_by]][: min(count, self.row_count)])

    def row(self, index: int) -> dict[str, str | int | None]:
        """What the page's strip shows of the record: the flight, its date (ISO) and its scheduled time."""
        value, place = self._flights.value, index % self.row_count
        year, month, day, scheduled = (int(self._flights.columns[name][place]) for name in _SCHEDULE)
        return {
            "carrier": value("carrier", place),
            "flight": value("flight", place),
            "origin": value("origin", place),
            "dest": value("dest", place),
            "date": f"{year:04}-{month:02}-{day:02}",
            "time": f"{scheduled // 100:02}:{scheduled % 100:02}",
        }

    def payload(self, index: int) -> str:
        """The whole row as JSON, fields in the package's order; whole numbers as integers, missing as
        null."""
        place = index % self.row_count
        return _JSON.encode({name: self._flights.value(name, place) for name in COLUMNS})

    def size(self, index: int) -> int:
        """Of the payload, in bytes."""
        return self._sizes[index % len(self._sizes)]

    def to_json(self) -> dict[str, Any]:
        """What `workload_from_json` reads back."""
        return {"kind": "flights", "key": self.key_by, "rate": self.rate}

    def view(self, record_count: int) -> dict[str, Any]:
        """The view's `workload`; loop: how many times the data has been used up."""
        return self.to_json() | {"keys": list(KEY_COLUMNS), "loop": record_count // self.row_count}


_JSON = json.JSONEncoder(separators=(",", ":"))
_SCHEDULE = ("year", "month", "day", "sched_dep_time")


@lru_cache(maxsize=4)
def _sizes_of(folder: Path) -> list[int]:
    """How many bytes the payload of each row has, once per table for all labs of the process: added up by
    column, since to write all rows would take seconds."""
    flights = open_flights(folder)
    names = len(_JSON.encode(dict.fromkeys(COLUMNS, 0))) - len(COLUMNS)
    sizes = np.full(len(flights.columns[COLUMNS[0]]), names, dtype=np.int32)
    for name in COLUMNS:
        column, texts = flights.columns[name], flights.texts.get(name)
        low, high = int(column.min()), int(column.max())
        shown = (
            range(low, high + 1) if texts is None else [texts[code] for code in range(max(low, 0), high + 1)]
        )
        lengths = [len(_JSON.encode(value)) for value in shown]
        if texts is not None and low == NO_CODE:
            lengths.insert(0, len("null"))
        elif texts is None and low == MISSING:
            lengths[0] = len("null")
        sizes += np.array(lengths, dtype=np.int32)[column.astype(np.int32) - low]
    each: list[int] = sizes.tolist()
    return each


@lru_cache(maxsize=16)
def _codes_of(folder: Path, column: str) -> list[int]:
    """The code of each row, once per table and key for all labs of the process: 8 bytes a row, since alike
    codes are one number."""
    codes = open_flights(folder).columns[column]
    numbers = np.array(
        [*range(int(codes.max()) + 1), NO_CODE], dtype=object
    )  # code -1, nothing, picks the last entry
    each: list[int] = numbers[codes].tolist()
    return each
