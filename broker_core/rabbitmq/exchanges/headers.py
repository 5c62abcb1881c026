"""Headers: to the bindings whose arguments the message's headers fulfil, all of them or any. Routing keys play no
part.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_headers. Vectors: rabbitmq/direct_fanout_headers.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.rabbitmq.erlang import term
from broker_core.rabbitmq.exchanges.base import Binding, Destination, ExchangeType, Explanation, Identity
from broker_core.rabbitmq.exchanges.comparable import by_class
from broker_core.rabbitmq.exchanges.header_match import (
    X_MATCH,
    X_MATCHES,
    Criteria,
    compare_headers,
    x_match_of,
)
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.values import Table, type_name, type_of


class Headers(ExchangeType):
    name = "headers"

    def __init__(self, arguments: Table | None = None) -> None:
        self._criteria: dict[Identity, Criteria] = {}
        super().__init__(arguments)

    @staticmethod
    def check(routing_key: str, arguments: Table) -> str:
        x_match = arguments.get(X_MATCH, "all")
        if type_of(x_match) != "S":
            kind = type_name(x_match)
            return f"Invalid x-match field type {kind} (value {term(x_match)}); expected longstr"
        if x_match not in X_MATCHES:
            return (
                f"Invalid x-match field value {term(x_match)}; expected all, any, all-with-x, or any-with-x"
            )
        return ""

    def route(self, routing_keys: Sequence[str], properties: Properties) -> Sequence[Destination]:
        received = _received(properties)
        found = set()
        for identity, criteria in self._criteria.items():
            if criteria.is_fulfilled(received):
                criteria.messages += 1
                found.add(identity[0])
        return sorted(found)

    def messages_at(self, binding: Binding) -> int:
        return self._criteria[binding.identity].messages

    def add(self, binding: Binding) -> None:
        self._criteria[binding.identity] = Criteria(binding.arguments)

    def remove(self, binding: Binding) -> None:
        del self._criteria[binding.identity]

    def explain_binding(self, binding: Binding, routing_key: str, properties: Properties) -> Explanation:
        received = _received(properties)
        return Explanation(
            binding,
            Criteria(binding.arguments).is_fulfilled(received),
            x_match=x_match_of(binding.arguments),
            pairs=compare_headers(binding.arguments, properties.headers or {}),
        )


def _received(properties: Properties) -> dict[str, Any]:
    return {name: by_class(value) for name, value in (properties.headers or {}).items()}


EXCHANGE = Headers
