"""The consumer program by playbook: what it asks, in which order, and what it does with each answer. No
broker, no world."""

from __future__ import annotations

import pytest

from broker_core.kafka.assignors.subscription_bytes import (
    read_assignment,
    read_subscription,
    write_assignment,
)
from broker_core.kafka.client.group_consumer.consumer import Seek, Stick
from broker_core.kafka.client.group_consumer.core import COMMITTING, FAILED, IN, ConsumerState
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest, FindCoordinatorResponse
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.topics import topic_id
from broker_core.plain import from_plain, to_plain
from broker_core.sim.node import Closed
from broker_core.sim.program import DONE, Leave
from tests.core.kafka.client.consumer_bench import SECOND, Bench, Server


def test_it_joins_with_the_id_it_was_given_and_reads_from_the_committed_offset() -> None:
    bench = Bench()
    bench.start()
    first = next(message for _, message in bench.out.sent if isinstance(message, m.JoinGroupRequest))
    assert (first.member_id, [offered.name for offered in first.protocols], first.client_id) == (
        "",
        ["range", "cooperative-sticky"],
        "c1",
    )
    bench.join(0, 2, committed={0: 7})
    wanted = {
        part.partition: part.fetch_offset
        for _, request in bench.to(r.FetchRequest)
        for part in request.partitions
    }
    assert wanted == {0: 7, 2: 0}
    assert bench.out.told == [
        ("kafka.consumer.assigned", {"client": "c1", "topic": "t", "partitions": [0, 2]})
    ]


def test_one_request_a_leader_and_the_first_answer_is_emptied_first() -> None:
    bench = Bench(partitions=6, max_poll_records=1)
    bench.start()
    bench.join(0, 1, 3)
    asked = sorted(
        [part.partition for part in request.partitions]
        for _, request in bench.out.sent
        if isinstance(request, r.FetchRequest)
    )
    assert asked == [[0, 3], [1]]
    bench.records(1, 0, 10, 11)
    bench.records(0, 0, 20)
    for _ in range(3):
        bench.done()
    assert [number for _, number in bench.traffic.log] == [10, 11, 20]


def test_a_session_names_only_what_has_changed() -> None:
    bench = Bench(partitions=6)
    bench.start()
    bench.join(0, 3)
    bench.records(0, 0, 20)
    bench.done()
    (request,) = [message for _, message in bench.out.sent if isinstance(message, r.FetchRequest)]
    assert (request.session_epoch == 1 and request.forgotten == []) or request.session_epoch == 2
    bench.records(0, 1)
    assert bench.state.fetches.sessions[1].sent == {("t", 0): (1, 0), ("t", 3): (0, 0)}


def test_a_session_names_a_partition_again_whose_leader_epoch_is_a_new_one() -> None:
    bench = Bench()
    bench.start()
    bench.join(0)
    bench.epoch = 1
    bench.node.wake("metadata", SECOND, bench.out)
    bench.serve(SECOND)
    for connection, _ in bench.to(r.OffsetsForLeaderEpochRequest):
        bench.node.receive(
            connection, r.OffsetsForLeaderEpochResponse([r.EpochEnd("t", 0, 0, 0, 0)]), SECOND, bench.out
        )
    bench.records(0, 0, now_us=SECOND)
    named = [
        part.current_leader_epoch for _, request in bench.to(r.FetchRequest) for part in request.partitions
    ]
    assert named == [1]


def test_an_eager_member_reads_nothing_from_the_moment_it_prepares_and_gives_up_after_its_commit() -> None:
    bench = Bench(assignors=["range"], max_poll_records=1)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10, 11)
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(codes.REBALANCE_IN_PROGRESS), 3 * SECOND)
    assert not bench.to(m.OffsetCommitRequest), "the record in hand comes first"
    bench.done(3 * SECOND)
    (connection, commit) = bench.to(m.OffsetCommitRequest)[0]
    assert commit.topics[0].partitions[0].committed_offset == 1
    assert bench.state.member.phase == COMMITTING and bench.state.owned == [("t", 0)]
    assert bench.traffic.log == [("handled", 10)], "what is buffered is not handed over any more"
    bench.node.receive(
        connection,
        m.OffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0)])]),
        3 * SECOND,
        bench.out,
    )
    assert bench.state.owned == []
    assert bench.out.told[-1] == ("kafka.consumer.revoked", {"client": "c1", "topic": "t", "partitions": [0]})
    assert bench.to(m.JoinGroupRequest)


