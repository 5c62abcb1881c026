"""What every assignor takes and gives.

In Kafka an assignor is code of the group's *leader*, a consumer: the broker hands it the subscription of each
member and passes its answer on, and knows nothing of partitions itself. So all that an assignor can remember
travels in the
subscriptions: the sticky kinds ask each member what it had before.

Source: Kafka clients 3.9.2, ConsumerPartitionAssignor, AbstractPartitionAssignor, ConsumerProtocol.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

from broker_core.errors import CommandError
from broker_core.hashing.java_hash import java_sorted, utf16_order

TopicPartition = tuple[str, int]
Assignment = dict[str, list[TopicPartition]]
PartitionRacks = Mapping[str, Sequence[Sequence[str | None]]]
"""Topic -> for each partition the racks of its replicas, in replica order; None: a replica without a rack."""

NO_GENERATION = -1


class AssignmentRefused(CommandError):
    """The rule cannot serve these subscriptions; the field is always `algorithm`, the reason says what it
    asks for."""

    def __init__(self, reason: str) -> None:
        super().__init__("algorithm", reason)


@dataclass(frozen=True, slots=True)
class StickyUserData:
    """What a member of a `sticky` group sends along: its last assignment and the generation that gave it."""

    partitions: tuple[TopicPartition, ...]
    generation: int = NO_GENERATION


@dataclass(frozen=True, slots=True)
class Subscription:
    """What one member asks for when it joins.

    topics: in any order. owned: what it holds now; empty in eager groups, which revoke before they join.
    generation: the last one it was part of, -1 for none. user_data: `sticky` only, None before the first
    assignment. instance_id: group.instance.id of a static member. rack: client.rack; None or "" for none.
    """

    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()
    generation: int = NO_GENERATION
    user_data: StickyUserData | None = None
    instance_id: str | None = None
    rack: str | None = None


Rule = Callable[[Mapping[str, Subscription], Mapping[str, int], PartitionRacks, int], Assignment]


@dataclass(frozen=True, slots=True)
class Assignor:
    """One way to share partitions among members, under the name by which members ask for it.

    cooperative: a partition that moves is left out once, and given to its new owner in the next rebalance,
    after the old one has let go. remembers: the caller must carry ownership from one generation to the next:
    in `owned` and `generation` when cooperative, else in `user_data`. document: the rule of the article, not
    of Kafka.
    """

    id: str
    rule: Rule
    cooperative: bool = False
    remembers: bool = False
    document: bool = False

    def assign(
        self,
        subscriptions: Mapping[str, Subscription],
        partition_counts: Mapping[str, int],
        partition_racks: PartitionRacks | None = None,
        max_generation: int = NO_GENERATION,
    ) -> Assignment:
        """Share the partitions of all subscribed topics.

        subscriptions: member id -> subscription, in the order in which the coordinator lists the members:
        Java's map order, on which the sticky kinds lean, follows from it. partition_counts: topic -> number
        of partitions; a topic that is not in it, or has 0, does not exist. partition_racks: None when brokers
        have no racks. max_generation: the highest generation that this leader has seen in earlier rebalances.
        Kafka keeps it in the assignor object, where it only grows; here it is state of the caller
        (`highest_generation` gives the next value), so that assigning stays a pure function. -1, a new
        leader, is right for a leader that has been in every generation.

        Returns every member in id order, idle ones with []. Raises CommandError for a negative count, and
        AssignmentRefused where a document rule cannot serve the subscriptions.
        """
        for topic, count in partition_counts.items():
            if count < 0:
                raise CommandError("partition_counts", f"topic {topic} cannot have {count} partitions")
        if not subscriptions:
            return {}
        assignment = self.rule(subscriptions, partition_counts, partition_racks or {}, max_generation)
        return {member: assignment[member] for member in java_sorted(subscriptions)}


def subscribed_topics(
    subscriptions: Mapping[str, Subscription], partition_counts: Mapping[str, int]
) -> list[str]:
    """Give the topics that somebody subscribes to and that have partitions, by name.

    >>> subscribed_topics({"c0": Subscription(("t1", "t0", "gone"))}, {"t0": 1, "t1": 2, "unread": 3})
    ['t0', 't1']
    """
    # Most members of a group ask for the same list: look at each list once.
    lists = dict.fromkeys(subscription.topics for subscription in subscriptions.values())
    asked = dict.fromkeys(topic for topics in lists for topic in topics)
    return java_sorted(topic for topic in asked if partition_counts.get(topic, 0) > 0)


def partition_row(topics: Iterable[str], partition_counts: Mapping[str, int]) -> list[TopicPartition]:
    """Give all partitions of `topics`, topic by topic, ascending.

    >>> partition_row(["t", "u"], {"t": 2, "u": 1})
    [('t', 0), ('t', 1), ('u', 0)]
    """
    row: list[TopicPartition] = []
    for topic in topics:
        row += zip(repeat(topic), range(partition_counts[topic]))
    return row


def has_equal_subscriptions(subscriptions: Mapping[str, Subscription]) -> bool:
    """Say whether all members ask for the same topics, in whatever order.

    >>> has_equal_subscriptions({"c0": Subscription(("t", "u")), "c1": Subscription(("u", "t"))})
    True
    """
    lists = dict.fromkeys(subscription.topics for subscription in subscriptions.values())
    return len({frozenset(topics) for topics in lists}) <= 1


def members_in_order(subscriptions: Mapping[str, Subscription]) -> list[str]:
    """Give the members as Range and RoundRobin line them up: static ones by instance id, then the others by
    member id.

    So a static member keeps its place when it restarts under another member id.
    Source: AbstractPartitionAssignor.MemberInfo.compareTo.

    >>> members_in_order({"a": Subscription(()), "z": Subscription((), instance_id="1")})
    ['z', 'a']
    """

    named = [(subscription.instance_id, member) for member, subscription in subscriptions.items()]
    by_instance = sorted((utf16_order(name), member) for name, member in named if name is not None)
    return [member for _, member in by_instance] + java_sorted(
        member for name, member in named if name is None
    )


def highest_generation(subscriptions: Mapping[str, Subscription], max_generation: int = NO_GENERATION) -> int:
    """Give the highest generation that a leader knows after it has seen these subscriptions.

    >>> highest_generation({"c0": Subscription((), generation=4)}, 2)
    4
    """
    claims = [max_generation]
    for subscription in subscriptions.values():
        claims.append(subscription.generation)
        if subscription.user_data is not None:
            claims.append(subscription.user_data.generation)
    return max(claims)
