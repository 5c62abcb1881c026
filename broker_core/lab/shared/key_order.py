"""Out of order: how often a program finished a record of a key after a later record of the same key had been
finished somewhere.

Seen where the work is done, over all programs of a lane: it does not matter whether the broker gave the
records out in the wrong order, gave one out a second time, or two programs worked at different speeds. A
record that is finished twice in a row is a duplicate, not disorder.

A lane hands over what its programs finished, a stretch at a time, whatever the model: also where a partition
is read by one program from its committed offset on, and order can break only in what is read again.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from broker_core.events import Json

NONE = -1
"""In place of a record: none of that key is finished."""


class KeyOrder:
    """count: records finished out of order. last: by key code, the highest record of it that is finished; the
    last entry is that of no key.

    >>> order = KeyOrder()
    >>> order.finish([15, 16, 19, 7, 17, 20], [3, 4, 3, 3, 3, -1])
    >>> order.count
    2
    """

    __slots__ = ("count", "kept", "last")

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.last = array("q", [NONE])
        self.kept: list[int] = []  # of a checkpoint: the records in `last`, until `know_keys`

    def finish(self, records: Sequence[int], codes: Sequence[int]) -> None:
        """Programs finished these records, in this order. codes: of their keys; -1, no key, has no order."""
        last = self.last
        unknown = max(codes, default=-1) + 2 - len(last)
        if unknown > 0:
            last[-1:-1] = array("q", [NONE]) * unknown
        count = 0
        for record, code in zip(records, codes, strict=True):
            if record >= last[code]:
                last[code] = record  # no key, -1, has the last entry
            elif code >= 0:
                count += 1
        self.count += count

    def to_json(self) -> Json:
        """Only the records, as steps from one to the next: their keys follow from the workload, and this
        would be most of a lane's checkpoint."""
        finished = sorted(record for record in self.last if record != NONE)
        return {"count": self.count, "steps": [now - before for before, now in pairwise([0, *finished])]}

    @classmethod
    def from_json(cls, state: Json) -> KeyOrder:
        order = cls(state["count"])
        order.kept = list(accumulate(state["steps"]))
        return order

    def know_keys(self, codes_of: Callable[[Sequence[int]], Sequence[int]]) -> None:
        """After `from_json`. codes_of: key codes of records."""
        self.finish(self.kept, codes_of(self.kept))
        self.kept = []
