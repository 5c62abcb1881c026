"""ListOffsets, OffsetsForLeaderEpoch, DeleteRecords and Metadata at a leader, by playbook: what each answers,
to whom."""

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.control_requests import MetadataTopicState
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.local_log import EARLIEST, LATEST, MAX_TIMESTAMP
from broker_core.kafka.replication.replica_log import light_batch
from tests.core.kafka.cluster.desk import CLIENT, OTHER, BrokerDesk, followed, led

REPLICA, CONSUMER = 2, r.CONSUMER
HERE = -1
"""A current leader epoch that is not said."""


@pytest.fixture
def desk() -> BrokerDesk:
    """Epoch 0 wrote "a" and "b", epoch 2 "c"; broker 2 has the first two of them, so the high watermark is 2,
    where epoch 2 begins."""
    made = BrokerDesk()
    made.produce("a", acks=1)
    made.produce("b", acks=1)
    made.delta({0: led(epoch=2, partition_epoch=1)})
    made.produce("c", acks=1)
    made.fetch({0: 2}, replica=2, max_wait_ms=0, epoch=2)
    assert made.ends() == (3, 2)
    return made


def listed(
    desk: BrokerDesk,
    timestamp: int,
    *,
    replica: int = CONSUMER,
    isolation: int = 0,
    epoch: int = HERE,
    part: int = 0,
) -> r.ListedOffset:
    question = r.ListOffsetsPartition("t", part, timestamp, epoch)
    (answer,) = desk.send(CLIENT, r.ListOffsetsRequest([question], replica, isolation))
    (told,) = answer.partitions
    assert isinstance(told, r.ListedOffset)
    return told


# --- offsets


@pytest.mark.parametrize(("replica", "latest"), [(CONSUMER, 2), (REPLICA, 3)])
def test_the_latest_offset_is_the_high_watermark_for_a_consumer_and_the_log_end_for_a_replica(
    desk: BrokerDesk, replica: int, latest: int
) -> None:
    told = listed(desk, LATEST, replica=replica)
    assert (told.error_code, told.offset, told.timestamp, told.leader_epoch) == (0, latest, -1, 2)


def test_the_earliest_offset_comes_with_the_epoch_that_wrote_it(desk: BrokerDesk) -> None:
    told = listed(desk, EARLIEST)
    assert (told.error_code, told.offset, told.leader_epoch) == (0, 0, 0)


def test_until_the_high_watermark_has_reached_the_leaders_epoch_a_client_is_told_to_come_again() -> None:
    desk = BrokerDesk()
    desk.produce("a", acks=1)
    desk.delta({0: led(epoch=1, partition_epoch=1)})
    assert listed(desk, LATEST).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    assert listed(desk, LATEST, replica=REPLICA).offset == 1
    assert listed(desk, EARLIEST).offset == 0
    desk.fetch({0: 1}, replica=2, max_wait_ms=0, epoch=1)
    assert listed(desk, LATEST).offset == 1


