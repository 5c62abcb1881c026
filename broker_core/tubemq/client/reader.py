"""The reading half of a pulling consumer: its partitions in turn, one batch out at a time.

    idle, in turn ─getMessage─► batch out ─program done with it─► confirmConsume ─► end of the turn
         ▲                        │ 404 rests 400 ms, 403 2 s, 503 and others 300 ms, 301 200 ms
         └────────────────────────┘ 411, 412, 415: the partition is not its own any more

A batch that was not confirmed for 60 s may be read again, and confirming it then does nothing.
Source: TubeMQ (InLong) SimplePullMessageConsumer, RmtDataCache, BaseMessageConsumer.fetchMessage.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.sim.node import Outbox
from broker_core.sim.program import Program, Traffic
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.client_balance_consumer import DROPPED_BY
from broker_core.tubemq.client.consumer_object import REST_AFTER_US
from broker_core.tubemq.partition_key import broker_of

OTHER_REST_US = 300 * MILLISECOND_US
PROTECT_US = 60 * SECOND_US
"""pullProtectConfirmTimeoutMs."""
REST = "rest:"
"""Before the key of a partition: the deadline at which it is read again."""


@dataclass(slots=True)
class ReaderState:
    """program: that handles what is read. connections: of brokers, by id. held: registered partitions, in order of
    registering. idle: of them, those in turn. waiting: partition whose read is under way. reading: partition of the
    batch that is out, "" for none; since_us: since when; is_overdue: it may be read again by now. batch: its messages
    that are not handled. first_us: when the first message of all was read, -1 before."""

    program: Program
    connections: dict[int, int] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    idle: deque[str] = field(default_factory=deque)
    waiting: str = ""
    reading: str = ""
    since_us: int = 0
    is_overdue: bool = False
    batch: deque[int] = field(default_factory=deque)
    first_us: int = -1


class Reader:
    def __init__(self, state: ReaderState, client_id: str, group: str, traffic: Traffic) -> None:
        self.state, self.client_id, self.group, self.traffic = state, client_id, group, traffic

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
        out.send(state.connections[broker_of(key)], r.GetMessageRequestC2B(self.client_id, self.group, key))

    def on_read(self, answer: r.GetMessageResponseB2C, now_us: int, out: Outbox) -> str:
        """Gives the partition that the broker says is not its own, "" for none."""
        state, key = self.state, answer.partition
        if key != state.waiting:
            return ""  # it was dropped while the answer was under way
        state.waiting = ""
        if answer.code == r.SUCCESS:
            state.reading, state.since_us, state.is_overdue = key, now_us, False
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
        out.deadline(REST + key, now_us + REST_AFTER_US.get(answer.code, OTHER_REST_US))
        self.read(now_us, out)
        return ""

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
                out.send(
                    state.connections[broker_of(over)],
                    r.CommitOffsetRequestC2B(self.client_id, self.group, over, True),
                )
                state.idle.append(over)
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
