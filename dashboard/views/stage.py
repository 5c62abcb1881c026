"""The pages: the Stage (a visitor's own lab, or any lab by its link) and the list of labs. They read, present and draw; nothing else."""

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

from dashboard import access, selectors, services
from dashboard.errors import Refused
from dashboard.formats import clock
from dashboard.models import Lab
from dashboard.page import base_context, lab_page, stage_context

FIRST_VIEW_WAIT_S = 4.0
FIRST_VIEW_POLL_S = 0.05


@require_safe
@never_cache
async def stage(request: HttpRequest) -> HttpResponse:
    """The visitor's own lab; where there is no room for one more, the demo to look at."""
    visitor = access.visitor_of(request) or access.token_new()
    lab = await sync_to_async(_lab_of)(visitor)
    response = await _stage_page(request, lab, visitor)
    access.visitor_remember(response, visitor)
    return response


def _lab_of(visitor: str) -> Lab:
    try:
        return services.lab_for_visitor(visitor=visitor)
    except Refused:
        return selectors.lab_get(lab_id=services.demo_lab_ensure())


@require_safe
@never_cache
async def lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Any lab by its link. Looking needs nothing; commanding needs to be its owner."""
    try:
        found = await sync_to_async(selectors.lab_get)(lab_id=lab_id)
    except Refused as refused:
        raise Http404 from refused
    # A visitor's token, so that a copy made from here is the visitor's own.
    visitor = access.visitor_of(request) or access.token_new()
    response = await _stage_page(request, found, visitor)
    access.visitor_remember(response, visitor)
    return response


async def _stage_page(request: HttpRequest, lab: Lab, visitor: str | None) -> HttpResponse:
    """The page with the lab's last view; a lab that has just been made gets the moment its worker needs for the first one."""
    deadline = monotonic() + FIRST_VIEW_WAIT_S
    while (snapshot := await sync_to_async(selectors.lab_snapshot)(lab_id=lab.pk)) is None:
        if monotonic() > deadline:
            return await sync_to_async(render)(request, "dashboard/opening.html", base_context(request, "stage"), status=503)
        await asyncio.sleep(FIRST_VIEW_POLL_S)
    return await sync_to_async(_draw)(request, lab, visitor, snapshot)


def _draw(request: HttpRequest, lab: Lab, visitor: str | None, snapshot: dict[str, Any]) -> HttpResponse:
    context = base_context(request, "stage")
    is_owner = access.is_owner(lab, bearer=None, visitor=visitor)
    context["page"] |= lab_page(lab.pk, seq=snapshot["seq"], epoch=snapshot["epoch"], is_owner=is_owner, csrf=get_token(request),
                                stopped=lab.failed_reason)  # fmt: skip
    context |= stage_context(snapshot["view"], context["catalogue"][context["page"]["language"]])
    return render(request, "dashboard/stage.html", context)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Any address where there is nothing, in the visitor's language and theme; below Analyze it is a study that is missed."""
    item = "analyze" if request.path.startswith(reverse("analyze")) else ""
    return render(request, "404.html", base_context(request, item), status=404)


@require_safe
@never_cache
def labs(request: HttpRequest) -> HttpResponse:
    """The visitor's labs and the demo, with what each is doing."""
    visitor = access.visitor_of(request)
    own = selectors.lab_list(visitor=visitor) if visitor else []
    known = {row["id"] for row in own}
    rows = [{**row, "mine": True} for row in own] + [row for row in selectors.lab_list() if row["id"] not in known]
    context = base_context(request, "labs")
    words = context["catalogue"][context["page"]["language"]]
    return render(request, "dashboard/labs.html", {**context, "labs": [_lab_row(row, words) for row in rows]})


def _lab_row(row: dict[str, Any], words: dict[str, str]) -> dict[str, Any]:
    key = row["workload"].get("key")
    return {
        **row,
        "clock": clock(row["at_us"]),
        "workload_words": words[f"workload.{row['workload']['kind']}"],
        "key_code": f"key.{key}" if key else "",
        "key_words": words[f"key.{key}"] if key else "",
        "status_words": words[f"labs.{row['status']}"],
        "created": row["created_at"][:16].replace("T", " "),
    }
