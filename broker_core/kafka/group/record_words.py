"""A record of `__consumer_offsets` as people read it: what it is about, its fields by name, and whether it is
a tombstone.

    OffsetCommit   group=lab topic=flights partition=3      offset=42 leader_epoch=0 metadata="" commit_timestamp=...
    GroupMetadata  group=lab                                 generation=2 protocol=range leader=c1-... members=[...]

Subscriptions and assignments inside a group's record are decoded, too. What a newer broker wrote, or is cut
off, has no words: None.
Source: Kafka 3.9 tools DumpLogSegments (OffsetsMessageParser), GroupMetadataManager.
"""

from __future__ import annotations

from typing import Any

import msgspec

from broker_core.events import Json
from broker_core.kafka.assignors.byte_fields import MalformedBytes
from broker_core.kafka.assignors.subscription_bytes import (
    CONSUMER_PROTOCOL_TYPE,
    read_assignment,
    read_subscription,
)
from broker_core.kafka.group import records as r
from broker_core.kafka.group.record_reading import read_key, read_value

OFFSETS_TOPIC = "__consumer_offsets"


def described(key: bytes | None, value: bytes | None) -> Json | None:
    """{"kind", "key": fields, "value": fields, or None for a tombstone}; None where the bytes are of no known
    record.

    >>> described(bytes.fromhex("0002000167"), None)
    {'kind': 'GroupMetadata', 'key': {'group': 'g'}, 'value': None}
    """
    if key is None:
        return None
    try:
        known = read_key(key)
        about: Json = {"kind": known.type, "key": _fields(known), "value": None}
        if value is not None:
            about["value"] = _value(read_value(known, value))
    except MalformedBytes:
        return None
    return about


def in_words(fields: Json | None) -> str | None:
    """Fields in a line: name=value, in their order; None for a tombstone.

    >>> in_words({"offset": 42, "metadata": ""})
    'offset=42 metadata=""'
    """
    return None if fields is None else " ".join(f"{name}={_text(value)}" for name, value in fields.items())


def _value(value: r.Value) -> Json:
    if not isinstance(value, r.GroupMetadataValue):
        return _fields(value)
    members = [_member(member, value.protocol_type) for member in value.members]
    return {**_fields(value), "members": members}


def _member(member: r.StoredMember, protocol_type: str) -> Json:
    fields = _fields(member)
    if protocol_type != CONSUMER_PROTOCOL_TYPE:
        return fields
    try:
        if member.subscription:
            fields["subscription"] = list(read_subscription(member.subscription).topics)
        if member.assignment:
            fields["assignment"] = [
                f"{topic}-{number}" for topic, number in read_assignment(member.assignment).partitions
            ]
    except MalformedBytes:
        pass  # bytes of another client's own stay bytes, as the coordinator leaves them
    return fields


def _fields(record: Any) -> Json:
    plain: Json = msgspec.to_builtins(
        {name: getattr(record, name) for name in record.__struct_fields__}, builtin_types=(bytes,)
    )
    return {name: value.hex() if isinstance(value, bytes) else value for name, value in plain.items()}


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}={_text(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_text(each) for each in value) + "]"
    return '""' if value == "" else "null" if value is None else str(value)
