"""Fanout: to all bindings, whatever their keys and the message's.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_fanout. Vectors: rabbitmq/direct_fanout_headers.json.
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.rabbitmq.exchanges.base import Binding, Counted, Destination, ExchangeType, Explanation
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.values import Table


class Fanout(ExchangeType):
    name = "fanout"

    def __init__(self, arguments: Table | None = None) -> None:
        self._destinations = Counted()
        super().__init__(arguments)

    def route(self, routing_keys: Sequence[str], properties: Properties) -> Sequence[Destination]:
        self._destinations.messages += 1
        return sorted(self._destinations)

    def messages_at(self, binding: Binding) -> int:
        return self._destinations.messages

    def add(self, binding: Binding) -> None:
        self._destinations.add(binding.destination)

    def remove(self, binding: Binding) -> None:
        self._destinations.remove(binding.destination)

    def explain_binding(self, binding: Binding, routing_key: str, properties: Properties) -> Explanation:
        return Explanation(binding, True)


EXCHANGE = Fanout