def test_a_time_is_looked_up_as_far_as_the_reader_may_see() -> None:
    desk = BrokerDesk({0: led(isr=(1,), replicas=(1,))}, verifies_transactions=False)
    plain = light_batch(["a"], timestamp=10)
    in_transaction = light_batch(
        ["b"], timestamp=20, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    for batch in (plain, in_transaction):
        name = "id" if batch.header.is_transactional else None
        desk.send(OTHER, r.ProduceRequest(1, 1_000, [r.ProducePartition("t", 0, batch)], name))
    assert (listed(desk, 15).offset, listed(desk, 15).timestamp) == (1, 20)
    assert (listed(desk, 15, isolation=r.READ_COMMITTED).offset, listed(desk, 15).error_code) == (-1, 0), (
        "its transaction is open"
    )
    assert listed(desk, LATEST, isolation=r.READ_COMMITTED).offset == 1
    assert listed(desk, 21).offset == -1 and listed(desk, MAX_TIMESTAMP).offset == 1


def test_each_partition_of_a_question_is_answered_by_itself(desk: BrokerDesk) -> None:
    parts = [
        r.ListOffsetsPartition("t", 0, LATEST, 1),
        r.ListOffsetsPartition("x", 0, LATEST),
    ]
    (answer,) = desk.send(CLIENT, r.ListOffsetsRequest(parts))
    assert [(each.topic, each.error_code, each.offset) for each in answer.partitions] == [
        ("t", ErrorCode.FENCED_LEADER_EPOCH, -1),
        ("x", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1),
    ]


def test_a_partition_that_is_named_twice_is_refused_each_time(desk: BrokerDesk) -> None:
    parts = [r.ListOffsetsPartition("t", 0, LATEST)] * 2
    (answer,) = desk.send(CLIENT, r.ListOffsetsRequest(parts))
    assert [each.error_code for each in answer.partitions] == [ErrorCode.INVALID_REQUEST] * 2


# --- epochs


@pytest.mark.parametrize(
    ("asked", "answer"), [(0, (0, 2)), (1, (0, 2)), (2, (2, 3)), (3, (-1, -1)), (-1, (-1, -1))]
)
def test_where_an_epoch_ends(desk: BrokerDesk, asked: int, answer: tuple[int, int]) -> None:
    (told,) = desk.send(CLIENT, r.OffsetsForLeaderEpochRequest([r.EpochPartition("t", 0, 2, asked)], REPLICA))
    assert [(each.error_code, each.leader_epoch, each.end_offset) for each in told.partitions] == [
        (0, *answer)
    ]


def test_a_question_for_epochs_names_each_partition_in_its_order(desk: BrokerDesk) -> None:
    parts = [
        r.EpochPartition("t", 0, 1, 0),
        r.EpochPartition("t", 0, HERE, 0),
        r.EpochPartition("x", 3, HERE, 0),
    ]
    (told,) = desk.send(CLIENT, r.OffsetsForLeaderEpochRequest(parts))
    assert [(each.topic, each.partition, each.error_code, each.end_offset) for each in told.partitions] == [
        ("t", 0, ErrorCode.FENCED_LEADER_EPOCH, -1),
        ("t", 0, 0, 2),
        ("x", 3, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1),
    ]


# --- deleting records


def deleted(desk: BrokerDesk, before: int) -> tuple[int, int]:
    (answer,) = desk.send(OTHER, r.DeleteRecordsRequest(1_000, [("t", 0, before)]))
    return answer.partitions[0].error_code, answer.partitions[0].low_watermark


def test_the_low_watermark_is_that_of_the_slowest_replica_that_is_alive(desk: BrokerDesk) -> None:
    assert deleted(desk, 1) == (0, 0), "the follower's log begins at 0"
    assert desk.log().log_start_offset == 1
    desk.send(
        20,
        r.FetchRequest(
            0,
            [r.FetchPartition("t", 0, 2, 2, 0, log_start_offset=1)],
            replica_id=2,
            replica_epoch=3,
            session_epoch=1,
        ),
    )
    assert deleted(desk, 1) == (0, 1)
    desk.delta(fenced=(2,))
    assert deleted(desk, -1) == (0, 2), "up to the high watermark; who is fenced holds nobody back"


def test_what_a_followers_quiet_session_says_is_noted_before_the_low_watermark_is_told() -> None:
    desk = BrokerDesk()
    desk.produce("a", acks=1)
    desk.fetch({0: 1}, replica=2, max_wait_ms=0)
    desk.fetch({}, replica=2, session=1, max_wait_ms=0)
    before_ms = desk.now_ms
    assert deleted(desk, 1) == (0, 0)
    assert desk.replica().partition.followers[2].last_fetch_ms == before_ms


# --- metadata


def known(desk: BrokerDesk, *names: str) -> r.MetadataResponse:
    (answer,) = desk.send(CLIENT, r.MetadataRequest(list(names) or None))
    assert isinstance(answer, r.MetadataResponse)
    return answer


def test_metadata_name_the_brokers_that_are_not_fenced_and_the_first_of_them_for_the_controller() -> None:
    desk = BrokerDesk(racks={2: "b"})
    desk.delta(fenced=(1,), shutting_down=(3,))
    answer = known(desk)
    assert [(each.node_id, each.rack) for each in answer.brokers] == [
        (2, "b"),
        (3, None),
    ] and answer.controller_id == 2
    desk.delta(fenced=(2, 3))
    assert (known(desk).brokers, known(desk).controller_id) == ([], -1)


def test_partitions_come_by_their_number_with_replicas_isr_and_epoch() -> None:
    desk = BrokerDesk({1: followed(2, (2, 3)), 0: led(isr=(1,), epoch=4)})
    (topic,) = known(desk).topics
    assert [
        (part.partition_index, part.leader_id, part.leader_epoch, part.replica_nodes, part.isr_nodes)
        for part in topic.partitions
    ] == [
        (0, 1, 4, [1, 2], [1]),
        (1, 2, 0, [2, 3], [2, 3]),
    ]


@pytest.mark.parametrize(
    ("leader", "fenced", "offline"), [(-1, (), []), (2, (2,), [2]), (2, (1, 2), [2, 1]), (2, (3,), None)]
)
def test_a_partition_is_led_only_by_a_broker_that_is_alive(
    leader: int, fenced: tuple[int, ...], offline: list[int] | None
) -> None:
    desk = BrokerDesk({0: followed(leader, epoch=3)})
    desk.delta(fenced=fenced)
    (part,) = known(desk, "t").topics[0].partitions
    if offline is None:
        assert (part.error_code, part.leader_id, part.offline_replicas) == (0, 2, []), (
            "3 has no replica of it"
        )
    else:
        assert (part.error_code, part.leader_id, part.leader_epoch) == (ErrorCode.LEADER_NOT_AVAILABLE, -1, 3)
        assert part.offline_replicas == offline


def test_topics_are_told_in_the_order_in_which_they_were_asked_for() -> None:
    desk = BrokerDesk()
    desk.delta({0: led()}, topic="a", topics=[MetadataTopicState("a", 1)])
    assert [topic.name for topic in known(desk, "x", "t", "a").topics] == ["x", "t", "a"]
    assert [topic.name for topic in known(desk).topics] == ["t", "a"], "all of them: as they were made"
    (answer,) = desk.send(CLIENT, r.MetadataRequest([]))
    assert answer.topics == [] and answer.brokers, "none of them: for the brokers alone"
