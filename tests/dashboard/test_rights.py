"""Who may do what: every route and every socket action of the site, by role. A route that is not in the table fails
here, and so does a write whose right is not tried.

visitor     a browser that has nothing here       attendee   one with a seat in the room
presenter   whose room shows the lab              owner      whose lab it is, and not in the room
staff       Django's, of which this site has none: there are no accounts
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from dashboard.access import token_new
from dashboard.consumers import Acknowledgement, SnapshotRequest
from dashboard.labs import services as labs
from dashboard.models import Goal, Lab, Room, RoomSeat
from dashboard.openapi.operations import OPERATIONS
from dashboard.rooms import consumers as rooms_socket
from dashboard.rooms import services as rooms
from dashboard.routing import websocket_urlpatterns
from tests.dashboard.room_question import asked as asked_room

pytestmark = pytest.mark.django_db

ROLES = ("visitor", "attendee", "presenter", "owner")
ALL, OWNER, PRESENTER, NOBODY = set(ROLES), {"owner"}, {"presenter"}, set[str]()

READ = {
    "stage", "labs", "lab-new", "lab", "lab-compare", "lab-beside", "compare", "learn", "learn-play", "learn-own",
    "learn-file", "learn-lesson", "learn-print", "analyze", "analyze-compare", "study", "log", "cluster", "groups",
    "pulsar", "rabbitmq", "lab-settings", "code", "tubemq", "fidelity", "log-opened", "healthz", "robots", "api",
    "rooms", "room", "room-remote", "room-take", "break", "lab-break", "lectures", "lecture-own", "lecture-file", "lecture",
    "lecture-deck", "lecture-print", "embed", "oembed", None,
}  # fmt: skip
"""Pages. They show anybody what they show; one that takes a form makes something of the visitor's own."""

OWN = {
    ("api-labs", "POST"), ("api-open", "POST"), ("api-check", "POST"),
    ("api-visit", "POST"), ("api-settings", "POST"),
    ("api-logs", "POST"), ("api-studies", "POST"), ("api-study-uploads", "POST"), ("api-study-preview", "POST"),
    ("api-study-history", "POST"), ("api-study", "DELETE"), ("api-study-cancel", "POST"), ("api-study-open", "POST"),
    ("api-comparison", "POST"), ("api-rooms", "POST"),
    ("api-break-open", "POST"), ("api-capsules", "POST"),
}  # fmt: skip
"""Writes that make something of one's own, or are about one's own study (tests/dashboard/test_studies_api.py); a
group's comparison is worked out for all alike, and a capsule is made for whoever may see the lab. None changes somebody's lab or room."""

JOIN = {"command_id": "right-1", "kind": "join", "lane": "kafka"}
TABLE: dict[tuple[str, str], tuple[str, Any, set[str]]] = {
    ("api-lab", "PATCH"): ("/api/labs/{lab}/", {"name": "x"}, OWNER),
    ("api-lab", "DELETE"): ("/api/labs/{lab}/", None, OWNER),
    ("api-restore", "POST"): ("/api/labs/{lab}/restore/", {}, OWNER),
    ("api-own", "POST"): ("/api/labs/{lab}/own/", {}, NOBODY),
    ("api-commands", "POST"): ("/api/labs/{lab}/commands/", JOIN, OWNER),
    ("api-break", "POST"): ("/api/labs/{lab}/break/", {"promise": {}, "may": {}}, OWNER),
    ("api-break", "DELETE"): ("/api/labs/{lab}/break/", None, OWNER),
    ("api-fork", "POST"): ("/api/labs/{lab}/fork/", {}, ALL),
    ("api-room", "PATCH"): ("/api/rooms/{code}/", {"shown": {"at_us": 1}}, PRESENTER),
    ("api-room", "DELETE"): ("/api/rooms/{code}/", None, PRESENTER),
    ("api-room-seat", "POST"): ("/api/rooms/{code}/seat/", {}, ALL),
    ("api-room-copy", "POST"): ("/api/rooms/{code}/copy/", {}, ALL),
    ("api-room-links", "POST"): ("/api/rooms/{code}/links/", {"for": "remote"}, PRESENTER),
    ("api-room-press", "POST"): ("/api/rooms/{code}/press/", {"press": "next"}, PRESENTER),
    ("api-room-take", "POST"): ("/api/rooms/{code}/take/", {}, NOBODY),
    ("api-room-question", "POST"): ("/api/rooms/{code}/question/", {"lane": "kafka"}, PRESENTER),
    ("api-room-question", "PATCH"): ("/api/rooms/{code}/question/", {"number": 1}, PRESENTER),
    ("api-room-question", "DELETE"): ("/api/rooms/{code}/question/", None, PRESENTER),
    ("api-room-task", "POST"): ("/api/rooms/{code}/task/", {"lane": "kafka"}, PRESENTER),
    ("api-room-task", "DELETE"): ("/api/rooms/{code}/task/?recall=1", None, PRESENTER),
    ("api-room-task-copy", "POST"): ("/api/rooms/{code}/task/copy/", {"number": 1}, {"attendee"}),
    ("api-room-answer", "POST"): ("/api/rooms/{code}/answer/", {"number": 1, "chosen": 0}, {"attendee"}),
}
"""Writes about this lab and this room: address, body, and who may. A hand-over is taken with its secret alone."""

