"""A consuming program: one connection, one channel, manual acknowledgements, one message at a time.

The client library buffers what it was sent; the program handles it in order of delivery, and acknowledges
each message when it is done with it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.client import CHANNEL, TAG, hello
from broker_core.rabbitmq.methods import BasicAck, BasicDeliver
from broker_core.rabbitmq.properties import number_of
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume, Traffic


class Subscribe(msgspec.Struct, frozen=True, tag="rabbitmq.worker.subscribe", array_like=True):
    """A person starts the program: connect to `broker`, set the prefetch count, consume."""

    broker: str


@dataclass(slots=True)
class WorkerState:
    """name: of the program, for people. buffer: (delivery tag, message) as they came. hand_tag: of the
    message in hand. refused: the code of the channel or connection exception that ended its consuming."""

    name: str
    queue: str
    prefetch_count: int
    program: Program
    connection: int = 0
    buffer: deque[tuple[int, int]] = field(default_factory=deque)
    hand_tag: int = 0
    refused: int = 0


class Worker:
    def __init__(self, state: WorkerState, traffic: Traffic) -> None:
        self.state = state
        self.traffic = traffic

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state, program = self.state, self.state.program
        if type(message) is BasicDeliver:
            number = number_of(message.message)
            self.traffic.received(out.name, number, now_us)
            if program.is_free:
                state.hand_tag = message.delivery_tag
                program.take(number, now_us, out)
            else:
                state.buffer.append((message.delivery_tag, number))
            return
        match message:
            case Subscribe(broker):
                state.connection = out.connect(broker)
                for method in hello(state.name):
                    out.send(state.connection, method)
                self.consume(out)
                out.deadline("heartbeat", now_us + m.HEARTBEAT_SEND_US)
            case Leave():
                self.let_go(now_us, out)
                if not state.refused:
                    out.send(state.connection, m.ChannelClose(CHANNEL, codes.SUCCESS, "Goodbye"))
            case Pause() | Resume() | Pace():
                program.obey(message)
                self.begin_again(out)
                self.take(now_us, out)
            case m.ChannelClose(_, code):
                state.refused = code
                self.let_go(now_us, out)
                out.send(connection, m.ChannelCloseOk(CHANNEL))
                self.begin_again(out)
            case m.ConnectionClose(code):
                state.refused = code
            case Closed():
                state.connection = 0
                self.let_go(now_us, out)
                out.cancel("heartbeat")

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        if name != DONE:
            out.send(state.connection, m.Heartbeat())
            out.deadline(name, now_us + m.HEARTBEAT_SEND_US)
            return
        state.program.done(now_us, out, self.traffic)
        out.send(state.connection, BasicAck(CHANNEL, state.hand_tag))
        self.take(now_us, out)

    def consume(self, out: Outbox) -> None:
        state = self.state
        out.send(state.connection, m.ChannelOpen(CHANNEL))
        # Declared by the first client, as every RabbitMQ tutorial does: the publisher's declare may still be
        # on its way.
        out.send(state.connection, m.QueueDeclare(CHANNEL, state.queue))
        out.send(state.connection, m.BasicQos(CHANNEL, 0, state.prefetch_count))
        out.send(state.connection, m.BasicConsume(CHANNEL, state.queue, TAG))

    def begin_again(self, out: Outbox) -> None:
        """The program, unless it is paused, opens a new channel in place of one that was closed because it
        had acknowledged too late."""
        state = self.state
        if state.refused == codes.PRECONDITION_FAILED and state.connection and not state.program.is_paused:
            state.refused = 0
            self.consume(out)

    def take(self, now_us: int, out: Outbox) -> None:
        """The program takes the next message, if it is free and there is one."""
        state = self.state
        if state.buffer and state.program.is_free:
            state.hand_tag, message = state.buffer.popleft()
            state.program.take(message, now_us, out)

    def let_go(self, now_us: int, out: Outbox) -> None:
        """What it was sent and has not acknowledged is the broker's again."""
        self.state.program.drop(now_us, out, self.traffic)
        self.state.buffer.clear()
