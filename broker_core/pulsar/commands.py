"""Commands between Pulsar's clients and broker, by the names of PulsarApi.proto.

producer_id, consumer_id: chosen by the client, unique on a connection; request_id: of a command that is answered. message: number of the
message (its entry); key: code of its key, -1 for none (the bytes are the workload's). Left out: batches, several topics on a broker,
authentication, transactions.
Source: Pulsar 3.2 PulsarApi.proto; docs/pulsar/facts.md.
"""

from __future__ import annotations

import msgspec

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.pulsar.selectors.protocol import Range

KEEP_ALIVE_US = 30 * SECOND_US
"""keepAliveIntervalSeconds of broker and client."""
LIVENESS_TIMEOUT_US = 5 * SECOND_US
"""connectionLivenessCheckTimeoutMillis of the broker."""
ACK_GROUP_US = 100 * MILLISECOND_US
"""acknowledgmentGroupTime of the client."""
RECEIVER_QUEUE_SIZE = 1_000

CONSUMER_ASSIGN_ERROR, CONSUMER_BUSY = "ConsumerAssignError", "ConsumerBusy"


class _Command(msgspec.Struct, array_like=True, gc=False):
    pass


class CommandProducer(_Command, tag="pulsar.PRODUCER"):
    producer_id: int


class CommandSend(_Command, tag="pulsar.SEND"):
    producer_id: int
    message: int
    key: int


class CommandSubscribe(_Command, tag="pulsar.SUBSCRIBE"):
    """To the one Key_Shared subscription. ranges: KeySharedMeta of sticky ranges, empty for auto split."""

    request_id: int
    consumer_id: int
    consumer_name: str
    ranges: list[Range]


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
    consumer_id: int
    message: int
    redelivered: bool


class CommandAck(_Command, tag="pulsar.ACK"):
    """Individual acknowledgements, as many as the client grouped."""

    consumer_id: int
    messages: list[int]


class CommandCloseConsumer(_Command, tag="pulsar.CLOSE_CONSUMER"):
    request_id: int
    consumer_id: int


class CommandPing(_Command, tag="pulsar.PING"):
    pass


class CommandPong(_Command, tag="pulsar.PONG"):
    pass


Command = (
    CommandProducer | CommandSend | CommandSubscribe | CommandSuccess | CommandError | CommandFlow | CommandMessage | CommandAck
    | CommandCloseConsumer | CommandPing | CommandPong
)  # fmt: skip
