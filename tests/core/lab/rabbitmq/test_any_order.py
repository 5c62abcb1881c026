"""Orders of every kind, sensible or not, at any moment: a lab either refuses one at its field or carries it out, keeps
the queues' laws, and comes out of a checkpoint the same."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.rabbitmq.client.roles import ACKS
from tests.core.lab.rabbitmq.test_topology import TOPOLOGY, lab_of

QUEUES = ("all", "new", "morgue", "x")
EXCHANGES = ("orders", "dead", "amq.topic", "nope")
CONSUMER_ORDERS = ("leave", "crash", "rejoin", "pause", "resume")
ARGUMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"x-message-ttl": 500},
    {"x-max-priority": 5},
    {"x-expires": 2_000},
    {"x-single-active-consumer": True},
    {"x-max-length": -1},
)
DEFINITIONS = {section: TOPOLOGY[section] for section in ("exchanges", "queues", "bindings")}


def random_order(draw: random.Random) -> tuple[str, str | None, dict[str, Any]]:
    """(kind, consumer, arguments)."""
    who = {"vhost": draw.choice(["shop", "/"]), "user": draw.choice(["guest", "guest", "bob"])}
    queue, exchange, yes = draw.choice(QUEUES), draw.choice(EXCHANGES), draw.random() < 0.5
    consumer = draw.choice(["c1", "c2", "c3", "c4"])
    orders: list[tuple[str, str | None, dict[str, Any]]] = [
        ("declare_exchange", None, {**who, "name": exchange, "type": draw.choice(["topic", "headers", "bogus"])}),
        ("delete_exchange", None, {**who, "name": exchange, "if_unused": yes}),
        ("declare_queue", None, {
            **who, "name": draw.choice([queue, ""]), "durable": yes, "exclusive": draw.random() < 0.3,
            "arguments": draw.choice(ARGUMENTS),
        }),
        ("delete_queue", None, {**who, "name": queue, "if_empty": yes}),
        ("bind", None, {**who, "source": exchange, "destination": queue, "routing_key": "#"}),
        ("unbind", None, {**who, "source": exchange, "destination": queue, "routing_key": "#"}),
        ("publish", None, {
            **who, "exchange": draw.choice(["", exchange]), "routing_key": draw.choice([queue, "x.created"]),
            "mandatory": yes, "delivery_mode": draw.choice([0, 1, 2]), "expiration": draw.choice(["", "100", "abc"]),
        }),
        ("purge", None, {**who, "name": queue}),
        ("get", None, {**who, "name": queue, "then": draw.choice(["ack", "requeue", "reject"])}),
        ("user", None, {"name": "eve"}),
        ("vhost", None, {"name": "other"}),
        ("change_user", None, {"user": "bob", "password": draw.choice(["", "new"]), "tags": ["management"]}),
        ("delete_user", None, {"user": draw.choice(["bob", "eve"])}),
        ("delete_vhost", None, {"vhost": draw.choice(["other", "shop"])}),
        ("permissions", None, {"user": "bob", "vhost": "shop", "write": draw.choice([".*", ""]), "is_cleared": yes}),
        ("alarm", None, {"resource": "memory", "is_on": yes}),
        ("import", None, {"definitions": DEFINITIONS}),
        ("stop", None, {}), ("crash", None, {}), *[("start", None, {})] * 3,
        ("consume", consumer, {"ack": draw.choice(ACKS), "prefetch": draw.choice([0, 1, 3])}),
        ("settle", consumer, {"how": draw.choice(["ack", "nack"]), "requeue": yes}),
    ]  # fmt: skip
    if draw.random() < 0.75:
        kind, name, args = draw.choice(orders)
        return f"rabbitmq_{kind}", name, args
    if draw.random() < 0.2:
        return "set_algorithm", None, {"algorithm": draw.choice(["prefetch_1", "prefetch_5"])}
    return ("join", None, {}) if yes else (draw.choice(CONSUMER_ORDERS), consumer, {})


def work_queue() -> Lab:
    workload = {"kind": "uniform", "keys": 4, "rate": 20}
    return Lab(scenario_from_json({"lanes": [{"model": "rabbitmq"}], "workload": workload}))


@pytest.mark.parametrize("seed", range(6))
def test_any_order_is_refused_or_carried_out_and_the_lab_stays_whole(seed: int) -> None:
    draw = random.Random(seed)
    lab = lab_of() if seed % 3 else work_queue()
    refused = 0
    for _ in range(30):
        kind, consumer, args = random_order(draw)
        command = {"command_id": f"x{lab.position + 1}", "kind": kind, "lane": "rabbitmq"}
        try:
            lab.submit({**command, "consumer": consumer, "args": args})
        except CommandError:
            refused += 1
        lab.advance_to(lab.now_us + draw.choice([1_000, 300_000, 2_000_000, 9_000_000]))
        if draw.random() < 0.2:
            view = lab.view()
            lab = Lab.restore(lab.scenario, lab.checkpoint())
            assert lab.view() == view
    assert 0 < refused < 30


def test_definitions_that_arrive_just_before_a_crash_do_not_stop_the_lab() -> None:
    lab = lab_of()
    for kind, args in (("rabbitmq_import", {"definitions": DEFINITIONS}), ("rabbitmq_crash", {})):
        lab.submit({"command_id": kind, "kind": kind, "args": args})
    lab.advance_to(3_000_000)
    lab.submit({"command_id": "back", "kind": "rabbitmq_start"})
    lab.advance_to(12_000_000)
    assert "definitions" not in lab.lanes["rabbitmq"].reads.broker().users
