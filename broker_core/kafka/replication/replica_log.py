"""The light log: a partition's log that holds what its batches say of themselves, and no bytes of them. For
labs and simulation.

    PartitionLog   header, records, CRC ─► bytes in files, indexes      a byte is a byte of Kafka's
    LightLog       header, whatever the caller put in ─► lists          the same offsets, epochs, rolls and producer errors

Truncation, watermarks, producers, retention and restarts are the byte-exact log's own code, above other
segments (light_segment.py). What is done for each record is written a second time here, for speed: an append
of one batch, by a leader or a follower, that has no producer or is the plain next one of its producer; and a
read from the active segment. All else goes the common way.

A batch counts with the size that its bytes would have, so segments roll and retention deletes at the same
offsets. What is left out: checks of bytes (CRC, codecs, records that cannot be read), indexes, and the size
of answers by single records: a fetch ends between two batches. All records of a batch have one time.

Source: Kafka 3.9 core UnifiedLog, LocalLog, of which this keeps the offsets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from broker_core.errors import InvariantError
from broker_core.kafka.log import recovery
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.indexed_batches import BatchPosition
from broker_core.kafka.log.leader_epochs import LeaderEpochs
from broker_core.kafka.log.local_log import Fetched
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import Appended, PartitionLog
from broker_core.kafka.log.producer_state import ProducerEntry, ProducerState
from broker_core.kafka.log.record import encode_pairs
from broker_core.kafka.log.record_batch import (
    HEADER_SIZE,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    ControlType,
    RecordBatch,
)
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.transaction_index import AbortedTransaction
from broker_core.kafka.log.transaction_verification import TransactionVerifications
from broker_core.kafka.log.watermarks import IsolatedRead, Isolation
from broker_core.kafka.replication.light_batch import (
    MARKER_BYTES,
    LightBatch,
    Payload,
    light_batch,
    light_marker,
)
from broker_core.kafka.replication.light_segment import LightSegment
from broker_core.plain import from_plain

__all__ = ["MARKER_BYTES", "LightBatch", "LightLog", "LightSegment", "Payload", "light_batch"]
_new_tuple = tuple.__new__
_NOTHING = memoryview(b"")
_DEFAULTS = LogSettings()
_AS_NEW: dict[str, Any] = {
    "log_start_offset": 0,
    "log_end_offset": 0,
    "to_delete": [],
    "recovery_point": 0,
    "leader_epoch": 0,
    "roll_reason": None,
    "_flushed_ms": 0,
    "_flush_at_offset": 2**63 - 1,
    "_high_watermark": 0,
    "_first_unstable": None,
    "_has_open_end": False,
    "_is_placed": True,
}
"""What is kept as it is, with what most of it is in a log to which nothing has been written."""


@lru_cache(maxsize=64)
def _unusual(settings: LogSettings) -> dict[str, Any]:
    return {name: value for name, value in asdict(settings).items() if value != getattr(_DEFAULTS, name)}


def _settings(unusual: dict[str, Any] | None) -> LogSettings:
    return LogSettings(**unusual) if unusual else _DEFAULTS


class LightLog(PartitionLog):
    """One partition's log of descriptors. `LightLog.begin` is the way in; fetches and appends carry tuples of
    `LightBatch`."""

    @classmethod
    def begin(
        cls, settings: LogSettings | None = None, *, now_ms: int, high_watermark: int | None = 0
    ) -> LightLog:
        """Make an empty log. high_watermark: None: nobody replicates.

        >>> log = LightLog.begin(now_ms=0)
        >>> log.append(light_batch(["a", "b"], timestamp=0), now_ms=0).last_offset
        1
        """
        return cls._opened(MemoryFolder(), settings or LogSettings(), [], now_ms, 0, high_watermark)

    def reopened(self, *, now_ms: int, log_start_offset: int = 0, high_watermark: int | None = 0) -> LightLog:
        """Close it in order and give the log that a restarted broker finds. The two numbers: as their
        checkpoints say."""
        self.close(now_ms)
        return self.found_again(
            now_ms=now_ms, log_start_offset=log_start_offset, high_watermark=high_watermark
        )

    def found_again(
        self, *, now_ms: int, log_start_offset: int = 0, high_watermark: int | None = 0
    ) -> LightLog:
        """Give the log that a new process finds, however the one before it ended. What a power cut takes is
        to be truncated before."""
        return self._opened(
            self.folder,
            self.settings,
            self.segments,
            now_ms,
            log_start_offset,
            high_watermark,
            self.recovery_point,
        )

    @classmethod
    def _opened(
        cls,
        folder: Folder,
        settings: LogSettings,
        segments: list[Segment],
        now_ms: int,
        log_start_offset: int,
        high_watermark: int | None,
        recovery_point: int | None = None,
    ) -> LightLog:
        def new_segment(base_offset: int) -> Segment:
            return LightSegment(folder, base_offset, settings, now_ms)

        epochs = LeaderEpochs(folder)
        loaded = recovery.settled(
            folder, settings, segments, epochs, now_ms, log_start_offset, recovery_point, [], new_segment
        )
        return cls(folder, settings, loaded, now_ms, high_watermark)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data, for a checkpoint, without what is as in a new log. The values of records
        must be plain."""
        if not isinstance(self.folder, MemoryFolder):
            raise InvariantError("a light log's folder is in memory")
        for segment in self.segments:
            if isinstance(segment, LightSegment):
                segment.forget_below(self.log_start_offset)
        parts = {
            "settings": _unusual(self.settings),
            "files": self.folder.to_json(),
            "segments": [segment.to_json() for segment in self.segments if isinstance(segment, LightSegment)],
            "producers": None if self.producers.is_new else self.producers.to_json(),
            "verifications": self.verifications if self.verifications.guards_given else None,
        }
        kept = {name: value for name, value in parts.items() if value}
        for name, usual in _AS_NEW.items():
            if (value := getattr(self, name)) != usual:
                kept[name] = value
        return kept

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> LightLog:
        """What `to_json` gave, through `to_plain`."""
        kept = _AS_NEW | plain
        folder, settings = MemoryFolder.from_json(plain.get("files", {})), _settings(plain.get("settings"))
        segments: list[Segment] = [
            LightSegment.from_json(each, folder, settings) for each in plain["segments"]
        ]
        start, end, point = kept["log_start_offset"], kept["log_end_offset"], kept["recovery_point"]
        loaded = recovery.Loaded(segments, ProducerState(), LeaderEpochs(folder), start, end, point)
        log = cls(folder, settings, loaded, 0, kept["_high_watermark"])
        # Not before: opening a log sets its high watermark, which forgets transactions that a log cut below
        # its last marker still keeps.
        if "producers" in plain:
            log.producers = ProducerState.from_json(plain["producers"])
        if "verifications" in plain:
            log.verifications = from_plain(plain["verifications"], TransactionVerifications)
        for name in _AS_NEW:
            setattr(log, name, kept[name])
        log.to_delete = [(when, names) for when, names in kept["to_delete"]]
        return log

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
        header, producer = data[0], None
        if header.producer_id >= 0:
            producer = self.producers.entry_of_plain(header)
            if (
                producer is None
                or is_from_coordinator
                or self.verifications.under_way
                or not producer.is_next(header)
            ):
                return self._append_from_client(data, epoch, now_ms, is_from_coordinator, verification_guard)
        return self._store(data.placed_at(self.log_end_offset, epoch), producer, epoch, now_ms)

    def append_as_follower(self, data: Any, *, now_ms: int) -> Appended:
        """As the byte-exact log; data: a tuple of `LightBatch`. They go to this log as they are: replicas
        share them."""
        if len(data) == 1 and (header := data[0][0]).base_offset >= self.log_end_offset:
            producer = None if header.producer_id < 0 else self.producers.entry_of_plain(header)
            if producer is not None or header.producer_id < 0:
                return self._store(data[0], producer, header.partition_leader_epoch, now_ms)
        return super().append_as_follower(data, now_ms=now_ms)

    def read_as(
        self, isolation: Isolation, offset: int, bytes_max: int, *, at_least_one: bool = True
    ) -> IsolatedRead:
        """As the byte-exact log."""
        segment = self.segments[-1]
        if (
            isolation is not Isolation.TXN_COMMITTED
            and segment.base_offset <= offset >= self.log_start_offset
        ):
            end = self.log_end_offset
            if isolation is Isolation.HIGH_WATERMARK:
                end = self.placed_high_watermark()
            if end <= offset <= self.log_end_offset:
                return _new_tuple(IsolatedRead, (Fetched(_NOTHING, offset, segment.size), None))
            if offset < end and isinstance(segment, LightSegment) and offset < segment.next_offset():
                position, batches = segment.read(offset, end, bytes_max, at_least_one)
                base_offset = batches[0][0][0] if batches else offset
                return _new_tuple(IsolatedRead, (_new_tuple(Fetched, (batches, base_offset, position)), None))
        return super().read_as(isolation, offset, bytes_max, at_least_one=at_least_one)

    def batch_at(self, offset: int) -> LightBatch | None:
        """The batch that holds this offset, or the first above it; None: the log ends before."""
        for segment in self.segments[self.segment_of(offset) :]:
            found = segment.find(offset)
            if found is not None:
                batch: LightBatch = found.batch  # type: ignore[assignment]  # its segments hold no others
                return batch
        return None

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

    def _store(self, batch: LightBatch, producer: ProducerEntry | None, epoch: int, now_ms: int) -> Appended:
        """Write one batch at or behind the log end. producer: who wrote it, of whom it is a plain next one;
        None: it names none."""
        header = batch[0]
        payload: Any = batch[1]
        first_offset, time, size = header.base_offset, header.max_timestamp, payload.size_in_bytes
        last_offset = first_offset + header.last_offset_delta
        epochs, segment = self.epochs, self.segments[-1]
        is_same_epoch = epoch == epochs.latest and first_offset >= epochs.latest_start
        if (
            is_same_epoch
            and isinstance(segment, LightSegment)
            and segment.take(batch, last_offset, time, size)
        ):
            self.log_end_offset = self.producers.end_offset = last_offset + 1
            self._has_open_end = False
            if last_offset + 1 >= self._flush_at_offset:
                self.flush(now_ms)
            if self._first_unstable is not None:
                self._note_stable()
        else:
            segment = self._segment_for(first_offset, last_offset, time, epoch, now_ms, size)
            one: Any = (batch,)
            self._write(segment, last_offset, time, last_offset, now_ms, one)
        if producer is not None:
            producer.note_plain(header, last_offset)
        return _new_tuple(Appended, (first_offset, last_offset, False))

    def _new_segment(self, base_offset: int, now_ms: int) -> Segment:
        return LightSegment(self.folder, base_offset, self.settings, now_ms)

    def last_epoch_of(self, data: Any) -> int | None:
        return data[-1].header.partition_leader_epoch if data else None

    def _copied(self, data: Any) -> list[RecordBatch]:
        return list(data)

    def _whole(self, data: Any, size: int) -> Any:
        return data

    def _placed(self, batch: RecordBatch, base_offset: int, epoch: int) -> tuple[Any, Any]:
        if not isinstance(batch, LightBatch):
            raise InvariantError("a light log takes light batches")
        return (batch.placed_at(base_offset, epoch),), None

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
        return light_marker(
            control_type, base_offset, now_ms, producer_id, producer_epoch, coordinator_epoch, epoch
        )

    def _fetched(
        self,
        segment: Segment,
        found: BatchPosition,
        offset: int,
        bytes_max: int,
        end: int,
        at_least_one: bool,
    ) -> Fetched:
        if not isinstance(segment, LightSegment):
            raise InvariantError("a light log has light segments")
        position, batches = segment.read(offset, end, bytes_max, at_least_one)
        held: Any = batches
        return Fetched(held, batches[0].header.base_offset if batches else offset, position)
