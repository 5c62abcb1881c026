"""Sessions recorded from RabbitMQ 3.10.8, played on the broker as a node: deliveries, tags, refusals with
their texts, and ready counts.

`test_recorded_dispatch.py` plays the queue alone; here the broker's own channels, delivery tags and
exceptions answer. What our broker leaves out is said with what it has:

- a consumer with no_ack acknowledges each message as it arrives, and has no limit;
- basic.get is a consumer with a limit of one that is cancelled at once, so it takes the head and its message
  stays with the channel;
- reject and nack without requeue, where there is no dead letter exchange, end a message as an ack does;
- recover gives back all that the channel holds.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from broker_core.lab import checkpoint
from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.sim.node import Closed, Opened
from tests.core.playbook import Played, play

VECTORS = Path(__file__).parents[2] / "vectors" / "rabbitmq" / "dispatch.json.gz"
SCENARIOS: dict[str, dict[str, Any]] = {
    each["id"]: each for each in json.loads(gzip.decompress(VECTORS.read_bytes()))["scenarios"]
}
GET = "get "

PLAYED_STEPS = {
    "round-robin-2-consumers": 12,
    "round-robin-3-consumers": 16,
    "round-robin-5-consumers": 24,
    "round-robin-autoack": 16,
    "round-robin-cancel-join": 25,
    "round-robin-backlog": 10,
    "round-robin-same-channel": 13,
    "round-robin-different-connections": 21,
    "round-robin-bulk": 10,
    "fair-prefetch1-slow-fast": 22,
    "fair-prefetch1-even-odd": 30,
    "fair-all-busy": 23,
    "rotation-after-block": 35,
    "prefetch-with-autoack": 14,
    "prefetch-per-consumer": 14,
    "prefetch-change-later": 10,
    "prefetch-get": 10,
    "prefetch-1-window": 9,
    "prefetch-3-window": 9,
    "prefetch-10-window": 9,
    "get-interleaved": 14,
    "requeue-position-nack": 16,
    "requeue-position-multiple": 13,
    "requeue-to-consumers": 15,
    "requeue-single-consumer-loop": 12,
    "reject-no-requeue": 12,
    "drop-connection-requeue": 16,
    "drop-connection-to-other-consumer": 16,
    "close-channel-requeue": 14,
    "cancel-keeps-unacked": 10,
    "channel-error-requeue": 10,
    "multiple-ack": 12,
    "ack-errors": 22,
    "ack-multiple-after": 11,
    "recover": 9,
    "recover-get": 10,
    "confirms-before-consume": 6,
    "no-local-ignored": 5,
    "redelivered-flag": 12,
    "purge-unacked": 5,
    "queue-delete-unacked-ack": 5,
    "consumer-limits-two-queues": 11,
    "random-dispatch-0": 54,
    "random-dispatch-1": 54,
    "random-dispatch-2": 55,
    "random-dispatch-3": 48,
    "random-dispatch-5": 53,
    "random-dispatch-6": 53,
    "random-dispatch-7": 49,
    "random-dispatch-8": 56,
    "random-features-9": 38,
}
"""Session -> steps of it that are played; those that are not named here have none with an answer."""

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


def beyond_the_model(step: dict[str, Any]) -> str:
    """Why our broker cannot play this step, empty when it can."""
    if step["op"] not in STEPS:
        return f"needs {step['op']}"
    if step["op"] in ("queue.declare", "basic.consume") and step.get("arguments"):
        return "arguments"
    if step.get("props") or step.get("body_repeat"):
        return "message contents"
    if step.get("global") or step.get("exclusive") or step.get("mandatory") or step.get("exchange"):
        return "channel limits, exclusive consumers, returns, exchanges"
    if step["op"] == "basic.consume" and step["queue"].startswith("amq."):
        return "a pseudo queue"
    return ""


def playable(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps before the first that is beyond the model."""
    steps: list[dict[str, Any]] = []
    for step in scenario["steps"]:
        if beyond_the_model(step):
            break
        steps.append(step)
    return steps


