"""Ways to share one stream beside each other: the form that makes such a lab, and the page that shows any lab's lanes, or
the same lanes of two labs, at one moment with what each has cost.

GET  /compare/                     the form; its query fills it in, ?lab=&lane= from a lab's own course
POST /compare/                     302 to the comparison's own page, or the form with what is wrong at its fields
GET  /lab/<id>/compare/            the lanes of a lab beside each other
GET  /lab/<id>/beside/<other>/     the same lanes of two labs, and the difference
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from broker_core.lab.comparing.history import SECONDS_MAX
from broker_core.lab.comparing.ways import CHOSEN_MAX, CHOSEN_MIN, WAYS
from broker_core.lab.scenario import LANE_KINDS
from dashboard import access
from dashboard.address import address_of
from dashboard.errors import Refused
from dashboard.frame import frame_context, title_of
from dashboard.labs import compare as comparing
from dashboard.labs import selectors
from dashboard.models import Lab
from dashboard.page import base_context, lab_page, time_context
from dashboard.presentation import lane_story, lesson_panel, textures
from dashboard.views.first_view import first_view, no_view

Json = dict[str, Any]

EXAMPLES: Mapping[str, Json] = {
    "protocols": {
        "ways": ["kafka.range", "kafka.cooperative-sticky", "kafka.server_uniform"],
        "stream": "even", "rate": 30, "consumers": 3, "consumer_rate": 15, "seconds": 60, "seed": 7,
        "history": "15 join\n30 leave c1\n45 join 2",
    },
    "models": {
        "ways": ["pulsar.consistent_hash", "kafka.cooperative-sticky", "tubemq.modulo", "rabbitmq.prefetch_5"],
        "stream": "flights", "rate": 36, "consumers": 3, "consumer_rate": 15, "seconds": 120, "seed": 7,
        "history": "10 join\n30 crash c2",
    },
    "hot": {
        "ways": ["pulsar.consistent_hash", "pulsar.auto_split", "pulsar.shared", "rabbitmq.prefetch_1"],
        "stream": "hot", "rate": 30, "consumers": 3, "consumer_rate": 12, "seconds": 60, "seed": 7,
        "history": "10 join\n25 slow c1 2\n45 resume c1",
    },
}  # fmt: skip
"""Courses to begin with: each shows a difference that one does not expect."""
PRESETS: Mapping[str, str] = {
    "calm": "",
    "join_leave": "10 join\n30 leave c1",
    "crash": "15 crash c2\n50 rejoin c2",
    "rolling": "10 crash c1\n15 rejoin c1\n25 crash c2\n30 rejoin c2\n40 crash c3\n45 rejoin c3",
    "slow": "10 slow c1 2\n40 resume c1",
}
"""Histories to begin with, by name."""
FIELDS = ("stream", "rate", "consumers", "consumer_rate", "seconds", "seed", "history", "lab", "lane")
NUMBERS = ("rate", "consumers", "consumer_rate", "seconds", "seed")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def compare(request: HttpRequest) -> HttpResponse:
    """The form, or what comes of it."""
    visitor = access.visitor_of(request) or access.token_new()
    if request.method != "POST":
        given = _asked(request.GET, is_sent=False)
        response = _form(request, given, {}, is_given=bool(request.GET))
        access.visitor_remember(response, visitor)
        return response
    given = _asked(request.POST, is_sent=True)
    try:
        opened = comparing.comparison_open(request=given, visitor=visitor, address=address_of(request))
    except Refused as refused:
        return _form(request, given, refused.fields, is_given=True, status=refused.status)
    response = redirect(reverse("lab-compare", args=[opened.lab.pk]))
    access.visitor_remember(response, visitor)
    return response


def _asked(query: QueryDict, *, is_sent: bool) -> Json:
    """What an address or a sent form says. The rest of an address is a lab's that it begins from, else the usual."""
    begun: Json = {}
    lab = _lab(query["lab"]) if query.get("lab") and not is_sent else None
    if lab is not None:
        seen = selectors.lab_snapshot(lab_id=lab.pk)
        begun = comparing.request_of(lab, query.get("lane"), seen["at_us"] if seen else lab.clock_floor_us)
    given: Json = {name: query[name] for name in FIELDS if name in query and (is_sent or query[name])}
    if "history" in query:
        given["history"] = query["history"].replace("\r\n", "\n")
    if "ways" in query or is_sent:
        given["ways"] = [each for text in query.getlist("ways") for each in text.split(",") if each]
    return {**comparing.DEFAULTS, **begun, **given}


def _lab(lab_id: str) -> Lab | None:
    try:
        lab = selectors.lab_get(lab_id=lab_id)
    except Refused:
        return None
    return lab if selectors.is_readable(lab) else None


