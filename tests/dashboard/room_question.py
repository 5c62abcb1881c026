"""What the engine says about a change that a room is asked about."""

import copy
from functools import cache
from typing import Any

from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.trial import tried
from dashboard.models import Room
from dashboard.rooms import questions
from dashboard.rooms.selectors import Role

LANES = [
    {"model": "kafka", "partitions": 4},
    {"model": "pulsar"},
    {"model": "rabbitmq"},
]


@cache
def _told(kind: str, consumer: str | None) -> dict[str, Any]:
    lab = Lab(
        scenario_from_json(
            {"lanes": LANES, "workload": {"kind": "uniform", "keys": 20, "rate": 20}, "seed": 3}
        )
    )
    lab.advance_to(5_000_000)
    args = {"count": 1} if kind == "join" else {}
    order = {"kind": kind, "lane": "all", "consumer": consumer, "args": args}
    return {"position": lab.position, **whole(tried(lab, order, None))}


def told(kind: str = "join", consumer: str | None = None) -> dict[str, Any]:
    """A trial's answer, of a lab of three lanes."""
    return copy.deepcopy(_told(kind, consumer))


def asked(room: Room, lane: str = "kafka", kind: str = "join", consumer: str | None = None) -> Room:
    """The room, with a question that was asked just now."""
    request = {"kind": kind, "consumer": consumer, "lane": lane}
    return questions.question_ask(room=room, role=Role.PRESENTER, request=request, told=told(kind, consumer))
