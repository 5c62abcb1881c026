"""Range: each topic's partitions, in order, cut into contiguous runs, one for each subscriber of that topic.

    7 partitions, 3 members:  q = 7 div 3 = 2,  r = 7 mod 3 = 1: the first r members take q + 1

        0  1  2 | 3  4 | 5  6
        c0        c1     c2

Every topic is cut on its own, so the first members take one more of *each* topic; in return equal numbers of
topics of equal size land on the same member, which joins of topics need. With racks, partitions in a member's
own rack go first, within the same quotas.

Source: Kafka clients 3.9.2, RangeAssignor.assignPartitions. Vectors: kafka/assignors.json,
kafka/assignors_rack.json.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat

from broker_core.hashing.java_hash import utf16_order
from broker_core.kafka.assignors.protocol import (
    Assignment,
    PartitionRacks,
    Subscription,
    members_in_order,
    subscribed_topics,
)
from broker_core.kafka.assignors.racks import has_use_for_racks, member_racks, replica_racks


def assign_range(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    partition_racks: PartitionRacks | None = None,
) -> Assignment:
    """Give each topic's partitions to its subscribers in contiguous runs.

    subscriptions: member id -> what it asks for. partition_counts: topic -> number of partitions.
    partition_racks: where the replicas are, if known. Returns every member, idle ones with []; partitions by
    topic and number (Java's list of topics is in hash order, which carries no meaning). Never raises.

    >>> assign_range({"c0": Subscription(("t",)), "c1": Subscription(("t",))}, {"t": 3})
    {'c0': [('t', 0), ('t', 1)], 'c1': [('t', 2)]}
    """
    members = members_in_order(subscriptions)
    racks = member_racks(subscriptions)
    topics = subscribed_topics(subscriptions, partition_counts)
    subscribers: dict[str, list[str]] = {topic: [] for topic in topics}
    for member in members:
        for topic in dict.fromkeys(subscriptions[member].topics):
            if topic in subscribers:
                subscribers[topic].append(member)
    assignment: Assignment = {member: [] for member in subscriptions}
    cuts = [
        _TopicCut.of(topic, partition_counts[topic], subscribers[topic], racks, partition_racks)
        for topic in topics
    ]

    is_rack_aware = any(cut.needs_racks for cut in cuts)
    if is_rack_aware:
        _match_racks(cuts, assignment)
    for cut in cuts:
        _fill_in_runs(cut, assignment)
    if is_rack_aware:
        for partitions in assignment.values():
            partitions.sort(key=lambda partition: (utf16_order(partition[0]), partition[1]))
    return assignment


@dataclass(slots=True)
class _TopicCut:
    """One topic on its way to its subscribers.

    left: partition numbers that nobody has yet, ascending. quota: what every member gets. extra_left: how
    many members may still get one more.
    """

    topic: str
    members: list[str]
    racks: dict[str, str]  # of the members that have one
    replica_racks: list[frozenset[str]]  # by partition number; empty when no subscriber has a rack
    needs_racks: bool
    left: list[int]
    quota: int
    extra_left: int
    given: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        topic: str,
        count: int,
        members: list[str],
        racks: Mapping[str, str],
        partition_racks: PartitionRacks | None,
    ) -> "_TopicCut":
        own_racks = {member: racks[member] for member in members if member in racks}
        located = replica_racks([topic], {topic: count}, partition_racks or {}) if own_racks else {}
        return cls(
            topic=topic,
            members=members,
            racks=own_racks,
            replica_racks=list(located.values()),
            needs_racks=has_use_for_racks(own_racks.values(), located),
            left=list(range(count)),
            quota=count // len(members),
            extra_left=count % len(members),
        )

    def room(self, member: str) -> int:
        return max(0, self.quota + (self.extra_left > 0) - self.given.get(member, 0))

    def has_matching_rack(self, member: str, number: int) -> bool:
        rack = self.racks.get(member)
        return rack is None or (number < len(self.replica_racks) and rack in self.replica_racks[number])

    def give(self, member: str, numbers: list[int], assignment: Assignment) -> None:
        assignment[member] += [(self.topic, number) for number in numbers]
        given = self.given[member] = self.given.get(member, 0) + len(numbers)
        if given > self.quota:
            self.extra_left -= 1
        self.left = [number for number in self.left if number not in numbers]


def _match_racks(cuts: list[_TopicCut], assignment: Assignment) -> None:
    """Give the partitions in the members' own racks; topics with the same members and size stay aligned with
    each other."""
    aligned: dict[tuple[tuple[str, ...], int], list[_TopicCut]] = {}
    for cut in cuts:
        aligned.setdefault((tuple(cut.members), len(cut.replica_racks)), []).append(cut)
    for (members, partition_count), group in aligned.items():
        if len(group) > 1:
            _match_racks_of_aligned_topics(list(members), partition_count, group, assignment)
        elif group[0].needs_racks:
            _fill_from_own_racks(group[0], assignment)


def _match_racks_of_aligned_topics(
    members: list[str], partition_count: int, cuts: list[_TopicCut], assignment: Assignment
) -> None:
    """Give partition i of all topics to the first member that has a replica of each in its rack and room for
    each."""
    for number in range(partition_count):
        for member in members:
            if all(cut.has_matching_rack(member, number) and cut.room(member) for cut in cuts):
                break
        else:
            continue
        for cut in cuts:
            cut.give(member, [number], assignment)
        if not any(cut.room(member) for cut in cuts):
            members.remove(member)


def _fill_from_own_racks(cut: _TopicCut, assignment: Assignment) -> None:
    """Let each member in turn take the lowest partitions left that are in its rack, up to its quota."""
    for member in cut.members:
        taken = [number for number in cut.left if cut.has_matching_rack(member, number)][: cut.room(member)]
        if taken:
            cut.give(member, taken, assignment)


def _fill_in_runs(cut: _TopicCut, assignment: Assignment) -> None:
    """Let each member in turn take the lowest partitions left, up to its quota."""
    row = list(zip(repeat(cut.topic), cut.left))
    start = 0
    for member in cut.members:
        if start >= len(row):
            break
        given = cut.given.get(member, 0)
        end = start + cut.quota + (cut.extra_left > 0) - given
        if end > start:
            assignment[member] += row[start:end]
            if given + end - start > cut.quota:
                cut.extra_left -= 1
            start = end
