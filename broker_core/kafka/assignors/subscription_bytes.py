"""The bytes in which consumers tell each other, through the coordinator, what they read and what they got.

A 2-byte version, then the body: Subscription (topics, user data; owned partitions from version 1, generation
from 2, rack from 3) and Assignment (partitions, user data; the same in all versions). A newer version than 3
is read as 3. The writer sorts topics and owned partitions; an assignment's partitions come grouped by topic
in order of first appearance.

Source: Kafka clients 3.9 ConsumerProtocol, StickyAssignor and CooperativeStickyAssignor (user data). Vectors:
kafka/consumer_protocol.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from broker_core.hashing.java_hash import java_sorted, utf16_order
from broker_core.kafka.assignors.byte_fields import (
    FieldReader,
    MalformedBytes,
    Underflow,
    array_bytes,
    int16_bytes,
    int32_bytes,
    nullable_bytes,
    string_bytes,
)  # fmt: skip
from broker_core.kafka.assignors.protocol import NO_GENERATION, TopicPartition

CONSUMER_PROTOCOL_TYPE = "consumer"
VERSION_MAX = 3


class SchemaError(MalformedBytes):
    """Not the consumer protocol: no version, a negative one, or a body that is cut off."""


@dataclass(frozen=True, slots=True)
class SubscriptionData:
    """A Subscription as it travels. user_data: of the assignor, unread. rack: None for none. version: that of
    the bytes, as written."""

    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation: int = NO_GENERATION
    rack: str | None = None
    version: int = VERSION_MAX


@dataclass(frozen=True, slots=True)
class AssignmentData:
    """An Assignment as it travels."""

    partitions: tuple[TopicPartition, ...]
    user_data: bytes | None = None


def read_version(data: bytes) -> int:
    """The version that the bytes begin with. Raises SchemaError when there is none."""
    try:
        return FieldReader(data).int16()
    except Underflow:
        raise SchemaError("no version") from None


def read_subscription(data: bytes, version: int | None = None) -> SubscriptionData:
    """Read a Subscription. version: read the body as this one, whatever the bytes say; None: as they say.

    Raises SchemaError for what is not a subscription at all, MalformedBytes for a length that does not fit.

    >>> read_subscription(bytes.fromhex("000000000001000174ffffffff")).topics
    ('t',)
    """
    own_version = read_version(data)
    if version is None:
        version = _known(own_version)
    reader = FieldReader(data[2:])
    try:
        topics = reader.array(reader.string)
        user_data = reader.nullable_bytes()
        owned = _read_partitions(reader) if version >= 1 else []
        generation = reader.int32() if version >= 2 else NO_GENERATION
        rack = reader.nullable_string() if version >= 3 else None
    except Underflow as error:
        raise SchemaError(str(error)) from None
    return SubscriptionData(
        tuple(topics), user_data, tuple(owned), max(generation, NO_GENERATION), rack or None, own_version
    )


def write_subscription(subscription: SubscriptionData, version: int = VERSION_MAX) -> bytes:
    """Write a Subscription: topics by name, owned partitions by topic and number."""
    body = array_bytes([string_bytes(topic) for topic in java_sorted(subscription.topics)]) + nullable_bytes(
        subscription.user_data
    )
    if version >= 1:
        body += _partitions_bytes(
            sorted(subscription.owned, key=lambda partition: (utf16_order(partition[0]), partition[1]))
        )
    if version >= 2:
        body += int32_bytes(subscription.generation)
    if version >= 3:
        body += string_bytes(subscription.rack)
    return int16_bytes(version) + body


@lru_cache(maxsize=4_096)
def read_assignment(data: bytes) -> AssignmentData:
    """Read an Assignment. Raises as `read_subscription` does. Kept, as pictures of a group read the same bytes
    again and again."""
    _known(read_version(data))
    reader = FieldReader(data[2:])
    try:
        return AssignmentData(tuple(_read_partitions(reader)), reader.nullable_bytes())
    except Underflow as error:
        raise SchemaError(str(error)) from None


def write_assignment(
    partitions: Sequence[TopicPartition], user_data: bytes | None = None, version: int = VERSION_MAX
) -> bytes:
    """Write an Assignment.

    >>> write_assignment([("t", 0), ("t", 1)], version=0).hex()
    '000000000001000174000000020000000000000001ffffffff'
    """
    return int16_bytes(version) + _partitions_bytes(partitions) + nullable_bytes(user_data)


def write_sticky_user_data(partitions: Mapping[str, Iterable[int]], generation: int) -> bytes:
    """The sticky assignor's memory, version 1: the last assignment, topic by topic in the order given, and
    its generation."""
    topics = [
        string_bytes(topic) + array_bytes([int32_bytes(number) for number in numbers])
        for topic, numbers in partitions.items()
    ]
    return array_bytes(topics) + int32_bytes(generation)


def read_sticky_user_data(data: bytes | None) -> tuple[list[TopicPartition], int]:
    """Read it again: (partitions, generation). Version 0 has no generation; what cannot be read counts as
    nothing remembered."""
    if data is None:
        return [], NO_GENERATION
    reader = FieldReader(data)
    try:
        partitions = _read_partitions(reader)
        return partitions, reader.int32() if reader.left else NO_GENERATION
    except MalformedBytes:
        return [], NO_GENERATION


def write_cooperative_user_data(generation: int) -> bytes:
    """The cooperative sticky assignor's memory: the generation alone; what a member owns is in the
    Subscription."""
    return int32_bytes(generation)


def _known(version: int) -> int:
    if version < 0:
        raise SchemaError(f"version {version}")
    return min(version, VERSION_MAX)


def _read_partitions(reader: FieldReader) -> list[TopicPartition]:
    def topic() -> list[TopicPartition]:
        name = reader.string()
        return [(name, number) for number in reader.array(reader.int32)]

    return [partition for partitions in reader.array(topic) for partition in partitions]


def _partitions_bytes(partitions: Iterable[TopicPartition]) -> bytes:
    by_topic: dict[str, list[int]] = {}
    for topic, number in partitions:
        by_topic.setdefault(topic, []).append(number)
    return array_bytes(
        [
            string_bytes(topic) + array_bytes([int32_bytes(n) for n in numbers])
            for topic, numbers in by_topic.items()
        ]
    )