def test_a_cooperative_member_reads_on_gives_up_what_moves_without_a_commit_and_joins_again() -> None:
    bench = Bench(assignors=["cooperative-sticky"], max_poll_records=1)
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    bench.answer(
        m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "cooperative-sticky", "other")
    )
    bench.answer(
        m.SyncGroupRequest,
        m.SyncGroupResponse(0, "consumer", "cooperative-sticky", write_assignment([("t", 0), ("t", 1)])),
    )
    bench.offsets({})
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(codes.REBALANCE_IN_PROGRESS))
    bench.answer(m.OffsetCommitRequest, m.OffsetCommitResponse([]))
    (_, request) = bench.to(m.JoinGroupRequest)[0]
    assert read_subscription(request.protocols[0].metadata).owned == (("t", 0), ("t", 1))
    bench.out.sent.append((_, request))
    bench.records(0, 0, 10)
    bench.done()
    bench.answer(
        m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 2, "consumer", "cooperative-sticky", "other")
    )
    bench.answer(
        m.SyncGroupRequest,
        m.SyncGroupResponse(0, "consumer", "cooperative-sticky", write_assignment([("t", 1)])),
    )
    assert bench.state.owned == [("t", 1)]
    assert bench.out.told[-1] == ("kafka.consumer.revoked", {"client": "c1", "topic": "t", "partitions": [0]})
    assert [
        committed.partition_index
        for _, commit in bench.to(m.OffsetCommitRequest)
        for committed in commit.topics[0].partitions
    ] == [1], "what was read of partition 0 since the first commit is read again by its new owner"


def test_a_cooperative_member_commits_nothing_while_it_rebalances() -> None:
    """commitSync() throws RebalanceInProgressException; the records that it was for are handled, and the next
    commit covers them."""
    bench = Bench(assignors=["cooperative-sticky"], commits="sync", max_poll_records=1)
    bench.start()
    bench.join(0)
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(codes.REBALANCE_IN_PROGRESS))
    bench.records(0, 0, 10)
    bench.done()
    assert bench.traffic.log == [("handled", 10)] and not bench.to(m.OffsetCommitRequest)
    assert bench.state.commits.failed == 1 and not bench.state.loop.awaits_commit
    bench.answer(
        m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 2, "consumer", "cooperative-sticky", "other")
    )
    bench.answer(
        m.SyncGroupRequest,
        m.SyncGroupResponse(0, "consumer", "cooperative-sticky", write_assignment([("t", 0)])),
    )
    bench.records(0, 1, 11)
    bench.done()
    (_, commit) = bench.to(m.OffsetCommitRequest)[0]
    assert (commit.generation_id_or_member_epoch, commit.topics[0].partitions[0].committed_offset) == (2, 2)


def test_who_is_no_member_any_more_commits_nothing() -> None:
    """An empty group would take a commit without a generation, as of a program that is no member of any
    group."""
    bench = Bench(commits="sync", max_poll_records=1)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10)
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(codes.UNKNOWN_MEMBER_ID))
    bench.node.receive(0, Leave(), 3 * SECOND, bench.out)
    assert not bench.to(m.OffsetCommitRequest) and not bench.to(m.LeaveGroupRequest)
    assert bench.out.told[-1] == ("kafka.consumer.closed", {"client": "c1"})


@pytest.mark.parametrize("is_in_sync", [False, True])
def test_after_a_rebalance_that_failed_it_joins_again_without_a_second_commit(is_in_sync: bool) -> None:
    """It commits once, when it prepares; with the new generation it has no assignment yet."""
    bench = Bench(assignors=["cooperative-sticky"])
    bench.start()
    bench.join(0)
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(codes.REBALANCE_IN_PROGRESS))
    bench.answer(m.OffsetCommitRequest, m.OffsetCommitResponse([]))
    if is_in_sync:
        bench.answer(
            m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 2, "consumer", "cooperative-sticky", "other")
        )
        bench.answer(m.SyncGroupRequest, m.SyncGroupResponse(codes.REBALANCE_IN_PROGRESS))
    else:
        bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("", codes.REBALANCE_IN_PROGRESS))
    assert not bench.to(m.OffsetCommitRequest)
    (_, again) = bench.to(m.JoinGroupRequest)[0]
    assert again.member_id == "c1-id" and bench.state.owned == [("t", 0)]


