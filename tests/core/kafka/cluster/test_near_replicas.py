"""Consumers that read from a replica in their rack (KIP-392), by playbook: what a leader says, and what a
follower gives."""

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.replica_log import light_batch
from tests.core.kafka.cluster.desk import CLIENT, OTHER, BrokerDesk, followed, led

RACKS = {1: "a", 2: "b", 3: "b"}
THREE = led(isr=(1, 2, 3), replicas=(1, 2, 3))


@pytest.fixture
def desk() -> BrokerDesk:
    """Broker 1 leads in rack a; 2 and 3 follow in b, and all have the two records."""
    made = BrokerDesk({0: THREE}, racks=RACKS, is_rack_aware=True)
    for value in "ab":
        made.produce(value, acks=1)
    for replica, connection in ((2, 20), (3, OTHER)):
        made.fetch({0: 2}, replica=replica, connection=connection, max_wait_ms=0)
    assert made.ends() == (2, 2)
    return made


def answered(desk: BrokerDesk, rack: str, offset: int = 0, **more: int) -> r.FetchedPartition:
    (answer,) = desk.fetch(
        {0: offset}, session=-1, rack_id=rack, max_wait_ms=more.pop("max_wait_ms", 0), **more
    )
    (part,) = answer.partitions
    return part


def test_a_consumer_in_a_followers_rack_is_sent_there_without_records_and_with_the_offsets(
    desk: BrokerDesk,
) -> None:
    part = answered(desk, "b")
    assert (
        part.preferred_read_replica,
        part.records,
        part.high_watermark,
        part.log_start_offset,
        part.error_code,
    ) == (3, (), 2, 0, 0)


def test_it_is_told_at_once_though_it_would_wait(desk: BrokerDesk) -> None:
    assert answered(desk, "b", 2, max_wait_ms=500).preferred_read_replica == 3, (
        "there is nothing to read at the end, and yet it need not wait"
    )


@pytest.mark.parametrize("rack", ["a", "c", ""])
def test_others_are_given_the_records_here(desk: BrokerDesk, rack: str) -> None:
    part = answered(desk, rack)
    assert (part.preferred_read_replica, [batch.values for batch in part.records]) == (-1, [("a",), ("b",)])


def test_a_session_names_the_replica_with_each_answer(desk: BrokerDesk) -> None:
    for session in (0, 1, 2):
        (answer,) = desk.fetch({0: 0} if session == 0 else {}, session=min(session, 1), rack_id="b")
        assert [part.preferred_read_replica for part in answer.partitions] == [3]


def test_an_epoch_that_is_wrong_is_said_before_where_to_read(desk: BrokerDesk) -> None:
    part = answered(desk, "b", epoch=7)
    assert (part.error_code, part.preferred_read_replica) == (ErrorCode.UNKNOWN_LEADER_EPOCH, -1)


def test_who_is_late_or_fenced_is_not_named(desk: BrokerDesk) -> None:
    desk.delta({0: led(isr=(1, 2), replicas=(1, 2, 3), partition_epoch=1)})
    assert answered(desk, "b").preferred_read_replica == 2
    desk.delta(fenced=(2,))
    assert answered(desk, "b").preferred_read_replica == -1


def test_unless_the_selector_is_the_rack_aware_one_the_leader_answers_itself() -> None:
    desk = BrokerDesk({0: THREE}, racks=RACKS)
    desk.produce("a", acks=1)
    for replica, connection in ((2, 20), (3, OTHER)):
        desk.fetch({0: 1}, replica=replica, connection=connection, max_wait_ms=0)
    part = answered(desk, "b")
    assert (part.preferred_read_replica, len(part.records)) == (-1, 1)


def test_a_follower_gives_what_it_knows_to_be_replicated_and_no_more() -> None:
    desk = BrokerDesk({0: followed(2, (2, 1))}, racks={1: "b"}, is_rack_aware=True)
    batches = tuple(
        light_batch([value], timestamp=0, base_offset=offset, partition_leader_epoch=0)
        for offset, value in enumerate("abc")
    )
    desk.send(2, r.FetchResponse([r.FetchedPartition("t", 0, 0, 2, 2, 0, batches)]))
    part = answered(desk, "b")
    assert (part.high_watermark, [batch.values for batch in part.records], part.preferred_read_replica) == (
        2,
        [("a",), ("b",)],
        -1,
    )
    assert desk.fetch({0: 2}, rack_id="b", connection=CLIENT) == [], "it waits there"
    desk.send(2, r.FetchResponse([r.FetchedPartition("t", 0, 0, 3, 3, 0)]))
    (answer,) = desk.take(CLIENT)
    assert [batch.values for batch in answer.partitions[0].records] == [("c",)]


def test_beyond_what_a_follower_has_a_consumer_is_out_of_range_there() -> None:
    desk = BrokerDesk({0: followed(2, (2, 1))}, racks={1: "b"}, is_rack_aware=True)
    assert answered(desk, "b", 5).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
