"""Connections between nodes: in order, with delay, and with the faults that real ones have.

    sender ── queue ──► [ delay + jitter ] ──► receiver          one link per direction, two links a connection

A link keeps what is under way in a queue, and the world's heap holds one ticket for each message: when a
ticket is due, the message at the head of the queue is delivered. So messages of one link never overtake,
whatever happens to the link's delay meanwhile. While a link is cut or its receiver takes nothing (full),
tickets that come due are owed; they are handed out again when it heals.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

from broker_core.events import Cause
from broker_core.rng import SeededRandom

JITTER_COUNT = 1024
JITTER_MASK = JITTER_COUNT - 1
"""A message takes the jitter at the place that its moment and its link's number give: no state of a link, no
two links are late together, and how late it is does not follow from what else happened in the world."""
DEFAULT_DELAY_US = 1_000

CUT, FULL, DEAF, STOPPED, GONE, CLOSING = 1, 2, 4, 8, 16, 32
"""Link conditions, as bit flags. CUT and FULL hold what is sent on the sender's side, STOPPED (its process is
paused) on the receiver's. DEAF loses it, since the receiver has closed its end, and so does GONE, since the
receiver is no more. CLOSING: the last message is on its way. All in one number, so that a whole link costs a
message one look."""


@dataclass(slots=True)
class Route:
    """The cable from one node to another, under all connections of today and later; it outlives both
    processes.

    delay_us: None: as by the design. cut_by: cause of the cut.
    """

    sender: str
    receiver: str
    is_cut: bool = False
    delay_us: int | None = None
    cut_by: Cause | None = None


@dataclass(slots=True)
class LinkState:
    """One direction of a connection, in a checkpoint."""

    number: int  # of the link in its world, never given twice
    connection: int
    sender: int  # number of the node
    receiver: int  # number of the node
    delay_us: int  # one way, without jitter
    last_us: int = 0  # when the last message sent is due; no later one is due before it
    trouble: int = 0  # the flags above
    owed: int = 0  # tickets that came due while it was held
    cut_by: Cause | None = None
    queue: deque[tuple[Any, Cause | None]] = field(default_factory=deque)  # what is under way, with causes


class Receiver(Protocol):
    """The end of a link: a node's place in its world (`Slot`)."""

    number: int
    name: str
    condition: str
    has_machine: bool
    silenced_by: Cause | None
    links: dict[int, Link]
    stream: Any
    receive: Any


@final
class Link(LinkState):
    """One direction of a connection, in its world. to: the receiver, None once there is none."""

    __slots__ = ("to",)
    to: Receiver | None

    @property
    def is_held(self) -> bool:
        return self.trouble & (CUT | FULL) != 0


def jitter_table(random: SeededRandom, jitter_us: int) -> Sequence[int]:
    """JITTER_COUNT delays of 0 to `jitter_us` inclusive, from one draw: a draw for each message would cost
    more than the message.

    >>> table = jitter_table(SeededRandom(7), 100)
    >>> len(table), min(table) >= 0, max(table) <= 100
    (1024, True, True)
    """
    if jitter_us == 0:
        return (0,) * JITTER_COUNT
    drawn = random.bits("network.jitter", JITTER_COUNT * 16).to_bytes(JITTER_COUNT * 2, "little")
    return tuple(
        int.from_bytes(drawn[at : at + 2], "little") * (jitter_us + 1) >> 16 for at in range(0, len(drawn), 2)
    )


def due_us(link: Link, now_us: int, jitter: Sequence[int]) -> int:
    """When a message sent now arrives, were the link in order. Never before one that was sent earlier."""
    at_us = now_us + link.delay_us + jitter[(now_us + link.number) & JITTER_MASK]
    if at_us < link.last_us:
        return link.last_us
    link.last_us = at_us
    return at_us
