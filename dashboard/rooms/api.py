"""The requests of rooms, thin: read the body, call one service, answer JSON.

    POST   /api/rooms/                {lab?, shown?}                201 {code, url, qr, ...}      anybody with a cookie
    GET    /api/rooms/<code>/                                       200 the state, and who you are
    PATCH  /api/rooms/<code>/         {shown, lab?} or {locked?, recall?}  200 the state          the presenter
    DELETE /api/rooms/<code>/                                       200 {code}: it is over        the presenter
    POST   /api/rooms/<code>/seat/    {name?}                       200 {path, name}              anybody with the code
    POST   /api/rooms/<code>/copy/    as a lab's fork               201 {id}                      the same, unlocked
    POST   /api/rooms/<code>/links/   {for: remote | hand_over}     201 {url, qr}                 the presenter
    POST   /api/rooms/<code>/press/   {press: next | back | pause}  202 {presses}                 presenter, remote
    POST   /api/rooms/<code>/take/                                  200 {path}                    the hand-over's link
    POST   /api/rooms/<code>/question/  as a trial's query, figure?; or {slide, question}  201 the state  the presenter
    PATCH  /api/rooms/<code>/question/  {number, stage?, bars_shown?} 200 the state               the presenter
    DELETE /api/rooms/<code>/question/                              200 the state                 the presenter
    POST   /api/rooms/<code>/answer/  {number, chosen?, marks?}     200 the same                  an attendee
    GET    /api/rooms/<code>/task/                                  200 {checks, lanes}           the presenter
    POST   /api/rooms/<code>/task/    as task_set                   201 the state                 the presenter
    DELETE /api/rooms/<code>/task/    ?recall=1                     200 the state                 the presenter
    POST   /api/rooms/<code>/task/copy/ {number}                    201 {id}                      an attendee

The presenter is a browser's cookie; a remote and a hand-over are a secret, as `Authorization: Bearer`.
"""

import json

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from broker_core.events import Json
from dashboard import access
from dashboard.address import address_of
from dashboard.errors import Refused
from dashboard.labs.past.asking import ask
from dashboard.labs.past.look import Look
from dashboard.models import Room
from dashboard.rooms import answers, links, questions, selectors, services, tasks
from dashboard.rooms.selectors import Role
from dashboard.serializers import json_body, json_response, refusal_response
from dashboard.threads import in_thread
from dashboard.views.api import api, check_request

ROUTE_OF = {services.REMOTE: "room-remote", services.HANDOVER: "room-take"}


@api("POST")
def rooms(request: HttpRequest) -> HttpResponse:
    """Open a room, or move one's own to this lab."""
    room = services.room_open(
        request=json_body(request), visitor=access.visitor_of(request), address=address_of(request)
    )
    return json_response(_presented(request, room), 201)


@api("GET", "PATCH", "DELETE")
def room(request: HttpRequest, code: str) -> HttpResponse:
    """A room as all see it; what the presenter shows and orders; its end."""
    found, role = _room(request, code)
    if request.method == "DELETE":
        services.room_close(room=found, role=role)
        return json_response({"code": found.code})
    if request.method == "PATCH":
        body = json_body(request)
        if unknown := sorted(set(body) - {"shown", "lab", "locked", "recall"}):
            raise Refused(400, {unknown[0][:64]: _("is unknown")})
        if "shown" in body:
            found = services.room_show(room=found, role=role, lab_id=body.get("lab"), shown=body["shown"])
        if "shown" not in body or "locked" in body or "recall" in body:
            found = services.room_order(
                room=found, role=role, locked=body.get("locked"), recall=body.get("recall")
            )
    if role is Role.PRESENTER:
        return json_response(_presented(request, found))
    return json_response({**selectors.room_state(found), "role": role})


@api("POST")
def seat(request: HttpRequest, code: str) -> HttpResponse:
    """Join: a seat, and where the presenter is."""
    found, _role = _room(request, code)
    taken = services.seat_take(
        room=found, visitor=access.visitor_of(request), name=json_body(request).get("name", "")
    )
    return json_response({"path": selectors.room_state(found)["path"], "name": taken.name})


@api("POST")
def copy(request: HttpRequest, code: str) -> HttpResponse:
    """A copy of the presenter's lab, to look around in."""
    found, role = _room(request, code)
    lab_id = services.room_copy(
        room=found,
        role=role,
        request=json_body(request),
        visitor=access.visitor_of(request),
        address=address_of(request),
    )
    return json_response({"id": lab_id}, 201)


@api("POST")
def secret_links(request: HttpRequest, code: str) -> HttpResponse:
    """A link with a new secret."""
    found, role = _room(request, code)
    kind = json_body(request).get("for")
    secret = services.link_secret(room=found, role=role, kind=kind)
    return json_response(links.link(_origin(request), ROUTE_OF[kind], found.code, secret), 201)


