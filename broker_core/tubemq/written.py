"""Messages that a producer sends to the brokers, none of which does more than write them down, without a step
of the world (`sim/written.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from broker_core.sim.network import Link
from broker_core.sim.written import Unread
from broker_core.tubemq.broker import Partition
from broker_core.tubemq.client.producer import NO_KEY, Producer

if TYPE_CHECKING:
    from broker_core.sim.slot import Slot


def written(sender: Slot) -> Unread:
    """The producer's messages."""
    producer = cast(Producer, sender.node)
    sent = producer.state.sent
    ways: dict[
        int, tuple[str, Partition, Link]
    ] = {}  # of each key; one for all keys of a partition, so that they stay at hand
    to_partition: dict[str, tuple[str, Partition, Link]] = {}

    def way_of(code: int) -> tuple[str, Partition, Link]:
        connection, key = producer.route(code)
        if key not in to_partition:
            link = sender.links[connection]
            to_partition[key] = key, cast("Slot", link.to).node.state.partitions[key], link
        return to_partition[key]

    def write(number: int, keys: Sequence[int], times: Sequence[int], place: int, until_us: int) -> int:
        # The producer's `send`, and the broker's `send_message`, written out: this is what every message goes
        # through.
        for at in range(place, len(times)):
            at_us, code = times[at], keys[at]
            if at_us >= until_us:
                return at
            way = ways.get(code)
            if way is None:
                way = way_of(code)
                if code != NO_KEY:
                    ways[code] = way
            key, partition, link = way
            sent[key] += 1
            partition.log.messages.append(number + at)
            partition.end += 1
            link.last_us = at_us
        return len(times)

    return Unread(sender, producer.send, write)
