"""A lab's log as its page reads it: which broker's replica that is, and the mark that makes the worker go on.

The folder follows from the lab and the request, so its name does too. A web process only reads it; each request
leaves a mark, and while marks are fresh the worker writes (`writer.py`).
"""

import json
from collections.abc import Iterator
from pathlib import Path

from broker_core.events import Json
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.workload.parse import Workload, workload_from_json
from dashboard.labs import selectors
from dashboard.limits import core_limits
from dashboard.logs import replicas
from dashboard.logs.moments import UNTIL_US, seen_then
from dashboard.logs.places import wish
from dashboard.logs.source import Query, Source
from dashboard.models import Lab

WANTED = ".wanted"
LOCK, BEAT, ASKED = ".writer.lock", ".writer.beat", ".writer.asked"


def source_of(lab_id: str, query: Query) -> Source:
    """The partition that was asked for, as it is on disk at the moment that is shown. Raises as `place`."""
    return replicas.source_of(place(lab_id, query))


def clean_of(lab_id: str, query: Query) -> Json | None:
    """What the worker last worked out about compacting the partition; None while it has not. Raises as `place`."""
    asked = place(lab_id, query)
    folder = wish(asked.folder, asked.description)
    (folder / f"clean-{asked.partition}{WANTED}").touch()
    try:
        answer: Json = json.loads((folder / f"clean-{asked.partition}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return answer


def place(lab_id: str, query: Query) -> replicas.AskedReplica:
    """Whose log is asked about, now or at the moment of ?until_us=. Raises Refused 404 or 400 at the field, 503 before
    the lane has begun."""
    lab = selectors.lab_get(lab_id=lab_id)
    lane = replicas.lane_asked_for(lab, query)
    seen = seen_then(lab, query) if UNTIL_US in query else replicas.seen_now(lab, lane)
    return replicas.asked_for(lab, lane, query, seen)


def cleans_wanted(folder: Path, since_s: float) -> Iterator[int]:
    """The partitions whose compaction somebody has asked about since then."""
    for mark in folder.glob(f"clean-*{WANTED}"):
        if mark.stat().st_mtime > since_s:
            yield int(mark.stem.removeprefix("clean-"))


def workload_of(lab_id: str) -> Workload | None:
    """What the lab's records follow from; None when the lab is gone."""
    lab = Lab.objects.filter(pk=lab_id).first()
    if lab is None:
        return None
    scenario = scenario_from_json(lab.scenario, core_limits())
    return workload_from_json(scenario.workload, core_limits(), scenario.seed)
