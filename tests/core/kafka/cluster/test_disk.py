"""What a broker keeps on its disk and finds there again, and what a slow disk does to producers and
followers, by playbook."""

from typing import Any

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.log_directory import log_settings, logs_found, write_checkpoints
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.state import BrokerDisk
from broker_core.kafka.log.checkpoints import CLEAN_SHUTDOWN, LOG_START, REPLICATION, read_offsets
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.desk import CLIENT, FOLLOWER, OTHER, BrokerDesk, followed, led
from tests.core.kafka.cluster.nodes import MS, restored

ALONE = led(isr=(1,), replicas=(1,))
KEY = ("t", 0)


# --- checkpoints


def test_high_watermarks_are_written_every_five_seconds_and_not_before() -> None:
    desk = BrokerDesk({0: ALONE, 1: led()})
    for value in "ab":
        desk.produce(value, acks=1)
    desk.produce("c", acks=1, part=1)
    folder = desk.state.disk.folder
    assert read_offsets(folder, REPLICATION) == {} and desk.out.deadlines["checkpoint"] == 5_000 * MS
    desk.wake("checkpoint")
    assert read_offsets(folder, REPLICATION) == {KEY: 2, ("t", 1): 0}, (
        "what its follower lacks does not count"
    )
    assert desk.due_ms("checkpoint") == 5_000
    assert LOG_START not in folder.names(), "no log start has moved"


def test_a_log_start_stands_in_its_file_once_it_was_moved_inside_a_segment() -> None:
    desk = BrokerDesk({0: ALONE, 1: ALONE})
    for value in "abc":
        desk.produce(value, acks=1)
    desk.send(OTHER, r.DeleteRecordsRequest(1_000, [("t", 0, 2)]))
    desk.wake("checkpoint")
    assert read_offsets(desk.state.disk.folder, LOG_START) == {KEY: 2}
    del desk.state.disk.logs[KEY]
    write_checkpoints(desk.state.disk)
    assert read_offsets(desk.state.disk.folder, LOG_START) == {}, "a log that has gone takes its row with it"


def found(desk: BrokerDesk) -> BrokerDisk:
    """What a new process makes of the disk."""
    disk = desk.state.disk
    logs_found(disk, desk.now_ms)
    return disk


def test_a_new_process_begins_with_the_high_watermark_and_log_start_of_the_last_checkpoint() -> None:
    desk = BrokerDesk({0: ALONE})
    for value in "abc":
        desk.produce(value, acks=1)
    desk.send(OTHER, r.DeleteRecordsRequest(1_000, [("t", 0, 1)]))
    desk.wake("checkpoint")
    desk.produce("d", acks=1)
    desk.send(OTHER, r.DeleteRecordsRequest(1_000, [("t", 0, 2)]))
    log = found(desk).logs[KEY]
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (1, 3, 4)


def test_without_a_checkpoint_it_begins_at_nothing_and_still_has_its_records() -> None:
    desk = BrokerDesk({0: ALONE})
    desk.produce("a", "b", acks=1)
    log = found(desk).logs[KEY]
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (0, 0, 2)


def test_the_file_of_an_end_in_order_is_good_for_one_start() -> None:
    desk = BrokerDesk({0: ALONE})
    folder = desk.state.disk.folder
    folder.replace(CLEAN_SHUTDOWN, b"")
    found(desk)
    assert CLEAN_SHUTDOWN not in folder.names()


@pytest.mark.parametrize(("flush_ms", "is_flushed"), [(4_000, True), (6_000, False)])
def test_with_the_checkpoint_comes_the_flush_that_is_due(flush_ms: int, is_flushed: bool) -> None:
    desk = BrokerDesk({0: ALONE}, flush_interval_ms=flush_ms)
    desk.produce("a", acks=1)
    assert desk.log().recovery_point == 0
    desk.wake("checkpoint")
    assert desk.log().recovery_point == (1 if is_flushed else 0)


def test_by_messages_it_is_flushed_with_the_append() -> None:
    desk = BrokerDesk({0: ALONE}, flush_interval_messages=3)
    desk.produce("a", "b", acks=1)
    assert desk.log().recovery_point == 0
    desk.produce("c", acks=1)
    assert desk.log().recovery_point == 3


