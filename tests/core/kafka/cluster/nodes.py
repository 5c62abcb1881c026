"""A broker or the controller alone, for playbooks: what it is given, and an outbox that keeps what it
does."""

from typing import Any

from broker_core.events import Cause, Json
from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import lifecycle
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.controller_node import ControllerNode, ControllerState
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.controller.controller import Controller
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.plain import from_plain, to_plain
from broker_core.sim.disk import Disk
from broker_core.sim.node import Opened

MS = 1_000
CONTROL = 1


class Out:
    """Keeps what a node does. Connections that it opens are numbered from 1. told: (kind, rule); facts:
    (kind, inputs, data) of the same."""

    def __init__(self) -> None:
        self.name, self.disk = "node", Disk()
        self.sent: list[tuple[int, Any]] = []
        self.deadlines: dict[str, int] = {}
        self.told: list[tuple[str, str | None]] = []
        self.facts: list[tuple[str, Json, Json]] = []
        self.opened: list[str] = []
        self.closed: list[int] = []
        self.blamed: list[int] = []

    def connect(self, to: str) -> int:
        self.opened.append(to)
        return len(self.opened)

    def send(self, connection: int, message: Any) -> None:
        self.sent.append((connection, message))

    def close(self, connection: int) -> None:
        self.closed.append(connection)

    def deadline(self, name: str, at_us: int, because: Cause | None = None) -> None:
        self.deadlines[name] = at_us

    def cancel(self, name: str) -> None:
        self.deadlines.pop(name, None)

    def draw(self, stream: str, limit: int) -> int:
        return 5

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        self.told.append((kind, rule))
        self.facts.append((kind, inputs, data))
        return Cause()

    def because(self, cause: Cause) -> None: ...

    def why(self) -> Cause:
        return Cause()

    def blame_silence(self, connection: int) -> None:
        self.blamed.append(connection)

    def take(self) -> list[tuple[int, Any]]:
        sent, self.sent = self.sent, []
        return sent

    def to(self, connection: int) -> list[Any]:
        """What was sent there since; the rest is forgotten."""
        return [message for where, message in self.take() if where == connection]


def controller() -> tuple[ControllerNode, Any]:
    return ControllerNode(ControllerState(Controller(JavaRandom.seeded(1)), ClusterSettings())), Out()


def leading(isr: tuple[int, ...] = (1, 2), min_isr: int = 1, **settings: Any) -> tuple[Broker, Any]:
    """Broker 1 leads t-0 with broker 2 as its follower."""
    node = Broker(BrokerState(1, ClusterSettings(**settings)))
    out: Any = Out()
    node.receive(0, lifecycle.Start(), 0, out)
    assert out.opened == ["controller"] and isinstance(out.take()[0][1], c.BrokerRegistrationRequest)
    node.receive(CONTROL, c.BrokerRegistrationResponse(0, 3), 2 * MS, out)
    brokers = [c.MetadataBrokerState(broker, 3, None, False, False) for broker in (1, 2)]
    registration = PartitionRegistration((1, 2), isr, 1)
    image = c.MetadataDelta(
        9,
        brokers,
        [c.MetadataTopicState("t", min_isr)],
        [c.MetadataPartitionState("t", 0, registration)],
        is_image=True,
    )
    node.receive(CONTROL, image, 3 * MS, out)
    node.receive(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=False), 4 * MS, out)
    for connection, peer in ((10, "client"), (20, "broker-2")):
        node.receive(connection, Opened(peer), 5 * MS, out)
    out.take()
    return node, out


def follower_fetch(offset: int, epoch: int = 1) -> r.FetchRequest:
    part = r.FetchPartition("t", 0, offset, 0, 0 if offset else -1, 0)
    return r.FetchRequest(500, [part], replica_id=2, replica_epoch=3, session_epoch=epoch)


def produce(acks: int = -1, value: str = "a") -> r.ProduceRequest:
    return r.ProduceRequest(acks, 1_000, [r.ProducePartition("t", 0, light_batch([value], timestamp=0))])


def following(leader_epoch: int = 1, **settings: Any) -> tuple[Broker, Any]:
    """Broker 1 led t-0 in epoch 0, wrote "a", "b" and "c", of which nobody has fetched any, and follows
    broker 2 since. What it sent then."""
    node, out = leading(**settings)
    for value in "abc":
        node.receive(20, produce(acks=1, value=value), 10 * MS, out)
    out.take()
    moved = PartitionRegistration((1, 2), (2, 1), 2, leader_epoch, leader_epoch)
    node.receive(
        CONTROL, c.MetadataDelta(10, [], [], [c.MetadataPartitionState("t", 0, moved)]), 20 * MS, out
    )
    assert out.opened[-1] == "broker-2"
    return node, out


def restored(node: Broker) -> Broker:
    """The broker that a checkpoint gives back."""
    return Broker(from_plain(to_plain(node.state), BrokerState))
