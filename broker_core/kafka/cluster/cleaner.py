"""A broker's log cleaner: every 15 s, with the round of its checkpoints, the dirtiest compacted log, and the
next one, until none is due.

Each broker cleans its own logs, so the replicas of a partition may be compacted at different moments, and a
follower that is new gets what its leader has left. How far each log is cleaned stands in
`cleaner-offset-checkpoint`; what is cut off moves it back, and a log that is deleted has no row.

Source: Kafka 3.9 core LogCleaner (cleanFilthiestLog, log.cleaner.backoff.ms), LogCleanerManager; LogManager
(truncateTo, asyncDelete).
"""

from __future__ import annotations

from broker_core.kafka.cluster.names import INTERNAL_TOPICS
from broker_core.kafka.cluster.state import BrokerDisk, BrokerState, TopicPartition
from broker_core.kafka.log.checkpoints import CLEANER, read_offsets, write_offsets
from broker_core.kafka.log.compaction import Cleaned, LogToClean, log_to_clean
from broker_core.kafka.replication.light_cleaner import clean_light
from broker_core.kafka.replication.record_contents import STORED, RecordContents


def clean_if_due(state: BrokerState, now_us: int, contents: RecordContents = STORED) -> bool:
    """Look whether a log is due, if it is time to look. Tells whether it was. contents: of the records of
    people's topics."""
    if now_us < state.clean_at_us:
        return False
    state.clean_at_us = now_us + state.settings.log_cleaner_backoff_ms * 1_000
    clean_all(state.disk, state.now_ms(now_us), contents)
    return True


def clean_all(
    disk: BrokerDisk, now_ms: int, contents: RecordContents = STORED
) -> dict[TopicPartition, Cleaned]:
    """Run rounds until no log is due; gives the last round of each log that had one."""
    rounds: dict[TopicPartition, Cleaned] = {}
    cleaned_up_to = read_offsets(disk.folder, CLEANER)
    while (found := _dirtiest(disk, cleaned_up_to, now_ms)) is not None:
        key, todo = found
        own = STORED if key[0] in INTERNAL_TOPICS else contents
        rounds[key] = clean_light(disk.logs[key], todo, now_ms, own)
        cleaned_up_to[key] = rounds[key].end_offset
    if rounds:
        write_offsets(disk.folder, CLEANER, cleaned_up_to)
    return rounds


def was_cut(disk: BrokerDisk, key: TopicPartition) -> None:
    """A log was truncated: from its active segment on it has to be cleaned, whatever was clean before."""
    _move_back(disk, key, disk.logs[key].active.base_offset)


def was_deleted(disk: BrokerDisk, key: TopicPartition) -> None:
    """A log is no more: another one of that partition begins unclean."""
    _move_back(disk, key, None)


def _dirtiest(
    disk: BrokerDisk, cleaned_up_to: dict[TopicPartition, int], now_ms: int
) -> tuple[TopicPartition, LogToClean] | None:
    best: tuple[TopicPartition, LogToClean] | None = None
    for key, log in disk.logs.items():
        if log.settings.cleanup_compact and len(log.segments) > 1:
            todo = log_to_clean(log, cleaned_up_to.get(key), now_ms)
            if todo.is_due(log.settings.min_cleanable_dirty_ratio_percent) and (
                best is None or todo.dirty_per_million > best[1].dirty_per_million
            ):
                best = key, todo
    return best


def _move_back(disk: BrokerDisk, key: TopicPartition, offset: int | None) -> None:
    """offset: up to which the log is clean at the most; None: there is none."""
    cleaned_up_to = read_offsets(disk.folder, CLEANER)
    if key not in cleaned_up_to or (offset is not None and cleaned_up_to[key] <= offset):
        return
    if offset is None:
        del cleaned_up_to[key]
    else:
        cleaned_up_to[key] = offset
    write_offsets(disk.folder, CLEANER, cleaned_up_to)
