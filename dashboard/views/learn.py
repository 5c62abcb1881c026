"""The page Learn: the course, and a page for each lesson; its start makes a lab of one's own that plays it.

A teacher's own lesson is written on a page of its own.
"""

import re
from collections.abc import Iterable
from functools import cache
from math import ceil
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from broker_core.lab.lesson.bounds import BYTES_MAX
from broker_core.lab.lesson.file import read_file, shelf
from broker_core.lab.lesson.frames import PLAIN, STAGE, Frame
from dashboard import access, lessons
from dashboard.address import address_of
from dashboard.course import CHAPTERS, LEVELS, START
from dashboard.errors import Refused
from dashboard.formats import clock
from dashboard.frame import EMBED, EMBED_SIZE, embeds, frame_html
from dashboard.labs import selectors
from dashboard.models import Lab
from dashboard.page import base_context
from dashboard.sentences import catalogue
from dashboard.stills.drawing import draw
from dashboard.stills.recorded import recorded

Json = dict[str, Any]
SHOWN = 3
"""Lessons of a chapter that stand there at once; the others open in place."""


@require_safe
@never_cache
def learn(request: HttpRequest) -> HttpResponse:
    """The course."""
    return _course(request)


@require_safe
@never_cache
def lesson(request: HttpRequest, name: str) -> HttpResponse:
    """One lesson. ?lab=: a lab that plays it, where it goes on; one that is gone leads here."""
    if name not in lessons.shelved():
        raise Http404
    lab = _playing(request.GET.get("lab", ""))
    return _lesson(request, name) if lab is None else redirect(_page_of(lab))


@require_safe
def file(request: HttpRequest, name: str) -> HttpResponse:
    """A scenario file as it is, to read or to begin one's own with."""
    path = shelf().get(name)
    if path is None:
        raise Http404
    return HttpResponse(read_file(path), content_type="text/plain; charset=utf-8")


@require_safe
@never_cache
def own(request: HttpRequest) -> HttpResponse:
    """The editor. ?from=: with the text of a lesson that comes along."""
    path = shelf().get(request.GET.get("from", ""))
    return _own(request, text="" if path is None else read_file(path))


@require_POST
def play(request: HttpRequest) -> HttpResponse:
    """Make the lab and go there, to a frame of the lesson that comes along where `frame` says which; what is refused
    is said on the lesson's page, or in the editor, at its line."""
    visitor = access.visitor_of(request) or access.token_new()
    name, text = request.POST.get("scenario", ""), ""
    frame = plain_number(request.POST.get("frame", "1"))
    try:
        text = text_sent(request)
        opened = lessons.lesson_open(
            name=name, text=text, frame=frame, visitor=visitor, address=address_of(request)
        )
    except Refused as refused:
        response = _refused(request, name, text, refused)
        if refused.again_s:
            response["Retry-After"] = str(ceil(refused.again_s))
        return response
    shown = lessons.shelved()[name].lesson.frames()[frame - 1].frame if name and frame > 1 else PLAIN
    response = redirect(_page_of(opened.lab, shown))
    access.visitor_remember(response, visitor)
    return response


def _refused(request: HttpRequest, name: str, text: str, refused: Refused) -> HttpResponse:
    said = " ".join(reason for field, all_ in refused.fields.items() if field != "text" for reason in all_)
    if name in lessons.shelved():
        return _lesson(request, name, refused=said, status=refused.status)
    if name:
        return _course(request, refused=said, status=refused.status)
    wrong, line = " ".join(refused.fields.get("text", [])), getattr(refused, "line", 0)
    return _own(request, text=text, wrong=wrong, line=line, refused=said, status=refused.status)


def _playing(lab_id: str) -> Lab | None:
    try:
        lab = selectors.lab_get(lab_id=lab_id) if lab_id else None
    except Refused:
        return None
    return lab if lab is not None and lab.scenario.get("lesson") else None


def _page_of(lab: Lab, shown: Frame = PLAIN) -> str:
    """Where the lesson is watched: on the Stage, or on the page of the lane in front; a frame may say where else."""
    played = lab.scenario["lesson"]
    page, lane = shown.page or played["page"], shown.lane or played["front"]
    if page == STAGE:
        return reverse("lab", args=[lab.pk])
    return reverse(page, args=[lab.pk]) + (f"?{urlencode({'lane': lane})}" if lane else "")


def plain_number(text: str) -> int:
    """A number of few digits; 0 for anything else."""
    return int(text) if re.fullmatch("[0-9]{1,4}", text) else 0


def text_sent(request: HttpRequest) -> str:
    """A teacher's own file: the one that was chosen, else what stands in the field."""
    chosen = request.FILES.get("file")
    if chosen is None:
        return str(request.POST.get("text", "")).replace("\r\n", "\n")
    return chosen.read(BYTES_MAX + 1).decode(errors="replace")


