"""A seeded life of a TubeMQ cluster: two masters of which one is active, brokers that crash and come back with their
disks, a group whose master gives partitions out, and one whose clients share them out by the modulo rule. Clients come,
leave, crash and pause; links are cut, slow, reset. Laws are looked at with each answer of a broker (`tubemq_watch.py`),
and at the end, once all is mended."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.errors import CommandError
from broker_core.sim.design import Design
from broker_core.sim.program import Pause, Program, Resume
from broker_core.sim.slot import CRASHED, RUNNING
from broker_core.sim.world import World
from broker_core.tubemq import requests as r
from broker_core.tubemq import restart
from broker_core.tubemq.balancing import ARTICLE, RECORDED
from broker_core.tubemq.broker import BrokerState, Partition
from broker_core.tubemq.client import producer as producers
from broker_core.tubemq.client.balance_program import BalanceProgram
from broker_core.tubemq.client.consumer_object import FIRST, BaseConsumer, ConsumerConfig, ConsumerObject
from broker_core.tubemq.client.producer import NO_KEY, Producer, ProducerState
from broker_core.tubemq.client.program_state import ProgramState, Shutdown, Start
from broker_core.tubemq.client.pull_consumer import PullConsumer
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState, StartPull
from broker_core.tubemq.client.reading_program import STARTED
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import Master, MasterState, StepDown, TakeOver
from broker_core.tubemq.message_log import HEADER_BYTES
from broker_core.tubemq.partition_key import broker_of
from tests.simulation.tubemq_watch import Ledger, WatchedBroker

BROKERS = {1: "b1", 2: "b2"}
MASTERS = ["m1", "m2"]
EACH = 2
KEYS = [f"{broker}:t:{number}" for broker in BROKERS for number in range(EACH)]
META = [f"t#1:1:{EACH}:1,2:1:{EACH}:1"]
SIZE, BATCH = 100, 3
SERVED, OWN = "served", "own"
"""The groups: that of the master, and that of its clients."""
MEMBERS_MAX, SOURCE_COUNT = 4, 3
SELDOM = '[{"type": 1, "rule": [{"zeroCnt": 3, "freqInMs": 4000}]}]'
"""A flow rule: a partition that had nothing three times rests 4 s, not 0.4. Else most of a life is reads of nothing."""
QUIET_US = 900 * SECOND_US
"""By then whoever died is out (30 s at master and brokers), who asked no master in vain asks again (73 s), everybody has
reported (6 heartbeats), and a group with events that were lost has waited for its ten cycles."""


class Handled:
    """A `Traffic` that counts how often each message was handled."""

    def __init__(self) -> None:
        self.count: Counter[int] = Counter()

    def received(self, program: str, message: int, now_us: int) -> None:
        """Nobody asks."""

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.count[message] += 1

    def dropped(self, program: str, message: int, now_us: int) -> None:
        """It comes again."""


class TubeMqLife:
    def __init__(self, seed: int) -> None:
        dice = self.dice = Random(seed)
        self.ledger, self.what = Ledger(), Counter[str]()
        self.handled = {SERVED: Handled(), OWN: Handled()}
        self.world = World("tube", self.design(), seed)
        rule = dice.choice((RECORDED, RECORDED, ARTICLE))
        flow_rules = {"": SELDOM} if dice.random() < 0.9 else {}
        for name in MASTERS:
            state = MasterState(configured(META), is_standby=name != "m1", balance_rule=rule)
            state.flow_rules, state.flow_id = flow_rules, 1
            self.world.start(name, "master", state)
        for number, name in BROKERS.items():
            # A group may come when the other one has read everything.
            own = {key: Partition(keeps_read=True) for key in KEYS if broker_of(key) == number}
            self.world.start(name, "broker", BrokerState(number, own, BATCH * (SIZE + HEADER_BYTES)))
        self.world.start("producer", "producer", ProducerState())
        self.world.order("producer", producers.Connect(BROKERS))
        self.sent, self.started = 0, 0
        self.members: list[str] = []  # of the master's group
        self.nodes: dict[int, str] = {}  # node id -> client of the group of its clients
        for node_id in range(SOURCE_COUNT):
            self.launch(node_id)
        for _ in range(dice.randint(1, 3)):
            self.join()

    def design(self) -> Design:
        return Design(
            {
                "master": (MasterState, Master),
                "broker": (BrokerState, lambda state: WatchedBroker(state, self.ledger)),
                SERVED: (PullConsumerState, lambda state: PullConsumer(state, self.handled[SERVED])),
                OWN: (ProgramState, lambda state: BalanceProgram(state, self.handled[OWN])),
                "producer": (
                    ProducerState,
                    lambda state: Producer(state, KEYS, lambda code: KEYS[code % len(KEYS)]),
                ),
            },
            r.Request
            | Start
            | StartPull
            | Shutdown
            | Pause
            | Resume
            | TakeOver
            | StepDown
            | producers.Connect,
            jitter_us=self.dice.choice((0, 300)),
        )

    # -- steps -----------------------------------------------------------------------------------------------

    def run(self, steps: int) -> TubeMqLife:
        return self.suffer(steps).mend()

    def suffer(self, steps: int) -> TubeMqLife:
        for _ in range(steps):
            self.step()
            self.wait(self.dice.choice((10, 400, 1_000, 13_000, 31_000)) * MILLISECOND_US)
        return self

    def step(self) -> None:
        down = [name for name in BROKERS.values() if self.world.condition(name) == CRASHED]
        if down and self.dice.random() < 0.2:
            self.revive(down[0])
        name = self.dice.choice(
            ("send", "send", "send", "send", "send", "send", "join", "leave", "crash", "pause", "resume", "resume",
             "broker", "master", "cut", "heal", "slow", "reset", "reset", "reset", "status")
        )  # fmt: skip
        try:
            getattr(self, name)()
            self.what[name] += 1
        except CommandError:
            """There is nothing to do it to."""

    def wait(self, time_us: int) -> None:
        self.world.advance(self.world.now_us + time_us)
        self.world.told.clear()

    def one(self, names: list[str]) -> str:
        if not names:
            raise CommandError("node", "there is none")
        return self.dice.choice(names)

    def send(self) -> None:
        """A producer's messages to a broker that is down are lost."""
        slot: Any = self.world.slots["producer"]
        for _ in range(self.dice.choice((1, 8, 30))):
            connection, message = slot.node.send(self.sent, NO_KEY, SIZE)
            if connection in slot.links:
                slot.send(connection, message)
            self.sent += 1

    def everyone(self) -> list[str]:
        return [*self.members, *self.nodes.values()]

    def launch(self, node_id: int) -> None:
        """A process of the group that shares out for itself: its node id is its predecessor's."""
        self.started += 1
        name = self.nodes[node_id] = f"n{node_id}-{self.started}"
        client = ConsumerObject(name, OWN, ConsumerConfig(FIRST))
        program = Program(self.dice.choice((1, 20, 900)) * MILLISECOND_US)
        self.world.start(name, OWN, ProgramState(client, program, ["t"], SOURCE_COUNT, node_id))
        self.world.order(name, Start(MASTERS, BROKERS, self.dice.randint(1, 2_000) * MILLISECOND_US))

    def gone(self, name: str) -> None:
        self.members = [other for other in self.members if other != name]
        self.nodes = {node_id: other for node_id, other in self.nodes.items() if other != name}

    def join(self) -> None:
        missing = [node_id for node_id in range(SOURCE_COUNT) if node_id not in self.nodes]
        if missing and self.dice.random() < 0.7:
            self.launch(self.dice.choice(missing))
            return
        if len(self.members) >= MEMBERS_MAX:
            return
        self.started += 1
        name = f"c{self.started}-1"
        self.members.append(name)
        program = Program(self.dice.choice((1, 20, 900)) * MILLISECOND_US)
        self.world.start(name, SERVED, PullConsumerState(BaseConsumer(name, SERVED), program, ["t"]))
        self.world.order(name, StartPull(MASTERS, BROKERS, self.dice.randint(1, 2_000) * MILLISECOND_US))

    def leave(self) -> None:
        name = self.one(self.everyone())
        self.world.order(name, Shutdown())
        self.gone(name)

    def crash(self) -> None:
        name = self.one(self.everyone())
        (self.world.kill if self.dice.random() < 0.5 else self.world.crash)(name)
        self.gone(name)

    def pause(self) -> None:
        name = self.one(self.everyone())
        if self.dice.random() < 0.5:
            self.world.order(name, Pause())
        else:
            self.world.pause(name)

    def resume(self) -> None:
        name = self.one(self.everyone())
        if self.world.condition(name) != RUNNING:
            self.world.resume(name)
        self.world.order(name, Resume())

    def broker(self) -> None:
        """A broker dies; the masters may learn of it later, or not at all."""
        name = self.one([name for name in BROKERS.values() if self.world.condition(name) == RUNNING])
        restart.crash(self.world, name)
        self.ledger.owner = {
            at: owner for at, owner in self.ledger.owner.items() if BROKERS[broker_of(at[1])] != name
        }

    def revive(self, name: str) -> None:
        before = self.state(name).partitions
        stored = {
            key: {group: place.offset for group, place in each.groups.items()} for key, each in before.items()
        }
        restart.come_back(self.world, name)
        after = self.state(name).partitions
        assert stored == {
            key: {group: place.offset for group, place in each.groups.items()} for key, each in after.items()
        }, "a broker that comes back has its offsets"
        # It has another connection to that broker from now on; it would keep the one that broke.
        others = {number: other for number, other in BROKERS.items() if other != name}
        self.world.order("producer", producers.Connect(others))
        self.world.order("producer", producers.Connect(BROKERS))

    def status(self) -> None:
        """What the masters think of a broker."""
        broker_id = self.dice.choice([*BROKERS])
        is_up = self.world.condition(BROKERS[broker_id]) == RUNNING
        for name in MASTERS:
            self.state(name).brokers[broker_id].is_online = is_up if self.dice.random() < 0.9 else not is_up

    def master(self) -> None:
        """The active master is gone, for one reason or another; the other one is elected."""
        active = self.active()
        other = MASTERS[1 - MASTERS.index(active)]
        if self.world.condition(other) == CRASHED:
            self.restart_master(other)
            return
        match self.dice.choice(("crash", "kill", "step down")):
            case "crash":
                self.world.crash(active)
            case "kill":
                self.world.kill(active)
            case _:
                self.world.order(active, StepDown())
        self.world.order(other, TakeOver())

    def active(self) -> str:
        """A master that died was succeeded at once."""
        (name,) = [
            name for name in MASTERS
            if self.world.condition(name) == RUNNING and not self.state(name).is_standby
        ]  # fmt: skip
        return name

    def restart_master(self, name: str) -> None:
        former = self.state(name)
        self.world.forget(name)
        state = MasterState(former.brokers, is_standby=True, balance_rule=former.balance_rule)
        state.started_us = self.world.now_us
        state.flow_rules, state.flow_id = former.flow_rules, former.flow_id
        self.world.start(name, "master", state)

    def link(self) -> int:
        ends = self.one(self.everyone()), self.one([*BROKERS.values(), *BROKERS.values(), *MASTERS])
        connection = self.world.connection(*ends)
        if connection is None:
            raise CommandError("link", "there is none")
        return connection

    def cut(self) -> None:
        self.world.cut(self.link())

    def heal(self) -> None:
        self.world.heal(self.link())

    def slow(self) -> None:
        self.world.set_delay(self.link(), self.dice.choice((1, 200, 3_000)) * MILLISECOND_US)

    def reset(self) -> None:
        """What is under way is lost; on a slow link that is something."""
        link = self.link()
        if self.dice.random() < 0.5:
            self.world.set_delay(link, SECOND_US)
            self.send()
            self.wait(self.dice.randint(1, 9_000) * MILLISECOND_US)
        self.world.reset(link)

    # -- the end ---------------------------------------------------------------------------------------------

    def mend(self) -> TubeMqLife:
        for name in BROKERS.values():
            if self.world.condition(name) == CRASHED:
                self.revive(name)
        for route in self.world.routes.values():
            route.delay_us = None
        for name in self.everyone():
            if self.world.condition(name) != RUNNING:
                self.world.resume(name)
            self.world.order(name, Resume())
            for peer in (*BROKERS.values(), *MASTERS):
                connection = self.world.connection(name, peer)
                if connection is not None:
                    try:
                        self.world.heal(connection)
                    except CommandError:
                        """It was not cut."""
                    self.world.set_delay(connection, MILLISECOND_US)
        for name in MASTERS:
            for broker in self.state(name).brokers.values():
                broker.is_online = True
        for node_id in range(SOURCE_COUNT):
            if node_id not in self.nodes:
                self.launch(node_id)
        if not self.members:
            self.join()
        for _ in range(QUIET_US // (30 * SECOND_US)):
            self.wait(30 * SECOND_US)
        return self

    def state(self, name: str) -> Any:
        slot: Any = self.world.slots[name]
        return slot.node.state

    def partitions(self) -> dict[str, Partition]:
        return {key: each for name in BROKERS.values() for key, each in self.state(name).partitions.items()}

    def held(self, group: str) -> dict[str, list[str]]:
        if group == SERVED:
            return {name: sorted(self.state(name).consumer.held) for name in self.members}
        return {name: sorted(self.state(name).consumer.held) for _, name in sorted(self.nodes.items())}

    def is_started(self) -> bool:
        return all(self.state(name).phase == STARTED for name in self.everyone())
