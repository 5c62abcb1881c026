"""A classic member through a rebalance: what its JoinGroup carries, the leader's part, and what goes wrong on
the way. By playbook."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.events import Cause
from broker_core.kafka.assignors.subscription_bytes import (
    SubscriptionData,
    read_sticky_user_data,
    read_subscription,
    write_assignment,
    write_sticky_user_data,
)
from broker_core.kafka.client.group_consumer.core import COMMITTING, FAILED, IN, JOINING, OUT, SYNCING
from broker_core.kafka.client.group_consumer.orders import Subscribe
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.sim.node import Closed
from tests.core.kafka.client.consumer_bench import SECOND, Bench
from tests.core.kafka.client.group_consumer.classic_bench import given, joined, started

OK_COMMIT = m.OffsetCommitResponse([])


def member(*numbers: int, **settings: Any) -> Bench:
    bench = Bench(**settings)
    bench.start()
    bench.join(*(numbers or (0,)))
    return bench


def heard(bench: Bench, code: int = codes.REBALANCE_IN_PROGRESS, now_us: int = 3 * SECOND) -> None:
    bench.node.wake("heartbeat", now_us, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(code), now_us)


def synced(bench: Bench, *numbers: int, code: int = 0, now_us: int = 0) -> Any:
    bytes_ = write_assignment([("t", number) for number in numbers])
    return bench.answer(m.SyncGroupRequest, m.SyncGroupResponse(code, "consumer", "range", bytes_), now_us)


def late_sync(bench: Bench, *numbers: int, now_us: int = 0) -> None:
    """The answer to a SyncGroup that has been looked at."""
    bytes_ = write_assignment([("t", number) for number in numbers])
    bench.node.receive(
        bench.state.network.connections[-1],
        m.SyncGroupResponse(0, "consumer", "range", bytes_),
        now_us,
        bench.out,
    )


# --- what a JoinGroup carries


def test_it_offers_its_assignors_in_order_with_its_timeouts_and_its_names() -> None:
    bench = Bench(
        assignors=["sticky", "range"],
        session_timeout_ms=9_000,
        max_poll_interval_ms=70_000,
        group_instance_id="one",
        client_rack="b",
    )
    bench.start()
    ((_, request),) = bench.to(m.JoinGroupRequest)
    assert (request.session_timeout_ms, request.rebalance_timeout_ms, request.group_instance_id) == (
        9_000,
        70_000,
        "one",
    )
    assert [offered.name for offered in request.protocols] == ["sticky", "range"]
    told = read_subscription(request.protocols[1].metadata)
    assert (told.topics, told.owned, told.generation, told.rack, told.user_data) == (
        ("t",),
        (),
        -1,
        "b",
        None,
    )


def test_a_sticky_member_tells_what_it_had_and_of_which_generation_only_once_it_had_something() -> None:
    bench = member(0, 2, assignors=["sticky"])
    heard(bench)
    bench.answer(m.OffsetCommitRequest, OK_COMMIT)
    ((_, request),) = bench.to(m.JoinGroupRequest)
    assert read_sticky_user_data(read_subscription(request.protocols[0].metadata).user_data) == (
        [("t", 0), ("t", 2)],
        1,
    )


def test_a_cooperative_member_tells_what_it_owns_and_an_eager_one_has_given_it_up() -> None:
    for assignors, owned in (
        (["cooperative-sticky"], (("t", 0), ("t", 2))),
        (["range", "cooperative-sticky"], ()),
    ):
        bench = member(0, 2, assignors=assignors)
        heard(bench)
        bench.answer(m.OffsetCommitRequest, OK_COMMIT)
        ((_, request),) = bench.to(m.JoinGroupRequest)
        told = read_subscription(request.protocols[-1].metadata)
        assert (told.owned, told.generation) == (owned, 1)


# --- the leader's part


def test_the_leader_assigns_topics_of_others_after_it_has_learnt_of_them() -> None:
    bench = started()
    assert joined(bench, ("c2-id", SubscriptionData(("u",), None, (), -1, None)), now_us=SECOND) is None, (
        "it does not know u"
    )
    ((connection, request),) = bench.to(r.MetadataRequest)
    assert request.topics == ["t", "u"]
    rows = [r.MetadataPartition(number, 0, 1, 0, [1], [1], []) for number in range(2)]
    topics = [*bench.metadata().topics, r.MetadataTopic("u", 0, rows)]
    bench.node.receive(connection, r.MetadataResponse([r.MetadataBroker(1)], 1, topics), SECOND, bench.out)
    ((_, sync),) = bench.to(m.SyncGroupRequest)
    assert given(sync) == {"c1-id": [("t", 0), ("t", 1), ("t", 2)], "c2-id": [("u", 0), ("u", 1)]}


def test_a_topic_that_is_not_there_is_no_reason_to_wait_for_ever() -> None:
    bench = started()
    assert (
        joined(bench, ("c2-id", SubscriptionData(("t", "gone"), None, (), -1, None)), now_us=SECOND) is None
    )
    ((connection, _),) = bench.to(r.MetadataRequest)
    topics = [*bench.metadata().topics, r.MetadataTopic("gone", 3, [])]
    bench.node.receive(connection, r.MetadataResponse([r.MetadataBroker(1)], 1, topics), SECOND, bench.out)
    ((_, sync),) = bench.to(m.SyncGroupRequest)
    assert given(sync) == {"c1-id": [("t", 0), ("t", 1)], "c2-id": [("t", 2)]}


def test_a_leader_that_is_told_to_skip_it_assigns_nothing() -> None:
    """KIP-814: a static leader that came back; the coordinator keeps the assignment."""
    sync = joined(started(), ("c2-id", SubscriptionData(("t",), None, (), -1, None)), skip_assignment=True)
    assert sync.assignments == []


def test_a_follower_brings_nothing() -> None:
    bench = started()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"))
    ((_, sync),) = bench.to(m.SyncGroupRequest)
    assert (sync.assignments, sync.generation_id, sync.protocol_name, sync.protocol_type) == (
        [],
        1,
        "range",
        "consumer",
    )


def test_the_leader_lets_a_sticky_member_keep_what_it_says_it_had() -> None:
    bench = started(assignors=["sticky"], partitions=4)
    had = write_sticky_user_data({"t": [2, 3]}, 5)
    sync = joined(bench, ("c2-id", SubscriptionData(("t",), had, (), -1, None)), protocol="sticky")
    assert given(sync) == {"c1-id": [("t", 0), ("t", 1)], "c2-id": [("t", 2), ("t", 3)]}


def test_the_leader_rejoins_when_a_topic_of_another_member_grows_and_a_follower_does_not() -> None:
    for leads in (True, False):
        bench = started(partitions=2)
        if leads:
            joined(bench)
            late_sync(bench, 0)
        else:
            bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"))
            synced(bench, 0)
        bench.offsets({})
        bench.partitions = 3
        bench.node.wake("metadata", 300 * SECOND, bench.out)
        bench.answer(r.MetadataRequest, bench.metadata(), 300 * SECOND)
        assert (bench.state.member.phase == COMMITTING) is leads


# --- answers to JoinGroup and SyncGroup


@pytest.mark.parametrize(
    ("code", "phase", "member_id", "asks_again"),
    [
        (codes.UNKNOWN_MEMBER_ID, JOINING, "", True),
        (codes.REBALANCE_IN_PROGRESS, JOINING, "c1-id", True),
        (codes.COORDINATOR_NOT_AVAILABLE, OUT, "c1-id", False),
        (codes.NOT_COORDINATOR, OUT, "c1-id", False),
        (codes.GROUP_MAX_SIZE_REACHED, FAILED, "c1-id", False),
        (codes.INCONSISTENT_GROUP_PROTOCOL, FAILED, "c1-id", False),
        (codes.FENCED_INSTANCE_ID, FAILED, "c1-id", False),
        (codes.INVALID_SESSION_TIMEOUT, FAILED, "c1-id", False),
    ],
)
def test_each_code_of_a_joingroup_leads_where_the_original_goes(
    code: int, phase: str, member_id: str, asks_again: bool
) -> None:
    bench = started()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("", code), SECOND)
    assert (bench.state.member.phase, bench.state.member.member_id) == (phase, member_id)
    assert bool(bench.to(m.JoinGroupRequest)) is asks_again and (bench.state.coordinator.node_id == -1) is (
        phase == OUT
    )
    assert (bench.state.member.code == code) is (phase == FAILED)


@pytest.mark.parametrize(
    ("code", "phase", "member_id", "generation"),
    [
        (codes.UNKNOWN_MEMBER_ID, JOINING, "", -1),
        (codes.ILLEGAL_GENERATION, JOINING, "c1-id", -1),
        (codes.REBALANCE_IN_PROGRESS, JOINING, "c1-id", 1),
        (codes.NOT_COORDINATOR, OUT, "c1-id", 1),
        (codes.FENCED_INSTANCE_ID, FAILED, "c1-id", 1),
        (codes.INCONSISTENT_GROUP_PROTOCOL, FAILED, "c1-id", 1),
    ],
)
def test_each_code_of_a_syncgroup_leads_where_the_original_goes(
    code: int, phase: str, member_id: str, generation: int
) -> None:
    bench = started()
    joined(bench)
    bench.node.receive(bench.state.network.connections[-1], m.SyncGroupResponse(code), SECOND, bench.out)
    known = bench.state.member
    assert (known.phase, known.member_id, known.generation) == (
        phase,
        member_id,
        generation,
    ) and known.given is None


def test_an_assignment_of_nothing_is_an_assignment() -> None:
    for answer in (
        m.SyncGroupResponse(0, "consumer", "range", write_assignment([])),
        m.SyncGroupResponse(0, "consumer", "range", b""),
    ):
        bench = started()
        joined(bench)
        bench.node.receive(bench.state.network.connections[-1], answer, SECOND, bench.out)
        assert (bench.state.member.phase, bench.state.owned, bench.state.member.previous_generation) == (
            IN,
            [],
            1,
        )
        assert bench.out.deadlines["commit"] == 6 * SECOND and not bench.to(m.JoinGroupRequest)


def test_an_answer_that_comes_out_of_turn_changes_nothing() -> None:
    bench = member(0)
    before = (bench.state.member.phase, bench.state.owned)
    late_sync(bench, 1, now_us=SECOND)
    bench.node.receive(
        bench.state.network.connections[-1],
        m.JoinGroupResponse("x", 0, 9, "consumer", "range", "x"),
        SECOND,
        bench.out,
    )
    assert (bench.state.member.phase, bench.state.owned) == before and bench.state.member.generation == 1


def test_a_joingroup_s_answer_waits_for_the_record_in_hand() -> None:
    """Between JoinGroup and its answer the heartbeat thread does not run, and only poll() looks."""
    bench = member(0, assignors=["cooperative-sticky"], max_poll_records=1)
    heard(bench)
    bench.answer(m.OffsetCommitRequest, OK_COMMIT)
    bench.records(0, 0, 10)
    bench.answer(
        m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 2, "consumer", "cooperative-sticky", "other")
    )
    assert (
        bench.state.member.answer is not None
        and not bench.to(m.SyncGroupRequest)
        and "heartbeat" not in bench.out.deadlines
    )
    bench.done(5 * SECOND)
    assert bench.to(m.SyncGroupRequest) and bench.out.deadlines["heartbeat"] == 8 * SECOND


@pytest.mark.parametrize("what", ["heartbeat", "join", "sync"])
def test_what_the_next_poll_does_follows_from_what_was_heard_meanwhile_and_not_from_the_record_before_it(
    what: str,
) -> None:
    bench = member(0, assignors=["cooperative-sticky"], max_poll_records=1)
    if what != "heartbeat":
        heard(bench)
        bench.answer(m.OffsetCommitRequest, OK_COMMIT, 3 * SECOND)
    if what == "sync":
        bench.answer(
            m.JoinGroupRequest,
            m.JoinGroupResponse("c1-id", 0, 2, "consumer", "cooperative-sticky", "other"),
            3 * SECOND,
        )
    bench.records(0, 0, 10, now_us=3 * SECOND)
    bench.out.cause = Cause(event="test:heard")
    if what == "heartbeat":
        heard(bench, now_us=4 * SECOND)
    elif what == "join":
        bench.answer(
            m.JoinGroupRequest,
            m.JoinGroupResponse("c1-id", 0, 2, "consumer", "cooperative-sticky", "other"),
            4 * SECOND,
        )
    else:
        synced(bench, 0, now_us=4 * SECOND)
    bench.out.cause = Cause(event="test:record")
    bench.done(5 * SECOND)
    assert bench.out.blamed[-1] == Cause(event="test:heard")


# --- the coordinator is lost on the way


@pytest.mark.parametrize("where", [COMMITTING, JOINING, SYNCING, IN])
def test_a_coordinator_that_is_lost_on_the_way_is_found_again_and_the_member_joins_with_its_id(
    where: str,
) -> None:
    bench = member(0, assignors=["range"])
    if where != IN:
        heard(bench)
    if where in (JOINING, SYNCING):
        bench.answer(m.OffsetCommitRequest, OK_COMMIT, 3 * SECOND)
    if where == SYNCING:
        bench.answer(
            m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 2, "consumer", "range", "other"), 3 * SECOND
        )
    assert bench.state.member.phase == where
    bench.out.take()
    bench.node.receive(bench.state.network.connections[-1], Closed("reset"), 4 * SECOND, bench.out)
    bench.serve(4 * SECOND)
    assert not bench.to(m.JoinGroupRequest), "not before the back-off"
    for step in range(1, 4):
        bench.node.wake("retry", 4 * SECOND + step * 100_000, bench.out)
        bench.serve(4 * SECOND + step * 100_000)
    requests = bench.to(m.JoinGroupRequest)
    if where == IN:
        assert not requests and bench.state.member.phase == IN and bench.state.owned == [("t", 0)]
        return
    assert [request.member_id for _, request in requests] == ["c1-id"] and bench.state.owned == []


def test_a_second_subscription_while_it_joins_makes_it_join_once_more() -> None:
    bench = started()
    bench.node.receive(0, Subscribe(["t", "u"]), SECOND, bench.out)
    joined(bench)
    late_sync(bench, 0, now_us=SECOND)
    ((_, request),) = bench.to(m.JoinGroupRequest)
    assert read_subscription(request.protocols[0].metadata).topics == ("t", "u")
