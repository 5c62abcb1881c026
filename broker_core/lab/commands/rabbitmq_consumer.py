"""What a person lets a consuming program of a RabbitMQ lane do: take its messages another way, or settle at once all
that it holds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.lab.commands.base import ConsumerCommand
from broker_core.lab.consumer import CRASHED, GONE
from broker_core.lab.facts import LabFacts
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Stops
from broker_core.lab.rabbitmq.topology import (
    ABSENT,
    PRIORITY_MAX,
    Shape,
    flag,
    number,
    one_of,
    prefetch,
    row,
    text,
)
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.rabbitmq.client.roles import ACKS, ConsumerRole
from broker_core.rabbitmq.client.worker import ACK, NACK, Retake, Settle

MODEL = "rabbitmq"
SETTINGS: dict[str, str] = {
    "prefetch": "prefetch_count", "ack": "ack", "only": "only", "priority": "priority"
}  # fmt: skip
"""Argument -> field of the consumer's role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCommand(ConsumerCommand):
    """given: the arguments by SHAPE; None: leave that as it is."""

    SHAPE: ClassVar[Shape]

    given: Json

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        return {"given": row("args", args, cls.SHAPE)}

    def args(self) -> Json:
        return {key: value for key, value in self.given.items() if value is not None}

    def check(self, lab: LabFacts) -> None:
        lanes = {lane.id: lane for lane in self.targets(lab) if lane.model == MODEL}
        if not lanes:
            raise CommandError("lane", "there is no RabbitMQ lane here")
        ConsumerCommand.check(self, LabFacts(lanes, lab.is_playing, lab.limits))

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
        verb = self.kind.removeprefix("rabbitmq_")
        said = lane.emit(
            f"rabbitmq.consumer.{verb}",
            Cause(command=position),
            None,
            self.args(),
            {"consumer": self.consumer},
        )
        lane.world.order(consumer.incarnation, self.order(lane), said)
        lane.say_none_joined("none_work")

    @abstractmethod
    def order(self, lane: Lane) -> Retake | Settle: ...


class Consume(WorkerCommand):
    """It consumes with another prefetch count, way of acknowledging or priority."""

    kind: ClassVar[str] = "rabbitmq_consume"
    SHAPE = {
        "prefetch": (prefetch, None), "ack": (one_of(*ACKS), None), "only": (text, None),
        "priority": (number(-PRIORITY_MAX, PRIORITY_MAX), None),
    }  # fmt: skip
    ARGS = frozenset(SHAPE)

    def order(self, lane: Lane) -> Retake:
        consumer = lane.consumers[self.consumer]
        changed = {SETTINGS[key]: value for key, value in self.args().items()}
        consumer.set_to = {**consumer.set_to, **changed}
        role: ConsumerRole = lane.world.slots[consumer.incarnation].node.state.role
        now = {key: getattr(role, key) for key in SETTINGS.values()} | changed
        return Retake(now["prefetch_count"], now["ack"], now["only"], now["priority"])


class SettleAll(WorkerCommand):
    """It acknowledges, or gives back, all that it holds."""

    kind: ClassVar[str] = "rabbitmq_settle"
    SHAPE = {"how": (one_of(ACK, NACK), ABSENT), "requeue": (flag, True)}
    ARGS = frozenset(SHAPE)

    def order(self, lane: Lane) -> Settle:
        return Settle(self.given["how"], self.given["requeue"])


WORKER_COMMANDS: tuple[type[WorkerCommand], ...] = (Consume, SettleAll)
