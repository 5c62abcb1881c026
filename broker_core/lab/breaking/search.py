"""The search: seeded tries with a bias to what was fruitful, then shrinking, then the moment.

    draw ─► a new schedule, or one of the fruitful ones with a change ─► try ─► kept: fruitful where it came further, or
      ▲                                                                   │          saw what no try had seen
      └───────────────────────────────────────────────────────────────────┴─► broken ─► shrink ─► moment

Same case, same seed: the same tries with the same outcome, however often it is stored and gone on with in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from broker_core.events import Json
from broker_core.lab.breaking.attempt import Attempt, attempted
from broker_core.lab.breaking.case import Case
from broker_core.lab.breaking.drawing import Drawing
from broker_core.lab.breaking.moment import moment_of
from broker_core.lab.breaking.schedule import Fault, Schedule
from broker_core.lab.breaking.shrinking import smaller
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.pieces import Pieces
from broker_core.rng import SeededRandom

FRUITFUL_MAX = 24
SHRINK_MAX = 400
SEARCHING, SHRINKING, DONE = "searching", "shrinking", "done"


@dataclass(slots=True)
class Search:
    """fruitful: schedules to change, the newest last. seen: the signs of all tries (`Attempt`). worst: the largest
    that was measured while the promise was kept. broken: the simplest that breaks it, so far; shrunk: tries to make
    it simpler, cursor: of those of the present one. moment_us: when it broke, once the search is done. Without one
    the promise has held in all tries."""

    case: Case
    seed: int
    limits: Limits = DEFAULT_LIMITS
    tries: int = 0
    draws: dict[str, int] = field(default_factory=dict)
    fruitful: list[Schedule] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    worst: int = -1
    broken: Attempt | None = None
    shrunk: int = 0
    cursor: int = 0
    moment_us: int | None = None

    @property
    def phase(self) -> str:
        return DONE if self.moment_us is not None else SHRINKING if self.broken is not None else SEARCHING

    def trying(self) -> Pieces[None]:
        """One try more, or one to make what was found simpler, or the moment; in pieces, between two of which nothing may
        be asked. Only while it is not done."""
        if self.broken is None:
            yield from self._search()
            return
        left = smaller(self.broken.schedule, self.case.may)[self.cursor :]
        if not left or self.shrunk >= SHRINK_MAX:
            self.moment_us = yield from moment_of(self.case, self.broken, self.limits)
            return
        found = yield from attempted(self.case, left[0], self.limits)
        self.shrunk, self.cursor = self.shrunk + 1, self.cursor + 1
        if found.broken_us is not None:
            self.broken, self.cursor = found, 0

    def settle(self) -> Pieces[None]:
        """There is no time to shrink any further: the moment of what was found."""
        if self.broken is not None and self.moment_us is None:
            self.moment_us = yield from moment_of(self.case, self.broken, self.limits)

    def _search(self) -> Pieces[None]:
        random = SeededRandom(self.seed, dict(self.draws))
        schedule = Drawing(self.case, random).next(self.fruitful)
        found = yield from attempted(self.case, schedule, self.limits)
        self.draws, self.tries = random.draws, self.tries + 1
        if found.broken_us is not None:
            self.broken = found
        elif found.worst > self.worst or not found.signs <= self.seen:
            self.worst = max(self.worst, found.worst)
            self.seen |= found.signs
            self.fruitful = [*self.fruitful, found.schedule][-FRUITFUL_MAX:]

    # -- a search that is gone on with in another process ----------------------------------------------------

    def to_json(self) -> Json:
        """All that it needs to go on, beside its case and seed."""
        return {
            "tries": self.tries,
            "draws": self.draws,
            "fruitful": [_plain(schedule) for schedule in self.fruitful],
            "seen": sorted(self.seen),
            "worst": self.worst,
            "broken": None
            if self.broken is None
            else {
                "schedule": _plain(self.broken.schedule),
                "kept_us": self.broken.kept_us,
                "broken_us": self.broken.broken_us,
                "worst": self.broken.worst,
            },
            "shrunk": self.shrunk,
            "cursor": self.cursor,
            "moment_us": self.moment_us,
        }

    @classmethod
    def from_json(cls, case: Case, seed: int, state: Json, limits: Limits = DEFAULT_LIMITS) -> Search:
        broken = state["broken"]
        attempt = broken and Attempt(
            _schedule(broken["schedule"]), broken["kept_us"], broken["broken_us"], broken["worst"]
        )
        return replace(
            cls(case, seed, limits),
            **{name: state[name] for name in ("tries", "draws", "worst", "shrunk", "cursor", "moment_us")},
            fruitful=[_schedule(each) for each in state["fruitful"]],
            seen=set(state["seen"]),
            broken=attempt,
        )


def _plain(schedule: Sequence[Fault]) -> list[Json]:
    return [fault.to_json() for fault in schedule]


def _schedule(raw: Sequence[Json]) -> Schedule:
    return tuple(Fault.from_json(each) for each in raw)
