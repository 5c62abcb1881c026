"""Sticky ranges in the lab: who asks for which. In the original that is the choice of whoever configures the
programs; here the lab chooses.

A newcomer gets the upper half of the widest owner's slots, and that owner subscribes again with the rest
(`pulsar/sticky_join.py`). A program that comes back asks for what it had, unless a living one has it by now.
Programs that are known to be dead share nothing: if their ranges are asked for, the broker finds out on
its own that they are dead (`pulsar/broker.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from broker_core.lab.pulsar.sticky_join import plan_join
from broker_core.pulsar.selectors.protocol import Ranges


@dataclass(slots=True)
class Plan:
    """given: newcomer -> the ranges it asks for. kept: who has to subscribe again -> with which. sources:
    newcomer -> who made room for it."""

    given: dict[str, Ranges] = field(default_factory=dict)
    kept: dict[str, Ranges] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)


def make_room(
    owned: Mapping[str, Ranges], newcomers: Sequence[str], remembered: Ranges | None, half_open: bool
) -> Plan:
    """The ranges of all, so that each asks once, however many come at a time.

    owned: living program -> its ranges. remembered: those of a single newcomer that comes back. half_open:
    ranges are [start, end).

    >>> make_room({"c1": [(0, 65535)]}, ["c2", "c3"], None, False)
    Plan(given={'c2': [(32768, 65535)], 'c3': [(16384, 32767)]}, kept={'c1': [(0, 16383)]}, sources={'c2':
    'c1', 'c3': 'c1'})
    """
    plan, ranges = Plan(), dict(owned)
    for newcomer in newcomers:
        if remembered and not any(overlap(remembered, other, half_open) for other in ranges.values()):
            given = remembered
        else:
            source, kept, given = plan_join(ranges, newcomer, half_open)
            if source is not None:
                plan.sources[newcomer] = source
                (plan.given if source in plan.given else plan.kept)[source] = ranges[source] = kept
        plan.given[newcomer] = ranges[newcomer] = given
    return plan


def overlap(one: Ranges, other: Ranges, half_open: bool) -> bool:
    """Whether two lists of ranges share a slot.

    >>> overlap([(0, 9)], [(9, 12)], half_open=False), overlap([(0, 9)], [(9, 12)], half_open=True)
    (True, False)
    """
    reach = 0 if half_open else 1
    return any(
        start < end_b + reach and start_b < end + reach for start, end in one for start_b, end_b in other
    )
