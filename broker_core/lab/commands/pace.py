"""How fast a consumer works: pause, resume, slow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab import fields
from broker_core.lab.commands.base import ConsumerCommand
from broker_core.lab.consumer import Consumer
from broker_core.lab.limits import Limits
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.pace import ends_no_pause

SLOW_RATE_DEFAULT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(ConsumerCommand):
    """Its program takes no more records; its client goes on answering."""

    kind: ClassVar[str] = "pause"

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_held(lane)
        if lane.consumer(self.consumer).is_paused:
            raise CommandError("consumer", "{consumer} is already paused", consumer=self.consumer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(ConsumerCommand):
    """The end of a pause; of one that is not paused, the end of its own pace."""

    kind: ClassVar[str] = "resume"

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_held(lane)
        known = lane.consumer(self.consumer)
        if not known.is_paused and not known.has_own_pace:
            raise CommandError("consumer", "{consumer} is neither paused nor slow", consumer=self.consumer)

    def meaning(self, consumers: Sequence[Consumer]) -> Json:
        return {"full_speed": True} if all(ends_no_pause(consumer) for consumer in consumers) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow(ConsumerCommand):
    """rate: records a second from now on."""

    kind: ClassVar[str] = "slow"
    ARGS: ClassVar[frozenset[str]] = frozenset({"rate"})

    rate: int

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        return {
            "rate": fields.whole(
                "args.rate", args.get("rate", SLOW_RATE_DEFAULT), 1, limits.service_per_second_max
            )
        }

    def args(self) -> Json:
        return {"rate": self.rate}

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_held(lane)

    def carry_out_in(self, lane: Lane, position: int) -> None:
        lane.change(self.kind, self.consumer, position, SECOND_US // self.rate)
