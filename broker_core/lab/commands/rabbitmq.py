"""What a person orders at the server of a RabbitMQ lane: AMQP methods as any client sends them, and what
`rabbitmqctl` does.

A method goes out on a connection of its own, as a user of the person's choice; what the server answers, or refuses
with which code and text, becomes a turning point (`broker_core/rabbitmq/client/operator.py`). Only names of users and
virtual hosts have to be there: without them there is no connection to ask on.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from broker_core.errors import CommandError, Names
from broker_core.events import Cause, Json
from broker_core.lab.commands.base import LaneCommand
from broker_core.lab.facts import LabFacts
from broker_core.lab.messages import Sent
from broker_core.lab.pieces import Stops
from broker_core.lab.rabbitmq.facts import RabbitMqFacts
from broker_core.lab.rabbitmq.importing import check_import, incoming
from broker_core.lab.rabbitmq.programs import OPERATOR, import_definitions, login_now
from broker_core.lab.rabbitmq.reading import BROKER, RabbitMqReading
from broker_core.lab.rabbitmq.topology import (
    ABSENT,
    DEFAULT_USER,
    PRIORITY_MAX,
    Shape,
    flag,
    name,
    number,
    one_of,
    row,
    table,
    text,
)
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.size import LaneSize
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import operator as server
from broker_core.rabbitmq.client import CHANNEL
from broker_core.rabbitmq.client.operator import REQUEUE, SETTLES, Ask
from broker_core.rabbitmq.definitions import LEFT_OUT, SECTIONS
from broker_core.rabbitmq.loading import DEFAULT_VHOST
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.wire.acts import Define
from broker_core.wire.open_server import OpenServer

MODEL = "rabbitmq"
BODY_MAX = 4_096
WHO: Shape = {"vhost": (name, DEFAULT_VHOST), "user": (name, DEFAULT_USER)}
RESOURCES = ("memory", "disk")


ROWS: Mapping[str, Shape] = MappingProxyType({
    "exchanges": {
        "name": (text, ABSENT), "vhost": (name, DEFAULT_VHOST), "type": (text, "direct"), "durable": (flag, False),
        "auto_delete": (flag, False), "internal": (flag, False), "arguments": (table, {}),
    },
    "queues": {
        "name": (text, ABSENT), "vhost": (name, DEFAULT_VHOST), "durable": (flag, False),
        "auto_delete": (flag, False), "arguments": (table, {}),
    },
    "bindings": {
        "source": (text, ABSENT), "vhost": (name, DEFAULT_VHOST), "destination": (text, ABSENT),
        "destination_type": (one_of("queue", "exchange"), "queue"), "routing_key": (text, ""),
        "arguments": (table, {}),
    },
})  # fmt: skip
"""What a person names of each; as a method has them by default. A name may be empty: what that means the server says."""


def body(field: str, value: object) -> str:
    if not isinstance(value, str) or len(value.encode(errors="replace")) > BODY_MAX:
        raise CommandError(field, "must be text of at most {high} bytes", high=BODY_MAX)
    return value


def definitions_file(field: str, value: object) -> Json:
    if not isinstance(value, dict):
        raise CommandError(field, "must be an object")
    incoming(value, field)
    return {section: value[section] for section in (*SECTIONS, *LEFT_OUT) if section in value}


def shaped(shape: Shape) -> tuple[Shape, frozenset[str]]:
    return shape, frozenset(shape)


def server_of(lane: Lane) -> OpenServer | None:
    """Of a lane that real clients come to: what an order does is done when the next act comes, as where they came."""
    return lane.reads.server if isinstance(lane.reads, RabbitMqReading) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand(LaneCommand):
    """given: the arguments by SHAPE, defaults filled in."""

    SHAPE: ClassVar[Shape]

    given: Json

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {"given": row("args", args, cls.SHAPE)}

    def args(self) -> Json:
        return dict(self.given)

    @property
    def verb(self) -> str:
        return self.kind.removeprefix("rabbitmq_")

    def check(self, lab: LabFacts) -> None:
        lanes = [lane for lane in self.targets(lab) if isinstance(lane, RabbitMqFacts)]
        if not lanes:
            raise CommandError("lane", "there is no RabbitMQ lane here")
        for lane in lanes:
            self.check_in(lane)

    def check_in(self, lane: RabbitMqFacts) -> None:
        wrong = list(self.wrong_in(lane))
        if wrong:
            raise CommandError.of_all(wrong)
        if not lane.is_running:
            raise CommandError("lane", "the server is down: start it first")

    def wrong_in(self, lane: RabbitMqFacts) -> Iterator[CommandError]:
        """What is wrong at each of its fields."""
        for key, known in (("vhost", lane.vhosts), ("user", lane.users)):
            if key in self.given and self.given[key] not in known:
                yield CommandError(f"args.{key}", "must be one of {choices}", choices=Names(sorted(known)))

    def declares(self) -> int:
        """Exchanges, queues and bindings that it may add, of a kind that does."""
        return 1

    def grown(self, lane: LaneFacts) -> LaneSize | None:
        return lane.size.grown(declared=self.declares()) if isinstance(lane, RabbitMqFacts) else None

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        for lane in lab.lanes_of(self.lane):
            self.carry_out_in(lane, position)
            yield None
        lab.note(self, position, [])

    def carry_out_in(self, lane: Lane, position: int) -> None:
        if lane.model == MODEL:
            self.do(lane, position, Cause(command=position))
            server = server_of(lane)
            if server is not None:
                server.advance(lane.world.now_us)
            lane.say_none_joined("none_server")

    @abstractmethod
    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        """In one RabbitMQ lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodCommand(ServerCommand):
    """One method, on a connection of the person's own."""

    @abstractmethod
    def method(self, lane: Lane, position: int) -> m.Method: ...

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        login = login_now(lane.world.slots[BROKER].node.state, self.given["user"], self.given["vhost"])
        what = {"verb": self.verb, **self.said()}
        settles = self.given.get("then", REQUEUE)
        lane.world.order(OPERATOR, Ask(BROKER, login, [self.method(lane, position)], what, settles), cause)


