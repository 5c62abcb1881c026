"""What a command's check may know of a lane, whatever its model: a struct, made from the lane and stored
beside the lab's view, so that a web process asks the very same.

What commands change is always here. What time changes as well is None in a stored struct, which may be a
second old: then the worker answers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

import msgspec

from broker_core.lab.consumer import CRASHED, FROZEN, GONE, PAUSED, STUCK, Consumer
from broker_core.lab.shared.lane import Lane
from broker_core.lab.size import LaneSize
from broker_core.lab.sizing import size_of_lane


class ConsumerFacts(msgspec.Struct, frozen=True, array_like=True):
    """A consumer of a lane."""

    has_crashed: bool  # also after its broker has noticed
    is_paused: bool
    has_own_pace: bool  # an order has made it slower or faster than the scenario says
    is_frozen: bool  # of a Kafka group's member
    is_stuck: bool  # of a Kafka group's member

    @classmethod
    def of(cls, consumer: Consumer) -> ConsumerFacts:
        state = consumer.state
        return cls(
            state in (CRASHED, GONE),
            state == PAUSED,
            consumer.service_us != consumer.normal_us,
            state == FROZEN,
            state == STUCK,
        )


class LaneFacts(msgspec.Struct, frozen=True, kw_only=True, tag="lane"):
    """A lane; those with orders of their own have a struct of their own over it."""

    id: str
    model: str
    algorithm: str
    algorithms: list[str]  # those that it can be switched to, and its own
    consumers: dict[str, ConsumerFacts]
    size: LaneSize
    sizes: dict[str, LaneSize]  # what it would be under each algorithm
    takes_consumers: bool = True  # of the lab's own

    @property
    def names(self) -> Collection[str]:
        return self.consumers.keys()

    def consumer(self, name: str) -> ConsumerFacts:
        return self.consumers[name]

    def settled(self) -> Self:
        """Without what time changes, too."""
        return self


def facts_of_any(lane: Lane) -> dict[str, object]:
    """The fields of `LaneFacts`."""
    algorithms = [str(entry["id"]) for entry in lane.rules.algorithms()]
    return {
        "id": lane.id,
        "model": lane.model,
        "algorithm": lane.algorithm,
        "algorithms": algorithms,
        "consumers": {name: ConsumerFacts.of(consumer) for name, consumer in lane.consumers.items()},
        "size": size_of_lane(lane),
        "sizes": {algorithm: size_of_lane(lane, algorithm) for algorithm in algorithms},
    }
