"""What is reported of a RabbitMQ lane: its turning points as a person reads them, and the sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json, TurningPoint
from broker_core.lab.rabbitmq.reading import BROKER, RabbitMqReading
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.codes import code_of
from broker_core.rabbitmq.broker import TIMED_OUT
from broker_core.sim.slot import RUNNING

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

WITH_FORMER = {"rabbitmq.join": "rabbitmq.join_former", "rabbitmq.paused": "rabbitmq.paused_former"}
"""Sentences about a consumer, and the same while its former connection holds messages."""


class RabbitMqNarrator:
    def __init__(self, reads: RabbitMqReading) -> None:
        self.reads = reads

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        if event.kind == "rabbitmq.connection.missed_heartbeats":
            lane.notice_crash(self.reads.incarnation_of(event.data["connection"]), event.data["consumer"])
        if event.kind == "rabbitmq.operator.answered" and "message" in event.data:
            return event.with_facts(data={"by_hand": lane.messages.by_hand(event.data["message"])})
        if not event.data.get("skipped"):
            return event
        # The broker cannot know what the person at the page does: which of those that it passes over are
        # dead.
        dead = self.reads.dead()
        return event.with_facts(
            data={
                "skipped": [
                    over | {"dead": True} if over["connection"] in dead else over
                    for over in event.data["skipped"]
                ],
            }
        )

    def told(self, lane: Lane, event: TurningPoint) -> None:
        if event.kind == "rabbitmq.channel.closed":
            self.say_closed(lane, event)

    def say_closed(self, lane: Lane, event: TurningPoint) -> None:
        connection, name, unacked = event.data["connection"], event.data["consumer"], event.inputs["unacked"]
        if event.inputs["reason"] == "rabbitmq.connection.missed_heartbeats":
            is_ghost = lane.is_ghost(self.reads.incarnation_of(connection), name)
            lane.say(
                code_of("rabbitmq.given_up", ghost=is_ghost, last=not self.reads.served()),
                consumer=name,
                unacked=unacked,
            )
        elif event.inputs["reason"] == TIMED_OUT:
            is_ghost = lane.is_ghost(self.reads.incarnation_of(connection), name)
            timeout_us = self.reads.broker().consumer_timeout_us
            lane.say(
                code_of("rabbitmq.timed_out", ghost=is_ghost),
                consumer=name,
                unacked=unacked,
                timeout_us=timeout_us,
            )
        else:
            self.say_left(lane, name, unacked)

    def say_left(self, lane: Lane, name: str, unacked: int) -> None:
        """Somebody has left, or the broker is about to learn it, and gives back what was unacked."""
        lane.say(code_of("rabbitmq.left", last=not self.reads.living()), consumer=name, redelivered=unacked)

    def sentence_now(self, lane: Lane) -> Json:
        """First that the server is down. Of one who has come back also what is still with its former connection."""
        if lane.world.slots[BROKER].condition != RUNNING:
            return {"code": "rabbitmq.server_down", "params": {}}
        code, params = lane.sentence["code"], lane.sentence["params"]
        former = self.reads.former().get(params["consumer"]) if code in WITH_FORMER else None
        if former is None:
            return lane.sentence
        return {
            "code": WITH_FORMER[code],
            "params": params | {"former": former["unacked"], "deadline_us": former["until_us"]},
        }

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        if bill.kind in ("join", "rejoin"):
            code = code_of(
                "rabbitmq.joined", first=len(self.reads.living()) == bill.count, many=bill.count > 1
            )
            lane.say(code, consumer=bill.consumer, count=bill.count)
