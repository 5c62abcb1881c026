"""RoundRobin: all partitions in one row, dealt to the members in a circle.

    t0: 3 partitions, t1: 3 partitions, c0 and c1:   t0-0 t0-1 t0-2 t1-0 t1-1 t1-2
                                                     c0   c1   c0   c1   c0   c1

The circle does not start afresh with each topic. A member that does not subscribe to the topic at hand is
stepped over, and that is how unequal subscriptions come out unbalanced.

Source: Kafka clients 3.9.2, RoundRobinAssignor.assign. Vectors: kafka/assignors.json.
"""

from collections.abc import Mapping

from broker_core.kafka.assignors.protocol import (
    Assignment,
    PartitionRacks,
    Subscription,
    members_in_order,
    subscribed_topics,
)


def assign_round_robin(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    partition_racks: PartitionRacks | None = None,
) -> Assignment:
    """Deal all partitions, by topic name and number, to the subscribed members in a circle.

    subscriptions: member id -> what it asks for. partition_counts: topic -> number of partitions. Racks play
    no part.
    Returns every member, idle ones with []; each list in the order of dealing. Never raises.

    >>> assign_round_robin({"c0": Subscription(("t", "u")), "c1": Subscription(("t", "u"))}, {"t": 3, "u": 1})
    {'c0': [('t', 0), ('t', 2)], 'c1': [('t', 1), ('u', 0)]}
    """
    circle = members_in_order(subscriptions)
    topics_of = {member: frozenset(subscription.topics) for member, subscription in subscriptions.items()}
    assignment: Assignment = {member: [] for member in subscriptions}
    pointer = 0
    for topic in subscribed_topics(subscriptions, partition_counts):
        for number in range(partition_counts[topic]):
            while topic not in topics_of[circle[pointer]]:
                pointer = (pointer + 1) % len(circle)
            assignment[circle[pointer]].append((topic, number))
            pointer = (pointer + 1) % len(circle)
    return assignment
