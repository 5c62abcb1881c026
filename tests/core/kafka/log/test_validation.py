"""What a broker refuses from a client: whatever could not be read again. A batch's CRC says only that it
arrived as it was sent."""

import struct

import pytest
from crc32c import crc32c

from broker_core.kafka.log.batch_reader import records_only
from broker_core.kafka.log.codecs import Codec, compress
from broker_core.kafka.log.compaction import clean, log_to_clean
from broker_core.kafka.log.errors import (
    CodecFailed,
    CorruptRecord,
    InvalidRecord,
    InvalidTimestamp,
    LogError,
    RecordTooLarge,
    UnknownCodec,
)
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record, encode_record
from broker_core.kafka.log.record_batch import (
    CONTROL,
    CRC_START,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    ControlType,
    encode_batch,
    encode_pairs_batch,
    seal,
)
from broker_core.kafka.log.settings import LogSettings

NOW = 1_700_000_000_000
TWO = bytes(encode_pairs_batch([(b"a", b"1"), (b"b", b"2")], timestamp=NOW).data)
GAP = [Record(0, NOW, b"a", b"1"), Record(2, NOW, b"b", b"2")]


def signed(data: bytes) -> bytes:
    """The bytes with the CRC that they should have."""
    return data[:17] + struct.pack(">I", crc32c(data[CRC_START:])) + data[CRC_START:]


def with_records(records: bytes, count: int, codec: int = 0) -> bytes:
    return seal(records, 0, -1, codec, count - 1, NOW, NOW, -1, -1, -1, count)


def two_records(**change: int) -> bytes:
    return b"".join(
        encode_record(Record(number, NOW + change.get("time", 0), b"k", b"v"), 0, NOW)
        for number in (0, change.get("second", 1))
    )


POISON: list[tuple[str, bytes, type[LogError]]] = [
    ("damaged", TWO[:-1] + b"?", CorruptRecord),
    ("cut off", TWO[:-1], CorruptRecord),
    ("nothing", b"", CorruptRecord),
    ("a record that ends early", with_records(two_records()[:-1], 2), InvalidRecord),
    ("bytes behind the records", with_records(two_records() + b"\x00", 2), InvalidRecord),
    ("a record length of its own", with_records(b"\x7e" + two_records()[1:], 2), InvalidRecord),
    ("no records at all", with_records(b"", 1), InvalidRecord),
    ("more records than it says", with_records(two_records(), 1), InvalidRecord),
    ("fewer records than it says", with_records(two_records(), 3), InvalidRecord),
    ("a count of 0", signed(TWO[:57] + struct.pack(">i", 0) + TWO[61:]), InvalidRecord),
    ("offsets that are not its count", bytes(encode_batch(GAP).data), InvalidRecord),
    ("a gap inside", with_records(two_records(second=2), 2), InvalidRecord),
    (
        "a gap inside, compressed",
        with_records(compress(Codec.LZ4, two_records(second=2)), 2, Codec.LZ4),
        InvalidRecord,
    ),
    (
        "a broken gzip stream",
        with_records(compress(Codec.GZIP, two_records())[:-3], 2, Codec.GZIP),
        CodecFailed,
    ),
    ("a broken zstd stream", with_records(b"no zstd frame", 2, Codec.ZSTD), CodecFailed),
    (
        "a stream of other bytes",
        with_records(compress(Codec.SNAPPY, b"no records"), 2, Codec.SNAPPY),
        InvalidRecord,
    ),
    ("codec 5", with_records(two_records(), 2, codec=5), UnknownCodec),
    ("two batches", TWO * 2, InvalidRecord),
    ("two batches, the second damaged", TWO + TWO[:-1] + b"?", CorruptRecord),
    ("a base offset", struct.pack(">q", 77) + TWO[8:], InvalidRecord),
    (
        "a control record",
        bytes(encode_batch([Record(0, NOW, b"k", b"v")], attributes=CONTROL).data),
        InvalidRecord,
    ),
    (
        "a producer without a sequence",
        bytes(encode_pairs_batch([(b"k", b"v")], producer_id=7, producer_epoch=0).data),
        InvalidRecord,
    ),
    ("too large", bytes(encode_pairs_batch([(b"k", b"v" * 900)]).data), RecordTooLarge),
    (
        "a time beyond 64 bits",
        seal(two_records(time=9), 0, -1, 0, 1, 2**63 - 5, 2**63 - 1, -1, -1, -1, 2),
        InvalidTimestamp,
    ),
]


@pytest.mark.parametrize(("data", "error"), [row[1:] for row in POISON], ids=[row[0] for row in POISON])
def test_what_could_not_be_read_again_is_refused_and_nothing_is_written(
    data: bytes, error: type[LogError]
) -> None:
    folder = MemoryFolder()
    log = PartitionLog.open(folder, LogSettings(message_bytes_max=900, index_interval_bytes=0), now_ms=NOW)
    log.append(TWO, now_ms=NOW)
    before = folder.read("00000000000000000000.log")
    with pytest.raises(error):
        log.append(data, now_ms=NOW)
    assert log.log_end_offset == 2 and folder.read("00000000000000000000.log") == before
    # A look-up by time and the cleaner read every record again.
    log.append(TWO, now_ms=NOW + 5)
    assert log.offset_for_time(NOW) == (NOW, 0)
    log.roll(NOW)
    clean(log, log_to_clean(log, None, NOW), OffsetMap(24 * 100), NOW)
    assert [record.offset for batch in log.batches() for record in batch.records()] == [2, 3]


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("count", [1, 2, 200])
def test_whatever_a_producer_sends_whole_is_taken(codec: Codec, count: int) -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    records = [
        Record(
            number,
            NOW - number,
            b"k" * (number % 3 * 50) or None,
            None if number % 5 else b"v" * 20_000,
            ((b"h", None), (b"", b"x" * 99)),
        )
        for number in range(count)
    ]
    assert log.append(encode_batch(records, codec=codec).data, now_ms=NOW).last_offset == count - 1
    assert [record[:5] for batch in log.batches() for record in batch.records()] == [
        record[:5] for record in records
    ]


