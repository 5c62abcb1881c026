"""What a broker refuses: each request, each of the original's errors that it can answer, and its state as it
was.

t-0 is led here in epoch 2 and holds one record; t-1 is not here; t-2 is followed here; x is no topic.
"""

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.cluster.state import TopicPartition
from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.kafka.group import messages as m
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.lab.checkpoint import encode
from broker_core.plain import to_plain
from broker_core.sim.node import Opened
from tests.core.kafka.cluster.nodes import CONTROL, MS, leading

CLIENT, FOLLOWER = 30, 20
NOWHERE = [
    (("x", 0), E.UNKNOWN_TOPIC_OR_PARTITION, -1),
    (("t", 1), E.NOT_LEADER_OR_FOLLOWER, 2),
    (("t", 2), E.NOT_LEADER_OR_FOLLOWER, 2),
]
"""(partition, error, leader that the answer names)."""
EPOCHS = [(1, E.FENCED_LEADER_EPOCH), (3, E.UNKNOWN_LEADER_EPOCH)]


@pytest.fixture
def broker():
    node, out = leading()
    parts = [
        c.MetadataPartitionState("t", 0, PartitionRegistration((1, 2), (1, 2), 1, 2, 2)),
        c.MetadataPartitionState("t", 1, PartitionRegistration((2, 3), (2, 3), 2)),
        c.MetadataPartitionState("t", 2, PartitionRegistration((2, 1), (2, 1), 2)),
    ]
    node.receive(CONTROL, c.MetadataDelta(20, [], [], parts), 6 * MS, out)
    node.receive(CLIENT, Opened("client"), 7 * MS, out)
    node.receive(
        CLIENT,
        write(light_batch(["a"], timestamp=0, producer_id=7, producer_epoch=1, base_sequence=0)),
        8 * MS,
        out,
    )
    out.take()
    return node, out


def write(batch, key: TopicPartition = ("t", 0), acks=1):
    return r.ProduceRequest(acks, 1_000, [r.ProducePartition(*key, batch)])


def refused(broker, request):
    """The one answer, to the client; the broker's state is what it was."""
    node, out = broker
    before = encode(to_plain(node.state))
    node.receive(CLIENT, request, 10 * MS, out)
    ((connection, answer),) = out.take()
    assert connection == CLIENT and encode(to_plain(node.state)) == before
    return answer


# --- produce


@pytest.mark.parametrize("key, error, leader", NOWHERE)
def test_produce_to_a_partition_that_is_not_led_here_names_who_leads_it(broker, key, error, leader):
    (part,) = refused(broker, write(light_batch(["b"], timestamp=0), key)).partitions
    assert (part.error_code, part.current_leader, part.base_offset, part.log_start_offset) == (
        error,
        leader,
        -1,
        -1,
    )


@pytest.mark.parametrize("acks", [2, 7, -2])
def test_produce_with_acks_that_mean_nothing(broker, acks):
    assert (
        refused(broker, write(light_batch(["b"], timestamp=0), acks=acks)).partitions[0].error_code
        == E.INVALID_REQUIRED_ACKS
    )


