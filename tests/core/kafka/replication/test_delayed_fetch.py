"""Long polls, and the replica near a consumer."""

import pytest

from broker_core.kafka.error_codes import Refused
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.delayed_fetch import WaitingFetch
from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.read_replica import preferred_read_replica
from tests.core.kafka.replication.brokers_of_a_test import NOW, append, decided, fetch, leader

T0 = ("t", 0)


def waiting(
    partition: Partition, offset: int, isolation: Isolation = Isolation.LOG_END, **asked: int
) -> WaitingFetch:
    bytes_min = asked.pop("bytes_min", 1)
    asked_for = PartitionFetch(offset, partition.leader_epoch, **asked)
    return WaitingFetch.of(1, {T0: asked_for}, {T0: partition}, isolation, bytes_min, until_ms=NOW + 500)


def test_a_follower_is_answered_when_the_leader_has_more() -> None:
    partition = leader()
    poll = waiting(partition, 0)
    assert not poll.is_ready({T0: partition})
    append(partition, "a")
    assert poll.is_ready({T0: partition})


def test_a_consumer_is_answered_when_the_high_watermark_moves() -> None:
    partition = leader(isr=(1, 2), replicas=(1, 2))
    poll = waiting(partition, 0, Isolation.HIGH_WATERMARK)
    append(partition, "a")
    assert not poll.is_ready({T0: partition})
    fetch(partition, 2, 1)
    assert poll.is_ready({T0: partition})


def test_it_waits_for_as_many_bytes_as_were_asked_for_and_no_longer_than_it_may() -> None:
    partition = leader()
    append(partition, "a")
    assert partition.log is not None
    poll = waiting(partition, 0, bytes_min=partition.log.size + 1)
    assert not poll.is_ready({T0: partition})
    append(partition, "b")
    assert poll.is_ready({T0: partition})
    assert (poll.is_over(NOW + 499), poll.is_over(NOW + 500)) == (False, True)


def test_what_the_reader_must_know_is_told_at_once() -> None:
    partition = leader()
    append(partition, "a", "b")
    append(partition, "c")
    behind, parted = waiting(partition, 3), waiting(partition, 3, last_fetched_epoch=0)
    assert not behind.is_ready({T0: partition}) and not parted.is_ready({T0: partition})
    assert behind.is_ready({}), "the partition is gone"
    assert partition.log is not None
    partition.log.truncate_to(2, NOW)
    assert behind.is_ready({T0: partition}) and parted.is_ready({T0: partition})
    partition.make_follower(decided(2, 1, 1, ()))
    assert behind.is_ready({T0: partition})
    with pytest.raises(Refused):
        waiting(partition, 2)


def test_a_roll_ends_the_wait() -> None:
    partition = leader()
    append(partition, "a")
    assert partition.log is not None
    poll = waiting(partition, 1, bytes_min=1_000)
    partition.log.roll(NOW)
    assert not poll.is_ready({T0: partition}), "nothing has come"
    append(partition, "b")
    assert poll.is_ready({T0: partition})


@pytest.fixture
def racks() -> Partition:
    """The leader is in rack a, the followers in b; both are in sync and end at 2."""
    partition = leader()
    for broker, rack in ((1, "a"), (2, "b"), (3, "b")):
        partition.brokers[broker].rack = rack
    append(partition, "a", "b")
    fetch(partition, 2, 2, now_ms=5)
    fetch(partition, 3, 2, now_ms=9)
    return partition


def test_a_consumer_reads_in_its_rack_from_the_follower_that_was_caught_up_last(racks: Partition) -> None:
    assert preferred_read_replica(racks, "b", 1, 10) == 3
    fetch(racks, 2, 2, now_ms=12)
    assert preferred_read_replica(racks, "b", 1, 12) == 2


@pytest.mark.parametrize("rack", [None, "", "a", "c"])
def test_else_from_the_leader(racks: Partition, rack: str | None) -> None:
    assert preferred_read_replica(racks, rack, 1, 10) is None


def test_a_follower_that_is_late_gone_or_does_not_have_the_offset_is_not_named(racks: Partition) -> None:
    assert preferred_read_replica(racks, "b", 3, 10) is None
    racks.brokers[3].is_fenced = True
    assert preferred_read_replica(racks, "b", 1, 10) == 2
    racks.make_leader(decided(1, 0, 1, (1,)), 10)
    assert preferred_read_replica(racks, "b", 1, 10) is None
    racks.make_follower(decided(2, 1, 2, ()))
    assert preferred_read_replica(racks, "b", 1, 10) is None
