"""Online migration: a classic group becomes one of the consumer protocol with its first such member, and back
with its last.

What a policy (`group.consumer.migration.policy`) allows. Upgraded members keep their assignment and go on
with the classic requests; those whose requests were parked join again. Source: Kafka 3.9
GroupMetadataManager.convertToConsumerGroup, convertToClassicGroup.
"""

from __future__ import annotations

from typing import Any

from broker_core.kafka.assignors.byte_fields import MalformedBytes
from broker_core.kafka.assignors.subscription_bytes import (
    SchemaError,
    read_assignment,
    read_subscription,
    read_version,
    write_assignment,
)
from broker_core.kafka.group.classic.group import ClassicGroup, ClassicMember
from broker_core.kafka.group.classic.rebalance import (
    answer_join,
    answer_sync,
    prepare_rebalance,
    restart_session,
)
from broker_core.kafka.group.classic.states import STABLE
from broker_core.kafka.group.codes import (
    GROUP_ID_NOT_FOUND,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_SERVER_ERROR,
    Refused,
)
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.member import STABLE as RECONCILED
from broker_core.kafka.group.consumer.member import ConsumerMember
from broker_core.kafka.group.consumer.sessions import start_session
from broker_core.kafka.group.consumer.target import epoch_record, target_epoch_record, target_record
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import JoinGroupResponse, Protocol, SyncGroupResponse
from broker_core.kafka.group.records import (
    ClassicMemberMetadata,
    GroupMetadataKey,
    LogRecord,
    Record,
    SupportedProtocol,
)
from broker_core.kafka.group.runtime import CoordinatorRuntime
from broker_core.kafka.group.topics import TopicsImage


def can_upgrade(c: CoordinatorRuntime, group: ClassicGroup) -> bool:
    """Whether a classic group with members may become one of the consumer protocol."""
    return (
        c.settings.can_upgrade
        and group.uses_consumer_protocol
        and len(group.members) <= c.settings.consumer_max_size
    )


def upgrade(c: CoordinatorRuntime, group: ClassicGroup) -> tuple[ConsumerGroup, list[LogRecord]]:
    """The group as one of the consumer protocol, with the records that make it so. Refuses subscriptions that
    cannot be read."""
    for member in group.in_order():
        answer_join(c, group, member, JoinGroupResponse(member.member_id, REBALANCE_IN_PROGRESS))
    for member in group.in_order():
        answer_sync(c, member, SyncGroupResponse(REBALANCE_IN_PROGRESS))
    converted = ConsumerGroup(group.group_id, epoch=group.generation, assignment_epoch=group.generation)
    try:
        for member in group.in_order():
            consumer = _as_consumer_member(group, member, c.topics)
            converted.put_target(
                consumer.member_id,
                {topic_id: tuple(sorted(numbers)) for topic_id, numbers in consumer.assigned.items()},
            )
            converted.put_member(consumer)
    except SchemaError:
        raise Refused(GROUP_ID_NOT_FOUND) from None
    except MalformedBytes:
        raise Refused(UNKNOWN_SERVER_ERROR) from None
    members = converted.in_order()
    group_id = group.group_id
    records: list[LogRecord] = [
        Record(GroupMetadataKey(group_id), None),
        *(member.subscription_record(group_id) for member in members),
        epoch_record(group_id, converted.epoch),
        *(
            target_record(group_id, member.member_id, converted.target[member.member_id])
            for member in members
        ),
        target_epoch_record(group_id, converted.epoch),
        *(member.assignment_record(group_id) for member in members),
    ]
    for stayed in group.in_order():
        start_session(c, group_id, stayed.member_id, stayed.session_timeout_ms)
    c.tell(
        "kafka.group.upgraded",
        None,
        {"members": len(members)},
        {"epoch": converted.epoch},
        group=group.group_id,
    )
    return converted, records


def can_downgrade(c: CoordinatorRuntime, group: ConsumerGroup, leaving: str) -> bool:
    """Whether the group becomes a classic one when this member goes: all others speak the classic protocol,
    and there are some."""
    remaining = len(group.members) - 1
    return (
        group.are_others_classic(leaving)
        and 0 < remaining <= c.settings.max_size
        and c.settings.can_downgrade
    )


def downgrade(c: CoordinatorRuntime, group: ConsumerGroup, leaving: str, response: Any) -> CoordinatorResult:
    """Make the group a classic one of those who stay; it rebalances at once."""
    records = group.tombstones()
    try:
        classic = _as_classic_group(group, leaving, c)
    except SchemaError:
        raise Refused(GROUP_ID_NOT_FOUND) from None
    except MalformedBytes:
        raise Refused(UNKNOWN_SERVER_ERROR) from None
    records.append(classic.to_record())
    c.state.groups.put(group.group_id, classic)
    for member in classic.in_order():
        restart_session(c, classic, member)
    prepare_rebalance(c, classic, "kafka.group.downgraded")
    return CoordinatorResult(records, response, replay=False)


def _as_consumer_member(group: ClassicGroup, member: ClassicMember, image: TopicsImage) -> ConsumerMember:
    assigned: dict[str, set[int]] = {}
    for topic, number in read_assignment(member.assignment).partitions:
        if topic in image.by_name:
            assigned.setdefault(image.by_name[topic].topic_id, set()).add(number)
    if group.protocol is None:
        raise MalformedBytes("a group that has not chosen a protocol")
    subscription = read_subscription(member.metadata(group.protocol))
    offered = [SupportedProtocol(protocol.name, protocol.metadata) for protocol in member.protocols]
    return ConsumerMember(
        member.member_id,
        group.generation,
        group.generation,
        RECONCILED,
        member.instance_id,
        subscription.rack,
        member.rebalance_timeout_ms,
        member.client_id,
        member.client_host,
        frozenset(subscription.topics),
        assigned={topic_id: frozenset(numbers) for topic_id, numbers in assigned.items()},
        classic=ClassicMemberMetadata(member.session_timeout_ms, offered),
    )


def _as_classic_group(group: ConsumerGroup, leaving: str, c: CoordinatorRuntime) -> ClassicGroup:
    classic = ClassicGroup(
        group.group_id,
        STABLE,
        state_since_ms=c.now_ms,
        generation=group.epoch,
        protocol_type=group.protocol_type,
    )
    for member in group.in_order():
        if member.member_id == leaving or member.classic is None:
            continue
        offered = [
            Protocol(protocol.name, protocol.metadata) for protocol in member.classic.supported_protocols
        ]
        classic.add(
            ClassicMember(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.rebalance_timeout_ms,
                member.classic.session_timeout_ms,
                group.protocol_type,
                offered,
            ),
            None,
        )
    classic.protocol = classic.select_protocol()
    classic.subscribed_topics = classic.read_subscribed_topics()
    for stayed in classic.members.values():
        version = read_version(stayed.metadata(classic.protocol))
        stayed.assignment = write_assignment(
            named_partitions(group.target_of(stayed.member_id), c.topics), version=version
        )
    return classic


def named_partitions(partitions: Any, image: TopicsImage) -> list[tuple[str, int]]:
    """Partitions by topic name; those of deleted topics are left out."""
    return [
        (image.by_id[topic_id].name, number)
        for topic_id, numbers in partitions.items()
        if topic_id in image.by_id
        for number in sorted(numbers)
    ]
