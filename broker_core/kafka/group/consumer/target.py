"""The target assignment: when members or topics change, the group's epoch rises and an assignor shares all
partitions again.

What changed is written: the members' parts that differ, then the epoch of the target. The assignor is the one
that most members ask for, else the first of `group.consumer.assignors`. Source: Kafka 3.9
TargetAssignmentBuilder, GroupMetadataManager.consumerGroupHeartbeat.
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.hashing.java_map import java_order
from broker_core.kafka.group.consumer.assignor import Assignor, GroupSpec, MemberSpec, Target
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.member import UNREVOKED_PARTITIONS, ConsumerMember
from broker_core.kafka.group.consumer.range import assign_range
from broker_core.kafka.group.consumer.reconcile import Owned, reconciled
from broker_core.kafka.group.consumer.sessions import cancel_rebalance_timeout, start_rebalance_timeout
from broker_core.kafka.group.consumer.uniform import assign_uniform
from broker_core.kafka.group.messages import TopicPartitions
from broker_core.kafka.group.records import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    LogRecord,
    Record,
    StoredTopic,
)  # fmt: skip
from broker_core.kafka.group.runtime import CoordinatorRuntime
from broker_core.kafka.group.topics import TopicsImage

REFRESH_INTERVAL_MS = 2**31 - 1

ASSIGNORS: Mapping[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}


def take_up(
    c: CoordinatorRuntime,
    group: ConsumerGroup,
    old: ConsumerMember,
    new: ConsumerMember,
    owned: Owned,
    records: list[LogRecord],
) -> ConsumerMember:
    """A member says what it asks for and what it holds: write what follows from it. Returns what the member
    has become.

    old: as the group knows it, or an empty one; new: as it describes itself now. Records are added in the
    order of the original.
    """
    group_id = group.group_id
    bumps = False
    if new != old:
        records.append(new.subscription_record(group_id))
        bumps = new.subscribed != old.subscribed or new.regex != old.regex
    epoch, topics, counts = group.epoch, group.topics, group.subscriber_counts
    count = len(group.members)
    if bumps or group.needs_refresh(c.now_ms):
        counts = group.subscribers_with([old], new)
        topics = group.topics_for(counts, c.topics)
        if new.member_id not in group.members and new.instance_id not in group.static_members:
            count += 1
        if topics != group.topics:
            bumps = True
            records.append(topics_record(group_id, topics))
        if bumps:
            epoch += 1
            records.append(epoch_record(group_id, epoch))
            c.tell(
                "kafka.group.epoch_bumped", None, {"members": count}, {"epoch": epoch}, group=group.group_id
            )
        group.refresh_at_ms, group.refresh_epoch = c.now_ms + REFRESH_INTERVAL_MS, epoch
    if epoch > group.assignment_epoch:
        is_equal = all(readers == count for readers in counts.values())
        target = _assign(c, group, epoch, old, new, topics, is_equal, records)
        target_epoch = epoch
    else:
        target, target_epoch = group.target_of(new.member_id, new.instance_id), group.assignment_epoch
    if new.is_reconciled_to(target_epoch):
        return new
    next_member = reconciled(new, target, target_epoch, group.owner_epochs, owned)
    if next_member != new:
        records.append(next_member.assignment_record(group_id))
        if next_member.classic is None:
            if next_member.state == UNREVOKED_PARTITIONS:
                start_rebalance_timeout(c, group_id, next_member)
            else:
                cancel_rebalance_timeout(c, group_id, next_member.member_id)
    return next_member


def epoch_record(group_id: str, epoch: int) -> Record:
    return Record(ConsumerGroupMetadataKey(group_id), ConsumerGroupMetadataValue(epoch))


def topics_record(group_id: str, topics: Mapping[str, StoredTopic]) -> Record:
    """What the group knows of its topics, by which it notices that they change."""
    return Record(
        ConsumerGroupPartitionMetadataKey(group_id),
        ConsumerGroupPartitionMetadataValue(list(topics.values())),
    )


def target_record(group_id: str, member_id: str, target: Target) -> Record:
    partitions = [TopicPartitions(topic_id, list(numbers)) for topic_id, numbers in target.items()]
    return Record(
        ConsumerGroupTargetAssignmentMemberKey(group_id, member_id),
        ConsumerGroupTargetAssignmentMemberValue(partitions),
    )


def target_epoch_record(group_id: str, epoch: int) -> Record:
    return Record(
        ConsumerGroupTargetAssignmentMetadataKey(group_id), ConsumerGroupTargetAssignmentMetadataValue(epoch)
    )


def _assign(
    c: CoordinatorRuntime,
    group: ConsumerGroup,
    epoch: int,
    old: ConsumerMember,
    new: ConsumerMember,
    topics: Mapping[str, StoredTopic],
    is_equal: bool,
    records: list[LogRecord],
) -> Target:
    """Share all partitions. Returns what the member gets."""
    name = group.preferred_assignor_with(old, new) or c.settings.consumer_assignors[0]
    specs = {
        member.member_id: _spec(member, group.target.get(member.member_id, {}), c.topics)
        for member in group.in_order()
    }
    replaced = None if new.instance_id is None else group.static_members.get(new.instance_id)
    if replaced is not None and replaced != new.member_id:
        specs.pop(replaced, None)
        current = group.target.get(replaced, {})
    else:
        current = group.target.get(new.member_id, {})
    specs[new.member_id] = _spec(new, current, c.topics)
    order = java_order(specs, len(group.members))
    counts = {topic.topic_id: topic.num_partitions for topic in topics.values()}
    given = ASSIGNORS[name](
        GroupSpec({member_id: specs[member_id] for member_id in order}, is_equal, group.targeted, counts)
    )
    moved = 0
    for member_id in order:
        target = given.get(member_id, {})
        known = group.target.get(member_id)
        if known is None or not _are_same(known, target):
            moved += 1
            records.append(target_record(group.group_id, member_id, target))
    records.append(target_epoch_record(group.group_id, epoch))
    c.tell(
        "kafka.group.target_assigned",
        f"kafka.assignor.{name}",
        {"members": len(order)},
        {"epoch": epoch, "changed": moved},
        group=group.group_id,
    )
    return given.get(new.member_id, {})


def _are_same(one: Target, other: Target) -> bool:
    return one.keys() == other.keys() and all(
        set(numbers) == set(other[topic_id]) for topic_id, numbers in one.items()
    )


def _spec(member: ConsumerMember, target: Target, image: TopicsImage) -> MemberSpec:
    topic_ids = tuple(
        image.by_name[name].topic_id
        for name in java_order(sorted(member.subscribed))
        if name in image.by_name
    )
    return MemberSpec(member.instance_id, topic_ids, target)
