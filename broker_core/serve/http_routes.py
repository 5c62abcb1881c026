"""Which request of the control does what; docs/clients/control.md has the same table for people."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from broker_core.errors import CommandError
from broker_core.serve.control import TIMEOUT_S, Control

Answer = tuple[HTTPStatus, Any]
Fields = dict[str, Any]
Call = Callable[[Control, Fields], Coroutine[Any, Any, Answer]]
_KINDS = {
    "queue": str, "vhost": str, "ready": int, "unacked": int, "consumers": int, "timeout_s": float,
    "fault": int, "hits": int, "do": str, "resource": str, "is_on": bool,
}  # fmt: skip
_WORDS = {str: "a text", int: "a whole number, 0 or more", float: "a number", bool: "true or false"}


def find_route(verb: str, path: str) -> Call:
    """Raises CommandError where there is none."""
    for method, pattern, call in _ROUTES:
        found = re.fullmatch(pattern, path)
        if found and method == verb:
            return partial(call, *map(int, found.groups()))
    raise CommandError("path", "there is no {verb} {path}", verb=verb, path=path)


def read(fields: Fields, *names: str, needs: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """The fields of a request, each of its kind. Raises CommandError at one that is missing, wrong or of no use here."""
    for name in fields:
        if name not in names:
            raise CommandError(name, "there is no such field here")
    for name in needs:
        if name not in fields:
            raise CommandError(name, "is missing")
    found: dict[str, Any] = {}
    for name, value in fields.items():
        kind = _KINDS[name]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind or (type(value) is int and value < 0):
            raise CommandError(name, "must be {kind}", kind=_WORDS[kind])
        found[name] = value
    return found


def _asks(ask: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Answer]]:
    """One without fields: what a method of the control says, of the numbers in the path."""

    async def call(*given: Any) -> Answer:
        *numbers, control, fields = given
        read(fields)
        said = ask(control, *numbers)
        return HTTPStatus.OK, {} if said is None else said

    return call


async def _set_fault(control: Control, fields: Fields) -> Answer:
    return HTTPStatus.CREATED, control.set_fault(fields)


async def _wait(control: Control, fields: Fields) -> Answer:
    """For a queue, or for a fault."""
    if "fault" in fields:
        found = read(fields, "fault", "hits", "timeout_s")
        hits, timeout_s = found.get("hits", 1), found.get("timeout_s", TIMEOUT_S)
        return HTTPStatus.OK, await control.wait_for_fault(found["fault"], hits, timeout_s)
    names = ("queue", "vhost", "ready", "unacked", "consumers", "timeout_s")
    found = read(fields, *names, needs=("queue",))
    return HTTPStatus.OK, await control.wait_for_queue(**found)


async def _act(control: Control, fields: Fields) -> Answer:
    return HTTPStatus.OK, control.act(read(fields, "do", needs=("do",))["do"])


async def _alarm(control: Control, fields: Fields) -> Answer:
    found = read(fields, "resource", "is_on", needs=("resource", "is_on"))
    return HTTPStatus.OK, control.alarm(found["resource"], found["is_on"])


async def _define(control: Control, fields: Fields) -> Answer:
    control.define(fields)
    return HTTPStatus.OK, {}


_ROUTES: tuple[tuple[str, str, Callable[..., Coroutine[Any, Any, Answer]]], ...] = (
    ("GET", "/", _asks(Control.state)),
    ("GET", "/queues", _asks(Control.queues)),
    ("GET", "/connections", _asks(Control.connections)),
    ("GET", "/faults", _asks(Control.faults)),
    ("POST", "/faults", _set_fault),
    ("GET", r"/faults/([0-9]{1,9})", _asks(Control.fault)),
    ("POST", r"/faults/([0-9]{1,9})/release", _asks(Control.release_fault)),
    ("DELETE", r"/faults/([0-9]{1,9})", _asks(Control.remove_fault)),
    ("POST", "/wait", _wait),
    ("POST", "/server", _act),
    ("POST", "/alarm", _alarm),
    ("POST", "/definitions", _define),
    ("POST", "/reset", _asks(Control.reset)),
    ("GET", "/journal", _asks(Control.journal)),
)
