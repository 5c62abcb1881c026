"""What the pages of one lane share: they wait for the lab's first view, choose the lane by ?lane=, and are
drawn with what every page needs."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render

from dashboard import access
from dashboard.errors import Refused
from dashboard.frame import frame_context, page_path, played_at
from dashboard.labs import selectors
from dashboard.models import Lab
from dashboard.page import base_context, lab_page, lane_query, time_context
from dashboard.presentation import lesson_panel, tab_names, textures
from dashboard.views.first_view import first_view, no_view

Fill = Callable[[dict[str, Any], Lab, dict[str, Any], str], None]
"""(context, lab, view, lane id): puts what is the page's own into the context."""


async def lane_page(
    request: HttpRequest, lab_id: str, name: str, panels: tuple[str, ...], fill: Fill
) -> HttpResponse:
    """The page `name`, which draws these panels, of a lane whose view has the first of them; the first such
    lane without ?lane=. 404 where there is none, 503 before the first view."""
    try:
        lab = await sync_to_async(selectors.lab_get)(lab_id=lab_id)
    except Refused as refused:
        raise Http404 from refused
    if (snapshot := await first_view(lab.pk)) is None:
        return await sync_to_async(no_view)(request, lab.pk, name)
    return await sync_to_async(_draw)(request, lab, snapshot, name, panels, fill)


def lane_of(view: dict[str, Any], panel: str, wanted: str | None) -> str | None:
    """The id of the lane that is asked for, of the first with this panel where none is; None: there is no
    such lane."""
    lanes = [lane_id for lane_id in view["lane_order"] if panel in view["lanes"][lane_id]]
    if wanted is not None:
        return wanted if wanted in lanes else None
    return lanes[0] if lanes else None


def _draw(
    request: HttpRequest,
    lab: Lab,
    snapshot: dict[str, Any],
    name: str,
    panels: tuple[str, ...],
    fill: Fill,
) -> HttpResponse:
    view, panel = snapshot["view"], panels[0]
    lane = lane_of(view, panel, request.GET.get("lane"))
    if lane is None:
        raise Http404
    visitor = access.visitor_of(request) or access.token_new()
    context = base_context(request, name)
    context["page"] |= lab_page(
        lab.pk,
        seq=snapshot["seq"],
        epoch=snapshot["epoch"],
        is_owner=access.is_owner(lab, bearer=None, visitor=visitor),
        csrf=get_token(request),
        stopped=selectors.lab_stopped(lab_id=lab.pk),
        older_rules=selectors.rules_of(lab=lab)["older"],
        panels=panels,
    )
    query = lane_query(view, lane)
    context["page"]["urls"]["lab"] = (
        request.path.replace(lab.pk, "{id}") + query
    )  # a copy made from here opens here
    words = context["catalogue"][context["page"]["language"]]
    path, player = page_path(name, lab.pk), context["page"]["player"]
    context["frame"] = context["page"]["frame"] = frame_context(lab, view, name, words, lane, player)
    names = tab_names(view, words)
    lanes = [lane_id for lane_id in view["lane_order"] if panel in view["lanes"][lane_id]]
    tabs = [
        {"id": each, "name": names[each], "url": played_at(player, f"{path}?{urlencode({'lane': each})}")}
        for each in lanes
    ]
    context |= {
        "view": view,
        "time": time_context(view),
        "textures": textures(),
        "lane": lane,
        "lane_tabs": tabs,
        "lesson": lesson_panel(view, words),
        "query": query,
    }
    fill(context, lab, view, lane)
    response = render(request, f"dashboard/{name}.html", context)
    access.visitor_remember(response, visitor)
    return response
