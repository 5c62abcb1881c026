"""Segments from before Kafka 0.11: messages of formats 0 and 1, plain and compressed."""

import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder as AioBuilder
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.legacy_records import LegacyRecordBatchBuilder as PythonBuilder

from broker_core.kafka.log.batch_reader import batch_at
from broker_core.kafka.log.codecs import Codec, compress
from broker_core.kafka.log.dump import dump_path
from broker_core.kafka.log.errors import CodecFailed, CorruptRecord, InvalidRecord, OutsideMessage
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.record import Record

NOW = 1_500_000_000_000
nullable = st.none() | st.binary(max_size=60)
rows = st.lists(st.tuples(st.integers(0, 2**41), nullable, nullable), min_size=1, max_size=8)


def message(
    offset: int,
    value: bytes | None,
    *,
    magic: int = 1,
    attributes: int = 0,
    timestamp: int = NOW,
    key: bytes | None = None,
) -> bytes:
    """Write a message by the layout, for what no client writes any more."""
    body = struct.pack(">bb", magic, attributes) + (struct.pack(">q", timestamp) if magic else b"")
    for content in (key, value):
        body += struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content
    body = struct.pack(">I", zlib.crc32(body)) + body
    return struct.pack(">qi", offset, len(body)) + body


def stored(data: bytes, count: int) -> bytes:
    """As a broker stores what a client sent: a compressed message gets the offset of the last one inside."""
    return struct.pack(">q", count - 1) + data[8:] if data[17] & 0x07 else data


def only(data: bytes) -> LegacyBatch:
    batch = batch_at(memoryview(data), 0)
    assert isinstance(batch, LegacyBatch) and batch.size_in_bytes == len(data)
    return batch


def read(data: bytes) -> list[tuple[int, int, bytes | None, bytes | None]]:
    records: list[Record] = []
    position = 0
    while position < len(data):
        batch = batch_at(memoryview(data), position)
        assert isinstance(batch, LegacyBatch)
        batch.ensure_valid()
        records += batch.records()
        position += batch.size_in_bytes
    return [(record.offset, record.timestamp, record.key, record.value) for record in records]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize(
    ("builder", "codec"),
    [
        (PythonBuilder, Codec.NONE),
        (PythonBuilder, Codec.GZIP),
        (AioBuilder, Codec.NONE),
        (AioBuilder, Codec.GZIP),
        (AioBuilder, Codec.SNAPPY),
    ],
    ids=["kafka-python, none", "kafka-python, gzip", "aiokafka, none", "aiokafka, gzip", "aiokafka, snappy"],
)
@settings(max_examples=25, deadline=None)
@given(rows=rows)
def test_we_read_what_other_clients_wrote(
    builder: Any, codec: Codec, magic: int, rows: list[tuple[int, bytes | None, bytes | None]]
) -> None:
    made = builder(magic=magic, compression_type=int(codec), batch_size=1 << 20)
    for offset, (time, key, value) in enumerate(rows):
        assert made.append(offset, timestamp=time, key=key, value=value)
    assert read(stored(bytes(made.build()), len(rows))) == [
        (offset, time if magic else -1, key, value) for offset, (time, key, value) in enumerate(rows)
    ]  # fmt: skip


def test_we_read_lz4_of_other_clients() -> None:
    made = AioBuilder(magic=1, compression_type=int(Codec.LZ4), batch_size=1 << 20)
    for offset in range(3):
        made.append(offset, timestamp=NOW, key=b"k", value=b"v" * offset)
    assert read(stored(bytes(made.build()), 3)) == [(offset, NOW, b"k", b"v" * offset) for offset in range(3)]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_offsets_inside_count_back_from_the_message_s_own(codec: Codec) -> None:
    inside = message(0, b"a") + message(2, b"c", timestamp=NOW + 1)  # one is compacted away
    batch = only(message(107, compress(codec, inside), attributes=codec, timestamp=NOW + 1))
    assert read(bytes(batch.data)) == [(105, NOW, None, b"a"), (107, NOW + 1, None, b"c")]
    assert (batch.base_offset, batch.last_offset) == (105, 107)
    old = message(105, b"a", magic=0) + message(107, b"c", magic=0)
    assert [row[0] for row in read(message(107, compress(codec, old), magic=0, attributes=codec))] == [
        105,
        107,
    ]


