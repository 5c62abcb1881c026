"""Darkness: the part of a lane that nobody serves, and for how long.

A unit is dark while no consumer would take its records: it has no owner, its owner is dead and nobody has
noticed, or it is paused in a rebalance. A slow or paused owner serves late, which is lag, not darkness. Units
are partitions (Kafka, TubeMQ), ten-thousandths of the hash space (Pulsar), or the queue as one (RabbitMQ,
dark while no program consumes).

The fold learns at each change how much is dark, and multiplies by the time in between: nothing is done per
record.
"""

from dataclasses import dataclass

SPACE_UNITS = 10_000
"""Of a hash space. In slots the sum would outgrow 64 bits within an hour of darkness."""


@dataclass(slots=True)
class Darkness:
    """units: how many there are, dark: how many of them are dark since `since_us`. level_us: since when it
    has been as many. began_us: since when something has been dark without a break, None while all is served.
    unit_us: dark units times microseconds, summed up to `since_us`.

    >>> darkness = Darkness()
    >>> darkness.fold(0, 0, 12); darkness.fold(1_000_000, 4, 12); darkness.fold(4_000_000, 0, 12)
    >>> darkness.unit_us_at(9_000_000), darkness.mean_us_at(9_000_000)
    (12000000, 1000000)
    """

    units: int = 0
    dark: int = 0
    since_us: int = 0
    level_us: int = 0
    began_us: int | None = None
    unit_us: int = 0

    def fold(self, now_us: int, dark: int, units: int) -> None:
        """From now on `dark` of `units` are dark."""
        self.unit_us = self.unit_us_at(now_us)
        if dark != self.dark:
            self.level_us = now_us
        self.since_us, self.dark, self.units = now_us, dark, units
        if not dark:
            self.began_us = None
        elif self.began_us is None:
            self.began_us = now_us

    def unit_us_at(self, now_us: int) -> int:
        """Dark units times microseconds until now."""
        return self.unit_us + self.dark * (now_us - self.since_us)

    def mean_us_at(self, now_us: int) -> int:
        """The same as the mean over all units: a third dark for 30 s makes 10 s."""
        return self.unit_us_at(now_us) // self.units if self.units else 0
