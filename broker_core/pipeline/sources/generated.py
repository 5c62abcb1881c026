"""Workloads that need no upload: made-up keys, the flights, a lab's own records. All follow from their
index, so any task makes any part.

zipf, uniform   the lab's own draws: record i of seed s has the key that it has in a lab of seed s
lab, flights    the lab's workload itself; a flight's time is that of its schedule, a lab record's that of its arrival
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.hashing.compiled import compiled
from broker_core.lab.limits import Limits
from broker_core.lab.workload.base import Workload
from broker_core.lab.workload.draws import draws, scale, zipf_table
from broker_core.lab.workload.flights import FlightsWorkload
from broker_core.lab.workload.flights_table import (
    COLUMNS,
    MISSING,
    NO_CODE,
    data_dir,
    open_flights,
    set_data_dir,
)
from broker_core.lab.workload.parse import workload_from_json

KEYS_MAX = {"zipf": 1_000_000, "uniform": 2**53}
RECORDS_MAX = 10**11
EXPONENT_MAX = 5
BATCH_ROWS = 1 << 18
"""Made in one piece; a Spark batch has a quarter of it."""
LAB_BATCH_ROWS = 1 << 14
KEY_PREFIX = b"key-"
_DIGITS_MAX = 20
_GUIDE_BITS = 16
_STREAM = 0  # the stream of draws that says the key, as in broker_core/lab/workload/synthetic.py

RECORDS = pa.schema(
    [("key", pa.binary()), ("at_us", pa.int64()), ("bytes", pa.int64()), ("ordinal", pa.int64())]
)


def made_up_part(spec: Json, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Records start..stop-1 of a zipf or uniform source."""
    for first in range(start, stop, BATCH_ROWS):
        last = min(stop, first + BATCH_ROWS)
        yield _records(number_keys(made_up_codes(spec, first, last)), first, last)


def made_up_codes(spec: Json, start: int, stop: int) -> NDArray[np.int64]:
    """The numbers of the keys of records start..stop-1."""
    drawn = draws(spec["seed"], _STREAM, start, stop)
    if spec["kind"] == "uniform":
        return scale(drawn, spec["keys"]).astype(np.int64)
    table, guide, shift = _zipf(spec["keys"], round(spec["exponent"] * 1_000))
    codes = np.empty(len(drawn), np.int64)
    find_codes(scale(drawn, int(table[-1])), table, guide, shift, codes)
    return codes


def number_keys(codes: NDArray[np.int64]) -> pa.Array:
    """Keys "key-<number>" as Arrow binary.

    >>> number_keys(np.array([0, 17])).to_pylist()
    [b'key-0', b'key-17']
    """
    offsets = np.empty(len(codes) + 1, np.int32)
    out = np.empty(len(codes) * (len(KEY_PREFIX) + _DIGITS_MAX), np.uint8)
    size = write_keys(codes, np.frombuffer(KEY_PREFIX, np.uint8), offsets, out)
    return pa.Array.from_buffers(
        pa.binary(), len(codes), [None, pa.py_buffer(offsets), pa.py_buffer(out[:size].copy())]
    )


@compiled
def write_keys(codes: Any, prefix: Any, offsets: Any, out: Any) -> int:
    """Write prefix and decimal number of each code one after another; return the number of bytes written."""
    written = 0
    for row in range(len(codes)):
        offsets[row] = written
        for index in range(len(prefix)):
            out[written + index] = prefix[index]
        written += len(prefix)
        digits = 1
        rest = codes[row] // 10
        while rest:
            digits += 1
            rest //= 10
        rest = codes[row]
        for place in range(written + digits - 1, written - 1, -1):
            out[place] = 48 + rest % 10
            rest //= 10
        written += digits
    offsets[len(codes)] = written
    return written


@compiled
def find_codes(drawn: Any, table: Any, guide: Any, shift: int, codes: Any) -> None:
    """The first entry of `table` above each draw, as `searchsorted(..., side="right")`.

    guide: where the search may begin, for each value of the draw's upper bits, and where it ends one entry
    later; it saves the cache misses of the first halvings, which are most of the search.
    """
    for row in range(len(drawn)):
        draw = drawn[row]
        cell = draw >> shift
        low, high = guide[cell], guide[cell + 1]
        while low < high:
            middle = (low + high) // 2
            if table[middle] > draw:
                high = middle
            else:
                low = middle + 1
        codes[row] = low


@lru_cache(maxsize=4)
def _zipf(keys: int, exponent_milli: int) -> tuple[Any, Any, Any]:
    table = zipf_table(keys, exponent_milli)
    shift = max(0, int(table[-1]).bit_length() - _GUIDE_BITS)
    cells = (int(table[-1]) >> shift) + 2
    edges = np.arange(cells, dtype=np.uint64) << np.uint64(shift)
    guide = np.minimum(np.searchsorted(table, edges, side="right"), keys - 1)
    return table, guide.astype(np.int64), np.uint64(shift)


