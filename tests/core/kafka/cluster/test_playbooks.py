"""One node at a time, without a world: send this at this moment, expect these answers, deadlines and turning
points."""

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import lifecycle
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.state import BrokerState, FetchSession
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.sim.node import Opened
from tests.core.kafka.cluster.nodes import CONTROL, MS, Out, controller, follower_fetch, leading, produce


def test_controller_registers_unfences_and_fences_a_silent_broker():
    node, out = controller()
    node.receive(4, c.BrokerRegistrationRequest(1, "a", 7), 0, out)
    (_, answer), (_, image) = out.take()
    assert answer == c.BrokerRegistrationResponse(0, 0) and image.is_image and image.brokers[0].is_fenced
    node.receive(4, c.BrokerHeartbeatRequest(1, 0, 1), 5 * MS, out)
    delta, beat = (message for _, message in out.take())
    assert not delta.brokers[0].is_fenced and not beat.is_fenced
    assert out.deadlines["sessions"] == 9_006 * MS
    node.wake("sessions", 9_006 * MS, out)
    assert out.told[-1] == ("kafka.broker.fenced", "kafka.controller.session_timeout")


def test_controller_tells_the_same_process_its_epoch_again_and_refuses_another_one():
    node, out = controller()
    for at_ms in (0, 1):
        node.receive(4, c.BrokerRegistrationRequest(1, None, 7), at_ms * MS, out)
    assert [
        message.broker_epoch for _, message in out.take() if isinstance(message, c.BrokerRegistrationResponse)
    ] == [0, 0]
    node.receive(4, c.BrokerHeartbeatRequest(1, 0, 1), 5 * MS, out)
    out.take()
    node.receive(5, c.BrokerRegistrationRequest(1, None, 8), 6 * MS, out)
    assert out.take() == [(5, c.BrokerRegistrationResponse(ErrorCode.DUPLICATE_BROKER_REGISTRATION))]


