"""A classic member's heartbeats, what their answers mean in each phase, and the clock of
max.poll.interval.ms. By playbook."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.client.group_consumer.core import COMMITTING, FAILED, IN, JOINING, SYNCING
from broker_core.kafka.client.group_consumer.orders import Start, Stick
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.sim.node import Closed
from tests.core.kafka.client.consumer_bench import SECOND, Bench

OK_COMMIT = m.OffsetCommitResponse([])


def member(*numbers: int, **settings: Any) -> Bench:
    bench = Bench(**settings)
    bench.start()
    bench.join(*(numbers or (0,)))
    return bench


def beat(bench: Bench, now_us: int) -> list[m.HeartbeatRequest]:
    """The deadline comes due: what it sends."""
    bench.out.deadlines.pop("heartbeat", None)
    bench.node.wake("heartbeat", now_us, bench.out)
    return [request for _, request in bench.to(m.HeartbeatRequest)]


def heard(bench: Bench, code: int, now_us: int = 3 * SECOND) -> None:
    bench.node.wake("heartbeat", now_us, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(code), now_us)


def in_phase(phase: str, **settings: Any) -> tuple[Bench, int]:
    """A member in this phase of a rebalance, with the connection on which a late answer to a heartbeat
    comes."""
    bench = member(0, assignors=["cooperative-sticky"], **settings)
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    bench.node.wake("heartbeat", 6 * SECOND, bench.out)
    (first, _), _ = bench.to(m.HeartbeatRequest)
    if phase != IN:
        bench.node.receive(first, m.HeartbeatResponse(codes.REBALANCE_IN_PROGRESS), 6 * SECOND, bench.out)
    if phase in (JOINING, SYNCING):
        bench.answer(m.OffsetCommitRequest, OK_COMMIT, 6 * SECOND)
    if phase == SYNCING:
        bench.answer(
            m.JoinGroupRequest,
            m.JoinGroupResponse("c1-id", 0, 2, "consumer", "cooperative-sticky", "other"),
            6 * SECOND,
        )
    assert bench.state.member.phase == phase
    return bench, first


# --- when


def test_they_begin_with_the_joingroup_s_answer_and_go_on_every_interval_late_by_the_member_s_own_bit() -> (
    None
):
    bench = Bench(heartbeat_interval_ms=2_000)
    bench.out.draw = lambda stream, limit: limit - 1
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    assert "heartbeat" not in bench.out.deadlines
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"), SECOND)
    late = 99_999
    assert bench.out.deadlines["heartbeat"] == 3 * SECOND + late
    assert beat(bench, 3 * SECOND + late) == [m.HeartbeatRequest("g", 1, "c1-id", None)], (
        "also before its SyncGroup is answered"
    )
    assert bench.out.deadlines["heartbeat"] == 5 * SECOND + 2 * late


def test_a_static_member_names_its_instance() -> None:
    bench = member(0, group_instance_id="one")
    assert beat(bench, 3 * SECOND) == [m.HeartbeatRequest("g", 1, "c1-id", "one")]


def test_they_go_on_while_the_program_works_and_while_it_is_stuck() -> None:
    bench = member(0)
    bench.records(0, 0, 10)
    bench.node.receive(0, Stick(True), 0, bench.out)
    assert [len(beat(bench, step * 3 * SECOND)) for step in (1, 2, 3)] == [1, 1, 1]


@pytest.mark.parametrize("phase", [COMMITTING, JOINING])
def test_between_the_word_of_a_rebalance_and_the_joingroup_s_answer_there_are_none(phase: str) -> None:
    bench, _ = in_phase(phase)
    assert "heartbeat" not in bench.out.deadlines and beat(bench, 9 * SECOND) == []


def test_without_a_coordinator_it_asks_for_one_instead_and_the_clock_goes_on() -> None:
    bench = member(0)
    bench.node.receive(bench.state.network.connections[-1], Closed("reset"), SECOND, bench.out)
    assert beat(bench, 3 * SECOND) == [] and bench.out.deadlines["heartbeat"] == 6 * SECOND
    bench.serve(3 * SECOND)
    assert len(beat(bench, 6 * SECOND)) == 1, "it is still a member"


# --- what an answer means


@pytest.mark.parametrize(
    ("code", "phase", "member_id", "generation"),
    [
        (0, IN, "c1-id", 1),
        (codes.REBALANCE_IN_PROGRESS, COMMITTING, "c1-id", 1),
        (codes.ILLEGAL_GENERATION, JOINING, "c1-id", -1),
        (codes.UNKNOWN_MEMBER_ID, JOINING, "", -1),
        (codes.COORDINATOR_NOT_AVAILABLE, IN, "c1-id", 1),
        (codes.NOT_COORDINATOR, IN, "c1-id", 1),
        (codes.FENCED_INSTANCE_ID, FAILED, "c1-id", 1),
        (30, FAILED, "c1-id", 1),
    ],
)
def test_each_code_leads_where_the_original_goes(
    code: int, phase: str, member_id: str, generation: int
) -> None:
    bench = member(0)
    heard(bench, code)
    known = bench.state.member
    assert (known.phase, known.member_id, known.generation) == (phase, member_id, generation)
    assert (bench.state.coordinator.node_id == -1) is (
        code in (codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR)
    )
    assert bench.state.owned == ([("t", 0)] if phase in (IN, COMMITTING) else [])


@pytest.mark.parametrize("phase", [COMMITTING, JOINING])
def test_a_rebalance_that_is_heard_of_when_it_joins_already_is_the_same_one(phase: str) -> None:
    bench, connection = in_phase(phase)
    bench.out.take()
    bench.node.receive(connection, m.HeartbeatResponse(codes.REBALANCE_IN_PROGRESS), 7 * SECOND, bench.out)
    known = bench.state.member
    assert (known.phase, known.member_id, known.generation, known.must_rejoin) == (phase, "c1-id", 1, False)
    assert not bench.to(m.JoinGroupRequest)


def test_a_rebalance_heard_of_while_it_syncs_is_not_heard_twice() -> None:
    """The SyncGroup will be answered with it, too."""
    bench, connection = in_phase(SYNCING)
    bench.node.receive(connection, m.HeartbeatResponse(codes.REBALANCE_IN_PROGRESS), 7 * SECOND, bench.out)
    assert bench.state.member.phase == SYNCING and not bench.state.member.must_rejoin


def test_the_next_poll_acts_on_what_a_heartbeat_told_and_only_once() -> None:
    bench = member(0, max_poll_records=1)
    bench.records(0, 0, 10)
    for now_us in (3 * SECOND, 6 * SECOND):
        heard(bench, codes.REBALANCE_IN_PROGRESS, now_us)
    assert bench.state.member.phase == IN and not bench.to(m.OffsetCommitRequest)
    bench.done(7 * SECOND)
    bench.answer(m.OffsetCommitRequest, OK_COMMIT, 7 * SECOND)
    assert len(bench.to(m.JoinGroupRequest)) == 1


# --- max.poll.interval.ms


def test_the_clock_counts_from_the_last_poll_and_looks_again_where_that_would_be_over() -> None:
    bench = member(0, max_poll_interval_ms=60_000)
    bench.records(0, 0, 10, now_us=50 * SECOND)
    bench.node.wake("poll_interval", 60 * SECOND, bench.out)
    assert bench.out.deadlines["poll_interval"] == 110 * SECOND and not bench.to(m.LeaveGroupRequest)
    bench.node.wake("poll_interval", 110 * SECOND - 1, bench.out)
    assert not bench.to(m.LeaveGroupRequest)
    bench.node.wake("poll_interval", 110 * SECOND, bench.out)
    assert len(bench.to(m.LeaveGroupRequest)) == 1 and bench.out.deadlines["poll_interval"] == 170 * SECOND


def test_a_program_without_records_is_in_poll_all_the_time() -> None:
    bench = member(0, max_poll_interval_ms=60_000)
    for now_us in (60 * SECOND, 120 * SECOND):
        bench.node.wake("poll_interval", now_us, bench.out)
        assert bench.out.deadlines["poll_interval"] == now_us + 60 * SECOND
    assert not bench.to(m.LeaveGroupRequest) and bench.state.member.phase == IN


def test_a_program_that_waits_for_its_commit_is_not_in_poll() -> None:
    bench = member(0, max_poll_interval_ms=60_000, commits="sync", max_poll_records=1)
    bench.records(0, 0, 10)
    bench.done()
    assert bench.state.loop.awaits_commit
    bench.node.wake("poll_interval", 60 * SECOND, bench.out)
    assert bench.to(m.LeaveGroupRequest) and bench.out.told[-1][0] == "kafka.consumer.poll_timeout"


def test_who_was_late_loses_what_it_had_with_its_next_poll_and_joins_as_somebody_new() -> None:
    bench = member(0, max_poll_interval_ms=60_000, max_poll_records=1)
    bench.records(0, 0, 10)
    bench.node.wake("poll_interval", 60 * SECOND, bench.out)
    bench.answer(m.LeaveGroupRequest, m.LeaveGroupResponse(), 60 * SECOND)
    assert bench.state.owned == [("t", 0)], "nobody has asked the program yet"
    bench.done(70 * SECOND)
    assert bench.out.rules[-1] == "kafka.consumer.lost" and not bench.to(m.OffsetCommitRequest), (
        "a late one commits nothing"
    )
    assert [request.member_id for _, request in bench.to(m.JoinGroupRequest)] == [""]


@pytest.mark.parametrize("is_static", [False, True])
def test_a_static_member_that_is_late_says_nothing_to_the_group_and_stops_beating(is_static: bool) -> None:
    bench = member(0, max_poll_interval_ms=60_000, group_instance_id="one" if is_static else None)
    bench.records(0, 0, 10)
    bench.node.wake("poll_interval", 60 * SECOND, bench.out)
    assert bool(bench.to(m.LeaveGroupRequest)) is not is_static and beat(bench, 63 * SECOND) == []


def test_before_it_is_in_any_group_nobody_is_late() -> None:
    bench = Bench(max_poll_interval_ms=60_000)
    bench.node.receive(0, Start(), 0, bench.out)
    bench.state.loop.awaits_commit = True  # it polls nothing
    bench.node.wake("poll_interval", 60 * SECOND, bench.out)
    assert bench.out.told == [] and bench.out.deadlines["poll_interval"] == 120 * SECOND


def test_a_fetch_that_is_answered_late_is_still_a_poll() -> None:
    bench = member(0, max_poll_interval_ms=60_000)
    bench.node.receive(bench.to(r.FetchRequest)[0][0], r.FetchResponse([]), 59 * SECOND, bench.out)
    assert bench.state.loop.polled_us == 59 * SECOND
