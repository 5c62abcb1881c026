"""A run as a file, and a lab from such a file (dashboard/labs/runs.py).

GET  /api/labs/<id>/run.json?until_us=&until_position=     200 the file
POST /api/labs/open/                                       201 {id, owner_token, ...}
"""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from dashboard import access
from dashboard.address import address_of
from dashboard.errors import Refused
from dashboard.labs import runs, selectors
from dashboard.labs.moment import CALL, moment_in, moment_of
from dashboard.serializers import json_object, json_response
from dashboard.views.api import api, opened_response


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
    if request.content_type != "application/json":
        raise Refused(415, {"file": _("must be application/json")})
    body = request.read(runs.BYTES_MAX + 1)
    if len(body) > runs.BYTES_MAX:
        raise Refused(413, {"file": _("is too large: a run has 1 MiB at most")})
    opened = runs.run_open(
        json_object(body, "file"), visitor=access.visitor_of(request), address=address_of(request)
    )
    return opened_response(opened)
