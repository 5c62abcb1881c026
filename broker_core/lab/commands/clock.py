"""The lab's clock: play, play_until, pause_lab, step, speed. None of them changes what a lane does, only when."""

from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab import fields
from broker_core.lab.commands.base import LabCommand
from broker_core.lab.facts import LabFacts
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Stops
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.workload.none import NEVER_US


class ClockCommand(LabCommand):
    """An order to the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Play(ClockCommand):
    kind: ClassVar[str] = "play"

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        lab.play()
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayUntil(ClockCommand):
    """Play, and pause at a moment. until_us: of virtual time. speed: on the way there; None: the lab's own."""

    kind: ClassVar[str] = "play_until"
    ARGS: ClassVar[frozenset[str]] = frozenset({"until_us", "speed"})

    until_us: int
    speed: float | None

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        until_us = fields.whole("args.until_us", args.get("until_us"), 1, fields.MOMENT_US_MAX)
        given = args.get("speed")
        return {"until_us": until_us, "speed": None if given is None else fields.speed(given)}

    def args(self) -> Json:
        return {"until_us": self.until_us, "speed": self.speed}

    def ask(self, lab: OrderedLab) -> None:
        if self.until_us <= lab.now_us:
            raise CommandError("args.until_us", "must be after now, which is {now} us", now=lab.now_us)

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        lab.play(self.until_us, None if self.speed is None else round(self.speed * 1000))
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseLab(ClockCommand):
    kind: ClassVar[str] = "pause_lab"

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        lab.pause()
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(ClockCommand):
    """One record further."""

    kind: ClassVar[str] = "step"

    def check(self, lab: LabFacts) -> None:
        if lab.is_playing:
            raise CommandError("kind", "pause the lab before you step")

    def ask(self, lab: OrderedLab) -> None:
        if lab.next_arrival_us >= NEVER_US:
            raise CommandError("kind", "this lab has no records")

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        return lab.step()


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed(ClockCommand):
    """speed: of virtual time against the wall clock. at_changes: while a lane is changing; None: the same. A way to a
    moment that has a speed of its own keeps that."""

    kind: ClassVar[str] = "speed"
    ARGS: ClassVar[frozenset[str]] = frozenset({"speed", "at_changes"})

    speed: float
    at_changes: float | None = None

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        given = args.get("at_changes")
        at_changes = None if given is None else fields.speed(given, "args.at_changes")
        return {"speed": fields.speed(args.get("speed")), "at_changes": at_changes}

    def args(self) -> Json:
        return {"speed": self.speed} | ({} if self.at_changes is None else {"at_changes": self.at_changes})

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        lab.speed_milli = round(self.speed * 1000)
        lab.change_milli = None if self.at_changes is None else round(self.at_changes * 1000)
        return ()