def test_the_offsets_topic_is_compacted_and_asks_no_coordinator_of_transactions() -> None:
    settings = ClusterSettings(offsets_segment_ms=20, offsets_delete_retention_ms=60, log_segment_bytes=999)
    plain, offsets = log_settings(settings, "t"), log_settings(settings, OFFSETS_TOPIC)
    assert (plain.cleanup_delete, plain.cleanup_compact, plain.verifies_transactions) == (True, False, True)
    assert (offsets.cleanup_delete, offsets.cleanup_compact, offsets.verifies_transactions) == (
        False,
        True,
        False,
    )
    assert (offsets.segment_ms, offsets.delete_retention_ms, offsets.segment_bytes) == (20, 60, 999)
    assert plain.segment_ms != 20
    assert not log_settings(ClusterSettings(verifies_transactions=False), "t").verifies_transactions


# --- a slow disk


def slow(parts: dict[int, Any], write_ms: int = 10) -> BrokerDesk:
    desk = BrokerDesk(parts)
    desk.out.disk.write_us = write_ms * MS
    return desk


def test_a_producer_is_answered_when_the_disk_has_taken_its_records() -> None:
    desk = slow({0: ALONE})
    assert desk.produce("a", acks=1) == [] and desk.values() == [] and desk.due_ms("disk") == 10
    desk.wake("disk")
    (answer,) = desk.take(CLIENT)
    assert (answer.partitions[0].base_offset, desk.values()) == (
        0,
        ["a"],
    ) and "disk" not in desk.out.deadlines


def test_writes_are_taken_one_after_another_in_the_order_in_which_they_came() -> None:
    desk = slow({0: ALONE})
    desk.produce("a", acks=1)
    desk.produce("b", acks=1, connection=OTHER)
    desk.wake("disk")
    assert (desk.values(), len(desk.take(CLIENT)), desk.take(OTHER)) == (["a"], 1, [])
    assert desk.due_ms("disk") == 10
    desk.wake("disk")
    assert (desk.values(), len(desk.take(OTHER))) == (["a", "b"], 1)


def test_what_the_client_sends_meanwhile_waits_and_is_read_afterwards() -> None:
    desk = slow({0: ALONE})
    desk.produce("a", acks=0)
    desk.send(CLIENT, r.MetadataRequest())
    assert desk.take(CLIENT) == []
    desk.wake("disk")
    desk.wake("held:10")
    assert [type(each) for each in desk.take(CLIENT)] == [r.MetadataResponse], (
        "acks=0 has no answer, and holds nobody up for ever"
    )


def test_a_client_that_has_gone_before_its_records_were_on_disk_has_written_nothing() -> None:
    desk = slow({0: ALONE})
    desk.produce("a", acks=1)
    desk.send(CLIENT, Closed("reset"))
    desk.wake("disk")
    assert desk.values() == [] and desk.take(CLIENT) == []


def test_with_acks_all_the_isr_is_waited_for_after_the_disk() -> None:
    desk = slow({0: led()})
    desk.fetch({0: 0}, replica=2)
    desk.produce("a")
    desk.wake("disk")
    assert desk.take(CLIENT) == [] and len(desk.take(FOLLOWER)) == 1
    desk.fetch({0: 1}, replica=2, session=1)
    assert len(desk.take(CLIENT)) == 1


def test_a_follower_asks_for_more_when_what_came_is_on_its_disk() -> None:
    desk = slow({0: followed()})
    desk.take(2)
    batch = light_batch(["a"], timestamp=0, partition_leader_epoch=0)
    assert desk.send(2, r.FetchResponse([r.FetchedPartition("t", 0, 0, 0, 0, 0, (batch,))])) == []
    assert desk.values() == []
    desk.wake("disk")
    (request,) = desk.take(2)
    assert desk.values() == ["a"] and request.partitions[0].fetch_offset == 1


def test_an_answer_without_records_costs_a_follower_no_write() -> None:
    desk = slow({0: followed()})
    desk.take(2)
    (request,) = desk.send(2, r.FetchResponse([r.FetchedPartition("t", 0, 0, 0, 0, 0)]))
    assert isinstance(request, r.FetchRequest) and "disk" not in desk.out.deadlines


def test_what_came_from_a_leader_that_was_left_meanwhile_is_not_appended() -> None:
    desk = slow({0: followed()})
    batch = light_batch(["a"], timestamp=0, partition_leader_epoch=0)
    desk.send(2, r.FetchResponse([r.FetchedPartition("t", 0, 0, 0, 0, 0, (batch,))]))
    desk.delta({0: led(replicas=(2, 1), isr=(1,), epoch=1, partition_epoch=1)})
    desk.wake("disk")
    assert desk.values() == []


def test_a_write_under_way_is_in_a_checkpoint() -> None:
    desk = slow({0: ALONE})
    desk.produce("a", acks=1)
    desk.node = restored(desk.node)
    desk.wake("disk")
    assert desk.values() == ["a"] and len(desk.take(CLIENT)) == 1