def test_the_leader_assigns_by_the_protocol_that_was_voted_for() -> None:
    bench = Bench(partitions=4)
    bench.start()
    request = bench.to(m.JoinGroupRequest)[0]
    metadata = request[1].protocols[0].metadata
    bench.out.sent.append(request)
    members = [m.JoinGroupMember("c1-id", None, metadata), m.JoinGroupMember("c2-id", None, metadata)]
    bench.answer(
        m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "c1-id", False, members)
    )
    (_, sync) = bench.to(m.SyncGroupRequest)[0]
    given = {entry.member_id: read_assignment(entry.assignment).partitions for entry in sync.assignments}
    assert given == {"c1-id": (("t", 0), ("t", 1)), "c2-id": (("t", 2), ("t", 3))}


def test_a_leader_joins_again_when_a_topic_of_the_group_grows() -> None:
    bench = Bench(partitions=2)
    bench.start()
    request = bench.to(m.JoinGroupRequest)[0]
    bench.out.sent.append(request)
    members = [m.JoinGroupMember("c1-id", None, request[1].protocols[0].metadata)]
    bench.answer(
        m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "c1-id", False, members)
    )
    bench.answer(
        m.SyncGroupRequest,
        m.SyncGroupResponse(0, "consumer", "range", write_assignment([("t", 0), ("t", 1)])),
    )
    bench.offsets({})
    bench.partitions = 3
    bench.node.wake("metadata", 300 * SECOND, bench.out)
    bench.serve(300 * SECOND)
    assert bench.state.member.phase == COMMITTING or bench.to(m.JoinGroupRequest)


def test_a_stuck_program_goes_on_with_heartbeats_until_max_poll_interval_and_then_leaves() -> None:
    bench = Bench(max_poll_interval_ms=60_000)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10)
    bench.node.receive(0, Stick(True), 0, bench.out)
    bench.done(1 * SECOND)
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    assert bench.to(m.HeartbeatRequest)
    bench.node.wake("poll_interval", 60 * SECOND, bench.out)
    assert [request.members[0].member_id for _, request in bench.to(m.LeaveGroupRequest)] == ["c1-id"]
    assert bench.out.told[-1][0] == "kafka.consumer.poll_timeout"
    bench.node.wake("heartbeat", 63 * SECOND, bench.out)
    assert not bench.to(m.HeartbeatRequest)
    bench.node.receive(0, Stick(False), 64 * SECOND, bench.out)
    assert bench.out.told[-1] == ("kafka.consumer.revoked", {"client": "c1", "topic": "t", "partitions": [0]})
    assert bench.out.rules[-1] == "kafka.consumer.lost"
    assert bench.to(m.JoinGroupRequest)[0][1].member_id == ""


def test_a_static_member_does_not_leave_the_group() -> None:
    bench = Bench(group_instance_id="one")
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("one-id", 0, 1, "consumer", "range", "other"))
    bench.node.receive(0, Leave(), SECOND, bench.out)
    assert not bench.to(m.LeaveGroupRequest)
    assert bench.out.told[-1][0] == "kafka.consumer.closed"


def test_close_waits_for_its_commit_and_then_leaves_the_group() -> None:
    bench = Bench()
    bench.start()
    bench.join(0)
    bench.node.receive(0, Leave(), SECOND, bench.out)
    assert not bench.to(m.LeaveGroupRequest)
    bench.answer(m.OffsetCommitRequest, m.OffsetCommitResponse([]))
    assert not bench.out.closed
    bench.answer(m.LeaveGroupRequest, m.LeaveGroupResponse())
    assert sorted(bench.out.closed) == sorted(bench.out.connected)


def test_an_offset_out_of_range_is_reset_and_none_gives_up() -> None:
    bench = Bench()
    bench.start()
    bench.join(0, committed={0: 50})
    bench.records(0, 50, code=1)
    assert bench.to(r.ListOffsetsRequest)[0][1].partitions[0].timestamp == -2
    other = Bench(auto_offset_reset="none")
    other.start()
    other.join(0, committed={0: 50})
    other.records(0, 50, code=1)
    assert other.state.member.phase == FAILED and other.out.told[-1][0] == "kafka.consumer.threw"