def test_a_compacted_topic_takes_no_record_without_a_key() -> None:
    log = PartitionLog.open(MemoryFolder(), LogSettings(cleanup_compact=True), now_ms=NOW)
    with pytest.raises(InvalidRecord):
        log.append_pairs([(b"k", b"v"), (None, b"v")], now_ms=NOW)
    with pytest.raises(InvalidRecord):
        log.append(
            encode_pairs_batch([(b"k", b"v"), (None, b"v")], timestamp=NOW, codec=Codec.ZSTD).data, now_ms=NOW
        )
    assert log.log_end_offset == 0


@pytest.mark.parametrize(
    ("time", "is_taken"),
    [
        (NOW + 1000, True),
        (NOW + 1001, False),
        (NOW - 2000, True),
        (NOW - 2001, False),
        (-1, True),
        (-5, False),
    ],
)
def test_times_keep_to_the_topic_s_limits_and_minus_1_is_none(time: int, is_taken: bool) -> None:
    settings = LogSettings(message_timestamp_after_max_ms=1000, message_timestamp_before_max_ms=2000)
    log = PartitionLog.open(MemoryFolder(), settings, now_ms=NOW)
    data = encode_batch([Record(0, NOW, b"k", b"v"), Record(1, time, b"k", b"v")]).data
    if is_taken:
        log.append(data, now_ms=NOW)
    else:
        with pytest.raises(InvalidTimestamp):
            log.append(data, now_ms=NOW)
    assert log.log_end_offset == (2 if is_taken else 0)


def test_a_wrong_time_is_named_before_a_missing_key() -> None:
    log = PartitionLog.open(
        MemoryFolder(), LogSettings(cleanup_compact=True, message_timestamp_after_max_ms=0), now_ms=NOW
    )
    with pytest.raises(InvalidTimestamp):
        log.append(
            encode_batch([Record(0, NOW, None, b"v"), Record(1, NOW + 1, b"k", b"v")]).data, now_ms=NOW
        )


def test_the_largest_time_is_that_of_the_records_whatever_the_header_claims() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    log.append(
        encode_batch(
            [Record(0, NOW + 3, b"k", b"v"), Record(1, NOW, b"k", b"v")], max_timestamp=NOW + 999
        ).data,
        now_ms=NOW,
    )
    (batch,) = records_only(log.read(0, 1000).data)
    assert batch.header.max_timestamp == log.active.max_timestamp == NOW + 3


def test_a_client_that_sets_the_append_time() -> None:
    """On a topic of create times it is taken, and its attribute is not; on one of append times it is
    refused."""
    stamped = encode_batch(
        [Record(0, 5, b"k", b"v"), Record(1, 6, b"k", b"v")],
        attributes=LOG_APPEND_TIME,
        max_timestamp=NOW - 7,
    )
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    log.append(stamped.data, now_ms=NOW)
    (batch,) = records_only(log.read(0, 1000).data)
    assert not batch.header.is_log_append_time and batch.header.max_timestamp == NOW - 7
    assert [record.timestamp for record in batch.records()] == [5, 6], "the times that the records keep"
    refusing = PartitionLog.open(MemoryFolder(), LogSettings(is_log_append_time=True), now_ms=NOW)
    with pytest.raises(InvalidTimestamp):
        refusing.append(stamped.data, now_ms=NOW)
    without_time = encode_batch([Record(0, 5, b"k", b"v")], attributes=LOG_APPEND_TIME, max_timestamp=-1)
    with pytest.raises(InvalidTimestamp):
        log.append(without_time.data, now_ms=NOW)
    assert (log.log_end_offset, refusing.log_end_offset) == (2, 0)


def test_a_topic_of_append_times_gives_its_own() -> None:
    log = PartitionLog.open(MemoryFolder(), LogSettings(is_log_append_time=True), now_ms=NOW)
    log.append_pairs([(b"k", b"v")], timestamp=5, now_ms=NOW)
    log.append(TWO, now_ms=NOW + 1)
    log.append_marker(
        ControlType.COMMIT, producer_id=1, producer_epoch=0, coordinator_epoch=0, now_ms=NOW + 2
    )
    batches = list(records_only(log.read(0, 1000).data))
    assert [[record.timestamp for record in batch.records()] for batch in batches] == [
        [NOW],
        [NOW + 1] * 2,
        [NOW + 2],
    ]
    assert [batch.header.attributes for batch in batches] == [8, 8, 56]
    assert len(bytes(batches[0].data)) > HEADER_SIZE
