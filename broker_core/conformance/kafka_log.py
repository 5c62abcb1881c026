"""Kafka's recorded broker log against ours: offsets and segments, producers and transactions. All cases are
exact.

A case is a sequence of steps; every answer, error and state is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from broker_core.conformance.result import CaseResult, case, compare, passed
from broker_core.errors import CommandError
from broker_core.kafka.log.batch_reader import read_batches
from broker_core.kafka.log.errors import (
    InvalidProducerEpoch,
    InvalidRecord,
    InvalidTxnState,
    LogError,
    OffsetOutOfRange,
    OffsetsOutOfOrder,
    OutOfOrderSequence,
    RecordBatchTooLarge,
    TransactionCoordinatorFenced,
    UnexpectedAppendOffset,
)
from broker_core.kafka.log.leader_epochs import UNDEFINED
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import EARLIEST, LATEST, MAX_TIMESTAMP, Appended, PartitionLog
from broker_core.kafka.log.producer_state import NO_OPEN_TRANSACTION, ProducerEntry
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import (
    TRANSACTIONAL,
    ControlType,
    RecordBatch,
    encode_batch,
    encode_control_batch,
    with_offset,
)
from broker_core.kafka.log.retention import delete_old_segments
from broker_core.kafka.log.settings import DAY_MS, LogSettings
from broker_core.kafka.log.watermarks import Isolation

Json = dict[str, Any]

STARTED_MS = 1_600_000_000_000
"""When a case begins: the steps' times are relative to it."""

ERRORS: dict[type[Exception], str] = {
    CommandError: "IllegalArgumentException",
    InvalidRecord: "RecordValidationException",
    RecordBatchTooLarge: "RECORD_LIST_TOO_LARGE",
    UnexpectedAppendOffset: "UnexpectedAppendOffsetException",
    OffsetsOutOfOrder: "OffsetsOutOfOrderException",
    OffsetOutOfRange: "OFFSET_OUT_OF_RANGE",
    InvalidProducerEpoch: "INVALID_PRODUCER_EPOCH",
    OutOfOrderSequence: "OUT_OF_ORDER_SEQUENCE_NUMBER",
    InvalidTxnState: "INVALID_TXN_STATE",
    TransactionCoordinatorFenced: "TRANSACTION_COORDINATOR_FENCED",
}
"""What an error of ours is called in the files."""


def run_log(document: Json) -> Iterator[CaseResult]:
    """One log: appends by leaders, coordinators and followers, watermarks, truncation, retention,
    restarts."""
    for row in document["cases"]:
        yield case(row["name"], partial(_log_case, row))


def _log_case(row: Json) -> CaseResult:
    log = DrivenLog(row)
    for index, step in enumerate(row["steps"]):
        expected = {name: step[name] for name in ("answer", "error", "after") if name in step}
        got = log.take(step)
        got["after"] = log.state(expected["after"])
        if got != expected:
            return differing(row, index, expected, got)
    return passed(row["name"])


