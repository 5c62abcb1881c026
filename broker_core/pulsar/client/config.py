"""How a consumer is configured, and what it remembers of each partition.

Source: Pulsar 3.2 client, ConsumerConfigurationData, DeadLetterPolicy, MultiplierRedeliveryBackoff.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.clock import SECOND_US
from broker_core.pulsar import commands as c
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, KEY_SHARED

NEGATIVE_ACK_DELAY_US = 60 * SECOND_US
"""negativeAckRedeliveryDelay."""
DEAD_LETTER_TIMEOUT_US = 30 * SECOND_US
"""DEFAULT_ACK_TIMEOUT_MILLIS_FOR_DEAD_LETTER: the ack time-out of a dead-letter policy, where none is set."""
RECONSUME_MAX = 16
"""RetryMessageUtil.MAX_RECONSUMETIMES: maxRedeliverCount of a retry letter topic without a dead-letter
policy."""
NOTHING_ACKED = -1


@dataclass(slots=True)
class Backoff:
    """min_us * multiplier^count, at most max_us.

    >>> [Backoff(1, 60, 2).delay_us(count) for count in (0, 1, 2, 9)]
    [1, 2, 4, 60]
    """

    min_us: int
    max_us: int
    multiplier: int = 2

    def delay_us(self, redelivery_count: int) -> int:
        """How long to wait before a message that has been asked for so many times is asked for again."""
        delay_us: int = self.min_us * self.multiplier ** min(redelivery_count, 40)
        return min(delay_us, self.max_us)


@dataclass(slots=True)
class ConsumerConfig:
    """type: of the subscription. partitions: of the topic, 0 for a topic without. topics: how many of that
    name and a number, none with partitions, 0 for the one. queue_size: receiverQueueSize, of each partition.
    ack_group_us: 0 to acknowledge at once. acks_cumulatively: the program acknowledges everything up to a
    message. acks_batch_index: messages of a batch are acknowledged one by one
    (enableBatchIndexAcknowledgment); else the batch, with its last one. nack_delay_us, backoff: how long
    after a negative acknowledgement it is sent. ack_timeout_us: 0 for none, or the dead-letter policy's own.
    max_redeliver: maxRedeliverCount of the dead-letter policy, 0 for none. uses_retry_topic: enableRetry,
    what the program cannot handle it gives to reconsumeLater. cannot: the program cannot handle messages
    whose number is a multiple of this; 0: it can handle all."""

    type: str = KEY_SHARED
    topic: str = c.TOPIC
    partitions: int = 0
    topics: int = 0
    subscription: str = c.SUBSCRIPTION
    priority: int = 0
    allows_out_of_order: bool = False
    initial_position: str = "latest"
    queue_size: int = c.RECEIVER_QUEUE_SIZE
    ack_group_us: int = c.ACK_GROUP_US
    acks_cumulatively: bool = False
    acks_batch_index: bool = False
    nack_delay_us: int = NEGATIVE_ACK_DELAY_US
    backoff: Backoff | None = None
    ack_timeout_us: int = 0
    max_redeliver: int = 0
    uses_retry_topic: bool = False
    cannot: int = 0

    @property
    def is_active_only(self) -> bool:
        """Whether one consumer has everything: Exclusive and Failover. Only there everything up to a message
        can be acknowledged at once."""
        return self.type in (EXCLUSIVE, FAILOVER)

    @property
    def has_parts(self) -> bool:
        """Whether it is a consumer of several topics or partitions (MultiTopicsConsumerImpl), were it only
        one partition."""
        return bool(self.partitions or self.topics or self.uses_retry_topic)

    @property
    def timeout_us(self) -> int:
        """The ack time-out that holds, 0 for none: a dead-letter policy sets one on its own.

        >>> ConsumerConfig().timeout_us, ConsumerConfig(max_redeliver=3).timeout_us, ConsumerConfig(uses_retry_topic=True).timeout_us
        (0, 30000000, 0)
        """
        return self.ack_timeout_us or (DEAD_LETTER_TIMEOUT_US if self.max_redeliver else 0)

    @property
    def redeliver_max(self) -> int:
        """The maxRedeliverCount that holds, 0 for none: a retry letter topic has a dead-letter policy without
        being given one.

        >>> ConsumerConfig().redeliver_max, ConsumerConfig(max_redeliver=3).redeliver_max, ConsumerConfig(uses_retry_topic=True).redeliver_max
        (0, 3, 16)
        """
        return self.max_redeliver or (RECONSUME_MAX if self.uses_retry_topic else 0)

    @property
    def refill(self) -> int:
        """So many messages taken mean permits for as many: half of the queue, rounded down."""
        return max(self.queue_size // 2, 1)

    def cannot_handle(self, message: int) -> bool:
        """Whether the program gives up on this message."""
        return self.cannot > 0 and message % self.cannot == 0


@dataclass(slots=True)
class Part:
    """The consumer of one partition, or of a retry letter topic. topic: without its partition. request_id: of
    its last command that is answered. is_subscribed: the broker has said so. is_active: of Failover. refused:
    name of the last error. taken: messages since permits were last granted. acks: entries acknowledged and
    not yet told to the broker; in_batch: entry -> places in its batch, likewise. acked_up_to: the last
    cumulative one. batches: entry -> places in its batch that are not acknowledged. candidates: entry -> the
    messages that came of it, which are dead letters once they are asked for again. has_asked: it has asked
    for messages again, so that one may come which it has acknowledged meanwhile. unsubscribe_id: of the
    request to take the subscription away, 0 for none since it subscribed."""

    partition: int = -1
    request_id: int = 0
    is_subscribed: bool = False
    is_active: bool = False
    refused: str = ""
    taken: int = 0
    acks: list[int] = field(default_factory=list)
    batches: dict[int, list[int]] = field(default_factory=dict)
    in_batch: dict[int, list[int]] = field(default_factory=dict)
    topic: str = c.TOPIC
    unsubscribe_id: int = 0
    acked_up_to: int = NOTHING_ACKED
    candidates: dict[int, list[c.CommandMessage]] = field(default_factory=dict)
    has_asked: bool = False

    @property
    def has_gathered(self) -> bool:
        """Whether acknowledgements wait for their group."""
        return bool(self.acks or self.in_batch)

    def forget(self) -> None:
        """Its consumer at the broker is gone: what it has is no more its own."""
        self.is_subscribed = self.is_active = self.has_asked = False
        self.acked_up_to = NOTHING_ACKED
        for kept in (self.acks, self.in_batch, self.batches, self.candidates):
            kept.clear()
