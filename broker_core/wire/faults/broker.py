"""The server of a run with its faults: what a client sends is struck before a handler has it, what the server sends before
a link has it.

    client ─► line, fault? ─► handlers ─► fault?, line ─► client

A method that is late or held keeps its place: what comes behind it on its channel waits, as the original's channel does.
Without faults all is the broker's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import operator
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.channel import CONFIRM, Channel
from broker_core.rabbitmq.confirms import confirm
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.overhearing import Ear
from broker_core.rabbitmq.refusals import Refused
from broker_core.sim.node import PERSON, Closed, Outbox
from broker_core.wire.faults.book import Faults, Line, Place, Row, place_of, whose
from broker_core.wire.faults.concerned import queues_of
from broker_core.wire.faults.fault import AFTER, CLIENT, SERVER, UNANSWERED

DEADLINE = "fault:"
_NO_ANSWERS = (m.BasicDeliver, m.BasicReturn, m.BasicCancel)
"""What the server sends of its own accord."""
_UNTOUCHED = (m.Heartbeat, m.Unreadable)


class Release(msgspec.Struct, frozen=True, tag="serve.fault.release", array_like=True):
    """What the fault holds goes on."""

    number: int


class Watched:
    """The server's outbox; what it sends is struck on its way. All else is the outbox's own."""

    def __init__(self, out: Outbox, server: FaultyBroker, now_us: int) -> None:
        self.out, self.server, self.now_us = out, server, now_us

    def send(self, connection: int, message: Any) -> None:
        self.server.send(connection, message, self.now_us, self.out)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.out, name)


class FaultyBroker(Broker):
    """muted: (connection, channel) whose answers are being lost. afterwards: what faults of the server's methods do when
    the step is done."""

    def __init__(
        self,
        state: BrokerState,
        faults: Faults,
        workload_size: Callable[[int], int] | None = None,
        ear: Ear | None = None,
    ) -> None:
        super().__init__(state, workload_size, ear)
        self.faults = faults
        self.muted: tuple[int, int] | None = None
        self.afterwards: list[tuple[Row, int, int]] = []
        self._is_inside = False

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if not self.faults.rows:
            super().receive(connection, message, now_us, out)
        elif self._is_inside:  # what an alarm held is read
            self.read(connection, message, now_us, out)
        else:
            self._is_inside = True
            watched = cast(Outbox, Watched(out, self, now_us))
            try:
                if connection == PERSON and isinstance(message, Release):
                    self.release(message.number, now_us, watched)
                else:
                    self.read(connection, message, now_us, watched)
                self._end_step(now_us, watched)
            finally:
                self._is_inside = False

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        if not self.faults.rows:
            super().wake(name, now_us, out)
            return
        self._is_inside = True
        watched = cast(Outbox, Watched(out, self, now_us))
        try:
            if name.startswith(DEADLINE):
                self._due(name, now_us, watched)
            else:
                super().wake(name, now_us, watched)
            self._end_step(now_us, watched)
        finally:
            self._is_inside = False

    def drop(self, connection: int, rule: str, now_us: int, out: Outbox) -> None:
        super().drop(connection, rule, now_us, out)
        self.faults.forget(connection)

    # -- what a client sends ---------------------------------------------------------------------------------

    def read(self, connection: int, method: Any, now_us: int, out: Outbox) -> None:
        """A method comes, in its turn."""
        known = self.connections.get(connection)
        if known is None or known.is_blocked or type(method) in (Closed, *_UNTOUCHED):
            super().receive(connection, method, now_us, out)
            return
        number: int = getattr(method, "channel", 0)
        place = place_of(connection, number, CLIENT)
        line = self.faults.lines.get(place)
        if line is not None:
            known.was_heard = True
            line.methods.append(method)
            return
        channel = known.channels.get(number)
        if number and channel is None and type(method) is not m.ChannelOpen:
            super().receive(connection, method, now_us, out)  # dropped, or refused
            return
        row = self.faults.met(place, known, method, lambda: queues_of(self, known, channel, method))
        if row is None:
            super().receive(connection, method, now_us, out)
        else:
            known.was_heard = True
            self._say(row, known, method, out)
            self._strike(row, place, known, method, now_us, out)

    def _strike(
        self, row: Row, place: Place, known: Connection, method: Any, now_us: int, out: Outbox
    ) -> None:
        fault, (connection, number, _) = row.fault, whose(place)
        channel = known.channels.get(number)
        match fault.do:
            case "refuse":
                self.refuse(connection, channel, method, _refused(fault.code, fault.text), now_us, out)
            case "nack" | "swallow":
                self._lose(channel, method, fault.do == "nack", now_us, out)
            case "delay" | "hold":
                self._hold(row, place, method, now_us, out)
            case "lose_answer":
                self._serve_unanswered(connection, number, method, now_us, out)
            case "close_connection" | "close_channel" | "crash":
                if fault.when == AFTER:
                    super().receive(connection, method, now_us, out)
                elif fault.when == UNANSWERED:
                    self._serve_unanswered(connection, number, method, now_us, out)
                self._end(row, connection, number, now_us, out)
            case _:
                self._end(row, connection, number, now_us, out)
                super().receive(connection, method, now_us, out)

    def _lose(self, channel: Channel | None, method: Any, is_refused: bool, now_us: int, out: Outbox) -> None:
        """A publish that is lost has its number all the same: the confirms of those after it are theirs."""
        if type(method) is m.BasicPublish and channel is not None and channel.mode == CONFIRM:
            channel.last_publish += 1
            if is_refused:
                confirm(channel, channel.last_publish, True, 0, now_us, out)
            else:
                channel.unconfirmed.append(channel.last_publish)

    def _serve_unanswered(self, connection: int, number: int, method: Any, now_us: int, out: Outbox) -> None:
        """The method is served, and what it is answered is lost, a confirm that comes later, too."""
        channel = self.channels.get(f"{connection}.{number}")
        waiting = set() if channel is None else set(channel.unconfirmed)
        self.muted = (connection, number)
        super().receive(connection, method, now_us, out)
        self.muted = None
        if channel is not None and type(method) is m.BasicPublish:
            for each in channel.unconfirmed:
                if each not in waiting:
                    out.cancel(f"confirm:{channel.name}.{each}")

    # -- what the server sends -------------------------------------------------------------------------------

    def send(self, connection: int, method: Any, now_us: int, out: Outbox) -> None:
        """A method of the server is on its way."""
        number: int = getattr(method, "channel", 0)
        if self.muted == (connection, number) and type(method) not in _NO_ANSWERS:
            channel = self.channels.get(f"{connection}.{number}")
            if channel is not None and isinstance(method, m.BasicAck):
                channel.unconfirmed.append(method.delivery_tag)  # no later confirm speaks for it
            return
        place = place_of(connection, number, SERVER)
        line = self.faults.lines.get(place)
        if line is not None:
            line.methods.append(method)
            return
        known = self.connections.get(connection)
        if known is None:
            out.send(connection, method)
            return
        channel = known.channels.get(number)
        row = self.faults.met(place, known, method, lambda: queues_of(self, known, channel, method))
        if row is None:
            out.send(connection, method)
            return
        self._say(row, known, method, out)
        fault = row.fault
        if fault.do in ("delay", "hold"):
            self._hold(row, place, method, now_us, out)
            return
        if fault.do in ("alarm", "cut") or (fault.do != "swallow" and fault.when == AFTER):
            out.send(connection, method)
        if fault.do != "swallow":
            self.afterwards.append((row, connection, number))

    # -- what waits ------------------------------------------------------------------------------------------

    def _hold(self, row: Row, place: Place, method: Any, now_us: int, out: Outbox) -> None:
        self.faults.lines[place] = Line(row.number, [method])
        if row.fault.do == "delay":
            out.deadline(_deadline(place), now_us + row.fault.ms * 1_000)

    def release(self, number: int, now_us: int, out: Outbox) -> None:
        """Everything that a fault holds goes on, and an alarm that it raised ends."""
        row = self.faults.row(number)
        for place in [place for place, line in self.faults.lines.items() if line.fault == number]:
            out.cancel(_deadline(place))
            self._go_on(place, now_us, out)
        if row.fault.do == "alarm" and row.hits:
            out.cancel(f"{DEADLINE}alarm.{number}")
            self._end_alarm(row, now_us, out)

    def _go_on(self, place: Place, now_us: int, out: Outbox) -> None:
        """The first has been struck already; those behind it come in their turn."""
        connection, _, sender = whose(place)
        line = self.faults.lines.pop(place, None)
        if line is None:
            return
        if sender == SERVER:
            cast(Watched, out).out.send(connection, line.methods[0])
        else:
            super().receive(connection, line.methods[0], now_us, out)
        for method in line.methods[1:]:
            if connection not in self.connections:
                return
            if sender == SERVER:
                out.send(connection, method)
            else:
                self.read(connection, method, now_us, out)

    def _due(self, name: str, now_us: int, out: Outbox) -> None:
        what, _, rest = name.removeprefix(DEADLINE).partition(".")
        if what == "alarm":
            self._end_alarm(self.faults.row(int(rest)), now_us, out)
        elif what == "crash":
            # Only now, as the answers before it are on their way until here.
            self.faults.crashing.append(int(rest))
            out.tell("serve.fault.crashes", None, {}, {"fault": int(rest)})
        else:
            self._go_on(rest, now_us, out)

    # -- what it ends ----------------------------------------------------------------------------------------

    def _end(self, row: Row, connection: int, number: int, now_us: int, out: Outbox) -> None:
        """The part of a fault that is not about the method alone."""
        fault = row.fault
        known = self.connections.get(connection)
        if fault.do == "crash":
            out.deadline(f"{DEADLINE}crash.{row.number}", now_us)
        elif fault.do == "alarm":
            operator.obey(self, operator.SetAlarm(fault.resource, True), now_us, out)
            if fault.ms:
                out.deadline(f"{DEADLINE}alarm.{row.number}", now_us + fault.ms * 1_000)
        elif known is None:
            return
        elif fault.do == "cut":
            self.faults.cutting.append((row.number, connection))
            out.tell("serve.fault.cuts", None, {}, {"fault": row.number})
        elif fault.do == "close_channel":
            if number in known.channels:
                refused = _refused(fault.code or codes.PRECONDITION_FAILED, fault.text)
                self.refuse(connection, known.channels[number], None, refused, now_us, out)
        else:
            if fault.code:
                out.send(connection, m.ConnectionClose(fault.code, _refused(fault.code, fault.text).text))
            out.close(connection)
            self.drop(connection, "serve.fault", now_us, out)

    def _end_alarm(self, row: Row, now_us: int, out: Outbox) -> None:
        operator.obey(self, operator.SetAlarm(row.fault.resource, False), now_us, out)
        self.unblock_all(now_us, out)

    def _end_step(self, now_us: int, out: Outbox) -> None:
        while self.afterwards:
            row, connection, number = self.afterwards.pop(0)
            self._end(row, connection, number, now_us, out)
        if self.graves or self.messages.freed_bytes:
            self.tidy(now_us, out)

    def _say(self, row: Row, known: Connection, method: Any, out: Outbox) -> None:
        out.tell(
            "serve.fault.struck",
            None,
            {"do": row.fault.do},
            {"fault": row.number, "method": type(method).__struct_config__.tag, "connection": known.name},
        )


def _deadline(place: Place) -> str:
    return f"{DEADLINE}line.{place}"


def _refused(code: int, text: str) -> Refused:
    return Refused(code, text or "a fault of this run")
