"""The server's range assignor: each topic's partitions in contiguous runs over its subscribers, static
members first by instance id.

With every topic the first members get one partition more; topics with the same number of partitions are thus
shared alike.
Source: Kafka 3.9 coordinator.group.assignor.RangeAssignor. Vectors: kafka/group/consumer_protocol_848.json.
"""

from __future__ import annotations

from broker_core.hashing.java_hash import java_sorted, utf16_order
from broker_core.kafka.group.consumer.assignor import GroupSpec, Target


def assign_range(spec: GroupSpec) -> dict[str, Target]:
    """Share every topic on its own. Raises Refused for a topic without metadata."""
    members = _in_line(spec)
    readers: dict[str, list[str]] = {}
    for member_id in members:
        # With equal subscriptions the original asks the first member alone.
        asked = members[0] if spec.is_equal else member_id
        for topic_id in spec.members[asked].topic_ids:
            readers.setdefault(topic_id, []).append(member_id)
    given: dict[str, Target] = {member_id: {} for member_id in members}
    for topic_id, line in readers.items():
        share, extra = divmod(spec.partition_count(topic_id), len(line))
        start = 0
        for place, member_id in enumerate(line):
            end = start + share + (place < extra)
            if start < end:
                given[member_id][topic_id] = tuple(range(start, end))
            start = end
    return given


def _in_line(spec: GroupSpec) -> list[str]:
    named = [(member.instance_id, member_id) for member_id, member in spec.members.items()]
    static = sorted(
        (utf16_order(instance_id), member_id) for instance_id, member_id in named if instance_id is not None
    )
    return [member_id for _, member_id in static] + java_sorted(
        member_id for instance_id, member_id in named if instance_id is None
    )
