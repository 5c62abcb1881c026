"""Expiry: at every look, offsets whose time is over go, and with the last of them an Empty group.

From when the retention counts depends on the group: Empty since it became Empty; consumers that are Stable
for topics that nobody reads any more, since the commit; without a protocol type since the commit; in any
other state nothing expires.
Source: Kafka 3.9 GroupCoordinatorShard.cleanupGroupMetadata, OffsetMetadataManager.cleanupExpiredOffsets,
ClassicGroup.offsetExpirationCondition.
"""

from __future__ import annotations

from collections.abc import Callable

from broker_core.kafka.group import old
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.states import EMPTY, STABLE
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.offset.delete import tombstone
from broker_core.kafka.group.offset.store import CommittedOffset
from broker_core.kafka.group.records import GroupMetadataKey, LogRecord, Record
from broker_core.kafka.group.runtime import CoordinatorRuntime

EXPIRY_TIMER = "expire-group-metadata"


def schedule_expiry(c: CoordinatorRuntime) -> None:
    """Look again one interval from now."""
    c.schedule(
        EXPIRY_TIMER, c.settings.offsets_retention_check_interval_ms, c.timer("expire_offsets", retries=True)
    )


def expire_offsets(c: CoordinatorRuntime) -> CoordinatorResult:
    """Look at every group once."""
    records: list[LogRecord] = []
    for group in list(c.state.groups.present.values()):
        if c.settings.is_old and isinstance(group, ClassicGroup):
            records += old.cleanup(c, group, old.expired_places(c, group))
            continue
        if _expire(c, group, records) and group.is_empty:
            records += tombstones_of(group)
    schedule_expiry(c)
    return CoordinatorResult(records)


def tombstones_of(group: ClassicGroup | ConsumerGroup) -> list[LogRecord]:
    """What deletes a group in the log."""
    if isinstance(group, ConsumerGroup):
        return group.tombstones()
    return [Record(GroupMetadataKey(group.group_id), None)]


def _expire(c: CoordinatorRuntime, group: ClassicGroup | ConsumerGroup, records: list[LogRecord]) -> bool:
    """Add the tombstones of a group's expired offsets. Returns whether it has no offset left."""
    store = c.state.offsets
    places = store.by_group.get(group.group_id)
    if not places:
        # The original returns here too, so that a group with nothing but open transactions is removed.
        return True
    base_of = _expiry_base(group)
    if base_of is None:
        return False
    are_all_gone = True
    for place in places:
        committed = store.visible.present[place]
        is_kept = group.is_subscribed(place[1]) or store.is_pending(place)
        if is_kept or not committed.is_expired(base_of(committed), c.now_ms, c.settings.offsets_retention_ms):
            are_all_gone = False
        else:
            records.append(tombstone(place))
    return are_all_gone and group.group_id not in store.open_by_group


def _expiry_base(group: ClassicGroup | ConsumerGroup) -> Callable[[CommittedOffset], int] | None:
    """From when the retention of the group's offsets counts; None: nothing expires now."""
    if isinstance(group, ConsumerGroup) or group.protocol_type is None:
        return _commit_time
    if group.state == EMPTY:
        since_ms = group.state_since_ms
        return _commit_time if since_ms is None else lambda _: since_ms
    if group.subscribed_topics is not None and group.state == STABLE:
        return _commit_time
    return None


def _commit_time(committed: CommittedOffset) -> int:
    return committed.committed_at_ms
