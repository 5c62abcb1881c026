"""A consuming program: one connection, one channel, one consumer, one message at a time.

The client library buffers what it was sent; the program handles it in order of delivery. What it answers when it is
done with a message, its role says (`roles.py`): an acknowledgement, as a rule.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.client import CHANNEL, TAG
from broker_core.rabbitmq.client.connecting import RECONNECT_US, connect
from broker_core.rabbitmq.client.roles import AUTO, NEVER, REJECT, REQUEUE, ConsumerRole
from broker_core.rabbitmq.methods import BasicAck, BasicDeliver
from broker_core.rabbitmq.properties import number_of
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume, Traffic

ACK, NACK = "ack", "nack"


class Subscribe(msgspec.Struct, frozen=True, tag="rabbitmq.worker.subscribe", array_like=True):
    """A person starts the program: connect to `broker`, set the prefetch count, consume."""

    broker: str


class Retake(msgspec.Struct, frozen=True, tag="rabbitmq.worker.retake", array_like=True):
    """A person has the program changed: it cancels its consumer and consumes once more, with this prefetch count,
    way of acknowledging (`roles.py`) and priority. What it holds it keeps."""

    prefetch_count: int
    ack: str
    only: str
    priority: int


class Settle(msgspec.Struct, frozen=True, tag="rabbitmq.worker.settle", array_like=True):
    """A person lets the program settle all that it holds at once. how: ACK or NACK. requeue: of a nack."""

    how: str
    requeue: bool = False


WorkerOrder = Subscribe | Retake | Settle


@dataclass(slots=True)
class WorkerState:
    """name: of the program, for people. buffer: (delivery tag, message, whether `role.only` means it) as they came.
    hand_tag, hand_is_odd: of the message in hand. tag: of its consumer;
    one that consumes another way has a new one. refused,
    refused_text: the channel or connection exception that ended its consuming. is_cancelled: the server cancelled its
    consumer, as the queue was deleted; its channel stays open. broker: where it connects."""

    name: str
    role: ConsumerRole
    program: Program
    broker: str = ""
    connection: int = 0
    buffer: deque[tuple[int, int, bool]] = field(default_factory=deque)
    hand_tag: int = 0
    hand_is_odd: bool = False
    tag: str = TAG
    refused: int = 0
    refused_text: str = ""
    is_cancelled: bool = False


class Worker:
    def __init__(
        self,
        state: WorkerState,
        traffic: Traffic,
        declares: Callable[[ConsumerRole], list[m.Method]] = lambda role: [],
    ) -> None:
        """declares: what the program makes sure of when it connects again."""
        self.state = state
        self.traffic = traffic
        self.declares = declares

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state, program = self.state, self.state.program
        if type(message) is BasicDeliver:
            number, only = number_of(message.message), state.role.only
            is_odd = not only or only == message.routing_key
            self.traffic.received(out.name, number, now_us)
            if program.is_free:
                state.hand_tag, state.hand_is_odd = message.delivery_tag, is_odd
                program.take(number, now_us, out)
            else:
                state.buffer.append((message.delivery_tag, number, is_odd))
            return
        match message:
            case Subscribe(broker):
                state.broker = broker
                out.cancel("connect")
                self.connect(out)
                out.deadline("heartbeat", now_us + m.HEARTBEAT_SEND_US)
            case Leave():
                self.let_go(now_us, out)
                if not state.refused and state.connection:
                    out.send(state.connection, m.ChannelClose(CHANNEL, codes.SUCCESS, "Goodbye"))
            case Pause() | Resume() | Pace():
                program.obey(message)
                self.begin_again(out)
                self.take(now_us, out)
            case Retake():
                self.retake(message, out)
            case Settle(how, requeue):
                self.settle_all(how, requeue, now_us, out)
            case m.BasicCancel(_, tag) if tag == state.tag:
                state.is_cancelled = True
                out.tell(
                    "rabbitmq.consumer.cancelled", "rabbitmq.queue.deleted", {}, {"consumer": state.name}
                )
            case m.ChannelClose(_, code, text):
                self.note_refusal(code, text, out)
                self.let_go(now_us, out)
                out.send(connection, m.ChannelCloseOk(CHANNEL))
                self.begin_again(out)
            case m.ConnectionClose(code, text):
                if code != codes.CONNECTION_FORCED:
                    self.note_refusal(code, text, out)
            case Closed():
                state.connection = 0
                self.let_go(now_us, out)
                out.cancel("heartbeat")
                if not state.refused:  # the server has gone: it may come back
                    out.deadline("connect", now_us + RECONNECT_US)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        if name == "connect":
            self.connect(out, self.declares(state.role))
            out.deadline("heartbeat", now_us + m.HEARTBEAT_SEND_US)
            return
        if name != DONE:
            out.send(state.connection, m.Heartbeat())
            out.deadline(name, now_us + m.HEARTBEAT_SEND_US)
            return
        state.program.done(now_us, out, self.traffic)
        self.settle(state.hand_tag, state.hand_is_odd, out)
        self.take(now_us, out)

    def connect(self, out: Outbox, declares: list[m.Method] | None = None) -> None:
        state = self.state
        state.connection = connect(state.broker, state.name, state.role.login, out)
        for method in declares or ():
            out.send(state.connection, method)
        self.consume(out)

    def consume(self, out: Outbox) -> None:
        """On a channel just opened."""
        state, role = self.state, self.state.role
        if not role.queue:
            out.send(state.connection, m.QueueDeclare(CHANNEL, "", exclusive=True, auto_delete=True))
            for binding in role.bindings:
                out.send(
                    state.connection,
                    m.QueueBind(
                        CHANNEL, "", binding.exchange, binding.routing_key, arguments=binding.arguments
                    ),
                )
        elif role.is_declared:
            # By the first client, as every RabbitMQ tutorial does: the publisher's declare may still be on its
            # way.
            out.send(state.connection, m.QueueDeclare(CHANNEL, role.queue))
        self.subscribe(out)

    def subscribe(self, out: Outbox) -> None:
        state, role = self.state, self.state.role
        state.is_cancelled = False
        arguments = {"x-priority": role.priority} if role.priority else {}
        out.send(state.connection, m.BasicQos(CHANNEL, 0, role.prefetch_count))
        out.send(
            state.connection,
            m.BasicConsume(
                CHANNEL,
                role.queue,
                state.tag,
                no_ack=role.ack == AUTO,
                exclusive=role.is_exclusive,
                arguments=arguments,
            ),
        )

    def retake(self, order: Retake, out: Outbox) -> None:
        state, role = self.state, self.state.role
        before = role.prefetch_count, role.ack == AUTO, role.priority
        role.prefetch_count, role.ack, role.priority = order.prefetch_count, order.ack, order.priority
        role.only = order.only
        is_other = before != (role.prefetch_count, role.ack == AUTO, role.priority)
        if state.connection and (is_other or state.is_cancelled):
            if not state.is_cancelled:
                out.send(state.connection, m.BasicCancel(CHANNEL, state.tag))
            state.tag = f"{TAG}-{int(state.tag.partition('-')[2] or 1) + 1}"
            self.subscribe(out)

    def settle(self, tag: int, is_odd: bool, out: Outbox) -> None:
        """The program is done with the message of this delivery tag."""
        connection, role = self.state.connection, self.state.role
        if role.ack == AUTO:
            return
        if not is_odd or role.ack not in (NEVER, REJECT, REQUEUE):
            out.send(connection, BasicAck(CHANNEL, tag))
        elif role.ack != NEVER:
            out.send(connection, m.BasicReject(CHANNEL, tag, role.ack == REQUEUE))

    def settle_all(self, how: str, requeue: bool, now_us: int, out: Outbox) -> None:
        """All that is outstanding on the channel, also what the program has in hand."""
        state = self.state
        if not state.connection or state.refused:
            return
        self.let_go(now_us, out)
        if how == ACK:
            out.send(state.connection, BasicAck(CHANNEL, 0, True))
        else:
            out.send(state.connection, m.BasicNack(CHANNEL, 0, True, requeue))

    def begin_again(self, out: Outbox) -> None:
        """The program, unless it is paused, opens a new channel in place of one that was closed because it
        had acknowledged too late."""
        state = self.state
        if state.refused == codes.PRECONDITION_FAILED and state.connection and not state.program.is_paused:
            state.refused, state.refused_text = 0, ""
            out.send(state.connection, m.ChannelOpen(CHANNEL))
            self.consume(out)

    def take(self, now_us: int, out: Outbox) -> None:
        """The program takes the next message, if it is free and there is one."""
        state = self.state
        if state.buffer and state.program.is_free:
            state.hand_tag, message, state.hand_is_odd = state.buffer.popleft()
            state.program.take(message, now_us, out)

    def let_go(self, now_us: int, out: Outbox) -> None:
        """What it was sent and has not acknowledged is the broker's again."""
        self.state.program.drop(now_us, out, self.traffic)
        self.state.buffer.clear()

    def note_refusal(self, code: int, text: str, out: Outbox) -> None:
        state = self.state
        state.refused, state.refused_text = code, text
        if code != codes.PRECONDITION_FAILED:  # of a timeout the broker tells
            out.tell(
                "rabbitmq.consumer.refused",
                None,
                {"reply_code": code, "reply_text": text},
                {"consumer": state.name},
            )
