"""How a search draws its next schedule: new, or a fruitful one with one change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from broker_core.lab.breaking.allowance import May, faults_most
from broker_core.lab.breaking.case import Case
from broker_core.lab.breaking.faults import BROKER, CONSUMER, FAULTS, LINK, NOBODY
from broker_core.lab.breaking.schedule import Fault, Schedule, in_turn
from broker_core.rng import SeededRandom

GRID_US = 1_000
"""Times are drawn on it: as fine as what a copy of a record takes to its followers."""
STREAM = "break"
BROKERS_DEFAULT = 1


class Drawing:
    """One draw after the other from a search's random stream."""

    def __init__(self, case: Case, random: SeededRandom) -> None:
        self.case = case
        self.random = random
        self.brokers: int = case.lane.options.get("brokers", BROKERS_DEFAULT)

    def next(self, fruitful: Sequence[Schedule]) -> Schedule:
        """A schedule to try. Half of them change a fruitful one, as soon as there is one."""
        if fruitful and self._below(2):
            return self._changed(self._one_of(fruitful))
        schedule: Schedule = ()
        for _ in range(1 + self._below(faults_most(self.case.may))):
            schedule = self._with_one_more(schedule)
        return schedule

    def _changed(self, schedule: Schedule) -> Schedule:
        """One fault more, one less, one at another time, or one about others."""
        way = self._below(4)
        if way == 0 or not schedule:
            return self._with_one_more(schedule)
        place = self._below(len(schedule))
        rest = (*schedule[:place], *schedule[place + 1 :])
        if way == 1 and rest:
            return rest
        may = next(each for each in self.case.may if each.do == schedule[place].kind)
        if way == 2:
            at_us = self._time(may.from_us, may.until_us)
            return in_turn((*rest, replace(schedule[place], at_us=at_us)))
        return in_turn((*rest, replace(self._fault(may, rest), at_us=schedule[place].at_us)))

    def _with_one_more(self, schedule: Schedule) -> Schedule:
        left = [may for may in self.case.may if sum(each.kind == may.do for each in schedule) < may.most]
        return in_turn((*schedule, self._fault(self._one_of(left), schedule))) if left else schedule

    def _fault(self, may: May, others: Schedule) -> Fault:
        """One fault of this kind beside the others. A repair is about one that needs it, and comes after; any other
        fault is every second time about one that there was a fault about."""
        kind, ends = FAULTS[may.do], FAULTS[may.do].ends
        alike = [
            each for each in others if FAULTS[each.kind].about == kind.about and each.at_us < may.until_us
        ]
        before = [each for each in alike if each.kind in ends] if ends else alike
        if before and kind.about != NOBODY and (ends or self._below(2)):
            other = self._one_of(before)
            at_us = self._time(max(may.from_us, other.at_us) if ends else may.from_us, may.until_us)
            named = {name: other.args[name] for name in ("broker", "one", "other") if name in other.args}
            return Fault(at_us, may.do, other.consumer, {**named, **may.args})
        at_us = self._time(may.from_us, may.until_us)
        if kind.about == CONSUMER:
            return Fault(at_us, may.do, self._consumer(others), may.args)
        named = (
            {"broker": 1 + self._below(self.brokers)}
            if kind.about == BROKER
            else self._link(others)
            if kind.about == LINK
            else {}
        )
        return Fault(at_us, may.do, None, {**named, **may.args})

    def _time(self, from_us: int, until_us: int) -> int:
        low, high = -(-from_us // GRID_US), until_us // GRID_US
        return from_us if high < low else (low + self._below(high - low + 1)) * GRID_US

    def _consumer(self, others: Schedule) -> str:
        joined = sum(each.args.get("count", 1) for each in others if each.kind == "join")
        return f"c{1 + self._below(max(1, self.case.scenario.consumers + joined))}"

    def _link(self, others: Schedule) -> dict[str, str]:
        """A broker, and every second time another one, else another node of the cluster or a consumer."""
        one = 1 + self._below(self.brokers)
        peers = [f"broker-{number}" for number in range(1, self.brokers + 1) if number != one]
        nodes = ["controller", "producer", self._consumer(others)]
        return {
            "one": f"broker-{one}",
            "other": self._one_of(peers if peers and self._below(2) else nodes),
        }

    def _below(self, limit: int) -> int:
        return self.random.below(STREAM, limit)

    def _one_of(self, entries: Sequence[Any]) -> Any:
        return entries[self._below(len(entries))]
