"""What a person does to the Kafka cluster of a lane: to a broker, or to the link between two nodes.

What each does to the world: `broker_core/kafka/cluster/verbs.py`. Each begins a card
(`lab/kafka/faults.py`).
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import BROKERS_MAX
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.state import DOWN, SHUTTING_DOWN
from broker_core.lab.commands.base import Command, LaneCommand
from broker_core.lab.facts import LabFacts
from broker_core.lab.fields import whole
from broker_core.lab.kafka.facts import KafkaFacts
from broker_core.lab.kafka.views.links import are_linked
from broker_core.lab.panels import cluster_notes
from broker_core.lab.pieces import Stops
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.sim.slot import CRASHED, PAUSED

NODE_LETTERS_MAX = 32


def clusters(command: Command, lab: LabFacts) -> list[KafkaFacts]:
    """The Kafka lanes that a command is for."""
    return [lane for lane in command.targets(lab) if isinstance(lane, KafkaFacts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCommand(LaneCommand):
    """One fault, or the end of one, in each lane that has a cluster."""

    @abstractmethod
    def nodes(self) -> list[str]:
        """Whom it is about, by the names of nodes."""

    @abstractmethod
    def do(self, lane: Lane, cause: Cause) -> None:
        """Do it. Raises CommandError where it makes no sense, and then nothing has changed."""

    @property
    def verb(self) -> str:
        return self.kind.removeprefix("cluster_")

    def card(self) -> tuple[str, list[str]]:
        """What its card says was done, and to whom."""
        return self.verb, self.nodes()

    def amount_us(self) -> int | None:
        """How long, in its card's words; None: it has no such figure."""
        return None

    def check(self, lab: LabFacts) -> None:
        holding = clusters(self, lab)
        if not holding:
            raise CommandError("lane", "there is no Kafka cluster with brokers to name in this lab")
        for lane in holding:
            for node in self.nodes():
                if node not in lane.nodes:
                    raise CommandError(self.field_of(node), "there is no {name}", name=node)
            self.check_in(lane)

    def field_of(self, node: str) -> str:
        return "args.broker"

    def check_in(self, lane: KafkaFacts) -> None:
        """Refuse what the lane's brokers and links are not ready for, as far as that is known."""

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        for lane in lab.lanes_of(self.lane):
            if cluster_notes(lane) is not None:
                self.carry_out_in(lane, position)
                lane.say_none_joined("none_cluster")
                yield None
        lab.note(self, position, [])

    def carry_out_in(self, lane: Lane, position: int) -> None:
        notes = cluster_notes(lane)
        if notes is not None:
            notes.faults.begin(lane.world, position, *self.card(), self.amount_us())
            self.do(lane, Cause(command=position))
            lane.rules.forget_caches()


# --- brokers


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerCommand(ClusterCommand):
    """broker: its number, from 1."""

    ARGS: ClassVar[frozenset[str]] = frozenset({"broker"})

    broker: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {"broker": whole("args.broker", args.get("broker"), 1, BROKERS_MAX)}

    def args(self) -> Json:
        return {"broker": self.broker}

    def nodes(self) -> list[str]:
        return [broker_node(self.broker)]

    def check_in(self, lane: KafkaFacts) -> None:
        known = lane.broker(self.broker)
        if known is None or self.verb in known.verbs:
            return
        if isinstance(self, LoseDisk):
            raise CommandError("args.broker", "broker {broker} has lost its disk already", broker=self.broker)
        if known.stage == PAUSED:
            raise CommandError("args.broker", "broker {broker} is paused", broker=self.broker)
        if known.stage in (CRASHED, DOWN):
            raise CommandError("args.broker", "broker {broker} is down", broker=self.broker)
        if known.stage == SHUTTING_DOWN:
            raise CommandError("args.broker", "broker {broker} is shutting down", broker=self.broker)
        raise CommandError("args.broker", "broker {broker} is running", broker=self.broker)


class StopBroker(BrokerCommand):
    kind: ClassVar[str] = "cluster_stop"

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.stop(lane.world, self.broker, cause)


class CrashBroker(BrokerCommand):
    kind: ClassVar[str] = "cluster_crash"

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.crash(lane.world, self.broker, cause)


class CutPower(BrokerCommand):
    kind: ClassVar[str] = "cluster_cut_power"

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.cut_power(lane.world, self.broker, cause)


class LoseDisk(BrokerCommand):
    kind: ClassVar[str] = "cluster_lose_disk"

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.lose_disk(lane.world, self.broker, cause)


class PauseBroker(BrokerCommand):
    kind: ClassVar[str] = "cluster_pause"

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.pause(lane.world, self.broker, cause)


class ResumeBroker(BrokerCommand):
    kind: ClassVar[str] = "cluster_resume"

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.resume(lane.world, self.broker)


