"""Long polls on their own: how many bytes are enough, over how many partitions, for whom."""

import pytest

from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.delayed_fetch import TopicPartition, WaitingFetch
from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.partition import Partition
from tests.core.kafka.replication.brokers_of_a_test import NOW, append, decided, fetch, leader

T0, T1 = ("t", 0), ("t", 1)
SIZE = 69
"""Of a batch of one record with one byte."""


def poll(
    partitions: dict[TopicPartition, Partition],
    *,
    bytes_min: int,
    isolation: Isolation = Isolation.LOG_END,
    needs_leader: bool = True,
    **asked: int,
) -> WaitingFetch:
    """From the log end of each on."""
    fetches = {
        key: PartitionFetch(partition.log.log_end_offset, partition.leader_epoch, **asked)
        for key, partition in partitions.items() if partition.log is not None
    }  # fmt: skip
    return WaitingFetch.of(1, fetches, partitions, isolation, bytes_min, NOW + 500, needs_leader=needs_leader)


@pytest.mark.parametrize(
    ("bytes_min", "is_ready"), [(2 * SIZE - 1, True), (2 * SIZE, True), (2 * SIZE + 1, False)]
)
def test_the_bytes_of_all_partitions_are_added_up_and_exactly_enough_is_enough(
    bytes_min: int, is_ready: bool
) -> None:
    partitions = {T0: leader(), T1: leader()}
    waiting = poll(partitions, bytes_min=bytes_min)
    for partition in partitions.values():
        append(partition, "a")
    assert waiting.is_ready(partitions) is is_ready


def test_no_partition_counts_more_than_its_reader_takes_of_it() -> None:
    partitions = {T0: leader(), T1: leader()}
    waiting = poll(partitions, bytes_min=2 * SIZE, bytes_max=SIZE)
    for _ in range(3):
        append(partitions[T0], "a")
    assert not waiting.is_ready(partitions)
    append(partitions[T1], "a")
    assert waiting.is_ready(partitions)


def test_one_partition_that_has_something_to_say_answers_for_all() -> None:
    partitions = {T0: leader(), T1: leader()}
    waiting = poll(partitions, bytes_min=10_000)
    partitions[T1].make_leader(decided(1, 1, 1, (1, 2, 3)), NOW)
    assert waiting.is_ready(partitions), "the leader epoch is another one"


def test_who_reads_committed_records_waits_for_the_last_stable_offset() -> None:
    partition = leader(isr=(1,), replicas=(1,))
    waiting = poll({T0: partition}, bytes_min=1, isolation=Isolation.TXN_COMMITTED)
    plain = poll({T0: partition}, bytes_min=1, isolation=Isolation.HIGH_WATERMARK)
    assert partition.log is not None
    partition.log.append_pairs(
        [(None, b"a")], now_ms=NOW, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    partition.log.high_watermark = 1
    assert (plain.is_ready({T0: partition}), waiting.is_ready({T0: partition})) == (True, False)
    partition.append_marker(ControlType.COMMIT, 7, 0, 0, NOW)
    assert waiting.is_ready({T0: partition})


def test_a_consumer_at_a_follower_waits_on_until_the_replica_is_gone() -> None:
    partition = leader(isr=(1, 2), replicas=(1, 2))
    partition.make_follower(decided(2, 1, 1, (), (1, 2)))
    waiting = poll({T0: partition}, bytes_min=1, isolation=Isolation.HIGH_WATERMARK, needs_leader=False)
    assert not waiting.is_ready({T0: partition})
    with pytest.raises(Refused) as refused:
        poll({T0: partition}, bytes_min=1)
    assert refused.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert waiting.is_ready({})


@pytest.mark.parametrize(("last_epoch", "is_ready"), [(0, False), (1, True)])
def test_an_epoch_of_the_readers_that_nobody_knows_here_is_told_at_once(
    last_epoch: int, is_ready: bool
) -> None:
    partition = leader()
    append(partition, "a")
    assert (
        poll({T0: partition}, bytes_min=1_000, last_fetched_epoch=last_epoch).is_ready({T0: partition})
        is is_ready
    )


def test_a_reader_below_the_end_counts_what_lies_between() -> None:
    partition = leader(isr=(1, 2), replicas=(1, 2))
    append(partition, "a")
    append(partition, "b")
    fetch(partition, 2, 1)
    fetches = {T0: PartitionFetch(0, 0)}
    for isolation, there in ((Isolation.LOG_END, 2 * SIZE), (Isolation.HIGH_WATERMARK, SIZE)):
        for bytes_min in (there, there + 1):
            waiting = WaitingFetch.of(1, fetches, {T0: partition}, isolation, bytes_min, NOW)
            assert waiting.is_ready({T0: partition}) is (bytes_min == there)
