"""How long partitions were paused: stretches in which no consumer may read a partition, summed over
partitions."""

from collections.abc import Iterable
from typing import NamedTuple


class Stop(NamedTuple):
    """One partition without a reader, from when to when (end exclusive), in microseconds."""

    unit: str
    from_us: int
    to_us: int


def stopped_us(stops: Iterable[Stop], from_us: int, to_us: int) -> int:
    """Partition-microseconds of standstill that fall into the window.

    >>> stopped_us([Stop("0", 0, 30), Stop("1", 10, 20)], 15, 100)
    20
    """
    return sum(max(0, min(stop.to_us, to_us) - max(stop.from_us, from_us)) for stop in stops)


def longest_us(stops: Iterable[Stop], from_us: int, to_us: int) -> int:
    """The longest standstill of one partition that began in the window, in its whole length.

    >>> longest_us([Stop("0", 0, 30), Stop("1", 10, 20)], 5, 100)
    10
    """
    return max((stop.to_us - stop.from_us for stop in stops if from_us <= stop.from_us < to_us), default=0)
