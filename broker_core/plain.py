"""State as plain data and back, by its annotations; integer keys of dicts stay integers."""

from collections import deque
from typing import Any, get_args, get_origin

import msgspec

from broker_core.errors import InvariantError


def to_plain(value: object) -> Any:
    """Dataclasses, deques and everything with `to_json`, as dicts, lists and scalars."""
    return msgspec.to_builtins(value, enc_hook=_to_list)


def from_plain(value: Any, wanted: Any) -> Any:
    """What `to_plain` was given, of the type `wanted`."""
    return msgspec.convert(value, wanted, dec_hook=_from_plain)


def _to_list(value: object) -> object:
    if isinstance(value, deque):
        return list(value)
    to_json = getattr(value, "to_json", None)
    if to_json is None:
        raise InvariantError(f"{type(value)} cannot be part of a checkpoint")
    return to_json()


def _from_plain(wanted: type, value: Any) -> Any:
    if get_origin(wanted) is deque:
        (item,) = get_args(wanted)
        return deque(from_plain(value, list[item]))  # type: ignore[valid-type]
    from_json = getattr(wanted, "from_json", None)
    if from_json is None:
        raise InvariantError(f"{wanted} cannot be part of a checkpoint")
    return from_json(value)
