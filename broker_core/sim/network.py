"""Connections between nodes: in order, with delay, and with the faults that real ones have.

    sender ── queue ──► [ delay + jitter ] ──► receiver          one link per direction, two links a connection

A link keeps what is under way in a queue, and the world's heap holds one ticket for each message: when a ticket is due, the message at the
head of the queue is delivered. So messages of one link never overtake, whatever happens to the link's delay meanwhile. While a link is cut
or its receiver takes nothing (full), tickets that come due are owed; they are handed out again when it heals.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.events import Cause
from broker_core.rng import SeededRandom

JITTER_COUNT = 1024
DEFAULT_DELAY_US = 1_000


CUT, FULL, DEAF = 1, 2, 4


@dataclass(slots=True)
class Link:
    """One direction of a connection.

    number: of the link in its world, never given twice. sender, receiver: numbers of the nodes. delay_us: one way, without jitter.
    turn: place of its next jitter in the table; links begin at different places, else all would be late together. last_us: when the last
    message sent is due; no later one is due before it.
    trouble: CUT and FULL hold what is sent, DEAF loses it, since the receiver has closed its end. owed: tickets that came due while held.
    cut_by: cause of the cut. queue: what is under way, with causes.
    """

    number: int
    connection: int
    sender: int
    receiver: int
    delay_us: int
    turn: int = 0
    last_us: int = 0
    trouble: int = 0
    owed: int = 0
    cut_by: Cause | None = None
    queue: deque[tuple[Any, Cause | None]] = field(default_factory=deque)

    @property
    def is_held(self) -> bool:
        return self.trouble & (CUT | FULL) != 0


def jitter_table(random: SeededRandom, jitter_us: int) -> Sequence[int]:
    """JITTER_COUNT delays of 0 to `jitter_us` inclusive, from one draw: a draw for each message would cost more than the message.

    >>> table = jitter_table(SeededRandom(7), 100)
    >>> len(table), min(table) >= 0, max(table) <= 100
    (1024, True, True)
    """
    if jitter_us == 0:
        return (0,) * JITTER_COUNT
    drawn = random.bits("network.jitter", JITTER_COUNT * 16).to_bytes(JITTER_COUNT * 2, "little")
    return tuple(int.from_bytes(drawn[at : at + 2], "little") * (jitter_us + 1) >> 16 for at in range(0, len(drawn), 2))


def due_us(link: Link, now_us: int, jitter: Sequence[int]) -> int:
    """When a message sent now arrives, were the link in order. Never before one that was sent earlier."""
    at_us = now_us + link.delay_us + jitter[link.turn]
    link.turn = (link.turn + 1) % JITTER_COUNT
    if at_us < link.last_us:
        return link.last_us
    link.last_us = at_us
    return at_us
