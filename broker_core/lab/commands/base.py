"""What all commands share: their common fields, the check against a lab, and the way into a lab."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab import fields
from broker_core.lab.consumer import Consumer
from broker_core.lab.facts import LabFacts
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Stops
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.size import LaneSize, check_parts

ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(ABC):
    """One kind of order. lane: the lane it is for, or "all".

    A kind has its words in the page's catalogue under its name: `caption.<kind>`, `tick.<kind>` for what
    changes a lane, `verb.<kind>` for what stands beside a consumer.
    """

    kind: ClassVar[str]
    ARGS: ClassVar[frozenset[str]] = frozenset()
    """Names of its arguments."""

    command_id: str
    lane: str = ALL

    @classmethod
    @abstractmethod
    def make(cls, command_id: str, lane: str, consumer: object, args: Json, limits: Limits) -> Self:
        """Read the fields that belong to this kind. Raises CommandError at the one that is wrong."""

    @abstractmethod
    def check(self, lab: LabFacts) -> None:
        """Raise CommandError at the field for which this lab cannot carry the command out."""

    GROWS: ClassVar[str] = ""
    """The field that makes a lab larger, of a kind that does."""

    def grown(self, lane: LaneFacts) -> LaneSize | None:
        """What the lane's size is after it; None: it stays."""
        return None

    def growth(self, lab: LabFacts) -> int:
        """How many parts more the lab has after it (`lab/size.py`)."""
        if not self.GROWS:
            return 0
        sizes = [(lane.size, self.grown(lane)) for lane in self.targets(lab)]
        return sum(grown.parts - size.parts for size, grown in sizes if grown is not None)

    def check_all(self, lab: LabFacts) -> None:
        """`check`, and that the lab does not become too large."""
        self.check(lab)
        growth = self.growth(lab)
        if growth > 0:
            check_parts(self.GROWS, lab.parts + growth, lab.limits)

    def ask(self, lab: OrderedLab) -> None:  # noqa: B027  # most kinds have nothing to ask
        """Raise CommandError at the field for which the lab's nodes themselves would refuse it now; asked
        after `check_all`, and nothing changes."""

    @abstractmethod
    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        """Do it now, stopping after each lane (`lab/pieces.py`). `check_all` and `ask` come before. position:
        the command's place in the journal."""

    def args(self) -> Json:
        """The arguments, defaults filled in."""
        return {}

    def said(self) -> Json:
        """What caption and timeline may speak of: its arguments, or what they have to know of them."""
        return self.args()

    def consumer_name(self) -> str | None:
        """Whom it names."""
        return None

    def to_json(self) -> Json:
        """The journal's entry, without its place and time."""
        return {
            "command_id": self.command_id,
            "kind": self.kind,
            "lane": self.lane,
            "consumer": self.consumer_name(),
            "args": self.args(),
        }

    def targets(self, lab: LabFacts) -> Sequence[LaneFacts]:
        """The lanes that it is for. Raises CommandError when there is none of that name."""
        if self.lane == ALL:
            return list(lab.lanes.values())
        lane = lab.lanes.get(self.lane)
        if lane is None:
            raise CommandError("lane", "there is no lane {lane} in this lab", lane=self.lane)
        return [lane]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabCommand(Command):
    """An order to the whole lab, which it obeys at any time."""

    @classmethod
    def make(cls, command_id: str, lane: str, consumer: object, args: Json, limits: Limits) -> Self:
        if lane != ALL:
            raise CommandError("lane", "{kind} belongs to the whole lab: leave this out", kind=cls.kind)
        if consumer is not None:
            raise CommandError(
                "consumer", "{kind} does not apply to one consumer: leave this out", kind=cls.kind
            )
        return cls(command_id=command_id, **cls.read_args(args, limits))

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        """The arguments as this class's fields. Raises CommandError at the one that is wrong."""
        return {}

    def check(self, lab: LabFacts) -> None:
        """Any lab can do it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneCommand(Command):
    """An order about what a lane has of its own, its brokers or its producer: in each lane that has it, and
    of no consumer."""

    IS_PAST: ClassVar[bool] = True
    """A lane that is switched goes through it again."""

    @classmethod
    def make(cls, command_id: str, lane: str, consumer: object, args: Json, limits: Limits) -> Self:
        if consumer is not None:
            raise CommandError(
                "consumer", "{kind} does not apply to one consumer: leave this out", kind=cls.kind
            )
        return cls(command_id=command_id, lane=lane, **cls.read_args(args))

    @classmethod
    @abstractmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        """The arguments as this class's fields. Raises CommandError at the one that is wrong."""

    @abstractmethod
    def carry_out_in(self, lane: Lane, position: int) -> None:
        """In one lane; where the lane has nothing of the kind, nothing happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerCommand(Command):
    """An order about one consumer, in each lane that has it."""

    consumer: str

    @classmethod
    def make(cls, command_id: str, lane: str, consumer: object, args: Json, limits: Limits) -> Self:
        if consumer is None:
            raise CommandError("consumer", "name the consumer for {kind}", kind=cls.kind)
        return cls(
            command_id=command_id,
            lane=lane,
            consumer=fields.consumer_name(consumer),
            **cls.read_args(args, limits),
        )

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        """The arguments as this class's fields. Raises CommandError at the one that is wrong."""
        return {}

    def consumer_name(self) -> str:
        return self.consumer

    def check(self, lab: LabFacts) -> None:
        targets = self.targets(lab)
        holding = [lane for lane in targets if self.consumer in lane.names]
        if not holding:
            if self.lane == ALL:
                raise CommandError("consumer", "there is no consumer {consumer}", consumer=self.consumer)
            raise CommandError(
                "consumer",
                "there is no consumer {consumer} in {lane}",
                consumer=self.consumer,
                lane=self.lane,
            )
        for lane in holding:
            self.check_in(lane)

    @abstractmethod
    def check_in(self, lane: LaneFacts) -> None:
        """Raise CommandError if it makes no sense for this consumer in this lane."""

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        lanes = [lane for lane in lab.lanes_of(self.lane) if self.consumer in lane.consumers]
        meaning = self.meaning([lane.consumers[self.consumer] for lane in lanes])
        for lane in lanes:
            self.carry_out_in(lane, position)
            yield None
        lab.note(self, position, [self.consumer], meaning)

    def meaning(self, consumers: Sequence[Consumer]) -> Json:
        """What a caption must know of them as they are before the order, in its lanes: the same order can be
        another matter."""
        return {}

    def carry_out_in(self, lane: Lane, position: int) -> None:
        """In one lane, which has the consumer."""
        lane.change(self.kind, self.consumer, position)

    def refuse_crashed(self, lane: LaneFacts) -> None:
        if lane.consumer(self.consumer).has_crashed:
            raise CommandError(
                "consumer", "{consumer} has crashed; it can rejoin or leave", consumer=self.consumer
            )

    def refuse_frozen(self, lane: LaneFacts) -> None:
        if lane.consumer(self.consumer).is_frozen:
            raise CommandError("consumer", "{consumer} is frozen; resume or crash it", consumer=self.consumer)

    def refuse_held(self, lane: LaneFacts) -> None:
        """Of one that has crashed, is frozen or stuck."""
        self.refuse_crashed(lane)
        self.refuse_frozen(lane)
        if lane.consumer(self.consumer).is_stuck:
            raise CommandError("consumer", "{consumer} is stuck in a record", consumer=self.consumer)
