"""Stories of one log: what was ordered, and what the folder looked like then.

Above `----` are orders, below it what happened. To accept a change after reading it line by line:
`ACCEPT_STORIES=1 pytest tests/core/kafka/log/test_stories.py`.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core.kafka.log.compaction import clean, log_to_clean
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.recovery import load
from broker_core.kafka.log.retention import delete_old_segments, delete_records
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.time_lookup import TimeLookup, time_lookup_document, time_lookup_kafka

STORIES = sorted((Path(__file__).parent / "stories").glob("*.txt"))


class Teller:
    """Carries out orders on one log, and says what came of each."""

    def __init__(self) -> None:
        self.settings = LogSettings()
        self.folder = MemoryFolder()
        self.log = PartitionLog.open(self.folder, now_ms=0)
        self.cleaned_up_to: int | None = None

    def tell(self, order: str) -> Iterator[str]:
        kind, *words = order.split()
        named = {name: json.loads(text) for name, text in (word.split("=") for word in words if "=" in word)}
        plain = [word for word in words if "=" not in word]
        try:
            yield from getattr(self, f"on_{kind}")(*plain, **named)
        except LogError as error:
            yield f"refused: {type(error).__name__}: {error}"

    def on_log(self, **settings: Any) -> Iterator[str]:
        self.settings, self.folder = LogSettings(**settings), MemoryFolder()
        self.log = PartitionLog.open(self.folder, self.settings, now_ms=0)
        yield from ()

    def on_append(self, key: str, value: str | None = None) -> Iterator[str]:
        appended = self.log.append_pairs(
            [(key.encode(), None if value is None else value.encode())], now_ms=0
        )
        yield f"offset {appended.first_offset}"

    def on_fill(self, count: str, every: int = 1) -> Iterator[str]:
        for number in range(int(count)):
            self.log.append_pairs(
                [(b"key-%d" % number, b"value-%d" % number)], now_ms=0, timestamp=number * every
            )
        yield f"log end {self.log.log_end_offset}"

    def on_show(self) -> Iterator[str]:
        for segment in self.log.segments:
            rows = segment.offset_index.row_count, segment.time_index.row_count
            yield f"segment {segment.base_offset}: {segment.size} bytes, rows {rows[0]} and {rows[1]}"
        yield f"log start {self.log.log_start_offset}, log end {self.log.log_end_offset}"

    def on_records(self) -> Iterator[str]:
        yield from self.on_read("0")

    def on_read(self, start: str) -> Iterator[str]:
        """What a reader gets who comes back to that offset; markers are not for readers."""
        records = [
            record
            for batch in self.log.batches(int(start))
            if not batch.header.is_control
            for record in batch.records()
        ]
        yield " ".join(
            f"{record.offset}:{text(record.key)}={text(record.value)}"
            for record in records
            if record.offset >= int(start)
        )

    def on_send(
        self, key: str, value: str, producer: int, sequence: int, in_transaction: bool = False
    ) -> Iterator[str]:
        appended = self.log.append_pairs(
            [(key.encode(), value.encode())],
            now_ms=0,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=sequence,
            is_transactional=in_transaction,
        )
        yield f"offset {appended.first_offset}{', had it already' if appended.is_duplicate else ''}"

    def on_end(self, how: str, producer: int) -> Iterator[str]:
        control_type = ControlType[how.upper()]
        appended = self.log.append_marker(
            control_type, producer_id=producer, producer_epoch=0, coordinator_epoch=0, now_ms=0
        )
        yield f"offset {appended.first_offset}"

    def on_batches(self) -> Iterator[str]:
        for batch in self.log.batches():
            header = batch.header
            parts = [f"{header.base_offset}: {header.record_count} records"]
            if header.has_producer_id:
                parts.append(f"producer {header.producer_id}")
            if header.base_sequence >= 0:
                parts.append(f"sequence {header.base_sequence}")
            if header.is_control:
                parts.append(batch.control_type()[0].name.lower() if header.record_count else "a marker")
            if header.delete_horizon_ms is not None:
                parts.append(f"until {header.delete_horizon_ms}")
            yield ", ".join(parts)

    def on_producers_forgotten(self, now_ms: str) -> Iterator[str]:
        self.log.producers.forget_expired(int(now_ms), self.settings.producer_id_expiration_ms)
        yield f"{len(self.log.producers.entries)} producers known"

    def on_find(self, offset: str) -> Iterator[str]:
        self.log.read(int(offset), 1)
        segment = self.log.segments[self.log.segment_of(int(offset))]
        found, trace = segment.trace(int(offset))
        yield (
            f"segment {segment.base_offset}, rows looked at {trace.index_probes}, row {tuple(trace.entry)}, "
            f"{len(trace.scanned)} batches passed, at {found.position if found else None}"
        )

    def on_find_time(self, timestamp: str) -> Iterator[str]:
        yield lookup(time_lookup_kafka(self.log.segments, int(timestamp)))

    def on_find_time_document(self, timestamp: str) -> Iterator[str]:
        yield lookup(time_lookup_document(self.log.segments, int(timestamp)))

    def on_delete_records(self, before: str) -> Iterator[str]:
        delete_records(self.log, int(before))
        yield f"log start {self.log.log_start_offset}"

    def on_retain(self, now_ms: str) -> Iterator[str]:
        gone = delete_old_segments(self.log, int(now_ms))
        yield "; ".join(f"segment {base} goes by {reason}" for base, _, reason in gone) or "nothing goes"

    def on_files_due(self, now_ms: str) -> Iterator[str]:
        yield f"{len(self.log.delete_due_files(int(now_ms)))} files removed"

    def on_compact(self, now_ms: str) -> Iterator[str]:
        self.cleaned_up_to = None if self.cleaned_up_to is None else 0
        cleaned = clean(
            self.log, log_to_clean(self.log, self.cleaned_up_to, int(now_ms)), OffsetMap(4800), int(now_ms)
        )
        self.cleaned_up_to = cleaned.end_offset
        yield (
            f"{cleaned.records_kept} of {cleaned.records_read} records kept, {cleaned.segments_before} "
            f"segments "
            f"became {cleaned.segments_after}, clean up to {cleaned.end_offset}"
        )

    def on_flush(self) -> Iterator[str]:
        self.log.flush(0)
        yield f"recovery point {self.log.recovery_point}"

    def on_crash(self, keep: int) -> Iterator[str]:
        point = self.log.recovery_point
        self.folder = self.folder.after_crash(keep)
        yield from load(self.folder, self.settings, 0, False, point, 0).steps
        self.log = PartitionLog.open(self.folder, self.settings, now_ms=0, recovery_point=point)


def text(content: bytes | None) -> str:
    return "null" if content is None else content.decode()


def lookup(found: TimeLookup | None) -> str:
    if found is None:
        return "no record is as late"
    result = (
        "nothing" if found.found is None else f"time {found.found.timestamp} at offset {found.found.offset}"
    )
    return f"time row {tuple(found.row)}, offset row {tuple(found.entry)}, found {result}"


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_story(path: Path) -> None:
    above, _, expected = path.read_text().partition("----\n")
    teller = Teller()
    orders = [line for line in above.splitlines() if line and not line.startswith("#")]
    told = "".join(f"{order} -> {line}\n" for order in orders for line in teller.tell(order))
    if os.environ.get("ACCEPT_STORIES"):
        path.write_text(f"{above}----\n{told}")
    else:
        assert told == expected
