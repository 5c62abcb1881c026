"""`--scenario FILE`: what a server begins with, in TOML: definitions and faults, checked; an error is at the field, with its
line.

    definitions = "shop.json"          # as RabbitMQ exports them, beside this file; or a table of the same
    [[faults]]
    do = "refuse"
    method = "queue.declare"
    code = 403
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.wire.acts import Define, ServerAct, SetFault
from broker_core.wire.faults.fault import Fault, read_fault


@dataclass(frozen=True, slots=True)
class Scenario:
    """definitions: parsed, None for none. faults: in their order."""

    definitions: Json | None = None
    faults: list[Fault] = field(default_factory=list)

    def acts(self) -> list[ServerAct]:
        defining: list[ServerAct] = [] if self.definitions is None else [Define(self.definitions)]
        return [*defining, *(SetFault(fault) for fault in self.faults)]


def read_scenario(path: Path) -> Scenario:
    """Raises CommandError: `scenario: line 4, faults.0.code: must be ...`."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError("scenario", "cannot be read: {why}", why=error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise CommandError("scenario", "is no text in UTF-8") from None
    try:
        plain = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CommandError("scenario", "is no TOML: {why}", why=str(error)) from None
    for name in plain:
        if name not in ("definitions", "faults"):
            raise _at(text, [name], "there is no such field; definitions and faults are")
    return Scenario(_definitions(path, text, plain), _faults(text, plain.get("faults", [])))


def read_definitions_file(path: Path) -> Json:
    """Definitions as RabbitMQ exports them, parsed. Raises CommandError."""
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise CommandError("definitions", "cannot be read: {why}", why=error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise CommandError("definitions", "is no JSON: {why}", why=str(error)) from None
    if not isinstance(found, dict):
        raise CommandError("definitions", "must be an object")
    return found


def _definitions(path: Path, text: str, plain: Json) -> Json | None:
    given = plain.get("definitions")
    if given is None or isinstance(given, dict):
        return given
    if not isinstance(given, str):
        raise _at(text, ["definitions"], "must be a file's name or a table")
    try:
        return read_definitions_file(path.parent / given)
    except CommandError as error:
        raise _at(text, ["definitions"], error.reason) from None


def _faults(text: str, rows: Any) -> list[Fault]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _at(text, ["faults"], "must be tables, [[faults]]")
    found = []
    for place, row in enumerate(rows):
        try:
            found.append(read_fault(row))
        except CommandError as error:
            raise _at(text, ["faults", place, error.field], error.reason) from None
    return found


def _at(text: str, place: Sequence[str | int], reason: str) -> CommandError:
    name = ".".join(map(str, place))
    return CommandError(
        "scenario", "line {line}, {name}: {why}", line=_line(text, place), name=name, why=reason
    )


def _line(text: str, place: Sequence[str | int]) -> int:
    """Where the value at this place ends: the first line with which the text, as far as it goes, has it. A field that is
    missing is missed in the table that it belongs to."""
    lines = text.splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        try:
            plain = tomllib.loads("".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            continue
        if _has(plain, place):
            return count
    return _line(text, place[:-1]) if len(place) > 1 else len(lines)


def _has(plain: Any, place: Sequence[str | int]) -> bool:
    for each in place:
        if isinstance(each, int):
            if not isinstance(plain, list) or each >= len(plain):
                return False
        elif not isinstance(plain, dict) or each not in plain:
            return False
        plain = plain[each]
    return True
