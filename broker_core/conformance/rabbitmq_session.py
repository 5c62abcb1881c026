"""The clients of one recorded RabbitMQ session, and the broker node between them: what each step sends, and what every
channel then receives, in the notation of the files.

Each client answers a close of the server at once, as the recorder did. A virtual clock stands in for sleeps. Where a
session sends bytes that are no method, they and all that follows on that connection go through the codec.
"""

from __future__ import annotations

import re
from typing import Any

from broker_core.clock import MILLISECOND_US
from broker_core.conformance.outbox import Answers
from broker_core.plain import to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.messages import NEVER
from broker_core.rabbitmq.permissions import Permission, TopicPermission, User
from broker_core.rabbitmq.properties import NO_PROPERTIES, Content, Properties
from broker_core.rabbitmq.restart import survivors
from broker_core.rabbitmq.vhost import Vhost
from broker_core.sim.disk import Disk
from broker_core.sim.node import Closed, Opened
from broker_core.wire.amqp.errors import RemoteProtocolError
from broker_core.wire.amqp.frames import EMPTY_FRAME_SIZE, HEAD
from broker_core.wire.amqp.receiver import Receiver
from broker_core.wire.amqp.sender import encode

Json = dict[str, Any]
Frames = dict[str, list[Json]]
CAPABILITIES = (
    "publisher_confirms", "exchange_exchange_bindings", "basic.nack", "consumer_cancel_notify",
    "connection.blocked", "authentication_failure_close",
)  # fmt: skip
NOT_RECORDED = (m.ConnectionStart, m.ConnectionTune)
KINDS: dict[str, type[Any]] = {kind.__struct_config__.tag: kind for kind in m.Method.__args__}
MADE = re.compile(r"amq\.(?:gen|ctag)-[A-Za-z0-9_-]{22}")
SPEC_NAMES = {"global_": "global", "type_": "type"}


class Outbox(Answers):
    """sent: (connection, method or None for its end)."""

    name = "broker"

    def __init__(self) -> None:
        super().__init__()
        self.disk = Disk()
        self.sent: list[tuple[int, Any]] = []
        self.drawn = 0

    def send(self, connection: int, message: Any) -> None:
        self.sent.append((connection, message))

    def close(self, connection: int) -> None:
        self.sent.append((connection, None))

    def draw(self, stream: str, limit: int) -> int:
        """Letters of made names: each name is another one."""
        self.drawn += 1
        return self.drawn * 7 // 22 % limit if self.drawn % 2 else self.drawn // 44 % limit


