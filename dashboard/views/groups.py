"""The page of a lab's Kafka consumer group. Reads, presents and draws; nothing else."""

import asyncio
from time import monotonic
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.kafka.group import states as classic_states
from broker_core.kafka.group.consumer import states as consumer_states
from dashboard import access, selectors
from dashboard.errors import Refused
from dashboard.models import Lab
from dashboard.page import SPEEDS, base_context, lab_page
from dashboard.presentation import textures

FIRST_VIEW_WAIT_S = 4.0
FIRST_VIEW_POLL_S = 0.05
CLASSIC_STATES = (classic_states.EMPTY, classic_states.PREPARING, classic_states.COMPLETING, classic_states.STABLE)
CONSUMER_STATES = (consumer_states.EMPTY, consumer_states.ASSIGNING, consumer_states.RECONCILING, consumer_states.STABLE)


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab's consumer group; ?rig= where a lab has several Kafka lanes on a cluster. 404 where it has none."""
    try:
        lab = await sync_to_async(selectors.lab_get)(lab_id=lab_id)
    except Refused as refused:
        raise Http404 from refused
    deadline = monotonic() + FIRST_VIEW_WAIT_S
    while (snapshot := await sync_to_async(selectors.lab_snapshot)(lab_id=lab.pk)) is None:
        if monotonic() > deadline:
            return await sync_to_async(render)(request, "dashboard/opening.html", base_context(request, "groups"), status=503)
        await asyncio.sleep(FIRST_VIEW_POLL_S)
    return await sync_to_async(_draw)(request, lab, snapshot)


def _draw(request: HttpRequest, lab: Lab, snapshot: dict[str, Any]) -> HttpResponse:
    view = snapshot["view"]
    lanes = [lane_id for lane_id in view["rig_order"] if "group" in view["rigs"][lane_id]]
    wanted = request.GET.get("rig")
    if not lanes or (wanted is not None and wanted not in lanes):
        raise Http404
    visitor = access.visitor_of(request) or access.token_new()
    context = base_context(request, "groups")
    context["page"] |= lab_page(
        lab.pk, seq=snapshot["seq"], epoch=snapshot["epoch"], is_owner=access.is_owner(lab, bearer=None, visitor=visitor), csrf=get_token(request),
        stopped=selectors.lab_stopped(lab_id=lab.pk),
    )  # fmt: skip
    lane = wanted or lanes[0]
    context["page"] |= {"groups": {"lane": lane, "machines": machines()}}
    context["page"]["urls"] |= {"comparison": reverse("api-comparison", args=[lab.pk, lane])}
    context |= {"view": view, "speeds": SPEEDS, "textures": textures(), "query": f"?rig={lane}" if lane != "kafka" else ""}
    response = render(request, "dashboard/groups.html", context)
    access.visitor_remember(response, visitor)
    return response


def machines() -> dict[str, Any]:
    """Protocol -> its states, and [from, event, to] of what leads from one to the next, as the core's tables have them."""
    tables = {"classic": (CLASSIC_STATES, classic_states.TRANSITIONS), "consumer": (CONSUMER_STATES, consumer_states.TRANSITIONS)}
    return {
        protocol: {"states": list(states), "transitions": [[state, event, after] for (state, event), after in table.items()]}
        for protocol, (states, table) in tables.items()
    }
