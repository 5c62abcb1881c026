"""A run gone through again, and what is seen on the way: a picture at each moment, what can be asked about it, and
what happened. Everything is the engine's own answer, as to somebody who looks at the lab's past."""

import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.journal import Journal
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.lesson.lesson import CHANGES
from broker_core.lab.pieces import whole
from broker_core.lab.trial import next_order, tried
from broker_core.lab.why.answer import why
from dashboard.labs import writes
from dashboard.labs.capsules.moments import moments_of
from dashboard.labs.frames import encode
from dashboard.labs.past.answering import picture
from dashboard.labs.past.kept import KeptLabs, Past, Viewer, past_of
from dashboard.labs.past.marks import marks_in, system_marks
from dashboard.labs.past.stepping import CLOCK_KINDS
from dashboard.models import Lab, StoredEvent
from dashboard.page_scripts import call
from dashboard.stored import Damaged

EVENTS_MAX = 3_000
BEFORE_MAX = 5_000
"""Turning points of before the part, in which the reason of a thing is looked for."""
WHY_MAX = 10_000
"""Answers of "Why?": things by moments."""
WHY_RARE = 4
"""Where it is asked at fewer moments than every fourth, it is not asked at each change."""
QUESTIONS_MAX = 12
VIEWER: Viewer = ("capsule", "")
_ASKED_BY = ("picture", "cluster", "rabbitmq", "pulsar", "group", "model", "order")


@dataclass(slots=True)
class Kept:
    """A moment. text: its view as JSON, packed; why: lane -> thing -> answer, packed; None: not asked here."""

    at_us: int
    position: int
    state_hash: str
    stays: bool
    text: bytes
    why: bytes | None = None


@dataclass(slots=True)
class Recording:
    """asked: questions about the changes that follow, each with the moments from_us to until_us that it is for."""

    from_us: int
    until_us: int
    kept: list[Kept] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    marks: list[Json] = field(default_factory=list)
    asked: list[Json] = field(default_factory=list)


