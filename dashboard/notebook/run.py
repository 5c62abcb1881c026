"""One lab and its run, from its beginning to a moment: everything is the engine's own answer, as on the site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError, SentenceError
from broker_core.events import Json
from dashboard.notebook.site import aside

if TYPE_CHECKING:
    from broker_core.lab.lab import Lab as CoreLab
    from dashboard.labs.past.kept import Past
    from dashboard.models import Lab as Row
    from dashboard.notebook.widget import Capsule

LASTS_S = 60.0
LANGUAGES = {"en": "en", "zh": "zh-hans"}
_CONSUMER = ("state", "share", "rate", "capacity", "in_flight", "unacked")
_PLAIN = (str, int, float, bool, type(None))


class Run:
    """Made by `lab`. seconds: how long it lasts, of the lab's time. title: of its lesson, or its name."""

    def __init__(self, row: Row, past: Past, lasts_us: int, title: str) -> None:
        from dashboard.labs.past.kept import KeptLabs

        self._row, self._past, self._lasts_us, self.title = row, past, lasts_us, title
        self._kept = KeptLabs()
        self._told: list[Json] | None = None

    @property
    def seconds(self) -> float:
        return self._lasts_us / SECOND_US

    def __repr__(self) -> str:
        lanes = ", ".join(lane.id for lane in self._past.journal.scenario.lanes)
        return f"<{self.title}: {lanes}, {self.seconds:g} s, seed {self._past.journal.scenario.seed}>"

    def consumers(self, at_s: float | None = None) -> pd.DataFrame:
        """Who has what at a moment, by default at the end: a row for each lane and consumer.

        state: live, joining, silent, ...; share: of the records so far, 0 to 1; rate, capacity: records a second that it
        takes, and could; in_flight, unacked: records. Raises ValueError for a moment that the run has not.
        """
        view = self._view(self._us("at_s", at_s))
        rows = [
            {"lane": name, "consumer": each["name"], **{field: each[field] for field in _CONSUMER}}
            for name in view["lane_order"]
            for each in view["lanes"][name]["consumers"].values()
        ]
        return pd.DataFrame(rows, columns=["lane", "consumer", *_CONSUMER]).set_index(["lane", "consumer"])

    def figures(self, every_s: float = 1.0) -> pd.DataFrame:
        """How each lane's figures went, every so many seconds: a row for each moment and lane.

        skew: the largest consumer's share, as a multiple of an even one; lag: records that wait; moved: keys that have
        changed their owner so far; paused_s: how long anything had no owner; redelivered, out_of_order, lost: records so
        far. NaN: the lane has no such figure.
        """
        step_us = round(every_s * SECOND_US)
        if step_us < 1_000 or self._lasts_us // step_us > 100_000:
            raise ValueError(
                f"every_s: must be 0.001 or more, and give at most 100000 moments, not {every_s!r}"
            )
        rows = []
        for at_us in range(0, self._lasts_us + 1, step_us):
            view = self._view(at_us)
            for name in view["lane_order"]:
                lane = view["lanes"][name]
                tally = lane["tally"]
                rows.append(
                    {
                        "at_s": at_us / SECOND_US,
                        "lane": name,
                        "skew": lane["skew"],
                        "lag": lane["lag"],
                        "moved": tally["keys_moved"],
                        "paused_s": None if tally["dark_us"] is None else tally["dark_us"] / SECOND_US,
                        "redelivered": tally["redelivered"],
                        "out_of_order": tally["out_of_order"],
                        "lost": tally["lost"],
                    }
                )
        frame = pd.DataFrame(rows)
        numbers = frame.columns.difference(["lane"], sort=False)
        return frame.astype(dict.fromkeys(numbers, float)).set_index(["at_s", "lane"])

    def events(self) -> pd.DataFrame:
        """What happened, in order: at_s (below 0: while the lab was set up), lane ("" of the lab), kind, rule, and each
        plain part of its data as a column."""
        rows = []
        for event in self._events():
            data = {name: part for name, part in event["data"].items() if isinstance(part, _PLAIN)}
            rows.append(
                {
                    "at_s": event["at_us"] / SECOND_US,
                    "lane": event["lane"] or "",
                    "kind": event["kind"],
                    "rule": event["rule"] or "",
                    **data,
                }
            )
        return pd.DataFrame(rows, columns=None if rows else ["at_s", "lane", "kind", "rule"])

    def checks(self) -> pd.DataFrame:
        """What the lesson says that the run must show, and whether it does: at_s, lane, number, value, holds, says.
        Without a lesson there is none."""
        from broker_core.lab.lesson.play import Came, play

        scenario = self._past.journal.scenario
        moments = play(scenario) if scenario.lesson is not None else ()
        rows = [
            {
                "at_s": each.check.at_us / SECOND_US,
                "lane": each.check.lane,
                "number": each.check.number,
                "value": each.result["came"],
                "holds": each.result["holds"],
                "says": each.check.says["en"],
            }
            for each in moments
            if isinstance(each, Came)
        ]
        return pd.DataFrame(rows, columns=["at_s", "lane", "number", "value", "holds", "says"])

    def show(
        self,
        page: str | None = None,
        lane: str = "",
        *,
        from_s: float = 0.0,
        until_s: float | None = None,
        language: str = "en",
        theme: str = "auto",
        height: int = 640,
    ) -> Capsule:
        """The page of the run in the cell: it plays, goes step by step, and answers Why, without a site or a network.

        page: stage, cluster, groups, pulsar, tubemq or rabbitmq; by default the lesson's, else the Stage. lane: whose
        page it is. language: en or zh. theme: auto, light or dark. height: in pixels. Raises ValueError at what is wrong.
        """
        from dashboard.notebook.widget import Capsule, capsule_of

        if language not in LANGUAGES:
            raise ValueError(f"language: must be one of {', '.join(LANGUAGES)}, not {language!r}")
        lesson = self._past.journal.scenario.lesson
        if page is None:
            page, lane = (lesson.page, lane or lesson.front or "") if lesson is not None else ("stage", lane)
        part = self._us("from_s", from_s), self._us("until_s", until_s)
        html = aside(
            lambda: capsule_of(
                self._row, self._past, page, {"lane": lane} if lane else {}, part, LANGUAGES[language], theme
            )
        )
        return Capsule(html=html, title=self.title, height=height)

    # -- inside

    def _us(self, name: str, at_s: float | None) -> int:
        at_us = self._lasts_us if at_s is None else round(at_s * SECOND_US)
        if not 0 <= at_us <= self._lasts_us:
            raise ValueError(f"{name}: must be from 0 to {self.seconds:g}, not {at_s!r}")
        return at_us

    def _at(self, at_us: int) -> tuple[CoreLab, list[Json]]:
        return aside(
            lambda: self._kept.at(self._past, ("notebook", ""), self._past.journal.cut(at_us), lambda: None)
        )

    def _view(self, at_us: int) -> Json:
        from dashboard.labs.past.answering import picture

        lab, _events = self._at(at_us)
        view, _head = picture(lab, ())
        return view

    def _events(self) -> list[Json]:
        """From the beginning on, the lab's own beginning, too."""
        if self._told is None:
            self._kept.drop(("notebook", ""))
            lab, told = self._at(self._lasts_us)
            self._told = [*lab.begun, *told] if lab.begun else told
        return self._told


