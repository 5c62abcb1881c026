"""A member of the consumer protocol: what it says to the coordinator when, and what it does with its word."""

from __future__ import annotations

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.topics import topic_id
from broker_core.sim.node import Closed
from broker_core.sim.program import Leave
from tests.core.kafka.client.consumer_bench import SECOND, Server


def reading(*numbers: int, **settings) -> Server:
    """It has these partitions, and the coordinator knows."""
    bench = Server(**settings)
    bench.start()
    bench.beat(1, list(numbers))
    bench.beat(1, None)
    return bench


def asked(bench: Server) -> list[m.ConsumerGroupHeartbeatRequest]:
    return [request for _, request in bench.to(m.ConsumerGroupHeartbeatRequest)]


def test_the_first_heartbeat_says_everything_and_the_next_one_only_who_it_is() -> None:
    bench = Server(remote_assignor="range", max_poll_interval_ms=60_000)
    bench.start()
    first = bench.beat(1, [])
    assert (
        first.member_epoch,
        first.rebalance_timeout_ms,
        first.subscribed_topic_names,
        first.server_assignor,
    ) == (0, 60_000, ["t"], "range")
    assert first.topic_partitions == []
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    (second,) = asked(bench)
    assert (
        second.member_epoch,
        second.rebalance_timeout_ms,
        second.subscribed_topic_names,
        second.topic_partitions,
    ) == (1, -1, None, None)


def test_after_its_coordinator_was_lost_it_says_everything_again() -> None:
    bench = reading(0)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.node.receive(bench.state.network.connections[-1], Closed("reset"), 5 * SECOND, bench.out)
    bench.to(m.ConsumerGroupHeartbeatRequest)
    bench.node.wake("retry", 6 * SECOND, bench.out)
    bench.serve(6 * SECOND)
    (again,) = asked(bench)
    assert (again.member_epoch, again.subscribed_topic_names) == (1, ["t"]) and again.topic_partitions[
        0
    ].partitions == [0]


def test_a_coordinator_that_was_lost_just_now_is_asked_again_after_the_back_off() -> None:
    bench = reading(0)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.node.receive(bench.state.network.connections[-1], Closed("reset"), 5 * SECOND, bench.out)
    bench.to(m.ConsumerGroupHeartbeatRequest)
    bench.serve(5 * SECOND + 200)  # a broker that has not heard names the same one again
    assert asked(bench) == [] and bench.out.deadlines["retry"] == 5 * SECOND + 100_000
    bench.node.wake("retry", 5 * SECOND + 100_000, bench.out)
    assert len(asked(bench)) == 1


def test_who_is_not_the_coordinator_any_more_is_replaced_and_the_member_keeps_what_it_reads() -> None:
    bench = reading(0)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.beat(1, None, codes.NOT_COORDINATOR, 5 * SECOND)
    assert bench.to(FindCoordinatorRequest) and bench.state.owned == [("t", 0)]


def test_a_coordinator_that_still_loads_is_told_everything_after_the_back_off() -> None:
    bench = reading(0)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.beat(1, None, 14, 5 * SECOND)
    assert bench.state.owned == [("t", 0)] and bench.out.deadlines["retry"] == 5 * SECOND + 100_000
    assert [request.subscribed_topic_names for request in asked(bench)] == [["t"]]


def test_an_interval_that_the_coordinator_names_counts_from_then_on() -> None:
    bench = reading(0)
    assert bench.out.deadlines["heartbeat"] == 5 * SECOND + bench.state.loop.late_us
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    assert (
        len(asked(bench)) == 1 and bench.out.deadlines["heartbeat"] == 10 * SECOND + bench.state.loop.late_us
    )


def test_a_target_that_comes_while_it_commits_waits_until_it_has_given_up() -> None:
    bench = reading(0, 1)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.beat(2, [0], now_us=5 * SECOND)
    ((connection, _),) = bench.to(m.OffsetCommitRequest)
    assert bench.state.owned == [("t", 0), ("t", 1)] and not asked(bench)
    bench.node.wake("heartbeat", 10 * SECOND, bench.out)
    bench.beat(2, [0, 2], now_us=10 * SECOND)
    assert bench.state.owned == [("t", 0), ("t", 1)], "it has not given up yet"
    bench.node.receive(
        connection,
        m.OffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0), m.PartitionResult(1)])]),
        10 * SECOND,
        bench.out,
    )
    assert bench.state.owned == [("t", 0), ("t", 2)]
    (report,) = asked(bench)
    assert report.topic_partitions[0].partitions == [0, 2]


def test_without_auto_commit_it_gives_up_at_once() -> None:
    bench = reading(0, 1, commits="never")
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.beat(2, [1], now_us=5 * SECOND)
    assert bench.state.owned == [("t", 1)] and not bench.to(m.OffsetCommitRequest)


def test_of_a_topic_that_it_does_not_know_it_takes_the_rest_and_asks() -> None:
    bench = reading(0)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    rows = [m.TopicPartitions(topic_id("t"), [0, 1]), m.TopicPartitions(topic_id("u"), [0])]
    bench.answer(
        m.ConsumerGroupHeartbeatRequest,
        m.ConsumerGroupHeartbeatResponse(0, "m1", 2, 5_000, m.Assignment(rows)),
        5 * SECOND,
    )
    assert (
        bench.state.owned == [("t", 0), ("t", 1)]
        and bench.to(r.MetadataRequest)
        and bench.state.member.unresolved
    )


def test_the_same_target_again_changes_nothing() -> None:
    bench = reading(0)
    told = len(bench.out.told)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.beat(2, [0], now_us=5 * SECOND)
    assert len(bench.out.told) == told and not asked(bench) and bench.state.member.generation == 2


def test_a_fenced_member_forgets_a_target_that_it_had_not_taken_up() -> None:
    bench = reading(0)
    bench.state.member.given, bench.state.member.unresolved = (
        [("t", 2)],
        [m.TopicPartitions(topic_id("u"), [0])],
    )
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    member = bench.state.member
    bench.beat(1, None, codes.UNKNOWN_MEMBER_ID, 5 * SECOND)
    assert member.given is None and member.unresolved == [] and bench.state.owned == []
    assert [(request.member_epoch, request.topic_partitions) for request in asked(bench)] == [(0, [])]


def test_after_its_last_heartbeat_none_follows() -> None:
    bench = reading(0, commits="never")
    bench.node.receive(0, Leave(), SECOND, bench.out)
    (last,) = asked(bench)
    assert (
        last.member_epoch == -1 and "heartbeat" not in bench.out.deadlines and last.topic_partitions is None
    )


def test_a_commit_of_an_epoch_that_is_old_says_nothing_of_the_membership() -> None:
    bench = reading(0)
    bench.node.wake("commit", 5 * SECOND, bench.out)
    bench.answer(
        m.OffsetCommitRequest,
        m.OffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0, codes.STALE_MEMBER_EPOCH)])]),
        5 * SECOND,
    )
    assert bench.state.owned == [("t", 0)] and bench.state.commits.failed == 1 and not asked(bench)
