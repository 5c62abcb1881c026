"""What a lane asks of whoever narrates its model: names for what the nodes tell, and the sentence."""

from __future__ import annotations

from typing import Protocol, TypeVar

from broker_core.events import Json, TurningPoint
from broker_core.lab.shared.bill import Bill

LaneOf = TypeVar("LaneOf", contravariant=True)


class Narrator(Protocol[LaneOf]):
    """Who says what a model's nodes told. LaneOf: what it asks of a lane."""

    def heard(self, lane: LaneOf, event: TurningPoint) -> TurningPoint | None:
        """A node tells this now, in the middle of its step. Returns it as a person reads it: with the names
        of consumers, and with what only somebody who sees all nodes can know. A node that has found a program
        dead tells so before it changes anything: then `lane.notice_crash` opens the bill, while who owns what
        is still as it was. None: it is no part of what the lab shows."""
        ...

    def told(self, lane: LaneOf, event: TurningPoint) -> None:
        """A node told this, here as `heard` gave it, and its step is over: choose the lane's sentence."""
        ...

    def sentence_now(self, lane: LaneOf) -> Json:
        """`lane.sentence`, or what is true in its place at this moment of a change."""
        ...

    def on_settled(self, lane: LaneOf, bill: Bill) -> None:
        """The last change has come to rest and its bill is closed."""
        ...
