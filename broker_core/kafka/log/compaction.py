"""Compaction: of each key only the last record stays, and the log gets shorter without losing its meaning.

    before   0:a 1:b 2:a 3:c | 4:b 5:a 6:- | 7:c ...              first dirty offset 0, the active segment is left alone
    map      a->5  b->4  c->3  (one pass over the dirty part)
    after    3:c 4:b 5:a     | 7:c ...                            offsets stay, with gaps; first dirty offset 7

The log has a clean part, compacted before, and a dirty one after it. A round flushes what is closed, reads
the keys of the dirty part into a map of bounded memory, as far as that reaches, then rewrites every segment
up to there, small neighbours into one. The segment of the first offset that must not be cleaned is left alone
whole.

    a record stays   after the map's last offset; or it is the last one of its key, and has a value or is a tombstone
                     whose horizon has not come. A record without a key goes.
    a transaction    that was aborted goes. Its marker, and that of one without records left, get a horizon, as tombstones do.
    a producer's     last batch stays, emptied if necessary: it holds the sequence that comes next.

The new segment is written as `.cleaned`, flushed, renamed `.swap`; then the old ones go, then it takes its
name. After a crash at any of these steps there is either the old log or the new one (recovery.py).

Source: Kafka 3.9 core LogCleaner, LogCleanerManager, Cleaner. The rewriting: batch_filter.py. The map:
offset_map.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from broker_core.kafka.log.batch_filter import BatchRetention, Keep, filter_batch, plain_records
from broker_core.kafka.log.cleaned_transactions import CleanedTransactions
from broker_core.kafka.log.file_names import CLEANED, SWAP, TXN_INDEX, file_name
from broker_core.kafka.log.indexed_batches import RELATIVE_OFFSET_MAX
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.producer_state import ProducerState
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.kafka.log.record_columns import Bools, RecordColumns, record_columns
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.settings import LONG_MAX
from broker_core.kafka.log.transaction_index import add_aborted


@dataclass(frozen=True, slots=True)
class LogToClean:
    """What there is to do in one log.

    first_dirty_offset: what was cleaned before ends here. uncleanable_offset: where the first segment begins
    that is left alone today; not above `first_dirty_offset` where there is nothing to do. clean_bytes,
    cleanable_bytes: by whole segments; the one in which the last round ended counts in both. must_clean: a
    dirty segment began longer ago than max.compaction.lag.ms.
    """

    first_dirty_offset: int
    uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    must_clean: bool

    @property
    def dirty_per_million(self) -> int:
        """The dirty ratio. A whole number, for the dirtiest log is chosen by it."""
        total = self.clean_bytes + self.cleanable_bytes
        return 1_000_000 * self.cleanable_bytes // total if total else 0

    def is_due(self, min_dirty_percent: int) -> bool:
        """Whether the log is to be cleaned: strictly above min.cleanable.dirty.ratio, or too old."""
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes * 100 > min_dirty_percent * total or (
            self.must_clean and self.cleanable_bytes > 0
        )


@dataclass(slots=True)
class Cleaned:
    """What a round came to. end_offset: the next round's first dirty offset, to be kept in
    cleaner-offset-checkpoint."""

    end_offset: int
    bytes_read: int = 0
    bytes_written: int = 0
    records_read: int = 0
    records_kept: int = 0
    segments_before: int = 0
    segments_after: int = 0


def log_to_clean(log: PartitionLog, checkpoint: int | None, now_ms: int) -> LogToClean:
    """Work out what a round would take. checkpoint: the last round's end offset; None: never cleaned."""
    start = log.segments[0].base_offset
    first_dirty = start if checkpoint is None else checkpoint
    if not log.log_start_offset <= first_dirty <= log.log_end_offset:
        first_dirty = log.log_start_offset
    not_to_pass = min(log.last_stable_offset, log.active.base_offset)
    dirty = log.segments[log.segment_of(first_dirty) : -1]
    if log.settings.min_compaction_lag_ms > 0:
        youngest_ms = now_ms - log.settings.min_compaction_lag_ms
        too_young = (segment.base_offset for segment in dirty if segment.largest_timestamp > youngest_ms)
        not_to_pass = min(not_to_pass, next(too_young, not_to_pass))
    uncleanable = log.segments[log.segment_of(max(not_to_pass, first_dirty))].base_offset
    cleanable = [segment for segment in dirty if segment.base_offset < uncleanable]
    begun = [segment.first_timestamp for segment in dirty if segment.first_timestamp > 0]
    return LogToClean(
        first_dirty,
        uncleanable,
        sum(segment.size for segment in log.segments if segment.base_offset < first_dirty),
        sum(segment.size for segment in cleanable),
        min(begun, default=LONG_MAX) < now_ms - log.settings.max_compaction_lag_ms,
    )


