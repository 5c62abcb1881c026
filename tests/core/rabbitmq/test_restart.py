"""A server that stops, crashes or loses its disk comes back with what the disk has, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import restart
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client import hello
from broker_core.rabbitmq.operator import Order, SetAlarm
from broker_core.rabbitmq.properties import PERSISTENT, Content, Properties
from broker_core.sim.design import Design
from broker_core.sim.world import World
from tests.core.rabbitmq.laws import check_laws

MS = 1_000
SAFE = Properties(delivery_mode=PERSISTENT)


class Recorder:
    """A client that keeps what it hears. state: what it hears."""

    def __init__(self, state: list[Any]) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
        self.state.append(message)

    def wake(self, name: str, now_us: int, out: Any) -> None:
        """It sets no deadlines."""


class Site:
    """A broker, and a client whose methods arrive at once."""

    def __init__(self) -> None:
        kinds: Any = {"broker": (BrokerState, Broker), "client": (list, Recorder)}
        self.world = World("rabbit", Design(kinds, m.Method | Order), 7)
        self.world.start("broker", "broker", BrokerState())
        self.world.start("client", "client", [])
        self.slot: Any = self.world.slots["client"]
        self.connect()

    def connect(self) -> None:
        self.connection = self.slot.connect("broker")
        client = hello("client")[0]
        client.client_properties["capabilities"] = {"connection.blocked": True}
        self.send(client, *hello("client")[1:], m.ChannelOpen(1))

    def send(self, *methods: Any, wait_us: int = 10 * MS) -> list[Any]:
        self.slot.node.state.clear()
        for method in methods:
            self.slot.send(self.connection, method)
        self.world.advance(self.world.now_us + wait_us)
        self.world.told.clear()
        check_laws(self.broker)
        return list(self.slot.node.state)

    def down_and_up(self, how: Any) -> None:
        how(self.world, "broker")
        self.world.advance(self.world.now_us + 10 * MS)
        restart.come_back(self.world, "broker")
        check_laws(self.broker)
        self.connect()

    @property
    def broker(self) -> Broker:
        node: Any = self.world.slots["broker"].node
        return node

    def bodies(self, queue: str) -> list[tuple[bytes, bool]]:
        found = []
        while isinstance(got := self.send(m.BasicGet(1, queue, True))[0], m.BasicGetOk):
            found.append((got.message.body, got.redelivered))
        return found


def declared() -> Site:
    site = Site()
    site.send(
        m.ExchangeDeclare(1, "kept", "topic", durable=True),
        m.ExchangeDeclare(1, "gone", "topic"),
        m.QueueDeclare(1, "d", durable=True),
        m.QueueDeclare(1, "t"),
        m.QueueBind(1, "d", "kept", "a.#"),
        m.QueueBind(1, "d", "gone", "a.#"),
        m.QueueBind(1, "t", "kept", "a.#"),
        m.ExchangeBind(1, "kept", "amq.topic", "#"),
        m.ConfirmSelect(1),
    )
    return site


def publish(site: Site, queue: str, *bodies: bytes, properties: Properties = SAFE) -> list[int]:
    """Gives the confirmed tags."""
    heard = site.send(*[m.BasicPublish(1, "", queue, message=Content(properties, body)) for body in bodies])
    return [method.delivery_tag for method in heard if isinstance(method, m.BasicAck)]


@pytest.mark.parametrize("how", [restart.stop, restart.crash])
def test_durable_and_persistent_come_back_and_nothing_else(how: Any) -> None:
    site = declared()
    assert publish(site, "d", b"1", b"2", b"3") == [1, 2, 3]
    publish(site, "d", b"transient", properties=Properties())
    publish(site, "t", b"4")
    held = site.send(m.BasicGet(1, "d"))[0]
    assert held.message.body == b"1"
    site.down_and_up(how)
    vhost = site.broker.state.vhosts["/"]
    assert list(vhost.queues) == ["d"] and "kept" in vhost.exchanges and "gone" not in vhost.exchanges
    assert [(source, each.destination) for source, each in vhost.bindings() if source] == [
        ("amq.topic", ("exchange", "kept")),
        ("kept", ("queue", "d")),
    ]
    assert site.bodies("d") == [(b"1", True), (b"2", False), (b"3", False)]


def test_crash_loses_what_the_disk_did_not_have_and_a_clean_stop_does_not() -> None:
    for how, kept in ((restart.crash, []), (restart.stop, [b"slow"])):
        site = declared()
        site.world.slots["broker"].disk.write_us = 1_000 * MS
        assert publish(site, "d", b"slow") == [], "no confirm before the disk has it"
        site.down_and_up(how)
        assert [body for body, _ in site.bodies("d")] == kept


def test_confirm_comes_when_the_disk_has_the_message() -> None:
    site = declared()
    site.world.slots["broker"].disk.write_us = 50 * MS
    assert publish(site, "d", b"1") == []
    heard = site.send(wait_us=60 * MS)
    assert heard == [m.BasicAck(1, 1)]
    site.down_and_up(restart.crash)
    assert site.bodies("d") == [(b"1", False)]


def test_lost_disk_leaves_a_fresh_server() -> None:
    site = declared()
    publish(site, "d", b"1")
    restart.crash(site.world, "broker")
    site.world.slots["broker"].disk.lose()
    restart.come_back(site.world, "broker")
    assert site.broker.state.vhosts["/"].queues == {}


def test_full_disk_blocks_publishers_until_there_is_room() -> None:
    site = declared()
    site.world.slots["broker"].disk.capacity_bytes = 4
    assert publish(site, "d", b"1234") == [1]
    heard = site.send(m.BasicPublish(1, "", "d", message=Content(SAFE, b"5")))
    assert heard == [m.ConnectionBlocked("low on disk")], "nor is it confirmed"
    first = site.connection
    site.connect()
    assert site.send(m.BasicGet(1, "d", True))[0].message.body == b"1234"
    assert site.broker.state.alarms == [] and not site.broker.connections[first].is_blocked


def test_memory_alarm_blocks_who_publishes_and_what_it_sent_is_read_afterwards() -> None:
    site = declared()
    site.world.order("broker", SetAlarm("memory", True))
    publish_one = m.BasicPublish(1, "", "t", message=Content(body=b"x"))
    heard = site.send(publish_one, publish_one)
    assert heard == [m.BasicAck(1, 1), m.ConnectionBlocked("low on memory")]
    kept = to_plain(site.broker.state)
    assert to_plain(from_plain(kept, BrokerState)) == kept, "what waits is part of a checkpoint"
    site.world.order("broker", SetAlarm("memory", False))
    assert site.send() == [m.ConnectionUnblocked(), m.BasicAck(1, 2)]
