"""The page of a lab's Pulsar subscription, and the questions it asks on its own: where a key goes, and what
sticky ranges would cover.

    GET /lab/<id>/pulsar/?lane=                                            the page
    GET /api/labs/<id>/pulsar/key/?key=&name=&lane=                        where a key goes: broker_core/lab/pulsar/views/what_if.py
    GET /api/labs/<id>/pulsar/ranges/?consumer=&ranges=0-99,200-299&lane=  what ranges would do: broker_core/lab/pulsar/views/ranges.py

Both questions are answered over the lab's last view, by the rules of the broker's own code; nothing of the
lab is touched.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.errors import CommandError
from broker_core.lab.commands import COMMANDS
from broker_core.lab.fields import consumer_name
from broker_core.lab.pulsar.views.ranges import check_ranges, ranges_from_text
from broker_core.lab.pulsar.views.what_if import next_name, ordering_key_of, what_if
from broker_core.lab.workload.parse import workload_from_json
from dashboard.errors import Refused, in_words
from dashboard.labs import selectors
from dashboard.limits import core_limits
from dashboard.models import Lab
from dashboard.serializers import json_response
from dashboard.views.api import api
from dashboard.views.lane_page import lane_of, lane_page

TEXT_MAX = 2_000


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab's subscription; ?lane= where a lab has several Pulsar lanes. 404 where it has none."""
    return await lane_page(request, lab_id, "pulsar", ("pulsar",), _fill)


def _fill(context: dict[str, Any], lab: Lab, view: dict[str, Any], lane: str) -> None:
    context["page"] |= {
        "pulsar": {
            "lane": lane,
            "key": reverse("api-lab-pulsar-key", args=[lab.pk]),
            "ranges": reverse("api-lab-pulsar-ranges", args=[lab.pk]),
            "verbs": {kind: sorted(command.ARGS) for kind, command in COMMANDS.items()},
        }
    }


@api("GET")
def key(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Where a key goes now, after the next join, and after each leave. name: of who joins next; else the one
    that the lab would give it."""
    view, lane = _view(request, lab_id)
    shown = view["lanes"][lane]
    try:
        name = request.GET.get("name") or next_name(view["consumers"])
        newcomer = consumer_name(name)
        if newcomer in shown["consumers"]:
            raise CommandError("consumer", "{consumer} is already in {lane}", consumer=newcomer, lane=lane)
        asked, panel = request.GET.get("key", ""), shown["pulsar"]
        return json_response(
            what_if(
                panel,
                shown["algorithm"],
                asked,
                newcomer,
                _ordering_key(lab_id, panel["ordering_keys"], asked),
            )
        )
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


def _ordering_key(lab_id: str, ordering_keys: int, key: str) -> str | None:
    """The one that the lane's producer sets beside this key, None for none."""
    if not ordering_keys:
        return None
    scenario = selectors.lab_get(lab_id=lab_id).scenario
    return ordering_key_of(
        workload_from_json(scenario["workload"], core_limits(), scenario["seed"]), ordering_keys, key
    )


@api("GET")
def ranges(request: HttpRequest, lab_id: str) -> HttpResponse:
    """What these sticky ranges would do for a consumer."""
    view, lane = _view(request, lab_id)
    try:
        asked = ranges_from_text(request.GET.get("ranges", "")[:TEXT_MAX])
        return json_response(
            {
                "ranges": asked,
                **check_ranges(view["lanes"][lane]["pulsar"], request.GET.get("consumer", "")[:64], asked),
            }
        )
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


def _view(request: HttpRequest, lab_id: str) -> tuple[dict[str, Any], str]:
    """The lab's last view and the id of the lane that is asked about."""
    lab = selectors.lab_get(lab_id=lab_id)
    snapshot = selectors.lab_snapshot(lab_id=lab.pk)
    if snapshot is None:
        raise Refused(503, {"lab": _("is being prepared: try again")})
    lane = lane_of(snapshot["view"], "pulsar", request.GET.get("lane"))
    if lane is None:
        raise Refused(404, {"lane": _("this lab has no such Pulsar lane")})
    return snapshot["view"], lane
