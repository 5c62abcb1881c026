"""Break it for me: the page that states a promise about a lab, the shelf of promises to begin with, and the calls.

GET    /break/                       the shelf; POST case=: 302 to the page of a new lab that the case is about
GET    /lab/<id>/break/              the form and its outcome; ?lane= chooses the lane, ?case= fills it in from the shelf
GET    /api/labs/<id>/break/         200 how its last search stands
POST   /api/labs/<id>/break/         202 search: {lane?, promise, may, lasts_s, seconds, seed?}
DELETE /api/labs/<id>/break/         200 end it
POST   /api/labs/<id>/break/open/    201 what was found, as a lab that is paused at the moment at which the promise broke
"""

from typing import Any
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from broker_core.lab.breaking.allowance import MOST_MAX
from broker_core.lab.breaking.faults import BROKER, CONSUMER, FAULTS, LINK
from broker_core.lab.breaking.file import Stated, cases, stated_in
from broker_core.lab.breaking.promise import KINDS
from broker_core.lab.scenario import scenario_to_json
from dashboard import access
from dashboard.address import address_of
from dashboard.breaking_words import promise_said
from dashboard.errors import Refused
from dashboard.frame import frame_context
from dashboard.labs import breaking, selectors, services
from dashboard.limits import core_limits
from dashboard.models import Lab
from dashboard.page import base_context
from dashboard.serializers import json_response
from dashboard.views.api import api, json_body, opened_response, rights
from dashboard.views.first_view import first_view, no_view

Json = dict[str, Any]
GROUPS = {CONSUMER: "consumers", BROKER: "brokers", LINK: "links"}
OF_NOBODY = {"join": "consumers", "rabbitmq_crash": "brokers", "rabbitmq_start": "brokers"}


@api("GET", "POST", "DELETE")
def search(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The search for what breaks a promise about a lab."""
    if request.method == "POST":
        body = json_body(request)
        started = breaking.search_start(
            lab_id=lab_id, request=body, address=address_of(request), **rights(request)
        )
        return json_response(started, 202)
    if request.method == "DELETE":
        return json_response(breaking.search_cancel(lab_id=lab_id, **rights(request)))
    return json_response(breaking.search_get(lab_id=lab_id))


@api("POST")
def found(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What it found, as a lab."""
    visitor = access.visitor_of(request)
    return opened_response(breaking.found_open(lab_id=lab_id, visitor=visitor, address=address_of(request)))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def shelf(request: HttpRequest) -> HttpResponse:
    """The promises that come along."""
    visitor = access.visitor_of(request) or access.token_new()
    context = base_context(request, "break")
    wrong: list[str] = []
    if request.method == "POST":
        stated = _case(request.POST.get("case", ""))
        if stated is None:
            raise Http404
        try:
            opened = services.lab_open(
                request={
                    "scenario": scenario_to_json(stated.case.scenario),
                    "name": stated.title[_language(context)],
                },
                visitor=visitor,
                address=address_of(request),
            )
        except Refused as refused:
            wrong = [text for texts in refused.fields.values() for text in texts]
        else:
            query = urlencode({"case": request.POST["case"]})
            response: HttpResponse = redirect(f"{reverse('lab-break', args=[opened.lab.pk])}?{query}")
            access.visitor_remember(response, visitor)
            return response
    context["page"] |= {"csrf": get_token(request)}
    context |= {
        "wrong": wrong,
        "cases": [
            {
                "name": name,
                "title": stated.title,
                "line": stated.line,
                "model": stated.case.lane.model,
                "promise": promise_said(stated.case.promise),
                "expect": f"break.shelf.expect.{stated.expect}",
            }
            for name in cases()
            if (stated := _case(name)) is not None
        ],
    }
    response = render(request, "dashboard/break_shelf.html", context, status=429 if wrong else 200)
    access.visitor_remember(response, visitor)
    return response


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The page of a lab."""
    lab = await sync_to_async(_lab)(lab_id)
    if lab is None:
        raise Http404
    seen = await first_view(lab.pk)
    if seen is None:
        return await sync_to_async(no_view)(request, lab.pk, "break")
    return await sync_to_async(_draw)(request, lab, seen["view"])


def _lab(lab_id: str) -> Lab | None:
    try:
        lab = selectors.lab_get(lab_id=lab_id)
    except Refused:
        return None
    return lab if selectors.is_readable(lab) else None


def _draw(request: HttpRequest, lab: Lab, view: Json) -> HttpResponse:
    visitor = access.visitor_of(request) or access.token_new()
    stated = _case(request.GET.get("case", ""))
    form = breaking.form_of(lab, request.GET.get("lane"), stated.case if stated else None)
    context = base_context(request, "break")
    words = context["catalogue"][context["page"]["language"]]
    is_owner = access.is_owner(lab, bearer=None, visitor=visitor)
    context["page"] |= {
        "csrf": get_token(request),
        "lab": lab.pk,
        "owner": is_owner,
        "urls": {"labs": "/api/labs/", "lab": "/lab/{id}/", "search": reverse("api-break", args=[lab.pk])},
        "form": form,
        "is_given": stated is not None,
    }
    lane = form["given"]["lane"]
    context["frame"] = context["page"]["frame"] = frame_context(lab, view, "break", words, lane)
    context |= {
        "kinds": list(KINDS),
        "lanes": form["lanes"],
        "groups": [
            {
                "id": group,
                "faults": [
                    kind
                    for kind, fault in FAULTS.items()
                    if GROUPS.get(fault.about, OF_NOBODY.get(kind)) == group
                ],
            }
            for group in ("consumers", "brokers", "links")
        ],
        "most_max": MOST_MAX,
    }
    response = render(request, "dashboard/break.html", context)
    access.visitor_remember(response, visitor)
    return response


def _case(name: str) -> Stated | None:
    path = cases().get(name)
    return None if path is None else stated_in(path.read_text(encoding="utf-8"), core_limits())


def _language(context: Json) -> str:
    return "en" if context["page"]["language"] == "en" else "zh"
