"""A node is one process of the original: a broker, a coordinator's host, a master, a client program.

It is plain state and two entries, `receive` and `wake`; its outbox is its only way out. It sees no other
node's state, asks no clock and draws no chance of its own, so that a world is the same in every process, and
a checkpoint is its nodes' states and what is under way.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from broker_core.events import Cause, Json
from broker_core.sim.disk import Disk

PERSON = 0
"""The connection on which a person's orders arrive: from outside the world, at once."""


class Opened(msgspec.Struct, frozen=True, tag="sim.opened", array_like=True):
    """The first message on a connection, for the end that was connected to. peer: name of the node that
    connected."""

    peer: str


class Closed(msgspec.Struct, frozen=True, tag="sim.closed", array_like=True):
    """The last message on a connection. reason: "closed" by the peer in order, or "reset"."""

    reason: str


class Outbox(Protocol):
    """What a node can do. Everything it does here carries the cause of what the node is answering (see
    `World`)."""

    name: str
    disk: Disk

    def connect(self, to: str) -> int:
        """Open a connection to a node and give its number, good for sending at once. The peer first receives
        `Opened`."""
        ...

    def send(self, connection: int, message: Any) -> None:
        """Send on a connection, in order. What is sent to an end that is closed is lost. Raises
        InvariantError after `Closed` arrived."""
        ...

    def close(self, connection: int) -> None:
        """Close this end: what was sent before still arrives, then `Closed`; nothing arrives here any
        more."""
        ...

    def unsent(self, connection: int) -> int:
        """How many messages wait on this side because the connection is cut or full."""
        ...

    def deadline(self, name: str, at_us: int, because: Cause | None = None) -> None:
        """Wake this node at `at_us` with this name. One of the same name that is still ahead is moved.
        because: what it follows from, if not from what this node answers now."""
        ...

    def cancel(self, name: str) -> None:
        """Forget a deadline, if there is one of that name."""
        ...

    def draw(self, stream: str, limit: int) -> int:
        """A random integer of 0 to limit - 1 from the world's named stream."""
        ...

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        """Record a turning point. What this node does afterwards, until it returns, follows from it."""
        ...

    def because(self, cause: Cause) -> None:
        """What this node does from here until it returns follows from `cause`, which an earlier `tell` or
        `why` gave, not from what it answers."""
        ...

    def why(self) -> Cause:
        """What this node answers follows from this; for `because`, should it act on it later."""
        ...

    def blame_silence(self, connection: int) -> None:
        """What follows happens because nothing came on this connection: its cause is whatever silenced the
        peer or cut the link, if known."""
        ...


class Node(Protocol):
    """state: a dataclass that holds all that a checkpoint must keep, in annotated fields."""

    state: Any

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        """A message has arrived, on a connection or (PERSON) from outside."""
        ...

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """A deadline of this name is due."""
        ...
