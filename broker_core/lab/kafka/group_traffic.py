"""What the members of a group and its coordinator have said lately: each request with its answer, and when
each passed where.

    sent ─► arrived ─► (parked) ─► answered ─► received          lost: the connection broke before the answer came

Requests and answers of one connection keep their order, so an event belongs to the oldest exchange of its
connection that has not had it. Heartbeats and commits that went well and changed nothing are `quiet`; they
are kept apart, so that they never push a rebalance out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from broker_core.events import Json
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.gathering import group_of_request
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.decoded import (
    ANSWERS,
    KINDS,
    Fields,
    assignment_text,
    code_name,
    fields_of,
    ids_text,
    worst_code,
)
from broker_core.kafka.group.topics import topic_id
from broker_core.lab.kafka.group import GROUP_ID

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

TOLD_KEPT, QUIET_KEPT = 80, 40
QUIET_KINDS = ("heartbeat", "commit", "beat")
TOOL = "tool"
"""Who asks on a connection that no consumer of the group opened: a person's tool."""

Names = Callable[[], Mapping[str, str]]


@dataclass(slots=True)
class Exchange:
    """A request and its answer. member: client.id of who asked. broker: who read it, 0 before. Times in
    virtual microseconds, None before. fields, answer: what they say. note: what the answer comes to, in a few
    words of the protocol. code: the answer's error code."""

    kind: str
    member: str
    connection: int
    sent_us: int
    fields: Fields
    broker: int = 0
    arrived_us: int | None = None
    answered_us: int | None = None
    received_us: int | None = None
    lost_us: int | None = None
    answer: Fields = field(default_factory=list)
    note: str = ""
    code: int = 0
    is_quiet: bool = False

    @property
    def is_open(self) -> bool:
        return self.received_us is None and self.lost_us is None


@dataclass(slots=True)
class GroupTraffic:
    """exchanges: by number, the oldest first. under_way: connection -> numbers of exchanges that are open
    there. made: how many there were.
    epochs: member -> the epoch that its last heartbeat was answered with."""

    exchanges: dict[int, Exchange] = field(default_factory=dict)
    under_way: dict[int, list[int]] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    made: int = 0

    def sent(self, member: str, connection: int, request: Any, now_us: int, names: Names) -> Exchange | None:
        kind = KINDS.get(type(request))
        if kind is None:
            return None
        self.made += 1
        exchange = Exchange(
            kind, member, connection, now_us, fields_of(request, names() if kind == "beat" else {})
        )
        self.exchanges[self.made] = exchange
        self.under_way.setdefault(connection, []).append(self.made)
        self._thin()
        return exchange

    def arrived(self, broker_id: int, connection: int, request: Any, now_us: int, names: Names) -> None:
        kind = KINDS.get(type(request))
        if kind is None:
            return
        found = self._first(connection, lambda one: one.kind == kind and one.arrived_us is None)
        exchange = found or self.sent(TOOL, connection, request, now_us, names)
        if exchange is not None:
            exchange.arrived_us, exchange.broker = now_us, broker_id

    def answered(self, connection: int, response: Any, now_us: int, names: Names) -> None:
        exchange = self._first(connection, lambda one: one.arrived_us is not None and one.answered_us is None)
        if exchange is None:
            return
        exchange.answered_us = now_us
        self._read(exchange, response, names)
        if exchange.member == TOOL:
            exchange.received_us = now_us
            self._close(connection, exchange)

    def received(self, connection: int, response: Any, now_us: int, names: Names) -> None:
        kind = ANSWERS.get(type(response))
        if kind is None:
            return
        exchange = self._first(connection, lambda one: one.kind == kind)
        if exchange is None:
            return
        exchange.received_us = now_us
        if exchange.answered_us is None:  # a FindCoordinator, which any broker answers at once
            self._read(exchange, response, names)
        self._close(connection, exchange)

    def lost(self, connection: int, now_us: int) -> None:
        for number in self.under_way.pop(connection, ()):
            if number in self.exchanges:
                self.exchanges[number].lost_us = now_us

    def _first(self, connection: int, fits: Callable[[Exchange], bool]) -> Exchange | None:
        numbers = self.under_way.get(connection, ())
        return next(
            (
                self.exchanges[number]
                for number in numbers
                if number in self.exchanges and fits(self.exchanges[number])
            ),
            None,
        )

    def _close(self, connection: int, exchange: Exchange) -> None:
        left = [
            number
            for number in self.under_way.get(connection, ())
            if number in self.exchanges and self.exchanges[number] is not exchange
        ]
        if left:
            self.under_way[connection] = left
        else:
            self.under_way.pop(connection, None)

    def _read(self, exchange: Exchange, response: Any, names: Names) -> None:
        exchange.code = worst_code(response)
        exchange.answer = fields_of(response, names() if exchange.kind == "beat" else {})
        exchange.note, news = note_of(response, names)
        if isinstance(response, m.ConsumerGroupHeartbeatResponse):
            news = (
                news or self.epochs.get(exchange.member) != response.member_epoch or len(exchange.fields) > 3
            )
            self.epochs[exchange.member] = response.member_epoch
        exchange.is_quiet = exchange.kind in QUIET_KINDS and not exchange.code and not news

    def _thin(self) -> None:
        """Drop the oldest of each sort, but none that is the last without an answer on its connection: who waits
        for the coordinator stays on record, however many do. Of several that a paused program leaves behind one stays."""
        while len(self.exchanges) > TOLD_KEPT + QUIET_KEPT:
            quiet = [number for number, one in self.exchanges.items() if one.is_quiet]
            told = (number for number, one in self.exchanges.items() if self._is_told(number, one))
            dropped = quiet[0] if len(quiet) > QUIET_KEPT else next(told, quiet[0] if quiet else None)
            if dropped is None:
                return
            connection = self.exchanges.pop(dropped).connection
            if dropped in self.under_way.get(connection, ()):
                self.under_way[connection].remove(dropped)

    def _is_told(self, number: int, one: Exchange) -> bool:
        """Not quiet, and over or followed by another on its connection."""
        return not one.is_quiet and (not one.is_open or self.under_way[one.connection][-1] != number)

    def view(self, since_us: int) -> Json:
        """Exchanges that began after a moment, by number."""
        return {
            str(number): exchange_view(one)
            for number, one in self.exchanges.items()
            if one.sent_us >= since_us or one.is_open
        }


