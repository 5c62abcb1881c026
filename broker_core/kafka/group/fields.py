"""A message of the coordinator from a mapping of its fields, as recorded answers and programs write it.

The messages themselves are arrays where they are kept (`messages.py`), so they cannot be read from names
directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec


def from_fields(value: Any, wanted: Any) -> Any:
    """A value of the type `wanted`, structs in it from mappings by field name; what is left out is at its
    default, and what we do not have (a field of an old version) is passed over.

    Raises msgspec.ValidationError for a value of another type, TypeError for a field that is missing.

    >>> from broker_core.kafka.group.messages import HeartbeatRequest
    >>> from_fields({"group_id": "g", "generation_id": 3, "member_id": "m"}, HeartbeatRequest).generation_id
    3
    """
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct) and isinstance(value, Mapping):
        hints = get_type_hints(wanted)
        return wanted(
            **{name: from_fields(part, hints[name]) for name, part in value.items() if name in hints}
        )
    if get_origin(wanted) is list and isinstance(value, list):
        (item,) = get_args(wanted)
        return [from_fields(part, item) for part in value]
    some = [kind for kind in get_args(wanted) if kind is not NoneType]
    if value is not None and len(some) == 1:
        return from_fields(value, some[0])
    return msgspec.convert(value, wanted)
