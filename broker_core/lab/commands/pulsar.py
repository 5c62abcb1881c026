"""What a person lets a consumer of a Pulsar lane do: be stuck, seek, take another priority level or other
sticky ranges.

Each is an order to its client (`broker_core/pulsar/client/consumer.py`), which speaks to the broker; what the
broker refuses, the lane tells.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.lab.commands.base import ALL, ConsumerCommand
from broker_core.lab.commands.sticky import check_ranges_of, read_ranges
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.facts import LabFacts
from broker_core.lab.fields import whole
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Stops
from broker_core.lab.pulsar.options import PRIORITY_MAX
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.pulsar.client.consumer import (
    ConsumerOrder,
    HoldAcks,
    Redeliver,
    ReleaseAcks,
    Resubscribe,
    Seek,
    Unsubscribe,
)
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.selectors.protocol import Range
from broker_core.pulsar.settings import STICKY

MODEL = "pulsar"
ENTRY_MAX = TIME_US_MAX = 2**53 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PulsarCommand(ConsumerCommand):
    """An order to one consumer, in each Pulsar lane that has it. MOVES: what it owns changes with it, as with
    a join."""

    MOVES: ClassVar[bool] = False

    @abstractmethod
    def order(self, client: ConsumerState) -> ConsumerOrder:
        """What its client gets."""

    def check(self, lab: LabFacts) -> None:
        lanes = [lane for lane in self.targets(lab) if lane.model == MODEL]
        if not lanes:
            raise CommandError(
                "lane",
                "there is no Pulsar lane in this lab" if self.lane == ALL else "this is no Pulsar lane",
            )
        ConsumerCommand.check(self, LabFacts({lane.id: lane for lane in lanes}, lab.is_playing, lab.limits))

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_crashed(lane)

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        for lane in lab.lanes_of(self.lane):
            if lane.model == MODEL and self.consumer in lane.consumers:
                self.carry_out_in(lane, position)
                yield None
        lab.note(self, position, [self.consumer])

    def carry_out_in(self, lane: Lane, position: int) -> None:
        consumer = lane.consumers[self.consumer]
        if lane.model != MODEL or consumer.state in (CRASHED, GONE):
            return

        def do(consumer: Consumer, cause: Cause) -> None:
            said = lane.emit(
                f"pulsar.consumer.{self.verb}", cause, None, self.given(), {"consumer": self.consumer}
            )
            lane.world.order(
                consumer.incarnation, self.order(lane.world.slots[consumer.incarnation].node.state), said
            )

        if self.MOVES:
            lane.act(self.kind, self.consumer, position, do)
        else:
            do(consumer, Cause(command=position))
        lane.say_ordered(f"pulsar.{self.verb}", consumer=self.consumer, **self.said())

    @property
    def verb(self) -> str:
        return self.kind.removeprefix("pulsar_")

    def given(self) -> Json:
        """The arguments that were given."""
        return {name: value for name, value in self.args().items() if value is not None}

    def said(self) -> Json:
        """What the lane's sentence names beside the consumer."""
        return {}


class HoldConsumerAcks(PulsarCommand):
    """It handles what it gets and acknowledges nothing: stuck, as its broker sees it."""

    kind: ClassVar[str] = "pulsar_hold_acks"

    def order(self, client: ConsumerState) -> ConsumerOrder:
        return HoldAcks()


class ReleaseConsumerAcks(PulsarCommand):
    """It acknowledges again, first what it held back."""

    kind: ClassVar[str] = "pulsar_release_acks"

    def order(self, client: ConsumerState) -> ConsumerOrder:
        return ReleaseAcks()


class RedeliverAll(PulsarCommand):
    """redeliverUnacknowledgedMessages(): it asks for everything again that it has and has not
    acknowledged."""

    kind: ClassVar[str] = "pulsar_redeliver"

    def order(self, client: ConsumerState) -> ConsumerOrder:
        return Redeliver()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekTo(PulsarCommand):
    """Its subscription reads on from an entry, of each partition, or from the first one published at or after
    a moment of virtual time."""

    kind: ClassVar[str] = "pulsar_seek"
    ARGS: ClassVar[frozenset[str]] = frozenset({"entry", "time_us"})

    entry: int | None = None
    time_us: int | None = None

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        entry, time_us = args.get("entry"), args.get("time_us")
        if (entry is None) == (time_us is None):
            raise CommandError("args.entry", "give either entry or time_us")
        return {
            "entry": None if entry is None else whole("args.entry", entry, 0, ENTRY_MAX),
            "time_us": None if time_us is None else whole("args.time_us", time_us, 0, TIME_US_MAX),
        }

    def args(self) -> Json:
        return {"entry": self.entry, "time_us": self.time_us}

    def order(self, client: ConsumerState) -> ConsumerOrder:
        return Seek(-1, self.time_us or 0) if self.entry is None else Seek(self.entry)


class UnsubscribeIt(PulsarCommand):
    """It takes its subscription away, with the cursor, and has no consumer then; the broker refuses that
    while another one is connected."""

    kind: ClassVar[str] = "pulsar_unsubscribe"

    def order(self, client: ConsumerState) -> ConsumerOrder:
        return Unsubscribe()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPriority(PulsarCommand):
    """It closes its consumer and subscribes again with this priority level; 0 is best."""

    kind: ClassVar[str] = "pulsar_priority"
    MOVES: ClassVar[bool] = True
    ARGS: ClassVar[frozenset[str]] = frozenset({"level"})

    level: int

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        return {"level": whole("args.level", args.get("level"), 0, PRIORITY_MAX)}

    def args(self) -> Json:
        return {"level": self.level}

    def carry_out_in(self, lane: Lane, position: int) -> None:
        if lane.model == MODEL:  # its next life has it, too
            consumer = lane.consumers[self.consumer]
            consumer.set_to = {**consumer.set_to, "priority": self.level}
        PulsarCommand.carry_out_in(self, lane, position)

    def order(self, client: ConsumerState) -> ConsumerOrder:
        return Resubscribe(client.ranges, self.level)

    def said(self) -> Json:
        return {"level": self.level}


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRanges(PulsarCommand):
    """It closes its consumer and subscribes again with these sticky ranges; whether an end is in its range is
    the rule's (`sticky.py`)."""

    kind: ClassVar[str] = "pulsar_ranges"
    MOVES: ClassVar[bool] = True
    ARGS: ClassVar[frozenset[str]] = frozenset({"ranges"})

    ranges: tuple[Range, ...]

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        return {"ranges": read_ranges(args.get("ranges"), "args.ranges")}

    def args(self) -> Json:
        return {"ranges": [list(pair) for pair in self.ranges]}

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_crashed(lane)
        if lane.algorithm not in STICKY:
            raise CommandError("consumer", "only consumers with sticky ranges name their ranges")
        check_ranges_of(lane.algorithm, self.ranges, "args.ranges")

    def carry_out_in(self, lane: Lane, position: int) -> None:
        if lane.algorithm in STICKY:
            # A class with slots is made again by its decorator, so a plain super() would not find it.
            PulsarCommand.carry_out_in(self, lane, position)

    def order(self, client: ConsumerState) -> ConsumerOrder:
        return Resubscribe(list(self.ranges))


PULSAR_COMMANDS: tuple[type[PulsarCommand], ...] = (
    HoldConsumerAcks,
    ReleaseConsumerAcks,
    RedeliverAll,
    SeekTo,
    SetPriority,
    SetRanges,
    UnsubscribeIt,
)
