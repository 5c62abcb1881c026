"""A channel: its consumers, its limits, and what waits on it: deliveries for an acknowledgement, publishes for a
confirm, a transaction for its commit.

Source: RabbitMQ 3.10.8 rabbit_channel; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.rabbitmq.queues.consumers import Limiter

CONSUMER_TIMEOUT_US = 1_800_000_000
"""consumer_timeout, 30 minutes since 3.8.17."""
TICK_INTERVAL_US = 60_000_000
"""channel_tick_interval: how often a channel looks at its oldest delivery, counted from its opening."""
Unacked = tuple[int, str, int, int]
"""(number of the queue, consumer tag or "" for basic.get, position in the queue, delivered at)."""
CONFIRM, TX = "confirm", "tx"


@dataclass(slots=True)
class Publish:
    """A publish in a transaction: the message's id, the queues that it was routed to, by number, whether it is to
    be returned where there is none, and its key."""

    message: int
    queues: list[int]
    mandatory: bool
    routing_key: str


@dataclass(slots=True)
class Settlement:
    """Acknowledgements in a transaction. how: ack, requeue or discard."""

    how: str
    settled: dict[int, Unacked]


@dataclass(slots=True)
class Channel:
    """connection, number: where it is. vhost: of its connection. prefetch_count: for consumers made from now on.
    last_tag: delivery tags count from 1.

    consumers: consumer tag -> number of the queue. unacked: delivery tag -> delivery, ascending. last_queue: the one
    that was declared last, which an empty name means. mode: "", CONFIRM or TX. last_publish: publishes counted for
    confirms. unconfirmed: numbers of those that wait for the disk. reply_tag, reply_key: of
    the consumer of direct replies.
    """

    connection: int
    number: int
    vhost: str = "/"
    prefetch_count: int = 0
    last_tag: int = 0
    consumers: dict[str, int] = field(default_factory=dict)
    unacked: dict[int, Unacked] = field(default_factory=dict)
    last_queue: str = ""
    mode: str = ""
    last_publish: int = 0
    unconfirmed: list[int] = field(default_factory=list)
    publishes: list[Publish] = field(default_factory=list)
    settlements: list[Settlement] = field(default_factory=list)
    limiter: Limiter = field(default_factory=Limiter)
    reply_tag: str = ""
    reply_key: str = ""

    @property
    def name(self) -> str:
        """Its name at a queue."""
        return f"{self.connection}.{self.number}"

    def consumer_key(self, consumer_tag: str) -> str:
        """What a queue calls a consumer of this channel: tags are unique on a channel only."""
        return f"{self.connection}.{self.number}.{consumer_tag}"

    def deliver(self, queue: int, consumer_tag: str, position: int, now_us: int) -> int:
        """The message at a queue's position goes out, to be acknowledged. Returns its delivery tag."""
        tag = self.last_tag = self.last_tag + 1
        self.unacked[tag] = (queue, consumer_tag, position, now_us)
        return tag

    def is_timed_out(self, timeout_us: int, now_us: int) -> bool:
        """Whether the oldest delivery has waited for its acknowledgement for longer than that; what was
        acknowledged after it does not count.

        Source: RabbitMQ 3.10 rabbit_channel, evaluate_consumer_timeout.
        """
        oldest = next(iter(self.unacked.values()), None)
        return oldest is not None and oldest[3] < now_us - timeout_us

    @property
    def tick(self) -> str:
        """Its deadline's name."""
        return f"tick:{self.connection}.{self.number}"

    def settle(self, delivery_tag: int, multiple: bool) -> dict[int, Unacked] | None:
        """Take the deliveries that an ack or nack names out of the outstanding ones. None: it names none,
        which is an error.

        >>> channel = Channel(1, 1)
        >>> [channel.deliver(4, "c", position, 8) for position in (5, 6, 7)]
        [1, 2, 3]
        >>> channel.settle(2, True), channel.settle(2, False)
        ({1: (4, 'c', 5, 8), 2: (4, 'c', 6, 8)}, None)
        """
        unacked = self.unacked
        if not multiple:
            found = unacked.pop(delivery_tag, None)
            return None if found is None else {delivery_tag: found}
        if delivery_tag == 0:
            settled = dict(unacked)
            unacked.clear()
            return settled
        if delivery_tag > self.last_tag:
            return None
        tags = []
        for tag in unacked:  # ascending
            if tag > delivery_tag:
                break
            tags.append(tag)
        return {tag: unacked.pop(tag) for tag in tags} or None

    def take_back(self, settled: dict[int, Unacked]) -> None:
        """What a transaction acknowledged is outstanding again."""
        self.unacked = dict(sorted((self.unacked | settled).items()))
