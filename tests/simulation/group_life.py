"""A seeded life of a consumer group on a cluster, with everything that may happen to one; laws are watched.

    members      come, leave, crash, freeze, get stuck, subscribe again; static ones restart under their instance id, or are there twice
    topics       grow
    coordinator  its broker stops, crashes, pauses, is cut off from the others and goes on as a zombie, or hands over in order
    links        between members and brokers are cut, one way or both

One life is `GroupLife(seed).run(steps)`; it ends with everything healed and all that was written read.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, cast

from broker_core.errors import CommandError
from broker_core.kafka.client.group_consumer.consumer import GroupConsumer
from broker_core.kafka.client.group_consumer.core import CLOSED, CLOSING, FAILED, ConsumerState
from broker_core.kafka.client.group_consumer.orders import ConsumerOrder, Start, Stick, Subscribe
from broker_core.kafka.client.group_consumer.settings import ConsumerSettings
from broker_core.kafka.client.producer import orders as producer_orders
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import ProducerState
from broker_core.kafka.cluster import cluster, verbs
from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan, cluster_world
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.group import codes
from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.lab.kafka.pause import KafkaNotes
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.slot import PAUSED, RUNNING
from broker_core.sim.world import World
from tests.simulation.group_laws import check_owners
from tests.simulation.group_ledger import OffsetsLedger
from tests.simulation.group_reads import Deliveries, NotHeard, Reads

MS, SECOND = 1_000, 1_000_000
TOPICS = {"t": 4, "u": 2}
PARTITIONS_MAX, CONSUMERS_MAX = 7, 5
BROKERS = (1, 2, 3)
OFFSETS_PARTITIONS = 3
NUMBER = coordinator_partition("g", OFFSETS_PARTITIONS)
HEALED_FOR_US = 150 * SECOND


class GroupLife:
    """healed_us: since when all is well. faults: how often each thing was done."""

    def __init__(self, seed: int) -> None:
        dice = self.dice = random.Random(seed)
        self.protocol = dice.choice(("classic", "classic", "consumer"))
        self.assignor = dice.choice(("range", "roundrobin", "sticky", "cooperative-sticky"))
        self.commits = dice.choice(("auto", "sync", "async"))
        self.is_static = dice.random() < 0.5
        groups = GroupSettings(
            initial_rebalance_delay_ms=500,
            consumer_heartbeat_interval_ms=1_000,
            consumer_session_timeout_ms=6_000,
        )
        plans = [TopicPlan(name, count, 3, 2) for name, count in TOPICS.items()]
        plan = ClusterPlan(
            3,
            (),
            (*plans, TopicPlan(OFFSETS_TOPIC, OFFSETS_PARTITIONS, 3, 2)),
            ClusterSettings(groups=groups),
        )
        self.reads: Reads = Reads()
        self.deliveries = Deliveries()
        self.ledger: Any = OffsetsLedger(NUMBER, self.reads.handled_up_to, lambda: self.world)
        self.notes = {name: KafkaNotes([0] * count) for name, count in TOPICS.items()}
        self.healed_us = 0
        self.faults: Counter[str] = Counter()
        broker_kind, make_broker = cluster.KINDS["broker"]

        def broker(state: Any) -> Broker:
            made = cast(Broker, make_broker(state))
            made.host.groups.overhears = self.ledger
            return made

        def consumer(state: ConsumerState) -> GroupConsumer:
            return GroupConsumer(
                state, self.reads, polled=lambda partition, offset: self.begins(state, partition, offset)
            )

        kinds: Any = {
            "broker": (broker_kind, broker), "consumer": (ConsumerState, consumer),
            "producer": (ProducerState, lambda state: ClusterProducer(state, self.deliveries)),
        }  # fmt: skip
        messages = ConsumerOrder | producer_orders.ProducerOrder | Order
        self.told: list[Any] = []
        self.world: World = cluster_world(
            plan, seed, delay_us=500, jitter_us=500, kinds=kinds, messages=messages, listener=self.told.extend
        )
        self.world.start(
            "producer", "producer", ProducerState.of(ProducerSettings(metadata_max_age_us=5 * SECOND))
        )
        self.world.advance(SECOND)
        self.world.order("producer", producer_orders.Connect(list(BROKERS), list(TOPICS)))
        self.sent = self.names = 0
        self.subscriptions: dict[str, Subscribe] = {}
        for _ in range(2):
            self.join()

    def begins(self, state: ConsumerState, partition: tuple[str, int], offset: int) -> None:
        """A program begins with a record: counted here on its own, and as a lane counts what is read twice."""
        self.reads.begins(
            state.settings.client_id, state.subscribed.assigned.get(partition), partition, offset
        )
        self.notes[partition[0]].note_read(partition[1], offset)

    @property
    def what(self) -> str:
        return f"{self.protocol} {self.assignor} {self.commits}{' static' if self.is_static else ''}"

    # --- reading the world

    @property
    def consumers(self) -> list[str]:
        return [slot.name for slot in self.world.slots.values() if slot.kind == "consumer"]

    @property
    def live(self) -> list[str]:
        """Those that have not been told to end."""
        return [
            name for name in self.consumers if self.state(name).member.phase not in (CLOSING, CLOSED, FAILED)
        ]

    def state(self, name: str) -> ConsumerState:
        state: ConsumerState = self.world.slots[name].node.state
        return state

    def partitions(self, topic: str) -> int:
        return len(self.world.slots[CONTROLLER].node.state.rules.topics[topic].partitions)

    @property
    def coordinator(self) -> int:
        """The broker that the controller takes for the leader of the group's partition."""
        leader: int = (
            self.world.slots[CONTROLLER].node.state.rules.topics[OFFSETS_TOPIC].partitions[NUMBER].leader
        )
        return leader

    def one(self) -> str:
        if not self.live:
            raise CommandError("consumer", "there is none")
        return self.dice.choice(self.live)

    # --- members

    def start(self, instance: str | None, subscribe: Subscribe, boot_us: int = 0) -> None:
        self.names += 1
        name = f"c{self.names}"
        settings = ConsumerSettings(
            "g",
            name,
            list(BROKERS),
            subscribe.topics,
            subscribe.pattern,
            self.protocol,
            [self.assignor],
            group_instance_id=instance,
            commits=self.commits,
            auto_commit_interval_ms=1_000,
            session_timeout_ms=6_000,
            heartbeat_interval_ms=1_000,
            max_poll_interval_ms=10_000,
            max_poll_records=self.dice.choice((1, 5)),
            auto_offset_reset="earliest",
            metadata_max_age_ms=5_000,
        )
        self.subscriptions[name] = subscribe
        self.world.start(name, "consumer", ConsumerState(settings, Program(self.dice.choice((1, 20)) * MS)))
        self.world.order(name, Start(boot_us))

    def any_subscription(self) -> Subscribe:
        return self.dice.choice(
            (
                Subscribe(["t"]),
                Subscribe(["t", "u"]),
                Subscribe(["t", "u"]),
                Subscribe(["u"]),
                Subscribe([], "[tu]"),
            )
        )

    def join(self) -> None:
        if len(self.live) < CONSUMERS_MAX:
            self.start(f"i{self.names + 1}" if self.is_static else None, self.any_subscription())

    def leave(self) -> None:
        if len(self.live) > 1:
            self.world.order(self.one(), Leave())

    def crash(self) -> None:
        if len(self.live) > 1:
            self.kill(self.one())

    def kill(self, name: str) -> None:
        self.world.crash(name)
        for connection in list(self.state(name).network.broker_of):
            try:
                self.world.reset(connection)
            except CommandError:
                continue
        self.world.forget(name)

    def restart(self) -> None:
        """A new process in the place of an old one: which was closed, or killed, or lives on and does not
        know."""
        name = self.one()
        instance, subscribe = self.state(name).settings.group_instance_id, self.subscriptions[name]
        how = (
            self.dice.choice(("close", "close", "kill", "twice"))
            if instance
            else self.dice.choice(("close", "kill"))
        )
        if how == "close":
            self.world.order(name, Leave())
        elif how == "kill":
            self.kill(name)
        self.start(instance, subscribe, self.dice.choice((0, 200, 3_000, 8_000)) * MS)

    def subscribe(self) -> None:
        name = self.one()
        self.subscriptions[name] = self.any_subscription()
        self.world.order(name, self.subscriptions[name])

    def freeze(self) -> None:
        self.world.pause(self.one())

    def thaw(self) -> None:
        self.world.resume(self.one())

    def stick(self) -> None:
        self.world.order(self.one(), Stick(self.dice.random() < 0.5))

    # --- brokers, links, topics

    @property
    def is_whole(self) -> bool:
        """Whether all brokers run, on sound links: with two copies to each record one broker at a time may
        fail."""
        return all(
            self.world.condition(f"broker-{number}") == RUNNING and not verbs.is_down(self.world, number)
            for number in BROKERS
        ) and not any(
            route.is_cut
            for way, route in self.world.routes.items()
            if not any(name in self.consumers for name in way)
        )

    def fail_broker(self) -> None:
        if self.is_whole:
            self.dice.choice((verbs.crash, verbs.stop, verbs.pause))(self.world, self.dice.choice(BROKERS))

    def fail_coordinator(self) -> None:
        """Its broker fails; or is cut off from the other brokers, and goes on for the members that reach
        it."""
        broker = self.coordinator
        if not self.is_whole or broker < 0:
            return
        how = self.dice.choice(("crash", "stop", "pause", "cut off"))
        if how == "cut off":
            for other in (*BROKERS, CONTROLLER):
                if other != broker:
                    verbs.cut_link(self.world, broker, other)
        else:
            {"crash": verbs.crash, "stop": verbs.stop, "pause": verbs.pause}[how](self.world, broker)

    def move_coordinator(self) -> None:
        """An operator makes another broker the preferred leader of the group's partition: it is handed over
        in order."""
        replicas = list(BROKERS)
        self.dice.shuffle(replicas)
        verbs.reassign(self.world, OFFSETS_TOPIC, NUMBER, replicas)
        verbs.elect_leaders(self.world)

    def mend_broker(self) -> None:
        number = self.dice.choice(BROKERS)
        for other in (*BROKERS, CONTROLLER):
            try:
                verbs.heal_link(self.world, number, other)
            except CommandError:
                continue  # it is not cut, or it is the broker itself
        if self.world.condition(f"broker-{number}") == PAUSED:
            verbs.resume(self.world, number)
        else:
            verbs.come_back(self.world, number)

    def cut(self) -> None:
        verbs.cut_link(self.world, self.one(), self.dice.choice(BROKERS), one_way=self.dice.random() < 0.5)

    def mend(self) -> None:
        verbs.heal_link(self.world, self.one(), self.dice.choice(BROKERS))

    def grow(self) -> None:
        topic = self.dice.choice(list(TOPICS))
        count = self.partitions(topic) + 1
        if count <= PARTITIONS_MAX:
            verbs.create_partitions(self.world, topic, count)

    def produce(self) -> None:
        counts = self.world.slots["producer"].node.state.metadata.counts
        for _ in range(self.dice.randrange(1, 6)):
            self.sent += 1
            topic = self.dice.choice(("t", "t", "u"))
            self.world.order(
                "producer", producer_orders.Send(self.sent, topic, partition=self.sent % counts.get(topic, 1))
            )

    # --- a life

    def run(self, steps: int) -> GroupLife:
        self.suffer(steps)
        self.heal()
        return self

    def suffer(self, steps: int) -> GroupLife:
        """So many things happen, and nothing is healed."""
        acts = [self.produce] * 14 + [
            self.join,
            self.join,
            self.leave,
            self.crash,
            self.restart,
            self.restart,
            self.subscribe,
            self.freeze,
            self.thaw,
            self.thaw,
            self.stick,
            self.fail_broker,
            self.fail_coordinator,
            self.move_coordinator,
            self.mend_broker,
            self.mend_broker,
            self.mend_broker,
            self.cut,
            self.mend,
            self.mend,
            self.grow,
        ]
        for _ in range(steps):
            act = self.dice.choice(acts)
            try:
                act()
            except CommandError:
                continue  # it made no sense now
            self.faults[act.__name__] += 1
            self.pass_time(self.dice.choice((1, 50, 300, 2_000)) * MS)
        return self

    def deaf(self) -> GroupLife:
        """From now on nobody listens to the nodes that begin: they go on in the middle of what others have
        heard."""
        self.reads, self.ledger = NotHeard(), None
        return self

    def pass_time(self, us: int) -> None:
        self.world.advance(self.world.now_us + us)
        self.ledger.settle()
        self.bury()
        running = {name for name in self.consumers if self.world.condition(name) == RUNNING}
        check_owners({name: self.state(name) for name in self.consumers}, running)

    def bury(self) -> None:
        """Processes that have closed go. One that failed for good ends, and if nobody else has its place its
        supervisor starts another one."""
        for name in self.consumers:
            if self.world.condition(name) != RUNNING:
                continue
            member, settings = self.state(name).member, self.state(name).settings
            if member.phase == CLOSED:
                self.world.exit(name)
            elif member.phase == FAILED:
                assert self.is_static and member.code in (
                    codes.FENCED_INSTANCE_ID,
                    codes.UNRELEASED_INSTANCE_ID,
                ), (name, member.code)
                self.world.order(name, Leave())
                instances = [self.state(other).settings.group_instance_id for other in self.live]
                if settings.group_instance_id not in instances:
                    self.start(settings.group_instance_id, self.subscriptions[name], 2 * SECOND)

    def heal(self) -> None:
        """Mend all, and let the group read everything: at least one member is subscribed to all there is."""
        self.healed_us = self.world.now_us
        for number in BROKERS:
            for other in (*BROKERS, CONTROLLER, *self.consumers):
                try:
                    verbs.heal_link(self.world, number, other)
                except CommandError:
                    continue
            try:
                if self.world.condition(f"broker-{number}") == PAUSED:
                    verbs.resume(self.world, number)
                else:
                    verbs.come_back(self.world, number)
            except CommandError:
                continue
        for name in self.consumers:
            if self.world.condition(name) == PAUSED:
                self.world.resume(name)
            self.world.order(name, Stick(False))
        self.start("last" if self.is_static else None, Subscribe(list(TOPICS)))
        while self.world.now_us < self.healed_us + HEALED_FOR_US:
            self.pass_time(SECOND)
            for number in BROKERS:
                if verbs.is_down(self.world, number):  # it was shutting down when all was mended
                    verbs.come_back(self.world, number)

    # --- at the end

    def owned(self) -> list[tuple[str, int]]:
        return sorted(partition for name in self.consumers for partition in self.state(name).owned)

    def check_commits(self) -> None:
        committed = self.ledger.check(
            self.world.slots[f"broker-{self.coordinator}"].node.state.disk.logs[OFFSETS_TOPIC, NUMBER]
        )
        for partition, offset in self.reads.beginnings:
            assert offset == 0 or offset <= committed[partition], (
                f"somebody began with {partition} at {offset}, which was never committed"
            )
