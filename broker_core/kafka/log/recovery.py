"""Opening a partition's folder: what a crash left behind is repaired before the first read.

    *.deleted            removed: no reader can have them open
    *.cleaned            removed: a compaction that did not finish
    *.swap               a compaction that did: what it replaces goes, then it takes its name
    an index alone       removed
    a log without index  its indexes are rebuilt
    after a crash        every segment from the recovery point on is read: the first batch that is not whole and sound ends
                         the log, there and in every later segment; the index of aborted transactions is
                         rebuilt

A `.swap` beside a `.cleaned` with the same or a lower base offset belongs to a swap of several segments that
was cut short while it began; it is removed too, for the old segments are all still there.

Source: Kafka 3.9 storage/internals/log/LogLoader.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from broker_core.kafka.log.batch_reader import read_batches
from broker_core.kafka.log.errors import CorruptRecord
from broker_core.kafka.log.file_names import (
    CLEANED,
    DELETED,
    INDEX,
    LOG,
    SWAP,
    TIME_INDEX,
    TXN_INDEX,
    file_name,
)
from broker_core.kafka.log.index_file import CorruptIndex
from broker_core.kafka.log.leader_epochs import LeaderEpochs
from broker_core.kafka.log.producer_snapshots import (
    latest_snapshot,
    rebuild_producers,
    remove_stray_snapshots,
    replay,
    replay_segment,
)
from broker_core.kafka.log.producer_state import ProducerState
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.transaction_index import AbortedTransaction, replace_aborted

_SEGMENT_SUFFIXES = (LOG, INDEX, TIME_INDEX, TXN_INDEX)


@dataclass(slots=True)
class Loaded:
    """What was found. steps: what had to be put in order, in words, for the page and the log."""

    segments: list[Segment]
    producers: ProducerState
    epochs: LeaderEpochs
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    steps: list[str] = field(default_factory=list)


def load(
    folder: Folder,
    settings: LogSettings,
    now_ms: int,
    was_closed: bool,
    recovery_point: int,
    log_start_offset: int,
) -> Loaded:
    """Put the folder in order and give what it holds; at least one segment, of which the last one is
    active."""
    steps: list[str] = []
    _finish_or_undo_swaps(folder, steps)
    segments = _open_segments(folder, settings, now_ms, steps)
    recover_from = len(segments) if was_closed else _first_behind(segments, recovery_point)
    for index, segment in enumerate(segments[:recover_from]):
        if not _has_sound_indexes(segment, steps):
            recover_from = index
            break
    epochs = LeaderEpochs(folder)
    segments = _recover_from(folder, segments, recover_from, epochs, steps)
    return settled(
        folder,
        settings,
        segments,
        epochs,
        now_ms,
        log_start_offset,
        None if was_closed else recovery_point,
        steps,
        lambda base_offset: Segment(folder, base_offset, settings, now_ms),
    )


def settled(
    folder: Folder,
    settings: LogSettings,
    segments: list[Segment],
    epochs: LeaderEpochs,
    now_ms: int,
    log_start_offset: int,
    recovery_point: int | None,
    steps: list[str],
    new_segment: Callable[[int], Segment],
) -> Loaded:
    """Give what a log with these sound segments knows: where it starts and ends, its epochs, its producers.

    recovery_point: None: all is flushed. new_segment: makes an empty one at a base offset.
    """
    if segments and segments[-1].next_offset() < log_start_offset:
        steps.append(f"everything is below the log start offset {log_start_offset}: begun anew")
        for segment in segments:
            _remove(segment)
        segments = []
        epochs.clear_and_flush()
    if not segments:
        segments = [new_segment(log_start_offset)]
    log_start = max(log_start_offset, segments[0].base_offset)
    log_end = segments[-1].next_offset()
    epochs.truncate_from_end(log_end)
    epochs.truncate_from_start(log_start)
    steps += [
        f"{name}: removed, no segment begins there" for name in remove_stray_snapshots(folder, segments)
    ]
    producers = rebuild_producers(
        folder, segments, ProducerState(), log_start, log_end, now_ms, settings.producer_id_expiration_ms
    )
    return Loaded(
        segments,
        producers,
        epochs,
        log_start,
        log_end,
        log_end if recovery_point is None else min(recovery_point, log_end),
        steps,
    )


def _finish_or_undo_swaps(folder: Folder, steps: list[str]) -> None:
    names = folder.names()
    cleaned = [name for name in names if name.endswith(CLEANED)]
    for name in (*cleaned, *(name for name in names if name.endswith((DELETED, ".tmp")))):
        steps.append(f"{name}: removed")
        folder.remove(name)
    lowest_cleaned = min(map(_base_offset, cleaned), default=None)
    swaps = [name for name in names if name.endswith(SWAP)]
    if lowest_cleaned is not None:
        for name in [name for name in swaps if _base_offset(name) >= lowest_cleaned]:
            steps.append(f"{name}: removed, its swap had not begun in full")
            folder.remove(name)
            swaps.remove(name)
    logs = [name for name in swaps if name.endswith(LOG + SWAP)]
    for name in logs:
        _replace_by_swap(folder, name, steps)
    for name in swaps:
        folder.rename(name, name.removesuffix(SWAP))
        steps.append(f"{name}: took its name")


def _replace_by_swap(folder: Folder, swap_name: str, steps: list[str]) -> None:
    """Remove the segments that the swapped one replaces: those that begin within its offsets."""
    base = _base_offset(swap_name)
    file = folder.open(swap_name)
    last = deque(read_batches(file.view(0, file.size)), maxlen=1)
    file.close()
    end = max(base + 1, *(batch.header.next_offset for batch in last if isinstance(batch, RecordBatch)), base)
    for name in folder.names():
        if name.endswith(_SEGMENT_SUFFIXES) and base <= _base_offset(name) < end:
            steps.append(f"{name}: removed, {swap_name} stands for it")
            folder.remove(name)


def _open_segments(folder: Folder, settings: LogSettings, now_ms: int, steps: list[str]) -> list[Segment]:
    names = set(folder.names())
    segments: list[Segment] = []
    for name in sorted(names):
        if not name[:20].isdigit():
            continue
        base = _base_offset(name)
        if name.endswith((INDEX, TIME_INDEX, TXN_INDEX)) and file_name(base, LOG) not in names:
            steps.append(f"{name}: removed, its log is gone")
            folder.remove(name)
        elif name.endswith(LOG):
            segments.append(Segment(folder, base, settings, now_ms))
    return segments


def _first_behind(segments: list[Segment], recovery_point: int) -> int:
    """The index of the first segment that may hold something after the recovery point."""
    bases = [segment.base_offset for segment in segments]
    return sum(next_base <= recovery_point for next_base in bases[1:])


def _has_sound_indexes(segment: Segment, steps: list[str]) -> bool:
    """Check a segment assumed to be whole, and rebuild its indexes if necessary. False: it is not whole."""
    try:
        segment.check()
    except (CorruptIndex, CorruptRecord) as error:
        steps.append(f"{error}: made anew")
        if not segment.rebuild_indexes():
            return False
        segment.close_for_appends()
    return True


def _recover_from(
    folder: Folder, segments: list[Segment], first: int, epochs: LeaderEpochs, steps: list[str]
) -> list[Segment]:
    """Read every segment from that index on; cut where the sound log ends.

    The files beside the log are rebuilt on the way: the indexes, that of aborted transactions, and missing
    leader epochs.
    """
    if first >= len(segments):
        return segments
    producers = _producers_before(folder, segments, first)
    for index, segment in enumerate(segments[first:], first):
        aborted: list[AbortedTransaction] = []

        def on_batch(batch: RecordBatch, aborted: list[AbortedTransaction] = aborted) -> None:
            header = batch.header
            if header.partition_leader_epoch > epochs.latest:
                epochs.assign(header.partition_leader_epoch, header.base_offset)
            if header.producer_id >= 0:
                # One by one, not the segment at once: the index says what was stable when a transaction
                # ended.
                aborted += replay(producers, [batch])

        cut = segment.recover(on_batch)
        replace_aborted(folder, file_name(segment.base_offset, TXN_INDEX), aborted)
        if cut:
            steps.append(f"{segment.log.name}: {cut} bytes cut off")
            for later in segments[index + 1 :]:
                steps.append(f"{later.log.name}: removed, the log ends before it")
                _remove(later)
            return segments[: index + 1]
    return segments


def _producers_before(folder: Folder, segments: list[Segment], index: int) -> ProducerState:
    """What is known of the producers where a segment begins."""
    state = latest_snapshot(folder, 0, segments[index].base_offset)
    for place, segment in enumerate(segments[:index]):
        if segments[place + 1].base_offset > state.end_offset:
            replay_segment(segment, state, state.end_offset)
    return state


def _remove(segment: Segment) -> None:
    names = segment.files()
    segment.close()
    for name in names:
        segment.folder.remove(name)


def _base_offset(name: str) -> int:
    return int(name[:20])
