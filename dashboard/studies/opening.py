"""A study opened as a lab: its keys with their weights, its strategies as lanes, its membership history as
the lab's own script.

The workload is the sample by key that the study's timed measures ran on (`sample.json` beside the result), so
a lane's skew is the study's. The script orders one change after another, at times spread so that a person can
watch; it goes through the journal like anybody's orders.
"""

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from django.conf import settings
from django.utils.translation import gettext as _

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.scenario import LANES_MAX
from dashboard.errors import Refused, in_words
from dashboard.labs.services import lab_open
from dashboard.models import Lab, Study
from dashboard.studies.job import study_folder
from dashboard.studies.selectors import study_result

SAMPLE = "sample.json"
OLD_TOPIC = "flights"  # studies were counted under this name before they were named after their source
FIRST_CHANGE_US = 8 * SECOND_US
GAP_US = 8 * SECOND_US
SCRIPT_US = 600 * SECOND_US  # a long history goes faster, so that its end is seen within ten minutes


@dataclass(frozen=True, slots=True)
class OpenedStudy:
    """The lab, its owner's token, and what of the study it does not show: sentences for a person."""

    lab: Lab
    owner_token: str
    left_out: list[str]


def study_open(*, study: Study, request: Json, visitor: str | None = None, address: str = "") -> OpenedStudy:
    """A lab of the visitor's own that plays the study. request: {strategies?: [id, ...]} or {strategy?: id};
    else the best ranked.

    Raises Refused at `strategies.<i>`, 409 for a study without a sample of its keys, else as lab_open.
    """
    result = study_result(study=study)
    sample = _sample(study_folder(study.pk))
    left_out: list[str] = []
    chosen = _chosen(request, result, left_out)
    topic = result["request"].get("topic", OLD_TOPIC)
    lanes = [_lane(place, strategy_id, chosen, topic) for place, strategy_id in enumerate(chosen)]
    workload = _at_rate(sample, left_out)
    consumers, script = _history(result["steps"], workload["rate"], left_out)
    service = result["request"].get("service") or {}
    scenario: Json = {
        "name": (study.name or _("Study"))[:64],
        "workload": workload,
        "lanes": lanes,
        "consumers": consumers,
        "consumer_rate": max(1, round(service.get("consumer_rate") or 10)),
        "seed": result["request"].get("seed", 7),
    }
    opened = lab_open(request=scenario, visitor=visitor, address=address, script=script)
    return OpenedStudy(opened.lab, opened.owner_token, left_out)


def _sample(folder: Path) -> Json:
    try:
        return dict(msgspec.json.decode((folder / SAMPLE).read_bytes()))
    except (OSError, msgspec.DecodeError) as error:
        raise Refused(
            409, {"study": _("this study kept no sample of its keys, so it cannot be opened as a lab")}
        ) from error


def _chosen(request: Json, result: Json, left_out: list[str]) -> list[str]:
    known = [strategy["id"] for strategy in result["strategies"]]
    if unknown := sorted(set(request) - {"strategy", "strategies"}):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    given: Any = request.get("strategies") or ([request["strategy"]] if request.get("strategy") else None)
    if given is None:
        given = _one_a_model(result)
    if not isinstance(given, list):
        raise Refused(400, {"strategies": _("must be a list of strategies of this study")})
    for place, strategy_id in enumerate(given):
        if strategy_id not in known:
            raise Refused(400, {f"strategies.{place}": _("is not a strategy of this study")})
    chosen = list(dict.fromkeys(given))[:LANES_MAX]
    if len(chosen) < len(known):
        values = {"count": len(chosen), "total": len(known)}
        left_out.append(_("A lab has %(count)d of the study's %(total)d strategies.") % values)
    return chosen


