"""The interface that programs and the page's own buttons drive. Thin: read the body, call one service, answer
JSON.

    POST /api/labs/                        {scenario?, seed?, workload?, lanes?}, or TOML        201 {id, owner_token, ...}
    GET  /api/labs/<id>/                                                                        200 what the lab is
    PATCH /api/labs/<id>/                  {name}                                               200 what the lab is
    DELETE /api/labs/<id>/                                                                      200 {id, undo_s}
    POST /api/labs/<id>/own/               with its token                                       200 what the lab is: it is the browser's
    POST /api/labs/<id>/restore/                                                                200 what the lab is: the deletion is undone
    POST /api/labs/<id>/commands/          {command_id, kind, lane?, consumer?, args?}           202 {lab, command_id, position, state}
    GET  /api/labs/<id>/commands/<command_id>/                                                  200 what became of it
    GET  /api/labs/<id>/snapshot/                                                               200 {lab, epoch, seq, at_us, view}
    GET  /api/labs/<id>/journal/                                                                200 {rules, scenario, commands}
    GET  /api/labs/<id>/run.json, POST /api/labs/open/                                          see views/runs.py
    GET  /api/labs/<id>/events/?after=<seq>                                                     200 {events}
    GET  /api/labs/<id>/events/search/                                                          200 see labs/event_search.py
    GET  /api/labs/<id>/events.jsonl?until_us=<moment>                                          200 see views/event_lines.py
    GET  /api/labs/<id>/pulsar/key/, .../pulsar/ranges/                                         200 see lab/pulsar/views/subscription.py
    GET  /api/labs/<id>/rabbitmq/try/, .../allowed/, .../definitions/                           200 see lab/rabbitmq/views/questions.py
    GET  /api/labs/<id>/kafka/comparison/<lane>/                                                200 the group under each assignor and protocol
    POST /api/labs/<id>/kafka/comparison/<lane>/                                                202 have that worked out, up to now
    POST /api/labs/<id>/fork/              {workload?, seed?} or {until_us?, until_position?, speed?}, name?  201 as POST /api/labs/
    GET  /api/labs/<id>/branches/                                                               200 {branches}: see labs/branches.py

Whatever is wrong is answered 4xx {fields: {name: [text]}}. Commands need the owner's token as `Authorization:
Bearer`, or the browser's cookie with its CSRF token; reading needs neither.
"""

import asyncio
import functools
from collections.abc import Callable, Collection
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from broker_core.events import Json
from dashboard import access
from dashboard.address import address_of
from dashboard.errors import Refused, listed
from dashboard.labs import comparisons, keeping, selectors, services
from dashboard.labs.branches import branches_of
from dashboard.models import Lab
from dashboard.serializers import TOML, json_body, json_response, refusal_response, toml_body
from dashboard.threads import in_thread

FIRST_VIEW_WAIT_S = 3.0

View = Callable[..., HttpResponse]


class _CsrfCheck(CsrfViewMiddleware):
    def _reject(self, request: HttpRequest, reason: str) -> Any:
        return reason


def api(*methods: str) -> Callable[[View], View]:
    """Allow these methods, check CSRF where the browser's cookie is what gives the right, and answer every
    refusal in one form."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @functools.wraps(view)
        def answer(request: HttpRequest, **kwargs: Any) -> HttpResponse:
            try:
                check_request(request, methods, view)
                return view(request, **kwargs)
            except Refused as refused:
                return refusal_response(refused)

        return answer

    return decorate


def check_request(request: HttpRequest, methods: Collection[str], view: Callable[..., Any]) -> None:
    """Raises Refused: 405 for another method, 403 for a write without the CSRF token that its cookie needs."""
    if request.method not in methods:
        raise Refused(405, {"method": _("must be %(methods)s") % {"methods": listed(methods)}})
    if request.method not in ("GET", "HEAD"):
        _check_csrf(request, view)


def _check_csrf(request: HttpRequest, view: Callable[..., Any]) -> None:
    """A program's token travels in a header that no other site can set; a cookie travels on its own, so it
    needs the CSRF token."""
    if access.bearer_of(request) is not None or access.visitor_of(request) is None:
        return
    check = _CsrfCheck(lambda _request: HttpResponse())
    check.process_request(request)
    if check.process_view(request, view, (), {}) is not None:
        raise Refused(403, {"csrf": _("the CSRF token is missing or wrong")})


@api("POST")
def labs(request: HttpRequest) -> HttpResponse:
    """Make a lab."""
    opened = services.lab_open(
        request=lab_body(request), visitor=access.visitor_of(request), address=address_of(request)
    )
    return opened_response(opened)


def lab_body(request: HttpRequest) -> Json:
    """What a lab is made from: JSON, or the same as TOML. Raises Refused 413, 415 or 400."""
    return toml_body(request) if request.content_type == TOML else json_body(request)


@api("GET", "PATCH", "DELETE")
def lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What a lab is, and whether it is yours; another name for it; or its end, which can be undone for a
    moment."""
    who = rights(request)
    if request.method == "DELETE":
        keeping.lab_delete(lab_id=lab_id, **who)
        return json_response({"id": lab_id, "undo_s": settings.LAB_UNDO_S})
    if request.method == "PATCH":
        row = keeping.lab_rename(lab_id=lab_id, request=json_body(request), **who)
    else:
        row = selectors.lab_get(lab_id=lab_id)
    return json_response({**selectors.lab_meta(lab=row), "owned": access.is_owner(row, **who)})