def _form(
    request: HttpRequest, given: Json, wrong: Mapping[str, list[str]], *, is_given: bool, status: int = 200
) -> HttpResponse:
    context = base_context(request, "compare")
    context["page"] |= {"csrf": get_token(request), "ways": {"least": CHOSEN_MIN, "most": CHOSEN_MAX}}
    streams = [*comparing.STREAMS, *(["lab"] if given.get("lab") else [])]
    return render(request, "dashboard/compare_form.html", context | {
        "given": given, "wrong": wrong, "is_given": is_given,
        "homeless": [text for name, texts in wrong.items() if name not in ("ways", *FIELDS) for text in texts],
        "numbers": [
            {"name": name, "value": given[name], "wrong": wrong.get(name), "say": f"compared.{name}"} for name in NUMBERS
        ],
        "models": [
            {
                "id": model,
                "ways": [
                    {"id": way.id, "say": comparing.way_code(way.id), "about": f"{comparing.way_code(way.id)}.about",
                     "is_chosen": way.id in given["ways"]}
                    for way in WAYS.values() if way.model == model
                ],
            }
            for model in LANE_KINDS
        ],
        "streams": [{"id": stream, "is_chosen": stream == given["stream"]} for stream in streams],
        "presets": [{"id": name, "history": text} for name, text in PRESETS.items()],
        "examples": [{"id": name, "query": query_of(example)} for name, example in EXAMPLES.items()],
        "seconds_max": SECONDS_MAX, "address": f"?{query_of(given)}",
    }, status=status)  # fmt: skip


def query_of(given: Json) -> str:
    """The address that fills the form in this way."""
    fields = {name: given[name] for name in FIELDS if name == "history" or given.get(name) not in (None, "")}
    return urlencode({"ways": ",".join(given["ways"]), **fields})


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The lanes of a lab beside each other."""
    return await _page(request, lab_id, None)


@require_safe
@never_cache
async def beside(request: HttpRequest, lab_id: str, other_id: str) -> HttpResponse:
    """The same lanes of two labs. 404 where they have none in common."""
    return await _page(request, lab_id, other_id)


async def _page(request: HttpRequest, lab_id: str, other_id: str | None) -> HttpResponse:
    labs = []
    for each in (lab_id, other_id):
        if each is None:
            continue
        lab = await sync_to_async(_lab)(each)
        if lab is None:
            raise Http404
        labs.append(lab)
    seen = []
    for lab in labs:
        if (snapshot := await first_view(lab.pk)) is None:
            return await sync_to_async(no_view)(request, lab.pk, "compare")
        seen.append(snapshot)
    return await sync_to_async(_draw)(request, labs, seen)


def _draw(request: HttpRequest, labs: list[Lab], seen: list[Json]) -> HttpResponse:
    lab, view = labs[0], seen[0]["view"]
    visitor = access.visitor_of(request) or access.token_new()
    context = base_context(request, "compare")
    context["page"] |= lab_page(
        lab.pk,
        seq=seen[0]["seq"],
        epoch=seen[0]["epoch"],
        is_owner=access.is_owner(lab, bearer=None, visitor=visitor),
        csrf=get_token(request),
        stopped=selectors.lab_stopped(lab_id=lab.pk),
        older_rules=selectors.rules_of(lab=lab)["older"],
    )
    words = context["catalogue"][context["page"]["language"]]
    context["page"]["urls"]["lab"] = request.path.replace(lab.pk, "{id}", 1)
    context["frame"] = context["page"]["frame"] = frame_context(lab, view, "compare", words)
    lanes = view["lane_order"]
    if len(labs) == 2:
        lanes = [lane for lane in lanes if lane in seen[1]["view"]["lanes"]]
        if not lanes or labs[0].pk == labs[1].pk:
            raise Http404
        other = lab_page(labs[1].pk, seq=-1, epoch=-1, is_owner=False, csrf="")
        frame = frame_context(labs[1], seen[1]["view"], "compare", words)
        context["page"]["urls"]["lab"] = "/lab/{id}/compare/"
        context["page"]["beside"] = {
            "lab": labs[1].pk, "urls": other["urls"], "view": seen[1]["view"], "title": title_of(frame, words),
        }  # fmt: skip
    ends_us = lab.script[-1]["at_us"] if selectors.is_comparison(lab) else None
    context["page"]["compared"] = {"lanes": lanes, "ends_us": ends_us}
    context |= {
        "view": view,
        "time": time_context(view),
        "textures": textures(),
        "lesson": lesson_panel(view, words),
        "story": lane_story(view, words, None),
        "again": f"{reverse('compare')}?{_again(lab, view)}",
    }
    response = render(request, "dashboard/compare.html", context)
    access.visitor_remember(response, visitor)
    return response


def _again(lab: Lab, view: Json) -> str:
    """The form with this comparison in it, or with what of this lab it can say."""
    if selectors.is_comparison(lab):
        return query_of(comparing.request_of(lab))
    return urlencode({"lab": lab.pk, "lane": view["lane_order"][0]})
