"""A partition's files as rows to read, the way `kafka-dump-log` prints them. Changes nothing on disk.

    Dumping flights-0/00000000000000000000.log
    Log starting offset: 0
    baseOffset: 0 lastOffset: 2 count: 3 ... position: 0 CreateTime: 1700000000020 size: 109 ... isvalid: true
    | offset: 0 CreateTime: 1700000000000 keySize: 2 valueSize: 7 sequence: -1 headerKeys: [] key: k0 payload: value-0

Works on any folder of Kafka's, a running broker's too: the room that it keeps free in its indexes is left
out. Bytes that are not a batch end a `.log` with a row that says so. A row of an index is followed by one
that says so when the batch it points at in the `.log` beside it is another.

Source: Kafka 3.9 tools DumpLogSegments.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from broker_core.kafka.log import offset_index, time_index
from broker_core.kafka.log.batch_reader import batch_at
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.errors import LogError, UnknownCodec
from broker_core.kafka.log.file_names import (
    CLEANED,
    DELETED,
    INDEX,
    LOG,
    SNAPSHOT,
    SWAP,
    TIME_INDEX,
    TXN_INDEX,
)
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.producer_state import NO_OPEN_TRANSACTION, CorruptSnapshot, ProducerState
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import CODEC_MASK, RecordBatch, read_control_record, read_control_type
from broker_core.kafka.log.transaction_index import read_rows

Value = str | int | bool | None | list[str]


class NotALogFile(ValueError):
    """A path that is there, and holds nothing of a log."""


class Row(NamedTuple):
    """One line. kind: file, batch, record, index, time_index, producer, aborted_transaction, text, or
    problem."""

    kind: str
    fields: dict[str, Value]

    def text(self) -> str:
        """The line as kafka-dump-log has it.

        >>> Row("index", {"offset": 114, "position": 17413}).text()
        'offset: 114 position: 17413'
        """
        match self.kind:
            case "file":
                lines = [f"Dumping {self.fields['path']}"]
                if "starting_offset" in self.fields:
                    lines.append(f"Log starting offset: {self.fields['starting_offset']}")
                return "\n".join(lines)
            case "problem" | "text":
                return str(self.fields["text"])
            case "record":
                return f"| {_pairs(self.fields)}"
            case _:
                return _pairs(self.fields)


def dump_path(path: Path, *, deep: bool = False) -> Iterator[Row]:
    """Give the rows of one file, or of all files of a partition's folder, by name.

    deep: the records of each batch too. A file of the folder that retention or compaction takes meanwhile is
    left out.
    Raises FileNotFoundError for a path that is not there, NotALogFile for one that holds nothing of a log.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and _kind_of(file.name))
        if not files:
            raise NotALogFile(
                "the folder holds no file of a log; a partition's folder, such as flights-0, does"
            )
        for file in files:
            with suppress(FileNotFoundError):
                yield from _dump_file(file, deep)
        return
    if path.exists() and not _kind_of(path.name):
        raise NotALogFile(
            "its name is not one of a log's files: .log, .index, .timeindex, .txnindex, .snapshot, a "
            "checkpoint"
        )
    yield from _dump_file(path, deep)


def _dump_file(path: Path, deep: bool) -> Iterator[Row]:
    kind = _kind_of(path.name)
    view = _read_only(path)
    fields: dict[str, Value] = {"path": f"{path.resolve().parent.name}/{path.name}"}
    base_offset = int(path.name[:20]) if path.name[:20].isdigit() else 0
    if kind == LOG:
        fields["starting_offset"] = base_offset
    yield Row("file", fields)
    match kind:
        case ".log":
            yield from dump_log(view, deep=deep)
        case ".index":
            yield from dump_offset_index(view, base_offset, _beside(path, INDEX))
        case ".timeindex":
            yield from dump_time_index(view, base_offset, _beside(path, TIME_INDEX))
        case ".snapshot":
            yield from dump_snapshot(bytes(view))
        case ".txnindex":
            for aborted in read_rows(bytes(view)):
                fields = {_camel(name): value for name, value in aborted._asdict().items()}
                yield Row("aborted_transaction", {"version": 0, **fields})
        case _:
            for line in bytes(view).decode(errors="replace").splitlines():
                yield Row("text", {"text": line})