def note_of(response: Any, names: Names) -> tuple[str, bool]:
    """What an answer comes to, in the protocol's own words, and whether a member learns something new from
    it."""
    match response:
        case m.JoinGroupResponse(error_code=0):
            leads = " leader" if response.leader == response.member_id else ""
            return f"generation {response.generation_id}{leads}", True
        case m.SyncGroupResponse(error_code=0):
            return assignment_text(response.assignment), True
        case m.ConsumerGroupHeartbeatResponse(error_code=0):
            if response.assignment is None:
                return f"epoch {response.member_epoch}", False
            return (
                f"epoch {response.member_epoch} {ids_text(response.assignment.topic_partitions, names())}".rstrip(),
                True,
            )
    return "", False


def exchange_view(one: Exchange) -> Json:
    return {
        "kind": one.kind,
        "member": one.member,
        "broker": one.broker,
        "sent_us": one.sent_us,
        "arrived_us": one.arrived_us,
        "answered_us": one.answered_us,
        "received_us": one.received_us,
        "lost_us": one.lost_us,
        "fields": one.fields,
        "answer": one.answer,
        "note": one.note,
        "code": one.code,
        "error": code_name(one.code) if one.code else "",
        "quiet": one.is_quiet,
    }


class Listening:
    """A lane's ear: it gives what it hears its virtual time, and the names of topics."""

    def __init__(self, lane: Lane, traffic: Callable[[], GroupTraffic]) -> None:
        self.lane, self.traffic = lane, traffic

    def topic_names(self) -> Mapping[str, str]:
        controller: ControllerState = self.lane.world.slots[CONTROLLER].node.state
        return {topic_id(name): name for name in controller.rules.topics if not name.startswith("__")}

    def sent(self, client_id: str, connection: int, request: Any) -> None:
        self.traffic().sent(client_id, connection, request, self.lane.world.now_us, self.topic_names)

    def arrived(self, broker_id: int, connection: int, request: Any) -> None:
        if group_of_request(request) != GROUP_ID:
            return
        self.traffic().arrived(broker_id, connection, request, self.lane.world.now_us, self.topic_names)

    def answered(self, connection: int, response: Any) -> None:
        self.traffic().answered(connection, response, self.lane.world.now_us, self.topic_names)

    def received(self, connection: int, response: Any) -> None:
        self.traffic().received(connection, response, self.lane.world.now_us, self.topic_names)

    def lost(self, connection: int) -> None:
        self.traffic().lost(connection, self.lane.world.now_us)
