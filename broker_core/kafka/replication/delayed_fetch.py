"""Long polls: a fetch that finds too little waits until there is enough, or something that its reader must
know.

    fetch.min.bytes there            answered
    fetch.max.wait.ms over           answered with what there is
    the segment was rolled           answered: the bytes of two segments are not added up
    not the leader any more, another leader epoch, the log was cut below the offset, the epochs diverge:
    answered at once

Source: Kafka 3.9 core DelayedFetch, ReplicaManager.fetchMessages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from broker_core.kafka.error_codes import Refused
from broker_core.kafka.log.leader_epochs import UNDEFINED
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.partition import Partition

TopicPartition = tuple[str, int]
Place = tuple[int, int, int]


class WaitingFetch(NamedTuple):
    """One fetch that waits. places: of each partition's offset (offset, segment's base offset, position),
    when it was read."""

    number: int
    fetches: Mapping[TopicPartition, PartitionFetch]
    places: Mapping[TopicPartition, Place]
    isolation: Isolation
    bytes_min: int
    until_ms: int
    needs_leader: bool = True

    @classmethod
    def of(
        cls,
        number: int,
        fetches: Mapping[TopicPartition, PartitionFetch],
        partitions: Mapping[TopicPartition, Partition],
        isolation: Isolation,
        bytes_min: int,
        until_ms: int,
        *,
        needs_leader: bool = True,
    ) -> WaitingFetch:
        """Make it of a fetch that was just answered with too little. Raises Refused where a partition is not
        led here."""
        places = {
            key: partitions[key]
            .log_for(fetch.leader_epoch, needs_leader=needs_leader)
            .position_of(fetch.offset)
            for key, fetch in fetches.items()
        }
        return cls(number, fetches, places, isolation, bytes_min, until_ms, needs_leader)

    def is_over(self, now_ms: int) -> bool:
        return self.until_ms <= now_ms

    def is_ready(self, partitions: Mapping[TopicPartition, Partition]) -> bool:
        """Whether it can be answered before its time: to be asked after every change of one of its
        partitions."""
        total = 0
        for key, fetch in self.fetches.items():
            partition = partitions.get(key)
            if partition is None:
                return True
            try:
                available = self._available(partition, fetch, self.places[key])
            except Refused:
                return True
            if available is None:
                return True
            total += available
        return total >= self.bytes_min

    def _available(self, partition: Partition, fetch: PartitionFetch, place: Place) -> int | None:
        """How many bytes have come since; None: there is something to be told at once. Raises Refused."""
        log = partition.log_for(fetch.leader_epoch, needs_leader=self.needs_leader)
        end = log.log_end_offset if self.isolation is Isolation.LOG_END else log.placed_high_watermark()
        if self.isolation is Isolation.TXN_COMMITTED:
            end = log.last_stable_offset
        if fetch.last_fetched_epoch is not None:
            epoch, end_offset = found = log.epochs.end_offset_for(
                fetch.last_fetched_epoch, log.log_end_offset
            )
            if found == UNDEFINED or epoch < fetch.last_fetched_epoch or end_offset < fetch.offset:
                return None
        if fetch.offset > end:
            return None
        if fetch.offset == end:
            return 0
        _, base, position = log.position_of(end)
        return min(position - place[2], fetch.bytes_max) if base == place[1] else None
