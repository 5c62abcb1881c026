"""Keys and values of the offsets topic in every version that Kafka 3.9 reads, what is passed over, what is
refused. Vectors hold the newest."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.assignors.byte_fields import (
    MalformedBytes,
    int16_bytes,
    int32_bytes,
    nullable_bytes,
    string_bytes,
)
from broker_core.kafka.group import records as r
from broker_core.kafka.group.messages import TopicPartitions
from broker_core.kafka.group.record_bytes import key_bytes, value_bytes
from broker_core.kafka.group.record_reading import UnknownRecord, read_key, read_value

OFFSET, GROUP = r.OffsetCommitKey("g", "t", 3), r.GroupMetadataKey("g")
EPOCH, MEMBER = r.ConsumerGroupMetadataKey("g"), r.ConsumerGroupMemberMetadataKey("g", "m")
TOPICS = r.ConsumerGroupPartitionMetadataKey("g")
TARGET, CURRENT = (
    r.ConsumerGroupTargetAssignmentMemberKey("g", "m"),
    r.ConsumerGroupCurrentMemberAssignmentKey("g", "m"),
)


def int64_bytes(number: int) -> bytes:
    return struct.pack(">q", number)


@pytest.mark.parametrize(
    ("version", "epoch", "expiry"),
    [(0, None, None), (1, None, 99), (2, None, None), (3, 5, None)],
    ids=["v0", "v1", "v2", "v3"],
)
def test_commit_has_an_epoch_since_version_3_and_an_expiry_in_version_1_alone(
    version: int, epoch: int | None, expiry: int | None
) -> None:
    data = (
        int16_bytes(version)
        + int64_bytes(7)
        + (int32_bytes(epoch) if epoch is not None else b"")
        + string_bytes("m")
        + int64_bytes(50)
    )
    data += int64_bytes(expiry) if expiry is not None else b""
    assert read_value(OFFSET, data) == r.OffsetCommitValue(7, -1 if epoch is None else epoch, "m", 50, expiry)


def member_bytes(version: int) -> bytes:
    instance = string_bytes("i") if version >= 3 else b""
    timeouts = (int32_bytes(300) if version >= 1 else b"") + int32_bytes(45)
    return (
        string_bytes("a")
        + instance
        + string_bytes("c")
        + string_bytes("/h")
        + timeouts
        + nullable_bytes(b"sub")
        + nullable_bytes(None)
    )


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_group_gained_a_rebalance_timeout_a_timestamp_and_instances_one_version_after_the_other(
    version: int,
) -> None:
    data = (
        int16_bytes(version)
        + string_bytes("consumer")
        + int32_bytes(4)
        + string_bytes("range")
        + string_bytes("a")
    )
    data += (int64_bytes(77) if version >= 2 else b"") + int32_bytes(1) + member_bytes(version)
    stored = r.StoredMember(
        "a", "i" if version >= 3 else None, "c", "/h", 300 if version >= 1 else 45, 45, b"sub", b""
    )
    assert read_value(GROUP, data) == r.GroupMetadataValue(
        "consumer", 4, "range", "a", 77 if version >= 2 else -1, [stored]
    )


def test_key_of_the_oldest_commits_is_read_like_a_new_one() -> None:
    assert read_key(int16_bytes(0) + key_bytes(OFFSET)[2:]) == OFFSET


@pytest.mark.parametrize(
    ("key", "newest"), [(OFFSET, 3), (GROUP, 3), (EPOCH, 0), (MEMBER, 0), (TARGET, 0), (CURRENT, 0)]
)
def test_value_of_a_newer_or_a_negative_version_is_unknown(key: r.Key, newest: int) -> None:
    for version in (newest + 1, -1):
        with pytest.raises(UnknownRecord, match=f"a value of version {version}"):
            read_value(key, int16_bytes(version) + b"\x00" * 40)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (EPOCH, r.ConsumerGroupMetadataValue(4)),
        (TARGET, r.ConsumerGroupTargetAssignmentMemberValue([])),
        (TOPICS, r.ConsumerGroupPartitionMetadataValue([])),
        (CURRENT, r.ConsumerGroupCurrentMemberAssignmentValue(4, 3, 0, [], [])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_value_that_is_cut_off_before_its_tagged_fields_is_malformed(key: r.Key, value: r.Value) -> None:
    with pytest.raises(MalformedBytes):
        read_value(key, value_bytes(value)[:-1])


def test_tagged_fields_of_a_newer_broker_are_passed_over() -> None:
    """A struct ends with the number of its tagged fields; each has a number, a size and so many bytes."""
    topic = base64.urlsafe_b64decode("AAAAAAAAAAAAAAAAAAAAAQ==")
    data = (
        int16_bytes(0)
        + b"\x02"
        + topic
        + b"\x03"
        + int32_bytes(4)
        + int32_bytes(2)
        + b"\x01\x09\x03new"
        + b"\x00"
    )
    assert read_value(TARGET, data) == r.ConsumerGroupTargetAssignmentMemberValue(
        [TopicPartitions("AAAAAAAAAAAAAAAAAAAAAQ", [4, 2])]
    )
    member = r.ConsumerGroupMemberMetadataValue(None, None, "c", "/h", ["t"], "", 9, None, None)
    plain = value_bytes(member)
    assert plain.endswith(b"\x01\x00\x01\x00"), "one tagged field, number 0, of one byte that says null"
    assert (
        read_value(MEMBER, plain.removesuffix(b"\x01\x00\x01\x00") + b"\x02\x00\x01\x00\x07\x02xy") == member
    )


@pytest.mark.parametrize("count", [b"\x00", b"\x7f"], ids=["null", "more than there is"])
def test_array_that_cannot_be_is_malformed(count: bytes) -> None:
    with pytest.raises(MalformedBytes):
        read_value(TARGET, int16_bytes(0) + count)


def test_text_that_may_not_be_null_is_malformed() -> None:
    with pytest.raises(MalformedBytes, match="may not be null"):
        read_value(MEMBER, int16_bytes(0) + b"\x00\x00\x00")


TEXT = st.text("abc-\u00e9", max_size=5)
ID = st.binary(min_size=16, max_size=16).map(lambda data: base64.urlsafe_b64encode(data).decode().rstrip("="))
INT = st.integers(-(2**31), 2**31 - 1)
PLACES = st.lists(st.builds(TopicPartitions, ID, st.lists(INT, max_size=3)), max_size=3)
OFFERED = st.lists(st.builds(r.SupportedProtocol, TEXT, st.binary(max_size=4)), max_size=2)
CLASSIC = st.none() | st.builds(r.ClassicMemberMetadata, INT, OFFERED)
RACKS = st.lists(st.builds(r.PartitionRacks, INT, st.lists(TEXT, max_size=2)), max_size=2)
VALUES = st.one_of(
    st.tuples(st.just(OFFSET), st.builds(r.OffsetCommitValue, INT, INT, TEXT, INT)),
    st.tuples(st.just(OFFSET), st.builds(r.OffsetCommitValue, INT, st.just(-1), TEXT, INT, INT)),
    st.tuples(st.just(EPOCH), st.builds(r.ConsumerGroupMetadataValue, INT)),
    st.tuples(
        st.just(TOPICS),
        st.builds(
            r.ConsumerGroupPartitionMetadataValue,
            st.lists(st.builds(r.StoredTopic, ID, TEXT, INT, RACKS), max_size=2),
        ),
    ),
    st.tuples(
        st.just(MEMBER),
        st.builds(
            r.ConsumerGroupMemberMetadataValue,
            st.none() | TEXT,
            st.none() | TEXT,
            TEXT,
            TEXT,
            st.lists(TEXT, max_size=2),
            TEXT,
            INT,
            st.none() | TEXT,
            CLASSIC,
        ),
    ),
    st.tuples(
        st.just(r.ConsumerGroupTargetAssignmentMetadataKey("g")),
        st.builds(r.ConsumerGroupTargetAssignmentMetadataValue, INT),
    ),
    st.tuples(st.just(TARGET), st.builds(r.ConsumerGroupTargetAssignmentMemberValue, PLACES)),
    st.tuples(
        st.just(CURRENT),
        st.builds(r.ConsumerGroupCurrentMemberAssignmentValue, INT, INT, st.integers(0, 127), PLACES, PLACES),
    ),
)


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_law_what_is_written_is_read_back_and_nothing_shorter_is(pair: tuple[r.Key, r.Value]) -> None:
    key, value = pair
    assert read_key(key_bytes(key)) == key
    data = value_bytes(value)
    assert read_value(key, data) == value
    with pytest.raises(MalformedBytes):
        read_value(key, data[:-1])
