"""OffsetFetch: how far a group has come. With require_stable it waits for earlier writes and tells which
offsets a transaction may change.

Source: Kafka 3.9 OffsetMetadataManager.fetchOffsets, fetchAllOffsets.
"""

from __future__ import annotations

from broker_core.kafka.group import old
from broker_core.kafka.group.codes import UNSTABLE_OFFSET_COMMIT
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.coordinator_result import CoordinatorResult, answered
from broker_core.kafka.group.messages import (
    FetchedPartition,
    FetchedTopicResult,
    OffsetFetchGroup,
    OffsetFetchGroupResult,
    OffsetFetchRequest,
    OffsetFetchResponse,
    RequestContext,
)  # fmt: skip
from broker_core.kafka.group.offset.store import CommittedOffset, Place
from broker_core.kafka.group.runtime import CoordinatorRuntime


def fetch_stable_offsets(
    c: CoordinatorRuntime, context: RequestContext, request: OffsetFetchRequest
) -> CoordinatorResult:
    """What is committed once all earlier writes are; a partition that an open transaction holds has a code
    instead."""
    del context
    return answered(OffsetFetchResponse([_fetch(c, asked, True) for asked in request.groups]))


def fetch_offsets(c: CoordinatorRuntime, request: OffsetFetchRequest) -> OffsetFetchResponse:
    """What the high watermark has passed."""
    return OffsetFetchResponse([_fetch(c, asked, False) for asked in request.groups])


def _fetch(c: CoordinatorRuntime, asked: OffsetFetchGroup, is_stable: bool) -> OffsetFetchGroupResult:
    groups, store = c.state.groups, c.state.offsets
    group = groups.get(asked.group_id) if is_stable else groups.committed(asked.group_id)
    if isinstance(group, ConsumerGroup):
        group.check_fetch(asked.member_id, asked.member_epoch)
    if asked.topics is None:
        if group is None:
            return OffsetFetchGroupResult(asked.group_id)
        places: list[Place] = (
            list(store.by_group.get(asked.group_id, ()))
            if is_stable
            else store.committed_places(asked.group_id)
        )
        wanted: dict[str, list[int]] = {}
        for _, topic, number in places:
            wanted.setdefault(topic, []).append(number)
        topics = list(wanted.items())
    else:
        named = old.fetched_once(asked.topics) if c.settings.is_old else asked.topics
        topics = [(topic.name, topic.partition_indexes) for topic in named]

    def committed(place: Place) -> CommittedOffset | None:
        if group is None:
            return None
        return store.visible.get(place) if is_stable else store.visible.committed(place)

    results = []
    for topic, numbers in topics:
        partitions = []
        for number in numbers:
            place = (asked.group_id, topic, number)
            found = committed(place)
            if is_stable and store.is_pending(place):
                partitions.append(FetchedPartition(number, error_code=UNSTABLE_OFFSET_COMMIT))
            elif found is None:
                partitions.append(FetchedPartition(number))
            else:
                partitions.append(FetchedPartition(number, found.offset, found.leader_epoch, found.metadata))
        results.append(FetchedTopicResult(topic, partitions))
    return OffsetFetchGroupResult(asked.group_id, results)
