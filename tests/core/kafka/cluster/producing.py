"""A cluster with the producer's program beside it, for tests."""

from broker_core.errors import CommandError
from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import ProducerState, Unsent
from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan, cluster_world, transaction_topic
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.cluster.requests import READ_COMMITTED, FetchPartition, FetchRequest
from broker_core.kafka.cluster.settings import ClusterSettings
from tests.core.kafka.cluster.clusters import KEY, Ask, Client, ClientState, Cluster

TOPIC = TopicPlan("t", 2, 3, 2, assignments=((1, 2, 3), (2, 3, 1)))


class Heard:
    """What each producer was told of its records."""

    def __init__(self):
        self.acked_values, self.failures = {}, {}

    def acked(self, producer, partition, base_offset, values, attempts, now_us):
        self.acked_values.setdefault(producer, []).extend(values)

    def failed(self, producer, partition, error, values, now_us):
        self.failures.setdefault(producer, []).extend((error.name, value) for value in values)


class ProducingCluster(Cluster):
    """Three brokers that are up, topic t with partition 0 led by broker 1 and partition 1 by broker 2, and a
    topic for transactions."""

    def __init__(self, topics=(TOPIC,), seed=1, **settings):
        plan = ClusterPlan(3, (), (*topics, transaction_topic(3)), ClusterSettings(**settings))
        self.told, self.heard = [], Heard()
        kinds = {
            "client": (ClientState, Client),
            "producer": (ProducerState, lambda state: ClusterProducer(state, self.heard)),
        }
        self.world = cluster_world(
            plan, seed, kinds=kinds, messages=Ask | o.ProducerOrder, listener=self.told.extend
        )
        self.world.start("client", "client", ClientState())
        self.run(1)

    def producer(self, name="p", **options):
        self.world.start(name, "producer", ProducerState.of(ProducerSettings(**options)))
        self.order(o.Connect([1, 2, 3], ["t"]), name)
        self.run(0.2)
        return self.world.node(name).state

    def order(self, order, name="p"):
        self.world.order(name, order)

    def refused(self, order, name="p"):
        """Why an order was not taken; None: it was."""
        try:
            self.order(order, name)
        except CommandError as error:
            return error.reason
        return None

    def send(self, *values, name="p", partition=0):
        for value in values:
            self.world.node(name).send(
                Unsent(value, "t", -1, partition, 100), self.world.now_us, self.world.slots[name]
            )

    def transact(self, *values, name="p", ends=o.CommitTransaction, partition=0):
        self.order(o.BeginTransaction(), name)
        self.send(*values, name=name, partition=partition)
        self.order(ends(), name)
        self.run(1)

    def committed(self, key=KEY, broker=None):
        """What a read_committed consumer that reads everything is given, aborted ones left out as the client
        does it."""
        leader = self.leader(key) if broker is None else broker
        answer = self.ask(leader, FetchRequest(0, [FetchPartition(*key, 0)], isolation_level=READ_COMMITTED))[
            0
        ].partitions[0]
        aborted = sorted((each.first_offset, each.producer_id) for each in answer.aborted or ())
        open_now, seen = set(), []
        for batch in answer.records:
            while aborted and aborted[0][0] <= batch.header.last_offset:
                open_now.add(aborted.pop(0)[1])
            if batch.header.is_control:
                open_now.discard(batch.header.producer_id)
            elif not (batch.header.is_transactional and batch.header.producer_id in open_now):
                seen += batch.values
        return seen

    def leader(self, key=KEY):
        return self.world.node(CONTROLLER).state.rules.topics[key[0]].partitions[key[1]].leader

    def written(self, key=KEY):
        """Every record in the leader's log, aborted ones, too."""
        return [
            value
            for batch in self.log(self.leader(key), key).batches()
            if not batch.header.is_control
            for value in batch.values
        ]

    def crash(self, broker):
        self.world.crash(broker_node(broker))

    def kinds_told(self, prefix):
        return [event.kind.removeprefix(prefix) for event in self.told if event.kind.startswith(prefix)]
