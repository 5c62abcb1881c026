"""Who is there: join, leave, crash, rejoin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab import fields
from broker_core.lab.commands.base import Command, ConsumerCommand
from broker_core.lab.commands.sticky import check_ranges_of, read_ranges
from broker_core.lab.consumer import GONE, Consumer
from broker_core.lab.facts import LabFacts
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Stops
from broker_core.lab.pulsar.options import PRIORITY_MAX
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.size import LaneSize
from broker_core.pulsar.selectors.protocol import Range

PULSAR = "pulsar"
DEMO_JOIN_ID = "demo:join"
"""The consumer that the demo adds on its own when nobody presses anything: one a lab, as its id is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Join(Command):
    """Consumers join. consumer: the name of one; without it `count` of them take the next free names.
    priority, ranges: in Pulsar lanes, the priority level and the sticky ranges with which they subscribe;
    None: those of the lane."""

    kind: ClassVar[str] = "join"
    GROWS: ClassVar[str] = "args.count"
    ARGS: ClassVar[frozenset[str]] = frozenset({"count", "priority", "ranges"})

    consumer: str | None = None
    count: int = 1
    priority: int | None = None
    ranges: tuple[Range, ...] | None = None

    @classmethod
    def make(cls, command_id: str, lane: str, consumer: object, args: Json, limits: Limits) -> Self:
        count = fields.whole("args.count", args.get("count", 1), 1, limits.consumers_max)
        name = None if consumer is None else fields.consumer_name(consumer)
        if name is not None and count != 1:
            raise CommandError("args.count", "must be 1 when the consumer has a name")
        priority = (
            fields.whole("args.priority", args["priority"], 0, PRIORITY_MAX) if "priority" in args else None
        )
        ranges = read_ranges(args["ranges"], "args.ranges") if "ranges" in args else None
        if ranges is not None and count != 1:
            raise CommandError("args.count", "must be 1 when the consumer has ranges of its own")
        return cls(
            command_id=command_id, lane=lane, consumer=name, count=count, priority=priority, ranges=ranges
        )

    def args(self) -> Json:
        return {"count": self.count, **self.set_to()}

    def said(self) -> Json:
        return {"count": self.count}

    def set_to(self) -> Json:
        """What they ask their Pulsar broker for (`Consumer.set_to`)."""
        ranges = {} if self.ranges is None else {"ranges": [list(pair) for pair in self.ranges]}
        return ({} if self.priority is None else {"priority": self.priority}) | ranges

    def consumer_name(self) -> str | None:
        return self.consumer

    def check(self, lab: LabFacts) -> None:
        limit, targets = lab.limits.consumers_max, self.targets(lab)
        for setting in self.set_to():
            if not any(lane.model == PULSAR for lane in targets):
                raise CommandError(f"args.{setting}", "is for a consumer of a Pulsar lane")
        for lane in targets:
            if self.ranges is not None and lane.model == PULSAR:
                check_ranges_of(lane.algorithm, self.ranges, "args.ranges")
        for lane in targets:
            if not lane.takes_consumers:
                raise CommandError("lane", "{lane} has real clients alone", lane=lane.id)
            if len(lane.names) + self.count > limit:
                raise CommandError(
                    "args.count",
                    "at most {limit} consumers; {lane} has {count}",
                    limit=limit,
                    lane=lane.id,
                    count=len(lane.names),
                )
            if self.consumer is not None and self.consumer in lane.names:
                raise CommandError(
                    "consumer", "{consumer} is already in {lane}", consumer=self.consumer, lane=lane.id
                )

    def grown(self, lane: LaneFacts) -> LaneSize:
        return lane.size.grown(consumers=self.count)

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        names = [self.consumer] if self.consumer is not None else lab.free_names(self.count)
        yield from lab.join_lanes(lab.lanes_of(self.lane), names, position, self.set_to())
        lab.note(self, position, names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave(ConsumerCommand):
    """It says goodbye; of a crashed one the lab forgets the row."""

    kind: ClassVar[str] = "leave"

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_frozen(lane)

    def meaning(self, consumers: Sequence[Consumer]) -> Json:
        return {"gone": True} if all(consumer.state == GONE for consumer in consumers) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash(ConsumerCommand):
    """Its machine goes silent, and no peer hears of it."""

    kind: ClassVar[str] = "crash"

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_crashed(lane)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejoin(ConsumerCommand):
    """A crashed one starts again."""

    kind: ClassVar[str] = "rejoin"

    def check_in(self, lane: LaneFacts) -> None:
        if not lane.consumer(self.consumer).has_crashed:
            raise CommandError("consumer", "{consumer} has not crashed", consumer=self.consumer)