class Session:
    """The clients' side. connections: name -> number. prefetch: channel -> what its last qos said. no_ack:
    (channel, tag)."""

    def __init__(self) -> None:
        self.broker, self.out = Broker(BrokerState()), Played("broker")
        self.connections: dict[str, int] = {}
        self.prefetch: dict[str, int] = {}
        self.no_ack: set[tuple[str, str]] = set()
        self.bodies: list[str] = []

    def send(self, channel: str, *methods: Any) -> list[Any]:
        return play(self.broker, self.out, self.connections[channel.partition(".")[0]], *methods)

    def step(self, step: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
        """Do one step. Gives what each channel received: (tag, delivery tag, redelivered, body) or (code,
        text)."""
        seen: dict[str, list[tuple[Any, ...]]] = {}
        pending = self.act(step)
        while pending:
            connection, method = pending.pop(0)
            name = next(name for name, number in self.connections.items() if number == connection)
            channel = f"{name}.{getattr(method, 'channel', 0)}"
            match method:
                case m.BasicDeliver(number, tag, delivery_tag, redelivered, _, _, message):
                    shown = "get" if tag.startswith(GET) else tag
                    seen.setdefault(channel, []).append(
                        (shown, delivery_tag, redelivered, self.bodies[message])
                    )
                    if (channel, tag) in self.no_ack:
                        pending += self.send(channel, m.BasicAck(number, delivery_tag))
                case m.ChannelClose(number, code, text):
                    seen.setdefault(channel, []).append((code, text))
                    pending += self.send(channel, m.ChannelCloseOk(number))
                case m.ConnectionClose(code, text):
                    seen.setdefault(channel, []).append((code, text))
        return seen

    def act(self, step: dict[str, Any]) -> list[Any]:
        operation = step["op"]
        if operation == "connection.open":
            self.connections[step["conn"]] = len(self.connections) + 1
            return self.send(step["conn"], Opened(step["conn"]))
        if operation == "connection.drop":
            return self.send(step["conn"], Closed("reset"))
        channel = step["ch"]
        number = int(channel.partition(".")[2])
        match operation:
            case "channel.open":
                self.prefetch[channel] = 0
                return self.send(channel, m.ChannelOpen(number))
            case "channel.close":
                return self.send(channel, m.ChannelClose(number, 200, ""))
            case "queue.declare":
                return self.send(channel, m.QueueDeclare(number, step["queue"]))
            case "basic.qos":
                self.prefetch[channel] = step["prefetch_count"]
                return self.send(channel, m.BasicQos(number, 0, step["prefetch_count"]))
            case "basic.consume":
                return self.consume(channel, step["queue"], step["consumer_tag"], bool(step.get("no_ack")))
            case "basic.get":
                if not self.broker.queues[step["queue"]].ready:
                    return []
                tag = f"{GET}{len(self.out.told)}"
                sent = self.consume(channel, step["queue"], tag, bool(step.get("no_ack")), limit=1)
                return sent + self.send(channel, m.BasicCancel(number, tag))
            case "basic.cancel":
                return self.send(channel, m.BasicCancel(number, step["consumer_tag"]))
            case "basic.publish":
                return self.publish(channel, number, step)
            case "basic.ack":
                return self.send(
                    channel, m.BasicAck(number, step["delivery_tag"], bool(step.get("multiple")))
                )
            case "basic.nack" | "basic.reject":
                kind = m.BasicNack if step.get("requeue") else m.BasicAck
                return self.send(channel, kind(number, step["delivery_tag"], bool(step.get("multiple"))))
            case "basic.recover":
                return self.send(channel, m.BasicNack(number, 0, True, True))
        return []

    def consume(
        self, channel: str, queue: str, tag: str, no_ack: bool, limit: int | None = None
    ) -> list[Any]:
        """limit: None for the channel's own."""
        number = int(channel.partition(".")[2])
        if no_ack:
            self.no_ack.add((channel, tag))
            limit = 0 if limit is None else limit
        own = self.prefetch[channel]
        return self.send(
            channel,
            m.BasicQos(number, 0, own if limit is None else limit),
            m.BasicConsume(number, queue, tag),
            m.BasicQos(number, 0, own),
        )

    def publish(self, channel: str, number: int, step: dict[str, Any]) -> list[Any]:
        sent: list[Any] = []
        for index in range(step.get("count", 1)):
            self.bodies.append(
                f"{step['body']}{index + step.get('first', 0)}" if "count" in step else step["body"]
            )
            sent += self.send(
                channel, m.BasicPublish(number, "", step["routing_key"], message=len(self.bodies) - 1)
            )
        return sent


def recorded(step: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """What the server sent after this step, in the form of `Session.step`."""
    seen: dict[str, list[tuple[Any, ...]]] = {}
    for channel, frames in step.get("recv", {}).items():
        for frame in frames:
            if frame["m"] in ("basic.deliver", "basic.get-ok"):
                got: tuple[Any, ...] = (
                    frame.get("consumer_tag", "get"),
                    frame["delivery_tag"],
                    frame["redelivered"],
                    frame["body"],
                )
            elif frame["m"] in ("channel.close", "connection.close"):
                got = (frame["reply_code"], frame["reply_text"])
            else:
                continue
            seen.setdefault(channel, []).append(got)
    return seen


@pytest.mark.parametrize("name", PLAYED_STEPS)
def test_broker_answers_as_recorded(name: str) -> None:
    session = Session()
    for number, step in enumerate(playable(SCENARIOS[name])):
        asked = {field: value for field, value in step.items() if field != "recv"}
        assert session.step(step) == recorded(step), (number, asked)
        for frame in (frame for frames in step.get("recv", {}).values() for frame in frames):
            queue = session.broker.queues.get(step.get("queue", ""))
            if queue is not None and frame["m"] in ("queue.declare-ok", "basic.get-ok"):
                assert queue.ready == frame["message_count"], (number, asked)
            if queue is not None and frame["m"] == "queue.declare-ok":
                assert len(queue.ring) == frame["consumer_count"], (number, asked)


def test_played_are_exactly_the_steps_that_need_nothing_left_out() -> None:
    played = {name: playable(scenario) for name, scenario in SCENARIOS.items()}
    assert {
        name: len(steps) for name, steps in played.items() if any(recorded(step) for step in steps)
    } == PLAYED_STEPS


@pytest.mark.parametrize(
    "name",
    [name for name in PLAYED_STEPS if name.startswith(("random", "rotation", "drop", "ack", "channel"))],
)
def test_broker_that_is_kept_and_restored_before_each_step_answers_as_recorded(name: str) -> None:
    session = Session()
    for number, step in enumerate(playable(SCENARIOS[name])):
        session.broker = Broker(
            from_plain(checkpoint.decode(checkpoint.encode(to_plain(session.broker.state))), BrokerState)
        )
        assert session.step(step) == recorded(step), number
