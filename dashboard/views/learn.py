"""The page Learn: the lessons that come along, by model; a press on Play makes a lab of one's own that plays
it. Also of a teacher's own file."""

from math import ceil
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from broker_core.lab.lesson.bounds import BYTES_MAX
from broker_core.lab.lesson.file import read_file, shelf
from broker_core.lab.lesson.lesson import STAGE
from dashboard import access, lessons
from dashboard.address import address_of
from dashboard.errors import Refused
from dashboard.formats import clock
from dashboard.models import Lab
from dashboard.page import base_context

Json = dict[str, Any]


@require_safe
@never_cache
def learn(request: HttpRequest) -> HttpResponse:
    """The list."""
    return _page(request)


@require_safe
def file(request: HttpRequest, name: str) -> HttpResponse:
    """A scenario file as it is, to read or to begin one's own with."""
    path = shelf().get(name)
    if path is None:
        raise Http404
    return HttpResponse(read_file(path), content_type="text/plain; charset=utf-8")


@require_POST
def play(request: HttpRequest) -> HttpResponse:
    """Make the lab and go there; what is refused is said on the list, at the text where that is wrong."""
    visitor = access.visitor_of(request) or access.token_new()
    text = ""
    try:
        text = _text(request)
        opened = lessons.lesson_open(
            name=request.POST.get("scenario", ""), text=text, visitor=visitor, address=address_of(request)
        )
    except Refused as refused:
        response = _page(request, text=text, fields=refused.fields, status=refused.status)
        if refused.again_s:
            response["Retry-After"] = str(ceil(refused.again_s))
        return response
    response = redirect(_page_of(opened.lab))
    access.visitor_remember(response, visitor)
    return response


def _page_of(lab: Lab) -> str:
    """Where the lesson is watched: on the Stage, or on the page of the lane in front."""
    lesson = lab.scenario["lesson"]
    if lesson["page"] == STAGE:
        return reverse("lab", args=[lab.pk])
    query = f"?{urlencode({'lane': lesson['front']})}" if lesson["front"] else ""
    return reverse(lesson["page"], args=[lab.pk]) + query


def _text(request: HttpRequest) -> str:
    """A teacher's own file: the one that was chosen, else what stands in the field."""
    chosen = request.FILES.get("file")
    if chosen is None:
        return str(request.POST.get("text", "")).replace("\r\n", "\n")
    return chosen.read(BYTES_MAX + 1).decode(errors="replace")


def _page(
    request: HttpRequest, *, text: str = "", fields: dict[str, list[str]] | None = None, status: int = 200
) -> HttpResponse:
    visitor = access.visitor_of(request) or access.token_new()  # a lab that is made here is the visitor's own
    fields = dict(fields or {})
    context = {
        **base_context(request, "learn"),
        "groups": _groups(),
        "text": text,
        "wrong": " ".join(fields.pop("text", [])),
        "refused": " ".join(reason for reasons in fields.values() for reason in reasons),
    }
    response = render(request, "dashboard/learn.html", context, status=status)
    access.visitor_remember(response, visitor)
    return response


def _groups() -> list[Json]:
    rows: dict[str, list[Json]] = {}
    for each in lessons.shelved():
        rows.setdefault(each.group, []).append(
            {
                "name": each.name,
                "title": each.lesson.title,
                "line": each.lesson.line,
                "learn": each.lesson.you_will_learn,
                "lasts": {
                    "watch_us": each.watch_us,
                    "virtual": clock(each.lesson.lasts_us).removesuffix(".0"),
                },
                "checks": len(each.lesson.checks),
            }
        )
    return [
        {"group": group, "model": group.partition("_")[0], "code": f"learn.{group}", "rows": rows[group]}
        for group in rows
    ]
