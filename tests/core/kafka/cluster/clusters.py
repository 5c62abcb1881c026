"""A cluster for tests, with a client node that sends what a test says and keeps what comes back."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan, cluster_world
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.cluster.requests import FetchPartition, FetchRequest, ProducePartition, ProduceRequest
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.sim.node import Closed

KEY = ("t", 0)
SECOND = 1_000_000
ONE_TOPIC = (TopicPlan("t", 1, 3),)


class Ask(msgspec.Struct, frozen=True, tag="test.ask", array_like=True):
    to: str
    request: Any


@dataclass
class ClientState:
    connections: dict[str, int] = field(default_factory=dict)
    got: list[Any] = field(default_factory=list)


class Client:
    """One connection to each broker it was told to ask; a connection that closes is opened again with the
    next request."""

    def __init__(self, state):
        self.state = state

    def receive(self, connection, message, now_us, out):
        state = self.state
        if isinstance(message, Ask):
            if message.to not in state.connections:
                state.connections[message.to] = out.connect(message.to)
            out.send(state.connections[message.to], message.request)
            return
        state.got.append(message)
        if isinstance(message, Closed):
            state.connections = {
                to: number for to, number in state.connections.items() if number != connection
            }

    def wake(self, name, now_us, out):
        """It sets no deadlines."""


class Cluster:
    """A world with a cluster that is up, and a client."""

    def __init__(self, brokers=3, topics=ONE_TOPIC, racks=(), seed=1, **settings):
        plan = ClusterPlan(brokers, tuple(racks), tuple(topics), ClusterSettings(**settings))
        self.told = []
        self.world = cluster_world(
            plan, seed, kinds={"client": (ClientState, Client)}, messages=Ask, listener=self.told.extend
        )
        self.world.start("client", "client", ClientState())
        self.run(1)

    def run(self, seconds):
        self.world.advance(self.world.now_us + int(seconds * SECOND))

    @property
    def client(self):
        return self.world.node("client").state

    @property
    def decided(self):
        return self.world.node(CONTROLLER).state.rules.topics["t"].partitions[0]

    def state(self, broker):
        return self.world.node(broker_node(broker)).state

    def log(self, broker, key=KEY):
        return self.state(broker).disk.logs[key]

    def values(self, broker, key=KEY):
        return [value for batch in self.log(broker, key).batches() for value in batch.values]

    def ends(self, key=KEY):
        """broker -> (LEO, HW) of each replica's log."""
        return {
            broker: (log.log_end_offset, log.high_watermark)
            for broker in range(1, 10)
            if self.world.node(broker_node(broker)) is not None
            and (log := self.state(broker).disk.logs.get(key)) is not None
        }

    def ask(self, broker, request, client="client"):
        """Send a request, and give what has come back since, when half a second has passed."""
        self.world.node(client).state.got.clear()
        self.world.order(client, Ask(broker if isinstance(broker, str) else broker_node(broker), request))
        self.run(0.5)
        return self.world.node(client).state.got

    def produce_order(self, broker, *values, acks=-1, key=KEY, timeout_ms=30_000, **batch):
        """What makes the client produce one batch."""
        records = light_batch(values, timestamp=self.world.now_us // 1_000, **batch)
        return Ask(broker_node(broker), ProduceRequest(acks, timeout_ms, [ProducePartition(*key, records)]))

    def produce(self, broker, *values, **more):
        """Produce one batch; give (error code, base offset), None if nothing has been answered within half a
        second."""
        got = self.ask(broker, self.produce_order(broker, *values, **more).request)
        return (got[0].partitions[0].error_code, got[0].partitions[0].base_offset) if got else None

    def consume(self, broker, offset, *, key=KEY, isolation=0, rack="", epoch=-1):
        """Fetch as a consumer; give the answer for the partition."""
        part = FetchPartition(*key, offset, epoch)
        got = self.ask(broker, FetchRequest(0, [part], isolation_level=isolation, rack_id=rack))
        return got[0].partitions[0]

    def consumed(self, broker, offset=0, **more):
        return [value for batch in self.consume(broker, offset, **more).records for value in batch.values]

    def kinds(self):
        return [event.kind for event in self.told]