SOCKETS = {
    "ws/labs": {Acknowledgement: ALL, SnapshotRequest: ALL},
    "ws/studies": {},
    "ws/rooms": {Acknowledgement: ALL, rooms_socket.Whereabouts: {"attendee"}},
}
"""What a browser may say on each socket. None of it is an order; the last is tried in test_room_sockets.py."""


@pytest.fixture
def people() -> dict[str, Client]:
    found = {}
    for role in ROLES:
        found[role] = Client()
        found[role].cookies["highwater_visitor"] = token_new()
    return found


def token_of(client: Client) -> str:
    return str(client.cookies["highwater_visitor"].value)


@pytest.fixture
def room(people: dict[str, Client]) -> Room:
    """A room whose presenter shows a lab that is another's, and has asked about it."""
    lab = labs.lab_open(request={}, visitor=token_of(people["owner"])).lab
    made = rooms.room_open(request={"lab": lab.pk}, visitor=token_of(people["presenter"]), address="here")
    rooms.seat_take(room=made, visitor=token_of(people["attendee"]))
    return asked_room(made)


def everything() -> Any:
    rows = [list(model.objects.values()) for model in (RoomSeat, Goal)]
    return Room.objects.values().get(), Lab.everything.values().get(), rows


def asked(client: Client, method: str, path: str, body: Any) -> HttpResponse:
    send: Callable[..., Any] = getattr(client, method.lower())
    answer = send(path) if body is None else send(path, json.dumps(body), content_type="application/json")
    return HttpResponse(answer.content, status=answer.status_code)


def names(patterns: list[Any]) -> list[str | None]:
    found: list[str | None] = []
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            found += names(pattern.url_patterns)
        elif isinstance(pattern, URLPattern):
            found.append(pattern.name)
    return found


def test_every_route_of_the_site_is_in_the_table() -> None:
    programs = {operation.route for operation in OPERATIONS}
    unlisted = {name for name in names(get_resolver().url_patterns) if name not in READ | programs}
    assert not unlisted, "a page that reads is in READ, a request in dashboard/openapi/operations.py"


def test_every_write_is_in_the_table() -> None:
    writes = {(operation.route, operation.method) for operation in OPERATIONS if operation.method != "GET"}
    assert writes == OWN | TABLE.keys()
    assert not OWN & TABLE.keys()


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("operation", TABLE, ids="/".join)
def test_a_write_is_for_whom_the_table_says(
    operation: tuple[str, str], role: str, people: dict[str, Client], room: Room
) -> None:
    address, body, allowed = TABLE[operation]
    path = address.format(lab=room.lab_id, code=room.code)
    if operation[0] == "api-restore":
        people["owner"].delete(f"/api/labs/{room.lab_id}/")
    before = everything()
    answer = asked(people[role], operation[1], path, body)
    if role in allowed:
        assert answer.status_code in (200, 201, 202, 400, 404, 409), answer.content
        return
    assert answer.status_code == 403, answer.content
    assert everything() == before


def test_what_presses_a_browser_may_send_on_a_socket_is_in_the_table() -> None:
    routes = [
        pattern.pattern.regex.pattern for pattern in websocket_urlpatterns if pattern.pattern.regex.pattern
    ]
    assert {route.lstrip("^").split("/(")[0] for route in routes} == SOCKETS.keys()
    assert rooms_socket._decoder.type == Acknowledgement | rooms_socket.Whereabouts
    from dashboard import consumers

    assert consumers._decoder.type == Acknowledgement | SnapshotRequest


def test_there_are_no_accounts_and_so_no_staff() -> None:
    assert not {"django.contrib.auth", "django.contrib.admin"} & {app.name for app in apps.get_app_configs()}
