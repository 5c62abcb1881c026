"""Records of `__consumer_offsets` in words: each that Kafka's coordinators wrote has its fields, and what is
cut off has none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from broker_core.kafka.assignors.subscription_bytes import (
    SubscriptionData,
    write_assignment,
    write_subscription,
)
from broker_core.kafka.group import records as r
from broker_core.kafka.group.record_bytes import key_bytes, value_bytes
from broker_core.kafka.group.record_words import described, in_words

VECTORS = sorted((Path(__file__).parents[3] / "vectors/kafka/group").glob("*.json*"))


def recorded() -> list[tuple[str, str | None]]:
    """(key_hex, value_hex) of every record in the recordings."""
    found: dict[tuple[str, str | None], None] = {}

    def walk(value: object) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("key_hex"), str):
                found[value["key_hex"], value.get("value_hex")] = None
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    for path in VECTORS:
        walk(json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()))
    return list(found)


def test_every_recorded_record_is_read() -> None:
    rows = recorded()
    assert len(rows) > 1_000
    kinds = set()
    for key, value in rows:
        about = described(bytes.fromhex(key), None if value is None else bytes.fromhex(value))
        assert about is not None and (about["value"] is None) == (value is None), key
        kinds.add(about["kind"])
    assert {
        "OffsetCommit",
        "GroupMetadata",
        "ConsumerGroupMetadata",
        "ConsumerGroupCurrentMemberAssignment",
    } <= kinds


def test_a_commit_a_group_and_a_tombstone() -> None:
    key, value = r.OffsetCommitKey("g", "t", 3), r.OffsetCommitValue(42, 1, "", 1_000)
    about = described(key_bytes(key), value_bytes(value))
    assert about is not None and in_words(about["key"]) == "group=g topic=t partition=3"
    assert (
        in_words(about["value"])
        == 'offset=42 leader_epoch=1 metadata="" commit_timestamp=1000 expire_timestamp=null'
    )
    gone = described(key_bytes(key), None)
    assert gone is not None and in_words(gone["value"]) is None
    member = r.StoredMember(
        "c1-id",
        None,
        "c1",
        "/h",
        300,
        45,
        write_subscription(SubscriptionData(("t",))),
        write_assignment([("t", 0)]),
    )
    group = r.GroupMetadataValue("consumer", 2, "range", "c1-id", 5, [member])
    about = described(key_bytes(r.GroupMetadataKey("g")), value_bytes(group))
    assert about is not None
    assert about["value"]["members"][0]["subscription"] == ["t"] and about["value"]["members"][0][
        "assignment"
    ] == ["t-0"]
    assert "assignment=[t-0]" in (in_words(about["value"]) or "")


@pytest.mark.parametrize("cut", [1, 3])
def test_what_is_cut_off_or_unknown_has_no_words(cut: int) -> None:
    assert described(b"\x00\x63", b"") is None and described(None, b"") is None
    key = key_bytes(r.OffsetCommitKey("g", "t", 3))
    assert described(key, value_bytes(r.OffsetCommitValue(42, 1, "", 1_000))[:-cut]) is None
