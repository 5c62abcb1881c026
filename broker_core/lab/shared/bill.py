"""The bill of a change: what it moved, what came twice, how long partitions were paused, how even the load
was before and after."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.hashing.hash_range import Owner, moved_share
from broker_core.lab.shared.change import Change, changes_view, note_change
from broker_core.lab.shared.pace import PACE_KINDS

Space = tuple[list[int], list[Owner], int, int]
"""A hash space: inclusive upper bounds, their owners, number of slots, first slot in use."""


@dataclass(slots=True)
class Bill:
    """Opened when a command takes effect, closed when the model has come to rest.

    owners_before: owner of each live key by first appearance, None where keys have no owner. units_before:
    partition -> owner.
    space_before: the hash space as (inclusive upper bounds, owners). shares in millionths, skew in
    thousandths, as integers: no float decides anything. count: how many joined at once, `consumer` first.
    changes: all that it counts. pause_us: the longest pause of a partition that is read again,
    paused_from_us: when that pause began. partitions_stopped: how many were paused at one time, at most.
    """

    position: int
    kind: str
    consumer: str
    at_us: int
    owners_before: list[str | None] | None
    units_before: dict[str, str | None] | None
    space_before: tuple[list[int], list[Owner]] | None
    shares_before: dict[str, int]
    skew_before: int | None
    redelivered_from: int
    out_of_order_from: int
    keys_total: int
    count: int = 1
    changes: list[Change] = field(default_factory=list)
    settled: bool = False
    keys_moved: int = 0
    space_moved_millionths: int | None = None
    partitions_moved: int | None = None
    partitions_total: int | None = None
    partitions_stopped: int = 0
    pause_us: int = 0
    paused_from_us: int | None = None
    skew_after: int | None = None
    moved_units: list[str] = field(default_factory=list)

    def note_change(self, kind: str, names: Sequence[str], now_us: int) -> None:
        """This change is on the bill. One of pace is so only on a bill that it opened itself: it moves
        nothing."""
        if kind not in PACE_KINDS or not self.changes:
            note_change(self.changes, kind, names, now_us)

    def note_pause(self, from_us: int, until_us: int) -> None:
        """A partition that nobody has read since `from_us` is read again."""
        if until_us - from_us > self.pause_us or self.paused_from_us is None:
            self.pause_us, self.paused_from_us = until_us - from_us, from_us

    def standing_us(self, stopped_since_us: int, now_us: int) -> int:
        """How long the partitions that are paused now have been so, for this bill: a change of pace paused
        none, it only found them so."""
        return now_us - (max(stopped_since_us, self.at_us) if self.kind in PACE_KINDS else stopped_since_us)

    def pause_facts(self) -> Json:
        """What the turning point at the end of a pause says: the figure of the bill, and when it began."""
        return {"pause_us": self.pause_us, "paused_from_us": self.paused_from_us}

    def compare(
        self,
        owners: list[str | None] | None,
        units: dict[str, str | None] | None,
        space: Space | None,
    ) -> None:
        """Set what has moved since the bill was opened. Keys that appeared in between are not counted: they
        had no owner to leave."""
        if owners is not None and self.owners_before is not None:
            self.keys_moved = sum(
                1 for was, now in zip(self.owners_before, owners, strict=False) if was != now
            )
        if units is not None and self.units_before is not None:
            before = self.units_before
            self.moved_units = [unit for unit, owner in units.items() if before.get(unit) != owner]
            self.partitions_moved, self.partitions_total = len(self.moved_units), len(units)
        if space is not None and self.space_before is not None:
            bounds, owners_now, slots, first_slot = space
            share = moved_share(self.space_before, (bounds, owners_now), slots, first_slot)
            self.space_moved_millionths = share.numerator * 1_000_000 // share.denominator

    def to_view(self, redelivered: int, out_of_order: int, standing_us: int) -> Json:
        """The bill as the page shows it. redelivered, out_of_order: records of this lane until now that were
        given out a second time, or finished after a later one of their key; standing_us: how long the
        partitions that are paused now have been so."""
        return {
            "position": self.position,
            "kind": self.kind,
            "consumer": self.consumer,
            "at_us": self.at_us,
            "settled": self.settled,
            "changes": changes_view(self.changes),
            "keys_moved": self.keys_moved,
            "keys_total": self.keys_total,
            "space_moved": None
            if self.space_moved_millionths is None
            else self.space_moved_millionths / 1_000_000,
            "partitions_moved": self.partitions_moved,
            "partitions_total": self.partitions_total,
            "partitions_stopped": self.partitions_stopped,
            "redelivered": redelivered - self.redelivered_from,
            "out_of_order": out_of_order - self.out_of_order_from,
            "pause_us": max(self.pause_us, standing_us),
            "skew_before": _thousandths(self.skew_before),
            "skew_after": _thousandths(self.skew_after),
        }


def _thousandths(value: int | None) -> float | None:
    return None if value is None else value / 1000
