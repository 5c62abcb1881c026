"""The page of Kafka's log: a lab's partition, an opened log, or the article's. Reads, presents and draws;
nothing else."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard import access
from dashboard.errors import Refused
from dashboard.frame import frame_context
from dashboard.labs import selectors
from dashboard.logs import labs, opened, source
from dashboard.logs.places import server_folders
from dashboard.logs.presentation import log_context
from dashboard.logs.replicas import lane_asked_for
from dashboard.logs.source import Source
from dashboard.logs.tasks import count_soon, write_soon
from dashboard.page import base_context, lab_page, time_context
from dashboard.presentation import lane_story, textures
from dashboard.views.first_view import first_view

FIRST_STATE_WAIT_S = 2.5
FIRST_STATE_POLL_S = 0.05


@require_safe
@never_cache
async def with_slash(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The other pages of a lab end in a slash: who types one here comes to the same page."""
    return redirect(f"{reverse('log', args=[lab_id])}{'?' if request.GET else ''}{request.GET.urlencode()}")


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab's log. The worker gets a moment to write its beginning when nobody has looked before."""
    query = request.GET.dict()
    deadline = monotonic() + FIRST_STATE_WAIT_S
    while True:
        try:
            if await sync_to_async(_is_written)(lab_id, query) or monotonic() > deadline:
                break
        except Refused as refused:
            if refused.status != 409:
                raise
            return redirect("lab", lab_id)  # it stopped before it told of its log: the Stage says why
        await asyncio.sleep(FIRST_STATE_POLL_S)
    lane = await sync_to_async(lambda: lane_asked_for(selectors.lab_get(lab_id=lab_id), query))()
    snapshot = await first_view(lab_id)
    place = {"kind": "lab", "api": reverse("api-lab-log", args=[lab_id]), "lab": lab_id, "lane": lane["id"]}
    return await sync_to_async(_draw)(request, lambda: _lab_source(lab_id, query), place, snapshot)


def _is_written(lab_id: str, query: dict[str, str]) -> bool:
    """Whether there is something to show. False before the lane has begun, too."""
    try:
        return bool(_lab_source(lab_id, query).log.live)
    except Refused as refused:
        if refused.status != 503:
            raise
        return False


def _lab_source(lab_id: str, query: dict[str, str]) -> Source:
    try:
        found = labs.source_of(lab_id, query)
    except Refused as refused:
        if refused.status in (409, 503):
            raise
        if refused.status == 404 and not refused.fields.keys() & {"broker", "partition"}:
            raise Http404 from refused
        # A setting or a replica in the address that cannot be: the page opens with the usual one.
        found = labs.source_of(lab_id, {"lane": query["lane"]} if "lane" in query else {})
    write_soon()
    return found


@require_safe
@never_cache
def of_log(request: HttpRequest, log_id: str) -> HttpResponse:
    """An opened log, by its link."""
    try:
        found = opened.source_of(log_id, {})
    except Refused as refused:
        raise Http404 from refused
    place = {"kind": found.about["kind"], "api": reverse("api-log", args=[log_id]), "lab": None, "lane": None}
    return _draw(request, lambda: opened.source_of(log_id, {}), place)


def _draw(
    request: HttpRequest,
    find: Callable[[], Source],
    place: dict[str, Any],
    snapshot: dict[str, Any] | None = None,
) -> HttpResponse:
    """snapshot: the lab's last view, of which the page shows what is around the log."""
    context = base_context(request, "log")
    try:
        folder = source.steady(lambda: source.folder(find()))
    except Refused:
        return render(request, "dashboard/opening.html", context, status=503)
    if folder["reading"]:
        count_soon(folder["log"])
    context["page"] |= {
        "log": {
            **place,
            "upload": reverse("api-logs"),
            "page": "/log/{id}/",
            "article": reverse("log-opened", args=[opened.ARTICLE]),
            "bytes_max": settings.LOG_UPLOAD_BYTES_MAX,
            "folders": [
                {"name": entry.name, "url": reverse("log-opened", args=[entry.log])}
                for entry in server_folders()
            ],
        }
    }
    visitor = access.visitor_of(request) or access.token_new()
    if snapshot is not None:
        lab = selectors.lab_get(lab_id=snapshot["lab"])
        context["page"] |= lab_page(
            lab.pk,
            seq=snapshot["seq"],
            epoch=snapshot["epoch"],
            is_owner=access.is_owner(lab, bearer=None, visitor=visitor),
            csrf=get_token(request),
            stopped=selectors.lab_stopped(lab_id=lab.pk),
            older_rules=selectors.rules_of(lab=lab)["older"],
        )
        words = context["catalogue"][context["page"]["language"]]
        frame = frame_context(lab, snapshot["view"], "log", words, place["lane"])
        context["page"]["frame"] = frame
        context |= {
            "frame": frame,
            "story": lane_story(snapshot["view"], words, place["lane"]),
            "view": snapshot["view"],
            "textures": textures(),
            "time": time_context(snapshot["view"]),
        }
    else:
        context["page"]["csrf"] = get_token(request)
    context["folder"] = source.exact(folder)
    context |= log_context(folder, context["catalogue"][context["page"]["language"]])
    response = render(request, "dashboard/log.html", context)
    access.visitor_remember(response, visitor)
    return response
