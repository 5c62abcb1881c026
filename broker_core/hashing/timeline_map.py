"""The order in which Kafka's TimelineHashMap hands out its keys, which is not that of a java.util.HashMap.

Its table begins with two slots, doubles when three quarters of the keys and one more do not fit, picks a slot
by Fibonacci hashing, and walks each slot from the newest key to the oldest. Source: Kafka 3.9
org.apache.kafka.timeline.BaseHashTable, SnapshottableHashTable.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.hashing.java_hash import string_hash

_FIBONACCI = -7046029254386353131


def timeline_order(keys: Iterable[str], size_peak: int = 0) -> list[str]:
    """Give `keys`, inserted in the order given and each put a second time later, in the map's order.

    size_peak: how many keys the map has held at once, if that was more.

    >>> timeline_order(["a", "b", "c"])
    ['b', 'c', 'a']
    """
    listed = list(dict.fromkeys(keys))
    bits = 1
    while 3 * (max(len(listed), size_peak) + 1) > 4 << bits:
        bits += 1
    shift = 64 - bits
    slots: dict[int, list[str]] = {}
    for key in listed:
        slots.setdefault((string_hash(key) * _FIBONACCI & 0xFFFFFFFFFFFFFFFF) >> shift, []).append(key)
    return [key for slot in sorted(slots) for key in reversed(slots[slot])]
