"""At which moments a capsule has a picture: regular steps, each change, and some more after it, as that is where
something moves."""

from collections.abc import Collection, Iterable

STEPS_MAX = 240
STEPS_LEAST = 60
PARTS_A_STEP = 400
"""So many parts of a lab take away one regular step: a view of it costs more time and more bytes."""
STEP_US_LEAST = 100_000
AFTER_US = (100_000, 250_000, 500_000, 1_000_000)
CHANGES_MAX = 60
"""More than that, and those in between are seen at the regular steps."""


def moments_of(from_us: int, until_us: int, changes: Collection[int], parts: int) -> list[tuple[int, bool]]:
    """(virtual time, whether it has to stay where a capsule is too large), ascending, each once. changes: times of
    orders, of what the system did on its own and of a lesson's frames. parts: of the lab.

    >>> moments_of(0, 200_000, [30_000], 0)
    [(0, True), (30000, True), (100000, False), (200000, True)]
    """
    steps = max(STEPS_LEAST, STEPS_MAX - parts // PARTS_A_STEP)
    every_us = max(STEP_US_LEAST, -(-(until_us - from_us) // steps))
    own = {at_us for at_us in _spread(changes) if from_us <= at_us <= until_us} | {from_us, until_us}
    around = {at_us + after_us for at_us in own for after_us in AFTER_US if after_us < every_us}
    all_us = own | {at_us for at_us in around if at_us < until_us} | set(range(from_us, until_us, every_us))
    return [(at_us, at_us in own) for at_us in sorted(all_us)]


def _spread(changes: Iterable[int]) -> list[int]:
    found = sorted(set(changes))
    return found[:: -(-len(found) // CHANGES_MAX) or 1]
