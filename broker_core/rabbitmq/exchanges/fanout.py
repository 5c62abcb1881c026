"""Fanout: to all bindings, whatever their keys and the message's.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_fanout. Vectors: rabbitmq/direct_fanout_headers.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from broker_core.rabbitmq.exchanges.base import Binding, Counted, Destination, ExchangeType, Explanation
from broker_core.rabbitmq.values import Table


class Fanout(ExchangeType):
    name = "fanout"

    def __init__(self, bindings: Iterable[Binding] = ()) -> None:
        self._destinations = Counted()
        super().__init__(bindings)

    def route(self, routing_keys: Sequence[str], headers: Table) -> Sequence[Destination]:
        self._destinations.messages += 1
        return sorted(self._destinations)

    def messages_at(self, binding: Binding) -> int:
        return self._destinations.messages

    def add(self, binding: Binding) -> None:
        self._destinations.add(binding.destination)

    def remove(self, binding: Binding) -> None:
        self._destinations.remove(binding.destination)

    def explain_binding(self, binding: Binding, routing_key: str, headers: Table) -> Explanation:
        return Explanation(binding, True)


EXCHANGE = Fanout
