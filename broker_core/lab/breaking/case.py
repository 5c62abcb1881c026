"""A case: a lane's scenario, the promise about it, what may happen, and how long a try lasts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.breaking.allowance import May, allowance_from_json
from broker_core.lab.breaking.promise import Promise, promise_from_json
from broker_core.lab.fields import refuse_unknown, whole
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.scenario import LaneSpec, Scenario, scenario_from_json, scenario_to_json

LASTS_S = (5, 300)
LASTS_US = (LASTS_S[0] * SECOND_US, LASTS_S[1] * SECOND_US)


@dataclass(frozen=True, slots=True)
class Case:
    """scenario: of one lane, without a lesson: lanes never see one another, so the others change nothing."""

    scenario: Scenario
    promise: Promise
    may: tuple[May, ...]
    lasts_us: int

    @property
    def lane(self) -> LaneSpec:
        return self.scenario.lanes[0]

    def to_json(self) -> Json:
        """As `case_from_json` takes it."""
        return {
            "scenario": scenario_to_json(self.scenario),
            "promise": self.promise.to_json(),
            "may": [may.to_json() for may in self.may],
            "lasts_us": self.lasts_us,
        }


def case_from_json(raw: object, limits: Limits = DEFAULT_LIMITS) -> Case:
    """`{"scenario", "lane"?, "promise", "may", "lasts_us"}`; lane: which one the promise is about, the first without it.

    Raises CommandError at the field that is wrong; one of the scenario has its own name.
    """
    if not isinstance(raw, dict):
        raise CommandError("case", "must be an object")
    refuse_unknown(raw, ("scenario", "lane", "promise", "may", "lasts_us"), "", "case")
    scenario = scenario_from_json(raw.get("scenario", {}), limits)
    ids = [lane.id for lane in scenario.lanes]
    wanted = raw.get("lane", ids[0])
    if wanted not in ids:
        raise CommandError("lane", "must be one of {choices}", choices=Names(ids))
    lane = scenario.lanes[ids.index(wanted)]
    lasts_us = whole("lasts_us", raw.get("lasts_us"), *LASTS_US)
    errors: list[CommandError] = []
    promise: Promise = Promise("key_order")
    may: tuple[May, ...] = ()
    try:
        promise = promise_from_json(raw.get("promise"), lane.model)
    except CommandError as error:
        errors.append(error)
    try:
        may = allowance_from_json(raw.get("may"), lane.model, lasts_us, limits)
    except CommandError as error:
        errors.append(error)
    if errors:
        raise CommandError.of_all(errors)
    return Case(replace(scenario, lanes=(lane,), lesson=None), promise, may, lasts_us)