def dump_log(view: memoryview, *, deep: bool = False) -> Iterator[Row]:
    """Give a row for each batch of a `.log` file, with its records if `deep`, and one for what ends it
    early."""
    position = 0
    while position < len(view):
        try:
            batch = batch_at(view, position)
        except LogError as error:
            yield Row("problem", {"text": f"no batch at {position}: {error}"})
            return
        if batch is None:
            yield Row("problem", {"text": f"{len(view) - position} bytes at {position} are no whole batch"})
            return
        yield Row("batch", _batch_fields(batch, position))
        if deep:
            try:
                for record in batch.records():
                    yield Row("record", _record_fields(batch, record))
            except LogError as error:
                yield Row("problem", {"text": f"records at {position}: {error}"})
        position += batch.size_in_bytes


def dump_offset_index(view: memoryview, base_offset: int, log: memoryview | None = None) -> Iterator[Row]:
    """Give the rows of an `.index` file. log: the `.log` that it is of; None: the rows are not compared with
    it."""
    last = -1
    whole = _whole(view, offset_index.ROW.size)
    for slot, (relative, position) in enumerate(offset_index.ROW.iter_unpack(whole)):
        if relative <= last:
            yield from _behind_the_rows(view, slot * offset_index.ROW.size)
            return
        last = relative
        offset = base_offset + relative
        yield Row("index", {"offset": offset, "position": position})
        if log is not None and (mismatch := _index_mismatch(log, offset, position)):
            yield Row("problem", {"text": f"Mismatch at offset {offset}: {mismatch}"})
    yield from _behind_the_rows(view, len(whole))


def dump_time_index(view: memoryview, base_offset: int, log: memoryview | None = None) -> Iterator[Row]:
    """Give the rows of a `.timeindex` file. log: the `.log` that it is of; None: the rows are not compared
    with it."""
    last = -1
    whole = _whole(view, time_index.ROW.size)
    batches = _batches(log) if log is not None else iter(())
    largest = next(batches, None)
    for slot, (timestamp, relative) in enumerate(time_index.ROW.iter_unpack(whole)):
        if timestamp <= last:
            yield from _behind_the_rows(view, slot * time_index.ROW.size)
            return
        last = timestamp
        offset = base_offset + relative
        yield Row("time_index", {"timestamp": timestamp, "offset": offset})
        if log is None:
            continue
        while largest is not None and largest[1] < offset:
            largest = next(batches, None)
        if largest is None or not largest[0] <= offset:
            yield Row(
                "problem", {"text": f"Mismatch at timestamp {timestamp}: no batch holds offset {offset}"}
            )
        elif largest[2] != timestamp:
            yield Row(
                "problem",
                {"text": f"Mismatch at timestamp {timestamp}: the batch of offset {offset} has {largest[2]}"},
            )
    yield from _behind_the_rows(view, len(whole))


def _behind_the_rows(view: memoryview, position: int) -> Iterator[Row]:
    """Zeros are the room that a running broker keeps for more; anything else is not an index row."""
    if any(view[position:]):
        yield Row("problem", {"text": f"{len(view) - position} bytes at {position} are no rows that rise"})


def _index_mismatch(log: memoryview, offset: int, position: int) -> str:
    """What is wrong with a row of an offset index; "" for nothing. The row is of an append, which may have
    been of several batches."""
    batches = _batches(log, position)
    found = next(batches, None) if 0 <= position < len(log) else None
    if found is None:
        return f"no batch starts at {position}"
    if found[0] > offset:
        return f"the batch at {position} begins with offset {found[0]}"
    while found is not None and found[1] < offset:
        found = next(batches, None)
    return "" if found is not None and found[0] <= offset else f"no batch from {position} on holds it"


def _batches(log: memoryview, position: int = 0) -> Iterator[tuple[int, int, int]]:
    """Give first offset, last offset and largest timestamp of each batch from a position on, up to the first
    that is none."""
    while position < len(log):
        try:
            batch = batch_at(log, position)
        except LogError:
            return
        if batch is None:
            return
        yield _span(batch)
        position += batch.size_in_bytes


def _span(batch: RecordBatch | LegacyBatch) -> tuple[int, int, int]:
    if isinstance(batch, LegacyBatch):
        return (
            min(0, batch.last_offset),
            batch.last_offset,
            batch.timestamp,
        )  # the first one may be compressed
    return batch.header.base_offset, batch.header.last_offset, batch.header.max_timestamp


def dump_snapshot(content: bytes) -> Iterator[Row]:
    """Give a row for each producer of a `.snapshot` file."""
    try:
        state = ProducerState.from_snapshot(content)
    except CorruptSnapshot as error:
        yield Row("problem", {"text": f"no snapshot: {error}"})
        return
    for producer_id, entry in state.entries.items():
        mark = entry.batches[-1] if entry.batches else None
        yield Row(
            "producer",
            {
                "producerId": producer_id,
                "producerEpoch": entry.producer_epoch,
                "coordinatorEpoch": entry.coordinator_epoch,
                "currentTxnFirstOffset": (
                    None if entry.transaction_start == NO_OPEN_TRANSACTION else entry.transaction_start
                ),
                "lastTimestamp": entry.last_timestamp,
                "firstSequence": None if mark is None else mark.first_sequence,
                "lastSequence": entry.last_sequence,
                "lastOffset": None if mark is None else mark.last_offset,
            },
        )


