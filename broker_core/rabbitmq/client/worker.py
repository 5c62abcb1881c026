"""A consuming program: one connection, one channel, manual acknowledgements, one message at a time.

The client library buffers what it was sent; the program handles it in order and acknowledges each message by itself.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.methods import BasicAck, BasicDeliver
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume, Traffic

CHANNEL = 1
TAG = "ctag"


class Subscribe(msgspec.Struct, frozen=True, tag="rabbitmq.worker.subscribe", array_like=True):
    """A person starts the program: connect to `broker`, set the prefetch count, consume."""

    broker: str


@dataclass(slots=True)
class WorkerState:
    """name: of the program, for people. buffer: (delivery tag, message) as they came. hand_tag: of the message in hand. refused: the code of
    the last channel or connection exception."""

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
        state = self.state
        if type(message) is BasicDeliver:
            number = message.message
            if self.traffic.is_watched:
                self.traffic.received(out.name, number, now_us)
            program = state.program
            if program.hand < 0 and not program.is_paused:
                state.hand_tag = message.delivery_tag
                program.take(number, now_us, out)
            else:
                state.buffer.append((message.delivery_tag, number))
            return
        match message:
            case Subscribe(broker):
                state.connection = out.connect(broker)
                out.send(state.connection, m.ConnectionStartOk(state.name))
                out.send(state.connection, m.ChannelOpen(CHANNEL))
                # Declared by the first client, as every RabbitMQ tutorial does: the publisher's declare may still be on its way.
                out.send(state.connection, m.QueueDeclare(CHANNEL, state.queue))
                out.send(state.connection, m.BasicQos(CHANNEL, state.prefetch_count))
                out.send(state.connection, m.BasicConsume(CHANNEL, state.queue, TAG))
                out.deadline("heartbeat", now_us + m.HEARTBEAT_SEND_US)
            case Leave():
                self.let_go(now_us, out)
                if not state.refused:
                    out.send(state.connection, m.ChannelClose(CHANNEL, m.SUCCESS, "Goodbye"))
            case Pause() | Resume() | Pace():
                state.program.obey(message)
                self.take(now_us, out)
            case m.ChannelClose(_, code, _):
                state.refused = code
                self.let_go(now_us, out)
                out.send(connection, m.ChannelCloseOk(CHANNEL))
            case m.ConnectionClose(code, _):
                state.refused = code
            case Closed():
                state.connection = 0
                self.let_go(now_us, out)
                out.cancel("heartbeat")

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        if name == DONE:
            state.program.done(now_us, out, self.traffic)
            out.send(state.connection, BasicAck(CHANNEL, state.hand_tag))
            if state.buffer:
                self.take(now_us, out)
        else:
            out.send(state.connection, m.Heartbeat())
            out.deadline(name, now_us + m.HEARTBEAT_SEND_US)

    def take(self, now_us: int, out: Outbox) -> None:
        """The program takes the next message, if it is free and there is one."""
        state = self.state
        if state.buffer and state.program.hand < 0 and not state.program.is_paused:
            state.hand_tag, message = state.buffer.popleft()
            state.program.take(message, now_us, out)

    def let_go(self, now_us: int, out: Outbox) -> None:
        """What it was sent and has not acknowledged is the broker's again."""
        self.state.program.drop(now_us, out, self.traffic)
        self.state.buffer.clear()
