"""What the log knows of each idempotent producer: its epoch, its last five batches, its open transaction.

    last + 1                    taken
    one of the last five        answered as before, nothing is written
    anything else               OUT_OF_ORDER_SEQUENCE_NUMBER: a batch between them is missing

So a producer may send a batch again as often as it likes, and the log holds it once. What an append changes
here: producer_updates.py. A file `<offset>.snapshot` holds the state before that offset
(producer_snapshots.py):

    version 2   crc-32c 4   count 4   then for each producer:
    id 8  epoch 2  last sequence 4  last offset 8  offset delta 4  timestamp 8  coordinator epoch 4  open transaction's first offset 8

Source: Kafka 3.9 storage/internals/log/ProducerStateManager, ProducerAppendInfo, ProducerStateEntry.
Vectors: kafka/replication/producer_state.json.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crc32c import crc32c

from broker_core.kafka.log.errors import (
    InvalidProducerEpoch,
    InvalidTxnState,
    LogError,
    OutOfOrderSequence,
    TransactionCoordinatorFenced,
)
from broker_core.kafka.log.record_batch import (
    CONTROL,
    NO_SEQUENCE,
    SEQUENCE_MAX,
    TRANSACTIONAL,
    BatchHeader,
    RecordBatch,
    add_sequence,
)
from broker_core.kafka.log.transaction_index import AbortedTransaction

BATCHES_KEPT = 5
NO_OPEN_TRANSACTION = -1
SNAPSHOT_VERSION = 1
_SNAPSHOT_HEAD = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")


class CorruptSnapshot(LogError):
    """A snapshot file that cannot be read; it is passed over for an older one."""


class BatchMark(NamedTuple):
    """One of a producer's last batches."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return add_sequence(self.last_sequence, -self.offset_delta)

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


@dataclass(slots=True)
class ProducerEntry:
    """One producer, as far as this partition has seen it."""

    producer_epoch: int
    batches: deque[BatchMark] = field(default_factory=lambda: deque(maxlen=BATCHES_KEPT))
    coordinator_epoch: int = -1
    transaction_start: int = NO_OPEN_TRANSACTION
    last_timestamp: int = -1

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def is_next(self, header: BatchHeader) -> bool:
        """Whether a batch of this epoch follows the last one, and repeats none of the five: a coordinator's
        have any sequence."""
        last, next_one = None, header.base_sequence
        for last, _, _, _ in self.batches:
            if last >= next_one:
                return False
        return last is not None and last + 1 == next_one

    def note_plain(self, header: BatchHeader, last_offset: int) -> None:
        """Note a batch that `entry_of_plain` has let through."""
        delta, time = header.last_offset_delta, header.max_timestamp
        self.batches.append(BatchMark(header.base_sequence + delta, last_offset, delta, time))
        self.last_timestamp = time


