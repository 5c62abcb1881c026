"""What the pages of a Kafka cluster draw over time: where each copy of a partition ended, and how far the
group was behind.

How samples are kept: `history.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.cluster.state import TopicPartition
from broker_core.lab.kafka.views.cluster import Brokers, brokers_of, is_shown, partition_name
from broker_core.lab.shared.history import by_second, forget, pace_s
from broker_core.sim.slot import RUNNING
from broker_core.sim.world import World

OFFSETS_KEPT_S, LAGS_KEPT_S = 180, 60


@dataclass(slots=True)
class ClusterHistory:
    """offsets: second -> partition -> {leader, high_watermark, ends: broker -> log end}; leader and high
    watermark are None while no process leads.
    lags: second -> the group's lag in each partition of the lane's topic; no entry while nothing coordinates
    the group."""

    offsets: dict[int, dict[str, Json]] = field(default_factory=dict)
    lags: dict[int, list[int]] = field(default_factory=dict)

    def note_offsets(self, world: World, second: int) -> None:
        """This second is over."""
        forget(self.offsets, second - OFFSETS_KEPT_S)
        controller: ControllerState = world.slots[CONTROLLER].node.state
        shown = {
            (name, number): registration
            for name, topic in controller.rules.topics.items() if is_shown(name)
            for number, registration in enumerate(topic.partitions)
        }  # fmt: skip
        if second < 0 or second % pace_s(
            sum(len(registration.replicas) for registration in shown.values()), OFFSETS_KEPT_S
        ):
            return
        brokers = brokers_of(world)
        alive = {broker for broker in brokers if world.slots[broker_node(broker)].condition == RUNNING}
        self.offsets[second] = {
            partition_name(*key): _offsets(key, registration.leader, brokers, alive)
            for key, registration in shown.items()
        }

    def note_lags(self, lags: list[int], second: int) -> None:
        """This second is over; the group was so far behind, by partition."""
        forget(self.lags, second - LAGS_KEPT_S)
        if second >= 0:
            self.lags[second] = lags

    def offsets_view(self) -> Json:
        return by_second(self.offsets)

    def lags_view(self) -> Json:
        return by_second(self.lags)


def _offsets(key: TopicPartition, leader: int, brokers: Brokers, alive: set[int]) -> Json:
    logs = {broker: log for broker, state in brokers.items() if (log := state.disk.logs.get(key)) is not None}
    led = logs.get(leader) if leader in alive else None
    return {
        "leader": None if led is None else leader,
        "high_watermark": None if led is None else led.high_watermark,
        "ends": {str(broker): log.log_end_offset for broker, log in logs.items()},
    }
