"""Range as article 003 has it: the partitions of all topics in one row, cut once.

    9 partitions, 2 members:   D = 9 div 2 = 4,  R = 9 mod 2 = 1

        T1-0 T1-1 T1-2 T2-0 T2-1 | T2-2 T3-0 T3-1 T3-2
        C0                         C1

Kafka cuts each topic on its own, which gives 6 and 3 here. Nothing of this module is Kafka's.
Source: article 003, section 5.4.3 (RangeAssignor).
"""

from collections.abc import Mapping

from broker_core.hashing.java_hash import java_sorted
from broker_core.kafka.assignors.protocol import (
    Assignment,
    AssignmentRefused,
    PartitionRacks,
    Subscription,
    has_equal_subscriptions,
    partition_row,
    subscribed_topics,
)


def assign_range_global(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    partition_racks: PartitionRacks | None = None,
) -> Assignment:
    """Give member i the partitions from D*i + min(i, R), D of them and one more when i < R.

    subscriptions: member id -> what it asks for. partition_counts: topic -> number of partitions. The row is
    sorted by topic name and number, the members by id; racks and instance ids play no part. Returns every
    member, idle ones with []. Raises AssignmentRefused when subscriptions differ: the row would give members
    topics they did not ask for.

    >>> assign_range_global({"c0": Subscription(("t", "u")), "c1": Subscription(("t", "u"))}, {"t": 3, "u": 3})
    {'c0': [('t', 0), ('t', 1), ('t', 2)], 'c1': [('u', 0), ('u', 1), ('u', 2)]}
    """
    refuse_unequal_subscriptions(subscriptions, "range_global")
    row = partition_row(subscribed_topics(subscriptions, partition_counts), partition_counts)
    size, rest = divmod(len(row), len(subscriptions))
    assignment: Assignment = {}
    for index, member in enumerate(java_sorted(subscriptions)):
        start = size * index + min(index, rest)
        assignment[member] = row[start : start + size + (index < rest)]
    return assignment


def refuse_unequal_subscriptions(subscriptions: Mapping[str, Subscription], rule: str) -> None:
    """Raise AssignmentRefused unless all members ask for the same topics."""
    if not has_equal_subscriptions(subscriptions):
        raise AssignmentRefused(f"{rule} needs all members to subscribe to the same topics")
