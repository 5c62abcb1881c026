"""A caption as a frame: what a lesson shows with it, and where its lab pauses so that it can be read.

Part of a step's JSON, under "frame", all of it optional: `{"word", "stop_us", "page", "lane", "point", "plate", "speed", "ask"}`.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab import fields
from broker_core.lab.fields import refuse_unknown, whole
from broker_core.lab.lesson.texts import Text, text_of
from broker_core.lab.question import FIGURES

STAGE, CLUSTER, GROUPS = "stage", "cluster", "groups"
PULSAR, TUBEMQ, RABBITMQ = "pulsar", "tubemq", "rabbitmq"
PAGES = (STAGE, CLUSTER, GROUPS, PULSAR, TUBEMQ, RABBITMQ)
"""Where a lesson is watched: with all lanes on the Stage, or on the page of one lane that has more of it."""
KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        STAGE: (
            "lane", "picture", "say", "consumer", "partition", "lag", "hands", "figure", "queue", "ready", "timer",
        ),
        CLUSTER: ("broker", "client", "link", "controller", "hw", "leo", "copy", "partition", "panel"),
        GROUPS: (
            "member", "consumer", "timer", "partition", "committed", "lag", "status", "state", "panel",
        ),
        PULSAR: ("consumer", "entry", "mark", "read", "panel"),
        TUBEMQ: (
            "consumer", "timer", "takes", "has", "releases", "registers", "broker", "partition", "panel",
        ),
        RABBITMQ: ("queue", "exchange", "consumer", "publisher", "ready", "key", "way", "panel"),
    }
)  # fmt: skip
"""What a page can point at; static/js/lesson/things.js finds it there."""
WORD_MAX, PLATE_MAX, PLATE_WORDS_MAX, POINT_MAX = 28, 28, 3, 80
WAY_S = 3
"""How long a way from one frame to the next lasts for who watches, where its speed is not given."""
_FIELDS = {"word", "stop_us", "page", "lane", "point", "plate", "speed", "ask"}
_POINT = re.compile(r"[a-z_]+:[^\s:][^\n]*")


@dataclass(frozen=True, slots=True)
class Frame:
    """stop_us: where the lab pauses; None: at the caption. word: of its stop in the row of frames. page, lane: where
    it is seen; None: where the lesson is. point: the thing on the picture that the pointer shows, as "kind:id"; plate:
    what stands beside it; None: the word. speed: of the way to it; None: such that the way lasts some seconds. ask: what is asked
    there about the lesson's next order, {"lane", "figure"}; figure None: the first that there is."""

    word: Text | None = None
    stop_us: int | None = None
    page: str | None = None
    lane: str | None = None
    point: str | None = None
    plate: Text | None = None
    speed: float | None = None
    ask: Json | None = None

    def to_json(self) -> Json:
        return {name: value for name in sorted(_FIELDS) if (value := getattr(self, name)) is not None}


PLAIN = Frame()
"""Of a caption that says nothing more."""


def frame_from_json(
    raw: object, where: str, at_us: int, lanes: Mapping[str, Collection[str]], home: str
) -> Frame:
    """Check the frame of a caption at at_us. lanes: id -> the pages that it has beside the Stage. home: the lesson's
    own page. Raises CommandError at the field that is wrong, which begins with `where`."""
    if not isinstance(raw, dict):
        raise CommandError(where, "must be an object")
    refuse_unknown(raw, _FIELDS, f"{where}.", where)
    given = {name: value for name, value in raw.items() if value is not None}
    lane, point = given.get("lane"), given.get("point")
    if lane is not None and lane not in lanes:
        raise CommandError(f"{where}.lane", "must be one of {choices}", choices=Names(lanes))
    page = given.get("page")
    if page is not None and page not in PAGES:
        raise CommandError(f"{where}.page", "must be one of {choices}", choices=Names(PAGES))
    shown = list(lanes.values()) if lane is None else [lanes[lane]]
    if page not in (None, STAGE) and not any(page in pages for pages in shown):
        raise CommandError(f"{where}.page", "no selectable lane has this page")
    if point is not None and not (
        isinstance(point, str) and len(point) <= POINT_MAX and point.isprintable() and _POINT.fullmatch(point)
    ):
        raise CommandError(f"{where}.point", "must be a kind and an id, as broker:2")
    if point is not None and (kind := point.partition(":")[0]) not in KINDS[page or home]:
        raise CommandError(
            f"{where}.point",
            "page {page} has no {kind} to point at; it has {names}",
            page=page or home, kind=kind, names=Names(KINDS[page or home]),
        )  # fmt: skip
    if "plate" in given and point is None:
        raise CommandError(f"{where}.plate", "belongs to a pointer: say at what, with point")
    stop_us = None
    if "stop_us" in given:
        stop_us = whole(f"{where}.stop_us", given["stop_us"], 0, fields.MOMENT_US_MAX)
        if stop_us < at_us:
            raise CommandError(
                f"{where}.stop_us", "is before its caption, at {caption} s", caption=at_us / 1e6
            )
    return Frame(
        word=text_of(given, "word", where, WORD_MAX) if "word" in given else None,
        stop_us=stop_us,
        page=page,
        lane=lane,
        point=point,
        plate=_plate(given, where) if "plate" in given else None,
        speed=_speed(given["speed"], f"{where}.speed") if "speed" in given else None,
        ask=_ask(given["ask"], f"{where}.ask", lanes) if "ask" in given else None,
    )


def _ask(raw: object, where: str, lanes: Collection[str]) -> Json:
    if not isinstance(raw, dict):
        raise CommandError(where, "must be an object")
    refuse_unknown(raw, {"lane", "figure"}, f"{where}.", where)
    lane, figure = raw.get("lane"), raw.get("figure")
    if lane not in lanes:
        raise CommandError(f"{where}.lane", "must be one of {choices}", choices=Names(lanes))
    if figure is not None and figure not in FIGURES:
        raise CommandError(f"{where}.figure", "must be one of {choices}", choices=Names(FIGURES))
    return {"lane": lane, "figure": figure}


def _plate(raw: Json, where: str) -> Text:
    plate = text_of(raw, "plate", where, PLATE_MAX)
    if len(plate["en"].split()) > PLATE_WORDS_MAX:
        raise CommandError(f"{where}.plate.en", "must be at most {high} words", high=PLATE_WORDS_MAX)
    return plate


def _speed(raw: Any, where: str) -> float:
    try:
        return fields.speed(raw)
    except CommandError as error:
        error.field = where
        raise


def way_speed(way_us: int) -> float:
    """The clock's speed with which a way lasts WAY_S; the least or the largest speed where that is not enough.

    >>> way_speed(6_000_000), way_speed(200_000), way_speed(176_000_000)
    (2.0, 0.1, 20.0)
    """
    milli = round(way_us / (WAY_S * 1000))
    return min(max(milli, fields.SPEED_MILLI_MIN), fields.SPEED_MILLI_MAX) / 1000
