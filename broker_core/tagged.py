"""State whose types are open, as plain data and back: every value says what it is. For states that hold
requests of any kind.

    scalar   itself                      tuple  ["(", ...]        bytes            ["b", base64]
    list     ["[", ...]                  frozen set ["{", ...]    set              ["set", ...]
    dict     [":", key, value, ...]                               dataclass, struct ["ClassName", field, field, ...]

`plain.py` is for states whose annotations say all, which is shorter.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

from broker_core.errors import InvariantError

_SCALARS = (type(None), bool, int, float, str)


def to_tagged(value: Any) -> Any:
    """Plain JSON types. Sets come out sorted, so that the same state gives the same bytes in every process.

    >>> to_tagged({("t", 0): frozenset({2, 1})})
    [':', ['(', 't', 0], ['{', 1, 2]]
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is list:
        return ["[", *map(to_tagged, value)]
    if kind is dict:
        return [":", *(to_tagged(part) for pair in value.items() for part in pair)]
    if kind is bytes:
        return ["b", base64.b64encode(value).decode()]
    if kind is set or kind is frozenset:
        return ["set" if kind is set else "{", *map(to_tagged, sorted(value))]
    if is_dataclass(kind):
        return [kind.__name__, *(to_tagged(getattr(value, part.name)) for part in fields(kind))]
    if issubclass(kind, msgspec.Struct):
        return [kind.__name__, *(to_tagged(getattr(value, name)) for name in kind.__struct_fields__)]
    if kind is tuple:
        return ["(", *map(to_tagged, value)]
    raise InvariantError(f"{kind} cannot be part of a checkpoint")


def from_tagged(value: Any, kinds: Mapping[str, type]) -> Any:
    """What `to_tagged` was given. kinds: class name -> class, of all that may be in it."""
    if type(value) is not list:
        return value
    head, *parts = value
    if head == "b":
        return base64.b64decode(parts[0])
    made = [from_tagged(part, kinds) for part in parts]
    if head == "[":
        return made
    if head == "(":
        return tuple(made)
    if head == "{":
        return frozenset(made)
    if head == "set":
        return set(made)
    if head == ":":
        return dict(zip(made[::2], made[1::2], strict=True))
    return kinds[head](*made)


def kinds_of(*modules: Any, more: Iterable[type] = ()) -> dict[str, type]:
    """The dataclasses and structs that these modules define, by name."""
    found = {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type)
        and (is_dataclass(kind) or issubclass(kind, msgspec.Struct))
        and kind.__module__ == module.__name__
    }
    return found | {kind.__name__: kind for kind in more}
