"""What a person, or the program around the producer, orders it to do: the calls of KafkaProducer that the
network answers.

Source: Kafka 3.9 clients KafkaProducer (initTransactions, beginTransaction, sendOffsetsToTransaction,
commitTransaction, abortTransaction, close).
"""

from __future__ import annotations

import msgspec


class Connect(msgspec.Struct, frozen=True, tag="kafka.producer.start", array_like=True):
    """Start. bootstrap: ids of brokers to ask first. topics: whose metadata is asked for at once."""

    bootstrap: list[int]
    topics: list[str] = []


class Send(msgspec.Struct, frozen=True, tag="kafka.producer.send", array_like=True):
    """A record. key_hash: `partitioner.positive_key_hash` of its key, -1 for none. partition: given by the
    sender, -1 for none. size: bytes."""

    value: int
    topic: str
    key_hash: int = -1
    partition: int = -1
    size: int = 100


class InitTransactions(msgspec.Struct, frozen=True, tag="kafka.producer.init_transactions", array_like=True):
    """Ask for the id; older instances with the same transactional id are fenced."""


class BeginTransaction(msgspec.Struct, frozen=True, tag="kafka.producer.begin_transaction", array_like=True):
    """What is sent from now on belongs together."""


class SendOffsets(msgspec.Struct, frozen=True, tag="kafka.producer.send_offsets", array_like=True):
    """Commit a group's offsets with the transaction. offsets: (topic, partition, offset)."""

    group_id: str
    offsets: list[tuple[str, int, int]]
    generation_id: int = -1
    member_id: str = ""


class CommitTransaction(
    msgspec.Struct, frozen=True, tag="kafka.producer.commit_transaction", array_like=True
):
    """Everything counts, once every batch is acked."""


class AbortTransaction(msgspec.Struct, frozen=True, tag="kafka.producer.abort_transaction", array_like=True):
    """Nothing counts."""


class Reopen(msgspec.Struct, frozen=True, tag="kafka.producer.reopen", array_like=True):
    """Close, and go on as another producer with these acks: they are fixed for a producer's life. What the
    application sends meanwhile waits for the new one."""

    acks: int
    enable_idempotence: bool


class Close(msgspec.Struct, frozen=True, tag="kafka.producer.close", array_like=True):
    """Send what waits, end an open transaction by aborting it, close the connections."""


ProducerOrder = (
    Connect
    | Send
    | InitTransactions
    | BeginTransaction
    | SendOffsets
    | CommitTransaction
    | AbortTransaction
    | Reopen
    | Close
)
