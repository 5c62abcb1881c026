"""What a picture asks of a lane: answers read from the states of its world's nodes, of whichever model. They
change nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from broker_core.events import Json
from broker_core.lab.consumer import Consumer
from broker_core.lab.shared.bill import Space


class Reading(Protocol):
    """lane: whose it is, which sets it. notes: what the model's observers remember, a dataclass of annotated fields that a checkpoint holds;
    None where they need nothing.
    fresh: codes of the keys of messages that were published and are not in the notes yet; None where nobody
    counts them."""

    lane: Any
    notes: Any

    @property
    def fresh(self) -> list[int] | None: ...

    def would_wait(self, index: int, code: int) -> bool:
        """Whether a message that is published now finds nobody alive who could take it."""
        ...

    def weights(self) -> dict[str, int]:
        """Consumer name -> records so far whose key (or partition) is its own now; where keys have no owner,
        records lately finished."""
        ...

    def key_owners(self) -> list[str | None] | None:
        """Owner of each live key, by first appearance; None: in this model keys have no owner."""
        ...

    def units(self) -> dict[str, str | None] | None:
        """Partition -> owner; None: this model shares by key or by record, not by partition."""
        ...

    def space(self) -> Space | None:
        """Who owns which part of the hash space; None: this model has none."""
        ...

    def is_settled(self) -> bool:
        """Whether the last change has come to rest. A crash that the brokers have not noticed yet has changed
        nothing."""
        ...

    def dark_units(self) -> tuple[int, int]:
        """How many units nobody serves, and how many there are (`darkness.py`)."""
        ...

    def stuck(self) -> tuple[int, int]:
        """Live keys that nobody serves, and all; where keys have no owner, unacked records that the dead
        hold, and all."""
        ...

    def waiting_for(self, consumer: Consumer) -> int:
        """Records that wait for this consumer: in its hands, sent to it, or where only it reads."""
        ...

    def way_in(self) -> str:
        """How this lane takes a newcomer in, for the words that tell it beforehand: ring, halves, exclusive,
        failover, standby, eager, cooperative, restart, newcomer, dealt, cycle, turn."""
        ...

    def redelivered(self) -> int:
        """Messages given to somebody a second time so far."""
        ...

    def held(self, consumer: Consumer) -> int:
        """Records the broker has given to this consumer and not yet seen acknowledged."""
        ...

    def is_served(self, consumer: Consumer) -> bool:
        """Whether the broker serves this living program: it has let it in, and it is not waiting for its
        first assignment."""
        ...

    def has_failed(self, consumer: Consumer) -> bool:
        """Whether this program has ended with an exception of its own; its machine is there, and does nothing
        more."""
        ...

    def stopped(self) -> Mapping[str, int]:
        """Partitions that no consumer may read at the moment, with since when; empty in a model without
        partitions."""
        ...

    def owned_twice(self) -> Collection[str]:
        """Partitions that two programs hold at this moment, each believing that it alone does; a frozen program continues
        where it stopped, so it counts. Empty in a model without partitions."""
        ...

    def lag(self) -> int:
        """Records that arrived and are not done."""
        ...

    def lost(self) -> int | None:
        """Records that no consumer will get any more, though the program that sent them is done with them; None where
        nobody counts them."""
        ...

    def route(self, index: int, code: int) -> Json:
        """Where record `index` went, step by step."""
        ...

    def picture(self) -> Json: ...

    def check(self) -> None:
        """Raise InvariantError where a law of the model is broken. Asked after each command, and at the end
        of a second in which anything was reported or a change was under way, and of every fifth; so it is to
        cost no more than a few microseconds a consumer."""
        ...
