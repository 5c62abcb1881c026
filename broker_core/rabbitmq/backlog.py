"""A stream's messages that only wait in their queue: while every consumer is at its limit, what arrives needs
no step of the world.

    each message a step ──► all consumers are out of the ring: what arrives waits ──► ... ──► put into the queue together
            ▲                                                                                     │
            └──────── the broker is asked something that may need them, or somebody looks ◄───────┘

An ack takes one message at most, and leaves every consumer out of the ring as long as another one is in the
queue; so it needs none of those that have arrived since. Before anything else they are put into the queue,
each as of its own moment, and the next message is a step again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from broker_core.rabbitmq.broker import Broker, basic_ack
from broker_core.rabbitmq.client import CHANNEL
from broker_core.rabbitmq.client.publisher import Publisher
from broker_core.rabbitmq.methods import BasicAck, BasicDeliver
from broker_core.rabbitmq.queue import WorkQueue
from broker_core.sim.stream import Stream

if TYPE_CHECKING:
    from broker_core.sim.slot import Slot

NONE = -1
WORTH = 8
"""Messages in the queue with which it is worth while: so many acks can come before those that wait outside
are needed."""


class Backlog(Stream):
    """A publisher's messages to its queue. waits_from: place of the first that has no place in the queue yet,
    NONE while each is a step."""

    def __init__(self, sender: Slot, receiver: Slot, publish: Callable[[int, int], tuple[int, Any]]) -> None:
        broker, publisher = cast(Broker, receiver.node), cast(Publisher, sender.node).state
        published = broker.published

        def hand_on(number: int, key: int, now_us: int) -> None:
            published(publisher.connection, CHANNEL, publisher.queue, number, now_us, receiver)

        super().__init__(sender, publish, hand_on)
        self.broker, self.publisher, self.receiver = broker, publisher, receiver
        self.arrives, self.wakes = receiver.receive, receiver.wake
        self.queue = WorkQueue()  # until its own is known to be there
        self.waits_from = NONE

    def plan(self, sent: Sequence[int], keys: Sequence[int], number: int) -> None:
        super().plan(sent, keys, number)
        self.queue = self.broker.queues.get(self.publisher.queue, self.queue)

    def arrive(self, place: int, until_us: int) -> None:
        super().arrive(place, until_us)
        queue = self.queue
        if len(queue.fresh) >= WORTH and queue.only_waits and self.only is not None and not self.only.trouble:
            if CHANNEL in self.broker.connections[self.publisher.connection].channels:
                self.waits_from, self.place = self.place, len(self.times)
                self.receiver.receive, self.receiver.wake = self.ask_first, self.look_first  # type: ignore[assignment]

    def ask_first(self, connection: int, message: Any, now_us: int, out: Slot) -> None:
        """The broker receives a message meanwhile: an ack of a delivery that its channel knows, or something
        that may need what waits. Any other ack closes the channel, which tells how many messages are
        ready."""
        broker = self.broker
        if type(message) is BasicAck and not message.multiple and len(self.queue.fresh) > 1:
            known = broker.connections[connection]
            channel = known.channels.get(message.channel)
            if channel is not None and message.delivery_tag in channel.unacked:
                # The broker's `receive`, `basic_ack` and `deliver`, written out: this is what every ack goes
                # through.
                known.was_heard = True
                key, position, _ = channel.unacked[message.delivery_tag]
                _, tag, queue = broker.consumers[key]
                next_one = queue.ack_for_next(key, position)
                if next_one is None:
                    basic_ack(broker, known, channel, message, now_us, out)
                    return
                del channel.unacked[message.delivery_tag]
                delivery_tag = channel.last_tag = channel.last_tag + 1
                channel.unacked[delivery_tag] = key, next_one, now_us
                out.feed(connection, BasicDeliver(channel.number, tag, delivery_tag, False, next_one))
                return
        self.go_on(now_us)
        self.arrives(connection, message, now_us, out)

    def look_first(self, name: str, now_us: int, out: Slot) -> None:
        """The broker wakes meanwhile."""
        self.go_on(now_us)
        self.wakes(name, now_us, out)

    def go_on(self, until_us: int) -> None:
        """What has arrived before `until_us` is in the queue, and the next message is a step."""
        waits_from = self.waits_from
        place = bisect_left(self.times, until_us, waits_from)
        if place > waits_from:
            self.queue.wait(range(self.number + waits_from, self.number + place))
            self.broker.connections[self.publisher.connection].was_heard = True
            self.only.last_us = self.times[place - 1]  # type: ignore[union-attr]  # who has messages that wait has it
        self.place, self.waits_from = place, NONE
        self.receiver.receive, self.receiver.wake = self.arrives, self.wakes

    def catch_up(self, until_us: int) -> None:
        if self.waits_from != NONE:
            self.go_on(until_us)
        super().catch_up(until_us)
