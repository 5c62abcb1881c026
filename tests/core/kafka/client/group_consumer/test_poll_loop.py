"""The program around the consumer: when it polls, what holds it up, and what goes on meanwhile. By
playbook."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.client.group_consumer.consumer import GroupConsumer
from broker_core.kafka.client.group_consumer.core import CLOSED, CLOSING
from broker_core.kafka.client.group_consumer.orders import CommitOffsets, Seek, Start, Stick, Subscribe
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.sim.node import Closed
from broker_core.sim.program import DONE, Leave, Pace, Pause, Resume
from tests.core.kafka.client.consumer_bench import SECOND, Bench

OK_COMMIT = m.OffsetCommitResponse([])


def member(*numbers: int, **settings: Any) -> Bench:
    bench = Bench(**{"commits": "never"} | settings)
    bench.start()
    bench.join(*(numbers or (0,)))
    return bench


# --- coming up


def test_a_process_that_comes_up_does_nothing_before_and_subscribes_then() -> None:
    bench = Bench(topics=["t", "u"])
    bench.node.receive(0, Start(2 * SECOND), 0, bench.out)
    for name in ("retry", "metadata", "heartbeat"):
        bench.node.wake(name, SECOND, bench.out)
    assert bench.out.take() == [] and bench.state.subscribed.topics == []
    bench.node.wake("boot", 2 * SECOND, bench.out)
    assert bench.state.subscribed.topics == ["t", "u"] and bench.state.loop.polled_us == 2 * SECOND
    assert bench.to(r.MetadataRequest) and bench.to(FindCoordinatorRequest)


def test_a_subscription_by_pattern_waits_for_the_topics_that_match() -> None:
    bench = Bench(topics=[], pattern="t|x")
    bench.node.receive(0, Start(), 0, bench.out)
    assert bench.state.subscribed.topics == []
    bench.serve()
    assert bench.state.subscribed.topics == ["t"] and bench.to(m.JoinGroupRequest)


def test_a_new_pattern_holds_at_once_for_what_is_known_and_asks_for_the_rest() -> None:
    bench = member(0)
    bench.node.receive(0, Subscribe([], "t.*"), SECOND, bench.out)
    assert bench.state.subscribed.topics == ["t"] and [
        request.topics for _, request in bench.to(r.MetadataRequest)
    ] == [None]
    assert not bench.to(m.JoinGroupRequest), "it is the same subscription"


# --- records


def test_each_record_is_reported_when_the_program_begins_with_it() -> None:
    bench = member(0, max_poll_records=2)
    begun: list[tuple[tuple[str, int], int]] = []
    bench.node.polled = lambda partition, offset: begun.append((partition, offset))
    bench.records(0, 0, 10, 11, 12)
    assert begun == [(("t", 0), 0)] and bench.traffic.received_count == 1
    bench.done(100)
    bench.done(200)
    assert [offset for _, offset in begun] == [0, 1, 2] and bench.out.deadlines[DONE] == 300


def test_between_two_records_of_one_poll_nothing_of_the_group_happens() -> None:
    bench = member(0, commits="auto", max_poll_records=3)
    bench.records(0, 0, 10, 11, 12)
    bench.node.wake("commit", 5 * SECOND, bench.out)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(codes.REBALANCE_IN_PROGRESS), 5 * SECOND)
    for _ in range(2):
        bench.done(5 * SECOND)
        assert not bench.to(m.OffsetCommitRequest)
    bench.done(5 * SECOND)
    assert len(bench.to(m.OffsetCommitRequest)) == 2, "the one that was due, and the one before the rebalance"


def test_the_next_fetch_goes_out_before_the_program_works() -> None:
    bench = member(0, max_poll_records=1)
    bench.records(0, 0, 10)
    assert bench.state.program.hand == 10
    assert [
        [part.fetch_offset for part in request.partitions] for _, request in bench.to(r.FetchRequest)
    ] == [[1]]


# --- pause, pace


def test_a_paused_program_handles_what_it_has_in_hand_and_takes_nothing_more_but_polls_on() -> None:
    bench = member(0, max_poll_records=1)
    bench.records(0, 0, 10, 11)
    bench.node.receive(0, Pause(), 50, bench.out)
    bench.done(100)
    assert bench.traffic.log == [("handled", 10)] and bench.state.program.hand == -1
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    assert bench.to(m.HeartbeatRequest) and bench.state.loop.polled_us == 3 * SECOND
    bench.node.receive(0, Resume(), 4 * SECOND, bench.out)
    assert bench.state.program.hand == 11 and bench.out.deadlines[DONE] == 4 * SECOND + 100


def test_another_pace_holds_from_the_next_record_on() -> None:
    bench = member(0)
    bench.records(0, 0, 10, 11)
    bench.node.receive(0, Pace(7_000), 50, bench.out)
    assert bench.out.deadlines[DONE] == 100
    bench.done(100)
    assert bench.out.deadlines[DONE] == 7_100


# --- a program that does not come back


def test_a_stuck_program_is_done_with_its_record_when_it_comes_back_and_not_before() -> None:
    bench = member(0, max_poll_records=1)
    bench.records(0, 0, 10, 11)
    bench.node.receive(0, Stick(True), 10, bench.out)
    bench.done(100)
    assert bench.traffic.log == [] and bench.state.loop.is_overdue
    bench.node.receive(0, Stick(False), 9 * SECOND, bench.out)
    assert (
        bench.traffic.log == [("handled", 10)]
        and bench.state.program.hand == 11
        and not bench.state.loop.is_overdue
    )


def test_one_that_comes_back_in_time_loses_none() -> None:
    bench = member(0, max_poll_records=1)
    bench.records(0, 0, 10)
    bench.node.receive(0, Stick(True), 10, bench.out)
    bench.node.receive(0, Stick(False), 20, bench.out)
    assert bench.traffic.log == [] and bench.out.deadlines[DONE] == 100
    bench.done(100)
    assert bench.traffic.log == [("handled", 10)]


# --- calls besides poll()


@pytest.mark.parametrize("named", [("t", 1), ("u", 0)])
def test_a_seek_of_what_it_does_not_own_changes_nothing(named: tuple[str, int]) -> None:
    bench = member(0)
    bench.node.receive(0, Seek(*named, 7), 0, bench.out)
    assert (
        list(bench.state.subscribed.assigned) == [("t", 0)]
        and bench.state.subscribed.assigned["t", 0].position == 0
    )


def test_a_seek_while_the_position_is_looked_for_wins() -> None:
    bench = Bench(commits="never")
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    sync = m.SyncGroupResponse(
        0,
        "consumer",
        "range",
        b"\x00\x01\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x00\xff\xff\xff\xff",
    )
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"))
    bench.answer(m.SyncGroupRequest, sync)
    bench.node.receive(0, Seek("t", 0, 33), 0, bench.out)
    bench.offsets({0: 5})
    assert bench.state.subscribed.assigned["t", 0].position == 33


def test_a_second_commit_that_does_not_wait_does_not_end_the_wait_for_the_first() -> None:
    bench = member(0)
    bench.node.receive(0, CommitOffsets([("t", 0, 1)], waits=True), 0, bench.out)
    first = bench.to(m.OffsetCommitRequest)[0][0]
    bench.node.receive(0, CommitOffsets([("t", 0, 2)]), 1, bench.out)
    assert bench.state.loop.awaits_commit
    bench.node.receive(first, OK_COMMIT, 2, bench.out)
    assert not bench.state.loop.awaits_commit


def test_given_offsets_without_a_coordinator_do_not_wait() -> None:
    bench = member(0)
    bench.node.receive(bench.state.network.connections[-1], Closed("reset"), 0, bench.out)
    bench.node.receive(0, CommitOffsets([("t", 0, 1)], waits=True), 1, bench.out)
    assert not bench.state.loop.awaits_commit and not bench.to(m.OffsetCommitRequest)


# --- connections


def test_a_broken_connection_to_a_leader_is_opened_again_after_the_back_off_and_costs_no_membership() -> None:
    bench = member(0)
    bench.to(r.FetchRequest)
    connection = bench.state.network.connections[1]
    bench.node.receive(connection, Closed("reset"), SECOND, bench.out)
    assert (
        bench.state.network.broken_us == {1: SECOND}
        and not bench.to(r.FetchRequest)
        and bench.state.member.member_id == "c1-id"
    )
    bench.serve(SECOND)
    bench.node.wake("retry", SECOND + 100_000, bench.out)
    ((again, request),) = bench.to(r.FetchRequest)
    assert again != connection and request.session_epoch == 0 and bench.state.owned == [("t", 0)]


def test_the_end_of_a_connection_that_is_no_more_means_nothing() -> None:
    bench = member(0)
    before = dict(bench.state.network.connections)
    bench.node.receive(99, Closed("reset"), SECOND, bench.out)
    assert bench.state.network.connections == before and bench.state.network.broken_us == {}


def test_a_time_out_that_is_early_breaks_nothing() -> None:
    bench = member(0)
    connection = bench.state.network.connections[1]
    bench.node.wake(f"request:{connection}", 30 * SECOND - 1, bench.out)
    assert bench.out.closed == [] and bench.out.deadlines[f"request:{connection}"] == 30 * SECOND


# --- close


@pytest.mark.parametrize("commits", ["auto", "sync", "async", "never"])
def test_close_commits_unless_the_program_never_does_and_leaves_the_group_after_that(commits: str) -> None:
    bench = member(0, commits=commits)
    bench.records(0, 0, 10)
    bench.node.receive(0, Leave(), 50, bench.out)
    assert bench.traffic.log == [("dropped", 10)] and bench.state.owned == []
    found = bench.to(m.OffsetCommitRequest)
    assert [request.topics[0].partitions[0].committed_offset for _, request in found] == (
        [] if commits == "never" else [0]
    )
    assert bool(bench.to(m.LeaveGroupRequest)) is (commits == "never")


def test_close_hears_nothing_but_what_it_waits_for() -> None:
    bench = member(0, commits="auto")
    fetch, _ = bench.to(r.FetchRequest)[0]
    bench.node.receive(0, Leave(), SECOND, bench.out)
    bench.node.receive(fetch, r.FetchResponse([]), SECOND, bench.out)
    bench.node.receive(0, Subscribe(["u"]), SECOND, bench.out)
    bench.node.receive(fetch, Closed("reset"), SECOND, bench.out)
    assert (
        bench.state.member.phase == CLOSING
        and not bench.to(r.FetchRequest)
        and bench.state.subscribed.topics == ["t"]
    )
    bench.answer(m.OffsetCommitRequest, OK_COMMIT, 2 * SECOND)
    bench.answer(m.LeaveGroupRequest, m.LeaveGroupResponse(), 3 * SECOND)
    assert bench.state.member.phase == CLOSED and fetch not in bench.out.closed, "that one was closed already"


@pytest.mark.parametrize("how", ["coordinator", "clock"])
def test_close_waits_no_longer_than_for_its_coordinator_and_thirty_seconds(how: str) -> None:
    bench = member(0, commits="auto")
    bench.node.receive(0, Leave(), SECOND, bench.out)
    assert bench.out.deadlines["close"] == 31 * SECOND
    if how == "clock":
        bench.node.wake("close", 31 * SECOND, bench.out)
    else:
        bench.node.receive(bench.state.network.connections[-1], Closed("reset"), 2 * SECOND, bench.out)
    assert bench.state.member.phase == CLOSED and bench.out.told[-1] == (
        "kafka.consumer.closed",
        {"client": "c1"},
    )
    assert (
        bench.state.network.connections == {}
        and [name for name in bench.out.deadlines if not name.startswith("request:")] == []
    )
    bench.node.receive(0, Start(), 40 * SECOND, bench.out)
    assert not bench.to(r.MetadataRequest), "it does not come back"


def test_a_consumer_is_what_its_settings_say() -> None:
    for protocol, kind in (("classic", m.JoinGroupRequest), ("consumer", m.ConsumerGroupHeartbeatRequest)):
        bench = Bench(group_protocol=protocol)
        bench.start()
        assert isinstance(bench.node, GroupConsumer) and len(bench.to(kind)) == 1
