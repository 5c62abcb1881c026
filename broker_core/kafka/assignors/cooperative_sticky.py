"""CooperativeSticky: the sticky answer, taken in two steps, so that only what moves stops.

    before          rebalance 1                 rebalance 2
    c0  0 1 2 3     c0  0 1     (2, 3 revoked)   c0  0 1
    c1              c1                           c1  2 3

A partition that another member still owns is left out of the first answer. Its owner sees that it is gone,
lets go, and joins again at once; in the second rebalance the partition is free and goes where it should.
Everything else is consumed all the while.

Source: Kafka clients 3.9.2, CooperativeStickyAssignor. Vectors: kafka/assignors.json,
kafka/assignors_rack.json, kafka/assignor_sequences.json.
"""

from collections.abc import Mapping

from broker_core.kafka.assignors.claims import CLAIMS_OF_COOPERATIVE_MEMBERS
from broker_core.kafka.assignors.protocol import (
    NO_GENERATION,
    Assignment,
    PartitionRacks,
    Subscription,
    TopicPartition,
)
from broker_core.kafka.assignors.sticky import assign_by_claims


def assign_cooperative_sticky(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    partition_racks: PartitionRacks | None = None,
    max_generation: int = NO_GENERATION,
) -> Assignment:
    """Balance the group, leaving out for now what its owner must first let go of.

    subscriptions: member id -> what it asks for, owns, and since which generation, in the coordinator's
    order.
    partition_counts: topic -> number of partitions. max_generation: see Assignor.assign. Returns every
    member, idle ones with []. If anything was left out, the owners rejoin, and the next call places it. Never
    raises.

    >>> owner = Subscription(("t",), owned=(("t", 0), ("t", 1), ("t", 2)), generation=1)
    >>> assign_cooperative_sticky({"c0": owner, "c1": Subscription(("t",))}, {"t": 3})
    {'c0': [('t', 0), ('t', 1)], 'c1': []}
    """
    assignment, moving = assign_by_claims(
        subscriptions, partition_counts, partition_racks, max_generation, CLAIMS_OF_COOPERATIVE_MEMBERS
    )
    if moving is None:
        moving = changing_hands(subscriptions, assignment)
    for member in dict.fromkeys(moving.values()):
        assignment[member] = [p for p in assignment[member] if moving.get(p) != member]
    return assignment


def changing_hands(
    subscriptions: Mapping[str, Subscription], assignment: Assignment
) -> dict[TopicPartition, str]:
    """Give the partitions that are new to their member and that another member owns and loses."""
    gained: dict[TopicPartition, str] = {}
    lost: set[TopicPartition] = set()
    for member, partitions in assignment.items():
        owned = frozenset(subscriptions[member].owned)
        gained.update((partition, member) for partition in partitions if partition not in owned)
        lost.update(owned.difference(partitions))
    return {partition: member for partition, member in gained.items() if partition in lost}
