"""What a Pulsar broker sent to whom, entry by entry, where the producer makes batches: under Key_Shared it
looks at an entry's first key alone.

    entry 12   [k1 k7 k3]   sent to k1's owner       k7 and k3 are misplaced, where they belong to somebody else

In the other types no key has an owner, and nothing is misplaced. What is sent again counts again: it is a
delivery like the first.
Source: Pulsar 3.2 client `BatchMessageContainerImpl` (the metadata of a batch is that of its first message),
broker `PersistentStickyKeyDispatcherMultipleConsumers` (the sticky key is the entry's).
"""

from __future__ import annotations

from dataclasses import dataclass, field

KEPT = 24
"""Entries whose messages are remembered, those sent last."""


@dataclass(slots=True)
class SentEntry:
    """place: of its topic or partition among the lane's; position: there. consumer: name of the program that
    it was sent to last. messages: their numbers. owners: program whose key each of them had at that moment,
    None for nobody's; empty where keys have no owner. times: how often it was sent. at_us: when, the last
    time."""

    place: int
    position: int
    consumer: str
    at_us: int
    messages: list[int]
    owners: list[str | None]
    times: int = 1


@dataclass(slots=True)
class BatchNotes:
    """entries, messages: sent so far. mixed: those entries with more than one key. misplaced: messages that
    went to a consumer which did not own their key. recent: place and position -> entry, in the order in which
    they were sent last."""

    entries: int = 0
    messages: int = 0
    mixed: int = 0
    misplaced: int = 0
    recent: dict[str, SentEntry] = field(default_factory=dict)