def test_a_position_beyond_the_end_of_its_epoch_goes_back() -> None:
    bench = Bench(max_poll_records=10)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10, 11, 12)
    for _ in range(3):
        bench.done()
    bench.epoch = 1
    bench.node.wake("metadata", SECOND, bench.out)
    bench.serve(SECOND)
    (connection, question) = bench.to(r.OffsetsForLeaderEpochRequest)[0]
    assert (question.partitions[0].leader_epoch, question.partitions[0].current_leader_epoch) == (0, 1)
    bench.node.receive(
        connection, r.OffsetsForLeaderEpochResponse([r.EpochEnd("t", 0, 0, 0, 2)]), SECOND, bench.out
    )
    assert bench.state.subscribed.assigned["t", 0].position == 2
    assert bench.out.told[-1][0] == "kafka.consumer.truncated"


def test_a_committed_offset_is_not_asked_of_a_leader_from_before_its_epoch() -> None:
    """A leader that is cut off and does not know it would say that there is no such offset, and the whole
    partition would be read again."""
    bench = Bench(partitions=1)
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"))
    bench.answer(
        m.SyncGroupRequest, m.SyncGroupResponse(0, "consumer", "range", write_assignment([("t", 0)]))
    )
    rows = [m.FetchedPartition(0, 18, committed_leader_epoch=3)]
    bench.answer(
        m.OffsetFetchRequest,
        m.OffsetFetchResponse([m.OffsetFetchGroupResult("g", [m.FetchedTopicResult("t", rows)])]),
        SECOND,
    )
    bench.answer(r.MetadataRequest, bench.metadata(), SECOND)
    assert not bench.to(r.FetchRequest), "the answer is of one that is behind"
    bench.epoch = 3
    bench.node.wake("retry", 2 * SECOND, bench.out)
    bench.answer(r.MetadataRequest, bench.metadata(), 2 * SECOND)
    assert [part.fetch_offset for _, request in bench.to(r.FetchRequest) for part in request.partitions] == [
        18
    ]


def test_a_coordinator_that_has_moved_is_found_again() -> None:
    bench = Bench()
    bench.start()
    bench.join(0)
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(codes.NOT_COORDINATOR), 3 * SECOND)
    assert bench.to(FindCoordinatorRequest)


@pytest.mark.parametrize("what", ["fetch", "heartbeat"])
def test_a_request_without_an_answer_breaks_its_connection_and_is_made_again(what: str) -> None:
    bench = Bench(heartbeat_interval_ms=60_000)
    bench.start()
    bench.join(0)
    if what == "heartbeat":
        bench.node.wake("heartbeat", 0, bench.out)
    kind = r.FetchRequest if what == "fetch" else m.HeartbeatRequest
    (connection, _) = bench.to(kind)[0]
    bench.node.wake(f"request:{connection}", 30 * SECOND, bench.out)
    assert connection in bench.out.closed
    bench.serve(30 * SECOND)
    bench.node.wake("retry", 30 * SECOND + 100_000, bench.out)
    bench.serve(31 * SECOND)
    if what == "heartbeat":
        bench.node.wake("heartbeat", 60 * SECOND, bench.out)
    assert bench.to(kind)


def test_a_rebalance_that_the_coordinator_could_not_store_is_tried_again_after_the_back_off() -> None:
    """Else a group whose offsets topic takes no writes would rebalance as fast as the network is."""
    bench = Bench()
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"))
    bench.answer(m.SyncGroupRequest, m.SyncGroupResponse(codes.COORDINATOR_NOT_AVAILABLE), 1 * SECOND)
    bench.answer(FindCoordinatorRequest, FindCoordinatorResponse(0, 2), SECOND + 5_000)
    assert not bench.to(m.JoinGroupRequest), "the coordinator is found again, and not asked yet"
    bench.node.wake("retry", bench.out.deadlines.pop("retry"), bench.out)
    assert bench.state.loop.polled_us == SECOND + 100_000 and bench.to(m.JoinGroupRequest)


def test_commit_sync_waits_and_a_closed_connection_ends_the_wait() -> None:
    bench = Bench(commits="sync", max_poll_records=1)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10, 11)
    bench.done()
    assert bench.state.loop.awaits_commit and DONE not in bench.out.deadlines
    (connection, _) = bench.to(m.OffsetCommitRequest)[0]
    bench.node.receive(connection, Closed("reset"), 0, bench.out)
    assert not bench.state.loop.awaits_commit


