"""Kafka's recorded bytes against our log: batches written and read, damaged batches, numbers and checksums,
the cleaner."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from crc32c import crc32c

from broker_core.conformance.result import CaseResult, case, compare
from broker_core.kafka.log.batch_filter import BatchRetention, filter_batch
from broker_core.kafka.log.batch_reader import read_batches
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.errors import (
    CodecFailed,
    CorruptRecord,
    InvalidRecord,
    LogError,
    OutsideMessage,
    UnknownCodec,
)
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import (
    CONTROL,
    DELETE_HORIZON,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    RecordBatch,
    encode_batch,
    read_control_record,
)
from broker_core.kafka.log.record_columns import Bools, RecordColumns
from broker_core.kafka.log.varint import (
    VarintCutShort,
    VarintTooLong,
    encode_unsigned_varint,
    encode_varint,
    read_unsigned_varint,
    read_varint,
    read_varlong,
)

Json = dict[str, Any]

EXCEPTIONS: dict[type[Exception], str] = {
    CorruptRecord: "CorruptRecordException",
    InvalidRecord: "InvalidRecordException",
    CodecFailed: "KafkaException",
    OutsideMessage: "IndexOutOfBoundsException",
    UnknownCodec: "IllegalArgumentException",
    VarintTooLong: "IllegalArgumentException",
    VarintCutShort: "BufferUnderflowException",
}
"""What an error of ours is called in the original."""


def run_batches(document: Json) -> Iterator[CaseResult]:
    """Each set is decoded field by field, and written again: the same bytes, or for codecs the same
    records."""
    for row in document["batches_sets"]:
        yield case(row["id"], partial(_batches, row))


def run_corrupt(document: Json) -> Iterator[CaseResult]:
    """Each damage has the outcome that it has in the original: which error, where, and how many records came
    before."""
    for row in document["cases"]:
        yield case(row["id"], partial(_damage, row))


def run_varint_crc(document: Json) -> Iterator[CaseResult]:
    """Numbers there and back, bytes that are not a number, and checksums."""
    for section, write, read in (
        ("varint", encode_varint, read_varint),
        ("varlong", encode_varint, read_varlong),
        ("unsigned_varint", encode_unsigned_varint, read_unsigned_varint),
    ):
        for value, text in document.get(section, []):
            case_id = f"{section}/{value}"
            yield case(case_id, partial(_number, case_id, value, text, write, read))
    for row in document.get("malformed", []):
        case_id = f"malformed/{row['hex']}"
        yield case(case_id, partial(_malformed, case_id, row))
    for index, (text, crc) in enumerate(document.get("crc32c", [])):
        case_id = f"crc32c/{index}"
        yield case(case_id, partial(_checksum, case_id, text, crc))


def run_compaction_filter(document: Json) -> Iterator[CaseResult]:
    """The cleaner's rewriting of batches: the same bytes, or for codecs the same fields."""
    for row in document["cases"]:
        yield case(row["id"], partial(_filtered, row))


def batch_fields(batch: RecordBatch) -> Json:
    """Tell everything about a batch, under the names that the files use."""
    header = batch.header
    return {
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "next_offset": header.next_offset,
        "size_in_bytes": batch.size_in_bytes,
        "partition_leader_epoch": header.partition_leader_epoch,
        "magic": header.magic,
        "crc": header.crc,
        "crc_valid": _outcome(batch.ensure_valid) == "ok",
        "compression": header.codec.name.lower(),
        "timestamp_type": "LogAppendTime" if header.is_log_append_time else "CreateTime",
        "base_timestamp": header.base_timestamp,
        "max_timestamp": header.max_timestamp,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "transactional": header.is_transactional,
        "control": header.is_control,
        "delete_horizon_ms": header.delete_horizon_ms,
        "count": header.record_count,
        "records": [_record_fields(batch, record) for record in batch.records()],
    }


