"""Sticky: as balanced as can be, and among the balanced answers one that moves little.

    round robin after c1 left      sticky after c1 left
    c0  t0-0 t1-0 t2-0 t3-0        c0  t0-0 t1-1 t3-0 | t0-1        what c0 and c2 had stays,
    c2  t0-1 t1-1 t2-1 t3-1        c2  t1-0 t2-1 | t2-0 t3-1        only c1's partitions are dealt

Balance comes before stickiness. Groups whose members all subscribe to the same topics take the short way
(constrained.py), others the long one (general.py). The group is eager: all members stop, whatever moves.

Source: Kafka clients 3.9.2, StickyAssignor, AbstractStickyAssignor.assignPartitions. Vectors:
kafka/assignors.json, kafka/assignors_rack.json, kafka/assignor_sequences.json.
"""

from collections.abc import Mapping

from broker_core.kafka.assignors.claims import CLAIMS_OF_EAGER_MEMBERS, ClaimReader, read_ownership
from broker_core.kafka.assignors.constrained import assign_constrained
from broker_core.kafka.assignors.general import assign_general
from broker_core.kafka.assignors.protocol import (
    NO_GENERATION,
    Assignment,
    PartitionRacks,
    Subscription,
    TopicPartition,
    subscribed_topics,
)
from broker_core.kafka.assignors.rack_preference import RackPreference


def assign_sticky(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    partition_racks: PartitionRacks | None = None,
    max_generation: int = NO_GENERATION,
) -> Assignment:
    """Balance the group, leaving partitions where the members' user data say they were.

    subscriptions: member id -> what it asks for and had, in the coordinator's order. partition_counts: topic
    -> number of partitions. max_generation: see Assignor.assign. Returns every member, idle ones with [];
    what a member keeps comes first. Differs from Java where a claimed partition no longer exists: such claims
    are dropped. Never raises.

    >>> from broker_core.kafka.assignors import StickyUserData
    >>> had = StickyUserData((("t", 0), ("t", 1), ("t", 2)), generation=1)
    >>> assign_sticky({"c0": Subscription(("t",), user_data=had), "c1": Subscription(("t",))}, {"t": 3})
    {'c0': [('t', 0), ('t', 1)], 'c1': [('t', 2)]}
    """
    assignment, _ = assign_by_claims(
        subscriptions, partition_counts, partition_racks, max_generation, CLAIMS_OF_EAGER_MEMBERS
    )
    return assignment


def assign_by_claims(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    partition_racks: PartitionRacks | None,
    max_generation: int,
    reader: ClaimReader,
) -> tuple[Assignment, dict[TopicPartition, str] | None]:
    """Balance the group by the claims that `reader` finds in the subscriptions.

    Returns the assignment and the partitions that change hands between living members, with the new owner;
    None where the way taken does not tell them.
    """
    counts = {topic: partition_counts[topic] for topic in subscribed_topics(subscriptions, partition_counts)}
    ownership = read_ownership(subscriptions, counts, reader, max_generation)
    racks = RackPreference.of(subscriptions, counts, partition_racks or {})
    if ownership.has_equal_subscriptions:
        return assign_constrained(counts, ownership, racks)
    return assign_general(subscriptions, counts, ownership, racks), None