class DrivenLog:
    """The log of one case, and the clock that its steps set."""

    def __init__(self, row: Json) -> None:
        self.now_ms = STARTED_MS
        self.folder = MemoryFolder(now_ms=lambda: FILES_WRITTEN_MS)
        self.settings = _settings(row)
        self.guards: dict[int, int | None] = {}
        self.checked_ms = STARTED_MS
        self.log = PartitionLog.open(self.folder, self.settings, now_ms=self.now_ms, high_watermark=0)

    def take(self, step: Json) -> Json:
        """Run a step; gives its answer or error."""
        self._advance(STARTED_MS + step["at_ms"])
        got: Json = {}
        active = self.log.active.base_offset
        try:
            answer = getattr(self, step["op"])(**step["args"])
            if step["op"] not in SILENT:
                got["answer"] = answer
        except (LogError, CommandError) as error:
            got["error"] = ERRORS[type(error)]
        if step["op"] == "roll" or (self.log.active.base_offset > active and step["op"] not in SILENT):
            self.log.flush_if_due(
                self.now_ms
            )  # a roll asks for it, and the original's scheduler runs at once
        return got

    def state(self, keys: Json) -> Json:
        """What the files tell of a log after a step. keys: the names of what is asked."""
        log = self.log
        state: dict[str, Callable[[], object]] = {
            "leo": lambda: log.log_end_offset,
            "hw": lambda: log.high_watermark,
            "lso": lambda: log.last_stable_offset,
            "log_start": lambda: log.log_start_offset,
            "segments": lambda: [[segment.base_offset, segment.size] for segment in log.segments],
            "recovery_point": lambda: log.recovery_point,
            "epochs": lambda: listed(log.epochs.rows),
            "first_unstable": lambda: log.first_unstable_offset,
            "first_undecided": log.producers.first_undecided_offset,
            "producers": lambda: [_producer(*entry) for entry in sorted(log.producers.entries.items())],
        }
        return {key: state[key]() for key in keys}

    def _advance(self, now_ms: int) -> None:
        """Move the clock; the original looks for expired producers every ten minutes from the opening on."""
        if now_ms - self.checked_ms >= PRODUCER_CHECK_MS:
            self.checked_ms += (now_ms - self.checked_ms) // PRODUCER_CHECK_MS * PRODUCER_CHECK_MS
            self.now_ms = now_ms
            self.log.forget_expired_producers(now_ms)
        self.now_ms = now_ms

    # -- the steps

    def append_as_leader(
        self, leader_epoch: int, records: int, size_bytes: int, timestamp: int | None = None
    ) -> Json:
        time = self.now_ms if timestamp is None else STARTED_MS + timestamp
        data = sized_batch(records, size_bytes, time).data
        return _offsets(self.log.append(data, now_ms=self.now_ms, leader_epoch=leader_epoch))

    def append(
        self,
        origin: str,
        pid: int,
        epoch: int,
        sequence: int,
        records: int,
        leader_epoch: int,
        transactional: bool = False,
        with_guard: bool = False,
    ) -> Json:
        batch = producer_batch(pid, epoch, sequence, records, self.now_ms, transactional)
        appended = self.log.append(
            batch.data,
            now_ms=self.now_ms,
            leader_epoch=leader_epoch,
            is_from_coordinator=origin == "COORDINATOR",
            verification_guard=self.guards.get(pid) if with_guard else None,
        )
        return _offsets(appended)

    def marker(self, pid: int, epoch: int, type: str, coordinator_epoch: int, leader_epoch: int) -> Json:
        appended = self.log.append_marker(
            ControlType[type],
            producer_id=pid,
            producer_epoch=epoch,
            coordinator_epoch=coordinator_epoch,
            now_ms=self.now_ms,
            leader_epoch=leader_epoch,
        )
        return _offsets(appended)

    def append_as_follower(self, batches: list[Json]) -> Json:
        data = b"".join(bytes(_replicated(batch, self.now_ms).data) for batch in batches)
        return _offsets(self.log.append_as_follower(data, now_ms=self.now_ms))

    def start_verification(self, pid: int, sequence: int, epoch: int) -> str:
        guard = self.log.start_verification(pid, epoch, sequence, self.now_ms)
        self.guards[pid] = guard
        return "not needed" if guard is None else "guard"

    def update_hw(self, offset: int) -> int:
        self.log.high_watermark = offset
        return self.log.high_watermark

    def maybe_update_hw(self, offset: int) -> int | None:
        before = self.log.high_watermark
        return None if self.update_hw(offset) == before else self.log.high_watermark

    def maybe_increment_hw(self, offset: int) -> int | None:
        before = self.log.high_watermark
        try:
            return before if self.log.raise_high_watermark(offset) else None
        except OffsetOutOfRange as error:
            raise CommandError("offset", "is above the log end") from error

    def increment_log_start(self, offset: int) -> bool:
        return self.log.raise_log_start(offset)

    def truncate_to(self, offset: int) -> bool:
        return self.log.truncate_to(offset, self.now_ms)

    def truncate_fully_and_start_at(self, offset: int, log_start: int | None) -> None:
        self.log.restart_at(offset, self.now_ms, log_start_offset=log_start)

    def roll(self) -> int:
        return self.log.roll(self.now_ms).base_offset

    def delete_old_segments(self) -> int:
        return len(delete_old_segments(self.log, self.now_ms))

    def assign_epoch_start(self, epoch: int) -> None:
        self.log.epochs.assign(epoch, self.log.log_end_offset)

    def end_offset_for_epoch(self, epoch: int) -> list[int] | None:
        found = self.log.epochs.end_offset_for(epoch, self.log.log_end_offset)
        return None if found == UNDEFINED else list(found)

    def offset_by_timestamp(self, timestamp: int) -> Json | None:
        found = self.log.offset_for_time(timestamp if timestamp in TIMES_BY_NAME else STARTED_MS + timestamp)
        if found is None:
            return None
        time = found.timestamp - STARTED_MS if found.timestamp >= 0 else -1
        return {
            "offset": found.offset,
            "timestamp": time,
            "epoch": self.log.epoch_of_answer(timestamp, found.offset),
        }

    def read(self, offset: int, isolation: str) -> Json:
        fetched, aborted = self.log.read_as(Isolation[isolation], offset, 1 << 30)
        answer: Json = {"batches": batch_rows(fetched.data)}
        return (
            answer
            if aborted is None
            else answer | {"aborted": [[row.producer_id, row.first_offset] for row in aborted]}
        )

    def fetch_offset_snapshot(self) -> Json:
        log = self.log
        return {"log_start": log.log_start_offset} | {
            name: list(log.position_of(offset))
            for name, offset in (
                ("leo", log.log_end_offset),
                ("hw", log.placed_high_watermark()),
                ("lso", log.last_stable_offset),
            )
        }

    def reopen(self, log_start_checkpoint: int) -> None:
        self.log.close(self.now_ms)
        self.log = PartitionLog.open(
            self.folder,
            self.settings,
            now_ms=self.now_ms,
            was_closed=True,
            recovery_point=self.log.recovery_point,
            log_start_offset=log_start_checkpoint,
            high_watermark=0,
        )
        self.guards.clear()
        self.checked_ms = self.now_ms


