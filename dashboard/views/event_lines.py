"""A lab's turning points as a file, one JSON object a line, from 0:00 to now or to a moment, sent as they are read; and
a search in them.

GET /api/labs/<id>/events.jsonl?until_us=<virtual microseconds>
GET /api/labs/<id>/events/search/     see labs/event_search.py
"""

from collections.abc import AsyncIterator

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from dashboard.errors import Refused
from dashboard.labs import event_search, selectors
from dashboard.serializers import json_lines, json_response, refusal_response
from dashboard.threads import in_thread
from dashboard.views.api import api

DIGITS_MAX = 18


@csrf_exempt
async def event_lines(request: HttpRequest, lab_id: str) -> HttpResponseBase:
    """The events that GET .../events/ gives, all of them."""
    try:
        if request.method != "GET":
            raise Refused(405, {"method": _("must be %(methods)s") % {"methods": "GET"}})
        until = request.GET.get("until_us", "")
        if until and not (until.isascii() and until.isdigit() and len(until) <= DIGITS_MAX):
            raise Refused(400, {"until_us": _("must be a whole number")})
        await in_thread(selectors.lab_get)(lab_id=lab_id)
    except Refused as refused:
        return refusal_response(refused)
    pieces = _lines(lab_id, int(until) if until else None)
    response = StreamingHttpResponse(pieces, content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = "attachment"
    response["Cache-Control"] = "no-store"
    return response


async def _lines(lab_id: str, until_us: int | None) -> AsyncIterator[bytes]:
    seq = 0
    while batch := await in_thread(selectors.event_rows)(lab_id=lab_id, after=seq, until_us=until_us):
        yield json_lines([event for _seq, event in batch])
        seq = batch[-1][0]


@api("GET")
def event_search_of(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The turning points that fit what is asked, from either end."""
    wanted = event_search.wanted_of(request.GET.dict())
    selectors.lab_get(lab_id=lab_id)
    return json_response(event_search.search(lab_id, wanted))
