"""The `.snapshot` files of a partition, and the producers' state made from them: a restart and a truncation
replay only what follows one.

    500.snapshot            [500 ....... 900)                  state at 900 = snapshot 500 + the batches from 500 on

A snapshot is taken at each roll, at the close and after a truncation. It is useless once it is above the log
end, or at or below the log start: what it knows of is gone. At a start those go too at which no segment
begins; the newest of them stays where it is in the active segment.

Source: Kafka 3.9 storage/internals/log/ProducerStateManager (takeSnapshot, truncateAndReload,
removeStraySnapshots), core UnifiedLog.rebuildProducerState.
Vectors: kafka/replication/producer_state.json.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.file_names import SNAPSHOT, file_name
from broker_core.kafka.log.producer_state import CorruptSnapshot, ProducerState
from broker_core.kafka.log.producer_updates import ProducerUpdates
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.transaction_index import AbortedTransaction


def take_snapshot(folder: Folder, state: ProducerState) -> None:
    """Write the state to its file, unless it is there already. Raises StorageFull."""
    if state.end_offset > state.snapshot_offset:
        folder.replace(file_name(state.end_offset, SNAPSHOT), state.snapshot())
        state.snapshot_offset = state.end_offset


def snapshot_offsets(folder: Folder) -> list[int]:
    """The offsets of the snapshots that are there, rising."""
    stems = [name.removesuffix(SNAPSHOT) for name in folder.names() if name.endswith(SNAPSHOT)]
    return sorted(int(stem) for stem in stems if stem.isdigit())


def remove_stray_snapshots(folder: Folder, segments: Sequence[Segment]) -> list[str]:
    """Remove the snapshots at which no segment begins, but for the newest at or above the last segment's
    base: the orderly end left it.

    Returns the names. Each orderly end at another offset would leave one forever.
    """
    bases = {segment.base_offset for segment in segments}
    strays = [offset for offset in snapshot_offsets(folder) if offset not in bases]
    if strays and strays[-1] >= max(bases, default=0):
        strays.pop()
    names = [file_name(offset, SNAPSHOT) for offset in strays]
    for name in names:
        folder.remove(name)
    return names


def rebuild_producers(
    folder: Folder,
    segments: list[Segment],
    state: ProducerState,
    log_start_offset: int,
    log_end_offset: int,
    now_ms: int,
    expiration_ms: int,
    on_batch: Callable[[RecordBatch], None] | None = None,
) -> ProducerState:
    """Give the state at the log end, which has moved, from the latest snapshot and what follows it in the
    log.

    state: as it was; a new one at a start. on_batch: called with each batch that is read again.
    Producers of the snapshot that have been silent for `expiration_ms` are left out. What is left of
    transactions that had ended counts as replicated. Snapshots that are no longer useful are removed, and one
    of now is taken.
    """
    knew_nobody = state.is_empty and state.end_offset >= log_end_offset
    for offset in snapshot_offsets(folder):
        if offset > log_end_offset or offset <= log_start_offset:
            folder.remove(file_name(offset, SNAPSHOT))
    if log_end_offset == state.end_offset:
        follow_log_start(folder, state, log_start_offset)
    else:
        state = latest_snapshot(folder, log_start_offset)
        state.forget_expired(now_ms, expiration_ms)
    if log_end_offset > state.end_offset and not knew_nobody:
        for index, segment in enumerate(segments):
            is_before = index + 1 < len(segments) and segments[index + 1].base_offset <= state.end_offset
            if is_before or segment.base_offset >= log_end_offset:
                continue
            state.end_offset = max(segment.base_offset, state.end_offset, log_start_offset)
            if index >= len(segments) - 2:
                take_snapshot(folder, state)
            replay_segment(segment, state, state.end_offset, on_batch)
    state.end_offset = log_end_offset
    take_snapshot(folder, state)
    return state


def latest_snapshot(folder: Folder, log_start_offset: int, end_offset: int | None = None) -> ProducerState:
    """Read the latest snapshot at or below an offset; without any, a state that knows nobody up to the log
    start.

    Those that cannot be read are removed.
    """
    for offset in reversed(snapshot_offsets(folder)):
        if end_offset is not None and offset > end_offset:
            continue
        name = file_name(offset, SNAPSHOT)
        try:
            state = ProducerState.from_snapshot(folder.read(name))
        except CorruptSnapshot:
            folder.remove(name)
            continue
        state.end_offset = state.snapshot_offset = offset
        return state
    state = ProducerState()
    state.end_offset = state.snapshot_offset = log_start_offset
    return state


def follow_log_start(folder: Folder, state: ProducerState, log_start_offset: int) -> None:
    """The log begins there now: what ended before it counts as replicated."""
    state.forget_replicated(log_start_offset)
    state.end_offset = max(state.end_offset, log_start_offset)
    state.snapshot_offset = max(snapshot_offsets(folder), default=log_start_offset)


def replay_segment(
    segment: Segment,
    state: ProducerState,
    start_offset: int,
    on_batch: Callable[[RecordBatch], None] | None = None,
) -> None:
    """Note the batches of a segment from that offset on. on_batch: called with each."""
    found = segment.find(start_offset)
    if found is not None:
        replay(state, _told((batch for _, batch in segment.batches(found.position)), on_batch))


def _told(
    batches: Iterable[RecordBatch], on_batch: Callable[[RecordBatch], None] | None
) -> Iterator[RecordBatch]:
    for batch in batches:
        if on_batch is not None:
            on_batch(batch)
        yield batch


def replay(state: ProducerState, batches: Iterable[RecordBatch]) -> list[AbortedTransaction]:
    """Note batches already in the log: what they were allowed to do was decided when they came. Gives what
    was aborted in them."""
    updates = ProducerUpdates(state)
    for batch in batches:
        try:
            updates.add(batch)
        except LogError:
            updates.forget(batch.header.producer_id)
    ended = [(completed.is_aborted, state.complete(completed)) for completed in updates.note()]
    return [row for is_aborted, row in ended if is_aborted]