class ComeBack(BrokerCommand):
    kind: ClassVar[str] = "cluster_come_back"

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.come_back(lane.world, self.broker, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowDisk(BrokerCommand):
    """write_us: how long a write takes from now on; 0: no time."""

    kind: ClassVar[str] = "cluster_slow_disk"
    ARGS: ClassVar[frozenset[str]] = frozenset({"broker", "write_us"})

    write_us: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        broker = {"broker": whole("args.broker", args.get("broker"), 1, BROKERS_MAX)}
        return broker | {"write_us": whole("args.write_us", args.get("write_us"), 0, verbs.DELAY_US_MAX)}

    def args(self) -> Json:
        return {"broker": self.broker, "write_us": self.write_us}

    def card(self) -> tuple[str, list[str]]:
        return "slow_disk" if self.write_us else "quick_disk", self.nodes()

    def amount_us(self) -> int | None:
        return self.write_us or None

    def check_in(self, lane: KafkaFacts) -> None:
        """A disk can always be given another speed."""

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.slow_disk(lane.world, self.broker, self.write_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewClock(BrokerCommand):
    """skew_ms: how far its clock is ahead from now on, below 0 behind; 0: it is right."""

    kind: ClassVar[str] = "cluster_skew_clock"
    ARGS: ClassVar[frozenset[str]] = frozenset({"broker", "skew_ms"})

    skew_ms: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        broker = {"broker": whole("args.broker", args.get("broker"), 1, BROKERS_MAX)}
        return broker | {
            "skew_ms": whole("args.skew_ms", args.get("skew_ms"), -verbs.SKEW_MS_MAX, verbs.SKEW_MS_MAX)
        }

    def args(self) -> Json:
        return {"broker": self.broker, "skew_ms": self.skew_ms}

    def card(self) -> tuple[str, list[str]]:
        return (
            "skew_clock" if self.skew_ms > 0 else "skew_clock_behind" if self.skew_ms else "set_clock",
            self.nodes(),
        )

    def amount_us(self) -> int | None:
        return abs(self.skew_ms) * 1_000 or None

    def check_in(self, lane: KafkaFacts) -> None:
        """A clock can always be set."""

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.skew_clock(lane.world, self.broker, self.skew_ms)


# --- links


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCommand(ClusterCommand):
    """one, other: names of nodes, "broker-1", "controller", "producer", or a consumer's, "c1": then the link
    is of its present life, and one of the two is a broker."""

    ARGS: ClassVar[frozenset[str]] = frozenset({"one", "other"})

    one: str
    other: str

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        for name in ("one", "other"):
            if not isinstance(args.get(name), str) or not 1 <= len(args[name]) <= NODE_LETTERS_MAX:
                raise CommandError(f"args.{name}", "must be the name of a node")
        if args["one"] == args["other"]:
            raise CommandError("args.other", "must be another node")
        return {"one": args["one"], "other": args["other"]}

    def args(self) -> Json:
        return {"one": self.one, "other": self.other}

    def nodes(self) -> list[str]:
        return [self.one, self.other]

    def field_of(self, node: str) -> str:
        return "args.one" if node == self.one else "args.other"

    def check(self, lab: LabFacts) -> None:
        ClusterCommand.check(self, lab)
        if not are_linked(self.one, self.other):
            raise CommandError("args.other", "a client is linked with brokers alone")

    def ends(self, lane: Lane) -> tuple[str, str]:
        """The two as nodes of the lane's world."""
        one, other = (
            lane.consumers[name].incarnation if name in lane.consumers else name
            for name in (self.one, self.other)
        )
        return one, other


@dataclass(frozen=True, slots=True, kw_only=True)
class CutLink(LinkCommand):
    """one_way: only what `one` sends to `other` is cut."""

    kind: ClassVar[str] = "cluster_cut_link"
    ARGS: ClassVar[frozenset[str]] = frozenset({"one", "other", "one_way"})

    one_way: bool = False

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        if not isinstance(args.get("one_way", False), bool):
            raise CommandError("args.one_way", "must be true or false")
        return LinkCommand.read_args(args) | {"one_way": args.get("one_way", False)}

    def args(self) -> Json:
        return {"one": self.one, "other": self.other, "one_way": self.one_way}

    def card(self) -> tuple[str, list[str]]:
        return "cut_link_one_way" if self.one_way else self.verb, self.nodes()

    def check_in(self, lane: KafkaFacts) -> None:
        ways = lane.cut(self.one, self.other)
        if self.one in ways if self.one_way else len(ways) == 2:
            raise CommandError("args.one", "the link is cut already")

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.cut_link(lane.world, *self.ends(lane), one_way=self.one_way, cause=cause)


class HealLink(LinkCommand):
    kind: ClassVar[str] = "cluster_heal_link"

    def check_in(self, lane: KafkaFacts) -> None:
        if not lane.cut(self.one, self.other):
            raise CommandError("args.one", "the link is not cut")

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.heal_link(lane.world, *self.ends(lane))


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowLink(LinkCommand):
    """delay_us: how long a message takes from now on, each way; None: the lane's own delay again."""

    kind: ClassVar[str] = "cluster_slow_link"
    ARGS: ClassVar[frozenset[str]] = frozenset({"one", "other", "delay_us"})

    delay_us: int | None

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        delay_us = args.get("delay_us")
        return LinkCommand.read_args(args) | {
            "delay_us": None if delay_us is None else whole("args.delay_us", delay_us, 0, verbs.DELAY_US_MAX)
        }

    def args(self) -> Json:
        return {"one": self.one, "other": self.other, "delay_us": self.delay_us}

    def card(self) -> tuple[str, list[str]]:
        return "quick_link" if self.delay_us is None else "slow_link", self.nodes()

    def amount_us(self) -> int | None:
        return self.delay_us

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.slow_link(lane.world, *self.ends(lane), self.delay_us)


FAULT_COMMANDS: tuple[type[ClusterCommand], ...] = (
    StopBroker,
    CrashBroker,
    CutPower,
    LoseDisk,
    PauseBroker,
    ResumeBroker,
    ComeBack,
    SlowDisk,
    SkewClock,
    CutLink,
    HealLink,
    SlowLink,
)
