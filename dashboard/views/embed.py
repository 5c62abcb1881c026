"""A page of a lab within a page of another site: live or from a moment on, only to look at. /embed before an address is
all that it takes.

GET /embed/lab/<id>/<page>      any of the pages of labs/capsules/orders.py PLAYED; ?lane=, and #at_us= as Copy link has it
GET /embed/learn/<name>/        a lesson, frame by frame; ?frame= where it begins
    ?lang=en|zh-hans ?theme=light|dark    for whoever sees it; without them as the reader's browser says
    ?picture=1    one picture with the story and the bar of time, for a slide of this site's own lectures alone
GET /oembed/?url=               what a site that knows oEmbed (1.0) asks for, about either, embedded or not

Sites that may show it: settings.EMBED_ANCESTORS. It sets no cookie and knows none of the visitor's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from broker_core.lab.lesson.frames import STAGE
from dashboard import lessons
from dashboard.errors import Refused
from dashboard.frame import EMBED, EMBED_SIZE, ROUTES, embeds, frame_html
from dashboard.labs import selectors
from dashboard.labs.capsules.orders import PLAYED
from dashboard.page import THEMES, base_context
from dashboard.serializers import json_response
from dashboard.views.api import api
from dashboard.views.learn import plain_number
from dashboard.views.player import drawn

LEAST = 200
PAGE_OF: Mapping[str, str] = {ROUTES[page]: page for page in PLAYED}
"""The page that each of these addresses shows."""


@dataclass(frozen=True, slots=True)
class Place:
    """What an address leads to. lab_id: "" where it is a lesson's. title: of the lesson, or the lab's name."""

    lab_id: str
    lesson: str
    page: str
    lane: str
    title: str
    home: str
    from_us: int | None = None


@require_safe
@never_cache
@xframe_options_exempt
def embed(request: HttpRequest, path: str) -> HttpResponse:
    """The page at this address, in a frame."""
    language = request.GET.get("lang", "")
    with translation.override(
        language if language in dict(settings.LANGUAGES) else translation.get_language()
    ):
        response = _embedded(request, f"/{path}")
    response.frame_ancestors = "'self'" if _is_picture(request) else settings.EMBED_ANCESTORS
    return response


def _is_picture(request: HttpRequest) -> bool:
    return request.GET.get("picture") == "1"


def _embedded(request: HttpRequest, path: str) -> HttpResponse:
    wanted = request.GET.get("theme", "")
    try:
        if not embeds() and not _is_picture(request):
            raise Http404
        place = _place(path, request.GET)
        player = {
            "kind": "embed",
            "is_picture": _is_picture(request),
            "from_us": place.from_us,
            "before": EMBED,
            "home": place.home,
            "query": urlencode(
                [(name, request.GET[name]) for name in ("lang", "theme", "picture") if name in request.GET]
            ),
        }
        query = {"lane": place.lane} if place.lane else {}
        lab_id = place.lab_id or lessons.lesson_lab(name=place.lesson)
        return drawn(request, lab_id, place.page, query, player, wanted if wanted in THEMES else "")
    except Http404:
        status, wrong = 404, ""
    except Refused as refused:  # there is no room for a lesson's lab
        status, wrong = refused.status, " ".join(text for texts in refused.fields.values() for text in texts)
    request.player = {"kind": "embed", "before": EMBED, "home": "", "query": ""}
    context = base_context(request, "") | {"wrong": wrong}
    return render(request, "dashboard/embed_missing.html", context, status=status)


@api("GET")
def oembed(request: HttpRequest) -> HttpResponse:
    """An oEmbed answer, of type rich."""
    asked = request.GET
    if asked.get("format", "json") != "json":
        raise Refused(501, {"format": _("must be json")})
    address = urlsplit(asked.get("url", ""))
    path = address.path.removeprefix(EMBED)
    try:
        if not embeds() or address.netloc not in ("", request.get_host()):
            raise Http404
        place = _place(path, dict(parse_qsl(address.query)))
    except Http404 as error:
        raise Refused(
            404, {"url": _("must be the address of a page of a lab or of a lesson of this site")}
        ) from error
    width, height = (
        _at_most(asked, name, most) for name, most in zip(("maxwidth", "maxheight"), EMBED_SIZE, strict=True)
    )
    shown = request.build_absolute_uri(EMBED + path) + (f"?{address.query}" if address.query else "")
    shown += f"#{address.fragment}" if address.fragment else ""
    return json_response(
        {
            "version": "1.0",
            "type": "rich",
            "provider_name": "Highwater",
            "provider_url": request.build_absolute_uri("/"),
            "title": place.title,
            "width": width,
            "height": height,
            "html": frame_html(shown, place.title, width, height),
        }
    )


def _at_most(asked: Mapping[str, str], name: str, most: int) -> int:
    text = asked.get(name, "")
    if not text:
        return most
    number = plain_number(text)
    if number < LEAST:
        raise Refused(400, {name: _("must be a whole number of %(least)s or more") % {"least": LEAST}})
    return min(number, most)


def _place(path: str, query: Mapping[str, str]) -> Place:
    """Raises Http404."""
    try:
        match = resolve(path)
    except Resolver404 as error:
        raise Http404 from error
    find = _FINDS.get(match.url_name or "")
    if find is None:
        raise Http404
    return find(match.url_name or "", match.kwargs, query)


def _of_lab(route: str, named: Mapping[str, str], query: Mapping[str, str]) -> Place:
    lab_id = named["lab_id"]
    try:
        lab = selectors.lab_get(lab_id=lab_id)
    except Refused as refused:
        raise Http404 from refused
    lane = query.get("lane", "")
    home = reverse(route, args=[lab_id]) + (f"?{urlencode({'lane': lane})}" if lane else "")
    name = selectors.lab_name(lab) if selectors.is_readable(lab) else lab.name
    return Place(lab_id, "", PAGE_OF[route], lane, name or "Highwater", home)


def _of_lesson(route: str, named: Mapping[str, str], query: Mapping[str, str]) -> Place:
    """In a lab of the site's own that has run to the lesson's end, one for all readers."""
    name = named["name"]
    if name not in lessons.shelved():
        raise Http404
    told = lessons.shelved()[name].lesson
    frames = told.frames()
    number = plain_number(query.get("frame", "1"))
    if not 1 <= number <= max(1, len(frames)):
        raise Http404
    shown = frames[number - 1].frame
    page = shown.page or told.page
    language = "zh" if (translation.get_language() or "en").startswith("zh") else "en"
    return Place(
        lab_id="",
        lesson=name,
        page=page,
        lane="" if page == STAGE else shown.lane or told.front or "",
        title=told.title[language],
        home=reverse(route, args=[name]),
        from_us=frames[number - 1].stop_us,
    )


_FINDS: Mapping[str, Callable[[str, Mapping[str, str], Mapping[str, str]], Place]] = {
    **dict.fromkeys(PAGE_OF, _of_lab),
    "learn-lesson": _of_lesson,
}
