"""A broker or the controller alone, for playbooks: what it is given, and an outbox that keeps what it does."""

from broker_core.events import Cause
from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import lifecycle
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.controller_node import ControllerNode, ControllerState
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.controller import Controller
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.plain import from_plain, to_plain
from broker_core.sim.disk import Disk
from broker_core.sim.node import Opened

MS = 1_000
CONTROL = 1


class Out:
    """Keeps what a node does. Connections that it opens are numbered from 1."""

    def __init__(self):
        self.name, self.disk = "node", Disk()
        self.sent, self.deadlines, self.told, self.opened, self.closed = [], {}, [], [], []

    def connect(self, to):
        self.opened.append(to)
        return len(self.opened)

    def send(self, connection, message):
        self.sent.append((connection, message))

    def close(self, connection):
        self.closed.append(connection)

    def deadline(self, name, at_us):
        self.deadlines[name] = at_us

    def cancel(self, name):
        self.deadlines.pop(name, None)

    def draw(self, stream, limit):
        return 5

    def tell(self, kind, rule, inputs, data):
        self.told.append((kind, rule))
        return Cause()

    def because(self, cause): ...

    def why(self):
        return Cause()

    def blame_silence(self, connection): ...

    def take(self):
        sent, self.sent = self.sent, []
        return sent


def controller():
    return ControllerNode(ControllerState(Controller(JavaRandom.seeded(1)), ClusterSettings())), Out()


def leading(isr=(1, 2), min_isr=1, **settings):
    """Broker 1 leads t-0 with broker 2 as its follower."""
    node, out = Broker(BrokerState(1, ClusterSettings(**settings))), Out()
    node.receive(0, lifecycle.Start(), 0, out)
    assert out.opened == ["controller"] and isinstance(out.take()[0][1], c.BrokerRegistrationRequest)
    node.receive(CONTROL, c.BrokerRegistrationResponse(0, 3), 2 * MS, out)
    brokers = [c.MetadataBrokerState(broker, 3, None, False, False) for broker in (1, 2)]
    registration = PartitionRegistration((1, 2), isr, 1)
    image = c.MetadataDelta(
        9, brokers, [c.MetadataTopicState("t", min_isr)], [c.MetadataPartitionState("t", 0, registration)], is_image=True
    )
    node.receive(CONTROL, image, 3 * MS, out)
    node.receive(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=False), 4 * MS, out)
    for connection in (10, 20):
        node.receive(connection, Opened("peer"), 5 * MS, out)
    out.take()
    return node, out


def follower_fetch(offset, epoch=1):
    part = r.FetchPartition("t", 0, offset, 0, 0 if offset else -1, 0)
    return r.FetchRequest(500, [part], replica_id=2, replica_epoch=3, session_epoch=epoch)


def produce(acks=-1, value="a"):
    return r.ProduceRequest(acks, 1_000, [r.ProducePartition("t", 0, light_batch([value], timestamp=0))])


def following(leader_epoch=1, **settings):
    """Broker 1 led t-0 in epoch 0, wrote "a", "b" and "c", of which nobody has fetched any, and follows broker 2 since. What it sent then."""
    node, out = leading(**settings)
    for value in "abc":
        node.receive(20, produce(acks=1, value=value), 10 * MS, out)
    out.take()
    moved = PartitionRegistration((1, 2), (2, 1), 2, leader_epoch, leader_epoch)
    node.receive(CONTROL, c.MetadataDelta(10, [], [], [c.MetadataPartitionState("t", 0, moved)]), 20 * MS, out)
    assert out.opened[-1] == "broker-2"
    return node, out


def restored(node):
    """The broker that a checkpoint gives back."""
    return Broker(from_plain(to_plain(node.state), BrokerState))
