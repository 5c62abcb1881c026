"""Turning points: what happened, who caused it, and the rule that decided.

Traffic (queued, delivered, acked) is not a turning point: it is re-derived from commands and workload and
never stored (docs/decisions/traffic-is-not-events.md).
"""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

Json = dict[str, Any]


def capped(name: str, entries: list[Any], most: int) -> Json:
    """What a turning point tells of a list that may be long: its first `most` entries under `name`; if that
    is not all of it, how many more there are under `<name>_more`.

    >>> capped("turns", ["c1", "c2", "c3"], 2)
    {'turns': ['c1', 'c2'], 'turns_more': 1}
    """
    left = len(entries) - most
    return {name: entries[:most], f"{name}_more": left} if left > 0 else {name: entries}


class Cause(msgspec.Struct, frozen=True):
    """What a turning point follows from: a command by its position in the journal, or another turning point
    by its id."""

    command: int | None = None
    event: str | None = None

    def to_json(self) -> Json | None:
        if self.command is not None:
            return {"command": self.command}
        return {"event": self.event} if self.event is not None else None


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """One fact that changed who gets what.

    id: `<lane>:<number>`, counted from 1 in each lane. at_us: virtual time. kind:
    `kafka.group.generation_started`.
    rule: the rule that decided, `kafka.assignor.range.remainder`; None where nothing had to be decided.
    inputs: the numbers the rule was given. data: what came of it.
    """

    id: str
    at_us: int
    lane: str
    kind: str
    cause: Cause
    rule: str | None
    inputs: Json
    data: Json

    def with_facts(self, inputs: Json | None = None, data: Json | None = None) -> "TurningPoint":
        """The same turning point, told with more: these inputs and data beside, or in place of, its own."""
        return replace(self, inputs=self.inputs | (inputs or {}), data=self.data | (data or {}))

    def to_json(self, seq: int) -> Json:
        """The event as plain JSON. seq: its place among all turning points of the lab, from 1."""
        return {
            "seq": seq,
            "id": self.id,
            "at_us": self.at_us,
            "lane": self.lane,
            "kind": self.kind,
            "cause": self.cause.to_json(),
            "rule": self.rule,
            "inputs": self.inputs,
            "data": self.data,
        }
