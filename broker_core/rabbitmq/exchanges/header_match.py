"""A message's headers and the arguments of a headers binding, one by one.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_headers, headers_match; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from typing import Any

from broker_core.rabbitmq.exchanges.base import HeaderMatch
from broker_core.rabbitmq.exchanges.comparable import by_class
from broker_core.rabbitmq.values import Table, type_of

X_MATCH = "x-match"
ALL, ANY, ALL_WITH_X, ANY_WITH_X = "all", "any", "all-with-x", "any-with-x"
X_MATCHES = (ALL, ANY, ALL_WITH_X, ANY_WITH_X)

_VOID = by_class(None)
_ABSENT = object()


class Criteria:
    """What a binding wants, read once.

    wants: (name, value as `by_class` gives it); a void value asks only that the header is there. With none left,
    "all" fits every message and "any" none. messages: those that fulfilled it, as the exchange counts them.
    """

    __slots__ = ("is_all", "messages", "wants")

    def __init__(self, arguments: Table) -> None:
        x_match = x_match_of(arguments)
        self.is_all = x_match in (ALL, ALL_WITH_X)
        self.messages = 0
        self.wants = [
            (name, by_class(value)) for name, value in arguments.items() if is_counted(name, x_match)
        ]

    def is_fulfilled(self, received: dict[str, Any]) -> bool:
        """received: the message's headers, each as `by_class` gives it."""
        for name, wanted in self.wants:
            is_match = name in received and (wanted == _VOID or received[name] == wanted)
            if is_match is not self.is_all:
                return is_match
        return self.is_all


def x_match_of(arguments: Table) -> str:
    return str(arguments.get(X_MATCH, ALL))


def is_counted(name: str, x_match: str) -> bool:
    """Whether an argument is one of the wanted headers: x-match itself never is, and others that begin with
    "x-" only with "-with-x"."""
    return name != X_MATCH and (x_match in (ALL_WITH_X, ANY_WITH_X) or not name.startswith("x-"))


def compare_headers(arguments: Table, headers: Table) -> tuple[HeaderMatch, ...]:
    """Every argument beside the header of its name, in the binding's order."""
    x_match = x_match_of(arguments)
    pairs = []
    for name, wanted in arguments.items():
        if name == X_MATCH:
            continue
        received = headers.get(name, _ABSENT)
        is_present = received is not _ABSENT
        is_match = is_present and (type_of(wanted) == "V" or by_class(wanted) == by_class(received))
        shown = received if is_present else None
        pairs.append(HeaderMatch(name, wanted, shown, is_present, is_counted(name, x_match), is_match))
    return tuple(pairs)
