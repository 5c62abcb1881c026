"""Produces with acks=-1 that wait until the whole ISR has their records: the purgatory.

    produce ─► appended up to 7 ─► waits for high watermark 7 ─► NONE
                                        │ time-out ─► REQUEST_TIMED_OUT, though the records stay
                                        │ no leader any more ─► NOT_LEADER_OR_FOLLOWER

Source: Kafka 3.9 core DelayedProduce. Vectors: kafka/replication/partition.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.partition import Partition


class WaitingProduce(NamedTuple):
    """One partition of a produce. required_offset: one past its last record. until_ms: when its time is over;
    None: it has no limit."""

    number: int
    required_offset: int
    until_ms: int | None = None


@dataclass(slots=True)
class DelayedProduces:
    """Those that wait for one partition, in the order in which they came."""

    waiting: list[WaitingProduce] = field(default_factory=list)

    def add(self, produce: WaitingProduce) -> None:
        self.waiting.append(produce)

    def complete(self, partition: Partition) -> list[tuple[int, ErrorCode]]:
        """Give (number, error) of those that are decided now: to be asked after every change of the
        partition."""
        log = partition.log
        if partition.is_leader and log is not None:
            high_watermark = log.high_watermark
            for produce in self.waiting:
                if produce.required_offset <= high_watermark:
                    break
            else:
                return []
        decided: list[tuple[int, ErrorCode]] = []
        still: list[WaitingProduce] = []
        for produce in self.waiting:
            is_done, error = partition.check_acks(produce.required_offset)
            if is_done or error is not ErrorCode.NONE:
                decided.append((produce.number, error))
            else:
                still.append(produce)
        self.waiting = still
        return decided

    def expire(self, now_ms: int) -> list[tuple[int, ErrorCode]]:
        """Give those whose time is over."""
        late = [
            produce for produce in self.waiting if produce.until_ms is not None and produce.until_ms <= now_ms
        ]
        self.waiting = [produce for produce in self.waiting if produce not in late]
        return [(produce.number, ErrorCode.REQUEST_TIMED_OUT) for produce in late]
