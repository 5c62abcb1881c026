"""Sticky when subscriptions differ: keep what is valid, place the rest on the least loaded, then even out.

    1  keep      every claim whose member still subscribes to the topic (and matches the rack, where racks count)
    2  place     each free partition, of the least wanted topic first, on its least loaded subscriber
    3  even out  move a partition to a subscriber that has at least two fewer, until nothing moves:
                 first only the newly placed ones, unless something was revoked anyway, then all
    4  revert    step 3, unless that made the whole better balanced

Topics with one subscriber, and members that cannot give or take, stay out of steps 3 and 4. A partition whose
owner of an earlier generation is back goes to that one first.

Source: Kafka clients 3.9.2, AbstractStickyAssignor.GeneralAssignmentBuilder. Vectors: kafka/assignors.json,
kafka/assignors_rack.json, kafka/assignor_sequences.json.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping

from broker_core.hashing.java_hash import utf16_order
from broker_core.kafka.assignors.claims import Ownership
from broker_core.kafka.assignors.movements import PartitionMovements
from broker_core.kafka.assignors.protocol import Assignment, Subscription, TopicPartition, partition_row
from broker_core.kafka.assignors.rack_preference import RackPreference


def assign_general(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    ownership: Ownership,
    racks: RackPreference,
) -> Assignment:
    """Share the partitions as evenly as the subscriptions allow, moving few.

    partition_counts: topic -> number of partitions, only topics that somebody subscribes to. Returns every
    member; each list begins with what it keeps. Never raises.
    """
    return _GeneralAssignment(subscriptions, partition_counts, ownership, racks).build()


class _GeneralAssignment:
    """One assignment under construction."""

    def __init__(
        self,
        subscriptions: Mapping[str, Subscription],
        partition_counts: Mapping[str, int],
        ownership: Ownership,
        racks: RackPreference,
    ) -> None:
        self.partition_counts = partition_counts
        self.racks = racks
        self.topics_of = {
            member: [
                topic for topic in dict.fromkeys(subscriptions[member].topics) if topic in partition_counts
            ]
            for member in ownership.owned
        }
        self.subscribers: dict[str, list[str]] = {topic: [] for topic in partition_counts}
        for member, topics in self.topics_of.items():
            for topic in topics:
                self.subscribers[topic].append(member)
        self.assignment: Assignment = {}
        self.owner_of: dict[TopicPartition, str] = {}
        self.is_revoking = False
        self._keep_valid(ownership.owned)
        self.earlier_owner = _earlier_owners(ownership)
        self.by_load = _MembersByLoad(self.assignment)
        self.movements = PartitionMovements()

    def build(self) -> Assignment:
        is_first_assignment = not self.assignment[self.by_load.most_loaded()]
        row = self._all_partitions()
        free = [partition for partition in row if partition not in self.owner_of]
        self._place(free)

        settled = {
            m: partitions for m, partitions in self.assignment.items() if not self._can_give_or_take(m)
        }
        for member, partitions in settled.items():
            del self.assignment[member]
            self.by_load.remove(member, len(partitions))
        before = {member: list(partitions) for member, partitions in self.assignment.items()}

        if not self.is_revoking:
            self._even_out([partition for partition in free if self._is_shared(partition[0])])
        has_moved = self._even_out([partition for partition in row if self._is_shared(partition[0])])
        if not is_first_assignment and has_moved and _imbalance(self.assignment) >= _imbalance(before):
            self.assignment = before
        return self.assignment | settled

    def _keep_valid(self, owned: Mapping[str, list[TopicPartition]]) -> None:
        for member, claimed in owned.items():
            kept = self.assignment[member] = []
            for partition in claimed:
                if partition[0] in self.topics_of[member] and not self.racks.is_mismatch(member, partition):
                    kept.append(partition)
                    self.owner_of[partition] = member
                else:
                    self.is_revoking = True

    def _all_partitions(self) -> list[TopicPartition]:
        """All partitions, those of the topics with the fewest subscribers first: they are the hardest to
        place."""
        topics = sorted(
            self.partition_counts, key=lambda topic: (len(self.subscribers[topic]), utf16_order(topic))
        )
        return partition_row(topics, self.partition_counts)

    def _place(self, free: list[TopicPartition]) -> None:
        rest = free
        if self.racks.members:
            rest = [partition for partition in free if not self._place_one(partition, within_rack=True)]
        for partition in rest:
            self._place_one(partition, within_rack=False)

    def _place_one(self, partition: TopicPartition, within_rack: bool) -> bool:
        for member in self.by_load.in_order():
            if partition[0] in self.topics_of[member] and not (
                within_rack and self.racks.is_mismatch(member, partition)
            ):
                self.by_load.remove(member, len(self.assignment[member]))
                self.assignment[member].append(partition)
                self.by_load.add(member, len(self.assignment[member]))
                self.owner_of[partition] = member
                return True
        return False

    def _is_shared(self, topic: str) -> bool:
        return len(self.subscribers[topic]) >= 2

    def _can_give_or_take(self, member: str) -> bool:
        partitions = self.assignment[member]
        return len(partitions) < self._possible_count(member) or any(
            self._is_shared(topic) for topic, _ in partitions
        )

    def _possible_count(self, member: str) -> int:
        return sum(self.partition_counts[topic] for topic in self.topics_of[member])

    def _even_out(self, partitions: list[TopicPartition]) -> bool:
        """Move partitions to less loaded subscribers until none can move; say whether any did.

        Java prefers, for a partition that is in its owner's rack, to look among the members of that rack
        first; as it then moves the partition to the least loaded subscriber of all either way, the result is
        the same without.
        """
        has_moved = False
        if not partitions:
            return has_moved
        is_balanced = self._is_balanced()
        is_changing = True
        while is_changing:
            is_changing = False
            for partition in partitions:
                if is_balanced:
                    break
                new_owner = self._better_owner(partition)
                if new_owner is not None:
                    self._move(partition, new_owner)
                    is_balanced = self._is_balanced()
                    is_changing = has_moved = True
        return has_moved

    def _better_owner(self, partition: TopicPartition) -> str | None:
        load = len(self.assignment[self.owner_of[partition]])
        earlier = self.earlier_owner.get(partition)
        # Java asks neither whether the earlier owner is in play, and fails when it is not, nor whether it
        # still subscribes to the topic.
        if earlier in self.assignment and partition[0] in self.topics_of[earlier]:
            if load > len(self.assignment[earlier]) + 1:
                return earlier
        for member in self.by_load.in_order():
            if partition[0] in self.topics_of[member]:
                return member if load > len(self.assignment[member]) + 1 else None
        return None

    def _move(self, wanted: TopicPartition, new_owner: str) -> None:
        partition = self.movements.partition_to_move(wanted, self.owner_of[wanted], new_owner)
        old_owner = self.owner_of[partition]
        self.movements.move(partition, old_owner, new_owner)
        for member in (old_owner, new_owner):
            self.by_load.remove(member, len(self.assignment[member]))
        self.assignment[old_owner].remove(partition)
        self.assignment[new_owner].append(partition)
        self.owner_of[partition] = new_owner
        for member in (old_owner, new_owner):
            self.by_load.add(member, len(self.assignment[member]))

    def _is_balanced(self) -> bool:
        """Say whether no member could take over a partition from one that has at least two more."""
        least, most = self.by_load.least_loaded(), self.by_load.most_loaded()
        if len(self.assignment[least]) >= len(self.assignment[most]) - 1:
            return True
        highest_load: dict[str, int] = {}  # topic -> load of the most loaded owner of one of its partitions
        for partitions in self.assignment.values():
            for topic in {topic: None for topic, _ in partitions}:
                highest_load[topic] = max(highest_load.get(topic, 0), len(partitions))
        for member, partitions in self.assignment.items():
            if len(partitions) != self._possible_count(member) and any(
                len(partitions) + 1 < highest_load.get(topic, 0) for topic in self.topics_of[member]
            ):
                return False
        return True


class _MembersByLoad:
    """Members in play, by number of partitions, then by id."""

    def __init__(self, assignment: Assignment) -> None:
        self._id_order = {member: utf16_order(member) for member in assignment}
        self._row = sorted(
            (len(partitions), self._id_order[member], member) for member, partitions in assignment.items()
        )

    def add(self, member: str, load: int) -> None:
        insort(self._row, (load, self._id_order[member], member))

    def remove(self, member: str, load: int) -> None:
        del self._row[bisect_left(self._row, (load, self._id_order[member], member))]

    def in_order(self) -> list[str]:
        return [member for _, _, member in self._row]

    def least_loaded(self) -> str:
        return self._row[0][2]

    def most_loaded(self) -> str:
        return self._row[-1][2]


def _earlier_owners(ownership: Ownership) -> dict[TopicPartition, str]:
    """Give who last had each partition among the members that come back with an older generation than the
    newest."""
    latest: dict[TopicPartition, tuple[int, str]] = {}
    for member, claim in ownership.claims.items():
        if claim.generation < ownership.max_generation:
            for partition in claim.partitions:
                if partition not in latest or claim.generation > latest[partition][0]:
                    latest[partition] = (claim.generation, member)
    return {partition: member for partition, (_, member) in latest.items()}


def _imbalance(assignment: Assignment) -> int:
    """Give the sum of the differences in load over all pairs of members; 0 is perfect."""
    loads = sorted(len(partitions) for partitions in assignment.values())
    # In ascending order, load i is above i loads and below the other n-1-i.
    return sum(load * (2 * index - len(loads) + 1) for index, load in enumerate(loads))