def _record_fields(batch: RecordBatch, record: Record) -> Json:
    fields: Json = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "sequence": batch.header.sequence_of(record),
        "size_in_bytes": record.size_in_bytes,
        "key": _hex(record.key),
        "value": _hex(record.value),
    }
    if record.headers:
        fields["headers"] = [[key.decode(), _hex(value)] for key, value in record.headers]
    if batch.header.is_control:
        control_type, fields["coordinator_epoch"] = read_control_record(record)
        fields["control_type"] = control_type.name
    return fields


def _batches(row: Json) -> CaseResult:
    data = bytes.fromhex(row["hex"])
    got: list[Json] = [batch_fields(batch) for batch in _of_this_format(data)]
    if got != row["batches"]:
        return compare(row["id"], row["batches"], got)
    written = b"".join(
        _written_again(described, batch)
        for described, batch in zip(row["batches"], _of_this_format(data), strict=True)
    )
    if row["reencode"] == "byte_exact":
        return compare(row["id"], row["hex"], written.hex())
    # A codec may choose other bytes for the same records; what can be read back must not differ.
    again = [_without_stream(batch_fields(batch)) for batch in _of_this_format(written)]
    return compare(row["id"], [_without_stream(described) for described in row["batches"]], again)


def _of_this_format(data: bytes) -> list[RecordBatch]:
    return [batch for batch in read_batches(data) if isinstance(batch, RecordBatch)]


def _written_again(described: Json, original: RecordBatch) -> bytes:
    """Write a batch from its description.

    original: where a batch reads as its append time, the description lacks the times that the records keep;
    they are taken from there.
    """
    times = [record.timestamp for record in original.records(with_stored_times=True)]
    flags = {
        LOG_APPEND_TIME: described["timestamp_type"] == "LogAppendTime",
        TRANSACTIONAL: described["transactional"],
        CONTROL: described["control"],
        DELETE_HORIZON: described["delete_horizon_ms"] is not None,
    }
    records = [
        Record(
            record["offset"],
            time,
            _bytes(record["key"]),
            _bytes(record["value"]),
            tuple((key.encode(), _bytes(value)) for key, value in record.get("headers", [])),
        )
        for record, time in zip(described["records"], times, strict=True)
    ]
    return bytes(
        encode_batch(
            records,
            codec=Codec[described["compression"].upper()],
            attributes=sum(flag for flag, is_set in flags.items() if is_set),
            base_offset=described["base_offset"],
            last_offset=described["last_offset"],
            base_timestamp=described["base_timestamp"],
            max_timestamp=described["max_timestamp"],
            partition_leader_epoch=described["partition_leader_epoch"],
            producer_id=described["producer_id"],
            producer_epoch=described["producer_epoch"],
            base_sequence=described["base_sequence"],
        ).data
    )


def _without_stream(described: Json) -> Json:
    return {name: value for name, value in described.items() if name not in ("crc", "size_in_bytes")}


def _damage(row: Json) -> CaseResult:
    batches: list[Json] = []

    def walk() -> None:
        for batch in read_batches(bytes.fromhex(row["hex"])):
            batches.append(_read_as_it_is(batch))

    iteration = _outcome(walk)
    got: Json = {"batches_seen": len(batches), "batch_iteration": iteration, "batches": batches}
    expected: Json = {
        "batches_seen": row["batches_seen"],
        "batch_iteration": _exception_name(row["batch_iteration"]),
        "batches": [
            {
                "ensure_valid": _exception_name(batch["ensure_valid"]),
                "records": _exception_name(batch["records"]),
                "records_read": batch["records_read"],
            }
            for batch in row["batches"]
        ],
    }
    return compare(row["id"], expected, got)


