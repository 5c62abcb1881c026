"""The page behind a link to a moment of a lab. It makes nothing on its own, so a mere preview of a link leaves
no lab behind: its script asks for the copy and goes there."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render

from dashboard import access
from dashboard.errors import Refused
from dashboard.formats import clock
from dashboard.labs.moment import moment_of
from dashboard.models import Lab
from dashboard.page import base_context


def moment_page(request: HttpRequest, lab: Lab, wanted: dict[str, Any]) -> HttpResponse:
    """The page that opens `wanted` (what the address says of a moment) of `lab` as the visitor's own copy;
    400 with the reason when the lab has no such moment."""
    context = base_context(request, "stage")
    reason, params = "", {}
    try:
        moment = moment_of(lab, wanted)
        params = {"clock": clock(moment.until_us or 0), "speed": f"×{moment.speed or 1:g}"}
    except Refused as refused:
        reason = "; ".join(text for texts in refused.fields.values() for text in texts)
    context["page"] |= {"lab": lab.pk, "moment": wanted, "params": params, "csrf": get_token(request),
                        "urls": {"fork": f"/api/labs/{lab.pk}/fork/", "lab": "/lab/{id}/"}}  # fmt: skip
    response = render(
        request,
        "dashboard/moment.html",
        {**context, "reason": reason, "params": params},
        status=400 if reason else 200,
    )
    access.visitor_remember(response, access.visitor_of(request) or access.token_new())
    return response
