"""The record batch, format 2: what a producer sends, what the log stores, and what a consumer gets, byte for
byte.

     0 base offset 8   8 length 4   12 partition leader epoch 4   16 magic 1   17 crc 4
    21 attributes 2   23 last offset delta 4   27 base timestamp 8   35 max timestamp 8
    43 producer id 8  51 producer epoch 2      53 base sequence 4    57 count 4       61 records

    attributes: bits 0-2 codec   3 log append time   4 transactional   5 control   6 delete horizon

The CRC-32C covers everything from the attributes on. The fields before it, base offset and leader epoch, are
what the broker sets: so a broker takes a batch without touching the bytes that the producer signed.

Source: Kafka clients 3.9.2, DefaultRecordBatch, MemoryRecordsBuilder, ControlRecordType,
EndTransactionMarker.
Vectors: kafka/records/batches.json, corrupt.json.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from crc32c import crc32c

from broker_core.kafka.log.codecs import Codec, compress, decompress
from broker_core.kafka.log.errors import CorruptRecord, InvalidRecord
from broker_core.kafka.log.record import NO_TIMESTAMP, Record, decode_records, encode_pairs, encode_record
from broker_core.kafka.log.varint import Buffer

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE = HEADER.size
LOG_OVERHEAD = 12  # base offset and length, which precede what `length` counts
CRC_START = 21
LENGTH_BEFORE_CRC_COVERED = CRC_START - LOG_OVERHEAD
MAGIC = 2
SEQUENCE_MAX = 2**31 - 1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_LEADER_EPOCH = -1

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40

PLACE = struct.Struct(">qii")  # base offset, length, leader epoch: what a broker writes over
_CRC_COVERED = struct.Struct(">hiqqqhii")
_BEFORE_CRC = struct.Struct(">qiibI")
_CONTROL_KEY = struct.Struct(">hh")
_CONTROL_VALUE = struct.Struct(">hi")


class ControlType(IntEnum):
    """What a control record's key says: how a transaction ended, or what a KRaft quorum writes into its own
    log."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6

    @property
    def ends_transaction(self) -> bool:
        return self <= ControlType.COMMIT


class BatchHeader(NamedTuple):
    """The fields of a header, as stored."""

    base_offset: int
    length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size_in_bytes(self) -> int:
        return LOG_OVERHEAD + self.length

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> Codec:
        """Raises UnknownCodec."""
        return Codec.of(self.attributes & CODEC_MASK)

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & LOG_APPEND_TIME)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL)

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def delete_horizon_ms(self) -> int | None:
        """When the cleaner may drop the tombstones in here. It takes the place of the base timestamp."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None

    @property
    def last_sequence(self) -> int:
        return (
            NO_SEQUENCE
            if self.base_sequence < 0
            else add_sequence(self.base_sequence, self.last_offset_delta)
        )

    def sequence_of(self, record: Record) -> int:
        """The sequence number of one of this batch's records, -1 without a producer."""
        if self.base_sequence < 0:
            return NO_SEQUENCE
        return add_sequence(self.base_sequence, record.offset - self.base_offset)


class RecordBatch(NamedTuple):
    """A batch in place: its header, and all of its bytes (a view, nothing is copied)."""

    header: BatchHeader
    data: Buffer

    @classmethod
    def of(cls, data: bytes) -> RecordBatch:
        """The batch whose bytes these are, all of them: what `seal` gave."""
        return cls(BatchHeader._make(HEADER.unpack_from(data)), data)

    @property
    def magic(self) -> int:
        return self.header.magic

    @property
    def size_in_bytes(self) -> int:
        return len(self.data)

    def ensure_valid(self) -> None:
        """Raise CorruptRecord unless the bytes are those that were signed."""
        if len(self.data) < HEADER_SIZE:
            raise CorruptRecord(f"a batch of {len(self.data)} bytes; a header alone has {HEADER_SIZE}")
        computed = crc32c(memoryview(self.data)[CRC_START:])
        if computed != self.header.crc:
            raise CorruptRecord(f"the stored crc is {self.header.crc}, that of the bytes {computed}")

    def records(self, *, with_stored_times: bool = False) -> Iterator[Record]:
        """Read the records, lazily unless they are compressed. Does not ask the CRC: that is `ensure_valid`.

        with_stored_times: the producer's times, which stay in the bytes of a batch that reads as its append
        time.

        Raises InvalidRecord, CodecFailed or UnknownCodec at the place where reading breaks off; CorruptRecord
        for a batch shorter than its header.
        """
        header = self.header
        if len(self.data) < HEADER_SIZE:
            raise CorruptRecord(f"a batch of {len(self.data)} bytes; a header alone has {HEADER_SIZE}")
        codec = header.codec
        out = decompress(codec, memoryview(self.data)[HEADER_SIZE:])
        records = decode_records(
            bytes(out.data),
            header.record_count,
            header.base_offset,
            header.base_timestamp,
            header.max_timestamp if header.is_log_append_time and not with_stored_times else None,
            out.failure,
        )
        # A compressed batch is all or nothing, as in the original: a stream that breaks late gives no early
        # records.
        return records if codec is Codec.NONE else iter(list(records))

    def control_type(self) -> tuple[ControlType, int]:
        """Read a control batch: how the transaction ended, and the epoch of the coordinator that said so."""
        record = next(self.records(), None)
        if (
            record is None
            or record.key is None
            or record.value is None
            or len(record.key) < _CONTROL_KEY.size
        ):
            raise InvalidRecord("a control batch without a marker")
        return read_control_record(record)


