"""The page of a lab's TubeMQ group: GET /lab/<id>/tubemq/?lane="""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.lab.commands import COMMANDS
from broker_core.tubemq.balancing import EVENT_CYCLES_MAX
from broker_core.tubemq.client.heartbeats import HEARTBEAT_US
from broker_core.tubemq.master import BALANCE_PERIOD_US
from dashboard.assignors.runner import is_available
from dashboard.models import Lab
from dashboard.views.lane_page import lane_page

MODEL = "tubemq"
TABS = ("orders", "first", "own", "query")
"""Beside the pictures, one at a time. A lesson gives its orders alone: there the first is not the one to look at."""


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab's group; ?lane= where a lab has several TubeMQ lanes. 404 where it has none."""
    return await lane_page(request, lab_id, MODEL, (MODEL,), _fill)


def _fill(context: dict[str, Any], lab: Lab, view: dict[str, Any], lane: str) -> None:
    context |= {"tabs": TABS, "tab": "first" if context["lesson"] else "orders"}
    context["page"] |= {
        MODEL: {
            "lane": lane,
            "verbs": {kind: sorted(command.ARGS) for kind, command in COMMANDS.items()},
            "cycle_us": BALANCE_PERIOD_US,
            "heartbeat_us": HEARTBEAT_US,
            "event_cycles": EVENT_CYCLES_MAX,
            "own_off": not is_available(),
        }
    }
