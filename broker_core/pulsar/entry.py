"""An entry of a topic: one message, or a batch that the broker handles as one. What a consumer is sent, what
a cursor counts."""

from __future__ import annotations

import msgspec


class Entry(msgspec.Struct, array_like=True, omit_defaults=True, gc=False):
    """hash32: unsigned murmur3 of the sticky key. message, key: number of the first message, and the code of
    its sticky key: its ordering key, or else its key (-1: it has none). published_us: when the broker took
    it. batch: numbers of all messages of a batch, empty for a message on its own. deliver_at_us: not before
    this moment, 0 for at once. reconsumed: how often it has been through a retry letter topic. fallback: what
    was hashed in place of a key, see `fallback_key`; "" where that is no name."""

    hash32: int
    message: int = -1
    key: int = -1
    published_us: int = 0
    batch: tuple[int, ...] = ()
    deliver_at_us: int = 0
    reconsumed: int = 0
    fallback: str = ""

    @property
    def size(self) -> int:
        """How many messages it holds; each takes one permit."""
        return len(self.batch) or 1


def fallback_key(producer: str, sequence_id: int) -> str:
    """What current Pulsar hashes for a message with neither key nor ordering key, so that such messages
    spread over the consumers; 3.2 hashes "NONE_KEY" for each. sequence_id: of a batch that of its metadata.
    Source: master of April 2026, Commands.resolveStickyKey.

    >>> fallback_key("standalone-0-1", 7)
    'standalone-0-1-7'
    """
    return f"{producer}-{sequence_id}"


Entries = dict[int, Entry]
"""Position -> entry: those that some subscription of the topic has not acknowledged."""
