"""How fast a shard's labs live and how often they are shown, so that a turn's work fits into its time.

    the time there is ─► frames: what the labs leave of it at their own speed; FRAMES_PART of it at least, and up to
                       │         FRAMES_PART_MAX where fewer than one in USUAL_S would come
                       └► the labs: what the frames leave; the clock of all runs slower than the wall's by the same share

So what cannot be done in time is virtual time, and every lab is behind by the same share of it; frames and clicks
keep their rate. A lab that takes long on its own slows itself down instead (shard.py), and does not count here.
"""

from collections.abc import Callable
from typing import TypeVar

from django.conf import settings

from broker_core.lab.pieces import Pieces

Clock = Callable[[], float]  # wall time in seconds, from anywhere, never backwards
T = TypeVar("T")

BUSY = 0.95  # of the wall time; what is left is for whatever comes unasked
# Of the time, for frames, where labs ask for all of it: views, patches, rows, Redis.
FRAMES_PART, FRAMES_PART_MAX = 0.4, 0.65
USUAL_S = 0.16  # between two frames of a lab, for which the labs' clock is slowed further
FULL, FULL_SLOWER = 0.98, 0.9
SLOWER, FASTER = 0.85, 1.04  # at most, at a time
RARER, OFTENER = 1.25, 0.8
ADAPT_EVERY_S = 0.5
SHARE_MIN = 0.02
BEHIND_OVER_S = 2.0  # what labs lose of so much time is what they say to be behind
STEPS_PART = 0.5  # of the time between two frames, for one step of every lab
STEP_MIN_S = 0.002


def timed(pieces: Pieces[T], clock: Clock) -> Pieces[tuple[T, float]]:
    """(what they come to, seconds of work without the stops in between)."""
    took_s = 0.0
    while True:
        started_s = clock()
        try:
            held = next(pieces)
        except StopIteration as end:
            return end.value, took_s + clock() - started_s
        took_s += clock() - started_s
        yield held


class Pace:
    """Of one shard. share: virtual seconds that a lab at speed 1 has in a second of wall time. interval_s:
    between two frames of a lab."""

    def __init__(self, clock: Clock) -> None:
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
        """Look at the work of the last while, and change interval and share towards what fits, by a step."""
        now_s = self.clock()
        if (span_s := now_s - self._since_s) < ADAPT_EVERY_S:
            return
        busy, telling = self._busy_s / span_s, self._telling_s / span_s
        self._busy_s, self._telling_s, self._since_s = 0.0, 0.0, now_s
        living, before_s = max(0.0, busy - telling), self.interval_s
        usual = min(FRAMES_PART_MAX, telling * before_s / USUAL_S)
        for_frames = max(FRAMES_PART, usual, BUSY - living / self.share)
        interval_s = before_s * _within(OFTENER, telling / for_frames, RARER)
        self.interval_s = _within(settings.FRAME_INTERVAL_S, interval_s, settings.FRAME_INTERVAL_MAX_S)
        telling *= before_s / self.interval_s
        change = _within(SLOWER, (BUSY - telling) / living, FASTER) if living > 0 else FASTER
        if busy > FULL:  # labs had less than their share, and not all of them equally little
            change = min(change, FULL_SLOWER)
        if (share := _within(SHARE_MIN, self.share * change, 1.0)) != self.share:
            self._slow_to(share, now_s)

    def _slow_to(self, share: float, wall_s: float) -> None:
        self._paced_s, self._wall_s, self.share = self.at(wall_s), wall_s, share


def _within(least: float, value: float, most: float) -> float:
    return max(least, min(value, most))
