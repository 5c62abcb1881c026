"""What a leader answers to followers, consumers and those that ask for offsets: the first check that fails
decides."""

import pytest

from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.errors import OffsetOutOfRange
from broker_core.kafka.log.partition_log import EARLIEST, LATEST
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.partition import Partition
from tests.core.kafka.replication.brokers_of_a_test import NOW, append, batches_in, decided, fetch, leader


@pytest.fixture
def partition() -> Partition:
    """Epoch 0 wrote 0 and 1, epoch 1 wrote 2."""
    made = leader()
    append(made, "a", "b")
    made.make_leader(decided(1, 1, 1, (1, 2, 3)), NOW)
    append(made, "c")
    return made


@pytest.mark.parametrize(
    ("follower", "epoch", "code"),
    [
        (2, 0, ErrorCode.FENCED_LEADER_EPOCH),
        (9, 0, ErrorCode.FENCED_LEADER_EPOCH),
        (2, 2, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (9, 1, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_a_fetch_is_checked_for_its_epoch_first_and_then_for_its_sender(
    partition: Partition, follower: int, epoch: int, code: ErrorCode
) -> None:
    with pytest.raises(Refused) as refused:
        fetch(partition, follower, 0, epoch=epoch)
    assert refused.value.code is code


def test_a_replica_that_does_not_lead_refuses(partition: Partition) -> None:
    partition.make_follower(decided(2, 2, 2, ()))
    with pytest.raises(Refused) as refused:
        fetch(partition, 2, 0)
    assert refused.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (
        partition.fetch_as_consumer(
            PartitionFetch(0), Isolation.HIGH_WATERMARK, needs_leader=False
        ).log_end_offset
        == 3
    )


def test_an_epoch_that_nobody_knows_is_out_of_range(partition: Partition) -> None:
    with pytest.raises(OffsetOutOfRange):
        fetch(partition, 2, 0, last=7)


@pytest.mark.parametrize(("offset", "last", "diverging"), [(3, 0, (0, 2)), (9, 1, (1, 3))])
def test_a_log_that_parts_gets_the_epoch_and_no_data_and_nothing_is_noted(
    partition: Partition, offset: int, last: int, diverging: tuple[int, int]
) -> None:
    answer = fetch(partition, 2, offset, last=last)
    assert (answer.diverging, batches_in(answer), partition.followers[2].log_end_offset) == (
        diverging,
        [],
        -1,
    )


def test_without_the_last_epoch_an_offset_beyond_the_end_is_out_of_range(partition: Partition) -> None:
    with pytest.raises(OffsetOutOfRange):
        fetch(partition, 2, 9)


def test_a_fetch_from_before_the_brokers_restart_changes_nothing(partition: Partition) -> None:
    partition.brokers[2].epoch = 200
    with pytest.raises(Refused) as refused:
        fetch(partition, 2, 3)
    assert (refused.value.code, partition.followers[2].log_end_offset) == (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        -1,
    )


def test_consumers_get_no_batch_that_the_high_watermark_cuts(partition: Partition) -> None:
    fetch(partition, 2, 3)
    fetch(partition, 3, 1)
    answer = partition.fetch_as_consumer(PartitionFetch(0), Isolation.HIGH_WATERMARK)
    assert (answer.high_watermark, batches_in(answer)) == (1, [])


def test_latest_is_not_told_to_clients_before_the_new_leader_knows_what_was_committed(
    partition: Partition,
) -> None:
    with pytest.raises(Refused) as refused:
        partition.list_offset(LATEST, Isolation.HIGH_WATERMARK)
    assert refused.value.code is ErrorCode.OFFSET_NOT_AVAILABLE
    replicas = partition.list_offset(LATEST, Isolation.LOG_END)
    earliest = partition.list_offset(EARLIEST, Isolation.HIGH_WATERMARK)
    assert replicas is not None and (replicas.found.offset, replicas.epoch) == (3, 1)
    assert earliest is not None and (earliest.found.offset, earliest.epoch) == (0, 0)


def test_the_low_watermark_counts_followers_that_are_alive(partition: Partition) -> None:
    for follower in (2, 3):
        fetch(partition, follower, 3)
    assert partition.delete_records(-1) == 0
    fetch(partition, 2, 3, start=3)
    assert partition.low_watermark() == 0
    partition.brokers[3].is_fenced = True
    assert partition.low_watermark() == 3
    with pytest.raises(OffsetOutOfRange):
        partition.delete_records(4)
    assert partition.delete_records(1) == 3, "below the log start there is nothing to do"
