"""The stills' numbers as a file, which a test compares with what the engine says."""

import json
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.frames import CLUSTER
from broker_core.lab.lesson.play import view_at
from broker_core.lab.scenario import Scenario
from dashboard.course import places
from dashboard.stills.reading import still_of

Json = dict[str, Any]
FILE = Path(__file__).parent / "recorded.json"
ABOUT_REPLICAS = "replication"


@cache
def recorded() -> dict[str, Json]:
    """Lesson -> the numbers of its still."""
    found: dict[str, Json] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def played(name: str) -> Json:
    """The same for one lesson, from the engine. Raises KeyError for one that is not there."""
    place = places()[name]
    scenario = scenario_from_text(read_file(shelf()[name]))
    view = view_at(scenario, round(place.key_s * 1_000_000))
    return still_of(view, shows_replicas=place.chapter == ABOUT_REPLICAS or _page(scenario) == CLUSTER)


def record(names: Collection[str] = ()) -> dict[str, Json]:
    """Play these lessons, or all, and write the file."""
    chosen = names or places()
    kept = {name: still for name, still in recorded().items() if name in places()} if FILE.exists() else {}
    stills = kept | {name: played(name) for name in chosen}
    lines = [f"{json.dumps(name)}: {json.dumps(stills[name])}" for name in sorted(stills)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    recorded.cache_clear()
    return stills


def _page(scenario: Scenario) -> str:
    assert scenario.lesson is not None, "a scenario file always has one"
    return scenario.lesson.page