class DeclareExchange(MethodCommand):
    GROWS: ClassVar[str] = "args.name"
    kind: ClassVar[str] = "rabbitmq_declare_exchange"
    SHAPE, ARGS = shaped({**WHO, **ROWS["exchanges"]})

    def method(self, lane: Lane, position: int) -> m.Method:
        g = self.given
        return m.ExchangeDeclare(
            CHANNEL, g["name"], g["type"], False, g["durable"], g["auto_delete"], g["internal"], False, g["arguments"]
        )  # fmt: skip


class DeleteExchange(MethodCommand):
    kind: ClassVar[str] = "rabbitmq_delete_exchange"
    SHAPE, ARGS = shaped({**WHO, "name": (text, ABSENT), "if_unused": (flag, False)})

    def method(self, lane: Lane, position: int) -> m.Method:
        return m.ExchangeDelete(CHANNEL, self.given["name"], self.given["if_unused"])


class QueueCommand(MethodCommand):
    """At the queue `name`. Without a name it is the last one declared on the connection; there as a rule is none."""

    def said(self) -> Json:
        return {**self.given, "name": self.given["name"] or "“”"}


class DeclareQueue(QueueCommand):
    """Without a name the server gives one. An exclusive queue lives as long as the person's connection, which stays open
    until the queue is deleted."""

    GROWS: ClassVar[str] = "args.name"
    kind: ClassVar[str] = "rabbitmq_declare_queue"
    SHAPE, ARGS = shaped({**WHO, **ROWS["queues"], "name": (text, ""), "exclusive": (flag, False)})

    def method(self, lane: Lane, position: int) -> m.Method:
        g = self.given
        return m.QueueDeclare(
            CHANNEL, g["name"], False, g["durable"], g["exclusive"], g["auto_delete"], False, g["arguments"]
        )


class DeleteQueue(QueueCommand):
    kind: ClassVar[str] = "rabbitmq_delete_queue"
    SHAPE, ARGS = shaped(
        {**WHO, "name": (text, ABSENT), "if_unused": (flag, False), "if_empty": (flag, False)}
    )

    def method(self, lane: Lane, position: int) -> m.Method:
        return m.QueueDelete(CHANNEL, self.given["name"], self.given["if_unused"], self.given["if_empty"])


def binding(queue: type, exchange: type, each: Json) -> Any:
    """A bind or unbind."""
    kind = queue if each["destination_type"] == "queue" else exchange
    return kind(
        CHANNEL, each["destination"], each["source"], each["routing_key"], arguments=each["arguments"]
    )


class Bind(MethodCommand):
    """A queue or an exchange to an exchange, the source."""

    GROWS: ClassVar[str] = "args.source"
    kind: ClassVar[str] = "rabbitmq_bind"
    SHAPE, ARGS = shaped({**WHO, **ROWS["bindings"]})

    def method(self, lane: Lane, position: int) -> m.Method:
        bind: m.Method = binding(m.QueueBind, m.ExchangeBind, self.given)
        return bind


class Unbind(MethodCommand):
    kind: ClassVar[str] = "rabbitmq_unbind"
    SHAPE, ARGS = shaped({**WHO, **ROWS["bindings"]})

    def method(self, lane: Lane, position: int) -> m.Method:
        unbind: m.Method = binding(m.QueueUnbind, m.ExchangeUnbind, self.given)
        return unbind


