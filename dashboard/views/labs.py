"""The list of labs: the visitor's own and the demo. Reads, presents and draws; names, deletion and undo go
through the API."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard import access
from dashboard.client_programs import clients_page
from dashboard.formats import clock, fill
from dashboard.labs import selectors
from dashboard.labs.runs import BYTES_MAX, CLIENTS_BYTES_MAX
from dashboard.models import Lab
from dashboard.page import base_context

Json = dict[str, Any]


@require_safe
@never_cache
def labs(request: HttpRequest) -> HttpResponse:
    """The visitor's labs and the demo, with what each is doing."""
    visitor = access.visitor_of(request) or access.token_new()  # a lab that is made here is the visitor's own
    own = selectors.lab_list(visitor=visitor)
    known = {row["id"] for row in own}
    context = base_context(request, "labs")
    words = context["catalogue"][context["page"]["language"]]
    rows = [_row(row, words, mine=True) for row in own] + [
        _row(row, words) for row in selectors.lab_list() if row["id"] not in known
    ]
    context["page"] |= {
        "csrf": get_token(request), "urls": {"labs": "/api/labs/", "lab": "/lab/{id}/", "open": "/api/labs/open/"},
        "clients": clients_page() if settings.CLIENTS_ON else None,
        "run_bytes_max": BYTES_MAX, "clients_bytes_max": CLIENTS_BYTES_MAX,
        "labs": [{name: row[name] for name in ("id", "name", "workload_code", "created")} for row in rows],
    }  # fmt: skip
    response = render(request, "dashboard/labs.html", {**context, "labs": rows})
    access.visitor_remember(response, visitor)
    return response


def _row(row: Json, words: dict[str, str], *, mine: bool = False) -> Json:
    key, code = row["workload"].get("key"), f"workload.{row['workload']['kind']}"
    created = row["created_at"][:16].replace("T", " ")
    state = row["status"] if row["is_playing"] or row["status"] != Lab.Status.RUNNING else "paused"
    return {
        **row,
        "mine": mine,
        "title": row["name"]
        or fill(words["labs.unnamed"], {"workload": words[code], "time": created}, words),
        "clock": clock(row["at_us"]),
        "workload_code": code,
        "workload_words": words[code],
        "key_code": f"key.{key}" if key else "",
        "key_words": words[f"key.{key}"] if key else "",
        "state": state,
        "state_words": words[f"labs.{state}"],
        "created": created,
    }
