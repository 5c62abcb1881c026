"""How fast a shard's labs live and how often they are shown, so that a turn's work fits into its time.

    turns fill the time ─► fewer frames a second, while frames take more than their part of it
                        └► else the labs' clock runs slower than the wall's, the same for all of them
    turns leave some    ─► the clock first, then the frames

So what cannot be done in time is virtual time, and every lab is behind by the same share of it; frames and clicks
keep their rate. A lab that takes long on its own slows itself down instead (shard.py), and does not count here.
"""

from collections.abc import Callable

from django.conf import settings

BUSY_HIGH, BUSY_LOW = 0.9, 0.75  # of the wall time
TELLING_PART = 0.4  # of the time, for frames: views, patches, rows, Redis
ADAPT_EVERY_S = 0.5
SHARE_MIN = 0.02
BEHIND_OVER_S = 2.0  # what labs lose of so much time is what they say to be behind
STEPS_PART = 0.5  # of the time between two frames, for one step of every lab
STEP_MIN_S = 0.002


class Pace:
    """Of one shard. share: virtual seconds that a lab at speed 1 has in a second of wall time. interval_s:
    between two frames of a lab."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.share, self.interval_s = 1.0, settings.FRAME_INTERVAL_S
        self._wall_s = self._paced_s = self._since_s = clock()
        self._busy_s = self._telling_s = 0.0

    def at(self, wall_s: float) -> float:
        """The labs' clock at a wall time, in seconds."""
        return self._paced_s + (wall_s - self._wall_s) * self.share

    @property
    def behind_s(self) -> float:
        """What each lab loses in BEHIND_OVER_S."""
        return (1.0 - self.share) * BEHIND_OVER_S

    def step_s(self, labs: int) -> float:
        """How long one lab may work at its time before the others have their turn, with so many that play."""
        return max(STEP_MIN_S, self.interval_s * STEPS_PART / max(1, labs))

    def worked(self, seconds: float) -> None:
        """The shard has worked so long for labs that are not too large for it. May be negative: what a large
        lab took is its own."""
        self._busy_s += seconds

    def told(self, seconds: float) -> None:
        """So much of the work went into frames."""
        self._telling_s += seconds

    def adapt(self) -> None:
        """Look at the work of the last while, and change share or interval by a step."""
        now_s = self.clock()
        if (span_s := now_s - self._since_s) < ADAPT_EVERY_S:
            return
        busy, telling = self._busy_s / span_s, self._telling_s / span_s
        self._busy_s, self._telling_s, self._since_s = 0.0, 0.0, now_s
        if busy > BUSY_HIGH:
            if telling > TELLING_PART and self.interval_s < settings.FRAME_INTERVAL_MAX_S:
                self.interval_s = min(settings.FRAME_INTERVAL_MAX_S, self.interval_s * 1.25)
            else:
                self._slow_to(max(SHARE_MIN, self.share * 0.85), now_s)
        elif busy < BUSY_LOW:
            if self.share < 1.0:
                self._slow_to(min(1.0, self.share * 1.08), now_s)
            else:
                self.interval_s = max(settings.FRAME_INTERVAL_S, self.interval_s * 0.92)

    def _slow_to(self, share: float, wall_s: float) -> None:
        self._paced_s, self._wall_s, self.share = self.at(wall_s), wall_s, share
