"""What a broker counts at its exchanges and bindings: messages of publishers, dead letters, and those that come from
other exchanges."""

from __future__ import annotations

from typing import Any

from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client import hello
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.rabbitmq.restart import survivors
from broker_core.sim.node import Opened
from tests.core.playbook import Played

DLX = {"x-dead-letter-exchange": "dead", "x-max-length": 1}


def told(*methods: Any) -> BrokerState:
    """What the broker holds after these on one channel."""
    state = BrokerState()
    broker, out = Broker(state), Played("broker")
    for method in (Opened("program"), *hello("program"), m.ChannelOpen(1), *methods):
        broker.receive(1, method, 0, out)
    return state


def exchanges(state: BrokerState) -> dict[str, tuple[int, int]]:
    """Name -> published, unroutable, where something came."""
    return {
        name: (each.published, each.unroutable)
        for name, each in state.vhosts["/"].exchanges.items()
        if each.published
    }


def bindings(state: BrokerState) -> dict[tuple[str, str, str], int]:
    vhost = state.vhosts["/"]
    return {
        (source, binding.destination[1], binding.routing_key): vhost.routed(source, binding)
        for source, binding in vhost.bindings()
    }


GRAPH = (
    m.ExchangeDeclare(1, "spare", "fanout", durable=True),
    m.ExchangeDeclare(1, "x", "topic", durable=True, arguments={"alternate-exchange": "spare"}),
    m.ExchangeDeclare(1, "inner", "direct", durable=True),
    m.ExchangeDeclare(1, "dead", "fanout", durable=True),
    m.QueueDeclare(1, "q", durable=True, arguments=DLX),
    m.QueueDeclare(1, "rest", durable=True),
    m.QueueBind(1, "q", "x", "a.*"),
    m.QueueBind(1, "q", "x", "#.b"),
    m.ExchangeBind(1, "inner", "x", "a.#"),
    m.QueueBind(1, "rest", "inner", "a.b"),
    m.QueueBind(1, "rest", "dead", ""),
)


def test_of_publishes_dead_letters_alternates_and_exchanges_between() -> None:
    state = told(
        *GRAPH,
        m.BasicPublish(1, "x", "a.b", message=Content(body=b"1")),
        m.BasicPublish(1, "x", "a.c", message=Content(body=b"2")),  # the first one dies of it
        m.BasicPublish(1, "x", "z", message=3),
        m.BasicPublish(1, "", "rest", message=4),
        m.BasicPublish(1, "", "nowhere", message=5),
        m.BasicPublish(1, "", "rest", message=Content(Properties(headers={"CC": ["rest"]}), b"6")),
        m.BasicPublish(1, "", "nowhere", message=Content(body=b"7")),
    )
    assert exchanges(state) == {
        "x": (3, 1), "spare": (1, 1), "inner": (2, 1), "dead": (1, 0), "": (4, 2),
    }  # fmt: skip
    counts = {
        ("", "q", "q"): 0, ("", "rest", "rest"): 2, ("x", "q", "a.*"): 2, ("x", "q", "#.b"): 1,
        ("x", "inner", "a.#"): 2, ("inner", "rest", "a.b"): 1, ("dead", "rest", ""): 1,
    }  # fmt: skip
    assert bindings(state) == counts
    restored = from_plain(to_plain(state), BrokerState)
    assert (bindings(restored), exchanges(restored)) == (counts, exchanges(state))
    after = survivors(state, 0)
    assert (bindings(after), exchanges(after)) == (counts, exchanges(state))


def test_what_is_refused_came_nowhere() -> None:
    refused = Content(Properties(delivery_mode=7), b"x")
    assert exchanges(told(*GRAPH, m.BasicPublish(1, "x", "a.b", message=refused))) == {}
