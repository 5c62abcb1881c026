"""The faults of a run: which one a method meets, how often each has struck, what is held, and what is asked of the run.

A method meets the first fault that wants it, in the order in which they were set; every fault that it fits counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.connection import Connection
from broker_core.wire.amqp.spec import BY_METHOD
from broker_core.wire.faults.fault import Fault, check_fault

FAULTS_MAX = 1_000
Place = str
"""connection.channel.sender: methods of one place keep their order."""


def place_of(connection: int, channel: int, sender: str) -> Place:
    return f"{connection}.{channel}.{sender}"


def whose(place: Place) -> tuple[int, int, str]:
    connection, channel, sender = place.split(".")
    return int(connection), int(channel), sender


@dataclass(slots=True, eq=False)
class Row:
    """One fault. matches: methods that it fits so far; hits: those of them that it struck. is_over: it strikes no more.
    connections: that it has cut."""

    number: int
    fault: Fault
    matches: int = 0
    hits: int = 0
    is_over: bool = False
    connections: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Line:
    """Methods that wait at one place: the first because of the fault of that number, the others behind it."""

    fault: int
    methods: list[m.Method]


@dataclass(slots=True)
class Faults:
    """State of a run's timer. last: numbers given so far. crashing, cutting, ended: numbers of faults whose crash or
    cut, of that connection, the run has to carry out, and of those whose time is up. lines: what is held."""

    rows: dict[int, Row] = field(default_factory=dict)
    last: int = 0
    lines: dict[Place, Line] = field(default_factory=dict)
    crashing: list[int] = field(default_factory=list)
    cutting: list[tuple[int, int]] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)

    def add(self, fault: Fault) -> Row:
        """Raises CommandError at the field that is wrong."""
        check_fault(fault)
        self.check_room()
        self.last += 1
        row = self.rows[self.last] = Row(self.last, fault)
        return row

    def check_room(self) -> None:
        """Raises CommandError where no fault has room any more."""
        if len(self.rows) >= FAULTS_MAX:
            raise CommandError("do", "a run has at most {high} faults", high=FAULTS_MAX)

    def row(self, number: int) -> Row:
        """Raises CommandError."""
        try:
            return self.rows[number]
        except KeyError:
            raise CommandError("fault", "there is no fault {number}", number=number) from None

    def met(
        self, place: Place, known: Connection, method: Any, queues: Callable[[], Collection[str]]
    ) -> Row | None:
        """The fault that strikes this method, which then counts it. known: the connection of its place. queues: by name,
        those that the method concerns."""
        found = None
        connection, _, sender = whose(place)
        for row in self.rows.values():
            if row.is_over or row.fault.connection_number not in (0, connection):
                continue
            if not _fits(row.fault, sender, known, method, queues):
                continue
            row.matches += 1
            if found is None and row.fault.nth in (0, row.matches):
                found = row
        if found is not None:
            found.hits += 1
        return found

    def forget(self, connection: int) -> None:
        """The connection is gone with what was held of it, and with the faults of it alone."""
        for place in [place for place in self.lines if whose(place)[0] == connection]:
            del self.lines[place]
        for row in self.rows.values():
            row.is_over |= row.fault.connection_number == connection

    def forget_all(self) -> None:
        """So with every connection: the server has stopped."""
        self.lines.clear()
        for row in self.rows.values():
            row.is_over |= row.fault.connection_number > 0

    def held(self, row: Row) -> int:
        """Methods that wait because of it, with those behind them."""
        return sum(len(line.methods) for line in self.lines.values() if line.fault == row.number)

    def plain(self, row: Row) -> Json:
        """A fault with what has become of it, for JSON."""
        return {
            "id": row.number, **row.fault.plain(),
            "matches": row.matches, "hits": row.hits, "held": self.held(row), "is_over": row.is_over,
        }  # fmt: skip

    def unmet(self) -> list[Row]:
        """Those that had to strike, and have not."""
        return [row for row in self.rows.values() if row.fault.must_hit and not row.hits]


def _fits(
    fault: Fault, sender: str, known: Connection, method: Any, queues: Callable[[], Collection[str]]
) -> bool:
    spec = BY_METHOD.get(type(method))  # none: a heartbeat, or bytes that are no method
    return (
        spec is not None
        and fault.sender == sender
        and fault.method in ("", spec.name)
        and fault.vhost in ("", known.vhost)
        and fault.connection in ("", known.name)
        and (not fault.queue or fault.queue in queues())
    )
