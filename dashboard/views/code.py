"""The page of the code that ran: GET /lab/<id>/code/?lane=&of="""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.lab.code.catalogue import GROUPS
from dashboard.labs.past.code import listed
from dashboard.models import Lab
from dashboard.views.lane_page import lane_page

EACH = "picture"
"""What the view of every lane has."""


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The last run of an algorithm of one lane; ?of= names it, else it is the first."""
    return await lane_page(request, lab_id, "code", (EACH,), _fill)


def _fill(context: dict[str, Any], lab: Lab, view: dict[str, Any], lane: str) -> None:
    rows = listed(lab)["lanes"][lane]
    groups = [
        {"id": group, "rows": [row for row in rows if row["group"] == group]}
        for group in GROUPS
        if any(row["group"] == group for row in rows)
    ]
    context |= {
        "groups": groups,
        "first": groups[0]["rows"][0],
        "code_lanes": context["lane_tabs"],
        "lane_tabs": [],
    }
    context["is_text"] = True
    context["page"] |= {"code": {"lane": lane, "api": reverse("api-code", args=[lab.pk])}}
