"""An entry of a topic: one message, or a batch that the broker handles as one. What a consumer is sent, what a cursor counts."""

from __future__ import annotations

import msgspec


class Entry(msgspec.Struct, array_like=True, omit_defaults=True, gc=False):
    """hash32: unsigned murmur3 of the sticky key. message, key: number of the first message, and the code of its sticky key: its ordering key,
    or else its key (-1: it has none). published_us: when the broker took it. batch: numbers of all messages of a batch, empty for a message by
    itself. deliver_at_us: not before this moment, 0 for at once. reconsumed: how often it has been through a retry letter topic."""

    hash32: int
    message: int = -1
    key: int = -1
    published_us: int = 0
    batch: tuple[int, ...] = ()
    deliver_at_us: int = 0
    reconsumed: int = 0

    @property
    def size(self) -> int:
        """How many messages it holds; each takes one permit."""
        return len(self.batch) or 1


Entries = dict[int, Entry]
"""Position -> entry: those that some subscription of the topic has not acknowledged."""
