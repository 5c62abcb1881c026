"""Compaction of a light log: the cleaner's rules over descriptors. Keys, tombstones and sizes of their values
are as `RecordContents` says.

    before   0:a 1:b 2:a 3:c | 4:b 5:a 6:c- | 7:c ...      one row of values a batch
    after    0:. 1:. 2:. 3:. | 4:b 5:a 6:c- | 7:c ...      a record that went is None in its place, so offsets stay

A batch keeps its base and last offset, its producer and its epoch, counts the records that are left, and has
the size that their bytes would have. What a round takes (`log_to_clean`) and when it is due are the
byte-exact log's own; what it leaves agrees with compaction.py by a law
(tests/core/kafka/replication/test_light_cleaner.py). Left out: the map's bound, for a lab's keys are few.

Source: Kafka 3.9 core LogCleaner, Cleaner; clients MemoryRecords.filterTo.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from broker_core.kafka.log.cleaned_transactions import CleanedTransactions
from broker_core.kafka.log.compaction import Cleaned, LogToClean
from broker_core.kafka.log.file_names import TXN_INDEX, file_name
from broker_core.kafka.log.indexed_batches import RELATIVE_OFFSET_MAX
from broker_core.kafka.log.record import NO_TIMESTAMP, Record, encode_record
from broker_core.kafka.log.record_batch import DELETE_HORIZON, HEADER_SIZE, LOG_OVERHEAD
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.transaction_index import add_aborted
from broker_core.kafka.replication.light_batch import MARKER_BYTES, LightBatch, Payload
from broker_core.kafka.replication.light_segment import LightSegment
from broker_core.kafka.replication.record_contents import STORED, RecordContents
from broker_core.kafka.replication.replica_log import LightLog


class LightCleaner:
    """One round over one log. `clean_light` runs it."""

    def __init__(self, log: LightLog, todo: LogToClean, now_ms: int, contents: RecordContents) -> None:
        self.log, self.todo, self.now_ms, self.contents = log, todo, now_ms, contents
        self.latest: dict[Hashable, int] = {}
        self.read_to = self._read_keys()
        self.cleaned = Cleaned(max(self.read_to, todo.first_dirty_offset))
        self._transactions = CleanedTransactions(
            log.aborted_transactions(log.log_start_offset, self.cleaned.end_offset)
        )

    def run(self) -> Cleaned:
        for group in self._groups():
            self.cleaned.segments_before += len(group)
            self.cleaned.segments_after += 1
            self._clean_group(group)
        return self.cleaned

    def _read_keys(self) -> int:
        """Note the last offset of each key in the dirty part. Returns where that ends; 0: there is none, and
        all stays as it is."""
        log, todo = self.log, self.todo
        aborted = CleanedTransactions(
            log.aborted_transactions(todo.first_dirty_offset, todo.uncleanable_offset)
        )
        end = 0
        for segment in log.segments:
            if segment.base_offset >= todo.uncleanable_offset:
                break
            if self._end_of(segment) <= todo.first_dirty_offset:
                continue
            for _, batch in segment.batches():
                header = batch.header
                if header.last_offset < todo.first_dirty_offset:
                    continue
                if header.is_control:
                    aborted.on_marker(batch)
                elif not aborted.is_aborted(batch):
                    for offset, value in _records(batch):
                        key = self.contents.key(value)
                        if key is not None and offset >= todo.first_dirty_offset:
                            self.latest[key] = offset
            end = max(end, self._end_of(segment))
        return end

    def _groups(self) -> list[list[Segment]]:
        """Neighbours that fit into one segment."""
        groups: list[list[Segment]] = []
        limit = min(self.cleaned.end_offset, self.todo.uncleanable_offset)
        for segment in (segment for segment in self.log.segments if segment.base_offset < limit):
            group = groups[-1] if groups else []
            if (
                group
                and sum(member.size for member in group) + segment.size <= self.log.settings.segment_bytes
                and self._end_of(segment) - 1 - group[0].base_offset <= RELATIVE_OFFSET_MAX
            ):
                group.append(segment)
            else:
                groups.append([segment])
        return groups

    def _clean_group(self, group: list[Segment]) -> None:
        log = self.log
        new = LightSegment(log.folder, group[0].base_offset, log.settings, group[-1].created_ms)
        for segment in group:
            for _, batch in segment.batches():
                self.cleaned.bytes_read += batch.header.size_in_bytes
                self.cleaned.records_read += batch.header.record_count
                left = self._filtered(batch)
                if left is not None:
                    new.append(
                        left.header.last_offset, left.header.max_timestamp, left.header.last_offset, (left,)
                    )
                    self.cleaned.bytes_written += left.header.size_in_bytes
                    self.cleaned.records_kept += left.header.record_count
        for name in (name for segment in group for name in segment.files()):
            log.folder.remove(name)
        for aborted in self._transactions.take_kept():
            add_aborted(log.folder, file_name(new.base_offset, TXN_INDEX), aborted)
        first = log.segments.index(group[0])
        log.segments[first : first + len(group)] = [new]

    def _filtered(self, batch: Any) -> LightBatch | None:
        """The batch as it stays; None: it goes."""
        header = batch.header
        is_kept_for_producer = header.has_producer_id and self.log.producers.is_last_batch(header)
        horizon = header.delete_horizon_ms
        if header.is_control:
            is_empty_marker = self._transactions.on_marker(batch)
            stays = (
                not (is_empty_marker and horizon is not None and horizon <= self.now_ms)
                and header.record_count > 0
            )
            kept: list[Any] = list(batch.values) if stays else []
            needs_horizon = stays and horizon is None and is_empty_marker
            count = int(stays)
        else:
            kept = [None] * (header.last_offset_delta + 1)
            if not self._transactions.is_aborted(batch):
                for offset, value in _records(batch):
                    if self._stays(offset, value, horizon):
                        kept[offset - header.base_offset] = value
            count = sum(each is not None for each in kept)
            needs_horizon = horizon is None and any(
                each is not None and self.contents.is_tombstone(each) for each in kept
            )
        if not count:
            return _emptied(batch) if is_kept_for_producer else None
        if count == header.record_count and not needs_horizon:
            same: LightBatch = batch
            return same
        if needs_horizon:
            horizon = self.now_ms + self.log.settings.delete_retention_ms
        return self._rewritten(batch, kept, count, horizon)

    def _stays(self, offset: int, value: Any, horizon: int | None) -> bool:
        if offset >= self.read_to:
            return True
        key = self.contents.key(value)
        if key is None or offset < self.latest.get(key, -1):
            return False
        return horizon is None or self.now_ms < horizon or not self.contents.is_tombstone(value)

    def _rewritten(self, batch: Any, kept: list[Any], count: int, horizon: int | None) -> LightBatch:
        header = batch.header
        base_time = header.max_timestamp if horizon is None else horizon
        attributes = header.attributes if horizon is None else header.attributes | DELETE_HORIZON
        time_delta = header.max_timestamp - base_time
        if header.is_control:
            size = _marker_size(time_delta)
        else:
            size = HEADER_SIZE + sum(
                self.contents.size(value, delta, time_delta)
                for delta, value in enumerate(kept)
                if value is not None
            )
        fields = header._replace(
            attributes=attributes, base_timestamp=base_time, record_count=count, length=size - LOG_OVERHEAD
        )
        return LightBatch(fields, _payload(tuple(kept), size))

    def _end_of(self, segment: Segment) -> int:
        segments = self.log.segments
        index = segments.index(segment)
        return segments[index + 1].base_offset if index + 1 < len(segments) else self.log.log_end_offset


def clean_light(log: LightLog, todo: LogToClean, now_ms: int, contents: RecordContents = STORED) -> Cleaned:
    """Run one round. todo: as `log_to_clean` says. contents: of its records.

    >>> from broker_core.kafka.log.compaction import log_to_clean
    >>> from broker_core.kafka.log.settings import LogSettings
    >>> from broker_core.kafka.replication.light_batch import light_batch
    >>> log = LightLog.begin(LogSettings(cleanup_compact=True), now_ms=0, high_watermark=None)
    >>> for value in ("01", "02"):
    ...     _ = log.append(light_batch([("6b", value)], timestamp=0), now_ms=0)
    >>> _ = log.roll(0)
    >>> clean_light(log, log_to_clean(log, None, 0), 0).records_kept, [batch.header.base_offset for batch in log.batches()]
    (1, [1])
    """
    log.flush_if_due(now_ms)
    return LightCleaner(log, todo, now_ms, contents).run()


def _records(batch: Any) -> list[tuple[int, Any]]:
    """The records that are left in a batch, with their offsets."""
    base = batch.header.base_offset
    return [(base + delta, value) for delta, value in enumerate(batch.values) if value is not None]


def _emptied(batch: Any) -> LightBatch:
    """A header alone, for its producer's sake. A marker that is empty says no more how its transaction
    ended."""
    header = batch.header
    fields = header._replace(
        attributes=header.attributes & ~DELETE_HORIZON,
        base_timestamp=NO_TIMESTAMP,
        record_count=0,
        length=HEADER_SIZE - LOG_OVERHEAD,
    )
    return LightBatch(fields, _payload((), HEADER_SIZE))


def _marker_size(time_delta: int) -> int:
    return (
        MARKER_BYTES
        + len(encode_record(Record(0, time_delta, None, None), 0, 0))
        - len(encode_record(Record(0, 0, None, None), 0, 0))
    )


def _payload(values: tuple[Any, ...], size: int) -> Any:
    return Payload(values, size)
