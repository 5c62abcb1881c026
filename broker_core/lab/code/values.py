"""A variable's value as a short text: what a reader of the algorithm wants to see of it."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import islice
from typing import TypeVar

ITEMS, DEPTH, LENGTH = 12, 4, 400
MORE = "…"
Item = TypeVar("Item")


def text_of(value: object, depth: int = DEPTH) -> str:
    """At most LENGTH characters, the same in every process.

    >>> text_of({"c1": [("t", 0), ("t", 1)]}), text_of(b"N1"), text_of(list(range(20)))
    ("{'c1': [('t', 0), ('t', 1)]}", "b'N1'", '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … 8 more]')
    """
    text = _text(value, depth)
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 1]}{MORE}"


def _text(value: object, depth: int) -> str:
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, bool | int | float | str | bytes | bytearray):
        return repr(value)
    if depth == 0:
        return MORE
    if isinstance(value, Mapping):
        pairs = (f"{_text(key, depth - 1)}: {_text(each, depth - 1)}" for key, each in _first(value.items()))
        return f"{{{_joined(pairs, len(value))}}}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _named(value, [(name, getattr(value, name)) for name in value._fields], depth)
    if isinstance(value, Set):
        ordered = sorted(value, key=repr)
        return f"{{{_joined((_text(each, depth - 1) for each in _first(ordered)), len(value))}}}"
    if isinstance(value, Sequence):
        inside = _joined((_text(each, depth - 1) for each in _first(value)), len(value))
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return _object(value, depth)


def _object(value: object, depth: int) -> str:
    """An object of ours by its class and what it holds; a function by its name; what is neither by its class."""
    if isinstance(value, type):
        return value.__name__
    if callable(value) and hasattr(value, "__name__"):
        return f"{value.__name__}()"
    if is_dataclass(value):
        return _named(value, [(each.name, getattr(value, each.name, None)) for each in fields(value)], depth)
    names = [name for name in _names_of(value) if not name.startswith("__")]
    return _named(value, [(name, getattr(value, name, None)) for name in names], depth)


def _names_of(value: object) -> list[str]:
    slots = [name for kind in type(value).__mro__ for name in _as_names(getattr(kind, "__slots__", ()))]
    return [*getattr(value, "__dict__", {}), *(name for name in slots if hasattr(value, name))]


def _as_names(slots: object) -> Sequence[str]:
    return (slots,) if isinstance(slots, str) else tuple(slots)  # type: ignore[arg-type]


def _named(value: object, parts: list[tuple[str, object]], depth: int) -> str:
    """Own parts whose name begins with a mark are how it works inside, and come last; what is empty is left out."""
    there = [part for part in parts if not (part[1] is None or _is_empty(part[1]))]
    ordered = sorted(there, key=lambda part: part[0].startswith("_"))
    inside = _joined((f"{name}={_text(each, depth - 1)}" for name, each in _first(ordered)), len(ordered))
    return f"{type(value).__name__}({inside})"


def _is_empty(value: object) -> bool:
    return isinstance(value, str | bytes | Mapping | Sequence | Set) and not value


def _first(items: Iterable[Item]) -> Iterable[Item]:
    return islice(items, ITEMS)


def _joined(parts: Iterable[str], count: int) -> str:
    text = ", ".join(parts)
    return f"{text}, {MORE} {count - ITEMS} more" if count > ITEMS else text
