"""The bytes of the offsets topic's records: a 2-byte version, then the fields.

Keys, and the values of commits and of classic groups, are in the old format. The values of the consumer
protocol are flexible: lengths are unsigned varints of length + 1 (0 is null), and every struct ends with its
tagged fields, of which there are none.
Source: Kafka 3.9 group-coordinator/src/main/resources/common/message. Vectors: key_hex and value_hex of
kafka/group/*.json.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

from broker_core.errors import InvariantError
from broker_core.kafka.assignors.byte_fields import (
    array_bytes,
    int16_bytes,
    int32_bytes,
    nullable_bytes,
    string_bytes,
)
from broker_core.kafka.group import records as r
from broker_core.kafka.group.messages import TopicPartitions
from broker_core.kafka.log.varint import encode_unsigned_varint

T = TypeVar("T")

_NO_TAGS = b"\x00"


def key_bytes(key: r.Key) -> bytes:
    """A key as it is stored.

    >>> key_bytes(r.GroupMetadataKey("g")).hex()
    '0002000167'
    """
    fields = (getattr(key, name) for name in key.__struct_fields__)
    return int16_bytes(key.version) + b"".join(
        string_bytes(field) if isinstance(field, str) else int32_bytes(field) for field in fields
    )


def value_bytes(value: r.Value) -> bytes:
    """A value as it is stored.

    >>> value_bytes(r.ConsumerGroupMetadataValue(1)).hex()
    '00000000000100'
    """
    return int16_bytes(value.version) + _body(value)


def _body(value: r.Value) -> bytes:
    match value:
        case r.OffsetCommitValue():
            epoch = int32_bytes(value.leader_epoch) if value.version == 3 else b""
            expiry = b"" if value.expire_timestamp is None else _int64(value.expire_timestamp)
            return (
                _int64(value.offset)
                + epoch
                + string_bytes(value.metadata)
                + _int64(value.commit_timestamp)
                + expiry
            )
        case r.GroupMetadataValue():
            head = (
                string_bytes(value.protocol_type)
                + int32_bytes(value.generation)
                + string_bytes(value.protocol)
            )
            head += string_bytes(value.leader) + _int64(value.current_state_timestamp)
            return head + array_bytes([_member(member) for member in value.members])
        case r.ConsumerGroupMetadataValue():
            return int32_bytes(value.epoch) + _NO_TAGS
        case r.ConsumerGroupPartitionMetadataValue():
            return _array(value.topics, _topic) + _NO_TAGS
        case r.ConsumerGroupMemberMetadataValue():
            head = b"".join(
                map(_string, (value.instance_id, value.rack_id, value.client_id, value.client_host))
            )
            head += _array(value.subscribed_topic_names, _string) + _string(value.subscribed_topic_regex)
            head += int32_bytes(value.rebalance_timeout_ms) + _string(value.server_assignor)
            # A tagged field, number 0. Its default is not null, so null is written too.
            return head + _tagged(
                b"\x00" if value.classic_member_metadata is None else _classic(value.classic_member_metadata)
            )
        case r.ConsumerGroupTargetAssignmentMetadataValue():
            return int32_bytes(value.assignment_epoch) + _NO_TAGS
        case r.ConsumerGroupTargetAssignmentMemberValue():
            return _array(value.topic_partitions, _partitions) + _NO_TAGS
        case r.ConsumerGroupCurrentMemberAssignmentValue():
            head = (
                int32_bytes(value.member_epoch)
                + int32_bytes(value.previous_member_epoch)
                + bytes([value.state])
            )
            return (
                head
                + _array(value.assigned_partitions, _partitions)
                + _array(value.partitions_pending_revocation, _partitions)
                + _NO_TAGS
            )
    raise InvariantError(f"no bytes for {type(value).__name__}")


def _member(member: r.StoredMember) -> bytes:
    names = b"".join(
        map(string_bytes, (member.member_id, member.group_instance_id, member.client_id, member.client_host))
    )
    timeouts = int32_bytes(member.rebalance_timeout) + int32_bytes(member.session_timeout)
    return names + timeouts + nullable_bytes(member.subscription) + nullable_bytes(member.assignment)


def _topic(topic: r.StoredTopic) -> bytes:
    return (
        _uuid(topic.topic_id)
        + _string(topic.topic_name)
        + int32_bytes(topic.num_partitions)
        + _array(topic.partition_metadata, _racks)
        + _NO_TAGS
    )


def _racks(partition: r.PartitionRacks) -> bytes:
    return int32_bytes(partition.partition) + _array(partition.racks, _string) + _NO_TAGS


def _partitions(topic: TopicPartitions) -> bytes:
    return _uuid(topic.topic_id) + _array(topic.partitions, int32_bytes) + _NO_TAGS


def _classic(classic: r.ClassicMemberMetadata) -> bytes:
    def protocol(offered: r.SupportedProtocol) -> bytes:
        return (
            _string(offered.name)
            + encode_unsigned_varint(len(offered.metadata) + 1)
            + offered.metadata
            + _NO_TAGS
        )

    return (
        b"\x01"
        + int32_bytes(classic.session_timeout_ms)
        + _array(classic.supported_protocols, protocol)
        + _NO_TAGS
    )


def _tagged(field: bytes) -> bytes:
    return encode_unsigned_varint(1) + encode_unsigned_varint(0) + encode_unsigned_varint(len(field)) + field


def _string(text: str | None) -> bytes:
    if text is None:
        return encode_unsigned_varint(0)
    data = text.encode()
    return encode_unsigned_varint(len(data) + 1) + data


def _array(items: Sequence[T], item_bytes: Callable[[T], bytes]) -> bytes:
    return encode_unsigned_varint(len(items) + 1) + b"".join(map(item_bytes, items))


def _uuid(topic_id: str) -> bytes:
    return base64.urlsafe_b64decode(topic_id + "==")


def _int64(number: int) -> bytes:
    return struct.pack(">q", number)
