"""Partitions and fetchers of a test: brokers 1 to 3, one partition, the network is a call."""

from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.batch_reader import whole_batches
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.brokers import Brokers, KnownBroker
from broker_core.kafka.replication.fetch import FetchedPartition, PartitionFetch
from broker_core.kafka.replication.fetcher import (
    EpochQuestion,
    Fetcher,
    OffsetQuestion,
    Truncated,
    Truncation,
)
from broker_core.kafka.replication.partition import AppendedToLeader, Partition
from broker_core.kafka.replication.partition_state import LeaderAndIsr

NOW = 0


def brokers() -> Brokers:
    return {broker: KnownBroker(100 + broker) for broker in (1, 2, 3)}


def replica(broker: int, known: Brokers, min_isr: int = 1) -> Partition:
    partition = Partition(broker, known, 100 + broker, min_isr)
    partition.log = PartitionLog.open(MemoryFolder(), now_ms=NOW, high_watermark=0)
    return partition


def decided(
    leader: int, epoch: int, partition_epoch: int, isr: tuple[int, ...], replicas: tuple[int, ...] = (1, 2, 3)
) -> LeaderAndIsr:
    return LeaderAndIsr(leader, epoch, partition_epoch, replicas, isr)


def leader(
    isr: tuple[int, ...] = (1, 2, 3), min_isr: int = 1, replicas: tuple[int, ...] = (1, 2, 3)
) -> Partition:
    """Broker 1 leads with epoch 0."""
    partition = replica(1, brokers(), min_isr)
    partition.make_leader(decided(1, 0, 0, isr, replicas), NOW)
    return partition


def append(partition: Partition, *values: str, acks: int = 1, now_ms: int = NOW) -> AppendedToLeader:
    """Append the values as one batch."""
    batch = encode_batch([Record(index, now_ms, None, value.encode()) for index, value in enumerate(values)])
    return partition.append_as_leader(batch.data, acks, now_ms)


def fetch(
    partition: Partition,
    follower: int,
    offset: int,
    *,
    now_ms: int = NOW,
    epoch: int | None = None,
    last: int | None = None,
    start: int = 0,
) -> FetchedPartition:
    """A fetch of that follower, under its broker epoch and the leader epoch that holds, if no other is
    given."""
    asked = PartitionFetch(offset, partition.leader_epoch if epoch is None else epoch, last, start)
    return partition.fetch_as_follower(follower, 100 + follower, asked, now_ms)


def controller_agrees(partition: Partition, now_ms: int = NOW) -> None:
    """The controller does what the leader has asked for."""
    request = partition.alter_partition.take_request()
    assert request is not None
    answer = LeaderAndIsr(
        partition.broker_id, request.leader_epoch, request.partition_epoch + 1, (), sorted(request.members)
    )
    partition.alter_partition_succeeded(answer, now_ms)


def hw(partition: Partition) -> int:
    assert partition.log is not None
    return partition.log.high_watermark


def values(partition: Partition) -> list[str]:
    assert partition.log is not None
    return [(record.value or b"").decode() for batch in partition.log.batches() for record in batch.records()]


def batches_in(answer: FetchedPartition) -> list[tuple[int, int]]:
    return (
        [(batch.header.base_offset, batch.header.last_offset) for batch in whole_batches(answer.data)]
        if answer.data
        else []
    )


def follow(fetcher: Fetcher, of: Partition, epoch: int, partition_epoch: int) -> None:
    """The fetcher's partition follows that one from now on."""
    assert fetcher.partition.make_follower(decided(of.broker_id, epoch, partition_epoch, ()))
    fetcher.start()


def fetch_round(fetcher: Fetcher, of: Partition) -> list[Truncated]:
    """One pass: what the follower asks before it fetches, one fetch, and what that makes it ask. Gives what
    was cut."""
    cuts = [fetcher.truncate_to_high_watermark(NOW)]
    while (request := fetcher.next_request()) is not None:
        try:
            if isinstance(request, EpochQuestion):
                cuts.append(
                    fetcher.epoch_answered(
                        request, of.last_offset_for_epoch(request.epoch, request.leader_epoch), NOW
                    )
                )
                continue
            if isinstance(request, OffsetQuestion):
                answer = of.list_offset(request.timestamp, Isolation.LOG_END, request.leader_epoch)
                assert answer is not None
                cuts.append(fetcher.offset_answered(request, answer.found.offset, NOW))
            else:
                follower = fetcher.partition
                fetched = of.fetch_as_follower(follower.broker_id, follower.broker_epoch, request, NOW)
                cuts.append(fetcher.fetch_answered(request, fetched, NOW))
        except (LogError, Refused) as error:
            fetcher.refused(request, ErrorCode(error.code))
        if fetcher.state is None or fetcher.state.asks is None:
            break
    return [cut for cut in cuts if cut is not None]


def pair(truncation: Truncation, min_isr: int = 1) -> tuple[Partition, Fetcher]:
    """Broker 1 leads with epoch 0, broker 2 follows."""
    known = brokers()
    first, second = replica(1, known, min_isr), replica(2, known, min_isr)
    first.make_leader(decided(1, 0, 0, (1, 2), (1, 2)), NOW)
    fetcher = Fetcher(second, truncation)
    follow(fetcher, first, 0, 0)
    return first, fetcher
