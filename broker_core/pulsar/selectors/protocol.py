"""What every selector takes and gives: consumers come and go, a key's hash finds its consumer.

Source: Pulsar 3.2 `StickyKeyConsumerSelector` (addConsumer, removeConsumer, select,
getConsumerKeyHashRanges).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from broker_core.errors import HighwaterError

Range = tuple[int, int]
Ranges = list[Range]
Slices = tuple[list[int], list[str | None]]


class AssignRefused(HighwaterError):
    """The broker refuses a consumer (Pulsar's ConsumerAssignException); the selector is untouched.

    kind: no_more_ranges, no_key_shared_meta, empty_ranges, start_gt_end, own_ranges_overlap, out_of_bounds or
    range_conflict.
    conflict: the connected consumer that a range_conflict names.
    """

    def __init__(self, message: str, kind: str, conflict: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.conflict = conflict


class Selector(Protocol):
    """Maps the hash of a key to one of the connected consumers."""

    space: int
    """Number of slots: slots are 0 .. space - 1."""
    first_slot: int
    """Lowest slot that a key can have: 0, or 1 where 0 is reserved for "no hash"."""

    def add(self, consumer: str, name: str | None = None, ranges: Sequence[Range] | None = None) -> None:
        """Let a consumer in. consumer: unique id; name: by default the id; ranges: for sticky selectors only.

        Raises AssignRefused with the original's text, state untouched; CommandError when this id is connected
        already.
        """

    def remove(self, consumer: str) -> None:
        """Let a consumer go; one that is not connected changes nothing."""

    def slot(self, hash32: int) -> int:
        """The slot of a key with this unsigned 32-bit murmur3 hash."""

    def select(self, hash32: int) -> str | None:
        """The consumer of such a key, None when nobody covers it."""

    def slices(self) -> Slices:
        """The whole space as (inclusive upper bounds, ascending; owner of each slice, None for nobody).

        On a ring, slots above the last bound belong to the first owner, each point is a slice, and a shared
        point shows its first holder.
        """

    def ranges(self) -> dict[str, Ranges]:
        """Consumer -> ranges as reported by the original (getConsumerKeyHashRanges): both ends inclusive,
        ascending."""

    def to_json(self) -> dict[str, Any]:
        """Whole state, plain; `selector_from_json` reads it back."""

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The selector that wrote `state`."""


def merged_slices(pieces: Sequence[tuple[int, str | None]]) -> Slices:
    """(upper bound, owner) pieces as slices, neighbours of one owner as one slice.

    >>> merged_slices([(3, "a"), (7, "a"), (9, None)])
    ([7, 9], ['a', None])
    """
    bounds: list[int] = []
    owners: list[str | None] = []
    for bound, owner in pieces:
        if owners and owners[-1] == owner:
            bounds[-1] = bound
        else:
            bounds.append(bound)
            owners.append(owner)
    return bounds, owners
