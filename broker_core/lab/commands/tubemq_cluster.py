"""What a person orders of a TubeMQ lane's brokers, topic, masters and rule.

tubemq_offline, tubemq_online     a broker's process dies, and starts again with its disk
tubemq_accept, tubemq_black_list  a broker, or the cluster for this group, accepts no subscriptions of the topic, and again
tubemq_expand                     the topic has more partitions on a broker
tubemq_failover                   the standby master takes over
tubemq_master_offline, ..._online a master's process dies, and starts again as a standby
tubemq_consume_from_max           each client of the group begins at the end of what it has
tubemq_rule                       the partitions are dealt out by a rule of the user's own, or by the lane's again
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.kafka.assignors.custom import check_source
from broker_core.lab.commands.base import Command, LaneCommand
from broker_core.lab.facts import LabFacts
from broker_core.lab.fields import whole
from broker_core.lab.pieces import Stops
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.size import LaneSize
from broker_core.lab.tubemq import verbs
from broker_core.lab.tubemq.facts import TubeMqFacts
from broker_core.lab.tubemq.lane import TubeMqRules
from broker_core.lab.tubemq.nodes import MASTERS

MODEL = "tubemq"
BROKERS_MAX = 100
PARTITIONS_MAX = 10_000
"""Of a topic on one broker: there are no more ids between two stores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TubeMqCommand(LaneCommand):
    """An order about a TubeMQ lane's own nodes."""

    NONE_JOINED: ClassVar[str] = "none_cluster"

    def check(self, lab: LabFacts) -> None:
        lanes = [lane for lane in self.targets(lab) if isinstance(lane, TubeMqFacts)]
        if not lanes:
            raise CommandError("lane", "there is no TubeMQ lane here")
        for lane in lanes:
            self.check_in(lane)

    def check_in(self, lane: TubeMqFacts) -> None:
        """Raise CommandError if it makes no sense in this lane."""

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        for lane in lab.lanes_of(self.lane):
            self.carry_out_in(lane, position)
            yield None
        lab.note(self, position, [])

    def carry_out_in(self, lane: Lane, position: int) -> None:
        if lane.model == MODEL:
            self.do(lane, Cause(command=position))
            lane.rules.forget_caches()
            lane.say_none_joined(self.NONE_JOINED)

    @abstractmethod
    def do(self, lane: Lane, cause: Cause) -> None:
        """In one TubeMQ lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerCommand(TubeMqCommand):
    """An order about one broker."""

    ARGS: ClassVar[frozenset[str]] = frozenset({"broker"})

    broker: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {"broker": whole("args.broker", args.get("broker"), 1, BROKERS_MAX)}

    def args(self) -> Json:
        return {"broker": self.broker}

    def check_in(self, lane: TubeMqFacts) -> None:
        if self.broker not in lane.online:
            raise CommandError("args.broker", "there is no broker {broker}", broker=self.broker)
        self.check_broker(lane)

    def check_broker(self, lane: TubeMqFacts) -> None:
        """Raise CommandError if it makes no sense for this broker."""

    def check_is_online(self, lane: TubeMqFacts) -> None:
        if not lane.online[self.broker]:
            raise CommandError("args.broker", "broker {broker} is offline", broker=self.broker)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOffline(BrokerCommand):
    kind: ClassVar[str] = "tubemq_offline"

    def check_broker(self, lane: TubeMqFacts) -> None:
        self.check_is_online(lane)
        if sum(lane.online.values()) == 1:
            raise CommandError("args.broker", "it is the last one online: the producer needs one")

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.go_offline(lane, self.broker, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComeBack(BrokerCommand):
    kind: ClassVar[str] = "tubemq_online"

    def check_broker(self, lane: TubeMqFacts) -> None:
        if lane.online[self.broker]:
            raise CommandError("args.broker", "broker {broker} is online", broker=self.broker)

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.come_back(lane, self.broker, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptSubscribe(BrokerCommand):
    kind: ClassVar[str] = "tubemq_accept"
    ARGS: ClassVar[frozenset[str]] = frozenset({"broker", "accepts"})

    accepts: bool

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {**BrokerCommand.read_args(args), "accepts": _flag(args, "accepts")}

    def args(self) -> Json:
        return {"broker": self.broker, "accepts": self.accepts}

    def said(self) -> Json:
        return {"broker": self.broker, "accepts": int(self.accepts)}

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.accept(lane, self.broker, self.accepts, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlackList(TubeMqCommand):
    kind: ClassVar[str] = "tubemq_black_list"
    ARGS: ClassVar[frozenset[str]] = frozenset({"listed"})

    listed: bool

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {"listed": _flag(args, "listed")}

    def args(self) -> Json:
        return {"listed": self.listed}

    def said(self) -> Json:
        return {"listed": int(self.listed)}

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.black_list(lane, self.listed, cause)


def _flag(args: Json, name: str) -> bool:
    value = args.get(name, True)
    if not isinstance(value, bool):
        raise CommandError(f"args.{name}", "must be true or false")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Expand(BrokerCommand):
    """count: partitions of the topic on this broker, in all."""

    kind: ClassVar[str] = "tubemq_expand"
    GROWS: ClassVar[str] = "args.count"
    ARGS: ClassVar[frozenset[str]] = frozenset({"broker", "count"})

    count: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        count = whole("args.count", args.get("count"), 1, PARTITIONS_MAX)
        return {**BrokerCommand.read_args(args), "count": count}

    def args(self) -> Json:
        return {"broker": self.broker, "count": self.count}

    def check_broker(self, lane: TubeMqFacts) -> None:
        self.check_is_online(lane)
        now = lane.count_on(self.broker)
        if self.count <= now:
            raise CommandError("args.count", "must be more than the {now} partitions that there are", now=now)

    def grown(self, lane: LaneFacts) -> LaneSize | None:
        if not isinstance(lane, TubeMqFacts):
            return None
        return lane.size.grown(partitions=max(0, self.count - lane.count_on(self.broker)))

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.expand(lane, self.broker, self.count, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailOver(TubeMqCommand):
    kind: ClassVar[str] = "tubemq_failover"

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {}

    def check_in(self, lane: TubeMqFacts) -> None:
        if len(lane.masters) < 2:
            raise CommandError("lane", "{lane} has one master: no standby can take over", lane=lane.id)
        if not all(lane.masters):
            raise CommandError("lane", "in {lane} a master is down: no standby can take over", lane=lane.id)

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.fail_over(lane, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterCommand(TubeMqCommand):
    """An order about one master, counted from 1."""

    ARGS: ClassVar[frozenset[str]] = frozenset({"master"})
    MUST_BE_UP: ClassVar[bool]

    master: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {"master": whole("args.master", args.get("master"), 1, len(MASTERS))}

    def args(self) -> Json:
        return {"master": self.master}

    def check_in(self, lane: TubeMqFacts) -> None:
        if self.master > len(lane.masters):
            raise CommandError("args.master", "there is no master {master}", master=self.master)
        is_up = lane.masters[self.master - 1]
        if is_up and not self.MUST_BE_UP:
            raise CommandError("args.master", "master {master} is running", master=self.master)
        if self.MUST_BE_UP and not is_up:
            raise CommandError("args.master", "master {master} is down", master=self.master)


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterOffline(MasterCommand):
    kind: ClassVar[str] = "tubemq_master_offline"
    MUST_BE_UP: ClassVar[bool] = True

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.master_goes_offline(lane, self.master, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterOnline(MasterCommand):
    kind: ClassVar[str] = "tubemq_master_online"
    MUST_BE_UP: ClassVar[bool] = False

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.master_comes_back(lane, self.master, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeFromMax(TubeMqCommand):
    kind: ClassVar[str] = "tubemq_consume_from_max"
    NONE_JOINED: ClassVar[str] = "none_work"

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {}

    def check_in(self, lane: TubeMqFacts) -> None:
        if lane.by_master:
            raise CommandError("lane", "in {lane} the master gives partitions out", lane=lane.id)

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.consume_from_max(lane, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRule(TubeMqCommand):
    """source: a function assign(members, partitions, status), as for a Kafka group but for its third argument, which it
    may leave out; None: the lane's rule again."""

    kind: ClassVar[str] = "tubemq_rule"
    ARGS: ClassVar[frozenset[str]] = frozenset({"source"})
    NONE_JOINED: ClassVar[str] = "none_work"

    source: str | None

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        source = args.get("source")
        if source is not None:
            if not isinstance(source, str):
                raise CommandError("args.source", "must be a text")
            check_source(source, may_take_status=True)
        return {"source": source}

    def args(self) -> Json:
        return {"source": self.source}

    def said(self) -> Json:
        return {"own": 0 if self.source is None else 1}

    def check_in(self, lane: TubeMqFacts) -> None:
        if lane.by_master:
            raise CommandError("lane", "in {lane} the master gives partitions out", lane=lane.id)

    def do(self, lane: Lane, cause: Cause) -> None:
        rules = lane.rules
        if isinstance(rules, TubeMqRules):
            rules.take_rule(lane, self.source, cause)


CLUSTER_COMMANDS: tuple[type[Command], ...] = (
    GoOffline,
    ComeBack,
    AcceptSubscribe,
    BlackList,
    Expand,
    FailOver,
    MasterOffline,
    MasterOnline,
    ConsumeFromMax,
    OwnRule,
)
