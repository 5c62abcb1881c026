"""The stills' numbers as files, of each lesson's key frame and of all of its frames; a test compares them with
what the engine says."""

import json
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.frames import CLUSTER
from broker_core.lab.lesson.play import in_frames, view_at
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import Scenario
from broker_core.lab.trial import next_order, tried
from dashboard.course import places
from dashboard.stills.reading import still_of

Json = dict[str, Any]
FILE = Path(__file__).parent / "recorded.json"
FRAMES_FILE = FILE.with_name("frames.json")
ABOUT_REPLICAS = "replication"


@cache
def recorded() -> dict[str, Json]:
    """Lesson -> the numbers of its still."""
    found: dict[str, Json] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@cache
def recorded_frames() -> dict[str, list[Json]]:
    """Lesson -> the numbers of a still of each of its frames, in turn."""
    found: dict[str, list[Json]] = json.loads(FRAMES_FILE.read_text(encoding="utf-8"))
    return found


def played(name: str) -> Json:
    """The key frame's still of one lesson, from the engine. Raises KeyError for one that is not there."""
    scenario = scenario_from_text(read_file(shelf()[name]))
    view = view_at(scenario, round(places()[name].key_s * 1_000_000))
    return still_of(view, shows_replicas=_shows_replicas(name, scenario))


def played_frames(name: str) -> list[Json]:
    """The same of all of its frames, at the moments where it stops for them."""
    scenario = scenario_from_text(read_file(shelf()[name]))
    shows_replicas = _shows_replicas(name, scenario)
    assert scenario.lesson is not None, "a scenario file always has one"
    frames = scenario.lesson.frames()
    return [
        still_of(lab.view(), shows_replicas=shows_replicas) | _asked(lab, step.frame.ask)
        for step, (_stop_us, lab) in zip(
            frames, in_frames(scenario), strict=False
        )  # it has an end behind its last frame
    ]


def _asked(lab: Lab, ask: Json | None) -> Json:
    """The question of a frame, answered by a copy of the lab: {ask: {lane, model, change, question}}."""
    if ask is None:
        return {}
    copy = Lab.restore(lab.scenario, lab.checkpoint(), lab.limits)
    order = whole(next_order(copy))
    lane = whole(tried(copy, order, None))["lanes"][ask["lane"]]
    questions = lane["outcome"]["questions"]
    question = next((each for each in questions if each["figure"] == ask["figure"]), questions[0])
    change = {"kind": order["kind"], "consumer": order["consumer"]}
    return {"ask": {"lane": ask["lane"], "model": lane["model"], "change": change, "question": question}}


def _shows_replicas(name: str, scenario: Scenario) -> bool:
    return places()[name].chapter == ABOUT_REPLICAS or _page(scenario) == CLUSTER


def record(names: Collection[str] = ()) -> dict[str, Json]:
    """Play these lessons, or all, and write both files. -> the stills of the key frames"""
    chosen = names or places()
    _write(FRAMES_FILE, {name: played_frames(name) for name in chosen})
    stills = _write(FILE, {name: played(name) for name in chosen})
    recorded.cache_clear()
    recorded_frames.cache_clear()
    return stills


def _write(file: Path, found: Json) -> Json:
    """Into the file, beside those of other lessons that are there already."""
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    stills = {name: still for name, still in before.items() if name in places()} | found
    lines = [f"{json.dumps(name)}: {json.dumps(stills[name])}" for name in sorted(stills)]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return stills


def _page(scenario: Scenario) -> str:
    assert scenario.lesson is not None, "a scenario file always has one"
    return scenario.lesson.page
