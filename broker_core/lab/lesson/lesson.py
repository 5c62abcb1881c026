"""A lesson: what a scenario tells beside what it begins with. Part of a scenario's JSON, under "lesson".

`{"title", "line", "watch_for", "you_will_learn": {"en", "zh"}, "front": lane id or None, "page", "lasts_us",
"lanes"?: {lane id: title},
"steps": [{"at_us", "caption"?, "frame"?, "order"?}], "checks": [{"at_us", "lane", "number", "asks": {"is": 6}, "says":
{"en", "zh"}}]}`. An order is a command without id; a check without a lane asks the lab itself.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.commands import check_command
from broker_core.lab.commands.base import ALL
from broker_core.lab.commands.clock import PauseLab, PlayUntil
from broker_core.lab.fields import is_finite, refuse_unknown, whole
from broker_core.lab.lesson.checks import ASKS, EXACT
from broker_core.lab.lesson.frames import PAGES, PLAIN, STAGE, Frame, frame_from_json, way_speed
from broker_core.lab.lesson.texts import Text, text_of
from broker_core.lab.limits import Limits

OWN_IDS = "lesson:"
"""How the ids of a lesson's own orders begin; the number of the step follows, from 1."""
LASTS_US_MAX = 4 * 3600 * 1_000_000
STEPS_MAX, CHECKS_MAX = 200, 60
CHANGES = ("join", "leave", "crash", "rejoin", "pause", "resume", "slow")
"""What a frame can ask about: who is there, and how fast they are."""
ASKED_MAX = 10**15
"""What a check may ask of a number: more than any lab has, even of microseconds, and a float holds each whole
number up to it."""
TITLE_MAX, LANE_MAX, LINE_MAX, CAPTION_MAX, TEXT_MAX, NUMBER_MAX = 60, 40, 200, 400, 2_000, 200
_FIELDS = {
    "title",
    "line",
    "watch_for",
    "you_will_learn",
    "front",
    "page",
    "lasts_us",
    "lanes",
    "steps",
    "checks",
}


@dataclass(frozen=True, slots=True)
class Step:
    """caption: stays until the next one. order: a command as `check_command` gives it, None for a caption
    alone. frame: what is shown with the caption."""

    at_us: int
    caption: Text | None
    order: Json | None
    frame: Frame = PLAIN

    @property
    def stop_us(self) -> int:
        """Where a lesson that is watched frame by frame pauses for its caption."""
        return self.at_us if self.frame.stop_us is None else self.frame.stop_us


@dataclass(frozen=True, slots=True)
class Check:
    """lane: its id; "" asks the lab. number: a path, see numbers.py. asks: see checks.py. says: what the
    number is."""

    at_us: int
    lane: str
    number: str
    asks: Json
    says: Text


@dataclass(frozen=True, slots=True)
class Lesson:
    """line: what the list of lessons says of it. front: the lane that stands in front, None: the first. page:
    of PAGES, where Play leads to.
    lasts_us: virtual time. lanes: what a lane is called in this lesson, by id; the others have their model's
    name and their id."""

    title: Text
    line: Text
    watch_for: Text
    you_will_learn: Text
    front: str | None
    page: str
    lasts_us: int
    lanes: dict[str, Text] = field(default_factory=dict)
    steps: tuple[Step, ...] = field(default=())
    checks: tuple[Check, ...] = field(default=())

    def to_json(self) -> Json:
        steps: list[Json] = []
        for step in self.steps:
            order = {name: value for name, value in (step.order or {}).items() if name != "command_id"}
            parts = {"caption": step.caption, "frame": step.frame.to_json() or None, "order": order or None}
            steps.append(
                {"at_us": step.at_us, **{name: part for name, part in parts.items() if part is not None}}
            )
        checks = [
            {
                "at_us": check.at_us,
                "lane": check.lane,
                "number": check.number,
                "asks": check.asks,
                "says": check.says,
            }
            for check in self.checks
        ]
        return {
            "title": self.title,
            "line": self.line,
            "watch_for": self.watch_for,
            "you_will_learn": self.you_will_learn,
            "front": self.front,
            "page": self.page,
            "lasts_us": self.lasts_us,
            "steps": steps,
            "checks": checks,
            **({"lanes": self.lanes} if self.lanes else {}),
        }

    def frames(self) -> list[Step]:
        """The captions in turn; one that another replaces at its very moment is never seen."""
        told = [step for step in self.steps if step.caption is not None]
        return [step for step, after in zip(told, [*told[1:], None], strict=True)
                if after is None or after.at_us > step.at_us]  # fmt: skip

    def ways(self) -> list[tuple[int, float]]:
        """(where it ends, its speed) of the way to each frame, and to the end."""
        ends: list[tuple[int, float]] = []
        before_us = 0
        for stop_us, speed in [
            *((step.stop_us, step.frame.speed) for step in self.frames()),
            (self.lasts_us, None),
        ]:
            ends.append((stop_us, way_speed(stop_us - before_us) if speed is None else speed))
            before_us = stop_us
        return ends

    def opening(self, frame: int = 1) -> Json:
        """The first order to a lab that is watched frame by frame: to this one, from 1, or to the first after it that
        is not at the very start."""
        ways = self.ways()[frame - 1 :]
        stop_us, speed = next((way for way in ways if way[0] > 0), (self.lasts_us, 1.0))
        if frame > 1:  # over several at once
            speed = way_speed(stop_us)
        order = {"kind": PlayUntil.kind, "args": {"until_us": stop_us, "speed": speed}}
        return check_command({"command_id": f"{OWN_IDS}begin", **order})

    def next_change(self, now_us: int) -> Step | None:
        """The next step after now that orders something."""
        return next((step for step in self.steps if step.order is not None and step.at_us > now_us), None)

    def stop_us(self, now_us: int, until_us: int) -> int:
        """`until_us`, or the time of a step or check between now and then, where a lab on its way stops for a
        moment."""
        times = [*(step.at_us for step in self.steps), *(check.at_us for check in self.checks)]
        return min((at_us for at_us in times if now_us < at_us < until_us), default=until_us)

    def script(self) -> list[Json]:
        """Its orders as a lab's script: [{at_us, body}]. At the end the lab is paused, so that what came can
        be read in peace."""
        end = {"command_id": f"{OWN_IDS}end", "kind": PauseLab.kind}
        orders = [{"at_us": step.at_us, "body": step.order} for step in self.steps if step.order is not None]
        return [*orders, {"at_us": self.lasts_us, "body": check_command(end)}]


