"""How long records wait: from their arrival until a consumer turns to them.

arrives |------- waits -------|-- is worked on --| done        a pause, a dead consumer, a backlog: all of it is waiting
"""

from collections.abc import Iterable, Sequence

from broker_core.clock import SECOND_US

WAIT_S_MAX = 600
"""What waits longer than that is not told apart: no step of a timed run lasts as long."""


def waited_longer(waits_us: Iterable[int], seconds_max: int = WAIT_S_MAX) -> list[int]:
    """How many records waited longer than 1 s, than 2 s, ..., than `seconds_max`, up to the last above 0.

    waits_us: of each record, in microseconds.

    >>> waited_longer([0, 1_500_000, 2_000_000, 3_100_000])
    [3, 1, 1]
    """
    counts: list[int] = []
    for wait_us in waits_us:
        # Whole seconds that it exceeds: 2 s are longer than 1 s, not longer than 2 s.
        exceeded = min(seconds_max, (wait_us - 1) // SECOND_US) if wait_us > 0 else 0
        if exceeded:
            counts += [0] * (exceeded - len(counts))
            counts[exceeded - 1] += 1
    for place in range(len(counts) - 2, -1, -1):
        counts[place] += counts[place + 1]
    return counts


def added(curves: Iterable[Sequence[int]]) -> list[int]:
    """The same of several groups of records together.

    >>> added([[3, 1], [2], []])
    [5, 1]
    """
    total: list[int] = []
    for curve in curves:
        total += [0] * (len(curve) - len(total))
        for place, count in enumerate(curve):
            total[place] += count
    return total