def encode_batch(
    records: Sequence[Record],
    *,
    codec: Codec = Codec.NONE,
    attributes: int = 0,
    base_offset: int | None = None,
    last_offset: int | None = None,
    base_timestamp: int | None = None,
    max_timestamp: int | None = None,
    partition_leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
) -> RecordBatch:
    """Write records, offsets and times as they are, into one batch.

    records: ascending offsets, gaps allowed. attributes: flags beside the codec (LOG_APPEND_TIME,
    TRANSACTIONAL, ...). base_offset, last_offset: default to the first and last record's; wider after
    compaction. base_timestamp: default the first record's; the horizon with DELETE_HORIZON. max_timestamp:
    default the largest; with LOG_APPEND_TIME the time that all records read as.

    >>> batch = encode_batch([Record(5, 1000, b"k", b"v")])
    >>> batch.header.last_offset, list(batch.records())[0].value
    (5, b'v')
    """
    base = records[0].offset if base_offset is None else base_offset
    first_time = records[0].timestamp if base_timestamp is None else base_timestamp
    largest = max(record.timestamp for record in records) if max_timestamp is None else max_timestamp
    encoded = b"".join([encode_record(record, base, first_time) for record in records])
    data = seal(
        compress(codec, encoded),
        base,
        partition_leader_epoch,
        attributes | codec,
        (records[-1].offset if last_offset is None else last_offset) - base,
        first_time,
        largest,
        producer_id,
        producer_epoch,
        base_sequence,
        len(records),
    )
    return RecordBatch.of(data)


def encode_pairs_batch(
    pairs: Iterable[tuple[bytes | None, bytes | None]],
    *,
    timestamp: int = NO_TIMESTAMP,
    codec: Codec = Codec.NONE,
    base_offset: int = 0,
    partition_leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    attributes: int = 0,
) -> RecordBatch:
    """Write (key, value) pairs, all of one time, into one batch: the fast way in. At least one pair.

    >>> encode_pairs_batch([(b"a", b"1"), (b"b", None)], timestamp=9).header.record_count
    2
    """
    encoded, count = encode_pairs(pairs)
    data = seal(
        compress(codec, encoded) if codec else encoded,
        base_offset,
        partition_leader_epoch,
        attributes | codec if codec else attributes,
        count - 1,
        timestamp,
        timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    )
    return RecordBatch.of(data)


def encode_control_batch(
    control_type: ControlType,
    *,
    base_offset: int,
    timestamp: int,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    partition_leader_epoch: int = NO_LEADER_EPOCH,
) -> RecordBatch:
    """Write the marker that ends a transaction.

    >>> encode_control_batch(ControlType.COMMIT, base_offset=0, timestamp=0, producer_id=1, producer_epoch=0,
    ...                      coordinator_epoch=3).control_type()
    (<ControlType.COMMIT: 1>, 3)
    """
    marker = Record(
        base_offset, timestamp, _CONTROL_KEY.pack(0, control_type), _CONTROL_VALUE.pack(0, coordinator_epoch)
    )
    return encode_batch(
        [marker],
        attributes=TRANSACTIONAL | CONTROL,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        partition_leader_epoch=partition_leader_epoch,
    )


def seal(
    records: bytes,
    base_offset: int,
    partition_leader_epoch: int,
    attributes: int,
    last_offset_delta: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    record_count: int,
) -> bytes:
    """Put the header before (compressed) records: length and CRC are worked out, the other fields taken as
    they are.

    Gives the bytes alone: a writer that has no further use for the header's fields need not have them read
    back.
    """
    signed = (
        _CRC_COVERED.pack(
            attributes,
            last_offset_delta,
            base_timestamp,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            record_count,
        )
        + records
    )
    length = LENGTH_BEFORE_CRC_COVERED + len(signed)
    return _BEFORE_CRC.pack(base_offset, length, partition_leader_epoch, MAGIC, crc32c(signed)) + signed


def with_offset(batch: RecordBatch, base_offset: int, partition_leader_epoch: int) -> RecordBatch:
    """Give the batch the place that the broker assigns. The CRC stays as the producer wrote it."""
    header = batch.header._replace(base_offset=base_offset, partition_leader_epoch=partition_leader_epoch)
    return RecordBatch(header, b"".join(placed(batch, base_offset, partition_leader_epoch)))


def placed(batch: RecordBatch, base_offset: int, partition_leader_epoch: int) -> tuple[Buffer, Buffer]:
    """Give the bytes of `with_offset` in two parts, of which the second is a view: to be written without a
    copy."""
    return PLACE.pack(base_offset, batch.header.length, partition_leader_epoch), memoryview(batch.data)[
        PLACE.size :
    ]


def read_control_record(record: Record) -> tuple[ControlType, int]:
    """Read a marker: how the transaction ended, and its coordinator's epoch. Raises InvalidRecord."""
    try:
        control_type = read_control_type(record)
        if not control_type.ends_transaction:
            raise InvalidRecord(f"no end-of-transaction marker: {control_type.name}")
        _, coordinator_epoch = _CONTROL_VALUE.unpack_from(record.value or b"")
        return control_type, coordinator_epoch
    except struct.error as error:
        raise InvalidRecord(f"no end-of-transaction marker: {error}") from None


def read_control_type(record: Record) -> ControlType:
    """Read what kind of control record it is. Raises InvalidRecord for a key that names none."""
    try:
        _, number = _CONTROL_KEY.unpack_from(record.key or b"")
        return ControlType(number)
    except (struct.error, ValueError) as error:
        raise InvalidRecord(f"no control record: {error}") from None


def add_sequence(sequence: int, increment: int) -> int:
    """Go on in a producer's numbering, which runs from 2^31 - 1 back to 0.

    >>> add_sequence(2**31 - 1, 1)
    0
    """
    return (sequence + increment) & SEQUENCE_MAX
