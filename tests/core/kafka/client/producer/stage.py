"""A producer and one broker in a small world."""

from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import ProducerState, Unsent
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.sim.design import Design
from broker_core.sim.node import PERSON
from broker_core.sim.world import World
from tests.core.kafka.client.one_broker import OneBroker, OneBrokerState
from tests.core.playbook import Played, play

SECOND = 1_000_000


PLAIN = {"enable_idempotence": False}


class Heard:
    def __init__(self):
        self.acked_values, self.failures = [], []

    def acked(self, producer, partition, base_offset, values, attempts, now_us):
        self.acked_values += values

    def failed(self, producer, partition, error, values, now_us):
        self.failures += [(error.name, value) for value in values]


class Stage:
    """One producer and one broker in a world. Every record goes to partition 0 unless said otherwise."""

    def __init__(self, seed=1, **options):
        self.heard = Heard()
        kinds = {
            "broker": (OneBrokerState, OneBroker),
            "producer": (ProducerState, lambda state: ClusterProducer(state, self.heard)),
        }
        design = Design(kinds, r.ClientMessage | t.TransactionMessage | o.ProducerOrder)
        self.world = World("k", design, seed)
        self.broker = self.world.start("broker-0", "broker", OneBrokerState()).state
        self.node = self.world.start("p", "producer", ProducerState.of(ProducerSettings(**options)))
        self.state = self.node.state
        self.world.order("p", o.Connect([0], ["t"]))
        self.run(0.01)

    def send(self, *values, partition=0, size=100):
        for value in values:
            self.node.send(Unsent(value, "t", -1, partition, size), self.world.now_us, self.world.slots["p"])

    def run(self, seconds):
        self.world.advance(self.world.now_us + int(seconds * SECOND))

    def lose_answers(self):
        """Whatever is on its way from the broker is lost, and both ends learn it."""
        connection = self.world.connection("p", "broker-0")
        if connection is not None:
            self.world.reset(connection)

    @property
    def told(self):
        return [event.kind.removeprefix("kafka.producer.") for event in self.world.told]


def play_producer(**options):
    node, out = ClusterProducer(ProducerState.of(ProducerSettings(**options)), Heard()), Played("p")
    ((connection, _),) = play(node, out, PERSON, o.Connect([0], ["t"]))
    return node, out, connection
