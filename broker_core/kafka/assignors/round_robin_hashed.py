"""RoundRobin as article 003 has it: the partitions sorted by a hash, then dealt to the members in a circle.

    t-9 hashes to 112928, t-10 to 3500568, u-0 to 113880: up to ten partitions topics follow one another as by
    name, beyond ten the two-digit numbers of all topics come after the one-digit numbers of all.

That was the rule of Kafka's old Scala consumer; today's sorts by topic and number. The article says "the hash
of topic and partition" without naming it: this is Java's String.hashCode of `topic-partition`, signed,
ascending.
Source: article 003, section 5.4.3 (RoundRobinAssignor).
"""

from collections.abc import Mapping

from broker_core.hashing.java_hash import java_sorted, string_hash
from broker_core.kafka.assignors.protocol import (
    Assignment,
    PartitionRacks,
    Subscription,
    partition_row,
    subscribed_topics,
)
from broker_core.kafka.assignors.range_global import refuse_unequal_subscriptions


def assign_round_robin_hashed(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    partition_racks: PartitionRacks | None = None,
) -> Assignment:
    """Deal the partitions, by hash of their name, to the members, by id, in a circle.

    subscriptions: member id -> what it asks for. partition_counts: topic -> number of partitions. Partitions
    of equal hash are sorted by topic and number; racks and instance ids play no part. Returns every member,
    idle ones with []; each list in the order of dealing. Raises AssignmentRefused when subscriptions differ,
    which the article rules out.

    >>> both = Subscription(("t0", "t1"))
    >>> assign_round_robin_hashed({"c0": both, "c1": both}, {"t0": 2, "t1": 1})
    {'c0': [('t0', 0), ('t1', 0)], 'c1': [('t0', 1)]}
    """
    refuse_unequal_subscriptions(subscriptions, "round_robin_hashed")
    row = partition_row(subscribed_topics(subscriptions, partition_counts), partition_counts)
    # The sort is stable: ties keep the order by topic and number.
    row.sort(key=lambda partition: string_hash(f"{partition[0]}-{partition[1]}"))
    members = java_sorted(subscriptions)
    return {member: row[index :: len(members)] for index, member in enumerate(members)}
