"""`send`: a record gets its partition and a place in a batch, or waits for memory or metadata, and everything
sent after it waits with it.

    given partition ─► it           key ─► murmur2 over all partitions           neither ─► stick to one for a batch's worth of bytes

One application thread calls `send`, so the wait of a record holds up those behind it; each has max.block.ms
from when its turn comes.
Source: Kafka 3.9 clients KafkaProducer.doSend, BuiltInPartitioner, RecordAccumulator.append, BufferPool.
"""

from __future__ import annotations

from collections import deque

from broker_core.errors import CommandError
from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.client.producer.state import Deliveries, ProducerState, Unsent
from broker_core.kafka.client.producer.states import Phase
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.record_batch import HEADER_SIZE
from broker_core.kafka.producer.partitioner import PartitionLoads, StickyPartitioner, next_partition
from broker_core.kafka.producer.placement import DRAW_LIMIT, KEYLESS_STREAM
from broker_core.sim.node import Outbox


def send(state: ProducerState, record: Unsent, now_us: int, out: Outbox) -> bool:
    """The application has a record. Tells whether the sender has something to do now.

    Raises CommandError where the original throws at once: a partition that is not there, or a producer that
    is closed.
    """
    count = state.metadata.counts.get(record.topic)
    if record.partition >= 0 and count is not None and record.partition >= count:
        raise CommandError("partition", "{topic} has {count} partitions", topic=record.topic, count=count)
    if state.is_closing:
        raise CommandError("order", "the producer is closed")
    state.counts.sent += 1
    if record.topic not in state.topics:
        state.topics[record.topic] = None
        state.metadata.is_wanted = True
    batch = None if state.blocked else _accept(state, record, now_us, out)
    if batch is None:
        if not state.blocked:
            state.blocked_since_us = now_us
        state.blocked.append(record)
        return len(state.blocked) == 1
    # As the original, which wakes its sender for a batch that is new or full, and else leaves it asleep.
    return len(batch.values) == 1 or batch.is_full(state.settings.batch_size)


def take_in(state: ProducerState, deliveries: Deliveries, now_us: int, out: Outbox) -> None:
    """Let records that wait go on, as far as there is room; those whose wait is over have failed."""
    while state.blocked:
        if _accept(state, state.blocked[0], now_us, out) is not None:
            state.blocked.popleft()
        elif state.next_settings is not None:
            return  # it has not been given to a producer yet
        elif now_us - state.blocked_since_us >= state.settings.max_block_us:
            _drop(state, state.blocked.popleft(), ErrorCode.REQUEST_TIMED_OUT, deliveries, now_us, out)
        else:
            return
        state.blocked_since_us = now_us


def refuse_blocked(
    state: ProducerState, deliveries: Deliveries, error: ErrorCode, now_us: int, out: Outbox
) -> None:
    """The producer has failed for good: `send` throws for all that wait in it."""
    waiting, state.blocked = state.blocked, deque()
    for record in waiting:
        _drop(state, record, error, deliveries, now_us, out)


def _drop(
    state: ProducerState, record: Unsent, error: ErrorCode, deliveries: Deliveries, now_us: int, out: Outbox
) -> None:
    state.counts.dropped += 1
    if not state.is_dropping:
        state.is_dropping = True
        out.tell(
            "kafka.producer.send_failed",
            None,
            {"error": error.name},
            {"blocked": len(state.blocked) + 1, "free_bytes": state.accumulator.free},
        )
    deliveries.failed(out.name, (record.topic, record.partition), error, [record.value], now_us)


def _accept(state: ProducerState, record: Unsent, now_us: int, out: Outbox) -> Batch | None:
    """Put a record into a batch, if metadata and memory allow it."""
    count = state.metadata.counts.get(record.topic)
    if (
        count is None
        or state.next_settings is not None
        or (
            state.settings.transactional_id is not None
            and state.transaction.phase is not Phase.IN_TRANSACTION
        )
    ):
        return None
    settings, accumulator = state.settings, state.accumulator
    keyless: StickyPartitioner | None = None
    if record.partition >= 0:
        number = record.partition
    elif record.key_hash >= 0 and not settings.ignore_keys:
        number = record.key_hash % count
    else:
        keyless = state.keyless.get(record.topic)
        if keyless is None:
            keyless = state.keyless[record.topic] = StickyPartitioner(settings.batch_size)
        if keyless.partition is None:
            keyless.stick_to(_next_keyless(state, record.topic, count, out))
        number = keyless.partition or 0
    partition = (record.topic, number)
    batch = accumulator.append(partition, record.value, record.size, now_us, settings)
    if batch is None:
        return None
    state.is_dropping = False
    # As the original counts: the first record of a batch brings its header with it.
    added = record.size + (HEADER_SIZE if len(batch.values) == 1 else 0)
    if keyless is not None and keyless.append(added, accumulator.may_switch(partition, settings.batch_size)):
        keyless.stick_to(_next_keyless(state, record.topic, count, out))
    if settings.transactional_id is not None:
        state.transaction.add(partition)
    return batch


def _next_keyless(state: ProducerState, topic: str, count: int, out: Outbox) -> int:
    """Draw the next partition for keyless records: where queues differ, a shorter one is likelier; slow
    brokers are left out."""
    settings = state.settings
    leaders = {
        number: leader for number, (leader, _) in sorted(state.metadata.leaders.get(topic, {}).items())
    }
    loads = None
    if settings.adaptive_partitioning:
        patience = settings.availability_timeout_us
        slow = {
            broker: None
            for broker, there in state.peers.items()
            if patience and there.due_us - there.taken_us > patience
        }
        found = state.accumulator.queue_sizes(topic, leaders, slow) if len(leaders) == count else None
        if found is not None:
            loads = PartitionLoads.of(*found)
    return next_partition(out.draw(KEYLESS_STREAM, DRAW_LIMIT), list(leaders), count, loads)