def _one_a_model(result: Json) -> list[str]:
    """The best ranked strategy of each model: four lanes are what the Stage compares."""
    model_of = {strategy["id"]: strategy["model"] for strategy in result["strategies"]}
    best: dict[str, str] = {}
    for entry in result["ranking"]:
        best.setdefault(model_of[entry["id"]], entry["id"])
    return [best[model] for model in ("pulsar", "kafka", "tubemq", "rabbitmq") if model in best]


def _lane(place: int, strategy_id: str, chosen: list[str], topic: str) -> Json:
    """The lane that runs this strategy; the second of a model has a number in its id. topic: the study's,
    after its source."""
    from broker_core.pipeline.strategies import strategy_parse

    try:
        strategies = [strategy_parse(entry) for entry in chosen[: place + 1]]
    except CommandError as error:
        raise Refused(400, {f"strategies.{place}": in_words(error)}) from error
    strategy = strategies[-1]
    same = sum(entry.model == strategy.model for entry in strategies)
    spec = strategy.lane_spec(strategy.model if same == 1 else f"{strategy.model}-{same}", topic=topic)
    return {"id": spec.id, "model": spec.model, "algorithm": spec.algorithm, **spec.options}


def _history(steps: list[Json], rate: int, left_out: list[str]) -> tuple[int, list[Json]]:
    """(how many are there at the start, the script of what comes after). A lab begins with c1, c2, ...:
    others join at once by name.
    rate: records a second of the lab."""
    members = steps[0]["members"]
    if len(members) > settings.CONSUMERS_PER_LANE_MAX:
        raise Refused(400, {"study": _("begins with more consumers than a lab may have")})
    times = _times(steps[1:], rate, left_out)
    changes = [
        (at_us, step["kind"], step["consumer"], _args(step))
        for at_us, step in zip(times, steps[1:], strict=True)
    ]
    if members == [f"c{number}" for number in range(1, len(members) + 1)]:
        return len(members), _script(changes)
    return 0, _script([(0, "join", name, {"count": 1}) for name in members] + changes)


def _args(step: Json) -> Json:
    """What a step's command takes beside its consumer."""
    if step["kind"] == "slow":
        return {"rate": step["rate"]}
    return {"count": 1} if step["kind"] == "join" else {}


def _times(changes: list[Json], rate: int, left_out: list[str]) -> list[int]:
    """When each change comes: at its record, if the lab is there soon enough; else one after another, so that
    a person can watch."""
    if changes and all(change["at"] is not None for change in changes):
        # As the lab counts arrivals (EvenArrivals.count_until): then so many records have come.
        times: list[int] = [change["at"] * SECOND_US // rate for change in changes]
        if times[-1] <= SCRIPT_US:
            return times
        left_out.append(_("Membership changes come at even intervals, not at their records."))
    gap_us = min(GAP_US, SCRIPT_US // max(1, len(changes)))
    return [FIRST_CHANGE_US + place * gap_us for place in range(len(changes))]


def _at_rate(sample: Json, left_out: list[str]) -> Json:
    """The sample at a rate that a lab can play."""
    rate = max(1, round(sample.get("rate") or 36))
    if rate > settings.RECORDS_PER_S_MAX:
        values = {"rate": rate, "limit": settings.RECORDS_PER_S_MAX}
        left_out.append(_("The lab plays %(limit)d records a second; the study has %(rate)d.") % values)
    return {**sample, "rate": min(rate, settings.RECORDS_PER_S_MAX)}


def _script(changes: list[tuple[int, str, str, Json]]) -> list[Json]:
    """(virtual time, kind, consumer, arguments) as commands that the lab gives itself at their time."""
    # Ids that no earlier command can have used.
    study = f"study:{secrets.token_hex(6)}"
    return [
        {
            "at_us": at_us,
            "body": {"command_id": f"{study}:{place}", "kind": kind, "lane": "all", "consumer": consumer,
                     "args": args},
        }
        for place, (at_us, kind, consumer, args) in enumerate(changes, start=1)
    ]  # fmt: skip
