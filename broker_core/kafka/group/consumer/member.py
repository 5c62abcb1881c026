"""A member of a group of the consumer protocol: what it asks for, which epoch it is at, what it has and what
it must let go of.

A member is a value: each change makes a new one, so that a reader of the past keeps the old. Source: Kafka
3.9 ConsumerGroupMember.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from broker_core.kafka.group.consumer.java_sets import in_topic_order
from broker_core.kafka.group.messages import TopicPartitions
from broker_core.kafka.group.records import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    Record,
)  # fmt: skip

Partitions = Mapping[str, frozenset[int]]
"""Topic id -> partitions; a topic without any is not in it."""

STABLE, UNREVOKED_PARTITIONS, UNRELEASED_PARTITIONS, UNKNOWN = 0, 1, 2, 127
STATE_NAMES = {
    STABLE: "STABLE",
    UNREVOKED_PARTITIONS: "UNREVOKED_PARTITIONS",
    UNRELEASED_PARTITIONS: "UNRELEASED_PARTITIONS",
    UNKNOWN: "UNKNOWN",
}
LEAVE_EPOCH, STATIC_LEAVE_EPOCH = -1, -2


class ConsumerMember(msgspec.Struct, frozen=True):
    """epoch: of the target that it has taken up. previous_epoch: the one before, with which a lost answer may
    be asked for again.
    assigned: what it may hold. revoking: what it was told to let go of. classic: of one that speaks the
    classic protocol, else None."""

    member_id: str
    epoch: int = 0
    previous_epoch: int = -1
    state: int = STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    client_host: str = ""
    subscribed: frozenset[str] = frozenset()
    regex: str = ""
    server_assignor: str | None = None
    assigned: dict[str, frozenset[int]] = {}
    revoking: dict[str, frozenset[int]] = {}
    classic: ClassicMemberMetadata | None = None

    def with_(self, **changed: Any) -> ConsumerMember:
        """The member with some fields changed."""
        return msgspec.structs.replace(self, **changed)

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has taken the target of this epoch up, without anything left to revoke or to wait
        for."""
        return self.state == STABLE and self.epoch == epoch

    def subscription_record(self, group_id: str) -> Record:
        value = ConsumerGroupMemberMetadataValue(
            self.instance_id,
            self.rack_id,
            self.client_id,
            self.client_host,
            sorted(self.subscribed),
            self.regex,
            self.rebalance_timeout_ms,
            self.server_assignor,
            self.classic,
        )
        return Record(ConsumerGroupMemberMetadataKey(group_id, self.member_id), value)

    def assignment_record(self, group_id: str) -> Record:
        value = ConsumerGroupCurrentMemberAssignmentValue(
            self.epoch, self.previous_epoch, self.state, listed(self.assigned), listed(self.revoking)
        )
        return Record(ConsumerGroupCurrentMemberAssignmentKey(group_id, self.member_id), value)

    def with_subscription(self, value: ConsumerGroupMemberMetadataValue) -> ConsumerMember:
        """The member as a record tells what it asks for."""
        return self.with_(
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            subscribed=frozenset(value.subscribed_topic_names),
            regex=value.subscribed_topic_regex,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            server_assignor=value.server_assignor,
            classic=value.classic_member_metadata,
        )

    def with_assignment(self, value: ConsumerGroupCurrentMemberAssignmentValue) -> ConsumerMember:
        """The member as a record tells what it has."""
        state = value.state if value.state in STATE_NAMES else UNKNOWN
        return self.with_(
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=state,
            assigned=unlisted(value.assigned_partitions),
            revoking=unlisted(value.partitions_pending_revocation),
        )


def listed(partitions: Partitions) -> list[TopicPartitions]:
    """As messages and records have it: topics in Java's order, numbers ascending."""
    return [
        TopicPartitions(topic_id, sorted(partitions[topic_id])) for topic_id in in_topic_order(partitions)
    ]


def unlisted(topics: Iterable[TopicPartitions]) -> dict[str, frozenset[int]]:
    return {topic.topic_id: frozenset(topic.partitions) for topic in topics}