class CompletedTransaction(NamedTuple):
    """A transaction that a marker has ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool


class ProducerState:
    """All producers of one partition."""

    def __init__(self) -> None:
        self.entries: dict[int, ProducerEntry] = {}
        self._open: dict[
            int, int
        ] = {}  # first offset of an open transaction -> its producer; in the order of the log
        self.end_offset = 0  # it knows the log up to here
        self.snapshot_offset = 0  # and is written to a file as it was here
        self._unreplicated: dict[
            int, int
        ] = {}  # first offset -> offset of the marker, which the high watermark has not passed

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data, in its order; the snapshot files hold less."""
        entries = [
            (
                producer_id,
                entry.producer_epoch,
                list(entry.batches),
                entry.coordinator_epoch,
                entry.transaction_start,
                entry.last_timestamp,
            )
            for producer_id, entry in self.entries.items()
        ]
        return {
            "entries": entries,
            "open": list(self._open.items()),
            "ends": (self.end_offset, self.snapshot_offset),
            "unreplicated": list(self._unreplicated.items()),
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> ProducerState:
        state = cls()
        for producer_id, epoch, batches, coordinator_epoch, start, last_timestamp in plain["entries"]:
            marks = deque((BatchMark(*mark) for mark in batches), maxlen=BATCHES_KEPT)
            state.entries[producer_id] = ProducerEntry(epoch, marks, coordinator_epoch, start, last_timestamp)
        state._open = dict(plain["open"])
        state.end_offset, state.snapshot_offset = plain["ends"]
        state._unreplicated = dict(plain["unreplicated"])
        return state

    @property
    def is_new(self) -> bool:
        """Whether it has never known a producer, nor a part of the log."""
        return not (
            self.entries or self._open or self._unreplicated or self.end_offset or self.snapshot_offset
        )

    @property
    def is_empty(self) -> bool:
        """Whether it knows nobody."""
        return not self.entries and not self._unreplicated

    @property
    def is_without_transactions(self) -> bool:
        """Whether no transaction holds a reader back: none is open, none ended that the high watermark has
        not passed."""
        return not self._open and not self._unreplicated

    def entry_of_plain(self, header: BatchHeader) -> ProducerEntry | None:
        """The producer of a batch that can only be one more of its epoch: no transaction, no marker, no new
        epoch, no sequence that begins again at 0. None: all of it must be looked at. A leader asks `is_next`,
        too."""
        entry = self.entries.get(header.producer_id)
        if (
            entry is None
            or entry.producer_epoch != header.producer_epoch
            or entry.transaction_start != NO_OPEN_TRANSACTION
        ):
            return None
        is_plain = (
            not header.attributes & (TRANSACTIONAL | CONTROL)
            and 0 <= header.base_sequence <= SEQUENCE_MAX - header.last_offset_delta
        )
        return entry if is_plain else None

    def duplicate_of(self, header: BatchHeader) -> BatchMark | None:
        """Give the earlier batch, one of the last five, that a client's batch repeats; None: it is new."""
        entry = self.entries.get(header.producer_id)
        if entry is None or entry.producer_epoch != header.producer_epoch:
            return None
        for mark in entry.batches:
            if mark.first_sequence == header.base_sequence and mark.last_sequence == header.last_sequence:
                return mark
        return None

    def check(
        self, header: BatchHeader, *, has_sequence: bool = True, lowest_sequence: int | None = None
    ) -> None:
        """Decide on a new batch. has_sequence: False for a coordinator's, whose sequence nobody asks for.

        lowest_sequence: the highest that is taken now, because an earlier batch is being verified
        (transaction_verification.py).
        Raises InvalidProducerEpoch, OutOfOrderSequence, InvalidTxnState. Reads the state, never writes it.
        """
        entry = self.entries.get(header.producer_id)
        epoch = header.producer_epoch
        if entry is not None and epoch < entry.producer_epoch:
            raise InvalidProducerEpoch(
                f"epoch {epoch}; producer {header.producer_id} is at {entry.producer_epoch}"
            )
        if lowest_sequence is not None and header.base_sequence > lowest_sequence:
            raise OutOfOrderSequence(
                f"sequence {header.base_sequence} while {lowest_sequence} is being verified"
            )
        if entry is None:
            return  # nothing known, or forgotten: any sequence will do
        if has_sequence:
            if epoch > entry.producer_epoch:
                if header.base_sequence != 0:
                    raise OutOfOrderSequence(
                        f"a new epoch begins with sequence 0, not {header.base_sequence}"
                    )
            elif header.base_sequence != add_sequence(
                entry.last_sequence, 1
            ):  # -1 where only a marker is known: after it comes 0
                raise OutOfOrderSequence(f"sequence {header.base_sequence} after {entry.last_sequence}")
        if entry.transaction_start != NO_OPEN_TRANSACTION and not header.is_transactional:
            raise InvalidTxnState(f"a plain batch inside producer {header.producer_id}'s open transaction")

    def has_open_transaction(self, producer_id: int) -> bool:
        """Whether a transaction of that producer has begun here, and no marker has ended it."""
        entry = self.entries.get(producer_id)
        return entry is not None and entry.transaction_start != NO_OPEN_TRANSACTION

    def check_replicated(self, batches: Iterable[RecordBatch]) -> None:
        """Decide on what a leader has taken: only a plain batch inside an open transaction is refused. Raises
        InvalidTxnState."""
        is_open: dict[int, bool] = {}
        for header, _ in batches:
            producer_id = header.producer_id
            if producer_id < 0:
                continue
            if header.is_control or header.is_transactional:
                is_open[producer_id] = not header.is_control
            elif is_open.get(producer_id, self.has_open_transaction(producer_id)):
                raise InvalidTxnState(f"a plain batch inside producer {producer_id}'s open transaction")

    def begin(self, begun: Iterable[tuple[int, int]]) -> None:
        """Note where transactions have begun: (first offset, producer), in the order of the log."""
        self._open.update(begun)

    def complete(self, completed: CompletedTransaction) -> AbortedTransaction:
        """Note that a transaction has ended. Gives the row that the index of aborted transactions gets if it
        was aborted."""
        others = (first for first, producer_id in self._open.items() if producer_id != completed.producer_id)
        last_stable = next(others, completed.last_offset + 1)
        self._open.pop(completed.first_offset, None)
        self._unreplicated[completed.first_offset] = completed.last_offset
        return AbortedTransaction(
            completed.producer_id, completed.first_offset, completed.last_offset, last_stable
        )

    def forget(self, producer_id: int) -> None:
        """Drop all that is known of a producer."""
        entry = self.entries.pop(producer_id, None)
        if entry is not None:
            self._open.pop(entry.transaction_start, None)

    def first_undecided_offset(self) -> int | None:
        """Where the oldest open transaction begins; None: there is none."""
        return next(iter(self._open), None)

    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction begins that is open, or whose marker the high watermark has not
        passed; None: there is none."""
        undecided = self.first_undecided_offset()
        if not self._unreplicated:
            return undecided
        unreplicated = min(self._unreplicated)
        return unreplicated if undecided is None else min(undecided, unreplicated)

    def forget_replicated(self, end_offset: int) -> None:
        """Markers below that offset are known to all replicas: their transactions hold no reader back any
        more."""
        if self._unreplicated:
            self._unreplicated = {
                first: last for first, last in self._unreplicated.items() if last >= end_offset
            }

    def is_last_batch(self, header: BatchHeader) -> bool:
        """Whether a batch is the last one that a producer wrote: compaction keeps it, emptied, for its
        sequence."""
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return False
        if entry.batches:
            return entry.batches[-1].last_offset == header.last_offset
        # Only a marker is known of it: the marker fences older epochs.
        return header.is_control and header.producer_epoch == entry.producer_epoch

    def forget_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Drop producers without an open transaction that have been silent for so long."""
        for producer_id, entry in list(self.entries.items()):
            is_idle = entry.transaction_start == NO_OPEN_TRANSACTION
            if is_idle and now_ms - entry.last_timestamp >= expiration_ms:
                del self.entries[producer_id]

    def snapshot(self) -> bytes:
        """Give the state as a `.snapshot` file has it: of the five batches only the last."""
        rows = [_COUNT.pack(len(self.entries))]
        for producer_id, entry in self.entries.items():
            mark = entry.batches[-1] if entry.batches else BatchMark(NO_SEQUENCE, -1, 0, entry.last_timestamp)
            rows.append(
                _ENTRY.pack(
                    producer_id,
                    entry.producer_epoch,
                    mark.last_sequence,
                    mark.last_offset,
                    mark.offset_delta,
                    entry.last_timestamp,
                    entry.coordinator_epoch,
                    entry.transaction_start,
                )
            )
        body = b"".join(rows)
        return _SNAPSHOT_HEAD.pack(SNAPSHOT_VERSION, crc32c(body)) + body

    @classmethod
    def from_snapshot(cls, content: bytes) -> ProducerState:
        """Read a `.snapshot` file. Raises CorruptSnapshot.

        >>> len(ProducerState().snapshot()), ProducerState.from_snapshot(ProducerState().snapshot()).entries
        (10, {})
        """
        state = cls()
        try:
            version, crc = _SNAPSHOT_HEAD.unpack_from(content)
            body = content[_SNAPSHOT_HEAD.size :]
            if version != SNAPSHOT_VERSION or crc != crc32c(body):
                raise CorruptSnapshot(f"version {version}, crc {crc}")
            (count,) = _COUNT.unpack_from(body)
            rows = list(_ENTRY.iter_unpack(body[_COUNT.size :]))
        except struct.error as error:
            raise CorruptSnapshot(str(error)) from None
        if count != len(rows):
            raise CorruptSnapshot(f"{count} producers in {len(rows)} rows")
        for producer_id, epoch, sequence, offset, delta, timestamp, coordinator_epoch, start in rows:
            entry = ProducerEntry(epoch, coordinator_epoch=coordinator_epoch, transaction_start=start)
            entry.last_timestamp = timestamp
            if sequence != NO_SEQUENCE or offset >= 0:
                entry.batches.append(BatchMark(sequence, offset, delta, timestamp))
            state.entries[producer_id] = entry
        open_now = [(entry.transaction_start, producer_id) for producer_id, entry in state.entries.items()]
        state.begin(row for row in sorted(open_now) if row[0] != NO_OPEN_TRANSACTION)
        return state

    def check_marker(self, batch: RecordBatch) -> None:
        """Decide on a marker. Raises InvalidProducerEpoch, TransactionCoordinatorFenced. Writes nothing."""
        header = batch.header
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return
        _, coordinator_epoch = batch.control_type()
        if header.producer_epoch < entry.producer_epoch:
            raise InvalidProducerEpoch(
                f"a marker of epoch {header.producer_epoch} after {entry.producer_epoch}"
            )
        if coordinator_epoch < entry.coordinator_epoch:
            raise TransactionCoordinatorFenced(
                f"coordinator epoch {coordinator_epoch} after {entry.coordinator_epoch}"
            )
