"""The light log: a partition's log that holds what its batches say of themselves, and no bytes of them. For labs and simulation.

    PartitionLog   header, records, CRC ─► bytes in files, indexes      a byte is a byte of Kafka's
    LightLog       header, whatever the caller put in ─► a list         the same offsets, epochs, rolls and producer errors

It is the byte-exact log with other segments: every rule of appends, truncation, watermarks and producers is the same code. A batch counts
with the size that its bytes would have, so segments roll and retention deletes at the same offsets. What is left out: checks of bytes
(CRC, codecs, records that cannot be read), indexes, and the size of answers by single records: a fetch ends between two batches. All records
of a batch have one time.

Source: Kafka 3.9 core UnifiedLog, LocalLog, of which this keeps the offsets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from broker_core.errors import InvariantError
from broker_core.kafka.log import recovery
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.leader_epochs import LeaderEpochs
from broker_core.kafka.log.local_log import Fetched
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import Appended, PartitionLog
from broker_core.kafka.log.record import encode_pairs
from broker_core.kafka.log.record_batch import (
    CONTROL,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL,
    BatchHeader,
    ControlType,
    RecordBatch,
)
from broker_core.kafka.log.segment import TXN_INDEX, BatchPosition, Segment, file_name
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.time_index import TimestampOffset
from broker_core.kafka.log.transaction_index import AbortedTransaction, truncate_aborted

MARKER_BYTES = 78


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


@dataclass(frozen=True, slots=True)
class Payload:
    """In place of a batch's bytes: what the caller put in, a value a record, and how many bytes there would be.

    Of a marker: the kind, and the coordinator's epoch.
    """

    values: tuple[Any, ...]
    size_in_bytes: int

    def __len__(self) -> int:
        return self.size_in_bytes


class LightBatch(RecordBatch):
    """A batch that is its header, and a `Payload` where another one has bytes."""

    __slots__ = ()
    if not TYPE_CHECKING:
        # What a checkpoint reads a batch back as (`broker_core/plain.py`).
        header: BatchHeader
        data: Payload

    @property
    def values(self) -> tuple[Any, ...]:
        payload: Any = self.data
        return tuple(payload.values)

    def control_type(self) -> tuple[ControlType, int]:
        control_type, coordinator_epoch = self.values
        return ControlType(control_type), coordinator_epoch


def light_batch(
    values: Sequence[Any],
    *,
    timestamp: int,
    size_in_bytes: int = 0,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    base_offset: int = 0,
    partition_leader_epoch: int = NO_LEADER_EPOCH,
) -> LightBatch:
    """Make a batch of one value a record. size_in_bytes: of the batch, should sizes matter; default: its header's.

    >>> light_batch(["a", "b"], timestamp=5).header.last_offset
    1
    """
    attributes = TRANSACTIONAL if is_transactional else 0
    return _batch(
        Payload(tuple(values), size_in_bytes or HEADER_SIZE), len(values), attributes, timestamp, producer_id, producer_epoch,
        base_sequence, base_offset, partition_leader_epoch,
    )  # fmt: skip


def _batch(
    payload: Payload,
    count: int,
    attributes: int,
    timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    base_offset: int,
    epoch: int,
) -> LightBatch:
    in_place_of_bytes: Any = payload
    header = BatchHeader(
        base_offset, payload.size_in_bytes - LOG_OVERHEAD, epoch, MAGIC, 0, attributes, count - 1, timestamp, timestamp,
        producer_id, producer_epoch, base_sequence, count,
    )  # fmt: skip
    return LightBatch(header, in_place_of_bytes)


class LightSegment(Segment):
    """A segment of descriptors, which rolls as one of bytes does, but for full indexes. Positions are those that the bytes would have."""

    def __init__(self, folder: Folder, base_offset: int, settings: LogSettings, now_ms: int) -> None:
        self.folder = folder
        self.base_offset = base_offset
        self.settings = settings
        self.stage = ""
        self.created_ms = now_ms
        self.held: list[LightBatch] = []
        self.starts: list[int] = []  # position of each batch
        self.log = _Length("")
        self.max_timestamp, self.offset_of_max_timestamp = -1, base_offset
        self._is_time_loaded = True
        self._last_offset_max = base_offset + 2**31 - 1
        self._segment_ms = settings.segment_ms - settings.segment_jitter_ms
        self._bytes_max = settings.segment_bytes
        self._first_timestamp: int | None = -1
        self._timestamp_max = -1

    @property
    def is_index_full(self) -> bool:
        return False

    @property
    def largest_timestamp(self) -> int:
        return self.max_timestamp if self.max_timestamp >= 0 else self.created_ms

    def append(self, largest_offset: int, max_timestamp: int, offset_of_max_timestamp: int, data: Any, rest: Any = None) -> None:
        if not self.held:
            self._begin_at(max_timestamp)
        for batch in data:
            self.starts.append(self.log.size)
            self.held.append(batch)
            self.log.size += len(batch.data)
        if max_timestamp > self.max_timestamp:
            self.max_timestamp, self.offset_of_max_timestamp = max_timestamp, offset_of_max_timestamp

    def find(self, offset: int, trace: object = None) -> BatchPosition | None:
        index = bisect_left(self.held, offset, key=_last_offset)
        return BatchPosition(self.starts[index], self.held[index]) if index < len(self.held) else None

    def batches(self, position: int = 0, end: int | None = None, window_bytes: int = 0) -> Iterator[BatchPosition]:
        for index in range(bisect_left(self.starts, position), len(self.held)):
            if end is not None and self.starts[index] >= end:
                return
            yield BatchPosition(self.starts[index], self.held[index])

    def find_timestamp(self, timestamp: int, starting_offset: int, probes: list[int] | None = None) -> TimestampOffset | None:
        for batch in self.held:
            if batch.header.max_timestamp >= timestamp and batch.header.last_offset >= starting_offset:
                return TimestampOffset(batch.header.max_timestamp, max(batch.header.base_offset, starting_offset))
        return None

    def next_offset(self) -> int:
        return self.held[-1].header.next_offset if self.held else self.base_offset

    def truncate_to(self, offset: int, now_ms: int) -> int:
        found = self.find(offset)
        if found is None:
            return 0
        cut, self.log.size = self.log.size - found.position, found.position
        keep = bisect_left(self.starts, found.position)
        del self.held[keep:], self.starts[keep:]
        self.max_timestamp, self.offset_of_max_timestamp = -1, self.base_offset
        for header, _ in self.held:
            if header.max_timestamp > self.max_timestamp:
                self.max_timestamp, self.offset_of_max_timestamp = header.max_timestamp, header.last_offset
        truncate_aborted(self.folder, file_name(self.base_offset, TXN_INDEX), offset)
        if not self.held:
            self.created_ms, self._first_timestamp, self._timestamp_max = now_ms, -1, -1
        return cut

    def read(self, position: int, end: int, bytes_max: int, at_least_one: bool) -> tuple[LightBatch, ...]:
        """The whole batches from one position up to another that fit in so many bytes."""
        first, last = bisect_left(self.starts, position), bisect_left(self.starts, end)
        # The last batch that begins within the limit ends beyond it, unless the segment ends there.
        stop = bisect_right(self.starts, position + bytes_max) - (self.log.size > position + bytes_max)
        return tuple(self.held[first : min(last, max(stop, first + at_least_one))])

    def close_for_appends(self) -> None:
        """Nothing is written later."""

    def flush(self) -> None:
        """Nothing is written later."""

    def close(self) -> None:
        """Nothing is open."""

    def files(self) -> list[str]:
        return [name for name in (file_name(self.base_offset, TXN_INDEX),) if name in self.folder.names()]


class LightLog(PartitionLog):
    """One partition's log of descriptors. `LightLog.begin` is the way in; fetches and appends carry tuples of `LightBatch`."""

    @classmethod
    def begin(cls, settings: LogSettings | None = None, *, now_ms: int, high_watermark: int | None = 0) -> LightLog:
        """Make an empty log. high_watermark: None: nobody replicates.

        >>> log = LightLog.begin(now_ms=0)
        >>> log.append(light_batch(["a", "b"], timestamp=0), now_ms=0).last_offset
        1
        """
        return cls._opened(MemoryFolder(), settings or LogSettings(), [], now_ms, 0, high_watermark)

    def reopened(self, *, now_ms: int, log_start_offset: int = 0, high_watermark: int | None = 0) -> LightLog:
        """Close it in order and give the log that a restarted broker finds. The two numbers: as their checkpoints say."""
        self.close(now_ms)
        return self.found_again(now_ms=now_ms, log_start_offset=log_start_offset, high_watermark=high_watermark)

    def found_again(self, *, now_ms: int, log_start_offset: int = 0, high_watermark: int | None = 0) -> LightLog:
        """Give the log that a new process finds, however the one before it ended. What a power cut takes is to be truncated before."""
        return self._opened(self.folder, self.settings, self.segments, now_ms, log_start_offset, high_watermark)

    @classmethod
    def _opened(
        cls, folder: Folder, settings: LogSettings, segments: list[Segment], now_ms: int, log_start_offset: int, high_watermark: int | None
    ) -> LightLog:
        def new_segment(base_offset: int) -> Segment:
            return LightSegment(folder, base_offset, settings, now_ms)

        epochs = LeaderEpochs(folder)
        loaded = recovery.settled(folder, settings, segments, epochs, now_ms, log_start_offset, None, [], new_segment)
        return cls(folder, settings, loaded, now_ms, high_watermark)

    def append(
        self,
        data: Any,
        *,
        now_ms: int,
        leader_epoch: int | None = None,
        is_from_coordinator: bool = False,
        verification_guard: int | None = None,
    ) -> Appended:
        """As the byte-exact log; data: a `LightBatch`, which is taken for sound."""
        epoch = self.leader_epoch if leader_epoch is None else leader_epoch
        return self._append_from_client(data, epoch, now_ms, is_from_coordinator, verification_guard)

    def append_pairs(
        self,
        pairs: Iterable[tuple[bytes | None, bytes | None]],
        *,
        now_ms: int,
        timestamp: int | None = None,
        codec: Codec = Codec.NONE,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        base_sequence: int = NO_SEQUENCE,
        is_transactional: bool = False,
    ) -> Appended:
        """As the byte-exact log, without compression: the batch counts with the size of its plain bytes."""
        values = tuple(pairs)
        if not values:
            return Appended(self.log_end_offset, self.log_end_offset - 1)
        batch = light_batch(
            values,
            timestamp=now_ms if timestamp is None else timestamp,
            size_in_bytes=HEADER_SIZE + len(encode_pairs(values)[0]),
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            is_transactional=is_transactional,
        )
        return self.append(batch, now_ms=now_ms)

    def aborted_in(self, fetched: Fetched, offset: int) -> list[AbortedTransaction]:
        """As the byte-exact log, to the batch."""
        batches = self._copied(fetched.data)
        return self.aborted_transactions(offset, batches[-1].header.next_offset) if batches else []

    # --- inside

    def _new_segment(self, base_offset: int, now_ms: int) -> Segment:
        return LightSegment(self.folder, base_offset, self.settings, now_ms)

    def _copied(self, data: Any) -> list[RecordBatch]:
        return list(data)

    def _whole(self, data: Any, size: int) -> Any:
        return data

    def _placed(self, batch: RecordBatch, base_offset: int, epoch: int) -> tuple[Any, Any]:
        return (LightBatch(batch.header._replace(base_offset=base_offset, partition_leader_epoch=epoch), batch.data),), None

    def _marker(
        self,
        control_type: ControlType,
        base_offset: int,
        now_ms: int,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        epoch: int,
    ) -> RecordBatch:
        payload = Payload((control_type, coordinator_epoch), MARKER_BYTES)
        attributes = CONTROL | TRANSACTIONAL
        return _batch(payload, 1, attributes, now_ms, producer_id, producer_epoch, NO_SEQUENCE, base_offset, epoch)

    def _fetched(self, segment: Segment, found: BatchPosition, offset: int, bytes_max: int, end: int, at_least_one: bool) -> Fetched:
        if not isinstance(segment, LightSegment):
            raise InvariantError("a light log has light segments")
        behind = segment.find(end) if end < self.log_end_offset else None
        batches: Any = segment.read(found.position, segment.size if behind is None else behind.position, bytes_max, at_least_one)
        return Fetched(batches, batches[0].header.base_offset if batches else offset, found.position)


def _last_offset(batch: LightBatch) -> int:
    return batch.header.last_offset
