"""When racks decide: a member that reads a replica in its own rack spares the traffic between racks.

Source: Kafka clients 3.9.2, AbstractPartitionAssignor.useRackAwareAssignment.
"""

from collections.abc import Iterable, Mapping

from broker_core.kafka.assignors.protocol import PartitionRacks, Subscription, TopicPartition


def member_racks(subscriptions: Mapping[str, Subscription]) -> dict[str, str]:
    """Give the rack of each member that has one; an empty rack is none.

    >>> member_racks({"c0": Subscription((), rack="east"), "c1": Subscription((), rack="")})
    {'c0': 'east'}
    """
    return {member: subscription.rack for member, subscription in subscriptions.items() if subscription.rack}


def replica_racks(
    topics: Iterable[str], partition_counts: Mapping[str, int], partition_racks: PartitionRacks
) -> dict[TopicPartition, frozenset[str]]:
    """Give the racks in which each partition of `topics` has a replica; a replica without a rack is passed
    over.

    >>> replica_racks(["t"], {"t": 2}, {"t": [["east", None]]})
    {('t', 0): frozenset({'east'}), ('t', 1): frozenset()}
    """
    racks: dict[TopicPartition, frozenset[str]] = {}
    for topic in topics:
        known = partition_racks.get(topic, ())
        for number in range(partition_counts[topic]):
            replicas = known[number] if number < len(known) else ()
            racks[topic, number] = frozenset(rack for rack in replicas if rack is not None)
    return racks


def has_use_for_racks(
    racks_of_members: Iterable[str], racks_of_partitions: Mapping[TopicPartition, frozenset[str]]
) -> bool:
    """Say whether racks can make a difference.

    They cannot when no member shares a rack with a replica, nor when every partition has a replica in all
    racks.

    >>> has_use_for_racks(["east"], {("t", 0): frozenset({"east"}), ("t", 1): frozenset({"west"})})
    True
    >>> has_use_for_racks(["east"], {("t", 0): frozenset({"east"}), ("t", 1): frozenset({"east"})})
    False
    """
    every_rack: frozenset[str] = frozenset().union(*racks_of_partitions.values())
    if every_rack.isdisjoint(racks_of_members):
        return False
    return any(racks != every_rack for racks in racks_of_partitions.values())