def lab(
    scenario: str | Path | Mapping[str, Any] = "demo",
    *,
    seed: int | None = None,
    seconds: float | None = None,
    orders: Iterable[Mapping[str, Any]] = (),
) -> Run:
    """Make a lab, to run it here.

    scenario: the name of a lesson that comes along ("kafka_eager_join"); a Path of a scenario file (docs/scenarios.md); or
    what POST /api/labs/ takes, as {"lanes": [{"model": "kafka", "partitions": 12}], "consumers": 3}. seed: another
    course of chance. seconds: how long it runs, of its own time; by default as long as its lesson, else 60. orders:
    of a lab without a lesson, [{"at_s": 10, "kind": "join"}, {"at_s": 20, "kind": "crash", "consumer": "c2"}], as
    docs/interface.md has them.

    Raises ValueError at the field that is wrong. The same scenario, seed and orders give the same run everywhere.
    """
    return aside(lambda: _made(scenario, seed, seconds, list(orders)))


def _made(
    scenario: str | Path | Mapping[str, Any], seed: int | None, seconds: float | None, orders: list[Any]
) -> Run:
    from dashboard.errors import Refused
    from dashboard.labs import selectors, services
    from dashboard.labs.capsules.recording import with_script
    from dashboard.labs.past.kept import past_of

    request = _request(scenario) | ({} if seed is None else {"seed": seed})
    has_lesson = "lesson" in request.get("scenario", request)
    if orders and has_lesson:
        raise ValueError("orders: a lesson has its own; change a copy of its file instead")
    try:
        row = services.lab_open(request=request, script=_script(orders)).lab
    except Refused as refused:
        raise ValueError(_told(refused.fields)) from None
    lesson = row.scenario.get("lesson")
    lasts_s = seconds if seconds is not None else lesson["lasts_us"] / SECOND_US if lesson else LASTS_S
    lasts_us = round(lasts_s * SECOND_US)
    if not 0 < lasts_us <= 3_600 * SECOND_US:
        raise ValueError(f"seconds: must be above 0 and at most 3600, not {seconds!r}")
    title = lesson["title"]["en"] if lesson else selectors.lab_name(row) or "Highwater"
    return Run(row, with_script(past_of(row), lasts_us), lasts_us, title)


def _request(scenario: str | Path | Mapping[str, Any]) -> Json:
    from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
    from broker_core.lab.lesson.file_error import FileError
    from broker_core.lab.scenario import scenario_to_json

    if isinstance(scenario, Mapping):
        return dict(scenario)
    if isinstance(scenario, str) and scenario == "demo":
        return {"scenario": "demo"}
    names = shelf()
    if isinstance(scenario, str) and scenario not in names:
        raise ValueError(f"scenario: no lesson is called {scenario!r}; there are {', '.join(names)}")
    path = names[scenario] if isinstance(scenario, str) else scenario
    try:
        read = scenario_from_text(read_file(path))
    except FileError as error:
        raise ValueError(f"{path}, line {error.line}: {error.field}: {error}") from None
    return {"scenario": scenario_to_json(read)}


def _script(orders: list[Any]) -> list[Json]:
    from broker_core.lab.commands import check_command

    found = []
    for place, order in enumerate(orders):
        if not isinstance(order, Mapping) or not isinstance(order.get("at_s"), int | float):
            raise ValueError(f"orders.{place}.at_s: must be a number of seconds")
        body = {"lane": "all", **{name: part for name, part in order.items() if name != "at_s"}}
        try:
            checked = check_command({**body, "command_id": f"study:{place + 1}"})
        except CommandError as error:
            raise ValueError(f"orders.{place}.{error.field}: {_words(error)}") from None
        found.append({"at_us": round(order["at_s"] * SECOND_US), "body": checked})
    return sorted(found, key=lambda entry: entry["at_us"])


def _words(error: SentenceError) -> str:
    from dashboard.errors import in_words

    return in_words(error)


def _told(fields: Mapping[str, Any]) -> str:
    return "; ".join(f"{name}: {' '.join(map(str, reasons))}" for name, reasons in fields.items())
