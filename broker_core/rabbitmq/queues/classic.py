"""One classic queue: which message goes to which consumer, where one goes back to, and which are dropped by rule.

- Messages wait only while no consumer has room; so a backlog goes whole to the first consumer that has.
- A message that comes back takes its old place by publish order, and is marked redelivered from then on.
- What is over a limit, or has outlived its time to live, leaves at the head only.

A message that leaves by rule is appended to `dead`, for the broker to pass to the dead letter exchange or to drop.
Left out: lazy mode, which is a matter of the original's memory.
Source: RabbitMQ 3.10 rabbit_amqqueue_process; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json,
sessions.json.gz.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any, NamedTuple

from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq.arguments import DROP_HEAD, REJECT_PUBLISH_DLX
from broker_core.rabbitmq.messages import FIRST_STORED, Messages, size_of
from broker_core.rabbitmq.queues.consumers import NO_LIMIT, Consumer, Consumers, Limiter
from broker_core.rabbitmq.queues.ready import Bodies, Level
from broker_core.rabbitmq.queues.settings import settings_of
from broker_core.rabbitmq.values import Table

EXPIRED, MAXLEN, REJECTED = "expired", "maxlen", "rejected"
"""Why a message is dead-lettered."""


class Delivery(NamedTuple):
    """One message on its way to one consumer."""

    consumer: Consumer
    position: int
    redelivered: bool
    message: int


@dataclass(slots=True, eq=False)
class QueueState:
    """What a checkpoint holds of a queue.

    number: never given twice. owner: connection that has it alone, 0 for none. published: messages that were routed
    here and taken, which gives each its position; refused: those that it refused for its limit, nacked: those of them
    whose publisher heard so. acked: acknowledged, or sent to who does not acknowledge. dropped: reason -> messages that
    left otherwise. named: messages that the default exchange led here. wakes_us: deadline that is set for its head, 0 for
    none. expiry: position -> when the message there has outlived its time. ready_bytes: counted where there is a limit on
    them.
    """

    number: int = 0
    name: str = ""
    vhost: str = "/"
    is_durable: bool = False
    is_auto_delete: bool = False
    owner: int = 0
    arguments: Table = field(default_factory=dict)
    published: int = 0
    refused: int = 0
    nacked: int = 0
    acked: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    named: int = 0
    bodies: Bodies = field(default_factory=Bodies)
    levels: list[Level] = field(default_factory=lambda: [Level()])
    expiry: dict[int, int] = field(default_factory=dict)
    ready_bytes: int = 0
    had_consumers: bool = False
    wakes_us: int = 0
    consumers: Consumers = field(default_factory=Consumers)


class ClassicQueue:
    """A queue and its consumers. Every method that can set messages moving returns the deliveries, in the order they
    happen.

    Positions are the messages' places in publish order, from 0: one message may be published twice, and has two then.

    >>> queue = ClassicQueue()
    >>> for name in ("c1", "c2"):
    ...     _ = queue.consume(Consumer(name, name, "t", prefetch=1), False, 0)
    >>> [[(each.consumer.key, each.position) for each in queue.publish(message, 0)] for message in (70, 71, 72)]
    [[('c1', 0)], [('c2', 1)], []]
    >>> [each.message for each in queue.ack("c2", "c2", [1], 0)]
    [72]
    """

    __slots__ = (
        "_levels", "_only", "bodies", "consumers", "dead", "limiters", "messages", "settings", "state", "workload_size",
    )  # fmt: skip

    def __init__(self, state: QueueState | None = None) -> None:
        self.state = state = state or QueueState()
        self.settings = settings_of(state.arguments)
        self.bodies, self._levels, self.consumers = state.bodies.at, state.levels, state.consumers
        while len(self._levels) <= self.settings.max_priority:
            self._levels.append(Level())
        self._only = self._levels[0] if len(self._levels) == 1 else None  # without priorities
        self.consumers.is_single = self.settings.is_single_active
        self.dead: list[tuple[int, str]] = []  # (message, reason), the first to die first
        self.attach(Messages(), {}, _no_size)

    def attach(
        self, messages: Messages, limiters: dict[str, Limiter], workload_size: Callable[[int], int]
    ) -> None:
        """What it shares with the broker: the messages' contents, the channels' own limits, by the channel's name at
        a queue, and the size of a workload's message."""
        self.messages, self.limiters, self.workload_size = messages, limiters, workload_size

    # -- consumers -------------------------------------------------------------------------------------------

    def consume(self, consumer: Consumer, asks: bool, now_us: int) -> list[Delivery]:
        """A consumer joins at the back of the ring, with the ready messages it has room for. asks: its channel has a
        limit of its own."""
        if consumer.prefetch and consumer.needs_ack:
            consumer.credit = consumer.prefetch
        self.consumers.add(consumer, asks)
        self.state.had_consumers = True
        return self.dispatch(now_us)

    def cancel(self, key: str) -> None:
        """The consumer takes nothing more; what it holds stays with its channel, and may still be settled. A single
        active one hands its role on; the next message that moves finds the new one."""
        self.consumers.remove(key)

    def remove_channels(self, names: Sequence[str]) -> tuple[list[str], list[int]]:
        """Channels close, and their consumers go with them. Returns the consumers' keys, and the positions that the
        channels held, for `give_back`."""
        keys: list[str] = []
        positions: list[int] = []
        for name in names:
            gone, held = self.consumers.remove_channel(name)
            keys += gone
            positions += held
        return keys, positions

    def give_back(self, positions: list[int], now_us: int) -> list[Delivery]:
        """Messages take their old places, redelivered, all of them before the first one moves on."""
        of_level: dict[int, list[int]] = {}
        for position in positions:
            message = self.bodies[position]
            if self.settings.max_priority and message >= FIRST_STORED:
                priority = min(self.messages.at[message].priority, self.settings.max_priority)
            else:
                priority = 0
            of_level.setdefault(priority, []).append(position)
            if self.settings.max_bytes is not None:
                self.state.ready_bytes += self._size(message)
        for priority, places in of_level.items():
            self._levels[priority].requeue(places)
        if positions:
            self._drop_over_limit()
            self.drop_expired(now_us)
        return self.dispatch(now_us)

    # -- messages --------------------------------------------------------------------------------------------

    def refuses(self, message: int) -> bool:
        """Whether a publish would go over a limit that refuses the newest. Counts it then, and dead-letters it where
        the limit says so."""
        settings = self.settings
        if settings.overflow == DROP_HEAD or not settings.is_limited:
            return False
        fits = settings.max_length is None or self.ready < settings.max_length
        if fits and settings.max_bytes is not None:
            fits = self.state.ready_bytes + self._size(message) <= settings.max_bytes
        if fits:
            return False
        self.state.refused += 1
        if settings.overflow == REJECT_PUBLISH_DLX:
            self.messages.hold(message)
            self.dead.append((message, MAXLEN))
        return True

    def publish(self, message: int, now_us: int) -> list[Delivery]:
        """A message arrives, and takes the next position."""
        state, level = self.state, self._levels[0]
        position = state.published
        state.published += 1
        self.bodies[position] = message
        if message >= FIRST_STORED:
            self.messages.hold(message)
            stored = self.messages.at[message]
            if self.settings.max_priority:
                level = self._levels[min(stored.priority, self.settings.max_priority)]
            times = [ms for ms in (self.settings.ttl_ms, stored.expiration_ms) if ms is not None]
            if times:
                state.expiry[position] = now_us + min(times) * 1_000
        elif self.settings.ttl_ms is not None:
            state.expiry[position] = now_us + self.settings.ttl_ms * 1_000
        level.fresh.append(position)
        if self.settings.max_bytes is not None:
            state.ready_bytes += self._size(message)
        deliveries = self.dispatch(now_us)
        if self.settings.is_limited or state.expiry:
            self._drop_over_limit()
            self.drop_expired(now_us)
        return deliveries

    def get(self, channel: str, no_ack: bool, now_us: int) -> tuple[int, int, bool] | None:
        """The next ready message leaves to a basic.get. Returns (position, message, redelivered); None: there is
        none."""
        self.drop_expired(now_us)
        if not self.ready:
            return None
        position, redelivered = self._take()
        message = self.bodies[position]
        if no_ack:
            self._gone(position)
            self.state.acked += 1
        else:
            self.consumers.hold_for_get(channel, position, redelivered)
        self.drop_expired(now_us)
        return position, message, redelivered

    def ack(self, channel: str, key: str, positions: list[int], now_us: int) -> list[Delivery]:
        """A channel is done with messages of one consumer. What that gives room for goes out."""
        held = self.consumers.settled(channel, key, positions)
        self.state.acked += len(held)
        for position in held:
            self.messages.release(self._gone(position))
        return self.dispatch(now_us)

    def requeue(self, channel: str, key: str, positions: list[int], now_us: int) -> list[Delivery]:
        """A channel gives messages back: old places, redelivered, next in turn. That may well be to the same
        consumer."""
        return self.give_back(self.consumers.settled(channel, key, positions), now_us)

    def discard(self, channel: str, key: str, positions: list[int], now_us: int) -> list[Delivery]:
        """A channel rejects messages for good: they are dead."""
        for position in self.consumers.settled(channel, key, positions):
            self._die(position, REJECTED)
        return self.dispatch(now_us)

    def purge(self) -> int:
        """All ready messages are dropped, and nowhere dead-lettered. Returns how many."""
        count = self.ready
        while self.ready:
            position, _ = self._take()
            self._drop(position, "purged")
        return count

    def delete(self) -> int:
        """Everything that it holds is dropped. Returns how many messages were ready."""
        count = self.ready
        for position in list(self.bodies):
            self._drop(position, "deleted")
        for level in self._levels:
            level.requeued.clear()
            level.fresh.clear()
        return count

    def drop_expired(self, now_us: int) -> None:
        """The head leaves while it has outlived its time to live."""
        expiry = self.state.expiry
        while expiry and self.ready:
            position, _ = self._first()
            if expiry.get(position, now_us + 1) > now_us:
                return
            self._take()
            self._die(position, EXPIRED)

    def next_expiry_us(self) -> int | None:
        """When the message at the head will have outlived its time."""
        if not self.state.expiry or not self.ready:
            return None
        return self.state.expiry.get(self._first()[0])

    def dispatch(self, now_us: int) -> list[Delivery]:
        """Messages go out while one is ready and a consumer has room."""
        deliveries: list[Delivery] = []
        consumers = self.consumers
        while consumers.rings and self.ready:
            consumer = consumers.next(self.state.number, self.limiters)
            if consumer is None:
                break
            position, redelivered = self._take()
            deliveries.append(Delivery(consumer, position, redelivered, self.bodies[position]))
            if consumer.needs_ack:
                consumer.unacked[position] = redelivered
                if consumer.credit != NO_LIMIT:
                    consumer.credit -= 1
            else:
                self._gone(position)
                self.state.acked += 1
            if self.state.expiry:
                self.drop_expired(now_us)
        return deliveries

    # -- questions -------------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        return self.state.number

    @property
    def name(self) -> str:
        return self.state.name

    @property
    def published(self) -> int:
        return self.state.published

    @property
    def acked(self) -> int:
        return self.state.acked

    @property
    def ready(self) -> int:
        """How many messages wait for a consumer with room."""
        level = self._only
        if level is not None:
            return len(level.requeued) + len(level.fresh)
        return sum(map(len, self._levels))

    @property
    def waiting(self) -> dict[str, int]:
        """Ready messages by their priority, in a queue that has priorities."""
        if self._only is not None:
            return {}
        return {str(priority): len(level) for priority, level in enumerate(self._levels)}

    @property
    def unacked_count(self) -> int:
        """How many messages are out, with whomever."""
        return self.consumers.unacked_count()

    def message(self, position: int) -> int:
        """The message at a position that is not done."""
        return self.bodies[position]

    def head(self, count: int) -> list[tuple[int, bool]]:
        """The next `count` ready messages as (position, redelivered), the first to go first."""
        found: list[tuple[int, bool]] = []
        for level in reversed(self._levels):
            found += level.head(count - len(found))
        return found

    @property
    def turn_order(self) -> list[str]:
        return self.consumers.turn_order

    @property
    def passed_over(self) -> list[str]:
        return self.consumers.passed_over

    @property
    def ring(self) -> list[str]:
        """The consumers in turn order, then those that lost their place."""
        return self.turn_order + self.passed_over

    def unacked(self, key: str, count: int | None = None) -> list[tuple[int, bool]]:
        """What the consumer was sent and holds as (position, redelivered), in order of delivery: all, or the first
        `count`."""
        consumer = self.consumers.by_key.get(key)
        return [] if consumer is None else list(islice(consumer.unacked.items(), count))

    def held_by(self, key: str) -> int:
        """How many messages the consumer was sent and holds."""
        consumer = self.consumers.by_key.get(key)
        return 0 if consumer is None else len(consumer.unacked)

    def holds(self, key: str, message: int) -> bool:
        """Whether the consumer holds that message."""
        return any(self.bodies[position] == message for position, _ in self.unacked(key))

    # -- state as plain JSON ---------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        return {each.name: to_plain(getattr(self.state, each.name)) for each in fields(QueueState)}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> ClassicQueue:
        return cls(from_plain(plain, QueueState))

    # -- how -------------------------------------------------------------------------------------------------

    def _first(self) -> tuple[int, bool]:
        return next(level for level in reversed(self._levels) if level).first()

    def _take(self) -> tuple[int, bool]:
        """The head leaves the ready messages."""
        level = self._only
        if level is None:
            level = next(level for level in reversed(self._levels) if level)
        position, redelivered = level.take()
        if self.settings.max_bytes is not None:
            self.state.ready_bytes -= self._size(self.bodies[position])
        return position, redelivered

    def _drop_over_limit(self) -> None:
        settings = self.settings
        if settings.overflow != DROP_HEAD or not settings.is_limited:
            return
        while self.ready and (
            (settings.max_length is not None and self.ready > settings.max_length)
            or (settings.max_bytes is not None and self.state.ready_bytes > settings.max_bytes)
        ):
            position, _ = self._take()
            self._die(position, MAXLEN)

    def _die(self, position: int, reason: str) -> None:
        """A message leaves by rule; the broker buries it."""
        self.state.dropped[reason] = self.state.dropped.get(reason, 0) + 1
        self.dead.append((self._gone(position), reason))

    def _drop(self, position: int, reason: str) -> None:
        self.state.dropped[reason] = self.state.dropped.get(reason, 0) + 1
        self.messages.release(self._gone(position))

    def _gone(self, position: int) -> int:
        """The message at this position is the queue's no more."""
        self.state.expiry.pop(position, None)
        return self.bodies.pop(position)

    def _size(self, message: int) -> int:
        return size_of(self.messages, message, self.workload_size)


def _no_size(message: int) -> int:
    return 0