def lesson_from_json(raw: object, lanes: Mapping[str, Collection[str]], limits: Limits) -> Lesson:
    """Check a lesson. lanes: id of each lane of the scenario -> the pages that it has beside the Stage.
    Raises CommandError at the field that is wrong, which begins with `lesson`."""
    where = "lesson"
    if not isinstance(raw, dict):
        raise CommandError(where, "must be an object")
    refuse_unknown(raw, _FIELDS, f"{where}.", where)
    front = raw.get("front")
    ids = tuple(lanes)
    if front is not None and front not in ids:
        raise CommandError(f"{where}.front", "must be one of {choices}", choices=Names(ids))
    page = raw.get("page", STAGE)
    if page not in PAGES:
        raise CommandError(f"{where}.page", "must be one of {choices}", choices=Names(PAGES))
    shown = list(lanes.values()) if front is None else [lanes[front]]
    if page != STAGE and not any(page in pages for pages in shown):
        raise CommandError(f"{where}.page", "no selectable lane has this page")
    lasts_us = whole(f"{where}.lasts_us", raw.get("lasts_us"), 1, LASTS_US_MAX)
    if not raw.get("checks"):
        raise CommandError(f"{where}.checks", "is missing: at least one number that the run must show")
    return Lesson(
        title=text_of(raw, "title", where, TITLE_MAX),
        line=text_of(raw, "line", where, LINE_MAX),
        watch_for=text_of(raw, "watch_for", where, TEXT_MAX),
        you_will_learn=text_of(raw, "you_will_learn", where, TEXT_MAX),
        front=front,
        page=page,
        lasts_us=lasts_us,
        lanes=_lanes(raw.get("lanes", {}), f"{where}.lanes", ids),
        steps=_steps(raw.get("steps", []), f"{where}.steps", lasts_us, lanes, limits, page),
        checks=tuple(
            _check(entry, f"{where}.checks.{place}", lasts_us, ids)
            for place, entry in enumerate(_list(raw.get("checks", []), f"{where}.checks", CHECKS_MAX))
        ),
    )


def _list(raw: object, where: str, most: int) -> list[Any]:
    if not isinstance(raw, list) or len(raw) > most:
        raise CommandError(where, "must be a list of at most {high} entries", high=most)
    return raw


def _lanes(raw: object, where: str, ids: Collection[str]) -> dict[str, Text]:
    if not isinstance(raw, dict):
        raise CommandError(where, "must be an object")
    refuse_unknown(raw, ids, f"{where}.", where)
    return {lane: text_of(raw, lane, where, LANE_MAX) for lane in ids if lane in raw}


