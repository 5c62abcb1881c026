"""A schedule: faults at their times. It is a lab's script, and prints as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.lab.commands import check_command
from broker_core.lab.limits import DEFAULT_LIMITS, Limits

OWN_IDS = "lab:break:"


@dataclass(frozen=True, slots=True)
class Fault:
    """One order of a schedule, for the lane that the promise is about."""

    at_us: int
    kind: str
    consumer: str | None = None
    args: Json = field(default_factory=dict)

    def body(self, lane: str, place: int, limits: Limits = DEFAULT_LIMITS) -> Json:
        """As a journal holds it. place: from 1."""
        raw = {"command_id": f"{OWN_IDS}{place}", "kind": self.kind, "lane": lane, "args": self.args}
        return check_command(raw | ({"consumer": self.consumer} if self.consumer else {}), limits)

    def to_json(self) -> Json:
        return {"at_us": self.at_us, "kind": self.kind, "consumer": self.consumer, "args": self.args}

    @classmethod
    def from_json(cls, raw: Json) -> Fault:
        return cls(raw["at_us"], raw["kind"], raw["consumer"], raw["args"])


Schedule = tuple[Fault, ...]


def in_turn(faults: Iterable[Fault]) -> Schedule:
    """By time; those of one moment keep their order."""
    return tuple(sorted(faults, key=lambda fault: fault.at_us))


def script_of(
    schedule: Sequence[Fault], lane: str, broken_us: int, limits: Limits = DEFAULT_LIMITS
) -> list[Json]:
    """A lab's script [{at_us, body}]: it hurries through the schedule, and is paused at the moment at which the promise
    broke."""
    hurry = {"command_id": f"{OWN_IDS}speed", "kind": "speed", "args": {"speed": 20}}
    end = {"command_id": f"{OWN_IDS}end", "kind": "pause_lab"}
    faults = [
        {"at_us": fault.at_us, "body": fault.body(lane, place, limits)}
        for place, fault in enumerate(schedule, start=1)
    ]
    return [
        {"at_us": 0, "body": check_command(hurry)},
        *faults,
        {"at_us": broken_us, "body": check_command(end)},
    ]
