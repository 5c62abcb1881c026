"""State as plain data and back, by its annotations; integer keys of dicts stay integers."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import accumulate
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from broker_core.errors import InvariantError


def to_plain(value: object) -> Any:
    """Dataclasses, deques and everything with `to_json`, as dicts, lists, scalars and bytes."""
    return msgspec.to_builtins(value, enc_hook=_to_list, builtin_types=(bytes,))


def from_plain(value: Any, wanted: Any) -> Any:
    """What `to_plain` was given, of the type `wanted`."""
    return msgspec.convert(value, wanted, dec_hook=_from_plain)


def kept(thing: object, state: type) -> dict[str, Any]:
    """What a checkpoint holds of a thing: the fields that `state`, a dataclass which its class extends,
    declares once for all."""
    return {each.name: to_plain(getattr(thing, each.name)) for each in fields(state)}


def take_back(thing: object, state: type, plain: Mapping[str, Any]) -> None:
    """Give a thing the fields that `kept` took of it."""
    hints = get_type_hints(state)
    for each in fields(state):
        setattr(thing, each.name, from_plain(plain[each.name], hints[each.name]))


def to_steps(numbers: Iterable[int]) -> list[int]:
    """Each number as what it has more than the one before it: where they ascend, the steps are short, and
    much alike.

    >>> to_steps([1_000, 1_001, 1_002, 1_010])
    [1000, 1, 1, 8]
    """
    steps, before = [], 0
    for number in numbers:
        steps.append(number - before)
        before = number
    return steps


def from_steps(steps: Iterable[int]) -> list[int]:
    """What `to_steps` was given.

    >>> from_steps([1_000, 1, 1, 8])
    [1000, 1001, 1002, 1010]
    """
    return list(accumulate(steps))


def _to_list(value: object) -> object:
    to_json = getattr(value, "to_json", None)
    if to_json is not None:
        return to_json()
    if isinstance(value, deque):
        return list(value)
    raise InvariantError(f"{type(value)} cannot be part of a checkpoint")


def _from_plain(wanted: type, value: Any) -> Any:
    if get_origin(wanted) is deque:
        (item,) = get_args(wanted)
        return deque(from_plain(value, list[item]))  # type: ignore[valid-type]
    if get_origin(wanted) is Counter:
        (item,) = get_args(wanted)
        return Counter(from_plain(value, dict[item, int]))  # type: ignore[valid-type]
    from_json = getattr(wanted, "from_json", None)
    if from_json is None:
        raise InvariantError(f"{wanted} cannot be part of a checkpoint")
    return from_json(value)
