"""One group of the consumer protocol: members, the target assignment, and three epochs.

    group epoch        rises when members or topics change        >= assignment epoch: of the target that was computed
    assignment epoch   that of the target                         >= member epoch: of the target that a member has taken up

The group is what its records say: nothing here changes but by replay (`record_replay.py`). It is Empty without
members, Assigning while the target is behind, Reconciling until every member has taken it up, then Stable.
Source: Kafka 3.9 ConsumerGroup, ModernGroup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from broker_core.errors import InvariantError
from broker_core.hashing.java_map import copied_order, java_order
from broker_core.hashing.timeline_map import timeline_order
from broker_core.kafka.assignors.subscription_bytes import CONSUMER_PROTOCOL_TYPE
from broker_core.kafka.group.codes import (
    ILLEGAL_GENERATION,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
    UNSUPPORTED_VERSION,
    Refused,
)
from broker_core.kafka.group.consumer.member import UNRELEASED_PARTITIONS, ConsumerMember, Partitions
from broker_core.kafka.group.consumer.states import ASSIGNING, EMPTY, RECONCILING, STABLE
from broker_core.kafka.group.messages import (
    ConsumerGroupDescribed,
    ConsumerGroupDescribedMember,
    NamedAssignment,
    NamedTopicPartitions,
)
from broker_core.kafka.group.records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
    LogRecord,
    Record,
    StoredTopic,
)  # fmt: skip
from broker_core.kafka.group.topics import TopicsImage

EPOCH_VERSION = 9


@dataclass(slots=True)
class ConsumerGroup:
    """target: member id -> what the assignor gave it, partitions in Java's order. topics: name -> what was
    written of it.
    owner_epochs: (topic id, partition) -> epoch of the member that has it, or has not let go of it.
    subscriber_counts: topic -> members.
    assignor_counts: server assignor -> members that ask for it. refresh_at_ms: when the topics are looked up
    again, if the group is not older than refresh_epoch. member_peak: the most members there ever were."""

    group_id: str
    epoch: int = 0
    assignment_epoch: int = 0
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    target: dict[str, dict[str, tuple[int, ...]]] = field(default_factory=dict)
    targeted: dict[tuple[str, int], str] = field(default_factory=dict)
    topics: dict[str, StoredTopic] = field(default_factory=dict)
    owner_epochs: dict[tuple[str, int], int] = field(default_factory=dict)
    subscriber_counts: dict[str, int] = field(default_factory=dict)
    assignor_counts: dict[str, int] = field(default_factory=dict)
    classic_protocol_counts: dict[str, int] = field(default_factory=dict)
    classic_count: int = 0
    refresh_at_ms: int = 0
    refresh_epoch: int = 0
    member_peak: int = 0

    def copy(self) -> ConsumerGroup:
        """The group as it is now, for readers of the past; members and their assignments are values and are
        shared."""
        return ConsumerGroup(
            self.group_id,
            self.epoch,
            self.assignment_epoch,
            dict(self.members),
            dict(self.static_members),
            dict(self.target),
            dict(self.targeted),
            dict(self.topics),
            dict(self.owner_epochs),
            dict(self.subscriber_counts),
            dict(self.assignor_counts),
            dict(self.classic_protocol_counts),
            self.classic_count,
            self.refresh_at_ms,
            self.refresh_epoch,
            self.member_peak,
        )

    @property
    def state(self) -> str:
        if not self.members:
            return EMPTY
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        is_reconciled = all(
            member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()
        )
        return STABLE if is_reconciled else RECONCILING

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def protocol_type(self) -> str:
        return CONSUMER_PROTOCOL_TYPE

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.subscriber_counts

    def in_order(self) -> list[ConsumerMember]:
        """The members in the order of the original's map."""
        return [self.members[member_id] for member_id in timeline_order(self.members, self.member_peak)]

    def member(self, member_id: str) -> ConsumerMember:
        """A member. Refuses an unknown one."""
        try:
            return self.members[member_id]
        except KeyError:
            raise Refused(UNKNOWN_MEMBER_ID) from None

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        """The member of an instance id, None for an unknown one. Refuses one whose member took another
        instance id and is gone."""
        member_id = self.static_members.get(instance_id)
        return None if member_id is None else self.member(member_id)

    def target_of(self, member_id: str, instance_id: str | None = None) -> dict[str, tuple[int, ...]]:
        """What the assignor gave a member; a static one has it under the id that its instance had."""
        if instance_id is not None:
            member_id = self.static_members.get(instance_id, "")
        return self.target.get(member_id, {})

    def preferred_assignor(self) -> str | None:
        """The server assignor that most members ask for; None if nobody asks. A tie goes by the order of the
        original's map."""
        return max(timeline_order(self.assignor_counts), key=self.assignor_counts.__getitem__, default=None)

    def preferred_assignor_with(self, old: ConsumerMember, new: ConsumerMember) -> str | None:
        """The same, were `old` replaced by `new`. The original counts on a copy of its map, which has an
        order of its own."""
        counts = dict(self.assignor_counts)
        removed, added = [], []
        if old.server_assignor is not None:
            _count(counts, (old.server_assignor,), -1)
            if old.server_assignor not in counts:
                removed.append(old.server_assignor)
        if new.server_assignor is not None:
            if new.server_assignor not in counts:
                added.append(new.server_assignor)
            _count(counts, (new.server_assignor,), 1)
        order = copied_order(timeline_order(self.assignor_counts), removed, added)
        return max(order, key=counts.__getitem__, default=None)

    # Checks

    def check_commit(self, member_id: str, epoch: int, is_transactional: bool, version: int) -> None:
        """Refuse a commit of somebody else, of an old client, or of another epoch."""
        if epoch < 0 and not self.members:
            return
        member = self.member(member_id)
        if not is_transactional and member.classic is None and version < EPOCH_VERSION:
            raise Refused(UNSUPPORTED_VERSION)
        self._check_epoch(member, epoch)

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Refuse a fetch that names a member who is not at this epoch; one that names nobody is free."""
        if member_id is None and epoch < 0:
            return
        self._check_epoch(self.member(member_id or ""), epoch)

    @staticmethod
    def _check_epoch(member: ConsumerMember, epoch: int) -> None:
        if epoch != member.epoch:
            raise Refused(STALE_MEMBER_EPOCH if member.classic is None else ILLEGAL_GENERATION)

    def supports_classic(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Whether a classic member with these protocols can join: one of them must be offered by all classic
        members."""
        offered = set(names)
        if protocol_type != CONSUMER_PROTOCOL_TYPE:
            return False
        if not self.members:
            return bool(offered)
        return any(self.classic_protocol_counts.get(name, 0) == self.classic_count for name in offered)

    def are_others_classic(self, member_id: str) -> bool:
        """Whether this one is the last member that speaks the consumer protocol."""
        return self.classic_count == len(self.members) - 1 and self.member(member_id).classic is None

    def waits_for_release(self, member: ConsumerMember) -> bool:
        """Whether a partition that the member is to get has not been let go of."""
        return member.state == UNRELEASED_PARTITIONS and any(
            number not in member.assigned.get(topic_id, ()) and (topic_id, number) in self.owner_epochs
            for topic_id, numbers in self.target.get(member.member_id, {}).items()
            for number in numbers
        )

    # What a change of members would mean

    def subscribers_with(self, old: Iterable[ConsumerMember], new: ConsumerMember | None) -> dict[str, int]:
        """Topic -> subscribers, were the old members replaced by the new one."""
        counts = dict(self.subscriber_counts)
        for member in old:
            _count(counts, sorted(member.subscribed), -1)
        if new is not None:
            _count(counts, sorted(new.subscribed), 1)
        return counts

    def topics_for(self, counts: Mapping[str, int], image: TopicsImage) -> dict[str, StoredTopic]:
        """What is to be written of the topics that somebody reads and that exist."""
        return {name: image.by_name[name].stored() for name in java_order(counts) if name in image.by_name}

    def needs_refresh(self, now_ms: int) -> bool:
        """Whether the topics must be looked up: their time is over, or the write that looked them up was
        lost."""
        return now_ms >= self.refresh_at_ms or self.epoch < self.refresh_epoch

    # Changes, by replay alone

    def put_member(self, new: ConsumerMember) -> None:
        """Take in a member, or what it has become."""
        old = self.members.get(new.member_id)
        self.members[new.member_id] = new
        self.member_peak = max(self.member_peak, len(self.members))
        self._recount(old, -1)
        self._recount(new, 1)
        if old is not None:
            self._release(old)
        for partitions in (new.assigned, new.revoking):
            for place in _places(partitions):
                if place in self.owner_epochs:
                    raise InvariantError(f"partition {place} of group {self.group_id} would have two owners")
                self.owner_epochs[place] = new.epoch
        if new.instance_id is not None:
            self.static_members[new.instance_id] = new.member_id

    def drop_member(self, member_id: str) -> None:
        old = self.members.pop(member_id)
        self._recount(old, -1)
        self._release(old)
        if old.instance_id is not None:
            self.static_members.pop(old.instance_id, None)

    def put_target(self, member_id: str, partitions: dict[str, tuple[int, ...]]) -> None:
        """What the assignor gave a member; {} takes it away."""
        old = self.target.get(member_id, {})
        for place in _places(old):
            if place[1] not in partitions.get(place[0], ()) and self.targeted.get(place) == member_id:
                del self.targeted[place]
        for place in _places(partitions):
            if place[1] not in old.get(place[0], ()):
                self.targeted[place] = member_id
        self.target[member_id] = partitions

    def drop_target(self, member_id: str) -> None:
        self.put_target(member_id, {})
        del self.target[member_id]

    def _release(self, member: ConsumerMember) -> None:
        for partitions in (member.assigned, member.revoking):
            for place in _places(partitions):
                if self.owner_epochs.pop(place, None) != member.epoch:
                    raise InvariantError(
                        f"partition {place} of group {self.group_id} is not {member.member_id}'s to let go of"
                    )

    def _recount(self, member: ConsumerMember | None, step: int) -> None:
        if member is None:
            return
        # Sorted, as a set of strings has another order in each process.
        _count(self.subscriber_counts, sorted(member.subscribed), step)
        if member.server_assignor is not None:
            _count(self.assignor_counts, (member.server_assignor,), step)
        if member.classic is not None:
            self.classic_count += step
            _count(
                self.classic_protocol_counts,
                [protocol.name for protocol in member.classic.supported_protocols],
                step,
            )

    # How it is written and shown

    def tombstones(self) -> list[LogRecord]:
        """What deletes the group in the log, with its members if it has any."""
        ids = [member.member_id for member in self.in_order()]
        group_id = self.group_id
        return [
            *(
                Record(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None)
                for member_id in ids
            ),
            *(Record(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None) for member_id in ids),
            Record(ConsumerGroupTargetAssignmentMetadataKey(group_id), None),
            *(Record(ConsumerGroupMemberMetadataKey(group_id, member_id), None) for member_id in ids),
            Record(ConsumerGroupPartitionMetadataKey(group_id), None),
            Record(ConsumerGroupMetadataKey(group_id), None),
        ]

    def described(self, default_assignor: str, image: TopicsImage) -> ConsumerGroupDescribed:
        """How ConsumerGroupDescribe shows it; partitions of topics that are gone are left out."""
        members = [
            ConsumerGroupDescribedMember(
                member.member_id,
                member.instance_id,
                member.rack_id,
                member.epoch,
                member.client_id,
                member.client_host,
                sorted(member.subscribed),
                member.regex,
                _named(member.assigned, image),
                _named(self.target.get(member.member_id, {}), image),
            )
            for member in self.in_order()
        ]
        assignor = self.preferred_assignor() or default_assignor
        return ConsumerGroupDescribed(
            self.group_id, 0, self.state, self.epoch, self.assignment_epoch, assignor, members
        )


def _count(counts: dict[str, int], names: Iterable[str], step: int) -> None:
    for name in names:
        count = counts.get(name, 0) + step
        if count > 0:
            counts[name] = count
        else:
            counts.pop(name, None)


def _places(partitions: Partitions | Mapping[str, tuple[int, ...]]) -> list[tuple[str, int]]:
    return [(topic_id, number) for topic_id, numbers in partitions.items() for number in numbers]


def _named(partitions: Partitions | Mapping[str, tuple[int, ...]], image: TopicsImage) -> NamedAssignment:
    return NamedAssignment(
        [
            NamedTopicPartitions(topic_id, image.by_id[topic_id].name, sorted(numbers))
            for topic_id, numbers in partitions.items()
            if topic_id in image.by_id
        ]
    )
