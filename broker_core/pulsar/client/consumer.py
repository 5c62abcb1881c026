"""A consumer: its receiver queue, the permits it grants, and acknowledgements that go out in groups.

It grants permits for the whole queue when it has subscribed, and again each time the program has taken half of it
(ConsumerImpl.increaseAvailablePermits). Each message is acknowledged by itself; the client sends what gathered within 100 ms in one command
(PersistentAcknowledgmentsGroupingTracker), so a crash may lose the word about messages that were handled.
Source: Pulsar 3.2 client, ConsumerImpl; docs/pulsar/facts.md.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.pulsar import commands as c
from broker_core.pulsar.commands import CommandAck, CommandMessage
from broker_core.pulsar.selectors.protocol import Range
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume, Traffic

CONSUMER_ID = 1
STARTED = "started"


class Subscribe(msgspec.Struct, frozen=True, tag="pulsar.consumer.subscribe", array_like=True):
    """A person starts the program. ranges: for sticky ranges, else empty. after_us: how long it takes to start, before it connects."""

    broker: str
    ranges: list[Range]
    after_us: int = 0


class Resubscribe(msgspec.Struct, frozen=True, tag="pulsar.consumer.resubscribe", array_like=True):
    """A person lets it close its consumer and subscribe again with other ranges, on the same connection."""

    ranges: list[Range]


@dataclass(slots=True)
class ConsumerState:
    """queue: messages received and not yet taken by the program. taken: of them since permits were last granted. acks: handled and not yet
    told to the broker. broker: where it connects to. ranges: sticky ranges of its configuration, else empty. request_id: of the last command
    that is answered. is_subscribed: the broker has said so. refused: name of the last error."""

    name: str
    program: Program
    queue_size: int = c.RECEIVER_QUEUE_SIZE
    ack_group_us: int = c.ACK_GROUP_US
    broker: str = ""
    ranges: list[Range] = field(default_factory=list)
    connection: int = 0
    request_id: int = 0
    is_subscribed: bool = False
    refused: str = ""
    queue: deque[int] = field(default_factory=deque)
    taken: int = 0
    acks: list[int] = field(default_factory=list)


class Consumer:
    def __init__(self, state: ConsumerState, traffic: Traffic) -> None:
        self.state = state
        self.traffic = traffic

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        if type(message) is CommandMessage:
            if state.is_subscribed:  # else it was under way when the consumer closed
                number = message.message
                if self.traffic.is_watched:
                    self.traffic.received(out.name, number, now_us)
                program = state.program
                if program.hand < 0 and not program.is_paused:
                    self.begin(number, now_us, out)
                else:
                    state.queue.append(number)
            return
        match message:
            case Subscribe(broker, ranges, after_us):
                state.broker, state.ranges = broker, ranges
                if after_us:
                    out.deadline(STARTED, now_us + after_us)
                else:
                    self.connect(out)
            case Resubscribe(ranges):
                state.ranges = ranges
                if state.connection:
                    self.close(now_us, out)
                    self.subscribe(out)
            case c.CommandSuccess(request_id):
                if request_id == state.request_id and state.connection:
                    self.on_subscribed(out)
            case c.CommandError(_, error, _):
                state.refused = error
            case c.CommandPing():
                out.send(connection, c.CommandPong())
            case Leave():
                out.cancel(STARTED)
                if state.connection:
                    self.close(now_us, out)
                    out.close(state.connection)
                    state.connection = 0
            case Pause() | Resume() | Pace():
                state.program.obey(message)
                self.take(now_us, out)
            case Closed():
                state.connection, state.is_subscribed = 0, False
                self.let_go(now_us, out)

    def connect(self, out: Outbox) -> None:
        self.state.connection = out.connect(self.state.broker)
        self.subscribe(out)

    def subscribe(self, out: Outbox) -> None:
        state = self.state
        state.request_id += 1
        out.send(state.connection, c.CommandSubscribe(state.request_id, CONSUMER_ID, state.name, state.ranges))

    def on_subscribed(self, out: Outbox) -> None:
        state = self.state
        state.is_subscribed, state.refused, state.taken = True, "", 0
        out.send(state.connection, c.CommandFlow(CONSUMER_ID, state.queue_size))

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        if name == DONE:
            acks = state.acks
            acks.append(state.program.done(now_us, out, self.traffic))
            if not state.ack_group_us:
                self.send_acks(out)
            elif len(acks) == 1:
                out.deadline("acks", now_us + state.ack_group_us)
            if state.queue and not state.program.is_paused:
                self.begin(state.queue.popleft(), now_us, out)
        elif name == STARTED:
            self.connect(out)
        else:
            self.send_acks(out)

    def send_acks(self, out: Outbox) -> None:
        state = self.state
        out.send(state.connection, CommandAck(CONSUMER_ID, state.acks))
        state.acks = []

    def take(self, now_us: int, out: Outbox) -> None:
        """The program takes the next message, if it is free and there is one."""
        state = self.state
        if state.queue and state.program.is_free:
            self.begin(state.queue.popleft(), now_us, out)

    def begin(self, message: int, now_us: int, out: Outbox) -> None:
        """The program begins to handle a message; half of the queue taken means permits for as many."""
        state = self.state
        state.program.take(message, now_us, out)
        taken = state.taken = state.taken + 1
        if taken * 2 >= state.queue_size:
            out.send(state.connection, c.CommandFlow(CONSUMER_ID, taken))
            state.taken = 0

    def close(self, now_us: int, out: Outbox) -> None:
        """What was handled is acknowledged first; what was not goes back to the broker."""
        state = self.state
        if state.acks:
            self.send_acks(out)
        self.let_go(now_us, out)
        state.is_subscribed = False
        state.request_id += 1
        out.send(state.connection, c.CommandCloseConsumer(state.request_id, CONSUMER_ID))

    def let_go(self, now_us: int, out: Outbox) -> None:
        self.state.program.drop(now_us, out, self.traffic)
        for message in self.state.queue:
            self.traffic.dropped(out.name, message, now_us)
        self.state.queue.clear()
        self.state.acks = []
        out.cancel("acks")
