"""Lectures: their list, each one to read, as a deck and on paper; the editor for one's own, which is drawn from what
is sent and kept nowhere."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from broker_core.lab.lesson.bounds import BYTES_MAX
from broker_core.lab.lesson.file import read_file
from broker_core.lab.lesson.file_error import FileError
from dashboard import access, lessons
from dashboard.course import CHAPTERS
from dashboard.lectures.lecture import Lecture, lecture_from_text
from dashboard.lectures.shelf import lecture_of, shelf
from dashboard.lectures.shown import shown
from dashboard.page import base_context, page_of
from dashboard.rooms import shown as shown_in_room
from dashboard.views.learn import text_sent

Json = dict[str, Any]
READ, DECK, PAPER, NOTES = WAYS = ("read", "deck", "paper", "notes")
"""How a lecture is shown; the last is paper with speaker notes and answers."""
TEMPLATES = {way: f"dashboard/lecture_{way}.html" for way in (READ, DECK, PAPER)} | {
    NOTES: "dashboard/lecture_paper.html"
}


@require_safe
@never_cache
def lectures(request: HttpRequest) -> HttpResponse:
    context = base_context(request, "learn")
    language = _language(request)
    context["rows"] = [
        {"name": name, "number": list(CHAPTERS).index(name) + 1, "lecture": lecture_of(name, language)}
        for name in shelf()
    ]
    return render(request, "dashboard/lectures.html", context)


@require_safe
@never_cache
def read(request: HttpRequest, name: str) -> HttpResponse:
    return _shelved(request, name, READ)


@require_safe
@never_cache
def deck(request: HttpRequest, name: str) -> HttpResponse:
    return _shelved(request, name, DECK)


@require_safe
@never_cache
def paper(request: HttpRequest, name: str) -> HttpResponse:
    """?notes: with speaker notes and answers."""
    return _shelved(request, name, NOTES if "notes" in request.GET else PAPER)


@require_safe
def file(request: HttpRequest, name: str) -> HttpResponse:
    """Its Markdown, in the language of whoever asks."""
    return HttpResponse(_text_of(request, name), content_type="text/plain; charset=utf-8")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def own(request: HttpRequest) -> HttpResponse:
    """The editor; ?from=: with the text of a lecture that comes along. A text that is sent is shown as `way` asks, or
    in the editor with what is wrong and where."""
    if request.method != "POST":
        chosen = request.GET.get("from", "")
        return _editor(request, _text_of(request, chosen) if chosen in shelf() else "")
    text, way = text_sent(request), request.POST.get("way", "")
    if way not in WAYS:
        return _editor(request, text)
    try:
        lecture = lecture_from_text(text)
    except FileError as error:
        return _editor(request, text, wrong=lessons.error_words(error), line=error.line, status=400)
    return _shown(request, lecture, way, {"text": text})


def _shelved(request: HttpRequest, name: str, way: str) -> HttpResponse:
    if name not in shelf():
        raise Http404
    address = request.build_absolute_uri(reverse("lecture", args=[name]))
    return _shown(request, lecture_of(name, _language(request)), way, {"name": name, "address": address})


def _shown(request: HttpRequest, lecture: Lecture, way: str, more: Json) -> HttpResponse:
    context = base_context(request, "learn")
    words = context["catalogue"][context["page"]["language"]]
    context |= {
        "lecture": lecture,
        "slides": shown(lecture, _language(request), words),
        "has_notes": way == NOTES,
        **more,
    }
    if way == DECK and "name" in more:  # one of the shelf has an address that others can follow to
        shows = {"page": shown_in_room.DECK, "lecture": more["name"]}
        context["page"] |= {"csrf": get_token(request), "lab": None, "urls": {}, "shows": shows}
    return _remembered(request, render(request, TEMPLATES[way], context))


def _editor(
    request: HttpRequest, text: str, *, wrong: str = "", line: int = 0, status: int = 200
) -> HttpResponse:
    context = base_context(request, "learn")
    language = _language(request)
    context |= {
        "rows": [{"name": name, "title": lecture_of(name, language).title} for name in shelf()],
        "from": request.GET.get("from", ""),
        "text": text,
        "wrong": wrong,
        "line": line,
        "bytes_max": BYTES_MAX,
    }
    return render(request, "dashboard/lecture_own.html", context, status=status)


def _remembered(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    # A step that is opened live is the visitor's own.
    access.visitor_remember(response, access.visitor_of(request) or access.token_new())
    return response


def _text_of(request: HttpRequest, name: str) -> str:
    if name not in shelf():
        raise Http404
    return read_file(shelf()[name][_language(request)])


def _language(request: HttpRequest) -> str:
    """Of the page, as lessons and lectures name it."""
    return "en" if page_of(request, "learn")["language"] == "en" else "zh"