# -- pages ---------------------------------------------------------------------------------------------------


def _course(request: HttpRequest, *, refused: str = "", status: int = 200) -> HttpResponse:
    context = base_context(request, "learn")
    row = _rows(context["page"]["language"])
    context |= {
        "count": len(row),
        "start": [row[name] for name in START],
        "start_minutes": sum(row[name]["minutes"] for name in START),
        "levels": LEVELS,
        "chapters": [_chapter(name, number, row) for number, name in enumerate(CHAPTERS, start=1)],
        "refused": refused,
    }
    return _drawn(request, "dashboard/learn.html", context, status)


def _chapter(name: str, number: int, row: dict[str, Json]) -> Json:
    own = [each for each in row.values() if each["chapter"] == name]
    return {"name": name, "number": number, "count": len(own), "shown": own[:SHOWN], "rest": own[SHOWN:]}


def _lesson(request: HttpRequest, name: str, *, refused: str = "", status: int = 200) -> HttpResponse:
    context = base_context(request, "learn")
    rows, shelved = _rows(context["page"]["language"]), lessons.shelved()[name]
    own = [each for each in rows.values() if each["chapter"] == shelved.place.chapter]
    place = own.index(rows[name])
    told = shelved.lesson
    address = request.build_absolute_uri(reverse("learn-lesson", args=[name]))
    context |= {
        "row": rows[name],
        "lesson": told,
        "virtual": _time(told.lasts_us),
        "checks": len(told.checks),
        "frames": [
            {"time": _time(step.at_us), "caption": step.caption} for step in told.steps if step.caption
        ],
        "key": _time(round(shelved.place.key_s * 1_000_000)),
        "seed": shelved.scenario.seed,
        "number": place + 1,
        "of": len(own),
        "previous": own[place - 1] if place else None,
        "next": own[place + 1] if place + 1 < len(own) else None,
        "canonical": address,
        "embed": _embed(address, rows[name]["title"]["en" if context["page"]["language"] == "en" else "zh"]),
        "refused": refused,
    }
    return _drawn(request, "dashboard/learn_lesson.html", context, status)


def _embed(address: str, title: str) -> Json | None:
    """The lesson as a part of a page of another site; None where no site may show it."""
    if not embeds():
        return None
    parts = urlsplit(address)
    shown = urlunsplit(parts._replace(path=EMBED + parts.path))
    about = f"{parts.scheme}://{parts.netloc}{reverse('oembed')}?{urlencode({'url': address})}"
    return {"html": frame_html(shown, title, *EMBED_SIZE), "about": about}


def _own(
    request: HttpRequest, *, text: str, wrong: str = "", line: int = 0, refused: str = "", status: int = 200
) -> HttpResponse:
    context = base_context(request, "learn")
    context |= {
        "rows": list(_rows(context["page"]["language"]).values()),
        "from": request.GET.get("from", ""),
        "text": text,
        "wrong": wrong,
        "line": line,
        "refused": refused,
        "bytes_max": BYTES_MAX,
    }
    return _drawn(request, "dashboard/learn_own.html", context, status)


def _drawn(request: HttpRequest, template: str, context: Json, status: int) -> HttpResponse:
    visitor = access.visitor_of(request) or access.token_new()  # a lab that is made here is the visitor's own
    response = render(request, template, context, status=status)
    access.visitor_remember(response, visitor)
    return response


@cache
def _rows(language: str) -> dict[str, Json]:
    """What the list says of each lesson, in the order of the course."""
    short = "en" if language == "en" else "zh"
    words = catalogue("learn").values()
    called = {
        chapter: [said[f"learn.{of}.{chapter}"] for said in words for of in ("chapter", "about")]
        for chapter in CHAPTERS
    }
    return {each.name: _row(each, short, called[each.place.chapter]) for each in lessons.shelved().values()}


def _row(each: lessons.Shelved, short: str, chapter: Iterable[str]) -> Json:
    """chapter: what its chapter is called, in all languages."""
    told, place = each.lesson, each.place
    searched = (each.name, *chapter, *told.title.values(), *told.line.values(), *told.you_will_learn.values())
    return {
        "name": each.name,
        "title": told.title,
        "line": told.line,
        "chapter": place.chapter,
        "level": place.level,
        "level_number": LEVELS.index(place.level) + 1,
        "minutes": each.minutes,
        "frames": sum(step.caption is not None for step in told.steps),
        "still": draw(recorded()[each.name], told.lanes, short) if each.name in recorded() else "",
        "searched": " ".join(searched).lower(),
    }


def _time(at_us: int) -> str:
    return clock(at_us).removesuffix(".0")