def _records(keys: pa.Array, first: int, last: int) -> pa.RecordBatch:
    count = last - first
    sizes = np.diff(np.frombuffer(keys.buffers()[1], np.int32, count + 1)).astype(np.int64)
    return pa.RecordBatch.from_arrays(
        [
            keys,
            pa.nulls(count, pa.int64()),
            pa.array(sizes),
            pa.array(np.arange(first, last, dtype=np.int64)),
        ],
        schema=RECORDS,
    )


def lab_workload(spec: Json, folder: Path | None = None) -> tuple[Workload, int]:
    """The workload of a lab or flights source, and how many records are asked for. folder: where the flights
    are, if not in the usual place.

    Raises CommandError at source.scenario... or source.key.
    """
    if folder is not None and folder != data_dir():
        set_data_dir(folder)
    try:
        if spec["kind"] == "flights":
            workload = workload_from_json({"kind": "flights", "key": spec["key"]})
            return workload, spec.get("records") or _flight_count(workload)
        scenario = spec["scenario"]
        # A lab that a person made with higher limits than ours is still theirs to study.
        return workload_from_json(
            scenario.get("workload", {}), Limits(records_per_second_max=10**9), scenario.get("seed", 7)
        ), spec["records"]
    except CommandError as error:
        field = "source.key" if error.field == "workload.key" else f"source.scenario.{error.field}"
        raise CommandError(
            "source.kind" if error.field == "workload.kind" else field, error.template, **error.values
        ) from error


def lab_part(spec: Json, start: int, stop: int, folder: Path | None = None) -> Iterator[pa.RecordBatch]:
    """Records start..stop-1 of a lab or flights source. bytes: key and payload, as the lab would send
    them."""
    workload, _ = lab_workload(spec, folder)
    is_flights = spec["kind"] == "flights"
    for first in range(start, stop, LAB_BATCH_ROWS):
        last = min(stop, first + LAB_BATCH_ROWS)
        codes = workload.key_codes(first, last)
        known = {code: workload.key_bytes(code) for code in set(codes) if code >= 0}
        keys = [known.get(code) for code in codes]
        payloads = (
            flight_payload_sizes(first, last)
            if is_flights
            else [len(workload.payload(index).encode()) for index in range(first, last)]
        )
        sizes = [len(key or b"") + payload for key, payload in zip(keys, payloads, strict=True)]
        times = flight_times(workload, first, last) if is_flights else workload.arrival_times(first, last)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(keys, pa.binary()),
                pa.array(times, pa.int64()),
                pa.array(sizes, pa.int64()),
                pa.array(range(first, last), pa.int64()),
            ],
            schema=RECORDS,
        )


def flight_times(workload: Workload, first: int, last: int) -> NDArray[np.int64]:
    """Microseconds since 1970 of the scheduled departures, New York local time read as if it were UTC."""
    assert isinstance(workload, FlightsWorkload)
    flights = open_flights()
    rows = np.arange(first, last) % workload.row_count
    columns = {
        name: flights.columns[name][rows].astype(np.int64)
        for name in ("year", "month", "day", "sched_dep_time")
    }
    years = (columns["year"] - 1970).astype("datetime64[Y]")
    days = (
        years.astype("datetime64[M]") + (columns["month"] - 1) + np.timedelta64(0, "D") + (columns["day"] - 1)
    )
    minutes = columns["sched_dep_time"] // 100 * 60 + columns["sched_dep_time"] % 100
    return days.astype(np.int64) * 86_400 * SECOND_US + minutes * 60 * SECOND_US


def flight_payload_sizes(first: int, last: int) -> list[int]:
    """The bytes of the flights' payloads, which are their rows as JSON, without making them."""
    flights = open_flights()
    rows = np.arange(first, last) % len(flights.columns["year"])
    total = np.full(
        last - first,
        len(json.dumps(dict.fromkeys(COLUMNS, 0), separators=(",", ":"))) - len(COLUMNS),
        np.int64,
    )
    for name in COLUMNS:
        numbers = flights.columns[name][rows].astype(np.int64)
        values, places = np.unique(numbers, return_inverse=True)
        texts = flights.texts.get(name)
        if texts is None:
            shown: list[str | int | None] = [None if value == MISSING else int(value) for value in values]
        else:
            shown = [None if value == NO_CODE else texts[value] for value in values]
        total += np.array([len(json.dumps(value)) for value in shown], np.int64)[places]
    sizes: list[int] = total.tolist()
    return sizes


def _flight_count(workload: Workload) -> int:
    assert isinstance(workload, FlightsWorkload)
    return workload.row_count
