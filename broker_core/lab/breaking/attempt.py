"""One try: a lab goes through a schedule, and is looked at until the promise is broken or its time is over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.lab.breaking.case import Case
from broker_core.lab.breaking.schedule import Fault, Schedule
from broker_core.lab.lab import Lab
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.pieces import Pieces

LOOK_US = SECOND_US // 4


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a schedule. schedule: its faults that the lab took, up to the end. kept_us, broken_us: the look before
    the promise was broken, and the one at which it was; broken_us None: it was kept. worst: the largest that was
    measured. signs: what it was like, as kinds of turning points and how many there were, in powers of two."""

    schedule: Schedule
    kept_us: int
    broken_us: int | None
    worst: int
    signs: frozenset[str] = field(default_factory=frozenset)


def attempted(case: Case, schedule: Schedule, limits: Limits = DEFAULT_LIMITS) -> Pieces[Attempt]:
    """Play it, in pieces. An order that the lab refuses is left out: it changes nothing."""
    lab = yield from Lab.beginning(case.scenario, limits)
    lane = lab.lanes[case.lane.id]
    left, taken = list(schedule), list[Fault]()
    kinds: Counter[str] = Counter()
    kept_us, worst = 0, case.promise.measure(lane)
    while worst <= case.promise.at_most and lab.now_us < case.lasts_us:
        while left and left[0].at_us <= lab.now_us:
            fault = left.pop(0)
            try:
                events = yield from lab.submitting(fault.body(lane.id, len(taken) + 1, limits))
            except CommandError:
                continue
            kinds.update(event["kind"] for event in events)
            taken.append(fault)
        kept_us = lab.now_us
        next_us = min(left[0].at_us if left else case.lasts_us, (lab.now_us // LOOK_US + 1) * LOOK_US)
        events = yield from lab.advancing(min(next_us, case.lasts_us))
        kinds.update(event["kind"] for event in events)
        lane = lab.lanes[lane.id]
        worst = max(worst, case.promise.measure(lane))
        yield None
    signs = frozenset(f"{kind}.{count.bit_length()}" for kind, count in kinds.items())
    is_broken = worst > case.promise.at_most
    return Attempt(tuple(taken), kept_us, lab.now_us if is_broken else None, worst, signs)