def clean(log: PartitionLog, todo: LogToClean, offset_map: OffsetMap, now_ms: int) -> Cleaned:
    """Run one round. offset_map: empty; its memory bounds how far the round reaches.

    Raises StorageFull: then every segment is there, as it was or compacted, and nothing that is neither.
    """
    _remove_unfinished(log)
    # A flushed record goes where a newer one of its key follows: that one must be as safe as the one that
    # goes.
    log.flush_if_due(now_ms)
    end_offset = build_offset_map(log, todo, offset_map)
    cleaned = Cleaned(end_offset)
    segments = [
        segment for segment in log.segments if segment.base_offset < min(end_offset, todo.uncleanable_offset)
    ]
    transactions = CleanedTransactions(log.aborted_transactions(log.log_start_offset, end_offset))
    try:
        for group in group_segments(log, segments):
            cleaned.segments_before += len(group)
            cleaned.segments_after += 1
            _clean_group(log, group, offset_map, transactions, cleaned, now_ms)
    except Exception:
        # Whatever broke the round off, full disk or damaged batch: beside the log a half written segment must
        # not stay.
        _remove_unfinished(log)
        raise
    return cleaned


def build_offset_map(log: PartitionLog, todo: LogToClean, offset_map: OffsetMap) -> int:
    """Read the keys of the dirty part into the map, until it is full. Returns the offset after the last one
    mapped."""
    aborted = CleanedTransactions(log.aborted_transactions(todo.first_dirty_offset, todo.uncleanable_offset))
    for segment in log.segments[log.segment_of(todo.first_dirty_offset) :]:
        if segment.base_offset >= todo.uncleanable_offset:
            break
        found = segment.find(todo.first_dirty_offset)
        for _, batch in segment.batches(found.position) if found is not None else ():
            header = batch.header
            if header.is_control:
                aborted.on_marker(batch)
            elif header.record_count and not aborted.is_aborted(batch):
                records = record_columns(plain_records(batch), header.record_count)
                offsets = header.base_offset + records.offset_deltas
                chosen = (records.key_sizes >= 0) & (offsets >= todo.first_dirty_offset)
                if offset_map.put_digests(records.key_digests(chosen), offsets[chosen]) < np.count_nonzero(
                    chosen
                ):
                    return offset_map.latest_offset + 1
            # Also a batch without keys is read: a round that ends with the next one has come past it.
            offset_map.latest_offset = max(offset_map.latest_offset, header.last_offset)
        offset_map.latest_offset = max(offset_map.latest_offset, _end_of(log, segment) - 1)
    return max(offset_map.latest_offset + 1, todo.first_dirty_offset)


def group_segments(log: PartitionLog, segments: Sequence[Segment]) -> list[list[Segment]]:
    """Put neighbours together that fit into one segment: by size, by both indexes, and by offset span."""
    settings = log.settings
    groups: list[list[Segment]] = []
    for segment in segments:
        group = groups[-1] if groups else []
        if group and (
            sum(member.size for member in group) + segment.size <= settings.segment_bytes
            and _rows_fit(group, segment, settings.segment_index_bytes)
            and _end_of(log, segment) - 1 - group[0].base_offset <= RELATIVE_OFFSET_MAX
        ):
            group.append(segment)
        else:
            groups.append([segment])
    return groups


