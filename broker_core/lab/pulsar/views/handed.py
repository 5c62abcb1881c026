"""Who took which part of the hash space from whom at the last change, counted to the slot.

before   |----- c1 -----|----- c2 -----|
now      |-- c1 --|-- c3 --|--- c2 ----|         c3 has taken a part from c1, and one from c2
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.events import Json
from broker_core.hashing.hash_range import Owner
from broker_core.lab.pulsar.moves import first_of

HANDED_MAX = 24


def handed(
    before: tuple[Sequence[int], Sequence[Owner]], now: tuple[Sequence[int], Sequence[Owner]], slots: int
) -> list[Json]:
    """Largest first: {"from", "to", "slots", "pieces", "largest"}; a consumer None is nobody, largest the
    longest piece as [first, last] slot.

    before, now: inclusive upper bounds and owners; what is above the last bound belongs to the first slice.

    >>> handed(([15], ["a"]), ([7, 15], ["b", "a"]), 16)
    [{'from': 'a', 'to': 'b', 'slots': 8, 'pieces': 1, 'largest': [0, 7]}]
    """
    found: dict[tuple[str | None, str | None], list[tuple[int, int]]] = {}
    old, new = _whole(*before, slots), _whole(*now, slots)
    start = at = 0
    for bound, owner in new:
        while start <= bound:
            end = min(old[at][0], bound)
            pair = old[at][1], owner
            if pair[0] != pair[1]:
                pieces = found.setdefault(pair, [])
                if pieces and pieces[-1][1] == start - 1:
                    pieces[-1] = pieces[-1][0], end
                else:
                    pieces.append((start, end))
            start = end + 1
            if old[at][0] == end:
                at += 1
    rows: list[Json] = []
    for (giver, taker), pieces in found.items():
        largest = max(pieces, key=lambda piece: piece[1] - piece[0])
        count = sum(end - start + 1 for start, end in pieces)
        rows.append(
            {"from": giver, "to": taker, "slots": count, "pieces": len(pieces), "largest": list(largest)}
        )
    rows.sort(key=lambda row: (-row["slots"], row["from"] or "", row["to"] or ""))
    return rows[:HANDED_MAX]


def _whole(bounds: Sequence[int], owners: Sequence[Owner], slots: int) -> list[tuple[int, str | None]]:
    """(last slot, owner) from slot 0 to the end of the space."""
    out = [(bound, first_of(owner)) for bound, owner in zip(bounds, owners, strict=True)]
    if not out:
        return [(slots - 1, None)]
    if out[-1][0] < slots - 1:
        out.append((slots - 1, out[0][1]))
    return out