@api("POST")
def restore(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Undo a deletion."""
    row = keeping.lab_restore(lab_id=lab_id, **rights(request))
    return json_response({**selectors.lab_meta(lab=row), "owned": True})


@api("POST")
def own(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The lab is of whoever has its token and this browser."""
    row = keeping.lab_own(lab_id=lab_id, **rights(request))
    return json_response({**selectors.lab_meta(lab=row), "owned": True})


def rights(request: HttpRequest) -> dict[str, str | None]:
    """Who asks, as services take it."""
    return {"bearer": access.bearer_of(request), "visitor": access.visitor_of(request)}


@api("POST")
def commands(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Order something from a lab."""
    body = json_body(request)
    return json_response(services.lab_submit(lab_id=lab_id, request=body, **rights(request)), 202)


@api("GET")
def command(request: HttpRequest, lab_id: str, command_id: str) -> HttpResponse:
    """What became of a command."""
    return json_response(selectors.command_get(lab_id=lab_id, command_id=command_id))


@api("POST")
def fork(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Copy a lab, or replay its commands under another workload or seed."""
    return opened_response(
        services.lab_fork(
            lab_id=lab_id,
            request=json_body(request),
            visitor=access.visitor_of(request),
            address=address_of(request),
        )
    )


@api("GET")
def branches(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The lab, the one that it left, and those that left either at a moment."""
    lab = selectors.lab_get(lab_id=lab_id)
    found = branches_of(lab=lab, visitor=access.visitor_of(request))
    return json_response({"branches": found})


@api("GET", "POST")
def comparison(request: HttpRequest, lab_id: str, lane: str) -> HttpResponse:
    """A lane's consumer group on the same history under each assignor and protocol."""
    if request.method == "POST":
        return json_response(
            comparisons.comparison_start(
                lab_id=lab_id, lane=lane, address=address_of(request), **rights(request)
            ),
            202,
        )
    return json_response(comparisons.comparison_get(lab_id=lab_id, lane=lane))


@api("GET")
def journal(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Scenario and commands: all that it takes to have this lab again."""
    return json_response(selectors.journal(lab=selectors.lab_get(lab_id=lab_id)))


@api("GET")
def events(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Turning points after ?after=, oldest first."""
    after = request.GET.get("after", "0")
    if not after.isascii() or not after.isdigit() or len(after) > 18:
        raise Refused(400, {"after": _("must be a whole number")})
    selectors.lab_get(lab_id=lab_id)
    return json_response({"events": selectors.events_since(lab_id=lab_id, seq=int(after))})


@csrf_exempt
async def snapshot(request: HttpRequest, lab_id: str) -> HttpResponse:
    """The last view at a frame boundary. A lab made a moment ago has none yet: this waits for it."""
    try:
        if request.method != "GET":
            raise Refused(405, {"method": _("must be %(methods)s") % {"methods": "GET"}})
        row = await in_thread(selectors.lab_get)(lab_id=lab_id)
        await in_thread(services.lab_watched)(lab_ids=[lab_id], wake=row.status == Lab.Status.IDLE)
        for _attempt in range(int(FIRST_VIEW_WAIT_S / 0.05)):
            if (found := await in_thread(selectors.lab_snapshot_text)(lab_id=lab_id)) is not None:
                response = HttpResponse(found[2], content_type="application/json")
                response["Cache-Control"] = "no-store"
                return response
            if reason := await in_thread(selectors.lab_stopped)(lab_id=lab_id):
                raise selectors.lab_has_stopped(reason)
            await asyncio.sleep(0.05)
        raise Refused(503, {"lab": _("is being prepared: try again")})
    except Refused as refused:
        return refusal_response(refused)


def opened_response(opened: services.OpenedLab) -> HttpResponse:
    """A new lab, and the token that commands it."""
    lab = opened.lab
    return json_response({**selectors.lab_meta(lab=lab), "owner_token": opened.owner_token}, 201)
