"""The page of a lab's Kafka cluster. Reads, presents and draws; nothing else."""

import asyncio
from time import monotonic
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard import access, selectors
from dashboard.errors import Refused
from dashboard.models import Lab
from dashboard.page import SPEEDS, base_context, lab_page
from dashboard.presentation import textures

FIRST_VIEW_WAIT_S = 4.0
FIRST_VIEW_POLL_S = 0.05
OPERATOR_KEYS = (("create_topic", "N"), ("reassign", "M"), ("elect", "E"), ("elect_unclean", "U"), ("start_writer", "W"))
"""The orders to the controller, each with its key: static/js/cluster/operator.js."""
FACTOR_DEFAULT = 3


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab's cluster; ?rig= where a lab has several Kafka lanes. 404 where it has none."""
    try:
        lab = await sync_to_async(selectors.lab_get)(lab_id=lab_id)
    except Refused as refused:
        raise Http404 from refused
    deadline = monotonic() + FIRST_VIEW_WAIT_S
    while (snapshot := await sync_to_async(selectors.lab_snapshot)(lab_id=lab.pk)) is None:
        if monotonic() > deadline:
            return await sync_to_async(render)(request, "dashboard/opening.html", base_context(request, "cluster"), status=503)
        await asyncio.sleep(FIRST_VIEW_POLL_S)
    return await sync_to_async(_draw)(request, lab, snapshot)


def _draw(request: HttpRequest, lab: Lab, snapshot: dict[str, Any]) -> HttpResponse:
    view = snapshot["view"]
    lanes = [lane_id for lane_id in view["rig_order"] if "cluster" in view["rigs"][lane_id]]
    wanted = request.GET.get("rig")
    if not lanes or (wanted is not None and wanted not in lanes):
        raise Http404
    visitor = access.visitor_of(request) or access.token_new()
    context = base_context(request, "cluster")
    context["page"] |= lab_page(
        lab.pk, seq=snapshot["seq"], epoch=snapshot["epoch"], is_owner=access.is_owner(lab, bearer=None, visitor=visitor), csrf=get_token(request),
        stopped=selectors.lab_stopped(lab_id=lab.pk),
    )  # fmt: skip
    context["page"] |= {"cluster": {"lane": wanted or lanes[0]}}
    brokers = len(view["rigs"][wanted or lanes[0]]["cluster"]["brokers"])
    context |= {"operator": OPERATOR_KEYS, "factor": min(FACTOR_DEFAULT, brokers)}
    context |= {"view": view, "speeds": SPEEDS, "textures": textures()}
    response = render(request, "dashboard/cluster.html", context)
    access.visitor_remember(response, visitor)
    return response
