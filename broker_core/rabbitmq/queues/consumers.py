"""Whose turn it is: the consumers of a queue in a ring, those out of it, and what each channel holds.

        ready  7 6 5 ──►  front ─► c1 ─ c2 ─ c3 ─┐        c4 (no room when its turn came)
                            ▲────────────────────┘             └── ack ──► joins at the back

What makes the original's order its own:

- A consumer without room is taken out of the ring not when it is full but when its turn comes and it still has no
  room. So an ack that arrives before that turn costs it nothing, and one that arrives later puts it at the back.
- The highest priority goes first; its consumers take turns among themselves.
- With a single active consumer only that one is served; where it has no room, no message goes out.
- A channel at its own limit is suspended at the queue, all its consumers with it, until the limit has room again.

Source: RabbitMQ 3.10 rabbit_queue_consumers, rabbit_limiter; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

NO_LIMIT = -1


@dataclass(slots=True)
class Limiter:
    """The limit that a channel has for all its consumers together. limit: 0 for none. volume: what counts toward it.
    waiting: queues, by number, that asked for room and were refused."""

    limit: int = 0
    volume: int = 0
    waiting: list[int] = field(default_factory=list)

    def lets(self, queue: int, needs_ack: bool) -> bool:
        """Whether one more message may go out, which then counts."""
        if self.limit and self.volume >= self.limit:
            if queue not in self.waiting:
                self.waiting.append(queue)
            return False
        self.volume += needs_ack
        return True

    def freed(self) -> list[int]:
        """The queues to tell that there is room, if there is."""
        if self.limit and self.volume >= self.limit:
            return []
        waiting, self.waiting = self.waiting, []
        return waiting


@dataclass(slots=True, eq=False)
class Consumer:
    """key: its name at the queue. credit: messages that it may still be sent, NO_LIMIT for any number. unacked:
    position -> redelivered, in order of delivery."""

    key: str
    channel: str
    tag: str
    prefetch: int = 0
    credit: int = NO_LIMIT
    needs_ack: bool = True
    priority: int = 0
    is_exclusive: bool = False
    is_out: bool = False
    unacked: dict[int, bool] = field(default_factory=dict)


def by_priority(consumer: Consumer) -> int:
    return -consumer.priority


@dataclass(slots=True, eq=False)
class ChannelAtQueue:
    """A channel as a queue knows it. blocked: its consumers that are out of the ring, in the order in which their
    turn passed them by. loose: position -> (consumer tag, redelivered) of what the channel holds of basic.get (no
    tag) and of consumers that are gone. asks: its limiter has to be asked. is_suspended: it refused, and has not
    called again."""

    blocked: list[str] = field(default_factory=list)
    loose: dict[int, tuple[str, bool]] = field(default_factory=dict)
    consumers: int = 0
    asks: bool = False
    is_suspended: bool = False


@dataclass(slots=True)
class Consumers:
    """by_key: all of them. rings: priority -> those in the ring, the next one first. active: the single active
    one, "" without."""

    is_single: bool = False
    by_key: dict[str, Consumer] = field(default_factory=dict)
    channels: dict[str, ChannelAtQueue] = field(default_factory=dict)
    rings: dict[int, deque[str]] = field(default_factory=dict)
    active: str = ""

    def add(self, consumer: Consumer, asks: bool) -> None:
        """It joins at the back of its priority's ring."""
        self.by_key[consumer.key] = consumer
        channel = self.channels.setdefault(consumer.channel, ChannelAtQueue())
        channel.consumers += 1
        channel.asks = channel.asks or asks
        self._join(consumer)
        if self.is_single and not self.active:
            self.active = consumer.key

    def remove(self, key: str) -> Consumer:
        """It is cancelled; what it holds stays with its channel."""
        consumer = self.by_key.pop(key)
        channel = self.channels[consumer.channel]
        self._leave(consumer, channel)
        channel.loose.update(
            {position: (consumer.tag, redelivered) for position, redelivered in consumer.unacked.items()}
        )
        channel.consumers -= 1
        if not channel.consumers:
            channel.asks = channel.is_suspended = False
        self.forget_if_done(consumer.channel)
        self._hand_on(key)
        return consumer

    def remove_channel(self, name: str) -> tuple[list[str], list[int]]:
        """The channel is gone, and its consumers with it. Returns their keys, and the positions that it held."""
        channel = self.channels.pop(name, None)
        if channel is None:
            return [], []
        positions = list(channel.loose)
        keys = [key for key, consumer in self.by_key.items() if consumer.channel == name]
        for key in keys:
            consumer = self.by_key.pop(key)
            self._leave(consumer, channel)
            positions += consumer.unacked
        for key in keys:
            self._hand_on(key)
        return keys, positions

    def next(self, queue: int, limiters: dict[str, Limiter]) -> Consumer | None:
        """The consumer whose turn it is and who has room; it then has it no more. Those without room leave the
        ring. None: messages wait."""
        if self.is_single:
            return self._single(queue, limiters)
        # The highest priority first; a consumer that is served goes to the back of its own.
        for ring in self.rings.values():
            while ring:
                key = ring.popleft()
                consumer = self.by_key[key]
                if self._takes(consumer, queue, limiters):
                    ring.append(key)
                    return consumer
        return None

    def settled(self, channel_name: str, key: str, positions: list[int]) -> list[int]:
        """A channel gives up messages. Returns those that it held; where that gives a consumer room, those out
        of the ring who have it join at the back."""
        channel, consumer = self.channels.get(channel_name), self.by_key.get(key)
        if channel is None:
            return []
        found = []
        for position in positions:
            if consumer is not None and position in consumer.unacked:
                del consumer.unacked[position]
            elif channel.loose.pop(position, None) is None:
                continue
            found.append(position)
        if consumer is not None and consumer.credit != NO_LIMIT:
            had_none = consumer.credit == 0
            consumer.credit += len(found)
            if had_none and found:
                self._unblock(channel)
        if not channel.consumers:
            self.forget_if_done(channel_name)
        return found

    def resume(self, channel_name: str) -> None:
        """The channel's own limit has room again."""
        channel = self.channels.get(channel_name)
        if channel is not None and channel.is_suspended:
            channel.is_suspended = False
            self._unblock(channel)

    def hold_for_get(self, channel_name: str, position: int, redelivered: bool) -> None:
        """A message goes out to a basic.get."""
        self.channels.setdefault(channel_name, ChannelAtQueue()).loose[position] = ("", redelivered)

    @property
    def turn_order(self) -> list[str]:
        """Keys of the consumers in the ring, the next one first."""
        return [key for ring in self.rings.values() for key in ring]

    @property
    def passed_over(self) -> list[str]:
        """Keys of those that lost their place because their turn came and they had no room."""
        return [key for channel in self.channels.values() for key in channel.blocked]

    def unacked_count(self) -> int:
        return sum(len(consumer.unacked) for consumer in self.by_key.values()) + sum(
            len(channel.loose) for channel in self.channels.values()
        )

    def forget_if_done(self, name: str) -> None:
        """A channel that neither consumes nor holds anything is none of the queue's."""
        channel = self.channels.get(name)
        if channel is not None and not channel.consumers and not channel.loose:
            del self.channels[name]

    def _single(self, queue: int, limiters: dict[str, Limiter]) -> Consumer | None:
        consumer = self.by_key.get(self.active)
        if consumer is None or consumer.is_out:
            return None
        if self._takes(consumer, queue, limiters):
            return consumer
        self.rings[consumer.priority].remove(consumer.key)
        return None

    def _takes(self, consumer: Consumer, queue: int, limiters: dict[str, Limiter]) -> bool:
        channel = self.channels[consumer.channel]
        if not channel.is_suspended and consumer.credit:
            if not channel.asks or limiters[consumer.channel].lets(queue, consumer.needs_ack):
                return True
            channel.is_suspended = True
        consumer.is_out = True
        channel.blocked.append(consumer.key)
        return False

    def _unblock(self, channel: ChannelAtQueue) -> None:
        """Those who have room of their own join the ring again, by priority and then as they left it."""
        if not channel.blocked:
            return
        blocked = [self.by_key[key] for key in channel.blocked]
        channel.blocked = [consumer.key for consumer in blocked if not consumer.credit]
        for consumer in sorted(blocked, key=by_priority):
            if consumer.credit:
                consumer.is_out = False
                self._join(consumer)

    def _join(self, consumer: Consumer) -> None:
        ring = self.rings.get(consumer.priority)
        if ring is None:
            self.rings[consumer.priority] = deque([consumer.key])
            self.rings = {priority: self.rings[priority] for priority in sorted(self.rings, reverse=True)}
        else:
            ring.append(consumer.key)

    def _leave(self, consumer: Consumer, channel: ChannelAtQueue) -> None:
        if consumer.is_out:
            channel.blocked.remove(consumer.key)
        else:
            self.rings[consumer.priority].remove(consumer.key)
        if not any(self.rings.values()):
            self.rings = {}

    def _hand_on(self, key: str) -> None:
        """Where the single active consumer has left, the next in the ring becomes it."""
        if self.is_single and key == self.active:
            self.active = next(iter(self.turn_order), "")
