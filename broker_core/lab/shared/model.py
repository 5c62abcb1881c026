"""What a lane asks of its model: to build its world, and to carry out what a person orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import Consumer
from broker_core.lab.pieces import Pieces
from broker_core.lab.shared.narrator import Narrator
from broker_core.lab.shared.reading import Reading
from broker_core.sim.design import Design
from broker_core.sim.slot import Slot

LaneOf = TypeVar("LaneOf", contravariant=True)


class LaneModel(Protocol[LaneOf]):
    """One model under a lane: it builds the world, and carries out what a person orders. reads: what its
    nodes' states say. narrator: what is reported of them. sends_at_once: the publisher sends each record when
    it gets it; else it is a program that collects, waits and repeats."""

    name: str
    keys_have_owners: bool
    sends_at_once: bool

    @property
    def reads(self) -> Reading: ...

    @property
    def narrator(self) -> Narrator[Any]: ...

    def algorithms(self) -> list[Json]: ...

    def design(self, lane: LaneOf) -> Design:
        """Kinds of nodes and messages."""
        ...

    def begin(self, lane: LaneOf) -> Pieces[None]:
        """Start the brokers and the publishers, `head_start_us` before time 0, in pieces."""
        ...

    def head_start_us(self, lane: LaneOf) -> int:
        """How long before time 0 the lane's processes start, so that those who are there from the start are
        served at 0."""
        ...

    def forget_caches(self) -> None:
        """The lane was restored, or who owns what has changed."""
        ...

    # -- a person's verbs ------------------------------------------------------------------------------------

    def publisher(self, lane: LaneOf) -> tuple[Slot, Callable[[int, int], tuple[int, Any]]]:
        """Who publishes, and what it does with a record, given its number and the code of its key: connection
        and message to send."""
        ...

    def tidy(self, lane: LaneOf, second: int) -> None:
        """A full second is over: drop what nobody will look at again."""
        ...

    def join(self, lane: LaneOf, joiners: Sequence[Consumer], cause: Cause) -> None: ...

    def leave(self, lane: LaneOf, consumer: Consumer, cause: Cause) -> None: ...

    def crash(self, lane: LaneOf, consumer: Consumer, cause: Cause) -> None:
        """The program's machine has gone silent: say what that will lead to, and set the consumer's deadline
        if it is known."""
        ...

    def rejoin(self, lane: LaneOf, consumer: Consumer, cause: Cause) -> None: ...

    def told(self, lane: LaneOf, event: TurningPoint) -> None:
        """A node told this and its step is over, before anything is said of it: what the lab itself has to do
        then."""
        ...

    def between(self, lane: LaneOf) -> None:
        """Between two steps, of which the first told something: what nodes cannot do to their own world."""
        ...
