"""A seeded life of consumer groups on a cluster: members come, leave, crash, freeze and get stuck while brokers and links fail; laws are watched.

One life is `GroupLife(seed).run(steps)`; it ends with everything healed and all that was written read.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from broker_core.errors import CommandError
from broker_core.kafka.client.group_consumer.consumer import ConsumerOrder, GroupConsumer, Start, Stick
from broker_core.kafka.client.group_consumer.core import ConsumerState
from broker_core.kafka.client.group_consumer.settings import ConsumerSettings
from broker_core.kafka.client.producer import orders as producer_orders
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import ProducerState
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan, cluster_world
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.group.settings import GroupSettings
from broker_core.lab.observers.kafka_pause import KafkaNotes
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.slot import RUNNING
from broker_core.sim.world import World

MS, SECOND = 1_000, 1_000_000
PARTITIONS, CONSUMERS_MAX = 4, 5


class Reads:
    """What programs were given and handled. handled: value -> how often; in_hand: program -> value."""

    is_watched = True

    def __init__(self) -> None:
        self.handled_count: Counter[int] = Counter()

    def received(self, program: str, message: int, now_us: int) -> None:
        """A record has come."""

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.handled_count[message] += 1

    def dropped(self, program: str, message: int, now_us: int) -> None:
        """A record was let go of."""


class Deliveries:
    def __init__(self) -> None:
        self.confirmed: set[int] = set()

    def acked(self, producer: str, partition: Any, base_offset: int, values: list[int], attempts: int, now_us: int) -> None:
        self.confirmed.update(values)

    def failed(self, producer: str, partition: Any, error: Any, values: list[int], now_us: int) -> None:
        """Nobody promised anything about these."""


class GroupLife:
    def __init__(self, seed: int) -> None:
        dice = self.dice = random.Random(seed)
        self.protocol = dice.choice(("classic", "classic", "consumer"))
        self.assignor = dice.choice(("range", "roundrobin", "sticky", "cooperative-sticky"))
        self.commits = dice.choice(("auto", "sync", "async"))
        groups = GroupSettings(initial_rebalance_delay_ms=500, consumer_heartbeat_interval_ms=1_000, consumer_session_timeout_ms=6_000)
        topics = (TopicPlan("t", PARTITIONS, 3, 2), TopicPlan(OFFSETS_TOPIC, 3, 3, 2))
        plan = ClusterPlan(3, (), topics, ClusterSettings(groups=groups))
        self.reads, self.deliveries = Reads(), Deliveries()
        self.polled: Counter[tuple[int, int]] = Counter()
        self.notes = KafkaNotes([0] * PARTITIONS)
        self.healed_us = 0
        kinds: Any = {
            "consumer": (ConsumerState, lambda state: GroupConsumer(state, self.reads, polled=self.poll)),
            "producer": (ProducerState, lambda state: ClusterProducer(state, self.deliveries)),
        }
        messages = ConsumerOrder | producer_orders.ProducerOrder | Order
        self.told: list[Any] = []
        self.world: World = cluster_world(plan, seed, delay_us=500, jitter_us=500, kinds=kinds, messages=messages, listener=self.told.extend)
        self.world.start("producer", "producer", ProducerState.of(ProducerSettings()))
        self.world.advance(SECOND)
        self.world.order("producer", producer_orders.Connect([1, 2, 3], ["t"]))
        self.sent = self.names = 0
        for _ in range(2):
            self.join()

    def poll(self, partition: tuple[str, int], offset: int) -> None:
        """A program begins with a record: counted here by itself, and as a lane counts what is read twice."""
        self.polled[partition[1], offset] += 1
        self.notes.note_read(partition[1], offset)

    @property
    def read_again(self) -> int:
        """Records that programs began with once more, counted one by one."""
        return sum(count - 1 for count in self.polled.values())

    def rebalances_since(self, at_us: int) -> int:
        """Generations, or group epochs, that began after a moment."""
        kinds = ("kafka.group.generation_started", "kafka.group.epoch_bumped")
        return sum(event.kind in kinds and event.at_us > at_us for event in self.told)

    # --- what may happen

    @property
    def consumers(self) -> list[str]:
        return [slot.name for slot in self.world.slots.values() if slot.kind == "consumer"]

    def state(self, name: str) -> ConsumerState:
        state: ConsumerState = self.world.slots[name].node.state
        return state

    def one(self) -> str:
        if not self.consumers:
            raise CommandError("consumer", "there is none")
        return self.dice.choice(self.consumers)

    def join(self) -> None:
        if len(self.consumers) >= CONSUMERS_MAX:
            return
        self.names += 1
        settings = ConsumerSettings(
            "g", f"c{self.names}", [1, 2, 3], ["t"], group_protocol=self.protocol, assignors=[self.assignor], commits=self.commits,
            auto_commit_interval_ms=1_000, session_timeout_ms=6_000, heartbeat_interval_ms=1_000, max_poll_interval_ms=10_000,
            max_poll_records=self.dice.choice((1, 5)), auto_offset_reset="earliest",
        )  # fmt: skip
        self.world.start(f"c{self.names}", "consumer", ConsumerState(settings, Program(self.dice.choice((1, 20)) * MS)))
        self.world.order(f"c{self.names}", Start())

    def leave(self) -> None:
        if len(self.consumers) > 1:
            self.world.order(self.one(), Leave())

    def crash(self) -> None:
        if len(self.consumers) > 1:
            name = self.one()
            self.world.crash(name)
            for connection in list(self.state(name).network.broker_of):
                try:
                    self.world.reset(connection)
                except CommandError:
                    continue
            self.world.forget(name)

    def freeze(self) -> None:
        self.world.pause(self.one())

    def thaw(self) -> None:
        self.world.resume(self.one())

    def stick(self) -> None:
        self.world.order(self.one(), Stick(self.dice.random() < 0.5))

    def fail_broker(self) -> None:
        if sum(self.world.condition(f"broker-{number}") == RUNNING for number in (1, 2, 3)) == 3:
            number = self.dice.choice((1, 2, 3))
            self.dice.choice((verbs.crash, verbs.stop, verbs.pause))(self.world, number)

    def mend_broker(self) -> None:
        number = self.dice.choice((1, 2, 3))
        if self.world.condition(f"broker-{number}") == "paused":
            verbs.resume(self.world, number)
        else:
            verbs.come_back(self.world, number)

    def cut(self) -> None:
        verbs.cut_link(self.world, self.one(), self.dice.choice((1, 2, 3)), one_way=self.dice.random() < 0.5)

    def mend(self) -> None:
        verbs.heal_link(self.world, self.one(), self.dice.choice((1, 2, 3)))

    def produce(self) -> None:
        for _ in range(self.dice.randrange(1, 6)):
            self.sent += 1
            self.world.order("producer", producer_orders.Send(self.sent, "t", partition=self.sent % PARTITIONS))

    # --- a life

    def run(self, steps: int) -> GroupLife:
        acts = [self.produce] * 12 + [
            self.join, self.join, self.leave, self.crash, self.freeze, self.thaw, self.thaw, self.stick, self.fail_broker, self.mend_broker,
            self.mend_broker, self.cut, self.mend, self.mend,
        ]  # fmt: skip
        for _ in range(steps):
            try:
                self.dice.choice(acts)()
            except CommandError:
                continue  # it made no sense now
            self.world.advance(self.world.now_us + self.dice.choice((1, 50, 300, 2_000)) * MS)
            self.bury()
            self.check()
        self.heal()
        return self

    def bury(self) -> None:
        """Programs whose close() is over go."""
        for name in self.consumers:
            if self.world.condition(name) == RUNNING and self.state(name).member.phase == "closed":
                self.world.exit(name)

    def check(self) -> None:
        """No partition is owned twice in one generation or epoch, whoever is alive or frozen."""
        taken: dict[tuple[int, int], str] = {}
        for name in self.consumers:
            state = self.state(name)
            if state.settings.group_protocol == "consumer" and self.world.condition(name) != RUNNING:
                continue  # a frozen member does not know yet that its epoch is over
            for _, number in state.owned:
                other = taken.setdefault((state.member.generation, number), name)
                assert other == name or state.member.generation < 0, f"partition {number} in {state.member.generation}: {other} and {name}"

    def heal(self) -> None:
        """Mend all, and let the group read everything."""
        self.healed_us = self.world.now_us
        for number in (1, 2, 3):
            try:
                if self.world.condition(f"broker-{number}") == "paused":
                    verbs.resume(self.world, number)
                else:
                    verbs.come_back(self.world, number)
            except CommandError:
                continue
        for name in self.consumers:
            for number in (1, 2, 3):
                try:
                    verbs.heal_link(self.world, name, number)
                except CommandError:
                    continue
            if self.world.condition(name) == "paused":
                self.world.resume(name)
            self.world.order(name, Stick(False))
        self.join()
        self.world.advance(self.world.now_us + 150 * SECOND)
        self.bury()
        self.check()
