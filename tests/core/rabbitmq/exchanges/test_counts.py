"""What each binding has routed: every message that it matches, once, and no other."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES, Binding, ExchangeType
from broker_core.rabbitmq.properties import NO_PROPERTIES, Properties

WORDS = ("a", "b", "c")
WEIGHTS = ("1", "2", "5")
PATTERNS = ("a", "b", "#", "*", "a.#", "#.b", "*.b", "a.*", "#.#", "a.b")
ARGUMENTS: tuple[dict[str, Any], ...] = (
    {}, {"x-match": "any", "n": 1}, {"n": 1, "m": 2}, {"x-match": "any", "m": 2, "n": 3}
)  # fmt: skip


def matches(exchange: ExchangeType, binding: Binding, keys: list[str], headers: dict[str, Any]) -> bool:
    return any(
        each.is_match
        for each in exchange.explain(keys, Properties(headers=headers))
        if each.binding == binding
    )


@pytest.mark.parametrize("name", sorted(EXCHANGE_TYPES))
@pytest.mark.parametrize("seed", range(10))
def test_a_binding_counts_the_messages_that_it_matches(name: str, seed: int) -> None:
    random = Random(seed)
    exchange = EXCHANGE_TYPES[name]()
    wanted: Counter[Any] = Counter()
    for _ in range(300):
        row = (
            ("queue", random.choice("pq")),
            random.choice(WEIGHTS if name == "x-consistent-hash" else PATTERNS),
            random.choice(ARGUMENTS),
        )
        act = random.random()
        if act < 0.1:
            exchange.bind(*row)
        elif act < 0.15:
            if exchange.unbind(*row):
                del wanted[Binding(*row).identity]
        elif act < 0.2:
            exchange = restored(name, exchange)
        else:
            keys = [
                ".".join(random.choices(WORDS, k=random.randint(1, 3)))
                for _ in range(random.choice((1, 1, 3)))
            ]
            headers = {"n": random.randint(1, 3), "m": random.randint(1, 3)}
            exchange.route(keys, Properties(headers=headers))
            wanted.update(
                binding.identity for binding in exchange if matches(exchange, binding, keys, headers)
            )
        if random.random() < 0.3:  # who looks changes nothing
            assert {each.identity: exchange.routed(each) for each in exchange} == {
                each.identity: wanted[each.identity] for each in exchange
            }
    assert sum(wanted.values()) > 20
    assert {each.identity: exchange.routed(each) for each in exchange} == {
        each.identity: wanted[each.identity] for each in exchange
    }


def restored(name: str, exchange: ExchangeType) -> ExchangeType:
    """From a checkpoint."""
    found = EXCHANGE_TYPES[name]()
    found.take_over(ExchangeType.from_json(json.loads(json.dumps(exchange.to_json()))))
    return found


def test_a_binding_that_is_made_again_begins_at_nothing() -> None:
    exchange = EXCHANGE_TYPES["topic"]()
    for destination in ("p", "q"):
        exchange.bind(("queue", destination), "a.#", {})
    exchange.route(["a.b"], NO_PROPERTIES)
    exchange.unbind(("queue", "q"), "a.#", {})
    exchange.bind(("queue", "q"), "a.#", {})
    exchange.route(["a"], NO_PROPERTIES)
    assert [exchange.routed(each) for each in exchange] == [2, 1]
