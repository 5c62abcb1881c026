"""The offsets topic's records back from their bytes: what a broker that takes a partition over reads, and
what the log page shows.

`record_bytes.py` writes them. Of a commit's value versions 0 to 3 can be read, of a classic group's 0 to 3:
version 4, the flexible one, came after 3.9 and is refused. Source: Kafka 3.9
GroupMetadataManager.readMessageKey, readOffsetMessageValue, CoordinatorRecordSerde.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from broker_core.kafka.assignors.byte_fields import FieldReader, MalformedBytes
from broker_core.kafka.group import records as r
from broker_core.kafka.group.messages import TopicPartitions

T = TypeVar("T")


class UnknownRecord(MalformedBytes):
    """A key or value of a version that Kafka 3.9 does not write. A newer broker's; Kafka logs it and goes
    on."""


def read_key(data: bytes) -> r.Key:
    """Which record it is. Raises UnknownRecord for another version, MalformedBytes for what is cut off.

    >>> read_key(bytes.fromhex("0002000167"))
    GroupMetadataKey(group='g')
    """
    reader = FieldReader(data)
    version = reader.int16()
    kind = _KEYS.get(version)
    if kind is None:
        raise UnknownRecord(f"a key of version {version}")
    key: r.Key = kind(
        *(
            reader.int32() if hint == "int" else reader.string()
            for hint in kind.__annotations__.values()
            if "ClassVar" not in hint
        )
    )
    return key


def read_value(key: r.Key, data: bytes) -> r.Value:
    """The value under a key. Raises as `read_key` does."""
    reader = FieldReader(data)
    value: r.Value = _VALUES[type(key)](reader, reader.int16())
    return value


def _commit(reader: FieldReader, version: int) -> r.OffsetCommitValue:
    _check(version, 3)
    offset = reader.int64()
    epoch = reader.int32() if version == 3 else -1
    metadata, committed_at = reader.string(), reader.int64()
    return r.OffsetCommitValue(
        offset, epoch, metadata, committed_at, reader.int64() if version == 1 else None
    )


def _group(reader: FieldReader, version: int) -> r.GroupMetadataValue:
    _check(version, 3)

    def member() -> r.StoredMember:
        member_id = reader.string()
        instance_id = reader.nullable_string() if version >= 3 else None
        client_id, host = reader.string(), reader.string()
        rebalance = reader.int32() if version >= 1 else -1
        session = reader.int32()
        rebalance = session if version == 0 else rebalance
        return r.StoredMember(
            member_id, instance_id, client_id, host, rebalance, session, _bytes(reader), _bytes(reader)
        )

    head = (reader.string(), reader.int32(), reader.nullable_string(), reader.nullable_string())
    return r.GroupMetadataValue(*head, reader.int64() if version >= 2 else -1, reader.array(member))


def _group_epoch(reader: FieldReader, version: int) -> r.ConsumerGroupMetadataValue:
    _check(version, 0)
    return _ended(reader, r.ConsumerGroupMetadataValue(reader.int32()))


def _topics(reader: FieldReader, version: int) -> r.ConsumerGroupPartitionMetadataValue:
    _check(version, 0)

    def racks() -> r.PartitionRacks:
        return _ended(reader, r.PartitionRacks(reader.int32(), _array(reader, lambda: _string(reader))))

    def topic() -> r.StoredTopic:
        return _ended(
            reader, r.StoredTopic(_uuid(reader), _string(reader), reader.int32(), _array(reader, racks))
        )

    return _ended(reader, r.ConsumerGroupPartitionMetadataValue(_array(reader, topic)))


def _member(reader: FieldReader, version: int) -> r.ConsumerGroupMemberMetadataValue:
    _check(version, 0)
    names = (_nullable(reader), _nullable(reader), _string(reader), _string(reader))
    subscribed = (_array(reader, lambda: _string(reader)), _string(reader), reader.int32(), _nullable(reader))
    classic = None
    for _ in range(reader.unsigned_varint()):
        tag, size = reader.unsigned_varint(), reader.unsigned_varint()
        field = FieldReader(reader.raw(size))
        if tag == 0 and field.int8() == 1:
            classic = _classic(field)
    return r.ConsumerGroupMemberMetadataValue(*names, *subscribed, classic)


def _classic(reader: FieldReader) -> r.ClassicMemberMetadata:
    def protocol() -> r.SupportedProtocol:
        return _ended(reader, r.SupportedProtocol(_string(reader), reader.raw(reader.unsigned_varint() - 1)))

    return r.ClassicMemberMetadata(reader.int32(), _array(reader, protocol))


def _target_epoch(reader: FieldReader, version: int) -> r.ConsumerGroupTargetAssignmentMetadataValue:
    _check(version, 0)
    return _ended(reader, r.ConsumerGroupTargetAssignmentMetadataValue(reader.int32()))


def _target(reader: FieldReader, version: int) -> r.ConsumerGroupTargetAssignmentMemberValue:
    _check(version, 0)
    return _ended(
        reader, r.ConsumerGroupTargetAssignmentMemberValue(_array(reader, lambda: _partitions(reader)))
    )


def _current(reader: FieldReader, version: int) -> r.ConsumerGroupCurrentMemberAssignmentValue:
    _check(version, 0)
    head = (reader.int32(), reader.int32(), reader.int8())
    assigned = _array(reader, lambda: _partitions(reader))
    return _ended(
        reader,
        r.ConsumerGroupCurrentMemberAssignmentValue(
            *head, assigned, _array(reader, lambda: _partitions(reader))
        ),
    )


def _partitions(reader: FieldReader) -> TopicPartitions:
    return _ended(reader, TopicPartitions(_uuid(reader), _array(reader, reader.int32)))


def _check(version: int, newest: int) -> None:
    if not 0 <= version <= newest:
        raise UnknownRecord(f"a value of version {version}")


def _bytes(reader: FieldReader) -> bytes:
    return reader.nullable_bytes() or b""


def _nullable(reader: FieldReader) -> str | None:
    size = reader.unsigned_varint()
    return None if size == 0 else reader.raw(size - 1).decode()


def _string(reader: FieldReader) -> str:
    text = _nullable(reader)
    if text is None:
        raise MalformedBytes("a string that may not be null is null")
    return text


def _array(reader: FieldReader, item: Callable[[], T]) -> list[T]:
    count = reader.unsigned_varint() - 1
    if not 0 <= count <= reader.left:
        raise MalformedBytes(f"an array of {count} with {reader.left} bytes left")
    return [item() for _ in range(count)]


def _uuid(reader: FieldReader) -> str:
    return base64.urlsafe_b64encode(reader.raw(16)).decode().rstrip("=")


def _ended(reader: FieldReader, value: T) -> T:
    """A flexible struct ends with its tagged fields; ours have none, and those of others are passed over."""
    for _ in range(reader.unsigned_varint()):
        reader.unsigned_varint()
        reader.raw(reader.unsigned_varint())
    return value


_KEYS: Mapping[int, type[Any]] = MappingProxyType(
    {kind.version: kind for kind in r.Key.__args__} | {0: r.OffsetCommitKey}
)
_VALUES: Mapping[type, Callable[[FieldReader, int], Any]] = MappingProxyType(
    {
        r.OffsetCommitKey: _commit,
        r.GroupMetadataKey: _group,
        r.ConsumerGroupMetadataKey: _group_epoch,
        r.ConsumerGroupPartitionMetadataKey: _topics,
        r.ConsumerGroupMemberMetadataKey: _member,
        r.ConsumerGroupTargetAssignmentMetadataKey: _target_epoch,
        r.ConsumerGroupTargetAssignmentMemberKey: _target,
        r.ConsumerGroupCurrentMemberAssignmentKey: _current,
    }
)
