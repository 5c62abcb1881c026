"""The dispatchers of many consumers, for tests of what they have in common. By auto-split, a first and then b
have the upper and the lower half."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.dispatchers.pending import PendingDispatcher, Sent
from broker_core.pulsar.dispatchers.shared import SharedDispatcher
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.selectors import SELECTORS

Many = SharedDispatcher | KeySharedDispatcher | DrainingDispatcher


def shared(**options: Any) -> SharedDispatcher:
    return SharedDispatcher(**options)


def ordered(algorithm: str = "auto_split", **options: Any) -> KeySharedDispatcher:
    return KeySharedDispatcher(SELECTORS[algorithm](), **options)


def current(algorithm: str = "auto_split", **options: Any) -> DrainingDispatcher:
    return DrainingDispatcher(SELECTORS[algorithm](), **options)


KINDS = pytest.mark.parametrize("kind", [shared, ordered, current])
BY_KEY = pytest.mark.parametrize("kind", [ordered, current])


def come(dispatcher: PendingDispatcher, hash32: int, *, size: int = 1, at_us: int = 0) -> list[Sent]:
    """One entry arrives: a batch of so many messages, or one that is not to be delivered before a moment."""
    position = dispatcher.cursor.end
    batch = tuple(range(100 * position, 100 * position + size)) if size > 1 else ()
    entry = dispatcher.entries[position] = Entry(hash32, position, batch=batch, deliver_at_us=at_us)
    sent = dispatcher.arrived(position, entry)
    dispatcher.check()
    return sent


def permits(dispatcher: Many) -> dict[str, int]:
    return {name: known.permits for name, known in dispatcher.consumers.items()}
