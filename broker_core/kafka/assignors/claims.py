"""What members say they had before, and which of two that say the same is believed.

The leader keeps no record: ownership is what the subscriptions claim. A member that was away too long comes
back with claims of an older generation, and a partition can then be claimed twice. The newer generation wins;
of two claims from one generation neither counts, and the partition is free.

Source: Kafka clients 3.9.2, AbstractStickyAssignor.allSubscriptionsEqual, StickyAssignor.memberData,
CooperativeStickyAssignor.memberData. Vectors: kafka/assignors.json, kinds `prior-conflict-*`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from broker_core.hashing.java_hash import utf16_order
from broker_core.hashing.java_map import computed_order, java_order
from broker_core.kafka.assignors.protocol import (
    NO_GENERATION,
    StickyUserData,
    Subscription,
    TopicPartition,
    has_equal_subscriptions,
)


@dataclass(frozen=True, slots=True)
class ClaimReader:
    """Where the members of one kind of group say what they had.

    read: the claim in a subscription. as_sent: its partitions in the order in which the leader receives them,
    which the lists of an unequal group follow.
    """

    read: Callable[[Subscription], StickyUserData]
    as_sent: Callable[[Iterable[TopicPartition]], list[TopicPartition]]


def by_java_topic(partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
    """Group partitions by topic in the order of a Java map, as the sticky user data are written.

    Of two topics in one slot of the map, the one that came later is first. Source: Kafka 3.9.2,
    CollectionUtils.groupPartitionsByTopic.

    >>> by_java_topic([("u", 1), ("t", 2), ("u", 0)])
    [('t', 2), ('u', 1), ('u', 0)]
    """
    by_topic: dict[str, list[TopicPartition]] = {}
    asked = []
    for partition in partitions:
        asked.append(partition[0])
        by_topic.setdefault(partition[0], []).append(partition)
    return [partition for topic in computed_order(asked) for partition in by_topic[topic]]


def by_topic_and_number(partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
    """Sort partitions as the consumer protocol writes those that a member owns.

    >>> by_topic_and_number([("u", 1), ("t", 2), ("u", 0)])
    [('t', 2), ('u', 0), ('u', 1)]
    """
    return sorted(partitions, key=lambda partition: (utf16_order(partition[0]), partition[1]))


# An eager member has revoked all it owned before it joins; the sticky user data remember it.
CLAIMS_OF_EAGER_MEMBERS = ClaimReader(lambda asked: asked.user_data or StickyUserData(()), by_java_topic)
CLAIMS_OF_COOPERATIVE_MEMBERS = ClaimReader(
    lambda asked: StickyUserData(asked.owned, asked.generation), by_topic_and_number
)


@dataclass(frozen=True, slots=True)
class Ownership:
    """Who owned what, as far as the claims can be believed.

    owned: member -> partitions, members in Java's map order; only partitions that exist. doubly_claimed:
    those that two members of one generation claimed, in order of discovery. claims: the claims as made,
    members in the same order.
    max_generation: the highest generation seen, now or before. has_equal_subscriptions: all ask for the same
    topics.
    """

    owned: dict[str, list[TopicPartition]]
    doubly_claimed: dict[TopicPartition, None]
    claims: dict[str, StickyUserData]
    max_generation: int
    has_equal_subscriptions: bool


def read_ownership(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    reader: ClaimReader,
    max_generation: int,
) -> Ownership:
    """Collect the claims of all members and settle which of them hold.

    partition_counts: the topics that exist and are subscribed to. Claims of other topics are dropped, and so
    are claims of a number that a topic no longer has: Java lets these take up quota and can fail over them.
    An empty list of topics differs from any other; Java overlooks it when it comes first, and then gives that
    member partitions it did not ask for. max_generation: what the leader has seen before.
    """
    is_equal = has_equal_subscriptions(subscriptions)
    claims = {member: reader.read(subscriptions[member]) for member in java_order(subscriptions)}
    owned: dict[str, list[TopicPartition]] = {}
    for member, claim in claims.items():
        # Equal groups sort each list again, so the order of the claim does not matter. In others a deleted
        # topic still had its slot.
        as_sent = claim.partitions if is_equal else reader.as_sent(claim.partitions)
        owned[member] = [p for p in as_sent if 0 <= p[1] < partition_counts.get(p[0], 0)]
    doubly_claimed: dict[TopicPartition, None] = {}
    if len(set().union(*owned.values())) < sum(map(len, owned.values())):
        owned, doubly_claimed = _settle_disputes(owned, claims, subscriptions)
    newest = max(claim.generation for claim in claims.values())
    return Ownership(owned, doubly_claimed, claims, max(max_generation, newest), is_equal)


def _settle_disputes(
    claimed: Mapping[str, list[TopicPartition]],
    claims: Mapping[str, StickyUserData],
    subscriptions: Mapping[str, Subscription],
) -> tuple[dict[str, list[TopicPartition]], dict[TopicPartition, None]]:
    """Let the newer of two claims win, and neither of two from one generation, which are returned as well."""
    owned: dict[str, dict[TopicPartition, None]] = {}
    owner_of: dict[TopicPartition, str] = {}
    doubly_claimed: dict[TopicPartition, None] = {}
    for member, partitions in claimed.items():
        owned[member] = dict.fromkeys(partitions)
        generation = claims[member].generation
        for partition in partitions:
            rival = owner_of.setdefault(partition, member)
            if rival == member:
                continue
            # The rival's generation comes from its subscription even where its claim came with user data: a
            # member of an eager group that was away sends -1 there, though its user data tell an older, real
            # generation.
            rival_generation = max(subscriptions[rival].generation, NO_GENERATION)
            if generation <= rival_generation:
                owned[member].pop(partition, None)
            if generation >= rival_generation:
                owned[rival].pop(partition, None)
                owner_of[partition] = member
            if generation == rival_generation:
                doubly_claimed[partition] = None
    return {member: list(partitions) for member, partitions in owned.items()}, doubly_claimed
