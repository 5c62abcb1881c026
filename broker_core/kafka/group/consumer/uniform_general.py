"""The uniform assignor for unequal subscriptions: keep what was given, deal the rest, then even out step by
step.

Partitions are taken in the order of how scarce their topic's readers are. Evening out moves one partition at
a time to the least loaded member that reads its topic, as long as somebody has two fewer; where two moves of
one topic would cross, the older one is taken back.
Source: Kafka 3.9 UniformHeterogeneousAssignmentBuilder. Vectors: kafka/group/consumer_protocol_848.json.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.errors import InvariantError
from broker_core.hashing.java_hash import utf16_order
from broker_core.hashing.java_map import JavaHashSet
from broker_core.kafka.group.codes import UNKNOWN_SERVER_ERROR, Refused
from broker_core.kafka.group.consumer.assignor import GroupSpec, Target
from broker_core.kafka.group.consumer.java_sets import in_topic_order, partition_hash

Partition = tuple[str, int]
Move = tuple[str, str]
"""(from member, to member)."""


def assign_uniform_general(spec: GroupSpec) -> dict[str, Target]:
    """Share the partitions as evenly as the subscriptions allow. Raises Refused where the original's assignor
    gives up."""
    readers: dict[str, list[str]] = {}
    for member_id, member in spec.members.items():
        for topic_id in member.topic_ids:
            spec.partition_count(topic_id)
            readers.setdefault(topic_id, []).append(member_id)
    return _Balance(spec, readers).result() if readers else {}


class _Balance:
    """readers: topic id -> members, in the order of the original's map. active: members that may still take
    one, as the original keeps them."""

    def __init__(self, spec: GroupSpec, readers: dict[str, list[str]]) -> None:
        self.spec = spec
        self.readers = readers
        self.counts = {topic_id: spec.partition_count(topic_id) for topic_id in readers}
        self.limits = {
            member_id: sum(self.counts[topic_id] for topic_id in member.topic_ids)
            for member_id, member in spec.members.items()
        }
        self.given: dict[str, dict[str, JavaHashSet[int]]] = {member_id: {} for member_id in spec.members}
        self.sizes = dict.fromkeys(spec.members, 0)
        self.owner: dict[Partition, str] = {}
        self.active = {member_id for member_id in spec.members if self.limits[member_id] > 0}
        self.moves = _Moves()

    def result(self) -> dict[str, Target]:
        free: JavaHashSet[Partition] = JavaHashSet(partition_hash)
        for topic_id in in_topic_order(self.readers):
            for number in range(self.counts[topic_id]):
                free.add((topic_id, number))
        everything = free.in_order()
        for member_id, member in self.spec.members.items():
            for topic_id, numbers in member.target.items():
                if topic_id in member.topic_ids:
                    for number in numbers:
                        self.give((topic_id, number), member_id)
        for partition in self.by_scarcity(
            partition for partition in everything if partition not in self.owner
        ):
            for member_id in self.by_load(self.readers[partition[0]]):
                if self.sizes[member_id] < self.limits[member_id]:
                    self.give(partition, member_id)
                    break
            else:
                raise Refused(UNKNOWN_SERVER_ERROR)
        movable = [partition for partition in everything if len(self.readers[partition[0]]) >= 2]
        for member_id in self.spec.members:
            if not self.can_take_part(member_id):
                self.active.discard(member_id)
        if movable:
            self.even_out(self.by_scarcity(movable))
        return {
            member_id: {topic_id: tuple(mine[topic_id].in_order()) for topic_id in in_topic_order(mine)}
            for member_id, mine in self.given.items()
        }

    def by_scarcity(self, partitions: Iterable[Partition]) -> list[Partition]:
        """Most partitions per reader first, then fewest readers, then number; the rest as the original's set
        has them."""

        def key(partition: Partition) -> tuple[float, int, int]:
            readers = len(self.readers[partition[0]])
            return -(self.counts[partition[0]] / readers), readers, partition[1]

        return sorted(partitions, key=key)

    def by_load(self, members: Iterable[str]) -> list[str]:
        """Members with room, the least loaded first, then by id."""
        return sorted(
            (member_id for member_id in members if self.sizes[member_id] < self.limits[member_id]),
            key=lambda member_id: (self.sizes[member_id], utf16_order(member_id)),
        )

    def in_play(self) -> list[str]:
        return sorted(self.active, key=lambda member_id: (self.sizes[member_id], utf16_order(member_id)))

    def give(self, partition: Partition, member_id: str) -> None:
        topic_id, number = partition
        self.given[member_id].setdefault(topic_id, JavaHashSet(int)).add(number)
        self.owner[partition] = member_id
        self.resize(member_id, 1)

    def take(self, partition: Partition, member_id: str) -> None:
        topic_id, number = partition
        numbers = self.given[member_id][topic_id]
        numbers.remove(number)
        if not len(numbers):
            del self.given[member_id][topic_id]
        del self.owner[partition]
        self.resize(member_id, -1)

    def resize(self, member_id: str, step: int) -> None:
        self.sizes[member_id] += step
        if self.sizes[member_id] < self.limits[member_id]:
            self.active.add(member_id)
        else:
            self.active.discard(member_id)

    def can_take_part(self, member_id: str) -> bool:
        """Whether a member could take or give something: it has room, or holds a topic that others read
        too."""
        has_room = self.sizes[member_id] < self.limits[member_id]
        return has_room or any(len(self.readers[topic_id]) >= 2 for topic_id in self.given[member_id])

    def even_out(self, partitions: list[Partition]) -> None:
        """Move single partitions until a whole round finds nothing to move."""
        has_moved = True
        while has_moved:
            has_moved = is_after_move = False
            for partition in partitions:
                if is_after_move and self.is_even():
                    return
                is_after_move = False
                load = self.sizes[self.owner[partition]]
                if any(load > self.sizes[member_id] + 1 for member_id in self.readers[partition[0]]):
                    self.move(partition)
                    has_moved = is_after_move = True

    def is_even(self) -> bool:
        """Whether no member in play could take a partition from one that has at least two more."""
        line = self.in_play()
        if self.sizes[line[0]] >= self.sizes[line[-1]] - 1:
            return True
        for member_id in line:
            size = self.sizes[member_id]
            if size == self.limits[member_id]:
                continue
            for topic_id in self.spec.members[member_id].topic_ids:
                for number in range(self.counts[topic_id]):
                    owner = self.owner[topic_id, number]
                    if owner != member_id and size + 1 < self.sizes[owner]:
                        return False
        return True

    def move(self, partition: Partition) -> None:
        """Move a partition of this topic to the least loaded member that reads it."""
        topic_id = partition[0]
        taker = next(
            (member_id for member_id in self.in_play() if topic_id in self.spec.members[member_id].topic_ids),
            None,
        )
        if taker is None:
            raise Refused(UNKNOWN_SERVER_ERROR)
        actual = self.moves.instead_of(partition, self.owner[partition], taker)
        giver = self.owner[actual]
        self.moves.note(actual, giver, taker)
        self.take(actual, giver)
        self.give(actual, taker)


class _Moves:
    """What was moved so far: each partition from its first owner to its last."""

    def __init__(self) -> None:
        self.by_partition: dict[Partition, Move] = {}
        self.by_topic: dict[str, dict[Move, JavaHashSet[Partition]]] = {}

    def instead_of(self, partition: Partition, owner: str, taker: str) -> Partition:
        """A partition that was moved the other way is moved back instead of another one of its topic."""
        moves = self.by_topic.get(partition[0])
        if moves is None:
            return partition
        earlier = self.by_partition.get(partition)
        if earlier is not None:
            if earlier[1] != owner:
                raise InvariantError(f"partition {partition} was moved to {earlier[1]} and is with {owner}")
            owner = earlier[0]
        back = moves.get((taker, owner))
        return partition if back is None else back.in_order()[0]

    def note(self, partition: Partition, giver: str, taker: str) -> None:
        earlier = self.by_partition.pop(partition, None)
        if earlier is None:
            self._add(partition, (giver, taker))
            return
        moves = self.by_topic[partition[0]]
        moves[earlier].remove(partition)
        if not len(moves[earlier]):
            del moves[earlier]
        if not moves:
            del self.by_topic[partition[0]]
        if earlier[1] == giver:
            # The original takes a second move of one partition for a mistake, and gives the whole assignment
            # up.
            raise Refused(UNKNOWN_SERVER_ERROR)
        if earlier[0] != taker:
            self._add(partition, (earlier[0], taker))

    def _add(self, partition: Partition, move: Move) -> None:
        self.by_partition[partition] = move
        held = self.by_topic.setdefault(partition[0], {}).setdefault(move, JavaHashSet(partition_hash))
        held.add(partition)
