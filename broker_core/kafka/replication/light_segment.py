"""A segment of batch descriptors: it rolls where one of bytes would, and its positions are those that the
bytes would have.

    held     [ batch 0..2 ][ batch 3 ][ batch 4..9 ]
    ends             3          4            10        next offset behind each batch: a look-up is one bisection
    starts    0          75         145                position of each batch

Source: Kafka 3.9 storage/internals/log/LogSegment, of which this keeps sizes and times.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NoReturn

from broker_core.errors import InvariantError
from broker_core.kafka.log.file_names import TXN_INDEX, file_name
from broker_core.kafka.log.indexed_batches import BatchPosition
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.time_index import TimestampOffset
from broker_core.kafka.log.transaction_index import truncate_aborted
from broker_core.kafka.replication.light_batch import LightBatch
from broker_core.kafka.replication.light_blocks import Blocks, decode_block


@dataclass(slots=True)
class _Length:
    """In place of a `.log` file: how long it would be."""

    name: str
    size: int = 0

    def append(self, data: object, rest: object = None) -> None:
        raise InvariantError("a light segment has no bytes")

    def view(self, position: int, size: int) -> NoReturn:
        raise InvariantError("a light segment has no bytes")

    def truncate(self, size: int) -> None:
        self.size = size

    def flush(self) -> None:
        """Nothing is written later."""

    def close(self) -> None:
        """Nothing is open."""


class LightSegment(Segment):
    """A segment of descriptors, which rolls as one of bytes does, but for full indexes."""

    def __init__(self, folder: Folder, base_offset: int, settings: LogSettings, now_ms: int) -> None:
        self.folder = folder
        self.base_offset = base_offset
        self.settings = settings
        self.stage = ""
        self.created_ms = now_ms
        self.held: list[LightBatch] = []
        self.starts: list[int] = []  # position of each batch
        self.ends: list[int] = []  # next offset behind each batch, rising
        self.blocks = Blocks()
        self.log = _Length("")
        self.max_timestamp, self.offset_of_max_timestamp = -1, base_offset
        self.forgotten = (-1, base_offset)  # the largest timestamp of what was forgotten, and its offset
        self._is_time_loaded = True
        self._last_offset_max = base_offset + 2**31 - 1
        self._segment_ms = settings.segment_ms - settings.segment_jitter_ms
        self._bytes_max = settings.segment_bytes
        self._first_timestamp: int | None = -1
        self._timestamp_max = -1

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data, but for the folder and the settings, which are the log's."""
        times = (
            self.created_ms,
            self.max_timestamp,
            self.offset_of_max_timestamp,
            self._first_timestamp,
            self._timestamp_max,
        )
        return {
            "base": self.base_offset,
            "times": times,
            "blocks": self.blocks.encode(self.held, self.ends),
            "position": self.starts[0] if self.starts else 0,
            "forgotten": self.forgotten,
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any], folder: Folder, settings: LogSettings) -> LightSegment:
        created_ms, max_timestamp, offset_of_max_timestamp, first_timestamp, timestamp_max = plain["times"]
        segment = cls(folder, plain["base"], settings, created_ms)
        position = plain["position"]
        for block in map(decode_block, plain["blocks"]):
            segment.held += block.batches
            segment.ends += block.ends
            *starts, position = accumulate(block.sizes, initial=position)
            segment.starts += starts
        segment.log.size = position
        segment.max_timestamp, segment.offset_of_max_timestamp = max_timestamp, offset_of_max_timestamp
        segment._first_timestamp, segment._timestamp_max = first_timestamp, timestamp_max
        segment.forgotten = tuple(plain["forgotten"])
        return segment

    @property
    def is_index_full(self) -> bool:
        return False

    @property
    def largest_timestamp(self) -> int:
        return self.max_timestamp if self.max_timestamp >= 0 else self.created_ms

    def append(
        self,
        largest_offset: int,
        max_timestamp: int,
        offset_of_max_timestamp: int,
        data: Any,
        rest: Any = None,
    ) -> None:
        if not self.held:
            self._begin_at(max_timestamp)
        size = self.log.size
        for batch in data:
            self.starts.append(size)
            self.held.append(batch)
            self.ends.append(batch.header.next_offset)
            size += batch.data.size_in_bytes
        self.log.size = size
        if max_timestamp > self.max_timestamp:
            self.max_timestamp, self.offset_of_max_timestamp = max_timestamp, offset_of_max_timestamp

    def take(self, batch: LightBatch, last_offset: int, time: int, size: int) -> bool:
        """Append one batch, unless the segment might have to roll before it, or is empty: False, and nothing
        is done."""
        log = self.log
        position = log.size
        if (
            not position
            or position + size > self._bytes_max
            or not 0 <= time <= self._timestamp_max
            or last_offset > self._last_offset_max
        ):
            return False
        self.held.append(batch)
        self.starts.append(position)
        self.ends.append(last_offset + 1)
        log.size = position + size
        if time > self.max_timestamp:
            self.max_timestamp, self.offset_of_max_timestamp = time, last_offset
        return True

    def find(self, offset: int, trace: object = None) -> BatchPosition | None:
        index = bisect_right(self.ends, offset)
        return BatchPosition(self.starts[index], self.held[index]) if index < len(self.held) else None

    def batches(
        self, position: int = 0, end: int | None = None, window_bytes: int = 0
    ) -> Iterator[BatchPosition]:
        for index in range(bisect_left(self.starts, position), len(self.held)):
            if end is not None and self.starts[index] >= end:
                return
            yield BatchPosition(self.starts[index], self.held[index])

    def find_timestamp(
        self, timestamp: int, starting_offset: int, probes: list[int] | None = None
    ) -> TimestampOffset | None:
        for batch in self.held:
            if batch.header.max_timestamp >= timestamp and batch.header.last_offset >= starting_offset:
                return TimestampOffset(
                    batch.header.max_timestamp, max(batch.header.base_offset, starting_offset)
                )
        return None

    def next_offset(self) -> int:
        return self.ends[-1] if self.ends else self.base_offset

    def truncate_to(self, offset: int, now_ms: int) -> int:
        found = self.find(offset)
        if found is None:
            return 0
        cut, self.log.size = self.log.size - found.position, found.position
        keep = bisect_left(self.starts, found.position)
        del self.held[keep:], self.starts[keep:], self.ends[keep:]
        self.blocks.forget()
        self.max_timestamp, self.offset_of_max_timestamp = self._largest(self.held)
        truncate_aborted(self.folder, file_name(self.base_offset, TXN_INDEX), offset)
        if not self.held:
            self.created_ms, self._first_timestamp, self._timestamp_max = now_ms, -1, -1
        return cut

    def read(
        self, offset: int, end_offset: int, bytes_max: int, at_least_one: bool
    ) -> tuple[int, tuple[LightBatch, ...]]:
        """The whole batches from an offset on, up to the one that holds another, that fit in so many bytes;
        and where they start."""
        ends, starts = self.ends, self.starts
        first = bisect_right(ends, offset)
        stop = bisect_right(ends, end_offset, first)
        position = starts[first]
        if self.log.size - position > bytes_max:
            # The last batch that begins within the limit ends beyond it.
            stop = min(stop, max(bisect_right(starts, position + bytes_max) - 1, first + at_least_one))
        return position, (self.held[first],) if stop == first + 1 else tuple(self.held[first:stop])

    def forget_below(self, offset: int) -> None:
        """Drop what lies wholly below the log start, which nobody reads again. Where the others lie does not
        change.

        The last batch of these stays: where the log is cut off at its start, the segment ends behind it, and
        is not empty.
        """
        place = bisect_right(self.ends, offset) - 1
        if place > 0:
            self.forgotten = self._largest(self.held[:place])
            del self.held[:place], self.starts[:place], self.ends[:place]

    def _largest(self, held: Sequence[LightBatch]) -> tuple[int, int]:
        """The largest timestamp of what was forgotten and of these batches, and its offset."""
        time, offset = self.forgotten
        for header, _ in held:
            if header.max_timestamp > time:
                time, offset = header.max_timestamp, header.last_offset
        return time, offset

    def close_for_appends(self) -> None:
        """Nothing is written later."""

    def flush(self) -> None:
        """Nothing is written later."""

    def close(self) -> None:
        """Nothing is open."""

    def files(self) -> list[str]:
        return [name for name in (file_name(self.base_offset, TXN_INDEX),) if name in self.folder.names()]
