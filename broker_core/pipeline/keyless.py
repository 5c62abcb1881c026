"""Where records without a key go, as the lab's lanes place them.

    Pulsar    all to the owner of "NONE_KEY" (3.2, Commands.peekStickyKey), also on the ring of current, which would spread them by
              producer and sequence id: records have neither
    Kafka     the producer sticks to a partition for two batches' worth of bytes, then draws another: it depends on their order and sizes
    TubeMQ    the lab's router: to the partitions in turn
    RabbitMQ  as any other record: to the consumer whose turn it is; under a consistent hash with the empty key

Where the order of a workload is not known, or more than SEQUENCE_MAX records have no key, Kafka's and
TubeMQ's are spread evenly over the partitions, records and bytes, and the result says so.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from broker_core.kafka.producer.placement import Placement
from broker_core.lab.pulsar.owners import NO_KEY_HASH_KEY
from broker_core.pipeline.route_tasks import units_of
from broker_core.pipeline.strategies.base import Int64s
from broker_core.pipeline.units import UnitMap
from broker_core.rng import SeededRandom

SEQUENCE_MAX = 1_000_000
"""Records without a key that are placed one by one; each takes about a microsecond of the driver."""

FOR_A_KEY = {"pulsar": NO_KEY_HASH_KEY, "rabbitmq": ""}
"""Model -> the key as which records without one are hashed, where that is one; a RabbitMQ message has the empty one."""

InOrder = tuple[Int64s, Int64s]
"""Place (stretch between changes) and bytes of each record without a key, in order."""


def by_unit(
    model: str, units: UnitMap, totals: Int64s, sequence: InOrder | None, seed: int, keyed: Collection[int]
) -> Int64s:
    """What a strategy's units get of the records without a key: [place, unit, (records, bytes)].

    totals: [place, (records, bytes)]. sequence: None where the order is not known. seed: of the lab.
    keyed: units to which records with keys go.
    """
    counts = np.zeros((len(totals), units.count, 2), np.int64)
    if model in FOR_A_KEY:
        counts[:, unit_of_keyless(model, units)] = totals
    elif sequence is None:
        counts += spread_evenly(totals, units.count)
    else:
        places, sizes = sequence
        partitions = (
            kafka_partitions(sizes.tolist(), units.count, seed, keyed)
            if model == "kafka"
            else in_turn(len(sizes), units.count)
        )
        np.add.at(counts[:, :, 0], (places, partitions), 1)
        np.add.at(counts[:, :, 1], (places, partitions), sizes)
    return counts


def unit_of_keyless(model: str, units: UnitMap) -> int:
    """The unit of the key that a model takes for none."""
    return int(units_of(units, pa.array([FOR_A_KEY[model]]))[0])


def kafka_partitions(
    sizes: Sequence[int], partition_count: int, seed: int, keyed: Collection[int]
) -> NDArray[np.int64]:
    """The partition of each keyless record, in order. sizes: bytes of each; seed: of the lab; keyed:
    partitions to which records with keys go, too."""
    random, placement = SeededRandom(seed), Placement(partition_count)
    placement.saw(keyed)
    return np.array([placement.of_keyless(size, random.below) for size in sizes], np.int64)


def in_turn(count: int, partition_count: int) -> NDArray[np.int64]:
    """The partition of each of `count` keyless records under the lab's TubeMQ router."""
    return np.arange(count, dtype=np.int64) % partition_count


def spread_evenly(totals: Int64s, partition_count: int) -> Int64s:
    """[place, partition, (records, bytes)] from [place, (records, bytes)]: as even as whole numbers allow,
    the first get one more."""
    each, rest = np.divmod(totals[:, None, :], partition_count)
    spread: Int64s = each + (np.arange(partition_count)[None, :, None] < rest)
    return spread