FILES_WRITTEN_MS = 2_000_000_000_000
"""What the files say of their age: they were written when the recording was made, long after the clock of the
steps."""
SILENT = {"truncate_fully_and_start_at", "assign_epoch_start", "reopen"}
"""Steps without an answer."""
TIMES_BY_NAME = (LATEST, EARLIEST, MAX_TIMESTAMP)
PRODUCER_CHECK_MS = 600_000


def differing(row: Json, index: int, expected: Json, got: Json) -> CaseResult:
    """The first step of a case that went another way."""
    step = f"step {index} {row['steps'][index]['op']}"
    return compare(row["name"], {step: expected}, {step: got})


def sized_batch(records: int, size_bytes: int, time_ms: int) -> RecordBatch:
    """A batch of so many records without keys that is so large."""
    value_size, longer = 0, 0

    def encoded() -> RecordBatch:
        return encode_batch(
            [Record(index, time_ms, None, bytes(value_size + (index < longer))) for index in range(records)]
        )

    while (batch := encoded()).size_in_bytes < size_bytes:
        if size_bytes - batch.size_in_bytes >= records:
            value_size += max(1, (size_bytes - batch.size_in_bytes) // records - 4)
        else:
            longer += 1
    if batch.size_in_bytes != size_bytes:
        raise ValueError(f"no batch of {records} records has {size_bytes} bytes")
    return batch


def producer_batch(
    producer_id: int, epoch: int, sequence: int, records: int, time_ms: int, is_transactional: bool
) -> RecordBatch:
    """A batch of an idempotent producer: values of five bytes."""
    return encode_batch(
        [Record(index, time_ms, None, bytes(5)) for index in range(records)],
        attributes=TRANSACTIONAL if is_transactional else 0,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
    )


def batch_rows(data: memoryview) -> list[list[int]]:
    """What was read, batch by batch: first offset, last offset, leader epoch."""
    found = (batch for batch in read_batches(data) if isinstance(batch, RecordBatch))
    return [[header.base_offset, header.last_offset, header.partition_leader_epoch] for header, _ in found]


def _replicated(row: Json, now_ms: int) -> RecordBatch:
    """One batch as a leader sends it."""
    base: int = row["base_offset"]
    epoch: int = row["leader_epoch"] if "leader_epoch" in row else row["epoch"]
    if "marker" in row:
        return encode_control_batch(
            ControlType[row["marker"]],
            base_offset=base,
            timestamp=now_ms,
            producer_id=row["pid"],
            producer_epoch=row["epoch"],
            coordinator_epoch=row["coordinator_epoch"],
            partition_leader_epoch=epoch,
        )
    if "pid" in row:
        is_transactional = row.get("transactional", False)
        return with_offset(
            producer_batch(
                row["pid"], row["epoch"], row["sequence"], row["records"], now_ms, is_transactional
            ),
            base,
            epoch,
        )
    return with_offset(sized_batch(row["records"], row["size_bytes"], now_ms), base, epoch)


def _offsets(appended: Appended) -> Json:
    answer: Json = {"first_offset": appended.first_offset, "last_offset": appended.last_offset}
    return answer | {"duplicate": True} if appended.is_duplicate else answer


def _producer(producer_id: int, entry: ProducerEntry) -> Json:
    row: Json = {
        "id": producer_id,
        "epoch": entry.producer_epoch,
        "coordinator_epoch": entry.coordinator_epoch,
        "last_ts": entry.last_timestamp - STARTED_MS,
        "batches": [
            [mark.first_sequence, mark.last_sequence, mark.first_offset, mark.last_offset]
            for mark in entry.batches
        ],
    }
    return (
        row
        if entry.transaction_start == NO_OPEN_TRANSACTION
        else row | {"txn_first_offset": entry.transaction_start}
    )


def _settings(row: Json) -> LogSettings:
    config = row["config"]
    policy = config.get("cleanup.policy", "delete")
    numbers: Json = {
        name: int(config[key])
        for key, name in (
            ("segment.bytes", "segment_bytes"),
            ("segment.ms", "segment_ms"),
            ("retention.ms", "retention_ms"),
            ("retention.bytes", "retention_bytes"),
        )
        if key in config
    }
    return LogSettings(
        **numbers,
        cleanup_delete="delete" in policy,
        cleanup_compact="compact" in policy,
        producer_id_expiration_ms=row.get("producer_id_expiration_ms", DAY_MS),
        verifies_transactions=row.get("transaction_verification", False),
    )


def listed(value: object) -> object:
    """Pairs as JSON has them."""
    match value:
        case tuple():
            return list(value)
        case list():
            return [listed(each) for each in value]
    return value