def _read_as_it_is(batch: RecordBatch | LegacyBatch) -> Json:
    """What a reader that asks no CRC comes to."""
    read: list[Record] = []

    # A list keeps what it was given before the iterator broke.
    outcome = _outcome(lambda: read.extend(batch.records()))
    if len(batch.data) < HEADER_SIZE and isinstance(batch, RecordBatch):
        # Ours looks at the size first; the original runs over the end of its buffer.
        outcome = "IndexOutOfBoundsException"
    return {"ensure_valid": _outcome(batch.ensure_valid), "records": outcome, "records_read": len(read)}


def _filtered(row: Json) -> CaseResult:
    keep_offsets: list[int] = row["keep_offsets"]
    kept: list[RecordBatch] = []
    max_offset = -1
    read = _of_this_format(bytes.fromhex(row["input_hex"]))
    for batch in read:
        base = batch.header.base_offset
        left, largest = filter_batch(
            batch,
            BatchRetention[row["batch_retention"]],
            partial(_is_kept, base, keep_offsets),
            is_marker_of_empty_transaction=batch.header.is_control
            and row["control_batches_are_for_empty_txn"],
            delete_horizon_ms=row["current_time"] + row["delete_retention_ms"],
        )
        max_offset = max(max_offset, largest)
        if left is not None:
            kept.append(left)
    output = b"".join(batch.data for batch in kept)
    got: Json = {
        "messages_read": sum(batch.header.record_count for batch in read),
        "messages_retained": sum(batch.header.record_count for batch in kept),
        "bytes_read": sum(batch.size_in_bytes for batch in read),
        "max_offset": max_offset,
        "max_timestamp": max((batch.header.max_timestamp for batch in kept), default=-1),
        "output": [batch_fields(batch) for batch in kept],
    }
    expected: Json = {name: row[name] for name in got}
    if row["compare"] == "byte_exact":
        got |= {"output_hex": output.hex(), "bytes_retained": len(output)}
        expected |= {"output_hex": row["output_hex"], "bytes_retained": row["bytes_retained"]}
    else:
        got["output"], expected["output"] = (
            list(map(_without_stream, side["output"])) for side in (got, expected)
        )
    return compare(row["id"], expected, got)


def _is_kept(base_offset: int, keep_offsets: list[int], records: RecordColumns) -> Bools:
    return np.isin(base_offset + records.offset_deltas, keep_offsets)


def _number(
    case_id: str,
    value: int,
    text: str,
    write: Callable[[int], bytes],
    read: Callable[[bytes, int], tuple[int, int]],
) -> CaseResult:
    data = bytes.fromhex(text)
    return compare(case_id, [text, value, len(data)], [write(value).hex(), *read(data, 0)])


def _malformed(case_id: str, row: Json) -> CaseResult:
    data = bytes.fromhex(row["hex"])
    readers: dict[str, Callable[[], int]] = {
        "read_varint": lambda: read_varint(data, 0)[0],
        "read_varlong": lambda: read_varlong(data, 0)[0],
        "read_unsigned_varint_as_int32": lambda: _as_int32(read_unsigned_varint(data, 0)[0]),
    }
    expected = {name: _exception_name(row[name]) for name in readers if name in row}
    return compare(case_id, expected, {name: _value_or_exception(readers[name]) for name in expected})


def _checksum(case_id: str, text: str, crc: int) -> CaseResult:
    return compare(case_id, crc, crc32c(bytes.fromhex(text)))


def _value_or_exception(read: Callable[[], int]) -> object:
    values: list[int] = []
    outcome = _outcome(lambda: values.append(read()))
    return values[0] if values else outcome


def _outcome(run: Callable[[], object]) -> str:
    """Run it: "ok", or what the original calls the error."""
    try:
        run()
    except (LogError, VarintTooLong, VarintCutShort) as error:
        return EXCEPTIONS[type(error)]
    return "ok"


def _exception_name(recorded: object) -> object:
    """Keep the class of a recorded exception, not its text; anything else as it is."""
    return recorded.split(":")[0] if isinstance(recorded, str) else recorded


def _as_int32(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)
