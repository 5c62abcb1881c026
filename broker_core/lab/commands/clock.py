"""The lab's clock: play, pause_lab, step, speed. None of them changes what a lane does, only when."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab import fields
from broker_core.lab.commands.base import ALL, Command
from broker_core.lab.facts import LabFacts
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Stops
from broker_core.lab.shared.ordered_lab import OrderedLab


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockCommand(Command):
    """An order to the whole lab."""

    @classmethod
    def make(cls, command_id: str, lane: str, consumer: object, args: Json, limits: Limits) -> Self:
        if lane != ALL:
            raise CommandError("lane", "the clock belongs to the whole lab: leave this out")
        if consumer is not None:
            raise CommandError(
                "consumer", "{kind} does not apply to one consumer: leave this out", kind=cls.kind
            )
        return cls(command_id=command_id, **cls.read_args(args))

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        """The arguments as this class's fields. Raises CommandError at the one that is wrong."""
        return {}

    def check(self, lab: LabFacts) -> None:
        """The clock obeys at any time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Play(ClockCommand):
    kind: ClassVar[str] = "play"

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        lab.playing = True
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseLab(ClockCommand):
    kind: ClassVar[str] = "pause_lab"

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        lab.playing = False
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(ClockCommand):
    """One record further."""

    kind: ClassVar[str] = "step"

    def check(self, lab: LabFacts) -> None:
        if lab.is_playing:
            raise CommandError("kind", "pause the lab before you step")

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        return lab.step()


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed(ClockCommand):
    """speed: of virtual time against the wall clock."""

    kind: ClassVar[str] = "speed"
    ARGS: ClassVar[frozenset[str]] = frozenset({"speed"})

    speed: float

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {"speed": fields.speed(args.get("speed"))}

    def args(self) -> Json:
        return {"speed": self.speed}

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        lab.speed_milli = round(self.speed * 1000)
        return ()
