"""Brokers' logs after a restore: a checkpoint leaves them out, since what is in them follows from the records that were sent."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from broker_core.tubemq.broker import Broker, Consumed, MessageLog
from broker_core.tubemq.client.producer import ProducerState


def refill(
    brokers: Sequence[Broker], group: str, keys: Sequence[str], producer: ProducerState, next_record: int,
    partition_of: Callable[[int], str | None],
) -> None:
    """Give every log the messages from the group's stored offset on. It looks at no more records than it needs, from the last one back.

    keys: partitions, in the order in which messages without a key go round. producer: who sent all messages. next_record: number of the next
    one. partition_of: a message's partition, None for one without a key.
    """
    parts = {key: part for broker in brokers for key, part in broker.state.partitions.items()}
    first = {key: (part.groups.get(group) or Consumed()).offset for key, part in parts.items()}
    offsets = dict(producer.sent)
    tails: dict[str, list[int]] = {key: [] for key in parts}
    wanted = {key for key, part in parts.items() if first[key] < part.end}
    message, turn = next_record, producer.turn
    while wanted:
        message -= 1
        key = partition_of(message)
        if key is None:
            turn = (turn - 1) % len(keys)
            key = keys[turn]
        offset = offsets[key] = offsets[key] - 1
        if first[key] <= offset < parts[key].end:
            tails[key].append(message)
            if offset == first[key]:
                wanted.remove(key)
    for broker in brokers:
        broker.logs = {key: MessageLog(first[key], array("q", reversed(tails[key]))) for key in broker.state.partitions}
