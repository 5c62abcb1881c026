"""What is reported of a Pulsar lane whatever the type of its subscription: refusals, and what its producer
sent twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json, TurningPoint
from broker_core.lab.consumer import CRASHED, GONE
from broker_core.lab.shared.codes import code_of

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


def say_alike(lane: Lane, event: TurningPoint) -> None:
    """The lane's sentence, where this turning point changes it."""
    match event.kind:
        case "pulsar.ack.refused":
            lane.say("pulsar.ack_refused", consumer=event.data["consumer"], error=event.data["error"])
        case "pulsar.unsubscribe.refused":
            lane.say("pulsar.unsubscribe_refused", consumer=event.data["consumer"], error=event.data["error"])
        case "pulsar.subscription.deleted":
            lane.say("pulsar.unsubscribed", waiting=event.data["waiting"])
        case "pulsar.producer.sent_again":
            lane.say(
                code_of("pulsar.sent_again", drops=bool(lane.options.get("deduplication"))),
                count=event.data["messages"],
            )


def others_of(lane: Lane, name: str) -> Json:
    """Who gets what this consumer had: the name of the one other that is alive, or several."""
    others = [
        consumer.name
        for consumer in lane.consumers.values()
        if consumer.name != name and consumer.state not in (CRASHED, GONE)
    ]
    return {"several": int(len(others) != 1), "other": others[0] if len(others) == 1 else ""}