class Publish(MethodCommand):
    """One message. delivery_mode, priority, expiration: 0, -1 and "" leave the property out."""

    kind: ClassVar[str] = "rabbitmq_publish"
    SHAPE, ARGS = shaped({
        **WHO, "exchange": (text, ""), "routing_key": (text, ""), "headers": (table, {}), "body": (body, ""),
        "mandatory": (flag, False), "delivery_mode": (number(0, 2), 0), "priority": (number(-1, PRIORITY_MAX), -1),
        "expiration": (text, ""),
    })  # fmt: skip

    def method(self, lane: Lane, position: int) -> m.Method:
        g = self.given
        message = lane.messages.send(Sent(position, None, g["body"]))
        properties = Properties(
            headers=g["headers"] or None,
            delivery_mode=g["delivery_mode"] or None,
            priority=None if g["priority"] < 0 else g["priority"],
            expiration=g["expiration"] or None,
        )
        # A real client reads it; the lab's own programs know it by its number.
        body = b"" if server_of(lane) is None else g["body"].encode(errors="replace")
        content = Content(properties, body, message)
        return m.BasicPublish(CHANNEL, g["exchange"], g["routing_key"], g["mandatory"], False, content)

    def said(self) -> Json:
        return {key: value for key, value in self.given.items() if key != "body"}


class Purge(QueueCommand):
    kind: ClassVar[str] = "rabbitmq_purge"
    SHAPE, ARGS = shaped({**WHO, "name": (text, ABSENT)})

    def method(self, lane: Lane, position: int) -> m.Method:
        return m.QueuePurge(CHANNEL, self.given["name"])


class Get(QueueCommand):
    """The message at the head. then: what becomes of it."""

    kind: ClassVar[str] = "rabbitmq_get"
    SHAPE, ARGS = shaped({**WHO, "name": (text, ABSENT), "then": (one_of(*SETTLES), REQUEUE)})

    def method(self, lane: Lane, position: int) -> m.Method:
        return m.BasicGet(CHANNEL, self.given["name"])


# -- rabbitmqctl ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlCommand(ServerCommand):
    """An order to the server itself."""

    @abstractmethod
    def order(self, lane: Lane) -> server.Order: ...

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        said = lane.emit(f"rabbitmq.server.{self.verb}", cause, None, {}, self.said())
        lane.world.order(BROKER, self.order(lane), said)


class Alarm(ControlCommand):
    """The server's memory or disk runs short, or has room again: connections that publish are blocked meanwhile."""

    kind: ClassVar[str] = "rabbitmq_alarm"
    SHAPE, ARGS = shaped({"resource": (one_of(*RESOURCES), ABSENT), "is_on": (flag, True)})

    def check_in(self, lane: RabbitMqFacts) -> None:
        ServerCommand.check_in(self, lane)
        if not lane.is_open and (self.given["resource"] in lane.alarms) is self.given["is_on"]:
            raise CommandError("args.is_on", "it is so already")

    def order(self, lane: Lane) -> server.Order:
        return server.SetAlarm(self.given["resource"], self.given["is_on"])


class ImportDefinitions(ServerCommand):
    """What a definitions file holds is added to the server, or nothing of it where the server would refuse a row."""

    GROWS: ClassVar[str] = "args.definitions"
    kind: ClassVar[str] = "rabbitmq_import"
    SHAPE, ARGS = shaped({"definitions": (definitions_file, ABSENT)})

    def declares(self) -> int:
        definitions = self.given["definitions"]
        return sum(len(definitions.get(section, ())) for section in ("exchanges", "queues", "bindings"))

    def ask(self, lab: OrderedLab) -> None:
        for lane in lab.lanes_of(self.lane):
            if lane.model == MODEL:
                state = lane.world.slots[BROKER].node.state
                check_import(state, self.given["definitions"], "args.definitions")

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        rows = {section: len(self.given["definitions"].get(section, [])) for section in SECTIONS}
        found = incoming(self.given["definitions"], "args.definitions")
        data = {**rows, "left_out": found.names()}
        said = lane.emit("rabbitmq.server.import", cause, None, {}, data)
        opened = server_of(lane)
        if opened is not None:
            opened.act(0, Define(self.given["definitions"]), said)
            return
        for section, kept in found.kept.items():
            lane.world.order(BROKER, server.KeepRows(section, kept), said)
        import_definitions(lane, found.definitions, said, {"verb": self.verb})

    def said(self) -> Json:
        return {}


SERVER_COMMANDS: Sequence[type[ServerCommand]] = (
    DeclareExchange, DeleteExchange, DeclareQueue, DeleteQueue, Bind, Unbind, Publish, Purge, Get,
    Alarm, ImportDefinitions,
)  # fmt: skip
