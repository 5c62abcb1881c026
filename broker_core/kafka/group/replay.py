"""Applying records of the offsets topic to the state: the same for a write that was just taken and for a log that is loaded.

Source: Kafka 3.9 GroupCoordinatorShard.replay, GroupMetadataManager.replay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from broker_core.errors import InvariantError
from broker_core.kafka.group import records as r
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.java_sets import copied_numbers, in_topic_order
from broker_core.kafka.group.consumer.member import LEAVE_EPOCH, ConsumerMember

if TYPE_CHECKING:
    from broker_core.kafka.group.group_coordinator import GroupCoordinator


def apply(c: GroupCoordinator, record: r.Record, offset: int) -> None:
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
            c.state.groups.put(key.group, ClassicGroup.from_value(key.group, cast("r.GroupMetadataValue", value), c.settings.is_old))
    else:
        _apply_to_consumer_group(c, key, value)


def _apply_to_consumer_group(c: GroupCoordinator, key: r.Key, value: r.Value | None) -> None:
    match key:
        case r.ConsumerGroupMemberMetadataKey(group_id, member_id):
            if value is None:
                _own(c, group_id, makes=False).drop_member(member_id)
            else:
                group = _own(c, group_id, makes=True)
                known = group.members.get(member_id, ConsumerMember(member_id))
                group.put_member(known.with_subscription(cast("r.ConsumerGroupMemberMetadataValue", value)))
        case r.ConsumerGroupMetadataKey(group_id):
            if value is None:
                c.state.groups.remove(group_id)
            else:
                _own(c, group_id, makes=True).epoch = cast("r.ConsumerGroupMetadataValue", value).epoch
        case r.ConsumerGroupPartitionMetadataKey(group_id):
            topics = [] if value is None else cast("r.ConsumerGroupPartitionMetadataValue", value).topics
            _own(c, group_id, makes=False).topics = {topic.topic_name: topic for topic in topics}
        case r.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id):
            group = _own(c, group_id, makes=False)
            if value is None:
                group.drop_target(member_id)
            else:
                target = cast("r.ConsumerGroupTargetAssignmentMemberValue", value)
                numbers = {topic.topic_id: tuple(copied_numbers(topic.partitions).in_order()) for topic in target.topic_partitions}
                group.put_target(member_id, {topic_id: numbers[topic_id] for topic_id in in_topic_order(numbers)})
        case r.ConsumerGroupTargetAssignmentMetadataKey(group_id):
            epoch = -1 if value is None else cast("r.ConsumerGroupTargetAssignmentMetadataValue", value).assignment_epoch
            _own(c, group_id, makes=False).assignment_epoch = epoch
        case r.ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id):
            group = _own(c, group_id, makes=False)
            known = group.member(member_id)
            if value is None:
                # It has left: it holds nothing. The record that removes it follows.
                left = known.with_(epoch=LEAVE_EPOCH, previous_epoch=LEAVE_EPOCH, assigned={}, revoking={})
                group.put_member(left)
            else:
                group.put_member(known.with_assignment(cast("r.ConsumerGroupCurrentMemberAssignmentValue", value)))


def _own(c: GroupCoordinator, group_id: str, makes: bool) -> ConsumerGroup:
    """The group, to be changed: readers of the past keep a copy of how it was."""
    groups = c.state.groups
    group = groups.get(group_id)
    if group is None:
        if not makes:
            raise InvariantError(f"a record of the missing consumer group {group_id}")
        group = ConsumerGroup(group_id)
        groups.put(group_id, group)
    if not isinstance(group, ConsumerGroup):
        raise InvariantError(f"a record of the consumer protocol for the classic group {group_id}")
    if group_id not in groups.open:
        groups.open[group_id] = group.copy()
    return group
