"""The offsets topic's records are read as they were written: every key and value that Kafka's own coordinator
wrote in the recorded cases."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core.kafka.assignors.byte_fields import MalformedBytes
from broker_core.kafka.group.record_bytes import key_bytes, value_bytes
from broker_core.kafka.group.record_reading import UnknownRecord, read_key, read_value

VECTORS = Path(__file__).parents[3] / "vectors/kafka/group"


def written(name: str) -> Iterator[tuple[bytes, bytes | None]]:
    """Every (key, value) of a recorded file; None: a tombstone."""

    def records(value: Any) -> Iterator[tuple[bytes, bytes | None]]:
        if isinstance(value, dict):
            if "key_hex" in value:
                yield (
                    bytes.fromhex(value["key_hex"]),
                    bytes.fromhex(value["value_hex"]) if value.get("value_hex") else None,
                )
            for part in value.values():
                yield from records(part)
        elif isinstance(value, list):
            for part in value:
                yield from records(part)

    return records(json.loads(gzip.decompress((VECTORS / f"{name}.json.gz").read_bytes())))


@pytest.mark.parametrize("name", ["classic", "offsets", "consumer_protocol_848"])
def test_what_kafka_wrote_is_read_and_written_the_same(name: str) -> None:
    kinds = set()
    for key_data, value_data in set(written(name)):
        key = read_key(key_data)
        kinds.add(type(key))
        assert key_bytes(key) == key_data
        if value_data is not None:
            value = read_value(key, value_data)
            assert value_bytes(value) == value_data
    assert kinds


def test_a_newer_version_is_named_and_a_short_value_refused() -> None:
    with pytest.raises(UnknownRecord, match="a key of version 9"):
        read_key(bytes.fromhex("0009000167"))
    key = read_key(bytes.fromhex("0002000167"))
    with pytest.raises(UnknownRecord, match="a value of version 4"):
        read_value(key, bytes.fromhex("0004"))
    with pytest.raises(MalformedBytes):
        read_value(key, bytes.fromhex("000300000000"))
