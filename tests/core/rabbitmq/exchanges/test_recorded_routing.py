"""Routing as RabbitMQ 3.10.8 did it: every recorded message goes to the same queues."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES
from broker_core.rabbitmq.properties import NO_PROPERTIES, Properties

VECTORS = Path(__file__).parents[3] / "vectors" / "rabbitmq"


def recorded(name: str) -> Any:
    return json.loads(gzip.decompress((VECTORS / f"{name}.json.gz").read_bytes()))


TOPICS, OTHERS = recorded("topic_routing"), recorded("direct_fanout_headers")


def queue(name: str) -> tuple[str, str]:
    return "queue", name


@pytest.mark.parametrize("block", TOPICS["matrix"], ids=lambda block: block["name"])
def test_a_pattern_takes_the_keys_that_the_original_gave_it(block):
    exchange = EXCHANGE_TYPES["topic"]()
    for place, pattern in enumerate(block["patterns"]):
        exchange.bind(queue(str(place)), pattern, {})
    received = [[] for _ in block["patterns"]]
    for place, key in enumerate(block["keys"]):
        for _, name in exchange.route([key], NO_PROPERTIES):
            received[int(name)].append(place)
        for explained in exchange.explain([key], NO_PROPERTIES):
            assert explained.is_match == (
                explained.binding.destination in exchange.route([key], NO_PROPERTIES)
            )
    assert received == block["match"]


@pytest.mark.parametrize("case", TOPICS["multi"], ids=lambda case: case["name"])
def test_several_bindings_of_a_queue_give_one_copy(case):
    exchange = EXCHANGE_TYPES["topic"]()
    for name, pattern in case["bindings"]:
        exchange.bind(queue(name), pattern, {})
    for key, names in case["messages"]:
        assert list(exchange.route([key], NO_PROPERTIES)) == sorted(map(queue, names))


@pytest.mark.parametrize("case", TOPICS["mutations"], ids=lambda case: case["name"])
def test_bindings_that_come_and_go_leave_nothing_behind(case):
    exchange = EXCHANGE_TYPES["topic"]()
    for step in case["steps"]:
        match step["op"]:
            case "bind":
                exchange.bind(queue(step["queue"]), step["key"], {})
            case "unbind":
                exchange.unbind(queue(step["queue"]), step["key"], {})
            case "publish":
                assert list(exchange.route([step["key"]], NO_PROPERTIES)) == sorted(
                    map(queue, step["queues"])
                ), step


@pytest.mark.parametrize("case", OTHERS["cases"], ids=lambda case: case["name"])
def test_direct_fanout_and_headers_route_as_the_original(case):
    exchange = EXCHANGE_TYPES[case["type"]]()
    for binding in case["bindings"]:
        arguments = binding.get("arguments", {})
        reply = binding.get("bind_reply", {"reply_text": "PRECONDITION_FAILED - "})
        refusal = exchange.check(binding["key"], arguments)
        assert reply["reply_text"] == f"PRECONDITION_FAILED - {refusal}"
        if not refusal:
            exchange.bind(queue(binding["queue"]), binding["key"], arguments)
    for message in case["messages"]:
        routed = exchange.route([message["key"]], Properties(headers=message.get("headers")))
        assert list(routed) == sorted(map(queue, message["queues"])), message
        explained = exchange.explain([message["key"]], Properties(headers=message.get("headers")))
        assert {each.binding.destination for each in explained if each.is_match} == set(routed)
