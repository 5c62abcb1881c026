"""What Kafka's old coordinator does in another way: the Scala one, which serves classic groups in 3.9 unless
it is switched off.

Sixteen differences were seen between the recorded answers of both. Small ones stand where they matter, behind
`settings.is_old`; those that are steps of their own are here. It has no timeline: readers see the present. A
group that never had a generation is not written.
Source: Kafka 3.9 kafka.coordinator.group.GroupCoordinator, GroupMetadataManager, GroupMetadata. Vectors:
kafka/group/*_old_scala.json.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.rebalance import (
    answer_join,
    complete_if_all_joined,
    prepare_rebalance,
    session_name,
)
from broker_core.kafka.group.classic.states import EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import NONE, UNKNOWN_MEMBER_ID, Refused
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import (
    CommittedPartition,
    CommittedTopic,
    FetchedTopic,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from broker_core.kafka.group.offset.store import CommittedOffset, Place
from broker_core.kafka.group.records import GroupMetadataKey, LogRecord, OffsetCommitKey, Record
from broker_core.kafka.group.runtime import CoordinatorRuntime


def leave_group(c: CoordinatorRuntime, request: LeaveGroupRequest, group: ClassicGroup) -> CoordinatorResult:
    """Take members out one after the other: the group goes on after each, so that a later one may still get
    an answer before it goes."""
    written = CoordinatorResult(replay=False)
    responses = []
    for leaving in request.members:
        code = _leave(c, group, leaving, written.records)
        responses.append(MemberResponse(leaving.member_id, leaving.group_instance_id, code))
    written.response = LeaveGroupResponse(members=responses)
    return written


def after_member(c: CoordinatorRuntime, group: ClassicGroup, rule: str) -> CoordinatorResult:
    """A member is gone. The initial delay runs to its end in any case."""
    if group.state == PREPARING:
        return complete_if_all_joined(c, group)
    return CoordinatorResult() if group.state == EMPTY else prepare_rebalance(c, group, rule)


def delete_offsets(c: CoordinatorRuntime, group: ClassicGroup, deleted: Iterable[Place]) -> list[LogRecord]:
    """Delete offsets because somebody wants it so: what transactions hold for these places goes too, without
    a tombstone."""
    places = list(deleted)
    for place in places:
        c.state.offsets.forget_pending(place)
    return cleanup(c, group, places)


def cleanup(c: CoordinatorRuntime, group: ClassicGroup, removed: Iterable[Place]) -> list[LogRecord]:
    """Remove offsets, and with the last of them an Empty group."""
    store = c.state.offsets
    gone = list(removed)
    records: list[LogRecord] = [
        Record(OffsetCommitKey(*place), None) for place in gone if store.visible.get(place) is not None
    ]
    left = store.by_group.get(group.group_id, {}).keys() - set(gone)
    if group.state == EMPTY and not left and group.group_id not in store.open_by_group:
        c.state.groups.remove(group.group_id)
        if group.generation > 0:
            records.append(Record(GroupMetadataKey(group.group_id), None))
    return records


def delete_group(c: CoordinatorRuntime, group: ClassicGroup) -> list[LogRecord]:
    """Delete an Empty group with all its offsets; those that transactions hold are forgotten with it."""
    c.state.offsets.forget_group(group.group_id)
    return cleanup(c, group, c.state.offsets.by_group.get(group.group_id, {}))


def expired_places(c: CoordinatorRuntime, group: ClassicGroup) -> list[Place]:
    """The offsets whose time is over; open transactions do not hold them."""
    since_ms = group.state_since_ms if group.protocol_type is not None and group.state == EMPTY else None
    is_read_from = group.subscribed_topics is not None and group.state == STABLE
    if group.protocol_type is not None and group.state != EMPTY and not is_read_from:
        return []

    def is_expired(place: Place, committed: CommittedOffset) -> bool:
        if is_read_from and group.is_subscribed(place[1]):
            return False
        base_ms = committed.committed_at_ms if since_ms is None else since_ms
        return committed.is_expired(base_ms, c.now_ms, c.settings.offsets_retention_ms)

    visible = c.state.offsets.visible.present
    return [
        place
        for place in c.state.offsets.by_group.get(group.group_id, {})
        if is_expired(place, visible[place])
    ]


def settle_loaded_groups(c: CoordinatorRuntime) -> None:
    """After loading: a group is what the log has of it: itself, offsets, or what open transactions hold;
    without any it is not there."""
    store = c.state.offsets
    for group_id in [*store.by_group, *store.open_by_group]:
        if c.state.groups.get(group_id) is None:
            c.classic_group(group_id, makes=True)
    for group_id, group in list(c.state.groups.present.items()):
        is_written = isinstance(group, ClassicGroup) and group.generation > 0
        if not is_written and group_id not in store.by_group and group_id not in store.open_by_group:
            c.state.groups.remove(group_id)


def committed_once(topics: Iterable[CommittedTopic]) -> list[CommittedTopic]:
    """The commits of a request as a map: of a partition that is named twice the last one counts."""
    places: dict[str, dict[int, CommittedPartition]] = {}
    for topic in topics:
        numbers = places.setdefault(topic.name, {})
        for partition in topic.partitions:
            numbers[partition.partition_index] = partition
    return [CommittedTopic(name, list(numbers.values())) for name, numbers in places.items() if numbers]


def fetched_once(topics: Iterable[FetchedTopic]) -> list[FetchedTopic]:
    """The partitions of a fetch, each once."""
    places: dict[str, dict[int, None]] = {}
    for topic in topics:
        places.setdefault(topic.name, {}).update(dict.fromkeys(topic.partition_indexes))
    return [FetchedTopic(name, list(numbers)) for name, numbers in places.items() if numbers]


def _leave(
    c: CoordinatorRuntime, group: ClassicGroup, leaving: MemberIdentity, records: list[LogRecord]
) -> int:
    """Take one member out. Returns its code."""
    member_id, instance_id = leaving.member_id, leaving.group_instance_id
    if not member_id:
        known = None if instance_id is None else group.static_members.get(instance_id)
        if known is None:
            return UNKNOWN_MEMBER_ID
        member_id = known
    elif member_id in group.pending_joins:
        group.drop(member_id)
        # The id is only forgotten: a group that is not preparing a rebalance begins none.
        records += complete_if_all_joined(c, group).records
        return NONE
    else:
        try:
            group.check_member(member_id, instance_id)
        except Refused as refused:
            return refused.code
    answer_join(c, group, group.members[member_id], JoinGroupResponse("", UNKNOWN_MEMBER_ID))
    group.drop(member_id)
    c.tell("kafka.group.member_left", None, {}, {"member_id": member_id}, group=group.group_id)
    records += after_member(c, group, "kafka.group.leave").records
    c.cancel(session_name(group.group_id, member_id))
    return NONE
