"""What a check asks of a number, and what came."""

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from types import MappingProxyType
from typing import Any

from broker_core.events import Json
from broker_core.lab.lesson.numbers import NOTHING

ASKS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {"is": eq, "is_not": ne, "at_least": ge, "at_most": le, "more_than": gt, "less_than": lt}
)
EXACT = ("is", "is_not")
"""These two may also ask for a text, for true or false, and for "nothing"."""


def holds(came: Any, asks: Json) -> bool:
    """Whether what came is what was asked for, all of it.

    >>> holds(6, {"at_least": 5, "at_most": 7}), holds(None, {"at_least": 0}), holds(None, {"is": "nothing"})
    (True, False, True)
    """
    return all(_holds(came, name, wanted) for name, wanted in asks.items())


def _holds(came: Any, name: str, wanted: Any) -> bool:
    if name in EXACT:
        came = NOTHING if came is None else came
        # 1 is not true, here.
        return ASKS[name]((isinstance(came, bool), came), (isinstance(wanted, bool), wanted))
    return isinstance(came, int | float) and not isinstance(came, bool) and ASKS[name](came, wanted)
