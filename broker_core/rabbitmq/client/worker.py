"""A consuming program: one connection, one channel, manual acknowledgements, one message at a time.

The client library buffers what it was sent; the program handles it in order and acknowledges each message by
itself. As long as nobody asks anything else of it, it plans all that (`plan.py`); step by step it goes while
it is paused or somebody watches each of its messages.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.events import Cause
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client import CHANNEL, TAG
from broker_core.rabbitmq.client.plan import Planned, arrived, go_ahead, recall, settle
from broker_core.rabbitmq.methods import BasicAck, BasicDeliver
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume, Traffic

NO_CAUSE = Cause()


class Subscribe(msgspec.Struct, frozen=True, tag="rabbitmq.worker.subscribe", array_like=True):
    """A person starts the program: connect to `broker`, set the prefetch count, consume."""

    broker: str


@dataclass(slots=True)
class WorkerState:
    """name: of the program, for people. buffer: (delivery tag, message) as they came. hand_tag: of the
    message in hand. ahead: what it has planned, in order. refused: the code of the channel or connection
    exception that ended its consuming."""

    name: str
    queue: str
    prefetch_count: int
    program: Program
    connection: int = 0
    buffer: deque[tuple[int, int]] = field(default_factory=deque)
    hand_tag: int = 0
    ahead: deque[Planned] = field(default_factory=deque)
    refused: int = 0


class Worker:
    def __init__(self, state: WorkerState, traffic: Traffic) -> None:
        self.state = state
        self.traffic = traffic

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state, program = self.state, self.state.program
        if type(message) is BasicDeliver:
            if self.traffic.is_watched:
                self.traffic.received(out.name, message.message, now_us)
            elif state.ahead or (program.is_free and not state.buffer):
                arrived(self, message, now_us, out)
                return
            if program.is_free:
                state.hand_tag = message.delivery_tag
                program.take(message.message, now_us, out)
            else:
                state.buffer.append((message.delivery_tag, message.message))
            return
        self.recall(now_us, out)
        match message:
            case Subscribe(broker):
                state.connection = out.connect(broker)
                out.send(state.connection, m.ConnectionStartOk(state.name))
                self.consume(out)
                out.deadline("heartbeat", now_us + m.HEARTBEAT_SEND_US)
            case Leave():
                self.let_go(now_us, out)
                if not state.refused:
                    out.send(state.connection, m.ChannelClose(CHANNEL, m.SUCCESS, "Goodbye"))
            case Pause() | Resume() | Pace():
                program.obey(message)
                self.begin_again(out)
                self.take(now_us, out)
            case m.ChannelClose(_, code, _):
                state.refused = code
                self.let_go(now_us, out)
                out.send(connection, m.ChannelCloseOk(CHANNEL))
                self.begin_again(out)
            case m.ConnectionClose(code, _):
                state.refused = code
            case Closed():
                state.connection = 0
                self.let_go(now_us, out)
                out.cancel("heartbeat")

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        if name != DONE:
            self.recall(now_us, out)
            out.send(state.connection, m.Heartbeat())
            out.deadline(name, now_us + m.HEARTBEAT_SEND_US)
        elif state.ahead or state.program.hand < 0:  # what was planned is done
            settle(self, now_us, out)
        else:
            state.program.done(now_us, out, self.traffic)
            out.send(state.connection, BasicAck(CHANNEL, state.hand_tag))
        self.take(now_us, out)

    def consume(self, out: Outbox) -> None:
        state = self.state
        out.send(state.connection, m.ChannelOpen(CHANNEL))
        # Declared by the first client, as every RabbitMQ tutorial does: the publisher's declare may still be
        # on its way.
        out.send(state.connection, m.QueueDeclare(CHANNEL, state.queue))
        out.send(state.connection, m.BasicQos(CHANNEL, state.prefetch_count))
        out.send(state.connection, m.BasicConsume(CHANNEL, state.queue, TAG))

    def begin_again(self, out: Outbox) -> None:
        """The program, unless it is paused, opens a new channel in place of one that was closed because it
        had acknowledged too late."""
        state = self.state
        if state.refused == m.PRECONDITION_FAILED and state.connection and not state.program.is_paused:
            state.refused = 0
            self.consume(out)

    def take(self, now_us: int, out: Outbox) -> None:
        """The program goes on, unless it is paused: it plans what it has, or takes the next message if it is
        free and there is one."""
        state = self.state
        if state.program.is_paused or not state.connection:
            return
        if not self.traffic.is_watched:
            go_ahead(self, now_us, out)
        elif state.buffer and state.program.hand < 0:
            state.hand_tag, message = state.buffer.popleft()
            state.program.take(message, now_us, out)

    def expect(self, message: BasicDeliver, at_us: int, because: Cause | None, out: Outbox) -> None:
        """The program takes this message when it has arrived and those before it are done."""
        state = self.state
        ahead, program = state.ahead, state.program
        done_us = ahead[-1][1] if ahead else at_us
        if done_us <= at_us:  # it is idle then
            done_us, program.because = at_us, because or NO_CAUSE
        done_us += program.service_us
        ahead.append((at_us, done_us, message, because))
        out.post(state.connection, BasicAck(CHANNEL, message.delivery_tag), done_us, program.because)

    def recall(self, now_us: int, out: Outbox) -> None:
        if self.state.ahead:
            recall(self, now_us, out)
        out.shut_door()

    def settle(self, now_us: int, out: Outbox) -> None:
        settle(self, now_us, out)

    def thaw(self, now_us: int, out: Outbox) -> None:
        """What came due while the process was stopped comes due now, by itself."""

    def let_go(self, now_us: int, out: Outbox) -> None:
        """What it was sent and has not acknowledged is the broker's again."""
        self.state.program.drop(now_us, out, self.traffic)
        self.state.buffer.clear()
