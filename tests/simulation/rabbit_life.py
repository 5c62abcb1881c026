"""A seeded life of a RabbitMQ server: clients that publish, consume, acknowledge, reject, cancel, commit, drop their
connections; a server that stops, crashes and comes back; disks that are slow. Laws are looked at after each step.

Two virtual hosts have queues of the same names. In each, `safe` is durable and drops nothing, so that a persistent
message confirmed there is acknowledged at the end, or still there; `loop` dead-letters to itself and `ladder` in a
circle with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import restart
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.operator import AddVhost, Order, SetPermissions
from broker_core.rabbitmq.permissions import Permission
from broker_core.rabbitmq.properties import PERSISTENT, Content, Properties
from broker_core.sim.design import Design
from broker_core.sim.node import Closed
from broker_core.sim.world import World
from tests.core.rabbitmq.laws import check_laws

MS = 1_000
VHOSTS = ("one", "two")
QUEUES: tuple[tuple[str, bool, dict[str, Any]], ...] = (
    ("safe", True, {}),
    (
        "short",
        False,
        {"x-max-length": 3, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "ladder"},
    ),
    ("loop", True, {"x-message-ttl": 20, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "loop"}),
    (
        "ladder",
        True,
        {"x-message-ttl": 15, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "loop"},
    ),
    ("single", False, {"x-single-active-consumer": True, "x-max-priority": 3}),
)


@dataclass
class Client:
    """One program on a connection with one channel. prefetch: of its consumers, 0 for no limit. outstanding: delivery
    tag -> (consumer tag, body). last_tag: the highest so far. asked: number of a publish -> body, until confirmed."""

    vhost: str
    connection: int = 0
    prefetch: int = 0
    outstanding: dict[int, tuple[str, str]] = field(default_factory=dict)
    last_tag: int = 0
    published: int = 0
    asked: dict[int, str] = field(default_factory=dict)
    tags: int = 0


class RabbitLife:
    """acked: bodies that a client acknowledged. confirmed: bodies that the server confirmed on `safe`."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        kinds: Any = {"broker": (BrokerState, Broker), "clients": (dict, self.node)}
        self.world = World(
            "rabbit", Design(kinds, m.Method | Order, jitter_us=self.random.choice((0, 300))), seed
        )
        self.world.start("broker", "broker", BrokerState())
        for vhost in VHOSTS:
            self.world.order("broker", AddVhost(vhost))
            self.world.order("broker", SetPermissions("guest", vhost, Permission(".*", ".*", ".*")))
        self.world.start("clients", "clients", {})
        self.slot: Any = self.world.slots["clients"]
        self.world.slots["broker"].disk.write_us = self.random.choice((0, 0, 2 * MS))
        self.clients: dict[int, Client] = {}
        self.acked: dict[str, int] = {}
        self.confirmed: set[str] = set()
        self.sent = 0
        self.is_up = True

    def node(self, state: Any) -> Any:
        life = self

        class Clients:
            def __init__(self) -> None:
                self.state = state

            def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
                life.hear(connection, message)

            def wake(self, name: str, now_us: int, out: Any) -> None:
                """They set no deadlines."""

        return Clients()

    def run(self, steps: int) -> RabbitLife:
        for _ in range(steps):
            self.step()
            self.advance(self.random.choice((1, 3, 10, 30)) * MS)
        self.finish()
        return self

    def step(self) -> None:
        drawn = self.random.random()
        if not self.is_up:
            if drawn < 0.5:
                self.come_back()
        elif drawn < 0.04:
            self.go_down()
        elif drawn < 0.1 and len(self.clients) < 6:
            self.connect(self.random.choice(VHOSTS))
        elif drawn < 0.13 and self.clients:
            self.drop(self.random.choice([*self.clients.values()]))
        else:
            if not self.clients:
                self.connect(self.random.choice(VHOSTS))
            self.act(self.random.choice([*self.clients.values()]))

    def connect(self, vhost: str) -> Client:
        client = Client(vhost, self.slot.connect("broker"), self.random.choice((0, 1, 2, 5)))
        self.clients[client.connection] = client
        self.say(
            client, m.ConnectionStartOk(), m.ConnectionTuneOk(), m.ConnectionOpen(vhost), m.ChannelOpen(1)
        )
        for name, is_durable, arguments in QUEUES:
            self.say(client, m.QueueDeclare(1, name, durable=is_durable, arguments=arguments))
        self.say(client, m.ConfirmSelect(1), m.BasicQos(1, 0, client.prefetch))
        return client

    def act(self, client: Client) -> None:
        queue = self.random.choice(QUEUES)[0]
        match self.random.choice(("publish", "publish", "consume", "settle", "settle", "settle", "other")):
            case "publish":
                for _ in range(self.random.choice((1, 2, 6))):
                    self.publish(client, queue)
            case "consume":
                client.tags += 1
                self.say(client, m.BasicConsume(1, queue, f"c{client.tags}"))
            case "settle" if client.outstanding:
                self.settle(client)
            case "other":
                self.say(
                    client,
                    self.random.choice(
                        (
                            m.BasicCancel(1, f"c{self.random.randint(1, client.tags + 1)}"),
                            m.ExchangeDeclare(1, "x", "fanout", auto_delete=True),
                            m.BasicQos(1, 0, client.prefetch),
                        )
                    ),
                )

    def publish(self, client: Client, queue: str) -> None:
        self.sent += 1
        client.published += 1
        body = f"{client.vhost}:{queue}:{self.sent}"
        properties = Properties(delivery_mode=PERSISTENT, priority=self.random.choice((None, 1, 3)))
        if queue == "safe":
            client.asked[client.published] = body
        self.say(client, m.BasicPublish(1, "", queue, message=Content(properties, body.encode())))

    def settle(self, client: Client) -> None:
        tag = self.random.choice([*client.outstanding])
        _, body = client.outstanding.pop(tag)
        match self.random.choice(("ack", "ack", "requeue", "reject")):
            case "ack":
                self.acked[body] = self.acked.get(body, 0) + 1
                self.say(client, m.BasicAck(1, tag))
            case "requeue":
                self.say(client, m.BasicNack(1, tag, requeue=True))
            case "reject":
                is_safe = ":safe:" in body
                self.say(client, m.BasicReject(1, tag, is_safe))

    def say(self, client: Client, *methods: Any) -> None:
        for method in methods:
            self.slot.send(client.connection, method)

    def hear(self, connection: int, message: Any) -> None:
        client = self.clients.get(connection)
        if client is None:
            return
        match message:
            case Closed():
                del self.clients[connection]
            case m.BasicDeliver(_, consumer, tag, _, _, _, Content(_, body)):
                assert tag == client.last_tag + 1, "delivery tags rise by one"
                assert body.decode().startswith(f"{client.vhost}:"), "nothing crosses a virtual host"
                client.last_tag = tag
                client.outstanding[tag] = (consumer, body.decode())
                held = [each for each, _ in client.outstanding.values() if each == consumer]
                assert not client.prefetch or len(held) <= client.prefetch, "prefetch is never exceeded"
            case m.BasicAck(_, tag):
                if tag in client.asked:
                    self.confirmed.add(client.asked.pop(tag))
            case m.ConnectionClose(320):
                """The server stops clean."""
            case m.ChannelClose() | m.ConnectionClose():
                raise AssertionError(f"a client that does as it should was refused: {message}")

    def drop(self, client: Client) -> None:
        del self.clients[client.connection]
        self.slot.close(client.connection)

    def go_down(self) -> None:
        self.is_up = False
        self.random.choice((restart.crash, restart.crash, restart.stop))(self.world, "broker")

    def come_back(self) -> None:
        restart.come_back(self.world, "broker")
        self.is_up = True

    def advance(self, time_us: int) -> None:
        self.world.advance(self.world.now_us + time_us)
        self.world.told.clear()
        if self.is_up:
            node: Any = self.world.slots["broker"].node
            check_laws(node)

    def finish(self) -> None:
        """All is healed, every client is gone, and `safe` is read to its end by a new one."""
        if not self.is_up:
            self.come_back()
        self.advance(200 * MS)
        for client in [*self.clients.values()]:
            self.drop(client)
        self.advance(200 * MS)
        node: Any = self.world.slots["broker"].node
        self.left = {
            stored.content.body.decode()
            for vhost in VHOSTS
            if "safe" in (queues := node.state.vhosts[vhost].queues)
            for message in queues["safe"].bodies.values()
            for stored in (node.messages.at[message],)
        }
