"""Taking partitions and letting go of them, as the program's rebalance listener hears of it.

    hold ─► nothing of these is handed over any more     revoke ─► onPartitionsRevoked     lose ─► onPartitionsLost     take ─► onPartitionsAssigned

Source: Kafka 3.9 clients ConsumerCoordinator, ConsumerRebalanceListenerInvoker,
SubscriptionState.markPendingRevocation.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.kafka.client.group_consumer.core import Core
from broker_core.kafka.client.group_consumer.subscription import TopicPartition, named
from broker_core.sim.node import Outbox


class Ownership:
    def __init__(self, core: Core) -> None:
        self.core = core

    def hold(self, partitions: Iterable[TopicPartition]) -> None:
        """These are about to be revoked: they are neither fetched nor handed over."""
        assigned = self.core.state.subscribed.assigned
        for partition in partitions:
            assigned[partition].is_revoking = True

    def revoke(self, partitions: list[TopicPartition], rule: str, out: Outbox) -> None:
        self._let_go(partitions, rule, out)

    def lose(self, out: Outbox) -> None:
        """The group gave them to others without asking."""
        self._let_go(self.core.state.owned, "kafka.consumer.lost", out)

    def take(self, partitions: list[TopicPartition], out: Outbox) -> None:
        """From now on these, in this order."""
        subscribed = self.core.state.subscribed
        new = [partition for partition in partitions if partition not in subscribed.assigned]
        subscribed.assign(partitions)
        if new:
            out.tell("kafka.consumer.assigned", None, {}, self._data(new))

    def _let_go(self, partitions: list[TopicPartition], rule: str, out: Outbox) -> None:
        if not partitions:
            return
        out.tell("kafka.consumer.revoked", rule, {}, self._data(partitions))
        self.core.state.subscribed.give_up(partitions)

    def _data(self, partitions: list[TopicPartition]) -> dict[str, object]:
        return {"client": self.core.settings.client_id, **named(partitions)}