def record(
    row: Lab, panels: Collection[str], from_us: int, until_us: int, check: Callable[[float], None]
) -> Recording:
    """The run of a lab between two moments, seen on a page that draws these panels.

    check: called with the part that is done, between two pieces of work; what it raises ends it.
    """
    past = with_script(past_of(row), until_us)
    kept, found, done = KeptLabs(), Recording(from_us, until_us), 0.0

    def piece() -> None:
        check(done)

    def at(at_us: int) -> tuple[CoreLab, list[Json]]:
        return kept.at(past, VIEWER, past.journal.cut(at_us), piece)

    lab, _events = at(from_us)
    told = _before(row.pk, from_us)
    begun = kept.begun(past, piece)
    moments = moments_of(from_us, until_us, _changes(past, lab, row.pk), lab.facts().parts)
    questions = _questions(past, lab, from_us, until_us)
    every = 1
    for place, (at_us, stays) in enumerate(moments):
        done = (place + 1) / len(moments)
        for question in list(questions):
            if question["at_us"] <= at_us:
                questions.remove(question)
                lab, events = at(question["at_us"])
                told += events
                _ask(lab, question, found.asked, piece)
        lab, events = at(at_us)
        told += events
        view, head = picture(lab, panels)
        view["playing"] = False
        moment = Kept(head["at_us"], head["position"], head["state_hash"], stays, _packed(view))
        found.kept.append(moment)
        if place == 0:
            every = -(-len(moments) * sum(1 for _each in _things(view, panels)) // WHY_MAX) or 1
        if place % every == 0 or (stays and every <= WHY_RARE):
            moment.why = _packed(_answers(lab, view, panels, [*begun, *told]))
    found.events = [event for event in told if from_us <= event["at_us"] <= until_us][-EVENTS_MAX:]
    found.marks = marks_in([event for event in told if event["at_us"] <= until_us])
    return found


def with_script(past: Past, until_us: int) -> Past:
    """With what a lesson orders after the moment that its lab has come to: a capsule has the whole of it."""
    journal, (left, _waiting) = past.journal, writes.script_left(past.row)
    position = max((each["position"] for each in journal.commands), default=0)
    due = [entry for entry in left if entry["at_us"] <= until_us]
    commands = [
        {**entry["body"], "position": position + place, "at_us": entry["at_us"]}
        for place, entry in enumerate(due, start=1)
    ]
    return past._replace(
        journal=Journal(journal.scenario, [*journal.commands, *commands], limits=journal.limits)
    )


def _before(lab_id: str, from_us: int) -> list[Json]:
    rows = StoredEvent.objects.filter(lab_id=lab_id, at_us__lte=from_us).order_by("-seq")[:BEFORE_MAX]
    return [row.event for row in reversed(rows) if not isinstance(row.event, Damaged)]


def _changes(past: Past, lab: CoreLab, lab_id: str) -> list[int]:
    orders = [each["at_us"] for each in past.journal.commands if each["kind"] not in CLOCK_KINDS]
    lesson = past.journal.scenario.lesson
    frames = [] if lesson is None else [stop_us for stop_us, _speed in lesson.ways()]
    return [*orders, *frames, *(mark["at_us"] for mark in system_marks(lab_id, past.row.clock_floor_us))]


# -- Why? ----------------------------------------------------------------------------------------------------


def _things(view: Json, panels: Collection[str]) -> Iterator[tuple[str, str]]:
    """(lane, thing) of all that a page with these panels lists under "Why?"."""
    for lane_id, lane in view["lanes"].items():
        if panels and not any(name in lane for name in panels):
            continue
        asked_by = {name: lane[name] for name in _ASKED_BY if name in lane}
        groups: list[Any] = call("why/things", "thingsOf", asked_by, lane_id)
        for thing in chain.from_iterable(things for _kind, things in groups):
            yield lane_id, thing


def _answers(lab: CoreLab, view: Json, panels: Collection[str], told: list[Json]) -> Json:
    newest = {
        lane_id: [event for event in reversed(told) if event["lane"] == lane_id] for lane_id in lab.lanes
    }
    found: Json = {}
    for lane_id, thing in _things(view, panels):
        try:
            answer = why(lab.lanes[lane_id], thing, newest[lane_id], lab.timeline)
        except CommandError:  # it is drawn, and there no more
            continue
        found.setdefault(lane_id, {})[thing] = answer
    return found


# -- questions -----------------------------------------------------------------------------------------------


def _questions(past: Past, lab: CoreLab, from_us: int, until_us: int) -> list[Json]:
    """{at_us, from_us, until_us, order}: of a lesson at the frames that ask, order None for its next one; of another
    run before each change that can be asked about."""
    lesson = past.journal.scenario.lesson
    if lesson is not None:
        stops = [
            stop_us
            for (stop_us, _speed), step in zip(lesson.ways(), lesson.frames(), strict=False)
            if step.frame.ask is not None
        ]
        return [
            {"at_us": stop, "from_us": stop, "until_us": stop, "order": None}
            for stop in stops
            if from_us <= stop <= until_us
        ]
    orders = [each for each in past.journal.commands if each["kind"] in CHANGES]
    found, last_us = [], from_us
    for each in orders:
        if not from_us < each["at_us"] <= until_us:
            continue
        order = {name: each[name] for name in ("kind", "lane", "consumer", "args")}
        found.append(
            {"at_us": each["at_us"] - 1, "from_us": last_us, "until_us": each["at_us"] - 1, "order": order}
        )
        last_us = each["at_us"]
    return found[:QUESTIONS_MAX]


def _ask(lab: CoreLab, question: Json, found: list[Json], piece: Callable[[], None]) -> None:
    """On a copy of the lab; one that the lab refuses is left out."""
    copy = CoreLab.restore(lab.scenario, lab.checkpoint(), lab.limits)
    try:
        order = question["order"] or whole(next_order(copy), piece)
        answer = {"position": lab.position, **whole(tried(copy, order, None), piece)}
    except CommandError:
        return
    found.append({**question, "is_next": question["order"] is None, "order": order, "answer": answer})


def _packed(value: Json) -> bytes:
    return zlib.compress(encode(value).encode(), 1)
