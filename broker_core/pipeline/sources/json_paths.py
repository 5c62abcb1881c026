"""Fields inside the objects of JSON: `payload.after.customer_id`. A field of that very name comes first: names with a dot
exist. A path that goes through an array is none: it would be several values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from broker_core.errors import CommandError
from broker_core.pipeline.sources.files import head_of
from broker_core.pipeline.sources.json_layout import LINES
from broker_core.pipeline.sources.json_values import objects_in

HEAD_BYTES = 1 << 20
OBJECTS_MAX = 1_000
DEPTH_MAX = 8
COLUMNS_MAX = 1_000
ARRAY = "{name} goes through an array, which may hold several values; a key is one value per record"

FieldPath = tuple[str, ...]
# A text that does not end reaches to the end: what is in it is not looked at again from each of its quotes.
_NOT_A_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*+"?|-?\b(?:NaN|Infinity)\b', re.DOTALL)
_ANY = msgspec.json.Decoder(dict[str, Any])


def head_objects(path: Path, encoding: str, layout: str) -> list[dict[str, Any]]:
    """The objects of a file's first megabyte, as far as they can be read. Raises CommandError as `head_of` does."""
    head = head_of(path, HEAD_BYTES, encoding)
    found = []
    for raw in objects_in(head, layout, is_final=len(head) < HEAD_BYTES)[:OBJECTS_MAX]:
        try:
            found.append(_ANY.decode(plain_numbers(raw)))
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError):
            continue
    return found


def flat(row: dict[str, Any], before: str = "", depth: int = 1) -> dict[str, Any]:
    """An object's values by their paths; what is empty or too deep stays an object.

    >>> flat({"a": {"b": 1, "c": [2]}, "d": {}})
    {'a.b': 1, 'a.c': [2], 'd': {}}
    """
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict) and value and depth < DEPTH_MAX:
            found |= flat(value, f"{before}{name}.", depth + 1)
        else:
            found[before + name] = value
    return found


def columns_in(objects: Iterable[dict[str, Any]]) -> list[str]:
    """What can be named of these objects, in order of appearance: a path that is an object somewhere and a value elsewhere
    as well, and objects themselves last."""
    rows = list(objects)
    names: dict[str, None] = {}
    for row in rows:
        names |= dict.fromkeys(flat(row))
    for row in rows:
        names |= dict.fromkeys(row)
    return list(names)[:COLUMNS_MAX]


def json_paths(path: Path, names: Sequence[str], encoding: str, layout: str = LINES) -> dict[str, FieldPath]:
    """Each name as a path into the file's objects."""
    if not any("." in name for name in names):
        return {name: (name,) for name in names}
    literal = {name for row in head_objects(path, encoding, layout) for name in row}
    return {name: (name,) if name in literal or "." not in name else tuple(name.split(".")) for name in names}


def ensure_no_array(field: str, name: str, objects: Iterable[dict[str, Any]]) -> None:
    """Raise CommandError at `source.<field>` where a path goes through an array in one of the objects."""
    for row in objects:
        if name in row:
            continue
        value: Any = row
        for step in name.split("."):
            if isinstance(value, list):
                raise CommandError(f"source.{field}", ARRAY, name=name[:100])
            value = value.get(step) if isinstance(value, dict) else None


@cache
def step_decoder(name: str) -> Any:
    """Takes one field out of an object, as its bytes."""
    fields: list[Any] = [("f", msgspec.Raw | msgspec.UnsetType, msgspec.UNSET)]
    return msgspec.json.Decoder(msgspec.defstruct("Step", fields, rename={"f": name}))


def plain_numbers(raw: bytes) -> bytes:
    """NaN and Infinity, which Python, Spark and pandas write into JSON, as null."""
    if b"NaN" not in raw and b"Infinity" not in raw:
        return raw
    return _NOT_A_NUMBER.sub(lambda found: found[0] if found[0].startswith(b'"') else b"null", raw)
