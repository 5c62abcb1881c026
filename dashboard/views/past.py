"""Any past moment of a lab, for programs and for the page's time bar (dashboard/labs/past/).

GET /api/labs/<id>/past/?at_us=          200 {at_us, position, state_hash, steps?, view}
GET /api/labs/<id>/past/frames/?at_us=&until_us=&every_us=      200 {frames: [{at_us, position, state_hash, view or patch and events}]}
GET /api/labs/<id>/marks/                200 {at_us, marks}
GET /api/labs/<id>/trial/?kind=&key=     200 {at_us, position, order, lanes}
GET /api/labs/<id>/passport/?record=     200 {record, key, sent_us, until_us, row, lanes}
GET /api/labs/<id>/code/?lane=&of=       200 {id, lane, at_us, source, call, since_us}; without of {lanes}
GET /api/labs/<id>/why/?lane=&thing=     200 {at_us, position, lane, model, thing, says, sums, since_us, chain, orders}
"""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from dashboard.errors import Refused
from dashboard.labs import selectors
from dashboard.labs.past import look as looks
from dashboard.labs.past.asking import ask
from dashboard.labs.past.code import listed
from dashboard.labs.past.look import Look, look_of
from dashboard.serializers import json_response, refusal_response
from dashboard.threads import in_thread


@csrf_exempt
async def past(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab as it was at a moment."""
    return await _answer(request, lab_id, looks.VIEW)


@csrf_exempt
async def frames(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A stretch of a lab's past, to be played."""
    return await _answer(request, lab_id, looks.FRAMES)


@csrf_exempt
async def marks(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What happened in a lab since 0:00."""
    return await _answer(request, lab_id, looks.MARKS)


@csrf_exempt
async def trial(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What a change would do to a lab, and who has a key before and after it."""
    return await _answer(request, lab_id, looks.TRIAL)


@csrf_exempt
async def passport(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Where a record went in each lane, and when."""
    return await _answer(request, lab_id, looks.PASSPORT)


@csrf_exempt
async def why(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What one thing of a lane is, how its numbers are made up, and what made it so."""
    return await _answer(request, lab_id, looks.WHY)


@csrf_exempt
async def code(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The last run of an algorithm, line by line; without ?of= which ones there are."""
    if request.method == "GET" and "of" not in request.GET:
        try:
            return json_response(await in_thread(lambda: listed(selectors.lab_get(lab_id=lab_id)))())
        except Refused as refused:
            return refusal_response(refused)
    return await _answer(request, lab_id, looks.CODE)


async def _answer(request: HttpRequest, lab_id: str, kind: str) -> HttpResponse:
    try:
        if request.method != "GET":
            raise Refused(405, {"method": _("must be %(methods)s") % {"methods": "GET"}})
        look = await in_thread(_asked)(lab_id, kind, request.GET.dict())
        status, text = await ask(look)
    except Refused as refused:
        return refusal_response(refused)
    response = HttpResponse(text, status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response


def _asked(lab_id: str, kind: str, query: dict[str, str]) -> Look:
    return look_of(selectors.lab_get(lab_id=lab_id), kind, query)
