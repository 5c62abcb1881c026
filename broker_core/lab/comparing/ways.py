"""What can be compared: every rule of every model, both group protocols of Kafka, and settings that change a course.

A way is a lane of a comparison. Kafka's are those of a group's own comparison (`kafka/group_comparison.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.kafka.client.group_consumer.settings import CONSUMER
from broker_core.lab.kafka.group_comparison import VARIANTS
from broker_core.lab.scenario import LANE_KINDS, algorithm_ids

CHOSEN_MIN, CHOSEN_MAX = 2, 4


@dataclass(frozen=True, slots=True)
class Way:
    """id: the model and what it does, `kafka.server_uniform`; its words have this code too. settings: of its lane, beside
    the model and the algorithm."""

    id: str
    model: str
    algorithm: str
    settings: Json = field(default_factory=dict)

    @property
    def lane_id(self) -> str:
        return self.id.replace(".", "-", 1)

    def lane(self) -> Json:
        """As a scenario takes it."""
        return {"id": self.lane_id, "model": self.model, "algorithm": self.algorithm, **self.settings}


def _of_kafka() -> list[Way]:
    own = [
        Way(f"kafka.server_{variant.remote_assignor}", "kafka", f"server_{variant.remote_assignor}",
            {"group_protocol": CONSUMER})
        if variant.protocol == CONSUMER
        else Way(f"kafka.{variant.name}", "kafka", variant.algorithm)
        for variant in VARIANTS
    ]  # fmt: skip
    return [
        *own,
        Way("kafka.static_members", "kafka", "range", {"static_members": True}),
        Way("kafka.acks_1", "kafka", "range", {"acks": 1, "idempotence": False}),
        Way("kafka.acks_0", "kafka", "range", {"acks": 0, "idempotence": False}),
    ]


_MORE: Mapping[str, Sequence[Way]] = {
    "pulsar": (
        Way("pulsar.draining", "pulsar", "consistent_hash", {"order": "draining"}),
        Way("pulsar.unordered", "pulsar", "consistent_hash", {"order": "out_of_order"}),
    ),
    "tubemq": (Way("tubemq.newcomer_first", "tubemq", "modulo", {"scale_out": "newcomer_first"}),),
    "rabbitmq": (Way("rabbitmq.prefetch_50", "rabbitmq", "prefetch_5", {"prefetch": 50}),),
}


def _ways() -> list[Way]:
    ways: list[Way] = []
    for model in LANE_KINDS:
        if model == "kafka":
            ways += _of_kafka()
            continue
        ways += [Way(f"{model}.{algorithm}", model, algorithm) for algorithm in algorithm_ids(model)]
        ways += _MORE.get(model, ())
    return ways


WAYS: Mapping[str, Way] = MappingProxyType({way.id: way for way in _ways()})


def chosen_ways(ids: Sequence[str]) -> list[Way]:
    """Those of the ids, in their order. Raises CommandError at `ways`: too few, too many, twice, or unknown."""
    if not CHOSEN_MIN <= len(ids) <= CHOSEN_MAX:
        raise CommandError("ways", "choose {low} to {high} of them", low=CHOSEN_MIN, high=CHOSEN_MAX)
    for way_id in ids:
        if way_id not in WAYS:
            raise CommandError("ways", "there is no {way} to compare", way=way_id[:40])
    if len(set(ids)) != len(ids):
        raise CommandError("ways", "each can be chosen once")
    return [WAYS[way_id] for way_id in ids]
