"""What is told of a Pulsar lane whatever the type of its subscription: refusals, and what its producer sent twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import TurningPoint
from broker_core.lab.observers.codes import code_of

if TYPE_CHECKING:
    from broker_core.lab.lanes.lane import Lane


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
            lane.say(code_of("pulsar.sent_again", drops=bool(lane.options.get("deduplication"))), count=event.data["messages"])