@pytest.mark.parametrize(
    "epoch, sequence, error",
    [
        (1, 5, E.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (2, 1, E.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (0, 1, E.INVALID_PRODUCER_EPOCH),
    ],
)
def test_produce_out_of_the_producers_order(broker, epoch, sequence, error):
    batch = light_batch(["b"], timestamp=0, producer_id=7, producer_epoch=epoch, base_sequence=sequence)
    assert refused(broker, write(batch)).partitions[0].error_code == error


def test_produce_of_a_batch_that_is_there_is_answered_with_where_it_is(broker):
    batch = light_batch(["a"], timestamp=0, producer_id=7, producer_epoch=1, base_sequence=0)
    (part,) = refused(broker, write(batch)).partitions
    assert (part.error_code, part.base_offset) == (0, 0)


# --- fetch: a session begins with it, so it is asked without one


def fetch(key=("t", 0), offset=0, epoch=r.NO_EPOCH, **more):
    return r.FetchRequest(0, [r.FetchPartition(*key, offset, epoch)], **more)


def fetched(broker, request, connection=CLIENT):
    """The answer for the partition; the log is unchanged. (A session remembers what was asked.)"""
    node, out = broker
    before = encode(to_plain(node.state.disk))
    node.receive(connection, request, 10 * MS, out)
    ((_, answer),) = out.take()
    assert encode(to_plain(node.state.disk)) == before and not node.state.held
    return answer.partitions[0]


@pytest.mark.parametrize("key, error, leader", NOWHERE[:2])
def test_fetch_from_a_partition_that_is_not_here(broker, key, error, leader):
    """A copy that follows may be read by consumers since 2.4 (KIP-392), but by no replica."""
    part = fetched(broker, fetch(key))
    assert (part.error_code, part.current_leader, part.high_watermark, part.records) == (
        error,
        leader,
        -1,
        (),
    )


def test_fetch_of_a_replica_from_a_partition_that_is_not_led_here(broker):
    part = fetched(broker, fetch(("t", 2), replica_id=2, replica_epoch=3), FOLLOWER)
    assert (part.error_code, part.current_leader) == (E.NOT_LEADER_OR_FOLLOWER, 2)


@pytest.mark.parametrize("epoch, error", EPOCHS)
def test_fetch_with_another_leader_epoch(broker, epoch, error):
    part = fetched(broker, fetch(epoch=epoch))
    assert (part.error_code, part.current_leader) == (error, 1 if error is E.FENCED_LEADER_EPOCH else -1)


@pytest.mark.parametrize("offset", [-1, 2])
def test_fetch_outside_the_log(broker, offset):
    assert fetched(broker, fetch(offset=offset)).error_code == E.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    "epoch, error", [(2, E.UNKNOWN_LEADER_EPOCH), (r.NO_EPOCH, E.NOT_LEADER_OR_FOLLOWER)]
)
def test_fetch_of_a_broker_that_is_no_replica(broker, epoch, error):
    part = fetched(broker, fetch(epoch=epoch, replica_id=9, replica_epoch=3), FOLLOWER)
    assert part.error_code == error


def test_fetch_of_a_session_that_is_not_there(broker):
    answer = refused(broker, fetch(session_epoch=5))
    assert (answer.error_code, answer.partitions) == (E.INVALID_FETCH_SESSION_EPOCH, [])


# --- small questions


@pytest.mark.parametrize("key, error, _", NOWHERE)
def test_questions_about_a_partition_that_is_not_led_here(broker, key, error, _):
    for request in (
        r.ListOffsetsRequest([r.ListOffsetsPartition(*key, -1)]),
        r.OffsetsForLeaderEpochRequest([r.EpochPartition(*key, r.NO_EPOCH, 0)]),
        r.DeleteRecordsRequest(1_000, [(*key, 0)]),
    ):
        (part,) = refused(broker, request).partitions
        assert part.error_code == error, request


@pytest.mark.parametrize("epoch, error", EPOCHS)
def test_questions_with_another_leader_epoch(broker, epoch, error):
    for request in (
        r.ListOffsetsRequest([r.ListOffsetsPartition("t", 0, -1, epoch)]),
        r.OffsetsForLeaderEpochRequest([r.EpochPartition("t", 0, epoch, 0)]),
    ):
        assert refused(broker, request).partitions[0].error_code == error, request


def test_records_beyond_the_high_watermark_are_not_deleted(broker):
    (part,) = refused(broker, r.DeleteRecordsRequest(1_000, [("t", 0, 1)])).partitions
    assert (part.error_code, part.low_watermark) == (E.OFFSET_OUT_OF_RANGE, -1)


def test_metadata_of_a_topic_that_is_not_there(broker):
    known, unknown = refused(broker, r.MetadataRequest(["t", "x"])).topics
    assert (known.error_code, len(known.partitions)) == (0, 3)
    assert (unknown.error_code, unknown.partitions) == (E.UNKNOWN_TOPIC_OR_PARTITION, [])


# --- coordinators, of which there is none here


@pytest.mark.parametrize("key_type", [t.GROUP, t.TRANSACTION])
def test_nobody_coordinates_where_there_is_no_topic_for_it(broker, key_type):
    answer = refused(broker, t.FindCoordinatorRequest("one", key_type))
    assert (answer.error_code, answer.node_id) == (E.COORDINATOR_NOT_AVAILABLE, -1)


def test_partitions_join_a_transaction_together_or_not_at_all(broker):
    answer = refused(broker, t.AddPartitionsToTxnRequest("id", 7, 1, [("t", 0), ("x", 0)]))
    assert answer.results == [("t", 0, E.OPERATION_NOT_ATTEMPTED), ("x", 0, E.UNKNOWN_TOPIC_OR_PARTITION)]


@pytest.mark.parametrize(
    "request_",
    [
        m.JoinGroupRequest("g", 6_000, "", "consumer", []),
        m.SyncGroupRequest("g", 1, "m"),
        m.HeartbeatRequest("g", 1, "m"),
        m.LeaveGroupRequest("g", members=[m.MemberIdentity("m")]),
        m.ConsumerGroupHeartbeatRequest("g", "m", 1),
        m.OffsetDeleteRequest("g", []),
    ],
    ids=lambda request: type(request).__name__,
)
def test_group_requests_to_a_broker_that_does_not_coordinate_the_group(broker, request_):
    assert refused(broker, request_).error_code == E.NOT_COORDINATOR


def test_offsets_of_a_group_that_is_not_coordinated_here(broker):
    commit = m.OffsetCommitRequest(
        "g", 1, "m", [m.CommittedTopic("t", [m.CommittedPartition(0, 3), m.CommittedPartition(1, 4)])]
    )
    ((topic),) = refused(broker, commit).topics
    assert [(part.partition_index, part.error_code) for part in topic.partitions] == [
        (0, E.NOT_COORDINATOR),
        (1, E.NOT_COORDINATOR),
    ]
    answer = refused(broker, m.OffsetFetchRequest([m.OffsetFetchGroup("g")]))
    code = answer.error_code if isinstance(answer, m.FailedCall) else answer.groups[0].error_code
    assert code == E.NOT_COORDINATOR
