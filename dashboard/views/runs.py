"""A run as a file, and a lab from such a file (dashboard/labs/runs.py).

GET  /api/labs/<id>/run.json?until_us=&until_position=     200 the file
POST /api/labs/open/                                       201 {id, owner_token, ...}: JSON, or a run of real clients as
     ?name=                                                    application/octet-stream
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from dashboard import access
from dashboard.address import address_of
from dashboard.errors import Refused
from dashboard.labs import runs, selectors
from dashboard.labs.moment import CALL, moment_in, moment_of
from dashboard.serializers import json_object, json_response
from dashboard.views.api import api, opened_response

OF_CLIENTS = "application/octet-stream"
"""Content type of a run of real clients, `.highwater`."""


@api("GET")
def run(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The run up to a moment, or to now."""
    lab = selectors.lab_get(lab_id=lab_id)
    query = request.GET.dict()
    if unknown := sorted(set(query) - set(CALL[:2])):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    response = json_response(runs.run_file(lab, moment_of(lab, moment_in(query, CALL)) if query else None))
    response["Content-Disposition"] = "attachment"
    return response


@api("POST")
def open_run(request: HttpRequest) -> HttpResponse:
    """A lab from a file. It is read here: a run may be larger than what other requests send."""
    who: dict[str, Any] = {"visitor": access.visitor_of(request), "address": address_of(request)}
    if request.content_type == OF_CLIENTS:
        body = _body(
            request, runs.CLIENTS_BYTES_MAX, _("is too large: a run of real clients has 4 MiB at most")
        )
        run = runs.clients_run(body, request.GET.get("name", ""))
        return opened_response(runs.run_open(run, **who, most=runs.CLIENTS_COMMANDS_MAX))
    if request.content_type != "application/json":
        raise Refused(415, {"file": _("must be application/json or application/octet-stream")})
    body = _body(request, runs.BYTES_MAX, _("is too large: a run has 1 MiB at most"))
    return opened_response(runs.run_open(json_object(body, "file"), **who))


def _body(request: HttpRequest, most: int, why: str) -> bytes:
    body = request.read(most + 1)
    if len(body) > most:
        raise Refused(413, {"file": why})
    return bytes(body)
