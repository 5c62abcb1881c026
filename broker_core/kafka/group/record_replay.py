"""Applying records of the offsets topic to the state: the same for a write that was just taken and for a log
that is loaded.

A log that is loaded may be compacted. Then a record can come before the one that its group or member began
with, as that was written again later; and a tombstone can be of what is gone. So a value makes what is
missing, and a tombstone of nothing changes nothing. 3.9 refuses the first and cannot load such a partition,
which KAFKA-19862 mends.

Source: Kafka 3.9 GroupCoordinatorShard.replay, GroupMetadataManager.replay; for compacted logs as KAFKA-19862
has it.
"""

from __future__ import annotations

from typing import cast

from broker_core.errors import InvariantError
from broker_core.kafka.group import records as r
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.java_sets import copied_numbers, in_topic_order
from broker_core.kafka.group.consumer.member import LEAVE_EPOCH, ConsumerMember
from broker_core.kafka.group.runtime import CoordinatorRuntime


def apply(c: CoordinatorRuntime, record: r.Record, offset: int) -> None:
    """Apply one record. offset: of the record in the log; it decides between commits of one partition."""
    key, value = record.key, record.value
    if isinstance(key, r.OffsetCommitKey):
        if value is not None and c.state.groups.get(key.group) is None:
            c.classic_group(key.group, makes=True)
        c.state.offsets.apply(key, cast("r.OffsetCommitValue | None", value), record.producer_id, offset)
    elif isinstance(key, r.GroupMetadataKey):
        if value is None:
            c.state.groups.remove(key.group)
        else:
            c.state.groups.put(
                key.group,
                ClassicGroup.from_value(key.group, cast("r.GroupMetadataValue", value), c.settings.is_old),
            )
    else:
        _apply_to_consumer_group(c, key, value)


def _apply_to_consumer_group(c: CoordinatorRuntime, key: r.Key, value: r.Value | None) -> None:
    if isinstance(key, r.ConsumerGroupMetadataKey):
        if value is not None:
            _own(c, key.group_id).epoch = cast("r.ConsumerGroupMetadataValue", value).epoch
        elif isinstance(c.state.groups.get(key.group_id), ConsumerGroup):
            c.state.groups.remove(key.group_id)
        return
    assert not isinstance(key, r.OffsetCommitKey | r.GroupMetadataKey)
    if value is None and not isinstance(c.state.groups.get(key.group_id), ConsumerGroup):
        return
    group = _own(c, key.group_id)
    match key:
        case r.ConsumerGroupMemberMetadataKey(_, member_id):
            if value is not None:
                known = group.members.get(member_id, ConsumerMember(member_id))
                group.put_member(known.with_subscription(cast("r.ConsumerGroupMemberMetadataValue", value)))
            elif member_id in group.members:
                group.drop_member(member_id)
        case r.ConsumerGroupPartitionMetadataKey():
            topics = [] if value is None else cast("r.ConsumerGroupPartitionMetadataValue", value).topics
            group.topics = {topic.topic_name: topic for topic in topics}
        case r.ConsumerGroupTargetAssignmentMemberKey(_, member_id):
            if value is None:
                group.drop_target(member_id)
            else:
                target = cast("r.ConsumerGroupTargetAssignmentMemberValue", value)
                numbers = {
                    topic.topic_id: tuple(copied_numbers(topic.partitions).in_order())
                    for topic in target.topic_partitions
                }
                group.put_target(
                    member_id, {topic_id: numbers[topic_id] for topic_id in in_topic_order(numbers)}
                )
        case r.ConsumerGroupTargetAssignmentMetadataKey():
            group.assignment_epoch = (
                -1
                if value is None
                else cast("r.ConsumerGroupTargetAssignmentMetadataValue", value).assignment_epoch
            )
        case r.ConsumerGroupCurrentMemberAssignmentKey(_, member_id):
            if value is not None:
                known = group.members.get(member_id, ConsumerMember(member_id))
                group.put_member(
                    known.with_assignment(cast("r.ConsumerGroupCurrentMemberAssignmentValue", value))
                )
            elif member_id in group.members:
                # It has left: it holds nothing. The record that removes it follows.
                left = group.members[member_id].with_(
                    epoch=LEAVE_EPOCH, previous_epoch=LEAVE_EPOCH, assigned={}, revoking={}
                )
                group.put_member(left)


def _own(c: CoordinatorRuntime, group_id: str) -> ConsumerGroup:
    """The group, made if it is missing, to be changed: readers of the past keep a copy of how it was."""
    groups = c.state.groups
    group = groups.get(group_id)
    # One that was made for a commit has no records of its own: what it is its first record says.
    if group is None or (isinstance(group, ClassicGroup) and group.protocol_type is None):
        group = ConsumerGroup(group_id)
        groups.put(group_id, group)
    if not isinstance(group, ConsumerGroup):
        raise InvariantError(f"a record of the consumer protocol for the classic group {group_id}")
    if group_id not in groups.open:
        groups.open[group_id] = group.copy()
    return group
