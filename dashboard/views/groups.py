"""The page of a lab's Kafka consumer group. Reads, presents and draws; nothing else."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.kafka.group.classic import states as classic_states
from broker_core.kafka.group.consumer import states as consumer_states
from dashboard.assignors.runner import is_available
from dashboard.models import Lab
from dashboard.views.lane_page import lane_page

DRAWN = ("group", "group_topics", "group_health", "cluster")
"""The panels of the page: the last for what can be done to the brokers and links of a member."""
CLASSIC_STATES = (
    classic_states.EMPTY,
    classic_states.PREPARING,
    classic_states.COMPLETING,
    classic_states.STABLE,
)
CONSUMER_STATES = (
    consumer_states.EMPTY,
    consumer_states.ASSIGNING,
    consumer_states.RECONCILING,
    consumer_states.STABLE,
)


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab's consumer group; ?lane= where a lab has several Kafka lanes on a cluster. 404 where it has
    none."""
    return await lane_page(request, lab_id, "groups", DRAWN, _fill)


def _fill(context: dict[str, Any], lab: Lab, view: dict[str, Any], lane: str) -> None:
    context["page"] |= {"groups": {"lane": lane, "machines": machines(), "own_off": not is_available()}}
    context["page"]["urls"] |= {"comparison": reverse("api-comparison", args=[lab.pk, lane])}


def machines() -> dict[str, Any]:
    """Protocol -> its states, and [from, event, to] of what leads from one to the next, as the core's tables
    have them."""
    tables = {
        "classic": (CLASSIC_STATES, classic_states.TRANSITIONS),
        "consumer": (CONSUMER_STATES, consumer_states.TRANSITIONS),
    }
    return {
        protocol: {
            "states": list(states),
            "transitions": [[state, event, after] for (state, event), after in table.items()],
        }
        for protocol, (states, table) in tables.items()
    }
