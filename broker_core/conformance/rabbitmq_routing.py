"""RabbitMQ's recorded routing against our broker node: topic patterns, and direct, fanout and headers bindings. Who got
a message is seen by basic.get on every queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from broker_core.conformance.rabbitmq_session import Session
from broker_core.conformance.result import CaseResult, case, compare

Json = dict[str, Any]
CHANNEL = "A.1"
EXCHANGE = "x"


class Routing:
    """One exchange and its queues."""

    def __init__(self, type_: str, queues: Iterable[str]) -> None:
        self.session = Session({"vhosts": ["vt"]}, 0)
        self.queues = list(dict.fromkeys(queues))
        self.session.step({"op": "connection.open", "conn": "A"})
        self.send("channel.open")
        self.send("exchange.declare", exchange=EXCHANGE, type=type_)
        for queue in self.queues:
            self.send("queue.declare", queue=queue)

    def send(self, operation: str, **fields: Any) -> list[Json]:
        """What the channel received."""
        found: list[Json] = self.session.step({"op": operation, "ch": CHANNEL, **fields}).get(CHANNEL, [])
        return found

    def bind(self, queue: str, key: str, arguments: Json, operation: str = "queue.bind") -> str | Json:
        """The answer: the method's name, or the refusal, after which a new channel is open."""
        fields = {"queue": queue, "exchange": EXCHANGE, "routing_key": key, "arguments": arguments}
        (answer,) = self.send(operation, **fields)
        if answer["m"] != "channel.close":
            return str(answer["m"])
        self.send("channel.open")
        return {"reply_code": answer["reply_code"], "reply_text": answer["reply_text"]}

    def publish(self, key: str, headers: Json | None = None) -> list[str]:
        """The queues that got it, one entry a copy."""
        props = {} if headers is None else {"headers": headers}
        self.send("basic.publish", exchange=EXCHANGE, routing_key=key, body="m", props=props)
        return [queue for queue in self.queues for _ in self.drained(queue)]

    def drained(self, queue: str) -> Iterator[Json]:
        while (got := self.send("basic.get", queue=queue, no_ack=True)[0])["m"] == "basic.get-ok":
            yield got


def run_topic_routing(document: Json) -> Iterator[CaseResult]:
    """One case per matrix, set of bindings and sequence, of which two parts may use one name."""
    for part, play in (("matrix", _matrix), ("multi", _multi), ("mutations", _mutations)):
        for row in document.get(part, []):
            name = f"{part}: {row['name']}"
            yield case(name, partial(play, {**row, "name": name}))


def run_direct_fanout_headers(document: Json) -> Iterator[CaseResult]:
    """One case per list of bindings and messages."""
    for row in document.get("cases", []):
        yield case(row["name"], partial(_bindings, row))


def _matrix(row: Json) -> CaseResult:
    names = [f"q{place}" for place in range(len(row["patterns"]))]
    routing = Routing("topic", names)
    for name, pattern in zip(names, row["patterns"], strict=True):
        routing.bind(name, pattern, {})
    match: list[list[int]] = [[] for _ in names]
    for place, key in enumerate(row["keys"]):
        for queue in routing.publish(key):
            match[int(queue[1:])].append(place)
    return compare(row["name"], row["match"], match)


def _multi(row: Json) -> CaseResult:
    routing = Routing("topic", (queue for queue, _ in row["bindings"]))
    for queue, key in row["bindings"]:
        routing.bind(queue, key, {})
    got = [[key, sorted(routing.publish(key))] for key, _ in row["messages"]]
    return compare(row["name"], [[key, sorted(queues)] for key, queues in row["messages"]], got)


def _mutations(row: Json) -> CaseResult:
    routing = Routing("topic", (f"m{place}" for place in range(4)))
    expected: list[Any] = []
    got: list[Any] = []
    for step in row["steps"]:
        if step["op"] == "publish":
            expected.append(sorted(step["queues"]))
            got.append(sorted(routing.publish(step["key"])))
        else:
            expected.append(step["reply"])
            got.append(routing.bind(step["queue"], step["key"], {}, f"queue.{step['op']}"))
    return compare(row["name"], expected, got)


def _bindings(row: Json) -> CaseResult:
    routing = Routing(row["type"], (binding["queue"] for binding in row["bindings"]))
    expected: list[Any] = []
    got: list[Any] = []
    for binding in row["bindings"]:
        answer = routing.bind(binding["queue"], binding["key"], binding.get("arguments", {}))
        expected.append(binding.get("bind_reply", "queue.bind-ok"))
        got.append(answer)
    for message in row["messages"]:
        expected.append(sorted(message["queues"]))
        got.append(sorted(routing.publish(message["key"], message.get("headers"))))
    return compare(row["name"], expected, got)
