"""A fault: which methods it strikes, and what it does to them; an input of a run like bytes, so that its journal has it.

Every field is checked before anything has changed, and the error is at the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.rabbitmq.refusals import WORDS
from broker_core.rabbitmq.reply_codes import ACCESS_REFUSED, PRECONDITION_FAILED
from broker_core.wire.amqp.spec import SPECS

CLIENT, SERVER = "client", "server"
BEFORE, UNANSWERED, AFTER = "before", "unanswered", "after"
TO_CLIENT, TO_SERVER, BOTH = "to_client", "to_server", "both"
MS_MAX, NTH_MAX = 24 * 3_600_000, 1_000_000_000
TEXT_MAX = 200

_CLIENTS = """
connection.start-ok connection.secure-ok connection.tune-ok connection.open connection.update-secret channel.open
exchange.declare exchange.delete exchange.bind exchange.unbind queue.declare queue.delete queue.bind queue.unbind
queue.purge basic.qos basic.consume basic.publish basic.get basic.reject basic.recover basic.recover-async
confirm.select tx.select tx.commit tx.rollback
"""
_EITHER = """
connection.close connection.close-ok channel.close channel.close-ok channel.flow basic.ack basic.nack basic.cancel
"""
_ONLY_CLIENTS, _BOTH = frozenset(_CLIENTS.split()), frozenset(_EITHER.split())


@dataclass(frozen=True, slots=True)
class Action:
    """fields: that it reads beside those of every fault. needs: those of them without which it is none. of_server: whether
    it strikes what the server sends, too."""

    fields: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    of_server: bool = True


ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        "refuse": Action(("code", "text"), ("code",), of_server=False),
        "nack": Action(of_server=False),
        "delay": Action(("ms",), ("ms",)),
        "hold": Action(),
        "swallow": Action(),
        "lose_answer": Action(of_server=False),
        "close_connection": Action(("when", "code", "text")),
        "close_channel": Action(("when", "code", "text")),
        "alarm": Action(("resource", "ms")),
        "crash": Action(("when", "ms")),
        "cut": Action(("way", "ms")),
    }
)


class Fault(msgspec.Struct, frozen=True, array_like=True):
    """do: what happens, a name of ACTIONS.

    Which methods it strikes; what is empty means any. method: as the specification names it, "basic.publish". by: who
    sends it, CLIENT or SERVER; empty: the client, or the server where no client sends such a method. vhost, connection: of
    the method's connection, which is named by the client property `connection_name`. connection_number: this one alone, as
    several may have one name; the fault ends with it; 0: any. queue: that the method names, or that a message goes to or
    comes from. nth: only this one of them, from 1; 0: each.

    How. when: before the method is served, after it, or after it and UNANSWERED. code, text: of the exception. ms: how
    late, how long the alarm or the cut lasts (0: until it is released), how long the crashed server is down. resource: of
    the alarm, "memory" or "disk". way: in which nothing is carried any more.

    must_hit: who set it wants to hear if it has struck nothing.
    """

    do: str
    method: str = ""
    by: str = ""
    vhost: str = ""
    queue: str = ""
    connection: str = ""
    nth: int = 0
    when: str = BEFORE
    code: int = 0
    text: str = ""
    ms: int = 0
    resource: str = "memory"
    way: str = BOTH
    must_hit: bool = True
    connection_number: int = 0

    @property
    def sender(self) -> str:
        if self.by:
            return self.by
        is_client = not self.method or self.method in _ONLY_CLIENTS or self.method in _BOTH
        return CLIENT if is_client else SERVER

    def plain(self) -> Json:
        """What was said of it, for JSON."""
        fields: Json = {}
        for name, default in _DEFAULTS.items():
            value = getattr(self, name)
            if value != default:
                fields[name] = value
        return {"do": self.do, **fields}


_DEFAULTS: dict[str, Any] = dict(zip(Fault.__struct_fields__[1:], Fault.__struct_defaults__, strict=True))
_COMMON = ("method", "by", "vhost", "queue", "connection", "connection_number", "nth", "must_hit")
_CHOICES: dict[str, tuple[str, ...]] = {
    "by": (CLIENT, SERVER),
    "when": (BEFORE, UNANSWERED, AFTER),
    "resource": ("memory", "disk"),
    "way": (TO_CLIENT, TO_SERVER, BOTH),
}
_RANGES = {"connection_number": (0, NTH_MAX), "nth": (0, NTH_MAX), "code": (0, 999), "ms": (0, MS_MAX)}
_WORDS = {bool: "true or false", int: "a whole number", str: "a text"}


def read_fault(plain: Mapping[str, Any]) -> Fault:
    """A fault as a file, a request or a call names it. Raises CommandError at the field that is wrong."""
    do = plain.get("do")
    if not isinstance(do, str) or do not in ACTIONS:
        raise CommandError("do", "must be one of {names}", names=Names(ACTIONS))
    for name, value in plain.items():
        if name == "do":
            continue
        if name not in _DEFAULTS:
            raise CommandError(name, "a fault has no such field")
        if name not in (*_COMMON, *ACTIONS[do].fields):
            raise CommandError(name, "does not belong to {do}", do=do)
        kind = type(_DEFAULTS[name])
        if type(value) is not kind:
            raise CommandError(name, "must be {kind}", kind=_WORDS[kind])
    for name in ACTIONS[do].needs:
        if name not in plain:
            raise CommandError(name, "{do} needs it", do=do)
    fault = Fault(**plain)
    check_fault(fault)
    return fault


def check_fault(fault: Fault) -> None:
    """Raises CommandError at the field whose value cannot be."""
    if fault.do not in ACTIONS:
        raise CommandError("do", "must be one of {names}", names=Names(ACTIONS))
    for name, choices in _CHOICES.items():
        value = getattr(fault, name)
        if value not in choices and not (name == "by" and not value):
            raise CommandError(name, "must be one of {names}", names=Names(choices))
    for name, (low, high) in _RANGES.items():
        if not low <= getattr(fault, name) <= high:
            raise CommandError(name, "must be {low} to {high}", low=low, high=high)
    if len(fault.text) > TEXT_MAX:
        raise CommandError("text", "at most {high} letters", high=TEXT_MAX)
    if fault.do == "delay" and not fault.ms:
        raise CommandError("ms", "must be {low} to {high}", low=1, high=MS_MAX)
    _check_method(fault)
    _check_code(fault)


def _check_method(fault: Fault) -> None:
    if fault.method and fault.method not in SPECS:
        raise CommandError("method", "AMQP has no {name}", name=fault.method)
    if fault.do == "nack" and fault.method != "basic.publish":
        raise CommandError("method", "nack answers basic.publish alone")
    if fault.sender == CLIENT:
        if fault.method and fault.method not in _ONLY_CLIENTS | _BOTH:
            raise CommandError("by", "no client sends {name}", name=fault.method)
        return
    if fault.method in _ONLY_CLIENTS:
        raise CommandError("by", "no server sends {name}", name=fault.method)
    if not ACTIONS[fault.do].of_server:
        raise CommandError("do", "{do} strikes what a client sends", do=fault.do)
    if fault.when == UNANSWERED:
        raise CommandError("when", "what the server sends has no answer of its own")


def _check_code(fault: Fault) -> None:
    """close_connection without a code just ends the connection; close_channel takes those that close no connection."""
    if "code" not in ACTIONS[fault.do].fields or (not fault.code and fault.do != "refuse"):
        return
    choices = sorted(WORDS)
    if fault.do == "close_channel":
        choices = [code for code in choices if ACCESS_REFUSED <= code <= PRECONDITION_FAILED]
    if fault.code not in choices:
        raise CommandError("code", "must be one of {names}", names=Names(map(str, choices)))
