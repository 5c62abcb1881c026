"""The article's rule for finding a time, beside Kafka's own.

    target 1570793423501         time index            Kafka's rule                the article's rule
                                 ...500  6506228   <-  last row at or below
                                 ...503  6506240                               <-  first row at or above

Both go on through the offset index and scan. But a row tells where its *own* timestamp was reached: a record
between the two rows may already be late enough. Kafka's scan starts before it. The article's may start after
it.

Source: the article of docs/kafka/log.md, section 2.2, step 2. Its "relative offset 3247667" is a misprint of
3248667.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from broker_core.kafka.log.offset_index import OffsetPosition
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.time_index import TimestampOffset


class TimeLookup(NamedTuple):
    """How a time was found. row: of the time index. entry: of the offset index; the scan starts there."""

    segment: Segment
    row: TimestampOffset
    entry: OffsetPosition
    found: TimestampOffset | None


def time_lookup_kafka(
    segments: Sequence[Segment], timestamp: int, log_start_offset: int = 0
) -> TimeLookup | None:
    """Find the first record at or after the time by the row at or below it, and tell how. None: all is
    earlier."""
    segment = _segment_for(segments, timestamp)
    if segment is None:
        return None
    row = segment.time_index.lookup(timestamp)
    entry = segment.offset_index.lookup(max(row.offset, log_start_offset))
    return TimeLookup(segment, row, entry, segment.find_timestamp(timestamp, log_start_offset))


def time_lookup_document(
    segments: Sequence[Segment], timestamp: int, log_start_offset: int = 0
) -> TimeLookup | None:
    """Find a record at or after the time by the row at or above it: the article's rule, which may miss the
    first ones."""
    segment = _segment_for(segments, timestamp)
    if segment is None:
        return None
    slot = segment.time_index.slot_at_or_below(timestamp - 1) + 1
    if slot == segment.time_index.row_count:
        return TimeLookup(
            segment, segment.time_index.last_entry, OffsetPosition(segment.base_offset, 0), None
        )
    row = segment.time_index.entry(slot)
    entry = segment.offset_index.lookup(max(row.offset, log_start_offset))
    found = segment.scan_for_timestamp(timestamp, entry.position, log_start_offset)
    return TimeLookup(segment, row, entry, found)


def _segment_for(segments: Sequence[Segment], timestamp: int) -> Segment | None:
    return next((segment for segment in segments if segment.largest_timestamp >= timestamp), None)
