"""What a classic member tells its assignors, and how the leader shares out with the one that the group voted
for.

Source: Kafka 3.9 clients ConsumerCoordinator (metadata, onLeaderElected), AbstractStickyAssignor,
CooperativeStickyAssignor (subscriptionUserData).
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.kafka.assignors import Assignor, StickyUserData, Subscription
from broker_core.kafka.assignors.subscription_bytes import (
    SubscriptionData,
    read_sticky_user_data,
    read_subscription,
    write_assignment,
    write_cooperative_user_data,
    write_sticky_user_data,
)  # fmt: skip
from broker_core.kafka.client.group_consumer.core import NO_GENERATION, Core
from broker_core.kafka.group import messages as m


class Assigning:
    """assignors: by name, a user's own among them; `names`: those that its settings offer, in order."""

    def __init__(self, core: Core, assignors: Mapping[str, Assignor]) -> None:
        self.core, self.assignors = core, assignors

    @property
    def names(self) -> list[str]:
        return self.core.settings.assignors or ["range", "cooperative-sticky"]

    @property
    def is_cooperative(self) -> bool:
        """The protocol that all its assignors can: eager, if one of them knows nothing else."""
        return all(self.assignors[name].cooperative for name in self.names)

    def subscriptions(self) -> list[tuple[str, SubscriptionData]]:
        """What it tells with its JoinGroup: one for each assignor that it offers."""
        return [(name, self._subscription(name)) for name in self.names]

    def _subscription(self, assignor: str) -> SubscriptionData:
        """What it asks for, with what this assignor wants to know of the last generation."""
        state = self.core.state
        member = state.member
        user_data = None
        if assignor == "cooperative-sticky":
            user_data = write_cooperative_user_data(member.previous_generation)
        elif self._learns_by_user_data(assignor) and member.previous_generation != NO_GENERATION:
            by_topic: dict[str, list[int]] = {}
            for topic, number in member.previous:
                by_topic.setdefault(topic, []).append(number)
            user_data = write_sticky_user_data(by_topic, member.previous_generation)
        return SubscriptionData(
            tuple(state.subscribed.topics),
            user_data,
            tuple(state.owned),
            member.generation,
            self.core.settings.client_rack or None,
        )

    def _learns_by_user_data(self, assignor: str) -> bool:
        """An eager assignor that keeps partitions where they were: its members own nothing when they join."""
        return self.assignors[assignor].remembers and not self.assignors[assignor].cooperative

    def counts(self, topics: Mapping[str, int]) -> dict[str, int]:
        """Topics -> partitions, as this member knows them now."""
        known = self.core.state.cluster.partition_counts()
        return {topic: known.get(topic, 0) for topic in topics}

    def lacks_metadata(self, answer: m.JoinGroupResponse) -> bool:
        cluster = self.core.state.cluster
        topics = sorted(
            {topic for entry in answer.members for topic in read_subscription(entry.metadata).topics}
        )
        missing = [topic for topic in topics if topic not in cluster.answered]
        if missing:
            cluster.wanted = sorted({*cluster.wanted, *missing})
            cluster.is_stale = True
        return bool(missing)

    def assign(self, answer: m.JoinGroupResponse) -> list[m.MemberAssignment]:
        """The leader shares the partitions out, by the assignor that the group voted for."""
        member, cluster = self.core.state.member, self.core.state.cluster
        subscriptions, learns = {}, self._learns_by_user_data(answer.protocol_name or "")
        for entry in answer.members:
            told = read_subscription(entry.metadata)
            remembered, generation = read_sticky_user_data(told.user_data) if learns else ([], NO_GENERATION)
            subscriptions[entry.member_id] = Subscription(
                told.topics,
                told.owned,
                told.generation,
                StickyUserData(tuple(remembered), generation) if told.user_data else None,
                entry.group_instance_id,
                told.rack,
            )
        topics = {topic for told in subscriptions.values() for topic in told.topics}
        counts = {topic: count for topic, count in cluster.partition_counts().items() if topic in topics}
        assignor = self.assignors[answer.protocol_name or ""]
        given = assignor.assign(
            subscriptions, counts, cluster.partition_racks(counts), max_generation=member.max_generation
        )
        member.max_generation = answer.generation_id
        member.counts = self.counts(dict.fromkeys(sorted(topics), 0))
        return [
            m.MemberAssignment(member_id, write_assignment(partitions))
            for member_id, partitions in given.items()
        ]
