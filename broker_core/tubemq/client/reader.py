"""The reading half of a pulling consumer: its partitions in turn, one batch out at a time.

    idle, in turn ─getMessage─► batch out ─program done with it─► confirmConsume ─► end of the turn
         ▲                        │ 404 rests 400 ms, 403 2 s, 503 and others 300 ms, 301 200 ms
         └────────────────────────┘ 411, 412, 415: the partition is not its own any more

The broker's flow rules answer 452 and how long to rest; those that the master hands out the client keeps itself, at
the end of a batch or of a read that found nothing (`flow_control.py`). A batch that was not confirmed for 60 s may be
read again, and confirming it then does nothing.
Source: TubeMQ (InLong) SimplePullMessageConsumer, RmtDataCache, BaseMessageConsumer.fetchMessage.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.sim.node import Outbox
from broker_core.sim.program import Program, Traffic
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.call_answers import DROPPED_BY
from broker_core.tubemq.client.consumer_object import REST_AFTER_US
from broker_core.tubemq.flow_control import NO_LIMIT, FlowRules, Pace, parse_rules
from broker_core.tubemq.metadata import UNDEFINED
from broker_core.tubemq.partition_key import broker_of

OTHER_REST_US = 300 * MILLISECOND_US
PROTECT_US = 60 * SECOND_US
"""pullProtectConfirmTimeoutMs."""
REST = "rest:"
"""Before the key of a partition: the deadline at which it is read again."""


@dataclass(slots=True)
class ReaderState:
    """program: that handles what is read. brokers: node name of each broker id; connections: to them, each opened when
    it is needed. held: registered partitions, in order of
    registering. idle: of them, those in turn. waiting: partition whose read is under way. reading: partition of the
    batch that is out, "" for none; since_us: since when; is_overdue: it may be read again by now. batch: its messages
    that are not handled. first_us: when the first message of all was read, -1 before."""

    program: Program
    brokers: dict[int, str] = field(default_factory=dict)
    connections: dict[int, int] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    idle: deque[str] = field(default_factory=deque)
    waiting: str = ""
    reading: str = ""
    since_us: int = 0
    is_overdue: bool = False
    batch: deque[int] = field(default_factory=deque)
    first_us: int = -1
    flow_id: int = UNDEFINED
    flow_rules: list[str] = field(default_factory=lambda: ["", ""])
    paces: dict[str, Pace] = field(default_factory=dict)


class Reader:
    def __init__(self, state: ReaderState, client_id: str, group: str, traffic: Traffic) -> None:
        self.state, self.client_id, self.group, self.traffic = state, client_id, group, traffic

    def send(self, key: str, request: r.Request, out: Outbox) -> None:
        """To the broker of a partition. A connection that broke is opened again with the next request, as to a broker
        that is down it would only break again."""
        broker_id, connections = broker_of(key), self.state.connections
        if broker_id not in connections:
            connections[broker_id] = out.connect(self.state.brokers[broker_id])
        out.send(connections[broker_id], request)

    def add(self, key: str, now_us: int, out: Outbox) -> None:
        """A partition is registered."""
        if key not in self.state.held:
            self.state.held.append(key)
            self.state.idle.append(key)
            self.read(now_us, out)

    def drop(self, key: str, now_us: int, out: Outbox) -> None:
        """A partition is not its own any more; what is not confirmed of it the next owner reads again."""
        state = self.state
        if key not in state.held:
            return
        state.held.remove(key)
        state.paces.pop(key, None)
        if key in state.idle:
            state.idle.remove(key)
        out.cancel(REST + key)
        if key == state.waiting:
            state.waiting = ""
        if key == state.reading:
            self.drop_batch(now_us, out)
        self.read(now_us, out)

    def drop_batch(self, now_us: int, out: Outbox) -> None:
        state = self.state
        state.reading = ""
        state.program.drop(now_us, out, self.traffic)
        for number in state.batch:
            self.traffic.dropped(out.name, number, now_us)
        state.batch.clear()

    def read(self, now_us: int, out: Outbox) -> None:
        """getMessage of the next partition in turn, if nothing is out."""
        state = self.state
        if not state.idle or state.waiting or state.reading or state.program.is_paused:
            return
        key = state.waiting = state.idle.popleft()
        request = r.GetMessageRequestC2B(self.client_id, self.group, key)
        if state.flow_rules[1]:
            request.escapes_flow_control = self.rules[1].data_limit(NO_LIMIT, now_us) is not None
        self.send(key, request, out)

    # -- flow rules ------------------------------------------------------------------------------------------

    def take_rules(self, answer: r.RegisterResponseM2C | r.HeartResponseM2C) -> None:
        """The master hands out rules that are new."""
        if answer.flow_rules:
            self.state.flow_id, self.state.flow_rules = answer.flow_id, answer.flow_rules[:]
            self.state.paces.clear()

    @property
    def rules(self) -> tuple[FlowRules, FlowRules]:
        default, own = self.state.flow_rules
        return parse_rules(default), parse_rules(own)

    def rest_after_empty_us(self, key: str) -> int:
        """How long a partition rests that had nothing: the group's rules go before the default ones."""
        rest_us = REST_AFTER_US[r.NOT_FOUND]
        if not any(self.state.flow_rules):
            return rest_us
        pace = self.state.paces.setdefault(key, Pace())
        pace.empty_reads += 1
        default, own = self.rules
        return (own if own.empty_reads else default).rest_after_empty(pace.empty_reads, rest_us)

    def note_batch(self, answer: r.GetMessageResponseB2C, now_us: int) -> None:
        if not any(self.state.flow_rules):
            return
        pace = self.state.paces.setdefault(answer.partition, Pace())
        pace.empty_reads = 0
        pace.read(answer.size)
        default, own = self.rules
        pace.look(own.data_limit(answer.lag, now_us) or default.data_limit(answer.lag, now_us), now_us)

    def turn(self, key: str, now_us: int, out: Outbox) -> None:
        """A batch is over: its partition goes to the end of the turn, or rests when it was read too fast."""
        pace = self.state.paces.get(key)
        rest_us = pace.rest_us if pace is not None and pace.is_over else 0
        rest_us -= now_us - self.state.since_us
        if rest_us > 10 * MILLISECOND_US:
            out.deadline(REST + key, now_us + rest_us)
        else:
            self.state.idle.append(key)

    # -- a batch ---------------------------------------------------------------------------------------------

    def on_read(self, answer: r.GetMessageResponseB2C, now_us: int, out: Outbox) -> str:
        """Gives the partition that the broker says is not its own, "" for none."""
        state, key = self.state, answer.partition
        if key != state.waiting:
            return ""  # it was dropped while the answer was under way
        state.waiting = ""
        if answer.code == r.SUCCESS:
            state.reading, state.since_us, state.is_overdue = key, now_us, False
            self.note_batch(answer, now_us)
            state.batch.extend(answer.messages)
            if state.first_us < 0:
                state.first_us = now_us
            for number in answer.messages:
                self.traffic.received(out.name, number, now_us)
            self.go_on(now_us, out)
            return ""
        if answer.code in DROPPED_BY:
            self.drop(key, now_us, out)
            return key
        if answer.code == r.NOT_FOUND:
            rest_us = self.rest_after_empty_us(key)
        elif answer.code == r.SERVER_CONSUME_SPEED_LIMIT:
            rest_us = answer.min_limit_us
        else:
            rest_us = REST_AFTER_US.get(answer.code, OTHER_REST_US)
        out.deadline(REST + key, now_us + rest_us)
        self.read(now_us, out)
        return ""

    def read_failed(self, now_us: int, out: Outbox) -> None:
        """The read under way has no answer; the program's loop tries that partition again a little later."""
        key, self.state.waiting = self.state.waiting, ""
        out.deadline(REST + key, now_us + REST_AFTER_US[r.NOT_FOUND])
        self.read(now_us, out)

    def rested(self, key: str, now_us: int, out: Outbox) -> None:
        if key in self.state.held:
            self.state.idle.append(key)
            self.read(now_us, out)

    def go_on(self, now_us: int, out: Outbox) -> None:
        """The program takes the next message of its batch; with none, the next read."""
        state = self.state
        if not state.batch:
            self.read(now_us, out)
        elif state.program.is_free:
            state.program.take(state.batch.popleft(), now_us, out)

    def on_handled(self, now_us: int, out: Outbox) -> str:
        """The batch is confirmed with its last message. Gives the partition of a batch that is over."""
        state = self.state
        state.program.done(now_us, out, self.traffic)
        over = ""
        if not state.batch:
            over, state.reading = state.reading, ""
            if not state.is_overdue:
                self.send(over, r.CommitOffsetRequestC2B(self.client_id, self.group, over, True), out)
                self.turn(over, now_us, out)
        self.go_on(now_us, out)
        return over

    def stop(self, now_us: int, out: Outbox) -> None:
        """It reads no more; its partitions stay registered."""
        state = self.state
        self.drop_batch(now_us, out)
        for key in state.held:
            out.cancel(REST + key)
        state.idle.clear()
        state.waiting = ""

    def resume_overdue(self, now_us: int) -> None:
        """A batch is out for too long: its partition may be read again."""
        state = self.state
        if state.reading and not state.is_overdue and now_us - state.since_us >= PROTECT_US:
            state.is_overdue = True
            state.idle.append(state.reading)
