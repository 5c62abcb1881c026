"""Records that a producer without batches sends to the one broker of a small lane, written several in a step
(`sim/written.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from broker_core.kafka.broker import Broker
from broker_core.kafka.client.producer.plain import Producer
from broker_core.kafka.requests import ProduceRequest
from broker_core.sim.written import Written

if TYPE_CHECKING:
    from broker_core.sim.slot import Slot


def written(
    sender: Slot,
    receiver: Slot,
    publish: Callable[[int, int], tuple[int, ProduceRequest]],
    size_of: Callable[[int], int],
) -> Written:
    """The producer's records. publish(number, key): what it sends for one. size_of: bytes of a record, for
    the place of one without a key."""
    producer, broker = cast(Producer, sender.node), cast(Broker, receiver.node)
    logs, interested, partition_of = broker.state.logs, broker.interested, producer.partition_of

    def write(number: int, keys: Sequence[int], times: Sequence[int], place: int, until_us: int) -> int:
        # `publish`, and the broker's `receive` of what it makes, written out: this is what every record goes
        # through.
        for at in range(place, len(times)):
            if times[at] >= until_us:
                break
            place, key = at + 1, keys[at]
            partition = (
                partition_of[key] if key >= 0 else producer.place_keyless(size_of(number + at), sender)
            )
            log = logs[partition]
            log.records.append(number + at)
            log.end += 1
            if interested[partition]:
                sender.world.now_us = times[at]
                broker.wake_fetches(partition, receiver)
                break
        sender.links[producer.state.connection].last_us = times[place - 1]
        return place

    return Written(sender, publish, write)
