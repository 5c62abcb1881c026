"""The committed offsets of all groups of a partition, and those that open transactions hold back.

A transactional commit becomes visible with the end of its transaction, unless a plain commit of the same
partition came after it in the
log: the older record never overwrites. Source: Kafka 3.9 OffsetMetadataManager (Offsets, replay,
replayEndTransactionMarker).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from broker_core.errors import InvariantError
from broker_core.kafka.group.records import (
    NO_PRODUCER_ID,
    EndOfTransaction,
    OffsetCommitKey,
    OffsetCommitValue,
)
from broker_core.kafka.group.timeline import Timeline

Place = tuple[str, str, int]
"""(group, topic, partition)."""


class CommittedOffset(msgspec.Struct, frozen=True):
    """record_offset: where in the offsets topic it stands. expire_at_ms: None for the broker's own
    retention."""

    record_offset: int
    offset: int
    leader_epoch: int
    metadata: str
    committed_at_ms: int
    expire_at_ms: int | None

    def is_expired(self, base_ms: int, now_ms: int, retention_ms: int) -> bool:
        """Whether its time is over. base_ms: from when the broker's retention counts."""
        return (
            now_ms >= self.expire_at_ms if self.expire_at_ms is not None else now_ms - base_ms >= retention_ms
        )


@dataclass(slots=True)
class OffsetStore:
    """visible: what OffsetFetch finds. by_group: the places of each group. pending: producer id -> group ->
    place -> what it would commit.
    open_by_group: group -> producers with an open transaction that has touched it. keeps_pending: a tombstone
    leaves what transactions hold alone, as in the old coordinator."""

    visible: Timeline[Place, CommittedOffset] = field(default_factory=Timeline)
    by_group: dict[str, dict[Place, None]] = field(default_factory=dict)
    pending: dict[int, dict[str, dict[Place, CommittedOffset]]] = field(default_factory=dict)
    open_by_group: dict[str, dict[int, None]] = field(default_factory=dict)
    keeps_pending: bool = False

    def apply(
        self, key: OffsetCommitKey, value: OffsetCommitValue | None, producer_id: int, record_offset: int
    ) -> None:
        """Apply one record: a commit, a transactional one, or a tombstone, which also drops what transactions
        hold for the place."""
        place = (key.group, key.topic, key.partition)
        if value is None:
            self._remove(place)
            if self.keeps_pending:
                return
            for producer in self.open_by_group.get(key.group, ()):
                places = self.pending.get(producer, {}).get(key.group)
                if places is not None:
                    places.pop(place, None)
                    if not places:
                        del self.pending[producer][key.group]
            return
        committed = CommittedOffset(
            record_offset,
            value.offset,
            value.leader_epoch,
            value.metadata,
            value.commit_timestamp,
            value.expire_timestamp,
        )
        if producer_id == NO_PRODUCER_ID:
            self._put(place, committed)
        else:
            self.pending.setdefault(producer_id, {}).setdefault(key.group, {})[place] = committed
            self.open_by_group.setdefault(key.group, {})[producer_id] = None

    def end_transaction(self, end: EndOfTransaction) -> None:
        """A transaction is over: what it held is committed, or forgotten."""
        groups = self.pending.pop(end.producer_id, {})
        for group, places in groups.items():
            producers = self.open_by_group.get(group)
            if producers is not None:
                producers.pop(end.producer_id, None)
                if not producers:
                    del self.open_by_group[group]
            if not end.commit:
                continue
            for place, committed in places.items():
                known = self.visible.get(place)
                if known is None or committed.record_offset > known.record_offset:
                    self._put(place, committed)

    def is_pending(self, place: Place) -> bool:
        """Whether an open transaction holds a commit for this place."""
        return any(
            place in self.pending.get(producer, {}).get(place[0], ())
            for producer in self.open_by_group.get(place[0], ())
        )

    def pending_places(self, group: str) -> list[Place]:
        """The places of a group for which open transactions hold commits, transaction by transaction."""
        return [
            place
            for producer in self.open_by_group.get(group, ())
            for place in self.pending.get(producer, {}).get(group, ())
        ]

    def committed_places(self, group: str) -> list[Place]:
        """The places of a group that have an offset below the high watermark."""
        places = dict(self.by_group.get(group, {}))
        for _, before in self.visible.layers:
            places |= {place: None for place in before if place[0] == group}
        places |= {place: None for place in self.visible.open if place[0] == group}
        return [place for place in places if self.visible.committed(place) is not None]

    def forget_pending(self, place: Place) -> None:
        """Drop what open transactions would commit for a place; their producers keep the group open."""
        for producer in self.open_by_group.get(place[0], ()):
            self.pending.get(producer, {}).get(place[0], {}).pop(place, None)

    def forget_group(self, group: str) -> None:
        """Drop all that open transactions would commit for a group."""
        for producer in self.open_by_group.pop(group, {}):
            self.pending.get(producer, {}).pop(group, None)

    def seal(self, end_offset: int) -> None:
        self.visible.seal(end_offset)

    def undo(self) -> None:
        """Nothing to take back: offsets change by replay alone, after the log took the records."""
        if self.visible.open:
            raise InvariantError("an offset changed before its record was in the log")

    def commit(self, high_watermark: int) -> None:
        self.visible.commit(high_watermark)

    def _put(self, place: Place, committed: CommittedOffset) -> None:
        self.visible.put(place, committed)
        self.by_group.setdefault(place[0], {})[place] = None

    def _remove(self, place: Place) -> None:
        self.visible.remove(place)
        places = self.by_group.get(place[0])
        if places is not None:
            places.pop(place, None)
            if not places:
                del self.by_group[place[0]]
