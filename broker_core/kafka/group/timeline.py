"""A map that remembers what is not yet below the high watermark: readers see the past, writers the present, a
failed append undoes.

The coordinator applies a record as soon as the log took it, but what it answers to readers is what the high
watermark has passed. So each change keeps the value before it, in layers: one per append, from the oldest
that is not committed to the one still open.

    committed ──► layer (end offset 7) ──► layer (end offset 9) ──► open: changed, nothing appended yet ──► present

Source: Kafka 3.9 SnapshotRegistry and TimelineHashMap, of which this keeps what the coordinator uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True)
class Timeline(Generic[K, V]):
    """present: the map as writers see it. A value must not be changed in place unless readers may see it at
    once.

    layers: (end offset, values before that append), oldest first. open: values before what no append has
    sealed.

    >>> groups: Timeline[str, int] = Timeline()
    >>> groups.put("g", 1)
    >>> groups.get("g"), groups.committed("g")
    (1, None)
    >>> groups.seal(5); groups.commit(5); groups.committed("g")
    1
    """

    present: dict[K, V] = field(default_factory=dict)
    layers: list[tuple[int, dict[K, V | None]]] = field(default_factory=list)
    open: dict[K, V | None] = field(default_factory=dict)

    def get(self, key: K) -> V | None:
        return self.present.get(key)

    def put(self, key: K, value: V) -> None:
        if key not in self.open:
            self.open[key] = self.present.get(key)
        self.present[key] = value

    def remove(self, key: K) -> None:
        if key in self.present:
            value = self.present.pop(key)
            self.open.setdefault(key, value)

    def committed(self, key: K) -> V | None:
        """The value that the high watermark has passed."""
        for _, before in self.layers:
            if key in before:
                return before[key]
        if key in self.open:
            return self.open[key]
        return self.present.get(key)

    def committed_keys(self) -> Iterator[K]:
        """Every key that has a committed value, in order of insertion; those that the present no longer has
        come last."""
        keys = dict.fromkeys(self.present)
        for _, before in self.layers:
            keys |= dict.fromkeys(before)
        keys |= dict.fromkeys(self.open)
        return (key for key in keys if self.committed(key) is not None)

    def seal(self, end_offset: int) -> None:
        """An append took what changed since the last one; it ends at `end_offset`."""
        if self.open:
            self.layers.append((end_offset, self.open))
            self.open = {}

    def commit(self, high_watermark: int) -> None:
        """Forget the past up to `high_watermark`."""
        while self.layers and self.layers[0][0] <= high_watermark:
            del self.layers[0]

    def undo(self) -> None:
        """Take back what no append has sealed."""
        for key, before in self.open.items():
            if before is None:
                self.present.pop(key, None)
            else:
                self.present[key] = before
        self.open = {}
