"""The server's uniform assignor: as even as possible, and as little moved as possible.

With equal subscriptions it walks the members once: each keeps its partitions up to its quota (the first ones
get one more), lets go of the rest, and then those below their quota take what is free, in order. Unequal
subscriptions: `uniform_general.py`.
Source: Kafka 3.9 UniformAssignor, UniformHomogeneousAssignmentBuilder. Vectors:
kafka/group/consumer_protocol_848.json.
"""

from __future__ import annotations

from broker_core.hashing.java_map import JavaHashSet
from broker_core.kafka.group.consumer.assignor import GroupSpec, Target
from broker_core.kafka.group.consumer.java_sets import copied_numbers, in_topic_order
from broker_core.kafka.group.consumer.uniform_general import assign_uniform_general


def assign_uniform(spec: GroupSpec) -> dict[str, Target]:
    """Share all partitions evenly. Raises Refused for a topic without metadata."""
    if not spec.members:
        return {}
    return _assign_equal(spec) if spec.is_equal else assign_uniform_general(spec)


def _assign_equal(spec: GroupSpec) -> dict[str, Target]:
    topic_ids = in_topic_order(next(iter(spec.members.values())).topic_ids)
    if not topic_ids:
        return {}
    partitions = [
        (topic_id, number) for topic_id in topic_ids for number in range(spec.partition_count(topic_id))
    ]
    free = [partition for partition in partitions if partition not in spec.targeted]
    share, extra = divmod(len(partitions), len(spec.members))
    kept: dict[str, dict[str, JavaHashSet[int]]] = {}
    wanting: list[tuple[str, int]] = []
    for place, (member_id, member) in enumerate(spec.members.items()):
        room = share + (place < extra)
        mine = kept[member_id] = {}
        for topic_id, numbers in member.target.items():
            if topic_id not in topic_ids:
                continue
            held = copied_numbers(numbers)
            # A topic that fits is kept whole; of the first one that does not, the numbers that come last in
            # Java's order go.
            for number in held.in_order()[room:]:
                held.remove(number)
                free.append((topic_id, number))
            room -= min(room, len(numbers))
            if len(held):
                mine[topic_id] = held
        if room > 0:
            wanting.append((member_id, room))
    supply = iter(free)
    for member_id, room in wanting:
        for _, (topic_id, number) in zip(range(room), supply, strict=False):
            held = kept[member_id].setdefault(topic_id, JavaHashSet(int))
            held.add(number)
    return {
        member_id: {topic_id: tuple(mine[topic_id].in_order()) for topic_id in in_topic_order(mine)}
        for member_id, mine in kept.items()
    }
