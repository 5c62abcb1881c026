"""The page of a lab's Pulsar subscription, and the questions it asks by itself: where a key goes, and what sticky ranges would cover.

    GET /lab/<id>/pulsar/?rig=                                            the page
    GET /api/labs/<id>/pulsar/key/?key=&name=&rig=                        where a key goes: broker_core/lab/views/pulsar_what_if.py
    GET /api/labs/<id>/pulsar/ranges/?consumer=&ranges=0-99,200-299&rig=  what ranges would do: broker_core/lab/views/pulsar_ranges.py

Both questions are answered over the lab's last view, by the rules of the broker's own code; nothing of the lab is touched.
"""

import asyncio
from time import monotonic
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.errors import CommandError
from broker_core.lab.commands import COMMANDS
from broker_core.lab.commands.fields import consumer_name
from broker_core.lab.views.pulsar_ranges import check_ranges, ranges_from_text
from broker_core.lab.views.pulsar_what_if import next_name, what_if
from dashboard import access, selectors
from dashboard.errors import Refused, in_words
from dashboard.models import Lab
from dashboard.page import SPEEDS, base_context, lab_page
from dashboard.presentation import textures
from dashboard.serializers import json_response
from dashboard.views.api import api

FIRST_VIEW_WAIT_S = 4.0
FIRST_VIEW_POLL_S = 0.05
TEXT_MAX = 2_000


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab's subscription; ?rig= where a lab has several Pulsar lanes. 404 where it has none."""
    try:
        lab = await sync_to_async(selectors.lab_get)(lab_id=lab_id)
    except Refused as refused:
        raise Http404 from refused
    deadline = monotonic() + FIRST_VIEW_WAIT_S
    while (snapshot := await sync_to_async(selectors.lab_snapshot)(lab_id=lab.pk)) is None:
        if monotonic() > deadline:
            return await sync_to_async(render)(request, "dashboard/opening.html", base_context(request, "pulsar"), status=503)
        await asyncio.sleep(FIRST_VIEW_POLL_S)
    return await sync_to_async(_draw)(request, lab, snapshot)


def _draw(request: HttpRequest, lab: Lab, snapshot: dict[str, Any]) -> HttpResponse:
    view = snapshot["view"]
    lane = _lane_of(view, request.GET.get("rig"))
    if lane is None:
        raise Http404
    visitor = access.visitor_of(request) or access.token_new()
    context = base_context(request, "pulsar")
    context["page"] |= lab_page(
        lab.pk, seq=snapshot["seq"], epoch=snapshot["epoch"], is_owner=access.is_owner(lab, bearer=None, visitor=visitor), csrf=get_token(request),
        stopped=selectors.lab_stopped(lab_id=lab.pk),
    )  # fmt: skip
    context["page"] |= {
        "pulsar": {
            "lane": lane, "key": reverse("api-lab-pulsar-key", args=[lab.pk]), "ranges": reverse("api-lab-pulsar-ranges", args=[lab.pk]),
            "verbs": {kind: sorted(command.ARGS) for kind, command in COMMANDS.items()},
        }
    }  # fmt: skip
    context |= {"view": view, "speeds": SPEEDS, "textures": textures()}
    response = render(request, "dashboard/pulsar.html", context)
    access.visitor_remember(response, visitor)
    return response


def _lane_of(view: dict[str, Any], wanted: str | None) -> str | None:
    """The id of the lane that is asked for, of the first Pulsar lane where none is; None: there is no such lane."""
    lanes = [lane_id for lane_id in view["rig_order"] if "pulsar" in view["rigs"][lane_id]]
    if wanted is not None:
        return wanted if wanted in lanes else None
    return lanes[0] if lanes else None


@api("GET")
def key(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Where a key goes now, after the next join, and after each leave. name: of who joins next; else the one that the lab would give it."""
    view, lane = _view(request, lab_id)
    rig = view["rigs"][lane]
    try:
        name = request.GET.get("name") or next_name(view["consumers"])
        newcomer = consumer_name(name)
        if newcomer in rig["consumers"]:
            raise CommandError("consumer", "{consumer} is already in {lane}", consumer=newcomer, lane=lane)
        return json_response(what_if(rig["pulsar"], rig["algorithm"], request.GET.get("key", ""), newcomer))
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


@api("GET")
def ranges(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What these sticky ranges would do for a consumer."""
    view, lane = _view(request, lab_id)
    try:
        asked = ranges_from_text(request.GET.get("ranges", "")[:TEXT_MAX])
        return json_response({"ranges": asked, **check_ranges(view["rigs"][lane]["pulsar"], request.GET.get("consumer", "")[:64], asked)})
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


def _view(request: HttpRequest, lab_id: str) -> tuple[dict[str, Any], str]:
    """The lab's last view and the id of the lane that is asked about."""
    lab = selectors.lab_get(lab_id=lab_id)
    snapshot = selectors.lab_snapshot(lab_id=lab.pk)
    if snapshot is None:
        raise Refused(503, {"lab": _("is being prepared: try again")})
    lane = _lane_of(snapshot["view"], request.GET.get("rig"))
    if lane is None:
        raise Refused(404, {"rig": _("this lab has no such Pulsar lane")})
    return snapshot["view"], lane