class Session:
    def __init__(self, setup: Json, first_body: int) -> None:
        vhosts = setup.get("vhosts", ["vt"])
        state = BrokerState(vhosts={name: Vhost(name) for name in vhosts})
        everything = {name: Permission(".*", ".*", ".*") for name in vhosts}
        state.users["guest"].permissions = dict(everything)
        for each in setup.get("users", []):
            state.users[each["name"]] = user_of(each)
        self.broker, self.out, self.now_us = Broker(state), Outbox(), 0
        self.numbers: dict[str, int] = {}
        self.receivers: dict[int, Receiver] = {}
        self.opened, self.first_body = 0, first_body
        self.made: list[str] = []
        self.was_told = False

    # -- a step ----------------------------------------------------------------------------------------------

    def step(self, step: Json) -> Frames | Json:
        """Do one step, and give what came of it."""
        step = self.named(step)
        operation = step["op"]
        if operation.startswith("api."):
            return {operation[4:]: self.shown(listed(self.broker.state, operation, step["vhost"]))}
        if operation == "sleep":
            self.sleep(step["ms"] * MILLISECOND_US)
        elif operation == "server.restart":  # clean; no client is there
            self.out.deadlines.clear()
            self.broker = Broker(survivors(self.broker.state, NEVER - 1))
        elif operation == "connection.open":
            self.connect(step)
        elif operation == "connection.drop":
            number = self.numbers.pop(step["conn"])
            if number in self.broker.connections:
                self.send(number, Closed("reset"))
        elif operation == "connection.close":
            name = step.get("conn") or step["ch"].partition(".")[0]
            self.send(self.numbers[name], m.ConnectionClose(200, "bye"))
        elif operation == "raw":
            self.send_bytes(self.numbers[step["ch"].partition(".")[0]], bytes.fromhex(step["hex"]))
        else:
            self.send_methods(self.numbers[step["ch"].partition(".")[0]], methods_of(step, self.first_body))
        frames: Frames = {}
        for connection, sent in self.take():
            channel, frame = self.frame(connection, sent, operation)
            if frame is not None:
                frames.setdefault(channel, []).append(frame)
        return frames

    def connect(self, step: Json) -> None:
        self.opened += 1
        self.was_told = False
        number = self.numbers[step["conn"]] = self.opened
        capabilities = step.get("capabilities", dict.fromkeys(CAPABILITIES, True))
        name, password = step.get("user", "guest"), step.get("password", "guest")
        self.send(number, Opened(step["conn"]))
        self.send(
            number, m.ConnectionStartOk({"capabilities": capabilities}, response=f"\0{name}\0{password}")
        )
        self.send(number, m.ConnectionTuneOk(step.get("channel_max", 2_047), heartbeat=0))
        self.send(number, m.ConnectionOpen(step.get("vhost", "vt")))

    def sleep(self, time_us: int) -> None:
        until_us = self.now_us + time_us
        deadlines = self.out.deadlines
        while deadlines and min(deadlines.values()) <= until_us:
            name = min(deadlines, key=lambda each: deadlines[each])
            self.now_us = max(self.now_us, deadlines.pop(name))
            if not name.startswith("heartbeat"):
                self.broker.wake(name, self.now_us, self.out)
        self.now_us = until_us

    def send(self, connection: int, method: Any) -> None:
        if connection in self.broker.connections or type(method) is Opened:
            self.broker.receive(connection, method, self.now_us, self.out)

    def send_methods(self, connection: int, methods: list[Any]) -> None:
        for method in methods:
            if type(method) is m.BasicDeliver:  # the recorder sent it without its message
                self.send_bytes(connection, first_frame(encode(method)))
            elif connection in self.receivers:
                self.send_bytes(connection, encode(method))
            else:
                self.send(connection, method)

    def send_bytes(self, connection: int, data: bytes) -> None:
        """Bytes of a client; where they break the protocol the server answers what the codec says."""
        receiver = self.receivers.setdefault(connection, Receiver())
        try:
            for _, method in receiver.receive(data):
                self.send(connection, method)
        except RemoteProtocolError as error:
            if error.reply_code:  # else the connection just ends
                ids = (error.class_id, error.method_id)
                self.out.send(connection, m.ConnectionClose(error.reply_code, error.reply_text, *ids))
            # The client's close-ok after bytes that are no whole frame begins in the middle of one for the server, which
            # goes on waiting for it.
            if not behind_first_frame(data):
                self.out.close(connection)
            self.broker.drop(connection, "rabbitmq.connection.exception", self.now_us, self.out)

    def take(self) -> list[tuple[int, Any]]:
        """What the server sent, with the clients' answers to its closes."""
        taken = []
        while self.out.sent:
            connection, sent = self.out.sent.pop(0)
            taken.append((connection, sent))
            if type(sent) is m.ChannelClose:
                self.send(connection, m.ChannelCloseOk(sent.channel))
        return taken

    # -- notation --------------------------------------------------------------------------------------------

    def frame(self, connection: int, sent: Any, operation: str) -> tuple[str, Json | None]:
        name = next((name for name, number in self.numbers.items() if number == connection), "?")
        channel = f"{name}.{getattr(sent, 'channel', 0)}"
        if sent is None:
            # The recorder did not look for the end of TCP after its own close, nor after a refused opening.
            is_clean = operation == "connection.close" or (
                not self.first_body and operation == "connection.open" and self.was_told
            )
            return channel, None if is_clean else {"m": "<tcp closed>"}
        if type(sent) in NOT_RECORDED or name == "?":
            return channel, None
        self.was_told = type(sent) is m.ConnectionClose
        frame: Json = {"m": type(sent).__struct_config__.tag}
        for field in type(sent).__struct_fields__:
            value = getattr(sent, field)
            if field == "message":
                frame["props"] = self.shown(to_plain(value.properties))
                frame["body"] = value.body.decode()
            elif field != "channel":
                frame[SPEC_NAMES.get(field, field)] = (
                    self.placeheld(value) if isinstance(value, str) else value
                )
        return channel, frame

    def placeheld(self, text: str) -> str:
        """Names that the server made, by their order of appearance."""
        for name in MADE.findall(text):
            if name not in self.made:
                self.made.append(name)
            text = text.replace(name, f"<gen:{self.made.index(name) + 1}>")
        return text

    def shown(self, value: Any) -> Any:
        """`placeheld` in all parts of a value."""
        if isinstance(value, list):
            return [self.shown(each) for each in value]
        if isinstance(value, dict):
            return {name: self.shown(each) for name, each in value.items()}
        return self.placeheld(value) if isinstance(value, str) else value

    def named(self, value: Any) -> Any:
        """A step with our names in the places of the server's."""
        if isinstance(value, str) and "<gen:" in value:
            for place, name in enumerate(self.made, 1):
                value = value.replace(f"<gen:{place}>", name)
            return value
        if isinstance(value, dict):
            return {name: self.named(each) for name, each in value.items() if name != "recv"}
        return [self.named(each) for each in value] if isinstance(value, list) else value

    def final(self) -> Json:
        """What is there after the last step."""
        return {name: final_of(vhost, self) for name, vhost in self.broker.state.vhosts.items()}


