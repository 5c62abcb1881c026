"""What a bill or a large figure covers: the changes that fall together, those of one kind as one entry.

A figure that began to count before the last command stands under a sentence that speaks of the last one only.
So it says itself whose coming and going it counts: "c1, c2 and c3 left", "c4 joined, c2 crashed".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from broker_core.events import Json

NAMES_KEPT = 3
"""More than three are counted, not named."""

TAKING = ("leave", "crash")
"""Kinds that take a consumer away."""


@dataclass(slots=True)
class Change:
    """kind: that of the command, `start` for those who are there from the start, `noticed` for a crash that
    is found out. names: the first three consumers, count: how many there were. at_us: when the first of them
    came or went."""

    kind: str
    at_us: int
    names: list[str] = field(default_factory=list)
    count: int = 0


def note_change(changes: list[Change], kind: str, names: Sequence[str], at_us: int) -> None:
    """Add these consumers to the entry of their kind, or open one. Found out is not said of a crash that is
    in the list itself.

    >>> changes: list[Change] = []
    >>> note_change(changes, "join", ["c4"], 0); note_change(changes, "crash", ["c2"], 1); note_change(changes, "join", ["c5"], 2)
    >>> note_change(changes, "noticed", ["c2"], 3)
    >>> [(change.kind, change.names, change.count) for change in changes]
    [('join', ['c4', 'c5'], 2), ('crash', ['c2'], 1)]
    """
    if kind == "noticed" and any(
        change.kind == "crash" and set(names) <= set(change.names) for change in changes
    ):
        return
    found = next((change for change in changes if change.kind == kind), None)
    if found is None:
        found = Change(kind, at_us)
        changes.append(found)
    fresh = [name for name in names if name not in found.names]
    found.names.extend(fresh[: NAMES_KEPT - len(found.names)])
    found.count += len(fresh)


def add_changes(changes: list[Change], others: Sequence[Change]) -> None:
    """Add entries that another list holds already; what both name is counted once."""
    for other in others:
        found = next((change for change in changes if change.kind == other.kind), None)
        if found is None and other.kind == "noticed":
            note_change(changes, other.kind, other.names, other.at_us)
        elif found is None:
            changes.append(Change(other.kind, other.at_us, list(other.names), other.count))
        else:
            note_change(changes, other.kind, other.names, other.at_us)
            found.count = max(found.count, other.count)


def changes_view(changes: Sequence[Change]) -> list[Json]:
    """The entries as the page shows them."""
    return [{"kind": change.kind, "names": list(change.names), "count": change.count} for change in changes]
