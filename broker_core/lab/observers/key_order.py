"""Out of order: how often a program finished a record of a key after a later record of the same key had been finished somewhere.

Seen where the work is done, over all programs of a lane: it does not matter whether the broker gave the records out in the wrong order, gave
one out a second time, or two programs worked at different speeds. A record that is finished twice in a row is a duplicate, not disorder.

A lane hands over what its programs finished, a stretch at a time, whatever the model: also where a partition is read by one program from its
committed offset on, and order can break only in what is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from broker_core.events import Json


class KeyOrder:
    """count: records finished out of order. last: key code -> the highest record of it that is finished.

    >>> order = KeyOrder()
    >>> order.finish([15, 16, 19, 7, 17, 20], 15, [3, 4, 3, 3, 3, -1], lambda record: 3)
    >>> order.count
    2
    """

    __slots__ = ("count", "last")

    def __init__(self, count: int = 0, last: dict[int, int] | None = None) -> None:
        self.count = count
        self.last = last if last is not None else {}

    def finish(self, records: Sequence[int], first: int, codes: Sequence[int], key_code: Callable[[int], int]) -> None:
        """Programs finished these records, in this order.

        codes: key codes of the records from `first` on; key_code: of any older record; -1, no key, has no order.
        """
        last = self.last
        highest = last.get
        count = 0
        for record in records:
            code = codes[record - first] if record >= first else key_code(record)
            if record >= highest(code, 0):
                last[code] = record
            elif code >= 0:
                count += 1
        self.count += count

    def to_json(self) -> Json:
        """By record, as steps from one to the next: two thirds of the bytes, and this is most of what a checkpoint holds of a lane."""
        in_order = sorted((record, code) for code, record in self.last.items())
        records = [record for record, _ in in_order]
        return {"count": self.count, "codes": [code for _, code in in_order], "steps": [now - before for before, now in pairwise([0, *records])]}

    @classmethod
    def from_json(cls, state: Json) -> KeyOrder:
        return cls(state["count"], dict(zip(state["codes"], accumulate(state["steps"]), strict=True)))