def _batch_fields(batch: RecordBatch | LegacyBatch, position: int) -> dict[str, Value]:
    try:
        batch.ensure_valid()
        is_valid = True
    except LogError:
        is_valid = False
    if isinstance(batch, LegacyBatch):
        return {
            "offset": batch.last_offset,
            "position": position,
            _time_type(batch): batch.timestamp,
            "size": batch.size_in_bytes,
            "magic": batch.magic,
            "compresscodec": _codec_name(batch),
            "crc": batch.crc,
            "isvalid": is_valid,
        }
    header = batch.header
    return {
        "baseOffset": header.base_offset,
        "lastOffset": header.last_offset,
        "count": header.record_count,
        "baseSequence": header.base_sequence,
        "lastSequence": header.last_sequence,
        "producerId": header.producer_id,
        "producerEpoch": header.producer_epoch,
        "partitionLeaderEpoch": header.partition_leader_epoch,
        "isTransactional": header.is_transactional,
        "isControl": header.is_control,
        "deleteHorizonMs": header.delete_horizon_ms,
        "position": position,
        _time_type(batch): header.max_timestamp,
        "size": batch.size_in_bytes,
        "magic": header.magic,
        "compresscodec": _codec_name(batch),
        "crc": header.crc,
        "isvalid": is_valid,
    }


def _record_fields(batch: RecordBatch | LegacyBatch, record: Record) -> dict[str, Value]:
    fields: dict[str, Value] = {
        "offset": record.offset,
        _time_type(batch): record.timestamp,
        "keySize": -1 if record.key is None else len(record.key),
        "valueSize": -1 if record.value is None else len(record.value),
    }
    if isinstance(batch, RecordBatch):
        header = batch.header
        fields |= {
            "sequence": header.sequence_of(record),
            "headerKeys": [_shown(key) or "" for key, _ in record.headers],
        }
        if header.is_control:
            control_type = read_control_type(record)
            if not control_type.ends_transaction:
                return fields | {"controlType": f"{control_type.name}({control_type.value})"}
            _, coordinator_epoch = read_control_record(record)
            return fields | {"endTxnMarker": control_type.name, "coordinatorEpoch": coordinator_epoch}
    return fields | {"key": _shown(record.key), "payload": _shown(record.value)}


def _kind_of(name: str) -> str:
    """Which kind of file a name is of; "" for files that are not the log's."""
    for stage in (DELETED, CLEANED, SWAP):
        name = name.removesuffix(stage)
    for suffix in (LOG, TIME_INDEX, TXN_INDEX, INDEX, SNAPSHOT):
        if name.endswith(suffix):
            return suffix
    return "text" if name.endswith(("-checkpoint", "partition.metadata")) else ""


def _beside(path: Path, suffix: str) -> memoryview | None:
    """The `.log` of an index, of the same stage; None where there is none."""
    log = path.with_name(path.name.replace(suffix, LOG, 1))
    return _read_only(log) if log.is_file() else None


def _read_only(path: Path) -> memoryview:
    with path.open("rb") as file:
        if not path.stat().st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _whole(view: memoryview, row_size: int) -> memoryview:
    return view[: len(view) // row_size * row_size]


def _codec_name(batch: RecordBatch | LegacyBatch) -> str:
    number = (batch.data[17] if isinstance(batch, LegacyBatch) else batch.header.attributes) & CODEC_MASK
    try:
        return Codec.of(number).name.lower()
    except UnknownCodec:
        return f"unknown {number}"


def _time_type(batch: RecordBatch | LegacyBatch) -> str:
    if not batch.magic:
        return "NoTimestampType"
    is_log_append_time = (
        batch.is_log_append_time if isinstance(batch, LegacyBatch) else batch.header.is_log_append_time
    )
    return "LogAppendTime" if is_log_append_time else "CreateTime"


def _shown(content: bytes | None) -> str | None:
    return None if content is None else content.decode(errors="backslashreplace")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _pairs(fields: dict[str, Value]) -> str:
    return " ".join(f"{name}: {_word(value)}" for name, value in fields.items())


def _word(value: Value) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list():
            return f"[{','.join(value)}]"
        case _:
            return str(value)
