"""Tracing: the last methods that went over one connection, both ways, as an operator asks for them.

A server's firehose copies every message of a virtual host to an exchange; here it is the methods of one connection, with
their fields, kept in a ring. Nothing is kept, and nothing costs, while no connection is traced.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.events import Json
from broker_core.rabbitmq.properties import Content
from broker_core.sim.node import Outbox

METHODS_KEPT = 60
TEXT_MAX = 200
BODY_SHOWN = 64
PARTS_MAX = 16


@dataclass(slots=True)
class Trace:
    """connection: which one is traced, 0: none. channel: the one of its channels, 0: all, and the connection's own
    methods. until_us: when it ends. heard: methods so far; methods: the last ones by their number, each [when, whether
    the server sent it, name, channel, fields]."""

    connection: int = 0
    channel: int = 0
    until_us: int = 0
    heard: int = 0
    methods: dict[int, list[Any]] = field(default_factory=dict)

    def hear(self, connection: int, method: Any, is_sent: bool, now_us: int) -> None:
        """A method of some connection comes in or goes out."""
        if now_us > self.until_us:
            self.connection = 0
        channel = getattr(method, "channel", 0)
        if connection != self.connection or (self.channel and channel != self.channel):
            return
        self.heard += 1
        self.methods[self.heard] = [now_us, is_sent, name_of(method), channel, fields_of(method)]
        self.methods.pop(self.heard - METHODS_KEPT, None)

    def view(self, now_us: int, ahead_us: int = 0) -> Json:
        """ahead_us: how far the server's clock is ahead of the one that the page shows."""
        names = ("is_sent", "name", "channel", "fields")
        return {
            "connection": self.connection if now_us <= self.until_us else 0, "channel": self.channel,
            "until_us": max(0, self.until_us - ahead_us), "heard": self.heard,
            "methods": {
                str(number): {"at_us": at_us - ahead_us, **dict(zip(names, each, strict=True))}
                for number, (at_us, *each) in self.methods.items()
            },
        }  # fmt: skip


class Overheard:
    """An outbox that lets a trace hear what is sent; all else is the outbox's own."""

    def __init__(self, out: Outbox, trace: Trace, now_us: int) -> None:
        self.out, self.trace, self.now_us = out, trace, now_us

    def send(self, connection: int, message: Any) -> None:
        self.trace.hear(connection, message, True, self.now_us)
        self.out.send(connection, message)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.out, name)


def name_of(method: Any) -> str:
    """As the specification has it: basic.deliver."""
    return str(method.__struct_config__.tag)


def fields_of(method: Any) -> Json:
    """A method's fields by name, without its channel; of a message its properties and how its body begins."""
    fields: Json = {}
    for each in method.__struct_fields__:
        value = getattr(method, each)
        if each == "message":
            fields |= content_of(value)
        elif each != "channel":
            fields[each.rstrip("_")] = short(value)
    return fields


def content_of(message: int | Content) -> Json:
    """A workload's message has its number alone."""
    if isinstance(message, int):
        return {"message": message}
    properties = {name: short(value) for name, value in msgspec.to_builtins(message.properties).items()}
    if message.message >= 0:
        return {"properties": properties, "message": message.message}
    return {
        "properties": properties,
        "body_bytes": len(message.body),
        "body": message.body[:BODY_SHOWN].decode(errors="replace"),
    }


def short(value: Any, depth: int = 3) -> Any:
    """A value that a page can show: long texts, lists and tables are cut, and say so with an ellipsis."""
    if isinstance(value, str):
        return value if len(value) <= TEXT_MAX else f"{value[:TEXT_MAX]}…"
    if isinstance(value, bytes):
        return short(value.decode(errors="replace"))
    if isinstance(value, dict):
        if not depth:
            return "…"
        kept = {short(key): short(inner, depth - 1) for key, inner in list(value.items())[:PARTS_MAX]}
        return kept if len(value) <= PARTS_MAX else {**kept, "…": None}
    if isinstance(value, list | tuple):
        if not depth:
            return "…"
        some = [short(each, depth - 1) for each in value[:PARTS_MAX]]
        return some if len(value) <= PARTS_MAX else [*some, "…"]
    return value