def first_frame(data: bytes) -> bytes:
    return data[: len(data) - behind_first_frame(data)]


def behind_first_frame(data: bytes) -> int:
    """How many bytes follow it."""
    _, _, size = HEAD.unpack_from(data)
    return len(data) - EMPTY_FRAME_SIZE - int(size)


def user_of(row: Json) -> User:
    user = User(row["name"], row["password"])
    for each in row["permissions"]:
        user.permissions[each["vhost"]] = Permission(each["configure"], each["write"], each["read"])
    for each in row.get("topic_permissions", []):
        rows = user.topic_permissions.setdefault(each["vhost"], {})
        rows[each["exchange"]] = TopicPermission(each["write"], each["read"])
    return user


def methods_of(step: Json, first_body: int) -> list[Any]:
    """The methods that a step sends. first_body: number behind the first body of several."""
    kind = KINDS[step["op"]]
    values: Json = {"channel": int(step["ch"].partition(".")[2])}
    for field in kind.__struct_fields__:
        if field in ("channel", "message"):
            continue
        name, annotation = SPEC_NAMES.get(field, field), kind.__annotations__[field]
        values[field] = step.get(name, {"int": 0, "str": "", "bool": False, "Table": {}}[annotation])
    if kind is m.BasicDeliver:
        return [kind(**values, message=Content())]
    if kind is not m.BasicPublish:
        return [kind(**values)]
    properties = Properties(**step["props"]) if step.get("props") else NO_PROPERTIES
    body, first = step["body"] * step.get("body_repeat", 1), step.get("first", first_body)
    bodies = [body]
    if "count" in step:
        bodies = [f"{body}{number}" for number in range(first, first + step["count"])]
    return [kind(**values, message=Content(properties, each.encode())) for each in bodies]


def final_of(vhost: Vhost, session: Session) -> Json:
    return {
        "queues": {
            session.placeheld(queue.name): [queue.ready, queue.unacked_count, len(queue.consumers.by_key)]
            for queue in vhost.queues.values()
        },
        "exchanges": sorted(
            [each.name, each.type_, each.is_durable, each.is_auto_delete, each.is_internal]
            for each in vhost.exchanges.values()
            if each.name and not each.name.startswith("amq.")
        ),
        "bindings": sorted(
            [source, binding.routing_key, binding.destination[0], session.placeheld(binding.destination[1])]
            for source, binding in vhost.bindings()
            if source
        ),
    }


def listed(state: BrokerState, operation: str, name: str) -> list[Any]:
    """What the management API of the recorder's server lists."""
    vhost = state.vhosts[name]
    if operation == "api.exchanges":
        return sorted(
            [each.name, each.type_, each.is_durable, each.is_auto_delete, each.is_internal, each.arguments]
            for each in vhost.exchanges.values()
        )
    if operation == "api.queues":
        states = [queue.state for queue in vhost.queues.values()]
        return sorted(
            [each.name, each.is_durable, each.is_auto_delete, each.owner > 0, each.arguments]
            for each in states
        )
    return sorted(
        ([source, *each.destination, each.routing_key, each.arguments] for source, each in vhost.bindings()),
        key=str,
    )
