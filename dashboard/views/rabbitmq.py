"""The page of a lab's RabbitMQ server, and the questions it asks on its own.

    GET /lab/<id>/rabbitmq/?lane=                                                    the page
    GET /api/labs/<id>/rabbitmq/try/?vhost=&exchange=&key=&headers=&user=&lane=      which bindings match, and why
    GET /api/labs/<id>/rabbitmq/allowed/?vhost=&user=&operation=&queue=&exchange=&destination=&key=&lane=
                                                                                     would this be allowed
    GET /api/labs/<id>/rabbitmq/path/?message= or ?by_hand= or ?vhost=&way=, &lane=  where a message went
    GET /api/labs/<id>/rabbitmq/definitions/?lane=                                   the server's definitions file

They are answered over the lab's last view by the broker's own rules; nothing of the lab is touched.
"""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.errors import CommandError
from broker_core.lab.commands import COMMANDS
from broker_core.lab.rabbitmq.topology import table, text
from broker_core.lab.rabbitmq.views import questions
from broker_core.lab.rabbitmq.views.allowed import OPERATIONS
from broker_core.rabbitmq.client.operator import SETTLES
from broker_core.rabbitmq.client.roles import ACKS
from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES
from dashboard.client_programs import clients_context, clients_page
from dashboard.errors import Refused, in_words
from dashboard.labs import selectors
from dashboard.models import Lab
from dashboard.serializers import json_response
from dashboard.views.api import api
from dashboard.views.lane_page import lane_of, lane_page

MODEL = "rabbitmq"
HEADERS_MAX = 8_000
TRACE_COLUMNS = ("time", "way", "channel", "method", "fields")
DIGITS_MAX = 19
ASKED = ("queue", "exchange", "destination", "key")


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab's server; ?lane= where a lab has several RabbitMQ lanes. 404 where it has none."""
    return await lane_page(request, lab_id, MODEL, (MODEL,), _fill)


def _fill(context: dict[str, Any], lab: Lab, view: dict[str, Any], lane: str) -> None:
    context["trace_heads"] = [f"topology.trace.head.{each}" for each in TRACE_COLUMNS]
    context |= clients_context(view["lanes"][lane])
    context["page"] |= {
        "clients": clients_page(int(lab.scenario["seed"])),
        MODEL: {
            "lane": lane,
            "try": reverse("api-lab-rabbitmq-try", args=[lab.pk]),
            "allowed": reverse("api-lab-rabbitmq-allowed", args=[lab.pk]),
            "path": reverse("api-lab-rabbitmq-path", args=[lab.pk]),
            "definitions": reverse("api-lab-rabbitmq-definitions", args=[lab.pk]),
            "verbs": {kind: sorted(command.ARGS) for kind, command in COMMANDS.items()},
            "operations": list(OPERATIONS),
            "types": list(EXCHANGE_TYPES),
            "settles": list(SETTLES),
            "acks": list(ACKS),
        },
    }


@api("GET")
def tried(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Every binding of an exchange beside a message: which match, why, and who gets a copy."""
    asked, panel = request.GET, _panel(request, lab_id)
    try:
        return json_response(
            questions.tried(
                panel,
                asked.get("vhost", ""),
                asked.get("exchange", ""),
                text("key", asked.get("key", "")),
                _headers(asked.get("headers", "")),
                asked.get("user", ""),
            )
        )
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


@api("GET")
def allowed(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What the server would answer to a user's operation, as far as permissions go."""
    asked, panel = request.GET, _panel(request, lab_id)
    try:
        names = {name: text(name, asked.get(name, "")) for name in ASKED}
        refused = questions.allowed(
            panel, asked.get("user", ""), asked.get("vhost", ""), asked.get("operation", ""), **names
        )
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error
    return json_response({"refused": refused})


@api("GET")
def path(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Where one of the lane's last messages went; without ?message= the newest, or the last one on the ?way= of a
    virtual host's graph."""
    panel = _panel(request, lab_id)
    try:
        message, by_hand = (_number(request.GET.get(name, "")) for name in ("message", "by_hand"))
        vhost, way = request.GET.get("vhost", ""), request.GET.get("way", "")
        return json_response(questions.path_of(panel, message, vhost, way, by_hand))
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


@api("GET")
def definitions(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What is declared on the server now, as RabbitMQ's management UI writes it, to be saved as a file."""
    answer = HttpResponse(
        json.dumps(questions.definitions(_panel(request, lab_id)), indent=2, ensure_ascii=False),
        content_type="application/json",
    )
    answer["Content-Disposition"] = f'attachment; filename="definitions-{lab_id}.json"'
    return answer


def _number(asked: str) -> int | None:
    if asked and not (asked.isdecimal() and len(asked) <= DIGITS_MAX):
        raise CommandError("message", "must be the number of a message")
    return int(asked) if asked else None


def _headers(asked: str) -> dict[str, Any]:
    try:
        found = json.loads(asked[:HEADERS_MAX]) if asked else {}
    except ValueError:
        raise CommandError("headers", "must be an object") from None
    return dict(table("headers", found))


def _panel(request: HttpRequest, lab_id: str) -> dict[str, Any]:
    """Of the lane that is asked about, in the lab's last view."""
    lab = selectors.lab_get(lab_id=lab_id)
    snapshot = selectors.lab_snapshot(lab_id=lab.pk)
    if snapshot is None:
        raise Refused(503, {"lab": _("is being prepared: try again")})
    lane = lane_of(snapshot["view"], MODEL, request.GET.get("lane"))
    if lane is None:
        raise Refused(404, {"lane": _("this lab has no such RabbitMQ lane")})
    panel: dict[str, Any] = snapshot["view"]["lanes"][lane][MODEL]
    return panel