def test_seek_goes_on_elsewhere_and_what_was_buffered_is_dropped() -> None:
    bench = Bench(max_poll_records=1)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10, 11)
    bench.node.receive(0, Seek("t", 0, 5), 0, bench.out)
    bench.done()
    assert bench.traffic.log == [("handled", 10)]
    assert {part.fetch_offset for _, request in bench.to(r.FetchRequest) for part in request.partitions} == {
        5
    }


def test_what_is_sought_is_committed_and_not_what_is_still_in_hand() -> None:
    bench = Bench(max_poll_records=10)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10, 11, 12)
    bench.done()
    assert bench.state.handled() == {("t", 0): 1}
    for offset in (50, 0):
        bench.node.receive(0, Seek("t", 0, offset), 0, bench.out)
        assert bench.state.handled() == {("t", 0): offset}
    bench.node.receive(0, Seek("t", 0, -1, "latest"), 0, bench.out)
    assert bench.state.handled() == {}, (
        "until the leader has said where the end is there is nothing to commit"
    )


def test_a_server_assigned_member_reports_what_it_holds_at_once_and_then_says_little() -> None:
    bench = Server()
    bench.start()
    first = bench.beat(1, [0, 1])
    assert (first.member_epoch, first.subscribed_topic_names, first.topic_partitions) == (0, ["t"], [])
    report = bench.beat(1, None)
    assert (report.member_epoch, report.topic_partitions) == (1, [m.TopicPartitions(topic_id("t"), [0, 1])])
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    quiet = bench.beat(1, None, now_us=5 * SECOND)
    assert (quiet.topic_partitions, quiet.subscribed_topic_names, quiet.rebalance_timeout_ms) == (
        None,
        None,
        -1,
    )
    assert bench.state.member.phase == IN


def test_it_commits_gives_up_and_reports_what_is_taken_away_and_reads_on_the_rest() -> None:
    bench = Server(max_poll_records=1)
    bench.start()
    bench.beat(1, [0, 1])
    bench.beat(1, None)
    bench.records(0, 0, 10)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.beat(1, [1], now_us=5 * SECOND)
    assert bench.state.owned == [("t", 0), ("t", 1)], "the record in hand comes first"
    bench.done(5 * SECOND)
    bench.answer(m.OffsetCommitRequest, m.OffsetCommitResponse([]), 5 * SECOND)
    assert bench.state.owned == [("t", 1)]
    assert bench.beat(2, None, now_us=5 * SECOND).topic_partitions == [m.TopicPartitions(topic_id("t"), [1])]


def test_an_assignment_of_a_topic_that_is_not_known_yet_waits_for_metadata() -> None:
    """A member that subscribes by pattern may be assigned a topic of which its brokers have not told it, or
    have just told it nothing."""
    bench = Server(pattern="t|u", topics=[])
    bench.start()
    both = m.Assignment([m.TopicPartitions(topic_id(topic), [0]) for topic in ("t", "u")])
    bench.answer(
        m.ConsumerGroupHeartbeatRequest, m.ConsumerGroupHeartbeatResponse(0, "m1", 1, 5_000, both), SECOND
    )
    assert bench.state.owned == [("t", 0)]
    t = bench.metadata().topics[0]
    bench.answer(
        r.MetadataRequest,
        r.MetadataResponse([r.MetadataBroker(1)], 1, [t, r.MetadataTopic("u", 0, t.partitions)]),
        SECOND,
    )
    assert bench.state.owned == [("t", 0), ("u", 0)]
    bench.node.wake("metadata", 2 * SECOND, bench.out)
    bench.answer(r.MetadataRequest, r.MetadataResponse([], -1, []), 2 * SECOND)
    bench.answer(
        m.ConsumerGroupHeartbeatRequest, m.ConsumerGroupHeartbeatResponse(0, "m1", 1, 5_000, both), 2 * SECOND
    )
    assert bench.state.owned == [("t", 0), ("u", 0)], "a broker that tells of no topics takes nothing away"


def test_a_fenced_member_loses_what_it_has_and_joins_again() -> None:
    bench = Server()
    bench.start()
    bench.beat(1, [0])
    bench.beat(1, None, codes.FENCED_MEMBER_EPOCH)
    assert [kind for kind, _ in bench.out.told][-2:] == ["kafka.consumer.fenced", "kafka.consumer.revoked"]
    (_, request) = bench.to(m.ConsumerGroupHeartbeatRequest)[0]
    assert (request.member_epoch, request.member_id) == (0, "m1")


