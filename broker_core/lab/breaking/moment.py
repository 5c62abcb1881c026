"""The moment at which a promise broke, to the millisecond: between the last look at which it was kept and the next one."""

from __future__ import annotations

from broker_core.lab.breaking.attempt import Attempt
from broker_core.lab.breaking.case import Case
from broker_core.lab.lab import Lab
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.pieces import Pieces

PRECISE_US = 1_000


def moment_of(case: Case, broken: Attempt, limits: Limits = DEFAULT_LIMITS) -> Pieces[int]:
    """The first moment that was found broken, in microseconds: on a whole millisecond, or at the look itself. broken: one
    that broke the promise.

    A lab that is kept at the last good look is gone on from, so halving costs little. What an advance gives does not
    depend on its stops: each moment is what the lab of the schedule has then.
    """
    assert broken.broken_us is not None, "a promise that was kept has no such moment"
    lab = yield from Lab.beginning(case.scenario, limits)
    for place, fault in enumerate(broken.schedule, start=1):
        yield from lab.advancing(fault.at_us)
        yield from lab.submitting(fault.body(case.lane.id, place, limits))
    yield from lab.advancing(broken.kept_us)
    state = yield from lab.checkpointing()
    kept_us, broken_us = broken.kept_us, broken.broken_us
    while broken_us - kept_us > PRECISE_US:
        middle_us = (kept_us + broken_us) // 2
        if kept_us < middle_us // PRECISE_US * PRECISE_US < broken_us:
            middle_us = middle_us // PRECISE_US * PRECISE_US
        lab = yield from Lab.restoring(case.scenario, state, limits)
        yield from lab.advancing(middle_us)
        if case.promise.measure(lab.lanes[case.lane.id]) > case.promise.at_most:
            broken_us = middle_us
        else:
            kept_us = middle_us
        yield None
    return broken_us
