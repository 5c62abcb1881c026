"""The consumer program by playbook: what it asks, in which order, and what it does with each answer. No
broker, no world."""

from __future__ import annotations

import pytest

from broker_core.kafka.assignors.subscription_bytes import (
    read_assignment,
    read_subscription,
    write_assignment,
)
from broker_core.kafka.client.group_consumer.core import COMMITTING, ConsumerState
from broker_core.kafka.client.group_consumer.orders import Seek, Stick
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest, FindCoordinatorResponse
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
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
