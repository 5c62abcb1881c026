"""Commands between Pulsar's clients and broker, by the names of PulsarApi.proto.

producer_id, consumer_id: chosen by the client, unique on a connection; request_id: of a command that is
answered. message: number of the message; entry: its position in its topic or partition, which is what a
message id names here; key: code of its key, -1 for none (the bytes are the workload's). Left out:
authentication, transactions.
Source: Pulsar 3.2 PulsarApi.proto; docs/pulsar/facts.md.
"""

from __future__ import annotations

import msgspec

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.pulsar.selectors.protocol import Range
from broker_core.pulsar.settings import KEY_SHARED

KEEP_ALIVE_US = 30 * SECOND_US
"""keepAliveIntervalSeconds of broker and client."""
LIVENESS_TIMEOUT_US = 5 * SECOND_US
"""connectionLivenessCheckTimeoutMillis of the broker."""
ACK_GROUP_US = 100 * MILLISECOND_US
"""acknowledgmentGroupTime of the client."""
RECEIVER_QUEUE_SIZE = 1_000

CONSUMER_ASSIGN_ERROR, CONSUMER_BUSY, METADATA_ERROR = "ConsumerAssignError", "ConsumerBusy", "MetadataError"
SERVICE_NOT_READY = "ServiceNotReady"
TOPIC, SUBSCRIPTION = "topic", "subscription"
"""Of a world with one of each."""


def parts_of(topic: str, partitions: int, topics: int) -> list[tuple[str, int]]:
    """The (topic, partition) of which a client has a producer or consumer each: several topics without
    partitions, a topic's partitions, or one topic without.

    >>> parts_of("t", 0, 2), parts_of("t", 2, 0), parts_of("t", 0, 0)
    ([('t-0', -1), ('t-1', -1)], [('t', 0), ('t', 1)], [('t', -1)])
    """
    if topics:
        return [(f"{topic}-{number}", -1) for number in range(topics)]
    return [(topic, number) for number in range(partitions)] if partitions else [(topic, -1)]


class _Command(msgspec.Struct, array_like=True, omit_defaults=True, gc=False):
    pass


class CommandProducer(_Command, tag="pulsar.PRODUCER"):
    """partition: -1 for a topic without partitions. wants_receipts: in the original every message is
    receipted; here a producer that never looks at its receipts asks for none."""

    producer_id: int
    topic: str = TOPIC
    partition: int = -1
    name: str = ""
    wants_receipts: bool = False


class CommandSend(_Command, tag="pulsar.SEND"):
    """One message, or a batch: then batch has the numbers of all its messages, and message, key and
    ordering_key are those of the first.
    ordering_key: code, -1 for none; it comes before the key. sequence_id: the highest of a batch, -1 for
    none. reconsumed: how often it has been through a retry letter topic (property RECONSUMETIMES).
    first_sequence_id: of a default batch, that of its first message; -1: as sequence_id."""

    producer_id: int
    message: int
    key: int
    ordering_key: int = -1
    sequence_id: int = -1
    batch: tuple[int, ...] = ()
    deliver_at_us: int = 0
    reconsumed: int = 0
    first_sequence_id: int = -1


class CommandSendReceipt(_Command, tag="pulsar.SEND_RECEIPT"):
    """The broker has the message. entry: its position, -1 where it was a duplicate, which the broker had
    before."""

    producer_id: int
    sequence_id: int
    entry: int


class CommandSubscribe(_Command, tag="pulsar.SUBSCRIBE"):
    """ranges: KeySharedMeta of sticky ranges, empty for auto split. initial_position: earliest or latest, for
    a subscription that does not exist yet."""

    request_id: int
    consumer_id: int
    consumer_name: str
    ranges: list[Range]
    sub_type: str = KEY_SHARED
    topic: str = TOPIC
    partition: int = -1
    subscription: str = SUBSCRIPTION
    priority_level: int = 0
    allows_out_of_order: bool = False
    initial_position: str = "latest"


class CommandSuccess(_Command, tag="pulsar.SUCCESS"):
    request_id: int


class CommandError(_Command, tag="pulsar.ERROR"):
    """error: name of the ServerError, "ConsumerAssignError"."""

    request_id: int
    error: str
    message: str


class CommandFlow(_Command, tag="pulsar.FLOW"):
    consumer_id: int
    message_permits: int


class CommandMessage(_Command, tag="pulsar.MESSAGE"):
    """batch: numbers of a batch's messages that are not acknowledged yet, and empty for a message on its own;
    places: theirs in the batch, where that is not all of it (ack_set)."""

    consumer_id: int
    entry: int
    message: int
    redelivery_count: int = 0
    batch: tuple[int, ...] = ()
    places: tuple[int, ...] = ()
    reconsumed: int = 0


class CommandAck(_Command, tag="pulsar.ACK"):
    """Individual acknowledgements, as many as the client grouped, or (is_cumulative) one that counts for all
    before it. in_batch: entry -> places in its batch, for batches that are acknowledged in part; of a
    cumulative one, for its entry."""

    consumer_id: int
    entries: list[int]
    is_cumulative: bool = False
    in_batch: dict[int, list[int]] | None = None


class CommandRedeliverUnacknowledgedMessages(_Command, tag="pulsar.REDELIVER_UNACKNOWLEDGED_MESSAGES"):
    """entries: those asked for, empty for all that the consumer has."""

    consumer_id: int
    entries: list[int]


class CommandSeek(_Command, tag="pulsar.SEEK"):
    """To an entry, or (entry -1) to the first one published at or after a moment."""

    request_id: int
    consumer_id: int
    entry: int
    publish_time_us: int = 0


class CommandUnsubscribe(_Command, tag="pulsar.UNSUBSCRIBE"):
    request_id: int
    consumer_id: int


class CommandActiveConsumerChange(_Command, tag="pulsar.ACTIVE_CONSUMER_CHANGE"):
    consumer_id: int
    is_active: bool


class CommandCloseConsumer(_Command, tag="pulsar.CLOSE_CONSUMER"):
    """From a client: it is answered. From the broker (request_id 0): this consumer is closed, subscribe
    again."""

    request_id: int
    consumer_id: int


class CommandPing(_Command, tag="pulsar.PING"):
    pass


class CommandPong(_Command, tag="pulsar.PONG"):
    pass


Command = (
    CommandProducer
    | CommandSend
    | CommandSendReceipt
    | CommandSubscribe
    | CommandSuccess
    | CommandError
    | CommandFlow
    | CommandMessage
    | CommandAck
    | CommandRedeliverUnacknowledgedMessages
    | CommandSeek
    | CommandUnsubscribe
    | CommandActiveConsumerChange
    | CommandCloseConsumer
    | CommandPing
    | CommandPong
)
