"""Rows of the recorded files, the values that they hold, and what a runner says of a row with one of them
changed."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from broker_core.conformance.kinds import KINDS, Kind
from broker_core.conformance.result import CaseResult

VECTORS = Path(__file__).parents[2] / "vectors"

Json = dict[str, Any]
Place = tuple[str | int, ...]


def kind_named(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


@cache
def recorded(file: str) -> Json:
    """A file's document. file: folder and name without suffix, as tests/vectors/README.md has it. Change
    copies of its rows only."""
    document: Json = json.loads(gzip.decompress((VECTORS / f"{file}.json.gz").read_bytes()))
    return document


def run_rows(kind: str, file: str, section: str, rows: list[Any]) -> list[CaseResult]:
    """These rows of one list, the file's other lists empty."""
    emptied = {name: [] if _is_list_of_rows(value) else value for name, value in recorded(file).items()}
    return list(kind_named(kind).run(emptied | {section: rows}))


def _is_list_of_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict | list)


def is_noticed(kind: str, file: str, section: str, row: Any) -> bool:
    """Whether the runner does not pass the row; a row that cannot even be read counts."""
    try:
        return [result.outcome for result in run_rows(kind, file, section, [row])] != ["passed"]
    except (LookupError, TypeError, ValueError, AttributeError):
        return True


def values(row: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every single value of a row, and every list, with its place."""
    if isinstance(row, dict):
        for name, value in row.items():
            yield from values(value, (*place, name))
    elif isinstance(row, list):
        yield place, row
        for index, value in enumerate(row):
            yield from values(value, (*place, index))
    else:
        yield place, row


def at(row: Any, place: Place) -> Any:
    for step in place:
        row = row[step]
    return row


def with_other(row: Any, place: Place) -> Any:
    """A copy of the row with another value at that place: a number one higher, a text longer, a list without
    its last item."""
    changed = copy.deepcopy(row)
    value = at(changed, place)
    other: object
    match value:
        case bool():
            other = not value
        case int():
            other = value + 1
        case None:
            other = 1
        case list():
            other = value[:-1] if value else [1]
        case _:
            other = f"{value}x"
    at(changed, place[:-1])[place[-1]] = other
    return changed


def shape_of(place: Place) -> str:
    """A place without the numbers of its lists: `steps.*.after.hw`."""
    return ".".join("*" if isinstance(step, int) else step for step in place)