def _steps(
    raw: object, where: str, lasts_us: int, lanes: Mapping[str, Collection[str]], limits: Limits, page: str
) -> tuple[Step, ...]:
    steps: list[Step] = []
    for place, entry in enumerate(_list(raw, where, STEPS_MAX)):
        here = f"{where}.{place}"
        if not isinstance(entry, dict):
            raise CommandError(here, "must be an object")
        refuse_unknown(entry, {"at_us", "caption", "frame", "order"}, f"{here}.", here)
        at_us = whole(f"{here}.at_us", entry.get("at_us"), 0, LASTS_US_MAX)
        if steps and at_us < steps[-1].at_us:
            raise CommandError(
                f"{here}.at_us",
                "time goes back: the step before it is at {before} s",
                before=steps[-1].at_us / 1e6,
            )
        if at_us > lasts_us:
            raise CommandError(f"{here}.at_us", "is after the end, {end} s", end=lasts_us / 1e6)
        if not entry.get("caption") and not entry.get("order"):
            raise CommandError(here, "does nothing: give it a caption, an order, or both")
        caption = text_of(entry, "caption", here, CAPTION_MAX) if "caption" in entry else None
        frame = PLAIN
        if "frame" in entry:
            if caption is None:
                raise CommandError(f"{here}.frame", "belongs to a caption: give it one")
            frame = frame_from_json(entry["frame"], f"{here}.frame", at_us, lanes, page)
        order = _order(entry["order"], place, f"{here}.order", lanes, limits) if "order" in entry else None
        steps.append(Step(at_us, caption, order, frame))
    _check_stops(steps, where, lasts_us)
    _check_asks(steps, where)
    return tuple(steps)


def _check_stops(steps: list[Step], where: str, lasts_us: int) -> None:
    """A frame's own stop is while its caption is there."""
    until_us = lasts_us
    for place, step in reversed(list(enumerate(steps))):
        if step.caption is None:
            continue
        if step.frame.stop_us is not None and step.frame.stop_us > until_us:
            raise CommandError(
                f"{where}.{place}.frame.stop_us",
                "is after {until} s, where the next caption comes or the lesson ends",
                until=until_us / 1e6,
            )
        until_us = step.at_us - 1


def _check_asks(steps: list[Step], where: str) -> None:
    """What a frame asks about is a change that comes before the next frame's stop."""
    for place, step in enumerate(steps):
        if step.frame.ask is None:
            continue
        later = steps[place + 1 :]
        until_us = next((each.stop_us for each in later if each.caption is not None), LASTS_US_MAX)
        order = next((each for each in later if each.order is not None and each.at_us > step.stop_us), None)
        if (
            order is None
            or order.order is None
            or order.at_us > until_us
            or order.order["kind"] not in CHANGES
            or order.order["lane"] not in (ALL, step.frame.ask["lane"])
        ):
            raise CommandError(
                f"{where}.{place}.frame.ask",
                "asks about the next order, which must come before the next stop, for this lane, and be one of {choices}",
                choices=Names(CHANGES),
            )


def _order(raw: object, place: int, where: str, lanes: Collection[str], limits: Limits) -> Json:
    if not isinstance(raw, dict):
        raise CommandError(where, "must be an object")
    try:
        body = check_command({**raw, "command_id": f"{OWN_IDS}{place + 1}"}, limits)
    except CommandError as error:
        error.field = f"{where}.{error.field}"
        raise
    if body["lane"] not in (ALL, *lanes):
        raise CommandError(f"{where}.lane", "must be one of {choices}", choices=Names((ALL, *lanes)))
    return body


def _check(raw: object, where: str, lasts_us: int, lanes: Collection[str]) -> Check:
    if not isinstance(raw, dict):
        raise CommandError(where, "must be an object")
    refuse_unknown(raw, {"at_us", "lane", "number", "asks", "says"}, f"{where}.", where)
    at_us = whole(f"{where}.at_us", raw.get("at_us", lasts_us), 1, LASTS_US_MAX)
    if at_us > lasts_us:
        raise CommandError(f"{where}.at_us", "is after the end, {end} s", end=lasts_us / 1e6)
    lane = raw.get("lane", "")
    if lane != "" and lane not in lanes:
        raise CommandError(f"{where}.lane", "must be one of {choices}", choices=Names(lanes))
    number = raw.get("number")
    if not isinstance(number, str) or not number or not _is_short(number):
        raise CommandError(f"{where}.number", "must be the name of a number, as bill.keys_moved")
    asks = raw.get("asks")
    if not isinstance(asks, dict) or not asks:
        raise CommandError(where, "asks nothing: say one of {choices}", choices=Names(ASKS))
    refuse_unknown(asks, ASKS, f"{where}.asks.", f"{where}.asks")
    for name, wanted in asks.items():
        is_number = isinstance(wanted, int | float) and not isinstance(wanted, bool) and is_finite(wanted)
        if not is_number and not (
            name in EXACT and isinstance(wanted, str | bool) and _is_short(str(wanted))
        ):
            raise CommandError(
                f"{where}.asks.{name}",
                "must be a number, a text, true or false" if name in EXACT else "must be a number",
            )
        if is_number and abs(wanted) > ASKED_MAX:
            raise CommandError(
                f"{where}.asks.{name}",
                "must be a number from {low} to {high}",
                low=-ASKED_MAX,
                high=ASKED_MAX,
            )
    return Check(at_us, lane, number, dict(asks), text_of(raw, "says", where, CAPTION_MAX))


def _is_short(text: str) -> bool:
    return len(text) <= NUMBER_MAX and text.isprintable()
