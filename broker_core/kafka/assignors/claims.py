"""What members say they had before, and which of two that say the same is believed.

The leader has no record of its own: ownership is what the subscriptions claim. A member that was away too long comes
back with claims of an older generation, and a partition can then be claimed twice. The newer generation wins; of two
claims from one generation neither counts, and the partition is free.

Source: Kafka clients 3.9.2, AbstractStickyAssignor.allSubscriptionsEqual, StickyAssignor.memberData,
CooperativeStickyAssignor.memberData. Vectors: kafka/assignors.json, kinds `prior-conflict-*`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from broker_core.hashing.java_hash import utf16_order
from broker_core.hashing.java_map import java_order
from broker_core.kafka.assignors.protocol import NO_GENERATION, Subscription, TopicPartition


@dataclass(frozen=True, slots=True)
class Claim:
    """What one member says it had: the partitions, in the order in which Java would read them, and since when."""

    partitions: list[TopicPartition]
    generation: int


ClaimReader = Callable[[Subscription], Claim]


def claim_of_eager_member(subscription: Subscription) -> Claim:
    """Read the claim from the sticky user data: an eager member has revoked all it owned before it joins.

    The data groups partitions by topic, in the order of a Java map.

    >>> from broker_core.kafka.assignors import StickyUserData
    >>> data = StickyUserData((("u", 1), ("t", 2), ("u", 0)), generation=4)
    >>> claim_of_eager_member(Subscription(("t", "u"), user_data=data))
    Claim(partitions=[('t', 2), ('u', 1), ('u', 0)], generation=4)
    """
    data = subscription.user_data
    if data is None:
        return Claim([], NO_GENERATION)
    by_topic: dict[str, list[TopicPartition]] = {}
    for partition in data.partitions:
        by_topic.setdefault(partition[0], []).append(partition)
    return Claim([partition for topic in java_order(by_topic) for partition in by_topic[topic]], data.generation)


def claim_of_cooperative_member(subscription: Subscription) -> Claim:
    """Read the claim from the owned partitions, which the consumer protocol sends by topic and number.

    >>> claim_of_cooperative_member(Subscription(("t",), owned=(("t", 2), ("t", 0)), generation=4))
    Claim(partitions=[('t', 0), ('t', 2)], generation=4)
    """
    owned = sorted(subscription.owned, key=lambda partition: (utf16_order(partition[0]), partition[1]))
    return Claim(owned, subscription.generation)


@dataclass(frozen=True, slots=True)
class Ownership:
    """Who owned what, as far as the claims can be believed.

    owned: member -> partitions, members in Java's map order; only partitions that exist. doubly_claimed: those that
    two members of one generation claimed, in order of discovery. claims: the raw claims, members in the same order.
    max_generation: the highest generation seen, now or before. has_equal_subscriptions: all ask for the same topics.
    """

    owned: dict[str, list[TopicPartition]]
    doubly_claimed: dict[TopicPartition, None]
    claims: dict[str, Claim]
    max_generation: int
    has_equal_subscriptions: bool


def read_ownership(
    subscriptions: Mapping[str, Subscription],
    partition_counts: Mapping[str, int],
    read_claim: ClaimReader,
    max_generation: int,
) -> Ownership:
    """Collect the claims of all members and settle which of them hold.

    partition_counts: the topics that exist and are subscribed to. Claims of other topics are dropped, and so are claims
    of a number that a topic no longer has: Java lets these take up quota and can fail over them. An empty list of
    topics differs from any other; Java overlooks it when it comes first, and then gives that member partitions it did
    not ask for. max_generation: what the leader has seen before.
    """
    owned: dict[str, dict[TopicPartition, None]] = {}
    owner_of: dict[TopicPartition, str] = {}
    doubly_claimed: dict[TopicPartition, None] = {}
    claims: dict[str, Claim] = {}
    first_topics = next(iter(subscriptions.values())).topics
    has_equal_subscriptions = True

    for member in java_order(subscriptions):
        subscription = subscriptions[member]
        if subscription.topics != first_topics and set(subscription.topics) != set(first_topics):
            has_equal_subscriptions = False
        claim = claims[member] = read_claim(subscription)
        max_generation = max(max_generation, claim.generation)
        mine = owned[member] = {}
        for partition in claim.partitions:
            if not 0 <= partition[1] < partition_counts.get(partition[0], 0) or partition in mine:
                continue
            rival = owner_of.get(partition)
            if rival is None:
                mine[partition] = None
                owner_of[partition] = member
                continue
            # The rival's generation comes from its subscription even where its claim came with user data: a member of
            # an eager group that was away sends -1 there, though its user data tell an older, real generation.
            rival_generation = max(subscriptions[rival].generation, NO_GENERATION)
            if claim.generation >= rival_generation:
                owned[rival].pop(partition, None)
                owner_of[partition] = member
                if claim.generation == rival_generation:
                    doubly_claimed[partition] = None
                else:
                    mine[partition] = None
    return Ownership(
        {member: list(partitions) for member, partitions in owned.items()},
        doubly_claimed,
        claims,
        max_generation,
        has_equal_subscriptions,
    )
