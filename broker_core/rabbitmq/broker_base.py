"""What the broker's handlers share: its state, and what happens to connections, channels and queues whatever the
method was: a delivery, a dead letter, a close, a refusal.

Source: RabbitMQ 3.10.8, docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.events import Json, capped
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import permissions
from broker_core.rabbitmq.channel import CONSUMER_TIMEOUT_US, Channel
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.dead_letters import dead_copy, is_cycle
from broker_core.rabbitmq.messages import FIRST_STORED, Messages, Stored, size_of
from broker_core.rabbitmq.method_ids import IDS
from broker_core.rabbitmq.methods import BasicDeliver
from broker_core.rabbitmq.overhearing import Ear
from broker_core.rabbitmq.permissions import User, guest
from broker_core.rabbitmq.properties import Content
from broker_core.rabbitmq.queues.classic import ClassicQueue, Delivery
from broker_core.rabbitmq.queues.consumers import Limiter
from broker_core.rabbitmq.refusals import Broken, Refused
from broker_core.rabbitmq.tracing import Trace
from broker_core.rabbitmq.vhost import DEFAULT_EXCHANGE, Vhost
from broker_core.sim.node import Outbox

LISTED_MAX = 8
"""Programs that a turning point lists."""
NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def one_vhost() -> dict[str, Vhost]:
    return {"/": Vhost("/")}


def one_user() -> dict[str, User]:
    return {"guest": guest()}


@dataclass(slots=True)
class BrokerState:
    """connections: number -> connection. messages: those with content of their own. last_queue: numbers of queues given
    so far.

    redelivered: messages sent a second time so far. heartbeat_us: the interval that the server offers.
    consumer_timeout_us: how long a delivery may wait for its acknowledgement, None: for ever. alarms: resources that
    are short, for which publishers wait. stopped_us: of a server that is down, until when its disk has taken writes.
    trace: the last methods of a connection, while an operator wants them. kept: section of a definitions file -> its rows
    that no rule reads, by what tells them apart.
    """

    heartbeat_us: int = m.HEARTBEAT_US
    consumer_timeout_us: int | None = CONSUMER_TIMEOUT_US
    connections: dict[int, Connection] = field(default_factory=dict)
    vhosts: dict[str, Vhost] = field(default_factory=one_vhost)
    users: dict[str, User] = field(default_factory=one_user)
    messages: Messages = field(default_factory=Messages)
    last_queue: int = 0
    redelivered: int = 0
    alarms: list[str] = field(default_factory=list)
    stopped_us: int = 0
    trace: Trace = field(default_factory=Trace)
    kept: dict[str, dict[str, Json]] = field(default_factory=dict)


class BrokerBase:
    """Derived from the state, for speed: queues by number, channels by the name that queues have for them, and their
    limiters."""

    def __init__(
        self,
        state: BrokerState,
        workload_size: Callable[[int], int] | None = None,
        ear: Ear | None = None,
    ) -> None:
        self.state, self.ear = state, ear
        self.connections, self.messages = state.connections, state.messages
        self.workload_size = workload_size or (lambda message: 0)
        self.channels: dict[str, Channel] = {}
        self.limiters: dict[str, Limiter] = {}
        self.queues: dict[int, ClassicQueue] = {}
        self.graves: deque[tuple[ClassicQueue, int, str]] = deque()
        for connection in state.connections.values():
            for channel in connection.channels.values():
                self.add_channel(channel)
        for vhost in state.vhosts.values():
            for queue in vhost.queues.values():
                self.add_queue(queue)

    # -- what is there ---------------------------------------------------------------------------------------

    def add_channel(self, channel: Channel) -> None:
        self.channels[channel.name] = channel
        self.limiters[channel.name] = channel.limiter

    def add_queue(self, queue: ClassicQueue) -> None:
        self.queues[queue.number] = queue
        queue.attach(self.messages, self.limiters, self.workload_size)

    def size_of(self, message: int) -> int:
        """Bytes of a message's body."""
        return size_of(self.messages, message, self.workload_size)

    def vhost_of(self, known: Connection) -> Vhost:
        return self.state.vhosts[known.vhost]

    def check_access(self, known: Connection, what: str, kind: str, name: str) -> None:
        """Raises Refused where the connection's user may not configure, write or read the queue or exchange."""
        permissions.check_access(self.state.users[known.user], known.vhost, what, kind, name)

    # -- messages on their way -------------------------------------------------------------------------------

    def carry_out(
        self, queue: ClassicQueue, deliveries: Sequence[Delivery], now_us: int, out: Outbox
    ) -> None:
        """Send what a queue gave out, in its order, note what died, and be there when the next one does."""
        if deliveries:
            self.deliver(queue, deliveries, now_us, out)
        if queue.dead:
            self.graves.extend((queue, message, reason) for message, reason in queue.dead)
            queue.dead.clear()
        if queue.state.expiry:
            self.watch_head(queue, out)

    def deliver(self, queue: ClassicQueue, deliveries: Sequence[Delivery], now_us: int, out: Outbox) -> None:
        ear = self.ear
        for consumer, position, redelivered, message in deliveries:
            channel = self.channels[consumer.channel]
            if redelivered:
                self.state.redelivered += 1
            if consumer.needs_ack:
                tag = channel.deliver(queue.state.number, consumer.tag, position, now_us)
            else:
                tag = channel.last_tag = channel.last_tag + 1
            if message < FIRST_STORED:
                method = BasicDeliver(
                    channel.number,
                    consumer.tag,
                    tag,
                    redelivered,
                    DEFAULT_EXCHANGE,
                    queue.state.name,
                    message,
                )
            else:
                stored = self.messages.at[message]
                key = stored.routing_keys[0]
                method = BasicDeliver(
                    channel.number, consumer.tag, tag, redelivered, stored.exchange, key, stored.content
                )
            if ear is not None:
                program, state = self.connections[channel.connection].name, queue.state
                needs_ack = consumer.needs_ack
                ear.delivered(program, state.vhost, message, state.name, redelivered, needs_ack, method)
            if message >= FIRST_STORED and not consumer.needs_ack:
                self.messages.release(message)
            out.send(channel.connection, method)

    def stored(self, message: int, queue: ClassicQueue) -> Stored:
        """A message of a queue with its content, also where there is none stored."""
        if message >= FIRST_STORED:
            return self.messages.at[message]
        return Stored(Content(message=message), DEFAULT_EXCHANGE, [queue.name])

    def bury(self, now_us: int, out: Outbox) -> None:
        """The dead go to their queues' dead letter exchanges, or are dropped, when all queues have what the method
        brought them; those that die of it, after them."""
        while self.graves:
            self.bury_one(*self.graves.popleft(), now_us, out)

    def bury_one(self, queue: ClassicQueue, message: int, reason: str, now_us: int, out: Outbox) -> None:
        exchange = queue.settings.dead_letter_exchange
        vhost = self.state.vhosts[queue.state.vhost]
        if self.ear is not None and (exchange is None or exchange not in vhost.exchanges):
            self.ear.died(message, vhost.name, queue.name, reason, None, ())
        if exchange is not None and exchange in vhost.exchanges:
            dead = self.stored(message, queue)
            copy = dead_copy(
                dead, message, reason, queue.name, exchange, queue.settings.dead_letter_key, now_us
            )
            headers = copy.content.properties.headers or {}
            number = self.messages.add(copy)
            reached_by = vhost.route(exchange, copy.routing_keys, copy.content.properties)
            itself_first = sorted(reached_by, key=lambda each: each is not queue)
            reached_by = [each for each in itself_first if not is_cycle(each.name, headers, reason)]
            if self.ear is not None:
                names = [each.name for each in reached_by]
                self.ear.died(message, vhost.name, queue.name, reason, copy, names)
            for reached in reached_by:
                self.publish_to(reached, number, now_us, out)
            self.messages.release(number)
        self.messages.release(message)

    def publish_to(self, queue: ClassicQueue, message: int, now_us: int, out: Outbox) -> bool:
        """A message comes to a queue. Returns whether the queue takes it."""
        if queue.settings.is_limited and queue.refuses(message):
            if self.ear is not None:
                self.ear.refused(message, queue.name)
            self.carry_out(queue, (), now_us, out)
            return False
        self.carry_out(queue, queue.publish(message, now_us), now_us, out)
        return True

    def watch_head(self, queue: ClassicQueue, out: Outbox) -> None:
        """Wake when the message at the head has outlived its time."""
        due_us = queue.next_expiry_us()
        if due_us is not None and (not queue.state.wakes_us or due_us < queue.state.wakes_us):
            queue.state.wakes_us = due_us
            out.deadline(f"ttl:{queue.number}", due_us)

    # -- queues ----------------------------------------------------------------------------------------------

    def used(self, queue: ClassicQueue, now_us: int, out: Outbox) -> None:
        """A queue that expires counts its time from here, while it has no consumer."""
        expires_ms = queue.settings.expires_ms
        if expires_ms is not None:
            if queue.consumers.by_key:
                out.cancel(f"expires:{queue.number}")
            else:
                out.deadline(f"expires:{queue.number}", now_us + expires_ms * 1_000)

    def delete_queue(self, queue: ClassicQueue, now_us: int, out: Outbox) -> None:
        """The queue is gone with all that it holds; its consumers are cancelled, and their clients hear it if they
        want to."""
        self.state.vhosts[queue.state.vhost].delete_queue(queue.name)
        if self.ear is not None:
            for message in queue.bodies.values():
                self.ear.dropped(message, queue.name, "deleted")
        del self.queues[queue.number]
        queue.delete()
        out.cancel(f"ttl:{queue.number}")
        out.cancel(f"expires:{queue.number}")
        for consumer in queue.consumers.by_key.values():
            channel = self.channels[consumer.channel]
            del channel.consumers[consumer.tag]
            if "consumer_cancel_notify" in self.connections[channel.connection].capabilities:
                out.send(channel.connection, m.BasicCancel(channel.number, consumer.tag, True))

    def consumers_left(self, queue: ClassicQueue, now_us: int, out: Outbox) -> bool:
        """Consumers of a queue are gone. Returns whether the queue goes with the last of them."""
        state = queue.state
        if state.is_auto_delete and state.had_consumers and not queue.consumers.by_key:
            self.delete_queue(queue, now_us, out)
            return True
        self.used(queue, now_us, out)
        return False

    # -- channels and connections ----------------------------------------------------------------------------

    def drop(self, connection: int, rule: str, now_us: int, out: Outbox) -> None:
        """The connection is gone, and all its channels and its own queues with it."""
        known = self.state.connections[connection]
        out.cancel(f"heartbeat:{connection}")
        self.close_channels(known, list(known.channels.values()), rule, now_us, out)
        del self.state.connections[connection]
        vhost = self.state.vhosts.get(known.vhost)
        for queue in [] if vhost is None else list(vhost.queues.values()):
            if queue.state.owner == connection:
                self.delete_queue(queue, now_us, out)

    def close_channels(
        self, known: Connection, channels: Sequence[Channel], rule: str, now_us: int, out: Outbox
    ) -> None:
        """Channels of one connection close together. What they held goes back to its old places, marked
        redelivered, and on to the consumer whose turn it is: never to one that closes with them."""
        touched: dict[int, None] = {}
        for channel in channels:
            touched |= dict.fromkeys(channel.consumers.values())
            for settlement in channel.settlements:  # of a transaction that is not committed
                channel.take_back(settlement.settled)
            touched |= dict.fromkeys(number for number, *_ in channel.unacked.values())
        queues = [self.queues[number] for number in touched if number in self.queues]
        requeued = sum(len(channel.unacked) for channel in channels)
        names = [channel.name for channel in channels]
        if self.ear is not None:
            self.overhear_given_back(channels, rule)
        moved: list[tuple[ClassicQueue, list[Delivery]]] = []
        turns: list[str] = []
        skipped: list[Json] = []
        had_consumers = any(channel.consumers for channel in channels)
        for queue in queues:
            keys, positions = queue.remove_channels(names)
            if keys and self.consumers_left(queue, now_us, out):
                continue
            turns += [self.name_of(queue, key) for key in queue.turn_order]
            moved.append((queue, queue.give_back(positions, now_us)))
            skipped += self.passed_over(queue)
        for channel in channels:
            self.discard_transaction(channel)
            del known.channels[channel.number], self.channels[channel.name], self.limiters[channel.name]
            out.cancel(channel.tick)
        if had_consumers:
            deliveries = [each for _, some in moved for each in some]
            out.tell(
                "rabbitmq.channel.closed",
                "rabbitmq.queue.requeue_in_original_order",
                {"unacked": requeued, "reason": rule},
                {
                    "consumer": known.name,
                    "connection": channels[0].connection,
                    "delivered": len(deliveries),
                    "ready": sum(queue.ready for queue, _ in moved),
                    **self.turn_facts(turns, deliveries, skipped),
                },
            )
        for queue, deliveries in moved:
            self.carry_out(queue, deliveries, now_us, out)

    def overhear_given_back(self, channels: Sequence[Channel], rule: str) -> None:
        assert self.ear is not None
        for channel in channels:
            for number, _, position, _ in channel.unacked.values():
                queue = self.queues.get(number)
                if queue is not None:
                    program, message = self.program_of(channel.name), queue.bodies[position]
                    self.ear.settled(program, queue.state.vhost, message, queue.name, rule)

    def discard_transaction(self, channel: Channel) -> None:
        """What it has published and not committed is nobody's."""
        for publish in channel.publishes:
            self.messages.release(publish.message)
        channel.publishes.clear()
        channel.settlements.clear()

    def name_of(self, queue: ClassicQueue, key: str) -> str:
        """The name of the program that runs a queue's consumer."""
        return self.program_of(queue.consumers.by_key[key].channel)

    def program_of(self, channel: str) -> str:
        return self.state.connections[self.channels[channel].connection].name

    def passed_over(self, queue: ClassicQueue) -> list[Json]:
        """Who lost its place in the ring because its prefetch was full, and how many messages it holds."""
        consumers = [queue.consumers.by_key[key] for key in queue.passed_over]
        return [
            {
                "consumer": self.program_of(consumer.channel),
                "connection": self.channels[consumer.channel].connection,
                "unacked": len(consumer.unacked),
            }
            for consumer in consumers
        ]

    def turn_facts(
        self, turns: Sequence[str], deliveries: Sequence[Delivery], skipped: Sequence[Json]
    ) -> Json:
        """Whose turn it was, who got what, and who was passed over. turns: programs, the next one first."""
        received = Counter(self.program_of(each.consumer.channel) for each in deliveries)
        return {
            **capped("turns", list(turns), LISTED_MAX),
            **capped(
                "received",
                [{"consumer": name, "records": count} for name, count in received.items()],
                LISTED_MAX,
            ),
            **capped("skipped", list(skipped), LISTED_MAX),
        }

    # -- refusals --------------------------------------------------------------------------------------------

    def refuse(
        self,
        connection: int,
        channel: Channel | None,
        method: Any,
        refused: Refused,
        now_us: int,
        out: Outbox,
        rule: str = "rabbitmq.channel.exception",
    ) -> None:
        """A method's exception: the channel is closed, or the connection, and the client receives the code and the
        text."""
        known, ids = self.state.connections[connection], IDS.get(type(method), (0, 0))
        if isinstance(refused, Broken):
            ids = (0, 0)
        if refused.is_hard or channel is None:
            self.refuse_connection(connection, refused, ids, now_us, out)
        else:
            self.close_channels(known, [channel], rule, now_us, out)
            known.closing.append(channel.number)
            out.send(connection, m.ChannelClose(channel.number, refused.code, refused.text, *ids))

    def refuse_connection(
        self, connection: int, refused: Refused, ids: tuple[int, int], now_us: int, out: Outbox
    ) -> None:
        """A connection exception: the client receives the code and the text, and the connection is closed
        with all its channels."""
        out.send(connection, m.ConnectionClose(refused.code, refused.text, *ids))
        out.close(connection)
        self.drop(connection, "rabbitmq.connection.exception", now_us, out)


def made_name(prefix: str, out: Outbox) -> str:
    """A name that the broker makes: 22 letters of URL-safe base64 behind the prefix."""
    return prefix + "".join(NAME_LETTERS[out.draw("rabbitmq.names", 64)] for _ in range(22))
