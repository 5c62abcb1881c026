"""What a lane asks of its model: how its world is built and ordered about, what its turning points mean, and what its state says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import Consumer
from broker_core.lab.observers.bill import Bill, Space
from broker_core.sim.slot import Slot
from broker_core.sim.world import Design

if TYPE_CHECKING:
    from broker_core.lab.lanes.lane import Lane


class LaneModel(Protocol):
    """One model under a lane. What there is to know is in the lane's world; besides it, a model keeps caches and its observers' notes.

    notes: a dataclass of annotated fields that a checkpoint holds, None for a model that remembers nothing.
    """

    name: str
    keys_have_owners: bool
    notes: Any

    def design(self, lane: Lane) -> Design:
        """Kinds of nodes and messages."""
        ...

    def begin(self, lane: Lane) -> None:
        """Start the brokers and the publishers, `head_start_us` before time 0."""
        ...

    def head_start_us(self, lane: Lane) -> int:
        """How long before time 0 the lane's processes start, so that those who are there from the start are served at 0."""
        ...

    def forget_caches(self) -> None:
        """The lane was restored, or who owns what has changed."""
        ...

    def restored(self, lane: Lane) -> None:
        """The lane was restored: fill again what a checkpoint leaves out because it follows from the records."""
        ...

    # -- a person's verbs -----------------------------------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, Any]]]:
        """Who publishes, and what it does with a record, given its number and the code of its key: connection and message to send."""
        ...

    def tidy(self, lane: Lane, second: int) -> None:
        """A full second is over: drop what nobody will look at again."""
        ...

    def would_wait(self, lane: Lane, index: int, code: int) -> bool:
        """Whether a message that is published now finds nobody alive who could take it."""
        ...

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None: ...

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None: ...

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        """The program's machine has gone silent: say what that will lead to, and set the consumer's deadline if it is known."""
        ...

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None: ...

    # -- what happened --------------------------------------------------------------------------------------------------------------------

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        """A node tells this now, in the middle of its step. Returns it as a person reads it: with the names of consumers, and with what only
        somebody who sees all nodes can know. A node that has found a program dead tells so before it changes anything: then
        `lane.notice_crash` opens the bill, while who owns what is still as it was."""
        ...

    def told(self, lane: Lane, event: TurningPoint) -> None:
        """A node told this, here as `heard` gave it, and its step is over: choose the lane's sentence."""
        ...

    def sentence_now(self, lane: Lane) -> Json:
        """`lane.sentence`, or what is true in its place at this moment of a change."""
        ...

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        """The last change has come to rest and its bill is closed."""
        ...

    # -- what the state says --------------------------------------------------------------------------------------------------------------

    def weights(self, lane: Lane) -> dict[str, int]: ...

    def key_owners(self, lane: Lane) -> list[str | None] | None: ...

    def units(self, lane: Lane) -> dict[str, str | None] | None: ...

    def space(self, lane: Lane) -> Space | None: ...

    def is_settled(self, lane: Lane) -> bool: ...

    def dark_units(self, lane: Lane) -> tuple[int, int]: ...

    def stuck(self, lane: Lane) -> tuple[int, int]: ...

    def waiting_for(self, lane: Lane, consumer: Consumer) -> int: ...

    def way_in(self, lane: Lane) -> str: ...

    def redelivered(self, lane: Lane) -> int: ...

    def held(self, lane: Lane, consumer: Consumer) -> int: ...

    def is_served(self, lane: Lane, consumer: Consumer) -> bool:
        """Whether the broker serves this living program: it has let it in, and it is not waiting for its first assignment."""
        ...

    def algorithms(self) -> list[Json]: ...

    def stopped(self, lane: Lane) -> Mapping[str, int]:
        """Partitions that nobody may read at the moment, with since when; empty in a model without partitions."""
        ...

    def lag(self, lane: Lane) -> int: ...

    def route(self, lane: Lane, index: int, code: int) -> Json: ...

    def picture(self, lane: Lane) -> Json: ...

    def check(self, lane: Lane) -> None:
        """Raise InvariantError where a law of the model is broken. Asked after each command and at each full second, so it is to cost no more
        than a few microseconds a consumer."""
        ...
