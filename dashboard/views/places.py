"""Where one can go from any page: what the palette lists."""

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from dashboard import access, lessons
from dashboard.frame import lab_named
from dashboard.labs import selectors
from dashboard.serializers import json_response
from dashboard.views.api import api

Json = dict[str, Any]

PAGES = {
    "nav.stage": "stage",
    "nav.labs": "labs",
    "palette.new_lab": "lab-new",
    "nav.compare": "compare",
    "nav.learn": "learn",
    "palette.lectures": "lectures",
    "palette.own_lesson": "learn-own",
    "palette.own_lecture": "lecture-own",
    "nav.analyze": "analyze",
    "palette.compare": "analyze-compare",
    "palette.fidelity": "fidelity",
    "palette.api": "api",
}
"""Code of its words -> its route."""


@api("GET")
def places(request: HttpRequest) -> HttpResponse:
    """The site's pages, the labs that the Labs page lists for whoever asks, and the lessons."""
    visitor = access.visitor_of(request)
    own = selectors.labs_listed(visitor=visitor) if visitor else []
    known = {lab.pk for lab in own}
    labs = [*own, *(lab for lab in selectors.labs_listed() if lab.pk not in known)]
    return json_response({
        "pages": [{"says": code, "url": reverse(route)} for code, route in PAGES.items()],
        "labs": [{"id": lab.pk, "url": reverse("lab", args=[lab.pk]), **_named(lab)} for lab in labs],
        "lessons": _lessons(),
    })  # fmt: skip


def _named(lab: Any) -> Json:
    return lab_named(lab) | {"lesson": lab.scenario["lesson"]["title"] if _is_lesson(lab) else None}


def _is_lesson(lab: Any) -> bool:
    return selectors.is_readable(lab) and bool(lab.scenario.get("lesson"))


@cache
def _lessons() -> list[Json]:
    return [
        {"name": name, "title": dict(each.lesson.title), "url": reverse("learn-lesson", args=[name])}
        for name, each in lessons.shelved().items()
    ]