def test_it_leaves_with_epoch_minus_one_and_a_static_member_with_minus_two() -> None:
    for instance, epoch in ((None, -1), ("one", -2)):
        bench = Server(group_instance_id=instance)
        bench.start()
        bench.beat(1, [0])
        bench.beat(1, None)
        bench.node.receive(0, Leave(), SECOND, bench.out)
        bench.answer(m.OffsetCommitRequest, m.OffsetCommitResponse([]))
        request = bench.answer(m.ConsumerGroupHeartbeatRequest, m.ConsumerGroupHeartbeatResponse())
        assert request.member_epoch == epoch
        assert bench.out.told[-1][0] == "kafka.consumer.closed"
        assert sorted(bench.out.closed) == sorted(bench.out.connected)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_its_state_can_be_kept_and_restored(protocol: str) -> None:
    bench: Bench = Server() if protocol == "consumer" else Bench()
    bench.start()
    if isinstance(bench, Server):
        bench.beat(1, [0])
    else:
        bench.join(0)
    bench.records(0, 0, 10, 11)
    assert to_plain(from_plain(to_plain(bench.state), ConsumerState)) == to_plain(bench.state)


def asked_brokers(bench: Bench) -> dict[int, int]:
    """Broker -> position, of the fetches of partition 0; they are taken out of what was sent."""
    state = bench.state
    brokers = [state.network.broker_of[connection] for connection, _ in bench.to(r.FetchRequest)]
    return {broker: state.fetches.sessions[broker].sent["t", 0][0] for broker in brokers}


def fetched(bench: Bench, broker: int, now_us: int, *, code: int = 0, prefers: int = -1) -> None:
    """The broker answers the fetch of partition 0: nothing new, an error, or that it is to be read from
    another replica."""
    part = r.FetchedPartition("t", 0, code, 5, 5, 0, (), None, prefers)
    bench.node.receive(bench.state.network.connections[broker], r.FetchResponse([part]), now_us, bench.out)


def pass_time(bench: Bench, until_us: int) -> None:
    """Wake it for what is due, and give it the metadata that it asks for."""
    bench.serve(until_us)
    while due := [
        (at_us, name)
        for name, at_us in bench.out.deadlines.items()
        if at_us <= until_us and name != "heartbeat"
    ]:
        at_us, name = min(due)
        del bench.out.deadlines[name]
        bench.node.wake(name, at_us, bench.out)
        bench.serve(at_us)


@pytest.mark.parametrize("way", ["closed", "timed out", "refused", "out of range"])
def test_a_preferred_replica_that_cannot_serve_is_given_up_for_the_leader(way: str) -> None:
    bench = Bench(client_rack="c")
    bench.start()
    bench.join(0)
    assert asked_brokers(bench) == {1: 0}
    fetched(bench, 1, SECOND, prefers=3)
    assert asked_brokers(bench) == {3: 0}, "the follower in its rack"
    now_us = 2 * SECOND
    if way == "closed":
        bench.node.receive(bench.state.network.connections[3], Closed("reset"), now_us, bench.out)
    elif way == "timed out":
        now_us = 40 * SECOND
        pass_time(bench, now_us)
    else:
        fetched(bench, 3, now_us, code=1 if way == "out of range" else 6)
    pass_time(bench, now_us + SECOND)
    assert asked_brokers(bench) == {1: 0}


def test_a_preferred_replica_that_is_not_among_the_brokers_is_passed_over() -> None:
    bench = Bench(client_rack="c")
    bench.start()
    bench.join(0)
    asked_brokers(bench)
    fetched(bench, 1, SECOND, prefers=9)
    assert asked_brokers(bench) == {1: 0}
    assert bench.to(r.MetadataRequest), "there may be newer metadata"


def test_a_preferred_replica_is_one_for_as_long_as_metadata_are_valid() -> None:
    bench = Bench(client_rack="c", metadata_max_age_ms=300_000)
    bench.start()
    bench.join(0)
    asked_brokers(bench)
    fetched(bench, 1, 0, prefers=3)
    assert asked_brokers(bench) == {3: 0}
    fetched(bench, 3, 299 * SECOND)
    assert asked_brokers(bench) == {3: 0}
    fetched(bench, 3, 301 * SECOND)
    assert asked_brokers(bench) == {1: 0}
