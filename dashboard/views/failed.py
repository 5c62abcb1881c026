"""The one answer to a request that cannot be served: JSON for programs, a page in the visitor's language for
people.

`failed` is what Django calls for an error that no view expected: a database that is locked or full, a damaged
row, a fault of ours.
"""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from dashboard.database import refusal_of
from dashboard.errors import Refused
from dashboard.page import base_context
from dashboard.serializers import refusal_response, retry_after

WORDS = {403: "foreign", 409: "damaged", 503: "busy", 507: "full"}
"""Status -> what the page's words are called: page.<name> and page.<name>_more."""


def failed(request: HttpRequest) -> HttpResponse:
    """The answer to the error that is being handled."""
    error = sys.exc_info()[1]
    refused = error if isinstance(error, Refused) else None if error is None else refusal_of(error)
    return refused_response(
        request,
        refused
        or Refused(500, {"server": _("something broke on our side; nothing that was accepted is lost")}),
    )


def refused_response(request: HttpRequest, refused: Refused) -> HttpResponse:
    """A refusal as whoever asked can use it."""
    if request.path.startswith("/api/"):
        return refusal_response(refused)
    name = WORDS.get(refused.status, "broken")
    reason = "; ".join(text for texts in refused.fields.values() for text in texts)
    context = {
        **base_context(request, ""),
        "status": refused.status,
        "title": f"page.{name}",
        "more": f"page.{name}_more",
        "reason": reason if name == "damaged" else "",
    }
    return retry_after(render(request, "failed.html", context, status=refused.status), refused)
