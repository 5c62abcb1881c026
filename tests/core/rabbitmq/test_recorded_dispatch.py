"""Sessions recorded from RabbitMQ 3.10.8, played on the queue model: every delivery, tag and ready count must
be the same.

The sessions speak AMQP: channels, delivery tags, bodies. The queue speaks of consumers and positions. What is
between:

- a consumer of the queue is a consumer tag on a channel; a channel's tags count its deliveries from 1;
- a consumer with no_ack is one whose messages are acked as they arrive;
- basic.get is a consumer that takes one message and leaves: messages wait only while all others are out of
  the ring, so it takes the head and disturbs nobody.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from broker_core.lab import checkpoint
from broker_core.rabbitmq.queue import Delivery, WorkQueue

VECTORS = Path(__file__).parents[2] / "vectors" / "rabbitmq" / "dispatch.json.gz"
SCENARIOS = json.loads(gzip.decompress(VECTORS.read_bytes()))["scenarios"]

# What the model plays, by id, so that a scenario cannot drop out unseen. The others need what comes with the
# whole broker: `beyond_the_model` names it for each.
PLAYED = [
    "round-robin-2-consumers",
    "round-robin-3-consumers",
    "round-robin-5-consumers",
    "round-robin-autoack",
    "round-robin-cancel-join",
    "round-robin-backlog",
    "round-robin-same-channel",
    "round-robin-different-connections",
    "round-robin-bulk",
    "fair-prefetch1-slow-fast",
    "fair-all-busy",
    "rotation-after-block",
    "prefetch-with-autoack",
    "prefetch-per-consumer",
    "prefetch-change-later",
    "prefetch-get",
    "prefetch-1-window",
    "prefetch-3-window",
    "prefetch-10-window",
    "get-interleaved",
    "get-empty",
    "requeue-position-nack",
    "requeue-position-multiple",
    "requeue-to-consumers",
    "requeue-single-consumer-loop",
    "reject-no-requeue",
    "drop-connection-requeue",
    "drop-connection-to-other-consumer",
    "close-channel-requeue",
    "cancel-keeps-unacked",
    "multiple-ack",
    "recover-get",
    "confirms-one-by-one",
    "confirms-before-consume",
    "no-local-ignored",
    "redelivered-flag",
    "random-dispatch-1",
    "random-dispatch-2",
    "random-dispatch-3",
    "random-dispatch-5",
    "random-dispatch-6",
    "random-dispatch-7",
    "random-dispatch-8",
]

STEPS = {
    "connection.open",
    "connection.drop",
    "channel.open",
    "channel.close",
    "queue.declare",
    "basic.qos",
    "basic.consume",
    "basic.cancel",
    "basic.publish",
    "basic.ack",
    "basic.nack",
    "basic.reject",
    "basic.get",
    "basic.recover",
    "confirm.select",
}


def beyond_the_model(scenario: dict[str, Any]) -> str:
    """Why the one-queue model cannot play this session; empty when it can."""
    queues = set()
    for step in scenario["steps"]:
        operation = step["op"]
        if operation not in STEPS:
            return f"needs {operation}"
        if operation == "queue.declare":
            queues.add(step["queue"])
            if step.get("arguments"):
                return f"queue arguments {', '.join(step['arguments'])}"
        if step.get("global"):
            return "a limit for the whole channel"
        if operation == "basic.consume" and (step.get("arguments") or step["queue"].startswith("amq.")):
            return "consumer arguments or a pseudo queue"
        if operation == "basic.publish" and step.get("mandatory"):
            return "returns of unroutable messages"
        if step.get("body_repeat") or step.get("props"):
            return "message contents"
        if operation == "basic.publish" and step["exchange"] != "":
            return "an exchange"
        answers = [frame["m"] for frames in step.get("recv", {}).values() for frame in frames]
        if "channel.close" in answers or "connection.close" in answers:
            return "a refusal that closes the channel"
    if len(queues) != 1:
        return "more than one queue" if queues else "no queue"
    return ""


@dataclass
class Channel:
    name: str
    prefetch: int = 0
    last_tag: int = 0
    held: dict[int, tuple[str, int]] = field(
        default_factory=dict
    )  # delivery tag -> queue's consumer, position
    consumers: list[str] = field(
        default_factory=list
    )  # the queue's names: subscribed, cancelled, and one per basic.get


class Session:
    """The clients' side of one queue."""

    def __init__(self) -> None:
        self.queue = WorkQueue()
        self.channels: dict[str, Channel] = {}
        self.owner: dict[
            str, tuple[Channel, str, bool]
        ] = {}  # queue's consumer -> channel, consumer tag, no_ack
        self.bodies: list[str] = []

    def play(self, step: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
        """Do one step. Returns per channel the deliveries: (consumer tag or "get", delivery tag, redelivered,
        body)."""
        seen: dict[str, list[tuple[Any, ...]]] = {}
        pending = list(self._act(step, seen))
        while pending:
            consumer, position, redelivered = pending.pop(0)
            channel, consumer_tag, no_ack = self.owner[consumer]
            channel.last_tag += 1
            seen.setdefault(channel.name, []).append(
                (consumer_tag, channel.last_tag, redelivered, self.bodies[position])
            )
            if no_ack:
                pending += self.queue.ack(consumer, position)
            else:
                channel.held[channel.last_tag] = (consumer, position)
        return seen

    def _act(self, step: dict[str, Any], seen: dict[str, list[tuple[Any, ...]]]) -> Iterator[Delivery]:
        operation, queue = step["op"], self.queue
        if operation == "channel.open":
            self.channels[step["ch"]] = Channel(step["ch"])
            return
        if operation == "connection.drop":
            dropped = [name for name in self.channels if name.startswith(step["conn"] + ".")]
            yield from queue.cancel_and_close(
                *(c for name in dropped for c in self.channels.pop(name).consumers)
            )
            return
        if "ch" not in step:
            return
        channel = self.channels[step["ch"]]
        match operation:
            case "channel.close":
                yield from queue.cancel_and_close(*self.channels.pop(channel.name).consumers)
            case "basic.qos":
                channel.prefetch = step["prefetch_count"]
            case "basic.consume":
                no_ack = bool(step.get("no_ack"))
                yield from self._subscribe(
                    channel, step["consumer_tag"], 0 if no_ack else channel.prefetch, no_ack
                )
            case "basic.cancel":
                queue.cancel(f"{channel.name}/{step['consumer_tag']}")
            case "basic.get" if queue.ready:
                name = f"get {channel.last_tag + 1}"
                deliveries = self._subscribe(channel, name, 1, bool(step.get("no_ack")))
                queue.cancel(f"{channel.name}/{name}")
                yield from deliveries
            case "basic.publish":
                # A burst is one step: what it set moving is seen at its end, per channel in order.
                count = step.get("count", 1)
                for index in range(count):
                    self.bodies.append(
                        f"{step['body']}{index + step.get('first', 0)}" if "count" in step else step["body"]
                    )
                    yield from queue.publish(len(self.bodies) - 1)
            case "basic.ack":
                for tag in self._tags(channel, step):
                    yield from queue.ack(*channel.held.pop(tag))
            case "basic.nack" | "basic.reject" if not step.get("requeue"):
                # Without a dead letter exchange the message is gone, which for the queue is an ack.
                for tag in self._tags(channel, step):
                    yield from queue.ack(*channel.held.pop(tag))
            case "basic.nack" | "basic.reject" | "basic.recover":
                returned: dict[str, list[int]] = {}
                tags = list(channel.held) if operation == "basic.recover" else self._tags(channel, step)
                for tag in tags:
                    consumer, position = channel.held.pop(tag)
                    returned.setdefault(consumer, []).append(position)
                for consumer, positions in returned.items():
                    yield from queue.nack(consumer, *positions)

    def _subscribe(self, channel: Channel, tag: str, prefetch: int, no_ack: bool) -> list[Delivery]:
        name = f"{channel.name}/{tag}"
        self.owner[name] = (channel, "get" if tag.startswith("get ") else tag, no_ack)
        channel.consumers.append(name)
        return self.queue.consume(name, prefetch)

    @staticmethod
    def _tags(channel: Channel, step: dict[str, Any]) -> list[int]:
        tag = step["delivery_tag"]
        if not step.get("multiple"):
            return [tag]
        return [held for held in channel.held if not tag or held <= tag]


def recorded_deliveries(step: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """What the server sent after this step, in the form of `Session.play`."""
    seen: dict[str, list[tuple[Any, ...]]] = {}
    for channel, frames in step.get("recv", {}).items():
        for frame in frames:
            if frame["m"] in ("basic.deliver", "basic.get-ok"):
                tag = frame.get("consumer_tag", "get")
                seen.setdefault(channel, []).append(
                    (tag, frame["delivery_tag"], frame["redelivered"], frame["body"])
                )
    return seen


def recorded_ready(step: dict[str, Any]) -> int | None:
    """The number of ready messages that the server told after this step, when it told one."""
    for frames in step.get("recv", {}).values():
        for frame in frames:
            if frame["m"] in ("queue.declare-ok", "basic.get-ok"):
                return int(frame["message_count"])
            if frame["m"] == "basic.get-empty":
                return 0
    return None


def test_what_is_played_and_what_is_not() -> None:
    """The list above is complete: each scenario is either played or needs something that one queue does not
    have."""
    assert [scenario["id"] for scenario in SCENARIOS if not beyond_the_model(scenario)] == PLAYED
    assert len(SCENARIOS) == 120


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if s["id"] in PLAYED], ids=lambda s: s["id"])
def test_recorded_session(scenario: dict[str, Any]) -> None:
    session = Session()
    for number, step in enumerate(scenario["steps"]):
        asked = {name: value for name, value in step.items() if name != "recv"}
        assert session.play(step) == recorded_deliveries(step), (number, asked)
        ready = recorded_ready(step)
        assert ready is None or session.queue.ready == ready, (number, asked)
        assert (
            WorkQueue.from_json(checkpoint.decode(checkpoint.encode(session.queue.to_json()))).to_json()
            == session.queue.to_json()
        )
