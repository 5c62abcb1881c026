"""Sticky when all members subscribe to the same topics: everyone keeps what fits its quota, the rest is
dealt.

    8 partitions, 3 members:  floor 2, ceiling 3, and 8 mod 3 = 2 members may have the ceiling

    c0 had 4 ->  keeps 3, lets go of 1            c0 3
    c1 had 4 ->  keeps 3, lets go of 1            c1 3
    c2 is new -> gets the 2 that were let go      c2 2

Members are visited in the order of a Java map: the first member may keep the ceiling. A member that must let
go keeps its lowest partition numbers. The free partitions, by topic and number, go around among the members
below the floor, by id, and then one each to those exactly at it.

Source: Kafka clients 3.9.2, AbstractStickyAssignor.ConstrainedAssignmentBuilder. Vectors:
kafka/assignors.json, kafka/assignors_rack.json, kafka/assignor_sequences.json.
"""

from collections.abc import Mapping

from broker_core.errors import InvariantError
from broker_core.hashing.java_hash import java_sorted
from broker_core.kafka.assignors.claims import Ownership
from broker_core.kafka.assignors.protocol import Assignment, TopicPartition, partition_row
from broker_core.kafka.assignors.rack_preference import RackPreference


def assign_constrained(
    partition_counts: Mapping[str, int], ownership: Ownership, racks: RackPreference
) -> tuple[Assignment, dict[TopicPartition, str]]:
    """Share all partitions within one of each other, moving as few as that allows.

    partition_counts: topic -> number of partitions, topics by name. Returns the assignment, and the
    partitions that change hands between two living members with their new owner. Raises InvariantError if
    quotas do not add up.
    """
    return _ConstrainedAssignment(partition_counts, ownership, racks).build()


class _ConstrainedAssignment:
    """One assignment under construction."""

    def __init__(
        self, partition_counts: Mapping[str, int], ownership: Ownership, racks: RackPreference
    ) -> None:
        member_count = len(ownership.owned)
        self.partition_counts = partition_counts
        self.ownership = ownership
        self.racks = racks
        self.floor, self.ceiling_seats = divmod(sum(partition_counts.values()), member_count)
        self.ceiling = self.floor + (self.ceiling_seats > 0)
        self.seats_taken = 0  # members above the floor so far
        self.below_floor: list[str] = []
        self.at_floor: list[str] = []  # and may still get one more
        self.assignment: Assignment = {member: [] for member in ownership.owned}
        self.let_go: dict[TopicPartition, str] = {}  # partition -> who had it
        self.changing_hands: dict[TopicPartition, str] = {}  # partition -> who gets it

    def build(self) -> tuple[Assignment, dict[TopicPartition, str]]:
        self._keep_owned()
        kept = {partition for partitions in self.assignment.values() for partition in partitions}
        row = partition_row(self.partition_counts, self.partition_counts)
        free = [partition for partition in row if partition not in kept] if kept else row
        self.below_floor = java_sorted(self.below_floor)
        self.at_floor = java_sorted(self.at_floor)
        if self.racks.members:
            free = self._deal_within_racks(self.racks.hardest_first(free))
        self._deal(free)
        return self.assignment, self.changing_hands

    def _keep_owned(self) -> None:
        topic_rank = {topic: rank for rank, topic in enumerate(self.partition_counts)}
        topic_count = len(topic_rank)

        def by_number_then_topic(partition: TopicPartition) -> int:
            return partition[1] * topic_count + topic_rank[partition[0]]

        for member, claimed in self.ownership.owned.items():
            owned = sorted(self._without_mismatches(member, claimed), key=by_number_then_topic)
            if self.ownership.doubly_claimed:
                owned = [partition for partition in owned if partition not in self.ownership.doubly_claimed]
            if len(owned) < self.floor:
                keep_count = len(owned)
                self.below_floor.append(member)
            elif len(owned) >= self.ceiling and self.seats_taken < self.ceiling_seats:
                keep_count = self.ceiling
                self.seats_taken += 1
                if self.seats_taken == self.ceiling_seats:
                    self.at_floor.clear()
            else:
                keep_count = self.floor
                if self.seats_taken < self.ceiling_seats:
                    self.at_floor.append(member)
            self.assignment[member] = owned[:keep_count]
            for partition in owned[keep_count:]:
                self.let_go[partition] = member

    def _without_mismatches(self, member: str, claimed: list[TopicPartition]) -> list[TopicPartition]:
        if member not in self.racks.members:
            return claimed
        matching = []
        for partition in claimed:
            if self.racks.is_mismatch(member, partition):
                self.let_go[partition] = member
            else:
                matching.append(partition)
        return matching

    def _deal_within_racks(self, free: list[TopicPartition]) -> list[TopicPartition]:
        """Give what a member with room can read in its own rack; return the rest."""
        rest = []
        next_index = 0
        for partition in free:
            index = self.racks.next_match(partition, self.below_floor, next_index)
            if index >= 0:
                member = self.below_floor[index]
                self._give([partition], member)
                if len(self.assignment[member]) >= self.floor:
                    del self.below_floor[index]
                    if self.floor < self.ceiling and self.seats_taken < self.ceiling_seats:
                        self.at_floor.append(member)
                else:
                    index += 1
                next_index = index % len(self.below_floor) if self.below_floor else 0
                continue
            index = self.racks.next_match(partition, self.at_floor, 0)
            if index < 0:
                rest.append(partition)
                continue
            self._give([partition], self.at_floor.pop(index))
            self.seats_taken += 1
            if self.seats_taken == self.ceiling_seats:
                self.at_floor.clear()
        return rest

    def _deal(self, free: list[TopicPartition]) -> None:
        """Go around the members below the floor until none is left there, then give one each to those at
        it."""
        start = 0
        circle = self.below_floor
        while circle:
            # As many rounds at once as the fullest member of the circle has room for: it then leaves.
            missing = [self.floor - len(self.assignment[member]) for member in circle]
            rounds = min(missing)
            dealt = free[start : start + rounds * len(circle)]
            if len(dealt) < rounds * len(circle):
                raise InvariantError("partitions ran out while members were below the floor")
            for index, member in enumerate(circle):
                self._give(dealt[index :: len(circle)], member)
            start += len(dealt)
            self.at_floor += [member for member, room in zip(circle, missing, strict=True) if room == rounds]
            circle = [member for member, room in zip(circle, missing, strict=True) if room > rounds]
        rest = free[start:]
        if len(rest) > len(self.at_floor):
            raise InvariantError("partitions were left over when all members were full")
        for partition, member in zip(rest, self.at_floor, strict=False):
            self._give([partition], member)

    def _give(self, partitions: list[TopicPartition], member: str) -> None:
        """Give free partitions to `member`, and note which of them another living member has had."""
        self.assignment[member] += partitions
        if self.let_go or self.ownership.doubly_claimed:
            for partition in partitions:
                former = self.let_go.get(partition, member)
                if former != member or partition in self.ownership.doubly_claimed:
                    self.changing_hands[partition] = member
