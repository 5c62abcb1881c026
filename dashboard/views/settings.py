"""A lab's settings: the page on which a new lab is made, the panel of a lab that runs, and the calls of both.

GET  /labs/new/?from=<lab>              the form, with the settings of that lab
GET  /lab/<id>/settings/                the form with those of a lab that runs
POST /api/labs/check/     as POST /api/labs/   200 {scenario, parts, texts {toml, curl, python}}: nothing is made
POST /api/labs/<id>/settings/  the same        200 {orders, rest}: commands that bring the lab there, and fields
                                               that take a new lab
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.lab.scenario import Scenario, parts_of_scenario, scenario_from_json, scenario_to_json
from dashboard import access
from dashboard.errors import Refused
from dashboard.frame import frame_context
from dashboard.labs import selectors
from dashboard.labs.services import wanted_scenario
from dashboard.limits import core_limits
from dashboard.models import Lab
from dashboard.page import base_context
from dashboard.serializers import json_response
from dashboard.settings_form.changes import changes_of, settings_now
from dashboard.settings_form.fields import form_of
from dashboard.settings_form.texts import texts_of
from dashboard.views.api import api, lab_body

Json = dict[str, Any]


@require_safe
@never_cache
def new(request: HttpRequest) -> HttpResponse:
    """The form of a new lab. ?from=: a lab whose settings it begins with; one that is not there counts for nothing."""
    return _page(request, "dashboard/new_lab.html", None, _of_lab(request.GET.get("from", "")))


@require_safe
@never_cache
def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The form of a lab that runs; the panel on its pages is this page's form."""
    try:
        lab = selectors.lab_get(lab_id=lab_id)
        now = _now(lab)
    except Refused as refused:
        raise Http404 from refused
    return _page(request, "dashboard/lab_settings.html", lab, now)


@api("POST")
def check(request: HttpRequest) -> HttpResponse:
    """What POST /api/labs/ would say of this, and the same as texts that make the lab."""
    body = lab_body(request)
    scenario = wanted_scenario(body)
    return json_response(
        {
            "scenario": scenario_to_json(scenario),
            "parts": parts_of_scenario(scenario, core_limits()),
            "texts": texts_of(body, request.build_absolute_uri("/").rstrip("/")),
        }
    )


@api("POST")
def changes(request: HttpRequest, lab_id: str) -> HttpResponse:
    """How these settings are reached from the lab as it is."""
    lab = selectors.lab_get(lab_id=lab_id)
    wanted: Scenario = wanted_scenario(lab_body(request))
    facts, view = selectors.lab_facts(lab_id=lab.pk), _view(lab)
    found = changes_of(settings_now(_readable(lab), facts, view), scenario_to_json(wanted), facts, view)
    return json_response({"orders": found.orders, "rest": found.rest})


def _of_lab(lab_id: str) -> Json:
    try:
        return _now(selectors.lab_get(lab_id=lab_id))
    except Refused:
        return scenario_to_json(scenario_from_json({}, core_limits()))


def _now(lab: Lab) -> Json:
    return settings_now(_readable(lab), selectors.lab_facts(lab_id=lab.pk), _view(lab))


def _readable(lab: Lab) -> Json:
    if not selectors.is_readable(lab):
        raise selectors.lab_has_stopped(lab.failed_reason)
    scenario: Json = lab.scenario
    return scenario


def _view(lab: Lab) -> Json | None:
    seen = selectors.lab_snapshot(lab_id=lab.pk)
    return None if seen is None else seen["view"]


def _page(request: HttpRequest, template: str, lab: Lab | None, scenario: Json) -> HttpResponse:
    visitor = access.visitor_of(request) or access.token_new()  # a lab that is made here is the visitor's own
    context = base_context(request, "settings")
    context["page"] |= {
        "csrf": get_token(request),
        "urls": {"labs": "/api/labs/", "lab": "/lab/{id}/", "check": "/api/labs/check/"},
        "workload": scenario["workload"],
        "parts_max": core_limits().parts_max,
        "owner": lab is not None and access.is_owner(lab, bearer=None, visitor=visitor),
        "of": None if lab is None else lab.pk,
    }
    context |= {"form": form_of(scenario), "lab": lab}
    if lab is not None and (view := _view(lab)) is not None:
        words = context["catalogue"][context["page"]["language"]]
        context["frame"] = frame_context(lab, view, "settings", words)
        context["page"] |= {"lab": lab.pk, "frame": context["frame"]}
    response = render(request, template, context)
    access.visitor_remember(response, visitor)
    return response
