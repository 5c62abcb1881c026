"""What a picture asks of a lane: answers read from the states of its world's nodes, of whichever model. They
change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from broker_core.events import Json
from broker_core.lab.consumer import Consumer
from broker_core.lab.shared.bill import Space

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


class Reading(Protocol):
    """notes: what the model's observers remember, a dataclass of annotated fields that a checkpoint holds;
    None where they need nothing.
    fresh: codes of the keys of messages that were published and are not in the notes yet; None where nobody
    counts them."""

    notes: Any

    @property
    def fresh(self) -> list[int] | None: ...

    def would_wait(self, lane: Lane, index: int, code: int) -> bool:
        """Whether a message that is published now finds nobody alive who could take it."""
        ...

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
        """Whether the broker serves this living program: it has let it in, and it is not waiting for its
        first assignment."""
        ...

    def has_failed(self, lane: Lane, consumer: Consumer) -> bool:
        """Whether this program has ended with an exception of its own; its machine is there, and does nothing
        more."""
        ...

    def stopped(self, lane: Lane) -> Mapping[str, int]:
        """Partitions that no consumer may read at the moment, with since when; empty in a model without
        partitions."""
        ...

    def lag(self, lane: Lane) -> int: ...

    def route(self, lane: Lane, index: int, code: int) -> Json: ...

    def picture(self, lane: Lane) -> Json: ...

    def check(self, lane: Lane) -> None:
        """Raise InvariantError where a law of the model is broken. Asked after each command, and at the end
        of a second in which anything was reported or a change was under way, and of every fifth; so it is to
        cost no more than a few microseconds a consumer."""
        ...