def test_broker_asks_again_later_each_time_while_it_is_taken_for_another_process():
    node, out = Broker(BrokerState(1, ClusterSettings())), Out()
    node.receive(0, lifecycle.Start(), 0, out)
    waits = []
    for _ in range(8):
        node.receive(CONTROL, c.BrokerRegistrationResponse(ErrorCode.DUPLICATE_BROKER_REGISTRATION), 0, out)
        waits.append(out.deadlines["heartbeat"] // MS)
        node.wake("heartbeat", 0, out)
    assert waits == [100, 200, 400, 800, 1_600, 3_200, 6_400, 9_000]


def test_broker_takes_no_connection_before_it_has_read_the_metadata():
    """Else a client would be told that there are no topics, and believe it."""
    node, out = Broker(BrokerState(1, ClusterSettings())), Out()
    node.receive(0, lifecycle.Start(), 0, out)
    node.receive(10, Opened("client"), 1 * MS, out)
    node.receive(CONTROL, c.BrokerRegistrationResponse(0, 3), 2 * MS, out)
    node.receive(11, Opened("client"), 2 * MS, out)
    assert out.closed == [10, 11] and not node.state.clients
    node.receive(
        CONTROL, c.MetadataDelta(9, [], [c.MetadataTopicState("t", 1)], [], is_image=True), 3 * MS, out
    )
    node.receive(12, Opened("client"), 4 * MS, out)
    node.receive(12, r.MetadataRequest(), 4 * MS, out)
    assert out.closed == [10, 11] and [topic.name for topic in out.take()[-1][1].topics] == ["t"]


def test_broker_whose_heartbeat_is_not_answered_connects_anew():
    node, out = leading()
    node.wake("heartbeat", 2_004 * MS, out)
    assert isinstance(out.take()[0][1], c.BrokerHeartbeatRequest)
    node.wake("heartbeat", out.deadlines["heartbeat"], out)
    assert out.closed == [CONTROL] and out.opened == ["controller", "controller"]


def test_leader_answers_acks_all_when_the_follower_asks_for_what_comes_next():
    node, out = leading()
    node.receive(20, follower_fetch(0, 0), 10 * MS, out)
    node.receive(10, produce(), 11 * MS, out)
    [(to, fetched)] = out.take()
    assert (
        to == 20
        and fetched.partitions[0].records[0].values == ("a",)
        and fetched.partitions[0].high_watermark == 0
    )
    node.receive(20, follower_fetch(1), 12 * MS, out)
    assert out.take() == [(10, r.ProduceResponse([r.ProducedPartition("t", 0, 0, 0, 0)]))]
    node.wake("fetch:20", out.deadlines["fetch:20"], out)
    node.wake("fetch:20", out.deadlines["fetch:20"], out)
    assert out.take()[0][1].partitions[0].high_watermark == 1, (
        "the follower learns of it with the next answer"
    )


def test_leader_lets_a_follower_in_when_it_has_caught_up():
    node, out = leading(isr=(1,))
    node.receive(20, follower_fetch(0, 0), 10 * MS, out)
    asked = [message for to, message in out.take() if to == CONTROL]
    assert asked == [c.AlterPartitionRequest(1, 3, "t", 0, 0, 0, [(1, 3), (2, 3)])]
    node.receive(CONTROL, c.AlterPartitionResponse("t", 0, 0, 1, 0, 1, [1, 2]), 12 * MS, out)
    assert node.state.replicas["t", 0].partition.isr_state.isr == {1, 2}


def test_leader_asks_for_its_isr_again_after_50_ms_where_the_whole_request_was_refused():
    """Kafka 3.9 DefaultAlterPartitionManager: what one request was refused for, the next may get."""
    node, out = leading(isr=(1,))
    node.receive(20, follower_fetch(0, 0), 10 * MS, out)
    asked = [message for to, message in out.take() if to == CONTROL]
    node.receive(CONTROL, c.AlterPartitionResponse("t", 0, ErrorCode.STALE_BROKER_EPOCH), 12 * MS, out)
    assert out.deadlines["alter:t:0"] == 62 * MS and CONTROL not in [to for to, _ in out.take()]
    node.wake("alter:t:0", 62 * MS, out)
    assert [message for to, message in out.take() if to == CONTROL] == asked and len(asked) == 1
    node.receive(20, follower_fetch(0, 1), 63 * MS, out)
    assert CONTROL not in [to for to, _ in out.take()], "it is on its way: once is enough"


@pytest.mark.parametrize("error", [ErrorCode.INELIGIBLE_REPLICA, ErrorCode.INVALID_UPDATE_VERSION])
def test_leader_whose_isr_was_refused_for_good_does_not_ask_again(error):
    node, out = leading(isr=(1,))
    node.receive(20, follower_fetch(0, 0), 10 * MS, out)
    out.take()
    node.receive(CONTROL, c.AlterPartitionResponse("t", 0, error), 12 * MS, out)
    assert "alter:t:0" not in out.deadlines and CONTROL not in [to for to, _ in out.take()]


def test_leader_drops_a_silent_follower_after_thirty_seconds():
    node, out = leading()
    node.receive(20, follower_fetch(0, 0), 10 * MS, out)
    node.receive(10, produce(1), 11 * MS, out)
    out.take()
    node.wake("isr", 30_010 * MS, out)
    assert not [message for _, message in out.take() if isinstance(message, c.AlterPartitionRequest)], (
        "exactly thirty: it stays"
    )
    node.wake("isr", 45_000 * MS, out)
    assert [message.isr for _, message in out.take() if isinstance(message, c.AlterPartitionRequest)] == [
        [(1, 3)]
    ]


@pytest.mark.parametrize(
    ("acks", "error"),
    [(-1, ErrorCode.NOT_ENOUGH_REPLICAS), (1, ErrorCode.NONE), (2, ErrorCode.INVALID_REQUIRED_ACKS)],
)
def test_what_a_leader_alone_answers_below_min_isr(acks, error):
    node, out = leading(isr=(1,), min_isr=2)
    node.receive(10, produce(acks), 10 * MS, out)
    assert [message.partitions[0].error_code for _, message in out.take()] == [error]


def test_follower_connects_to_its_leader_and_fetches_from_its_end():
    node, out = leading()
    moved = PartitionRegistration((1, 2), (2, 1), 2, 1, 1)
    node.receive(
        CONTROL, c.MetadataDelta(10, [], [], [c.MetadataPartitionState("t", 0, moved)]), 20 * MS, out
    )
    assert out.opened[-1] == "broker-2"
    request = next(message for _, message in out.take() if isinstance(message, r.FetchRequest))
    assert (
        request.replica_id,
        request.partitions[0].fetch_offset,
        request.partitions[0].current_leader_epoch,
    ) == (1, 0, 1)


def test_coordinators_at_work_hear_of_topics_that_grew_while_another_one_came():
    """One delta may do both: the new coordinator starts with the topics of now, and the one before learns
    what has changed."""
    node, out = Broker(BrokerState(1, ClusterSettings())), Out()
    node.receive(0, lifecycle.Start(), 0, out)
    node.receive(CONTROL, c.BrokerRegistrationResponse(0, 3), 2 * MS, out)
    brokers = [c.MetadataBrokerState(broker, 3, None, False, False) for broker in (1, 2)]
    topics = [c.MetadataTopicState(name, 1) for name in ("t", OFFSETS_TOPIC)]
    mine, others = PartitionRegistration((1, 2), (1, 2), 1), PartitionRegistration((1, 2), (1, 2), 2)
    parts = [
        c.MetadataPartitionState("t", 0, mine),
        *(c.MetadataPartitionState(OFFSETS_TOPIC, i, each) for i, each in ((0, mine), (1, others))),
    ]
    node.receive(CONTROL, c.MetadataDelta(9, brokers, topics, parts, is_image=True), 3 * MS, out)
    now = PartitionRegistration((1, 2), (1, 2), 1, leader_epoch=1, partition_epoch=1)
    more = [c.MetadataPartitionState(OFFSETS_TOPIC, 1, now), c.MetadataPartitionState("t", 1, mine)]
    node.receive(CONTROL, c.MetadataDelta(11, [], [], more), 4 * MS, out)
    assert [
        coordinator.topics.by_name["t"].partition_count for coordinator in node.host.groups.running.values()
    ] == [2, 2]


def test_watchers_of_a_partition_are_in_the_order_in_which_a_restored_broker_finds_them():
    """The order of the answers decides whose message comes first: that must not depend on when a checkpoint
    was taken."""
    node, _ = leading()
    host = node.host
    for connection in (20, 10):
        session = host.state.sessions[connection] = FetchSession(follower_fetch(0))
        session.wanted["t", 0] = PartitionFetch(0, None, None, 0, 100)
        host.watch(("t", 0), connection, session)
    assert list(host.watchers["t", 0]) == list(Broker(host.state).host.watchers["t", 0]) == [10, 20]
    host.unwatch(("t", 0), 10)
    host.watch(("t", 0), 10, host.state.sessions[10])
    assert list(host.watchers["t", 0]) == [10, 20]
