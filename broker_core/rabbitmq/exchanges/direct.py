"""Direct: to the bindings whose key is the message's key, letter by letter. The default exchange is one, where
each queue is bound by its name.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_direct. Vectors: rabbitmq/direct_fanout_headers.json.
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.rabbitmq.exchanges.base import Binding, Counted, Destination, ExchangeType, Explanation
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.values import Table


class Direct(ExchangeType):
    name = "direct"

    def __init__(self, arguments: Table | None = None) -> None:
        self._by_key: dict[str, Counted] = {}
        super().__init__(arguments)

    def route(self, routing_keys: Sequence[str], properties: Properties) -> Sequence[Destination]:
        by_key = self._by_key
        places = [by_key[key] for key in set(routing_keys) if key in by_key]
        for place in places:
            place.messages += 1
        return sorted({destination for place in places for destination in place})

    def messages_at(self, binding: Binding) -> int:
        return self._by_key[binding.routing_key].messages

    def add(self, binding: Binding) -> None:
        self._by_key.setdefault(binding.routing_key, Counted()).add(binding.destination)

    def remove(self, binding: Binding) -> None:
        destinations = self._by_key[binding.routing_key]
        destinations.remove(binding.destination)
        if not destinations:
            del self._by_key[binding.routing_key]

    def explain_binding(self, binding: Binding, routing_key: str, properties: Properties) -> Explanation:
        return Explanation(binding, binding.routing_key == routing_key)


EXCHANGE = Direct
