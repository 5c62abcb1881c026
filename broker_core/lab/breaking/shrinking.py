"""Smaller schedules: fewer faults first, then rounder times, then earlier ones.

    3 faults ─► 2 ─► 1          12.37 s ─► 12.4 ─► 12.5 ─► 12          12 s ─► 6 ─► 3

Each is simpler than the one that it was made from in (how many, how round, how early), so shrinking comes to an end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from broker_core.clock import SECOND_US
from broker_core.lab.breaking.allowance import May
from broker_core.lab.breaking.schedule import Schedule, in_turn

GRIDS_US = (SECOND_US, SECOND_US // 2, SECOND_US // 10)
"""Times that read well, the roundest first."""


def smaller(schedule: Schedule, may: Sequence[May]) -> list[Schedule]:
    """Simpler schedules to try, the simplest first. may: what is allowed."""
    found: list[Schedule] = []
    for candidate in (*_fewer(schedule), *_moved(schedule, may)):
        if size_of(candidate) < size_of(schedule) and candidate not in found:
            found.append(candidate)
    return found


def size_of(schedule: Schedule) -> tuple[int, int, int]:
    """How simple a schedule is, the simplest first: (faults, roundness of their times, sum of their times)."""
    return (
        len(schedule),
        sum(_roundness(fault.at_us) for fault in schedule),
        sum(fault.at_us for fault in schedule),
    )


def _roundness(at_us: int) -> int:
    return next((place for place, grid in enumerate(GRIDS_US) if at_us % grid == 0), len(GRIDS_US))


def _fewer(schedule: Schedule) -> Iterator[Schedule]:
    half = len(schedule) // 2
    if half > 1:
        yield schedule[half:]
        yield schedule[:half]
    for place in range(len(schedule)):
        yield schedule[:place] + schedule[place + 1 :]


def _moved(schedule: Schedule, may: Sequence[May]) -> Iterator[Schedule]:
    windows = {each.do: (each.from_us, each.until_us) for each in may}
    for place, fault in enumerate(schedule):
        from_us, until_us = windows[fault.kind]
        for at_us in _times(fault.at_us, from_us):
            if from_us <= at_us <= until_us:
                yield in_turn((*schedule[:place], replace(fault, at_us=at_us), *schedule[place + 1 :]))


def _times(at_us: int, from_us: int) -> Iterator[int]:
    for grid in GRIDS_US:
        yield at_us // grid * grid
        yield (at_us // grid + 1) * grid
    for grid in GRIDS_US:
        yield (from_us + at_us) // 2 // grid * grid
        yield at_us - grid