def _clean_group(
    log: PartitionLog,
    group: list[Segment],
    offset_map: OffsetMap,
    transactions: CleanedTransactions,
    cleaned: Cleaned,
    now_ms: int,
) -> None:
    base = group[0].base_offset
    new = Segment(log.folder, base, log.settings, now_ms, CLEANED)
    horizon = now_ms + log.settings.delete_retention_ms
    try:
        for segment in group:
            for _, batch in segment.batches():
                cleaned.bytes_read += len(batch.data)
                cleaned.records_read += batch.header.record_count
                retention, is_empty_marker, keeps = _fate(
                    log.producers, batch, transactions, offset_map, now_ms
                )
                left, largest = filter_batch(
                    batch,
                    retention,
                    keeps,
                    is_marker_of_empty_transaction=is_empty_marker,
                    delete_horizon_ms=horizon,
                )
                if left is not None:
                    new.append(largest, left.header.max_timestamp, left.header.last_offset, left.data)
                    cleaned.bytes_written += len(left.data)
                    cleaned.records_kept += left.header.record_count
        for aborted in transactions.take_kept():
            add_aborted(log.folder, file_name(base, TXN_INDEX) + CLEANED, aborted)
        new.close_for_appends()
        new.flush()
        # Retention by time falls back on the file's time where records have none: it must not look new.
        log.folder.set_modified_ms(new.log.name, log.folder.modified_ms(group[-1].log.name))
    except Exception:
        # `clean` removes its files, and not every system removes one that is open.
        new.close()
        raise
    swap_in(log, new, group, now_ms)


def _remove_unfinished(log: PartitionLog) -> None:
    """Remove what a round that failed has left, of whichever segment: a later start would take it for a swap
    that was cut short.

    First the `.swap`: beside a `.cleaned` a start undoes it, alone it counts.
    """
    counting = {name for segment in log.segments if segment.stage for name in segment.files()}
    names = [name for name in log.folder.names() if name not in counting]
    for stage in (SWAP, CLEANED):
        for name in names:
            if name.endswith(stage):
                log.folder.remove(name)


def swap_in(log: PartitionLog, new: Segment, old: list[Segment], now_ms: int) -> None:
    """Put a cleaned segment in the place of the old ones. A crash between any two steps leaves one of the
    two."""
    new.change_stage(SWAP)
    log.folder.sync()
    first = log.segments.index(old[0])
    log.segments[first : first + len(old)] = [new]
    log.delete_files_of(old, now_ms, with_snapshots=False)
    new.change_stage("")
    log.folder.sync()


def _fate(
    producers: ProducerState,
    batch: RecordBatch,
    transactions: CleanedTransactions,
    offset_map: OffsetMap,
    now_ms: int,
) -> tuple[BatchRetention, bool, Keep]:
    """Decide on a batch as a whole, and on how its records are judged."""
    header = batch.header
    if header.is_control:
        is_empty_marker = transactions.on_marker(batch)
        horizon = header.delete_horizon_ms
        goes = is_empty_marker and horizon is not None and horizon <= now_ms
        keeps: Keep = partial(_all, not goes)
    else:
        is_empty_marker = False
        goes = transactions.is_aborted(batch)
        keeps = partial(_all, False) if goes else partial(_last_of_their_keys, batch, offset_map, now_ms)
    if header.has_producer_id and producers.is_last_batch(header):
        retention = BatchRetention.RETAIN_EMPTY
    elif goes:
        retention = BatchRetention.DELETE
    else:
        retention = BatchRetention.DELETE_EMPTY
    return retention, is_empty_marker, keeps


def _all(stays: bool, records: RecordColumns) -> Bools:
    return np.full(records.count, stays)


def _last_of_their_keys(
    batch: RecordBatch, offset_map: OffsetMap, now_ms: int, records: RecordColumns
) -> Bools:
    """Say which records of a batch stay."""
    offsets = batch.header.base_offset + records.offset_deltas
    is_behind_the_map = offsets > offset_map.latest_offset
    if is_behind_the_map.all():
        return is_behind_the_map
    has_key = records.key_sizes >= 0
    is_last = np.zeros(records.count, dtype=np.bool_)
    is_last[has_key] = offsets[has_key] >= offset_map.get_digests(records.key_digests(has_key))
    horizon = batch.header.delete_horizon_ms
    if horizon is not None and now_ms >= horizon:
        is_last &= records.has_values
    stays: Bools = is_behind_the_map | is_last
    return stays


def _rows_fit(group: list[Segment], segment: Segment, index_bytes: int) -> bool:
    members = [*group, segment]
    offset_bytes = sum(member.offset_index.row_count * member.offset_index.row_size for member in members)
    time_bytes = sum(member.time_index.row_count * member.time_index.row_size for member in members)
    return offset_bytes <= index_bytes and time_bytes <= index_bytes


def _end_of(log: PartitionLog, segment: Segment) -> int:
    """The offset after a segment: the next one's base."""
    index = log.segments.index(segment)
    return log.segments[index + 1].base_offset if index + 1 < len(log.segments) else log.log_end_offset
