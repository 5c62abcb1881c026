"""The Stage: a visitor's own lab, or any lab by its link. They read, present and draw; the page's own first
call makes the visitor's lab."""

from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard import access
from dashboard.address import address_of
from dashboard.client_programs import clients_context, clients_page
from dashboard.errors import Refused
from dashboard.fidelity.answers import lane_lines
from dashboard.frame import frame_context, lab_named
from dashboard.labs import selectors, services
from dashboard.labs.moment import moment_in
from dashboard.models import Lab
from dashboard.page import base_context, lab_page, stage_context
from dashboard.serializers import json_response
from dashboard.views.api import api
from dashboard.views.first_view import first_view, no_view
from dashboard.views.moment import moment_page


@require_safe
@never_cache
async def stage(request: HttpRequest) -> HttpResponse:
    """The visitor's own lab; who has none sees the demo, of which the page's first call makes a copy
    (`visit`). ?demo=off: it does nothing on its own."""
    visitor = access.visitor_of(request) or access.token_new()
    plays = request.GET.get("demo") != "off"
    lab, is_own = await sync_to_async(_lab_of)(visitor)
    if is_own:
        response = await _stage_page(
            request, lab, visitor, demo=plays and await sync_to_async(selectors.is_fresh_demo)(lab=lab)
        )
    else:
        response = await _stage_page(request, lab, visitor, visit=reverse("api-visit"), plays=plays)
    access.visitor_remember(response, visitor)
    return response


def _lab_of(visitor: str) -> tuple[Lab, bool]:
    """The lab to show, and whether it is the visitor's own. Nothing is made for the visitor here: a page is
    fetched by whoever likes to."""
    own = selectors.lab_of_visitor(visitor=visitor)
    return (own, True) if own is not None else (selectors.lab_get(lab_id=services.demo_lab_ensure()), False)


@api("POST")
def visit(request: HttpRequest) -> HttpResponse:
    """The visitor's own lab, made now if there is none: what its Stage has to know of it."""
    visitor = access.visitor_of(request)
    if visitor is None:
        raise Refused(403, {"lab": _("your browser sends no cookie, so a copy could not be yours")})
    lab = services.lab_for_visitor(visitor=visitor, address=address_of(request))
    seen = selectors.lab_snapshot(lab_id=lab.pk)
    return json_response(
        lab_page(
            lab.pk,
            seq=seen["seq"] if seen else -1,
            epoch=seen["epoch"] if seen else -1,
            is_owner=True,
            csrf=get_token(request),
            stopped=selectors.lab_stopped(lab_id=lab.pk),
            demo=selectors.is_fresh_demo(lab=lab),
            older_rules=selectors.rules_of(lab=lab)["older"],
        )
        | {"frame": lab_named(lab)},
        201,
    )


@require_safe
@never_cache
async def lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Any lab by its link, or the moment of it that the link names. Looking needs nothing; commanding needs
    to be its owner."""
    try:
        found = await sync_to_async(selectors.lab_get)(lab_id=lab_id)
    except Refused as refused:
        raise Http404 from refused
    if wanted := moment_in(request.GET):
        return await sync_to_async(moment_page)(request, found, wanted)
    # A visitor's token, so that a copy made from here is the visitor's own.
    visitor = access.visitor_of(request) or access.token_new()
    response = await _stage_page(request, found, visitor)
    access.visitor_remember(response, visitor)
    return response


async def _stage_page(request: HttpRequest, lab: Lab, visitor: str | None, **about: Any) -> HttpResponse:
    """about: as `lab_page`. The page with the lab's last view; a lab that has just been made gets the moment
    its worker needs for the first one."""
    if (snapshot := await first_view(lab.pk)) is None:
        return await sync_to_async(no_view)(request, lab.pk, "stage")
    return await sync_to_async(_draw)(request, lab, visitor, snapshot, about)


def _draw(
    request: HttpRequest, lab: Lab, visitor: str | None, snapshot: dict[str, Any], about: dict[str, Any]
) -> HttpResponse:
    context = base_context(request, "stage")
    # Asked again: it may have stopped while the page waited for its first view.
    stopped = selectors.lab_stopped(lab_id=lab.pk)
    is_owner = access.is_owner(lab, bearer=None, visitor=visitor)
    context["page"] |= lab_page(
        lab.pk,
        seq=snapshot["seq"],
        epoch=snapshot["epoch"],
        is_owner=is_owner,
        csrf=get_token(request),
        stopped=stopped,
        older_rules=selectors.rules_of(lab=lab)["older"],
        **about,
    )
    context["page"]["fidelity"] = lane_lines()
    words = context["catalogue"][context["page"]["language"]]
    context["frame"] = context["page"]["frame"] = frame_context(
        lab, snapshot["view"], "stage", words, player=context["page"]["player"]
    )
    context |= stage_context(snapshot["view"], words)
    for lane in snapshot["view"]["lanes"].values():
        if lane.get("is_open"):
            context |= clients_context(lane)
            context["page"]["clients"] = clients_page(int(lab.scenario["seed"]))
    return render(request, "dashboard/stage.html", context)
