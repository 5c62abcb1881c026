"""What the master tells a client about its topics: every configured partition, and whether it can be
subscribed now.

One entry per topic, "topic#brokerId:stores:partitionsPerStore:status,..."; status 1 is subscribable. The
entries name what is *configured*, so a broker that goes offline turns its status to 0 but leaves the set, and
with it everyone's share, as it was.
Source: TubeMQ (InLong a6c7a6a670) client metadata cache. Vectors: tubemq/meta_expand.json.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from broker_core.errors import CommandError
from broker_core.hashing.java_hash import java_sorted
from broker_core.tubemq.partition_key import PartitionKey, partition_ids

UNDEFINED = -2
"""TubeMQ's "not set" for ids, counts and offsets (META_VALUE_UNDEFINED)."""


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """What a client knows. meta_id: the master's number for this content, below 0 before the first answer.
    topic_meta, broker_ids: that answer; what it spells out is in no checkpoint, and in memory once for all
    clients that have the same."""

    meta_id: int = UNDEFINED
    topic_meta: tuple[str, ...] = ()
    broker_ids: tuple[int, ...] = ()

    @property
    def status(self) -> dict[str, bool]:
        """Partition key -> subscribable, in key order (UTF-16 units); not to be changed."""
        return _expanded(self.topic_meta, self.broker_ids)

    def updated(
        self, meta_id: int, topic_meta: Collection[str], broker_ids: Collection[int]
    ) -> PartitionMetadata:
        """What the client knows after an answer of the master; itself when the answer is ignored.

        Ignored are an id below 0 (nothing new), the id it has already, and an empty list. So a topic set that
        became empty never clears what a client knows: a trait of the original, kept. Raises CommandError for
        an entry of another form.
        """
        if meta_id < 0 or meta_id == self.meta_id or not topic_meta:
            return self
        known = PartitionMetadata(meta_id, tuple(topic_meta), tuple(broker_ids))
        _expanded(known.topic_meta, known.broker_ids)
        return known


@lru_cache(maxsize=64)
def _expanded(topic_meta: tuple[str, ...], broker_ids: tuple[int, ...]) -> dict[str, bool]:
    return expand_topic_meta(topic_meta, broker_ids)


def expand_topic_meta(topic_meta: Iterable[str], broker_ids: Collection[int]) -> dict[str, bool]:
    """Spell out the master's entries.

    topic_meta: one "topic#brokerId:stores:partitionsPerStore:status,..." per topic; blank ones are passed
    over.
    broker_ids: the brokers that the client knows; others are passed over.
    Returns partition key -> subscribable, in key order. Raises CommandError for an entry of another form.

    >>> expand_topic_meta(["orders#1:2:1:1,2:1:1:0,9:1:1:1"], [1, 2])
    {'1:orders:0': True, '1:orders:10000': True, '2:orders:0': False}
    """
    status: dict[str, bool] = {}
    for entry in topic_meta:
        if not entry.strip():
            continue
        topic, mark, placements = entry.partition("#")
        if not mark or not topic.strip():
            raise CommandError("topic_meta", f"{entry!r} names no topic")
        for placement in placements.split(","):
            try:
                broker_id, stores, per_store, subscribable = (int(number) for number in placement.split(":"))
            except ValueError:
                raise CommandError(
                    "topic_meta", f"{placement!r} is not brokerId:stores:partitions:status"
                ) from None
            if broker_id in broker_ids:
                for partition_id in partition_ids(stores, per_store):
                    status[str(PartitionKey(broker_id, topic, partition_id))] = subscribable == 1
    return {key: status[key] for key in java_sorted(status)}
