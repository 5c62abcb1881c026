"""Another rule for a lane: its algorithm, or how Key_Shared keeps a key in order."""

from dataclasses import dataclass
from typing import ClassVar, Self

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.commands.base import ALL, Command
from broker_core.lab.facts import LabFacts
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Stops
from broker_core.lab.pulsar.facts import PulsarFacts
from broker_core.lab.pulsar.options import ORDERS
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.size import LaneSize


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAlgorithm(Command):
    """The lane is built again under the other rule, and goes through its history again."""

    kind: ClassVar[str] = "set_algorithm"
    GROWS: ClassVar[str] = "args.algorithm"
    ARGS: ClassVar[frozenset[str]] = frozenset({"algorithm"})

    algorithm: str

    @classmethod
    def make(cls, command_id: str, lane: str, consumer: object, args: Json, limits: Limits) -> Self:
        if lane == ALL:
            raise CommandError("lane", "name the lane whose algorithm changes")
        if consumer is not None:
            raise CommandError(
                "consumer", "{kind} does not apply to one consumer: leave this out", kind=cls.kind
            )
        algorithm = args.get("algorithm")
        if not isinstance(algorithm, str) or not 1 <= len(algorithm) <= 64:
            raise CommandError("args.algorithm", "must be the id of an algorithm")
        return cls(command_id=command_id, lane=lane, algorithm=algorithm)

    def args(self) -> Json:
        return {"algorithm": self.algorithm}

    def check(self, lab: LabFacts) -> None:
        (lane,) = self.targets(lab)
        if self.algorithm not in lane.algorithms:
            raise CommandError("args.algorithm", "must be one of {choices}", choices=Names(lane.algorithms))
        if self.algorithm == lane.algorithm:
            raise CommandError(
                "args.algorithm", "{lane} already runs {algorithm}", lane=lane.id, algorithm=self.algorithm
            )

    def grown(self, lane: LaneFacts) -> LaneSize | None:
        return lane.sizes.get(self.algorithm)

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        yield from lab.switch(self.lane, self.algorithm, position)
        lab.note(self, position, [])


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOrder(Command):
    """A Pulsar lane is built again under another order rule of Key_Shared, and goes through its history
    again."""

    kind: ClassVar[str] = "set_order"
    ARGS: ClassVar[frozenset[str]] = frozenset({"order"})

    order: str

    @classmethod
    def make(cls, command_id: str, lane: str, consumer: object, args: Json, limits: Limits) -> Self:
        if lane == ALL:
            raise CommandError("lane", "name the lane whose order rule changes")
        if consumer is not None:
            raise CommandError(
                "consumer", "{kind} does not apply to one consumer: leave this out", kind=cls.kind
            )
        order = args.get("order")
        if order not in ORDERS:
            raise CommandError("args.order", "must be one of {choices}", choices=Names(ORDERS))
        return cls(command_id=command_id, lane=lane, order=order)

    def args(self) -> Json:
        return {"order": self.order}

    def check(self, lab: LabFacts) -> None:
        (lane,) = self.targets(lab)
        if not isinstance(lane, PulsarFacts) or lane.order is None:
            raise CommandError("lane", "only Key_Shared has an order rule")
        if self.order == lane.order:
            raise CommandError(
                "args.order", "{lane} already runs {algorithm}", lane=lane.id, algorithm=self.order
            )

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        yield from lab.switch_order(self.lane, self.order, position)
        lab.note(self, position, [])
