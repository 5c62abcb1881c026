"""A channel: its consumers, its prefetch count, and the deliveries that wait for an acknowledgement.

Source: RabbitMQ 3.10.8; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Channel:
    """connection, number: where it is. prefetch_count: for consumers made from now on. last_tag: delivery tags count from 1.

    consumers: consumer tag -> queue. unacked: delivery tag -> (what the queue calls the consumer, message), ascending.
    """

    connection: int
    number: int
    prefetch_count: int = 0
    last_tag: int = 0
    consumers: dict[str, str] = field(default_factory=dict)
    unacked: dict[int, tuple[str, int]] = field(default_factory=dict)

    def deliver(self, consumer_key: str, message: int) -> int:
        """A message goes out to a consumer. Returns its delivery tag."""
        tag = self.last_tag = self.last_tag + 1
        self.unacked[tag] = (consumer_key, message)
        return tag

    def settle(self, delivery_tag: int, multiple: bool) -> list[tuple[str, int]] | None:
        """Take the deliveries that an ack or nack names out of the outstanding ones. None: it names none, which is an error.

        >>> channel = Channel(1, 1)
        >>> [channel.deliver("c", message) for message in (5, 6, 7)]
        [1, 2, 3]
        >>> channel.settle(2, True), channel.settle(2, False)
        ([('c', 5), ('c', 6)], None)
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
