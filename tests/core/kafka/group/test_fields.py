"""A coordinator's message from a mapping of its fields, as recorded answers and programs write it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.fields import from_fields


def test_parts_within_parts_are_read_by_name_and_what_is_left_out_is_at_its_default() -> None:
    partitions = [
        {"partition_index": 1, "committed_offset": 7},
        {"committed_metadata": None, "partition_index": 2, "committed_offset": 8},
    ]
    topics = [{"name": "t", "partitions": partitions}]
    given = {"group_id": "g", "generation_id_or_member_epoch": 3, "member_id": "a", "topics": topics}
    assert from_fields(given, m.OffsetCommitRequest) == m.OffsetCommitRequest(
        "g",
        3,
        "a",
        [m.CommittedTopic("t", [m.CommittedPartition(1, 7), m.CommittedPartition(2, 8, -1, None)])],
    )


@pytest.mark.parametrize(
    ("topics", "read"),
    [(None, None), ([], []), ([{"name": "t", "partition_indexes": [2, 0]}], [m.FetchedTopic("t", [2, 0])])],
    ids=["all", "none", "some"],
)
def test_field_that_may_be_null_is_read_either_way(topics: Any, read: Any) -> None:
    assert from_fields(
        {"groups": [{"group_id": "g", "topics": topics}]}, m.OffsetFetchRequest
    ) == m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=read)])


def test_fields_that_we_do_not_have_are_passed_over_at_every_depth() -> None:
    given = {"group_id": "g", "members": [{"member_id": "a", "tags": 3}], "authorized": True}
    assert from_fields(given, m.LeaveGroupRequest) == m.LeaveGroupRequest(
        "g", members=[m.MemberIdentity("a")]
    )


def test_pairs_and_bytes_are_read_as_what_the_message_asks_for() -> None:
    assert from_fields({"partitions": [["t", 1], ["u", 0]]}, m.PartitionsDeleted).partitions == [
        ("t", 1),
        ("u", 0),
    ]
    assert from_fields({"name": "range", "metadata": b"x"}, m.Protocol) == m.Protocol("range", b"x")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"group_id": 5, "generation_id": 1, "member_id": "a"}, msgspec.ValidationError),
        ({"group_id": "g", "generation_id": "one", "member_id": "a"}, msgspec.ValidationError),
        ({"group_id": None, "generation_id": 1, "member_id": "a"}, msgspec.ValidationError),
        ({"group_id": "g"}, TypeError),
    ],
    ids=["number for text", "text for number", "null", "missing"],
)
def test_field_of_another_type_or_missing_is_refused(given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        from_fields(given, m.HeartbeatRequest)
