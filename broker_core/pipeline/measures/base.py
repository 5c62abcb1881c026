"""What a measure is: columns it adds to a study's steps and totals, and how they come from the facts of a
step.

facts of a strategy, step by step   ──rows()──►   columns of steps.parquet   ──total()──►   columns of strategies.parquet
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from broker_core.events import Json
from broker_core.pipeline.timed import TimedStep

WHOLE, NUMBER = "whole", "number"


@dataclass(frozen=True, slots=True)
class Share:
    """What one consumer has at the end of a step. keys: None where keys have no owner. bytes: None where they
    were not counted.
    millionths: its part of all that is owned, rounded down, as a lane of the lab has it (Lane.shares)."""

    records: int
    bytes: int | None
    keys: int | None
    millionths: int


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known of one step of one strategy.

    shares: consumer -> its part, of consumers that the broker counts or that own something, in order of
    arrival. keys_*: of the keys that had appeared when the change came; None where keys have no owner, or
    where there is no change. partitions_*: None where nothing is shared by partition. space_moved: share of
    the hash space in millionths, None where there is none. unowned: records whose key has no owner, None
    where keys have none. timed: None where no timed run was made.
    """

    step: int
    shares: dict[str, Share]
    skew_milli: int | None
    keys_moved: int | None
    keys_total: int | None
    bytes_moved: int | None
    partitions_moved: int | None
    partitions_total: int | None
    space_moved: int | None
    unowned: int | None
    timed: TimedStep | None


@dataclass(frozen=True, slots=True)
class Measure:
    """columns: of a step -> WHOLE or NUMBER; totals: of a strategy, likewise; every column may be null: it
    does not apply.
    rows: one for each step. total: from the same facts and those rows, the start (step 0) first."""

    columns: dict[str, str]
    totals: dict[str, str]
    rows: Callable[[Sequence[Facts]], list[Json]]
    total: Callable[[Sequence[Facts], Sequence[Json]], Json]


def worst(rows: Sequence[Json], column: str) -> float | None:
    """The largest value of a column; None where there is none."""
    return max((row[column] for row in rows if row[column] is not None), default=None)


def summed(rows: Sequence[Json], column: str) -> float | None:
    """The sum over the changes, the start left out; None where changes have no value."""
    values = [row[column] for row in rows[1:] if row[column] is not None]
    return sum(values) if values else None
