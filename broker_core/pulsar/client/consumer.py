"""A consumer: its receiver queue, the permits it grants, and acknowledgements that go out in groups.

    broker ─► part of partition 0 ─┐
    broker ─► part of partition 1 ─┼─► queue ─► program, one message at a time ─► acks, by part      a topic without partitions has one part
                                   │                └─ cannot handle it ─► asked for again later, in the end a dead letter
                                   └─ each grants permits for itself

It grants permits for the whole queue when it has subscribed, and again each time the program has taken half
of it (ConsumerImpl.increaseAvailablePermits). Acknowledgements that gather within 100 ms go out in one
command (PersistentAcknowledgmentsGroupingTracker), so a crash may lose the word about messages that were
handled.
Source: Pulsar 3.2 client, ConsumerImpl, MultiTopicsConsumerImpl, NegativeAcksTracker, UnAckedMessageTracker;
docs/pulsar/facts.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from broker_core.errors import InvariantError
from broker_core.pulsar import commands as c
from broker_core.pulsar.client.acks import ACKS, acknowledge, is_acknowledged, release_acks, send_acks
from broker_core.pulsar.client.again import (
    ASK_AGAIN,
    ask_again,
    nack_delay_us,
    negative_ack,
    outlive,
    redeliver,
    redeliver_all,
    time_over,
)
from broker_core.pulsar.client.config import Part
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.client.letters import reconsume_later, retry_topic
from broker_core.pulsar.client.timeouts import TIME_OVER, start_clock
from broker_core.pulsar.commands import CommandMessage
from broker_core.pulsar.selectors.protocol import Range
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Leave, Pace, Pause, Resume, Traffic

CONSUMER_ID = 1
"""Of a topic without partitions, and of partition 0; the others follow."""
STARTED = "started"


class Subscribe(msgspec.Struct, frozen=True, tag="pulsar.consumer.subscribe", array_like=True):
    """A person starts the program. ranges: for sticky ranges, else empty. after_us: how long it takes to
    start, before it connects."""

    broker: str
    ranges: list[Range]
    after_us: int = 0


class Resubscribe(msgspec.Struct, frozen=True, tag="pulsar.consumer.resubscribe", array_like=True):
    """A person lets it close its consumer and subscribe again with other ranges or another priority level, on
    the same connection. priority: -1 leaves it as it is."""

    ranges: list[Range]
    priority: int = -1


class HoldAcks(msgspec.Struct, frozen=True, tag="pulsar.consumer.hold_acks", array_like=True):
    """From now on the program handles messages and acknowledges none: it is stuck, as far as its broker can
    see."""


class ReleaseAcks(msgspec.Struct, frozen=True, tag="pulsar.consumer.release_acks", array_like=True):
    """It acknowledges again, first what it has held back."""


class Seek(msgspec.Struct, frozen=True, tag="pulsar.consumer.seek", array_like=True):
    """A person lets it move its subscription: to an entry, or (-1) to the first one published at or after a
    moment."""

    entry: int
    publish_time_us: int = 0


class Unsubscribe(msgspec.Struct, frozen=True, tag="pulsar.consumer.unsubscribe", array_like=True):
    """A person lets it take its subscription away."""


class Redeliver(msgspec.Struct, frozen=True, tag="pulsar.consumer.redeliver", array_like=True):
    """A person lets it ask for everything again that it has and has not acknowledged."""


ConsumerOrder = Subscribe | Resubscribe | HoldAcks | ReleaseAcks | Seek | Unsubscribe | Redeliver
"""What a person orders a consuming program beside what any program obeys."""


class Consumer:
    """key_of: number of a message -> code of its key, -1 for none: what is produced again to another topic
    keeps its key."""

    def __init__(
        self, state: ConsumerState, traffic: Traffic, key_of: Callable[[int], int] = lambda message: -1
    ) -> None:
        self.state = state
        self.traffic = traffic
        self.key_of = key_of

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        if type(message) is CommandMessage:
            part = state.parts[message.consumer_id]
            if not part.is_subscribed:  # it was under way when the consumer closed
                return
            if message.batch:
                self.unpack(message, now_us, out)
                return
            if (part.has_asked or message.redelivery_count) and not self.accepts(message, now_us, out):
                return
            self.traffic.received(out.name, message.message, now_us)
            state.queue.append(message)
            self.take(now_us, out)
            return
        match message:
            case Subscribe(broker, ranges, after_us):
                state.broker, state.ranges = broker, ranges
                if after_us:
                    out.deadline(STARTED, now_us + after_us)
                else:
                    self.connect(now_us, out)
            case Resubscribe(ranges, priority):
                state.ranges = ranges
                if priority >= 0:
                    state.config = replace(state.config, priority=priority)
                if state.connection:
                    self.close(now_us, out)
                    self.subscribe(now_us, out)
            case c.CommandSuccess(request_id):
                for consumer_id, part in state.parts.items():
                    if part.unsubscribe_id == request_id:
                        self.forget_part(consumer_id, now_us, out)
                    elif part.request_id == request_id and state.connection and not part.is_subscribed:
                        part.is_subscribed, part.refused, part.taken = True, "", 0
                        out.send(state.connection, c.CommandFlow(consumer_id, state.config.queue_size))
            case c.CommandError(request_id, error, _):
                for part in state.parts.values():
                    if part.request_id == request_id:
                        part.refused = error
            case c.CommandActiveConsumerChange(consumer_id, is_active):
                state.parts[consumer_id].is_active = is_active
            case c.CommandPing():
                out.send(connection, c.CommandPong())
            case c.CommandCloseConsumer(_, consumer_id):
                self.closed_by_broker(consumer_id, now_us, out)
            case Seek(entry, publish_time_us):
                for consumer_id in self.own_parts():
                    state.request_id += 1
                    out.send(
                        state.connection, c.CommandSeek(state.request_id, consumer_id, entry, publish_time_us)
                    )
            case Unsubscribe():
                for consumer_id, part in state.parts.items():
                    if part.is_subscribed:
                        state.request_id += 1
                        part.unsubscribe_id = state.request_id
                        out.send(state.connection, c.CommandUnsubscribe(state.request_id, consumer_id))
            case HoldAcks():
                state.holds_acks = True
            case ReleaseAcks():
                release_acks(state, now_us, out)
            case Redeliver():
                redeliver_all(self, now_us, out)
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
                state.connection = 0
                self.let_go(now_us, out)

    def accepts(self, message: CommandMessage, now_us: int, out: Outbox) -> bool:
        """A message on its own has come that may be one more delivery of it. False: the program does not get
        it, it is acknowledged already, or a dead letter; another may be sent in its place."""
        part, config = self.state.parts[message.consumer_id], self.state.config
        if is_acknowledged(part, message.entry):
            self.grant(message.consumer_id, 1, out)
            return False
        if (
            not config.is_active_only
            and config.redeliver_max
            and message.redelivery_count >= config.redeliver_max
        ):
            part.candidates[message.entry] = [message]
            if message.redelivery_count > config.redeliver_max:
                redeliver(self, [(message.consumer_id, message.entry)], now_us, out)
                self.grant(message.consumer_id, 1, out)
                return False
        return True

    def unpack(self, message: CommandMessage, now_us: int, out: Outbox) -> None:
        """The messages of a batch, one by one. Of one more delivery of it, those are left out that are
        acknowledged already, or all if they are dead letters; as many may be sent in their place."""
        state, config, entry = self.state, self.state.config, message.entry
        part = state.parts[message.consumer_id]
        places = message.places or tuple(range(len(message.batch)))
        if entry in part.batches:  # it was asked for again while a delivery of it was on its way
            outlive(state, message.consumer_id, (entry,))
        part.batches[entry] = list(places)
        came = [
            CommandMessage(
                message.consumer_id, entry, number, message.redelivery_count, (), (place,), message.reconsumed
            )
            for place, number in zip(places, message.batch, strict=True)
        ]
        left_out = 0
        over = (
            message.redelivery_count - config.redeliver_max
            if config.redeliver_max and not config.is_active_only
            else -1
        )
        if over >= 0:
            part.candidates[entry] = came
        if over > 0:
            left_out = len(came)
            redeliver(self, [(message.consumer_id, entry)], now_us, out)
        else:
            for one in came:
                if part.has_asked and is_acknowledged(part, entry, one.places[0]):
                    left_out += 1
                    continue
                self.traffic.received(out.name, one.message, now_us)
                state.queue.append(one)
        if left_out:
            self.grant(message.consumer_id, left_out, out)
        self.take(now_us, out)

    def connect(self, now_us: int, out: Outbox) -> None:
        self.state.connection = out.connect(self.state.broker)
        self.state.letters.clear()  # producers are a connection's
        self.subscribe(now_us, out)

    def subscribe(self, now_us: int, out: Outbox) -> None:
        """One consumer for each partition or topic; and one for the retry letter topic."""
        state, config = self.state, self.state.config
        state.ticks_from_us = now_us
        parts = [
            Part(partition, topic=topic)
            for topic, partition in c.parts_of(config.topic, config.partitions, config.topics)
        ]
        if config.uses_retry_topic:
            parts.append(Part(topic=retry_topic(config.topic, config.subscription)))
        for consumer_id, part in enumerate(parts, CONSUMER_ID):
            state.parts.setdefault(consumer_id, part)
            self.subscribe_part(consumer_id, out)

    def subscribe_part(self, consumer_id: int, out: Outbox) -> None:
        state, config = self.state, self.state.config
        part = state.parts[consumer_id]
        state.request_id += 1
        part.request_id, part.unsubscribe_id = state.request_id, 0
        out.send(
            state.connection,
            c.CommandSubscribe(
                state.request_id,
                consumer_id,
                state.name,
                state.ranges,
                config.type,
                part.topic,
                part.partition,
                config.subscription,
                config.priority,
                config.allows_out_of_order,
                config.initial_position,
            ),
        )

    def own_parts(self) -> list[int]:
        """Those of its topic, or topics, that the broker has let in."""
        state, config = self.state, self.state.config
        letters = retry_topic(config.topic, config.subscription)
        return [
            number for number, part in state.parts.items() if part.is_subscribed and part.topic != letters
        ]

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        if name == ACKS:
            send_acks(state, out)
        elif name == DONE:
            self.done(now_us, out)
            self.take(now_us, out)
        elif name == STARTED:
            self.connect(now_us, out)
        elif name == ASK_AGAIN:
            ask_again(self, now_us, out)
        elif name == TIME_OVER:
            time_over(self, now_us, out)

    def done(self, now_us: int, out: Outbox) -> None:
        """The message in hand is handled, or cannot be."""
        state, config = self.state, self.state.config
        message = state.hand
        if message is None:
            raise InvariantError(f"{state.name} is done with nothing")
        state.hand = None
        if config.cannot and config.cannot_handle(message.message):
            state.program.drop(now_us, out, self.traffic)
            if not config.uses_retry_topic:
                negative_ack(state, message, now_us, out)
                return
            reconsume_later(self, message, nack_delay_us(state, message), now_us, out)
        else:
            state.program.done(now_us, out, self.traffic)
        acknowledge(state, message, now_us, out)

    def take(self, now_us: int, out: Outbox) -> None:
        """The program takes the next message, if it is free and there is one."""
        state = self.state
        if state.queue and state.program.is_free:
            self.begin(state.queue.popleft(), now_us, out)

    def begin(self, message: CommandMessage, now_us: int, out: Outbox) -> None:
        """The program begins to handle a message; half of the queue taken means permits for as many."""
        state, program = self.state, self.state.program
        state.hand, program.hand, program.done_us = message, message.message, now_us + program.service_us
        if state.config.timeout_us:
            start_clock(state, message, now_us, out)
        self.grant(message.consumer_id, 1, out)
        out.deadline(DONE, program.done_us)

    def grant(self, consumer_id: int, count: int, out: Outbox) -> None:
        """The queue has room for so many more: with half of it, the broker hears
        (ConsumerImpl.increaseAvailablePermits)."""
        state, part = self.state, self.state.parts[consumer_id]
        taken = part.taken = part.taken + count
        if taken >= state.config.refill:
            out.send(state.connection, c.CommandFlow(consumer_id, taken))
            part.taken = 0

    def close(self, now_us: int, out: Outbox) -> None:
        """What was handled is acknowledged first; what was not goes back to the broker."""
        state = self.state
        send_acks(state, out)
        self.let_go(now_us, out)
        for consumer_id, part in state.parts.items():
            state.request_id += 1
            part.request_id = state.request_id
            out.send(state.connection, c.CommandCloseConsumer(state.request_id, consumer_id))

    def closed_by_broker(self, consumer_id: int, now_us: int, out: Outbox) -> None:
        """The subscription has moved: what this part has is not its own any more, and it subscribes again."""
        self.forget_part(consumer_id, now_us, out)
        self.subscribe_part(consumer_id, out)

    def forget_part(self, consumer_id: int, now_us: int, out: Outbox) -> None:
        """The broker has no such consumer any more."""
        state = self.state
        state.parts[consumer_id].forget()
        self.clear_queue(consumer_id, now_us, out)
        state.waits_again = [entry for entry in state.waits_again if entry[1] != consumer_id]
        state.held = [message for message in state.held if message.consumer_id != consumer_id]
        state.tracked = [tracked for tracked in state.tracked if tracked[1] != consumer_id]
        if state.hand is not None and state.hand.consumer_id == consumer_id:
            state.program.drop(now_us, out, self.traffic)
            state.hand = None
            self.take(now_us, out)

    def clear_queue(self, consumer_id: int, now_us: int, out: Outbox) -> int:
        """Drop what a part has received and the program has not taken. Returns how many messages."""
        state = self.state
        kept: deque[CommandMessage] = deque()
        for message in state.queue:
            if message.consumer_id == consumer_id:
                self.traffic.dropped(out.name, message.message, now_us)
            else:
                kept.append(message)
        dropped, state.queue = len(state.queue) - len(kept), kept
        return dropped

    def let_go(self, now_us: int, out: Outbox) -> None:
        state = self.state
        state.program.drop(now_us, out, self.traffic)
        state.hand = None
        for message in state.queue:
            self.traffic.dropped(out.name, message.message, now_us)
        state.queue.clear()
        for kept in (state.waits_again, state.held, state.tracked):
            kept.clear()
        for part in state.parts.values():
            part.forget()
        state.is_looking = False
        for name in (ACKS, ASK_AGAIN, TIME_OVER):
            out.cancel(name)
