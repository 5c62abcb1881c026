"""How much a membership history moves: keys that change their consumer, against the least that an even share
needs.

Churn is counted in workloads: 1 means that as many keys moved as there are.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise


def moved_share(moved: int, total: int) -> float | None:
    """The share of the keys that one change moved; None where there were no keys.

    >>> moved_share(809, 4043) < 0.2002
    True
    """
    return moved / total if total else None


def churn_so_far(shares: Sequence[float | None]) -> list[float | None]:
    """Running sum of the steps' moved shares; None only as long as no step had one.

    >>> churn_so_far([None, 0.25, None, 0.5])
    [None, 0.25, 0.25, 0.75]
    """
    total: float | None = None
    running: list[float | None] = []
    for share in shares:
        if share is not None:
            total = (total or 0.0) + share
        running.append(total)
    return running


def churn_least(members: Sequence[Sequence[str]]) -> float:
    """The least churn of a history if after each change every member is to have an even share.

    A member that stays keeps as much as it may: the smaller of its two even shares; everything else has to
    move.
    members: who is there, step by step. Nobody there before or after: nothing has an owner to leave or to go
    to.

    >>> churn_least([["a", "b"], ["a", "b", "c"], ["a", "b"]]) == 1 / 3 + 1 / 3
    True
    """
    total = Fraction(0)
    for before, after in pairwise(members):
        if before and after:
            stayed = len(set(before) & set(after))
            total += 1 - Fraction(stayed, max(len(before), len(after)))
    return float(total)