@api("POST")
def press(request: HttpRequest, code: str) -> HttpResponse:
    """A press on the remote."""
    found, role = _room(request, code)
    pressed = services.room_press(room=found, role=role, press=json_body(request).get("press"))
    return json_response({"presses": pressed.presses}, 202)


@api("POST")
def take(request: HttpRequest, code: str) -> HttpResponse:
    """Present from here on."""
    found, _role = _room(request, code)
    taken = services.room_take(
        room=found,
        secret=access.bearer_of(request),
        visitor=access.visitor_of(request),
        address=address_of(request),
    )
    return json_response({"path": selectors.room_state(taken)["path"]})


@csrf_exempt
async def question(request: HttpRequest, code: str) -> HttpResponse:
    """Ask the room, go on with the question, put it away."""
    try:
        if request.method != "POST":
            return json_response(await in_thread(_question_set)(request, code))
        if "slide" in await in_thread(_question_given)(request):
            return json_response(await in_thread(_slide_ask)(request, code), 201)
        given, look = await in_thread(_question_look)(request, code)
        status, text = await ask(look)
        answer = json.loads(text)
        if status != 200:
            raise Refused(status, {name: texts[0] for name, texts in answer["fields"].items()})
        return json_response(await in_thread(_question_ask)(request, code, given, answer), 201)
    except Refused as refused:
        return refusal_response(refused)


def _question_given(request: HttpRequest) -> Json:
    check_request(request, ("POST", "PATCH", "DELETE"), question)
    return json_body(request)


def _slide_ask(request: HttpRequest, code: str) -> Json:
    found, role = _room(request, code)
    return selectors.room_state(questions.slide_ask(room=found, role=role, request=json_body(request)))


def _question_look(request: HttpRequest, code: str) -> tuple[Json, Look]:
    found, role = _room(request, code)
    services.only(role, Role.PRESENTER)
    given = json_body(request)
    return given, questions.question_look(room=found, role=role, request=given)


def _question_ask(request: HttpRequest, code: str, given: Json, told: Json) -> Json:
    found, role = _room(request, code)
    return selectors.room_state(questions.question_ask(room=found, role=role, request=given, told=told))


def _question_set(request: HttpRequest, code: str) -> Json:
    check_request(request, ("POST", "PATCH", "DELETE"), question)
    found, role = _room(request, code)
    if request.method == "DELETE":
        return selectors.room_state(questions.question_end(room=found, role=role))
    services.only(role, Role.PRESENTER)
    body = json_body(request)
    if unknown := sorted(set(body) - {"number", "stage", "bars_shown"}):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    number, stage, bars_shown = (body.get(name) for name in ("number", "stage", "bars_shown"))
    return selectors.room_state(
        questions.question_set(room=found, role=role, number=number, stage=stage, bars_shown=bars_shown)
    )


@api("POST")
def answer(request: HttpRequest, code: str) -> HttpResponse:
    """An attendee's answer to the question that is open."""
    found, role = _room(request, code)
    given = answers.answer_give(
        room=found, role=role, visitor=access.visitor_of(request), request=json_body(request)
    )
    return json_response(given)


@api("GET", "POST", "DELETE")
def task(request: HttpRequest, code: str) -> HttpResponse:
    """What a task can be about; set one; end it."""
    found, role = _room(request, code)
    if request.method == "GET":
        return json_response(tasks.task_offers(room=found, role=role))
    if request.method == "DELETE":
        ended = tasks.task_end(room=found, role=role, recall=request.GET.get("recall") == "1")
        return json_response(selectors.room_state(ended))
    return json_response(
        selectors.room_state(tasks.task_set(room=found, role=role, request=json_body(request))), 201
    )


@api("POST")
def task_copy(request: HttpRequest, code: str) -> HttpResponse:
    """One's own copy to do the task in."""
    found, role = _room(request, code)
    copied = tasks.task_copy(
        room=found,
        role=role,
        number=json_body(request).get("number"),
        visitor=access.visitor_of(request),
        address=address_of(request),
    )
    return json_response({"id": copied}, 201)


def _room(request: HttpRequest, code: str) -> tuple[Room, Role]:
    who: Json = {"visitor": access.visitor_of(request), "bearer": access.bearer_of(request)}
    found = selectors.room_get(code=code, address=address_of(request), **who)
    return found, selectors.role_of(found, **who)


def _presented(request: HttpRequest, room: Room) -> Json:
    """The state, and what the presenter shows the attendees to come by."""
    way = links.link(_origin(request), "room", room.code)
    return {**selectors.room_state(room), "role": Role.PRESENTER, **way}


def _origin(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"