def test_the_broker_s_time_is_that_of_all_records_inside() -> None:
    inside = message(0, b"a", timestamp=5) + message(1, b"b", timestamp=6)
    data = message(9, compress(Codec.GZIP, inside), attributes=Codec.GZIP | 0x08)
    assert [row[1] for row in read(data)] == [NOW, NOW]


def test_format_0_s_lz4_with_the_wrong_checksum_in_its_frame() -> None:
    frame = bytearray(compress(Codec.LZ4, message(4, b"a" * 50, magic=0)))
    frame[6] ^= 0x5A
    assert read(message(4, bytes(frame), magic=0, attributes=Codec.LZ4)) == [(4, -1, None, b"a" * 50)]
    with pytest.raises(CodecFailed):
        read(message(4, bytes(frame), magic=1, attributes=Codec.LZ4))


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (message(1, None, attributes=Codec.GZIP), InvalidRecord),
        (message(1, compress(Codec.GZIP, b""), attributes=Codec.GZIP), InvalidRecord),
        (message(1, compress(Codec.GZIP, message(1, b"a", magic=0)), attributes=Codec.GZIP), InvalidRecord),
        (
            message(1, compress(Codec.GZIP, message(0, b"a", attributes=Codec.GZIP)), attributes=Codec.GZIP),
            InvalidRecord,
        ),
        (message(1, compress(Codec.GZIP, bytes(40)), attributes=Codec.GZIP), CorruptRecord),
        (message(1, b"no stream", attributes=Codec.GZIP), CodecFailed),
    ],
    ids=["no value", "nothing inside", "another format", "compressed twice", "too short", "no stream"],
)
def test_a_compressed_message_that_is_none(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        list(only(data).records())


def test_an_old_segment_is_printed(tmp_path: Path) -> None:
    inside = message(0, b"one", key=b"a") + message(1, b"two", key=b"b")
    path = tmp_path / "00000000000000000007.log"
    path.write_bytes(
        message(7, b"zero", magic=0) + message(9, compress(Codec.GZIP, inside), attributes=Codec.GZIP)
    )
    rows = [row.text() for row in dump_path(path, deep=True)]
    assert [row.split(" crc")[0] for row in rows[1:]] == [
        "offset: 7 position: 0 NoTimestampType: -1 size: 30 magic: 0 compresscodec: none",
        "| offset: 7 NoTimestampType: -1 keySize: -1 valueSize: 4 key: null payload: zero",
        (
            f"offset: 9 position: 30 CreateTime: {NOW} size: {path.stat().st_size - 30} magic: 1 "
            f"compresscodec: gzip"
        ),
        f"| offset: 8 CreateTime: {NOW} keySize: 1 valueSize: 3 key: a payload: one",
        f"| offset: 9 CreateTime: {NOW} keySize: 1 valueSize: 3 key: b payload: two",
    ]


@pytest.mark.parametrize("magic", [0, 1])
def test_a_compressed_message_whose_value_has_no_place_for_its_length(magic: int) -> None:
    inner = message(0, b"a", magic=magic)
    data = bytearray(message(0, compress(Codec.GZIP, inner), magic=magic, attributes=Codec.GZIP, key=b"k"))
    key_at = 26 if magic else 18
    for key_size in (
        len(data) - key_at - 7,
        2**31 - 1,
    ):  # its last four bytes would begin one byte too late; far outside
        data[key_at : key_at + 4] = struct.pack(">i", key_size)
        with pytest.raises(OutsideMessage):
            list(only(bytes(data)).records())


def test_zstd_came_with_format_2() -> None:
    with pytest.raises(InvalidRecord):
        list(only(message(0, compress(Codec.ZSTD, message(0, b"a")), attributes=Codec.ZSTD)).records())
