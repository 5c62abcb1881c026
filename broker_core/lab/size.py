"""What a lab costs, known before it is built: the parts that its lanes are made of, each weighed by what it
takes of memory and of time.

    scenario ─► LaneSize of each lane ─► parts ─┬─► at most Limits.parts_max, said at the field that has most of them
    a living lane, after each command ──────────┘     (the web adds those of an address: dashboard/labs/room.py)

A part is about 1 kB, or 50 us of building, whichever is more. The weights were measured:
docs/decisions/what-a-lab-may-cost.md.
"""

from dataclasses import dataclass, replace
from typing import Self

from broker_core.errors import CommandError, HighwaterError
from broker_core.events import Json
from broker_core.lab.limits import Limits

RECORDS_WAITING_MAX = 1_000_000
"""Of all lanes of a lab together; a lab with more stops. One takes 40 bytes, in a Pulsar lane 220."""
KEYS_A_PART = 32
"""Keys of a workload, for each lane: each knows the hash of a key, or where it goes."""


class LabTooLarge(HighwaterError):
    """More records wait in the lanes of a lab than it may hold. waiting: how many."""

    def __init__(self, waiting: int) -> None:
        super().__init__(
            f"{waiting:,} records wait in its lanes, and a lab holds {RECORDS_WAITING_MAX:,} at most: "
            "copy it at an earlier moment, with a lower rate or more consumers"
        )
        self.waiting = waiting


@dataclass(frozen=True, slots=True)
class LaneSize:
    """partitions: of all topics of a Kafka lane; for Pulsar those
    that consumers subscribe to one by one. consumers: the lab's. readers: those of other groups and
    subscriptions. replicas: of Kafka's own topics, too. points: of a consumer on a hash ring. clients:
    writers, each with connections to all brokers. declared: exchanges, queues and bindings of a RabbitMQ lane's
    topology; publishers: its."""

    model: str
    consumers: int = 0
    readers: int = 0
    partitions: int = 1
    brokers: int = 1
    replicas: int = 0
    points: int = 0
    retention: int = 0
    clients: int = 0
    declared: int = 0
    publishers: int = 0

    @property
    def parts(self) -> int:
        return sum(self.by_field().values())

    def by_field(self) -> dict[str, int]:
        """The parts by the option that has the most to do with them."""
        programs = self.consumers + self.readers
        pairs = programs * self.partitions
        match self.model:
            case "kafka":
                around = {"brokers": 20 * self.brokers, "clients": 50 * self.clients}
                return {"partitions": pairs + 4 * self.replicas, "consumers": 25 * programs, **around}
            case "tubemq":
                return {
                    "partitions": self.partitions + pairs // 16,
                    "consumers": 10 * programs,
                    "brokers": (4 * programs + 10) * self.brokers,
                }
            case "pulsar":
                each = 4 * pairs + self.partitions**2 * (4 + programs) // 32 if self.partitions > 1 else 0
                return {
                    "partitions": each,
                    "consumers": 10 * programs,
                    "points": self.points * self.consumers // 2,
                    "retention": self.retention // 4,
                }
        return {"consumers": 10 * programs, "topology": 2 * self.declared + 10 * self.publishers}

    def grown(self, **more: int) -> Self:
        """With so much more of these."""
        return replace(self, **{name: getattr(self, name) + count for name, count in more.items()})

    def to_json(self) -> Json:
        """As a view has it; `LaneSize(**size)` is the way back."""
        return {name: getattr(self, name) for name in self.__slots__}


def keys_parts(lanes: int, keys: int) -> int:
    """What the keys of a workload take in so many lanes."""
    return lanes * keys // KEYS_A_PART


def check_parts(field: str, parts: int, limits: Limits) -> None:
    """Raise CommandError at `field` for a lab of more parts than one may have."""
    if parts > limits.parts_max:
        raise CommandError(
            field,
            "makes the lab too large, {parts} parts of at most {high}: it needs fewer partitions, "
            "replicas, consumers, brokers or keys",
            parts=parts,
            high=limits.parts_max,
        )
