"""A broker's log at a moment of its lab's past.

    request with ?until_us= ─► the worker that looks back (dashboard/labs/past/): replica.json of then ─► the writer's
    loop: files ─► the request's answer, as of the present

A moment has a folder of its own, which goes as every folder does at which nobody looks.
"""

from collections.abc import Mapping, Sequence

import msgspec
from asgiref.sync import async_to_sync

from broker_core.events import Json
from broker_core.lab.kafka.views.replica import replica_view
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.view import lane_view
from dashboard.errors import Refused
from dashboard.labs.past.asking import ask
from dashboard.labs.past.look import LOG, look_of
from dashboard.logs.places import REPLICA, wish, write_json
from dashboard.logs.replicas import Seen, asked_for, lane_asked_for
from dashboard.logs.source import Query
from dashboard.models import Lab

UNTIL_US, UNTIL_POSITION, LOOK = "until_us", "until_position", "look"
_NAMES = {"at_us": UNTIL_US, "position": UNTIL_POSITION}


def seen_then(lab: Lab, query: Query) -> Seen:
    """The lane at the moment of ?until_us= (and ?until_position=), of which the worker has left the log. Raises Refused
    at the field, 409 and 503 as every look at the past."""
    moment = {"at_us": query[UNTIL_US], **({LOOK: query[LOOK]} if LOOK in query else {})}
    if UNTIL_POSITION in query:
        moment["position"] = query[UNTIL_POSITION]
    try:
        look = msgspec.structs.replace(look_of(lab, LOG, moment), place=dict(query))
    except Refused as refused:
        raise _refused(refused.status, refused.fields) from refused
    status, text = async_to_sync(ask)(look)
    answer = msgspec.json.decode(text)
    if status != 200:
        raise _refused(status, answer["fields"])
    return Seen(
        answer["view"], answer["at_us"], answer["record_count"], (answer["at_us"], answer["position"])
    )


def _refused(status: int, fields: Mapping[str, Sequence[str]]) -> Refused:
    return Refused(status, {_NAMES.get(name, name): reasons[0] for name, reasons in fields.items()})


def tell_log(core: CoreLab, lab: Lab, query: Query) -> Json:
    """The worker's side: leave what the broker that is asked about had on its disk at the moment that the core is at,
    and say what of the lane one has to know: {at_us, position, record_count, view}. Raises Refused at the field."""
    lane = lane_asked_for(lab, query)
    there = core.lanes[lane["id"]]
    shown = lane_view(core, there, ("cluster",))
    view = {
        "cluster": {name: shown["cluster"][name] for name in ("brokers", "partitions")},
        "picture": {"partitions": shown["picture"]["partitions"]},
    }
    seen = Seen(view, core.now_us, core.record_count, (core.now_us, core.position))
    asked = asked_for(lab, lane, query, seen)
    folder = wish(asked.folder, asked.description)
    if not (folder / REPLICA).exists():
        place = (asked.topic, asked.partition)
        write_json(folder / REPLICA, replica_view(there.world, asked.broker, place, there.messages))
    return {"at_us": core.now_us, "position": core.position, "record_count": core.record_count, "view": view}
