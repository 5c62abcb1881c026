"""The picture of Pulsar's hash space: who owns which slices now and owned them before the change, and which
of them nobody serves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from broker_core.events import Json
from broker_core.hashing.hash_range import Owner
from broker_core.lab.pulsar.moves import first_of
from broker_core.lab.pulsar.owners import Assignment
from broker_core.lab.pulsar.views.handed import handed
from broker_core.lab.slices import slices_view

Before = tuple[list[int], list[Owner]]


class Painted:
    """The part of the picture that changes only with the assignment, made once. dead: the broker's consumers
    that are dead without its knowledge. consumers: names, for the order of colours. is_ring: a point for each
    slice."""

    def __init__(
        self,
        now: Assignment,
        before: Before | None,
        dead: frozenset[str],
        consumers: Sequence[str],
        is_ring: bool,
    ) -> None:
        self.now, self.before = now, before
        self.dead, self.consumers, self.is_ring = dead, consumers, is_ring

    def shows_the_same(self, other: Painted) -> bool:
        return (
            self.now is other.now
            and self.before is other.before
            and self.dead == other.dead
            and self.consumers == other.consumers
            and self.is_ring == other.is_ring
        )

    @cached_property
    def handed(self) -> list[Json]:
        """Who took what from whom at the last change; [] before the first, and where the first consumers have
        just come."""
        was = self.before
        return (
            handed(was, (self.now.raw.bounds, self.now.owners), self.now.slots) if was and any(was[1]) else []
        )

    @cached_property
    def picture(self) -> Json:
        bounds, holders = self.now.raw
        owners, slots, was = self.now.owners, self.now.slots, self.before
        # Asked once for each owner: a large ring has tens of thousands of slices.
        dead = {holder for holder in set(holders) if first_of(holder) in self.dead}
        shown = map(first_of, dict.fromkeys([*owners, *(was[1] if was else ())]))
        names = [name for name in dict.fromkeys([*self.consumers, *shown]) if name is not None]
        return {
            "kind": "ring" if self.is_ring else "ranges",
            "space": slots,
            "names": names,
            "points": len(owners) - owners.count(None) if self.is_ring else None,
            "now": slices_view(
                bounds, owners, slots, names, [holder in dead for holder in holders] if dead else None
            ),
            "before": slices_view(was[0], was[1], slots, names) if was and any(was[1]) else None,
        }
