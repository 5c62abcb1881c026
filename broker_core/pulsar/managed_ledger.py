"""The entries of a topic in their order, and which of them are kept.

    trimmed   | kept                    |
    0 1 2 3 4 | 5 6 7 8 9 10 11 12 13 14 |     first 5, end 15

In a checkpoint they are blocks of columns, each number as what it has more than the one before, and without
their hashes, which follow from their keys: a backlog of thousands of entries is most of a checkpoint. A block
that is full is encoded once, and is the same bytes in each later checkpoint, which is packed against it.

Source: Pulsar 3.2 `ManagedLedgerImpl`, here one ledger; entries go once every cursor has passed them and none
is retained.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any, Self

import msgspec

from broker_core.hashing.murmur3 import murmur3_32
from broker_core.plain import from_steps, to_steps
from broker_core.pulsar.entry import Entries, Entry

BLOCK = 512
"""Positions of a block in a checkpoint."""


class ManagedLedger:
    """entries: by position, those that are kept. first: lowest position that is kept; end: of the next one.
    in_batches: messages that came in batches, without the first of each."""

    __slots__ = ("_full_blocks", "end", "entries", "first", "in_batches")

    def __init__(self) -> None:
        self.entries: Entries = {}
        self._full_blocks: dict[int, bytes] = {}  # first position ->
        self.first = self.end = self.in_batches = 0

    @property
    def messages(self) -> int:
        """How many it has taken in all its entries, also in those that are not kept any more."""
        return self.end + self.in_batches

    def append(self, entry: Entry) -> int:
        """Take an entry. Returns its position."""
        position = self.end
        self.entries[position] = entry
        self.end = position + 1
        if entry.batch:
            self.in_batches += len(entry.batch) - 1
        return position

    def trim(self, until: int) -> None:
        """Forget all entries before this position."""
        entries, first = self.entries, self.first
        if until > first:
            list(map(entries.pop, range(first, until)))
            self.first = until

    def first_at(self, at_us: int) -> int:
        """Position of the first entry published at or after a moment; the end if there is none."""
        kept = range(self.first, self.end)
        return self.first + bisect_left(kept, at_us, key=lambda position: self.entries[position].published_us)

    def know_hashes(self, hash_of: Callable[[int], int]) -> None:
        """After a restore: the hashes of the keys again."""
        for entry in self.entries.values():
            entry.hash32 = murmur3_32(entry.fallback) if entry.fallback else hash_of(entry.key)

    def to_json(self) -> dict[str, Any]:
        """Whole state, plain, but for the hashes."""
        known, full, blocks = self._full_blocks, {}, []
        for begin in range(self.first // BLOCK * BLOCK, self.end, BLOCK):
            start, stop = max(begin, self.first), min(begin + BLOCK, self.end)
            if stop - start == BLOCK:
                block = full[begin] = known.get(begin) or self._encoded(start, stop)
            else:
                block = self._encoded(start, stop)
            blocks.append(block)
        self._full_blocks = full
        return {"first": self.first, "end": self.end, "in_batches": self.in_batches, "blocks": blocks}

    def _encoded(self, start: int, stop: int) -> bytes:
        """The entries of these positions, plain. At the end what is not as for a single message with a key,
        sent at once: position -> batch, delivery, times reconsumed, fallback."""
        positions = range(start, stop)
        kept = list(map(self.entries.__getitem__, positions))
        unusual = {
            position: (entry.batch, entry.deliver_at_us, entry.reconsumed, entry.fallback)
            for position, entry in zip(positions, kept, strict=True)
            if entry.batch or entry.deliver_at_us or entry.reconsumed or entry.fallback
        }
        keys, messages, published = (
            [entry.key for entry in kept],
            to_steps(entry.message for entry in kept),
            to_steps(entry.published_us for entry in kept),
        )
        return msgspec.msgpack.encode((keys, messages, published, unusual))

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The ledger that wrote `state`; `know_hashes` makes it whole."""
        ledger = cls()
        ledger.first, ledger.end, ledger.in_batches = state["first"], state["end"], state["in_batches"]
        entries = ledger.entries
        for block in state["blocks"]:
            keys, messages, published, unusual = msgspec.msgpack.decode(block, strict=False)
            columns = keys, from_steps(messages), from_steps(published)
            for position, (key, message, published_us) in enumerate(
                zip(*columns, strict=True), ledger.first + len(entries)
            ):
                entries[position] = Entry(0, message, key, published_us)
            for position, (batch, deliver_at_us, reconsumed, fallback) in unusual.items():
                entry = entries[position]
                entry.batch, entry.deliver_at_us = tuple(batch), deliver_at_us
                entry.reconsumed, entry.fallback = reconsumed, fallback
        return ledger
