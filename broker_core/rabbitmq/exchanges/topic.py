"""Topic: to the bindings whose pattern the message's key fits. `*` stands for one word, `#` for any number.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_topic. Vectors: rabbitmq/topic_routing.json.
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.rabbitmq.exchanges.base import Binding, Destination, ExchangeType, Explanation
from broker_core.rabbitmq.exchanges.topic_trie import TopicTrie
from broker_core.rabbitmq.exchanges.topic_words import compare_words
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.values import Table


class Topic(ExchangeType):
    name = "topic"

    def __init__(self, arguments: Table | None = None) -> None:
        self._trie = TopicTrie()
        super().__init__(arguments)

    def route(self, routing_keys: Sequence[str], properties: Properties) -> Sequence[Destination]:
        if len(routing_keys) == 1:
            return self._trie.match(routing_keys[0])
        return self._trie.match_any(routing_keys)

    def messages_at(self, binding: Binding) -> int:
        return self._trie.messages_at(binding.routing_key)

    def add(self, binding: Binding) -> None:
        self._trie.add(binding.routing_key, binding.destination)

    def remove(self, binding: Binding) -> None:
        self._trie.remove(binding.routing_key, binding.destination)

    def explain_binding(self, binding: Binding, routing_key: str, properties: Properties) -> Explanation:
        words, left_over = compare_words(binding.routing_key, routing_key)
        is_match = not left_over and all(word.is_match for word in words)
        return Explanation(binding, is_match, words, left_over)


EXCHANGE = Topic
