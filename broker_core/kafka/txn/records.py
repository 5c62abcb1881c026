"""A transactional id as a record of `__transaction_state`, and back: what a broker reads that becomes its
coordinator.

The topic is compacted: of each id the newest record counts. The value is plain, as a light batch holds it; on
a real disk it is TransactionLogKey and TransactionLogValue. Source: Kafka 3.9 core TransactionLog,
TransactionLogValue.json.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.txn.states import TransactionState
from broker_core.kafka.txn.transactional_id import TransactionalId

TRANSACTION_STATE_TOPIC = "__transaction_state"
PARTITION_COUNT = 50
"""Kafka's default transaction.state.log.num.partitions."""


def state_partition(transactional_id: str, partition_count: int = PARTITION_COUNT) -> int:
    """The partition of `__transaction_state` that keeps an id; its leader is the id's coordinator.

    >>> state_partition("orders"), state_partition("polygenelubricants")
    (31, 0)
    """
    return coordinator_partition(transactional_id, partition_count)


def as_record(known: TransactionalId) -> list[Any]:
    """The record of an id; partitions are there only while there are some to be told."""
    return [
        known.transactional_id,
        known.producer_id,
        known.producer_epoch,
        known.last_producer_id,
        known.last_producer_epoch,
        known.timeout_ms,
        known.state.value,
        [list(partition) for partition in known.partitions],
        known.started_ms,
        known.updated_ms,
    ]


def loaded(records: Iterable[Any]) -> dict[str, TransactionalId]:
    """Every id by its newest record."""
    ids: dict[str, TransactionalId] = {}
    for (
        name,
        producer_id,
        epoch,
        last_id,
        last_epoch,
        timeout_ms,
        state,
        partitions,
        started_ms,
        updated_ms,
    ) in records:
        ids[name] = TransactionalId(
            name, producer_id, timeout_ms, epoch, last_id, last_epoch, TransactionState(state),
            dict.fromkeys((topic, number) for topic, number in partitions), started_ms, updated_ms,
        )  # fmt: skip
    return ids
