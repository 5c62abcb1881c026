"""A channel: its consumers, its prefetch count, and the deliveries that wait for an acknowledgement.

Source: RabbitMQ 3.10.8; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field

CONSUMER_TIMEOUT_US = 1_800_000_000
"""consumer_timeout, 30 minutes since 3.8.17."""
TICK_INTERVAL_US = 60_000_000
"""channel_tick_interval: how often a channel looks at its oldest delivery, counted from its opening."""
Unacked = tuple[str, int, int]
"""(what the queue calls the consumer, position in its queue, delivered at)."""


@dataclass(slots=True)
class Channel:
    """connection, number: where it is. prefetch_count: for consumers made from now on. last_tag: delivery
    tags count from 1.

    consumers: consumer tag -> queue. unacked: delivery tag -> delivery, ascending. last_queue: the one that was
    declared last, which an empty name means.
    """

    connection: int
    number: int
    prefetch_count: int = 0
    last_tag: int = 0
    consumers: dict[str, str] = field(default_factory=dict)
    unacked: dict[int, Unacked] = field(default_factory=dict)
    last_queue: str = ""

    def deliver(self, consumer_key: str, position: int, now_us: int) -> int:
        """The message at a queue's position goes out to a consumer. Returns its delivery tag."""
        tag = self.last_tag = self.last_tag + 1
        self.unacked[tag] = (consumer_key, position, now_us)
        return tag

    def is_timed_out(self, timeout_us: int, now_us: int) -> bool:
        """Whether the oldest delivery has waited for its acknowledgement for longer than that; what was
        acknowledged after it does not count.

        Source: RabbitMQ 3.10 rabbit_channel, evaluate_consumer_timeout.
        """
        _, _, delivered_us = next(iter(self.unacked.values()), ("", 0, now_us))
        return delivered_us < now_us - timeout_us

    @property
    def tick(self) -> str:
        """Its deadline's name."""
        return f"tick:{self.connection}.{self.number}"

    def settle(self, delivery_tag: int, multiple: bool) -> list[Unacked] | None:
        """Take the deliveries that an ack or nack names out of the outstanding ones. None: it names none,
        which is an error.

        >>> channel = Channel(1, 1)
        >>> [channel.deliver("c", position, 8) for position in (5, 6, 7)]
        [1, 2, 3]
        >>> channel.settle(2, True), channel.settle(2, False)
        ([('c', 5, 8), ('c', 6, 8)], None)
        """
        if not multiple:
            found = self.unacked.pop(delivery_tag, None)
            return None if found is None else [found]
        if delivery_tag == 0:
            tags = list(self.unacked)
            return [self.unacked.pop(tag) for tag in tags]
        if delivery_tag > self.last_tag:
            return None
        tags = [tag for tag in self.unacked if tag <= delivery_tag]
        return [self.unacked.pop(tag) for tag in tags] or None

    def consumer_key(self, consumer_tag: str) -> str:
        """What the queue calls a consumer of this channel: tags are unique on a channel only."""
        return f"{self.connection}.{self.number}.{consumer_tag}"
