"""What a program may call besides poll(): pause and resume of partitions, seek, and commits of offsets that
it gives. By playbook."""

from __future__ import annotations

import pytest

from broker_core.kafka.assignors.subscription_bytes import write_assignment
from broker_core.kafka.client.group_consumer.core import FAILED
from broker_core.kafka.client.group_consumer.orders import (
    CommitOffsets,
    PausePartitions,
    ResumePartitions,
    Seek,
)
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.sim.node import Closed
from tests.core.kafka.client.consumer_bench import SECOND, Bench

ONE, TWO = ("t", 0), ("t", 1)


def reading(*numbers: int, **settings: object) -> Bench:
    bench = Bench(**{"commits": "never"} | settings)
    bench.start()
    bench.join(*numbers)
    return bench


def wanted(bench: Bench) -> set[int]:
    return {part.partition for _, request in bench.to(r.FetchRequest) for part in request.partitions}


def committed(bench: Bench) -> list[tuple[int, int]]:
    """What the last commit said, and take it out of what was sent."""
    ((_, request),) = bench.to(m.OffsetCommitRequest)
    return [
        (row.partition_index, row.committed_offset) for topic in request.topics for row in topic.partitions
    ]


def commit_answer(bench: Bench, code: int = 0, now_us: int = 0) -> None:
    bench.answer(
        m.OffsetCommitRequest,
        m.OffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0, code)])]),
        now_us,
    )


# --- pause and resume


def test_a_paused_partition_is_not_asked_for_and_the_others_are() -> None:
    bench = reading(0, 1)
    bench.to(r.FetchRequest)
    bench.node.receive(0, PausePartitions([ONE]), 0, bench.out)
    bench.records(1, 0, 7)
    assert wanted(bench) <= {1} and bench.state.subscribed.assigned[ONE].is_paused


def test_what_was_fetched_before_the_pause_waits_and_is_given_after_it() -> None:
    bench = reading(0)
    bench.node.receive(0, PausePartitions([ONE]), 0, bench.out)
    bench.records(0, 0, 7, 8)
    assert bench.state.program.hand == -1, "poll() gives nothing of it"
    bench.node.receive(0, ResumePartitions([ONE]), 5, bench.out)
    assert bench.state.program.hand == 7
    bench.done(6)
    assert bench.state.program.hand == 8 and bench.state.subscribed.assigned[ONE].position == 2


def test_a_pause_of_what_it_does_not_own_is_passed_over_and_a_partition_that_comes_anew_is_not_paused() -> (
    None
):
    bench = reading(0)
    bench.node.receive(0, PausePartitions([TWO, ("other", 3)]), 0, bench.out)
    assert not bench.state.subscribed.assigned[ONE].is_paused and TWO not in bench.state.subscribed.assigned


def test_a_paused_member_goes_on_with_its_heartbeats() -> None:
    bench = reading(0)
    bench.node.receive(0, PausePartitions([ONE]), 0, bench.out)
    bench.node.wake("heartbeat", 3_000_000, bench.out)
    assert len(bench.to(m.HeartbeatRequest)) == 1


def test_its_state_keeps_the_pause() -> None:
    bench = reading(0, 1)
    bench.node.receive(0, PausePartitions([ONE, TWO]), 0, bench.out)
    bench.node.receive(0, ResumePartitions([TWO]), 0, bench.out)
    assert [bench.state.subscribed.assigned[each].is_paused for each in (ONE, TWO)] == [True, False]


# --- seek


def test_a_seek_drops_what_was_fetched_and_asks_from_there() -> None:
    bench = reading(0)
    bench.node.receive(0, PausePartitions([ONE]), 0, bench.out)
    bench.records(0, 0, 7, 8)
    bench.node.receive(0, Seek("t", 0, 40), 1, bench.out)
    bench.node.receive(0, ResumePartitions([ONE]), 2, bench.out)
    offsets = [part.fetch_offset for _, request in bench.to(r.FetchRequest) for part in request.partitions]
    assert bench.state.program.hand == -1 and offsets == [40]


# --- commits of given offsets


def test_given_offsets_are_committed_as_given_whatever_the_position() -> None:
    bench = reading(0, 1)
    bench.node.receive(0, CommitOffsets([("t", 0, 4), ("t", 1, 9)]), 0, bench.out)
    assert committed(bench) == [(0, 4), (1, 9)]
    assert (
        bench.state.subscribed.assigned[ONE].committed == 4
        and bench.state.subscribed.assigned[ONE].position == 0
    )


def test_an_async_commit_lets_the_program_poll_on_and_a_sync_one_waits_for_its_answer() -> None:
    bench = reading(0)
    bench.node.receive(0, CommitOffsets([("t", 0, 1)]), 0, bench.out)
    assert not bench.state.loop.awaits_commit
    commit_answer(bench)
    bench.node.receive(0, CommitOffsets([("t", 0, 2)], waits=True), 1, bench.out)
    bench.records(0, 0, 7, now_us=2)
    assert bench.state.loop.awaits_commit and bench.state.program.hand == -1, "no poll() meanwhile"
    commit_answer(bench, now_us=3)
    assert not bench.state.loop.awaits_commit and bench.state.program.hand == 7
    assert bench.state.commits.done == 2


def test_a_connection_that_breaks_ends_the_wait() -> None:
    bench = reading(0)
    bench.node.receive(0, CommitOffsets([("t", 0, 2)], waits=True), 1, bench.out)
    ((connection, _),) = bench.to(m.OffsetCommitRequest)
    bench.node.receive(connection, Closed("reset"), 2, bench.out)
    assert not bench.state.loop.awaits_commit and bench.state.commits.failed == 1


def test_given_offsets_that_the_coordinator_could_not_take_are_not_made_up_by_the_library() -> None:
    bench = reading(0)
    bench.node.receive(0, CommitOffsets([("t", 0, 2)]), 1, bench.out)
    commit_answer(bench, codes.COORDINATOR_NOT_AVAILABLE, 2)
    assert bench.state.commits.failed == 1 and not bench.state.commits.is_due


def test_a_zombies_given_offsets_are_refused_and_it_joins_again() -> None:
    bench = reading(0)
    bench.node.receive(0, CommitOffsets([("t", 0, 2)], waits=True), 1, bench.out)
    commit_answer(bench, codes.ILLEGAL_GENERATION, 2)
    assert bench.state.commits.failed == 1 and not bench.state.loop.awaits_commit
    assert bench.to(m.JoinGroupRequest), "it is no member of this generation any more"


# --- positions that are not known


def fetched(code: int) -> m.OffsetFetchResponse:
    return m.OffsetFetchResponse(
        [
            m.OffsetFetchGroupResult(
                "g", [m.FetchedTopicResult("t", [m.FetchedPartition(0, -1, error_code=code)])]
            )
        ]
    )


def joining(**settings: object) -> Bench:
    """At the point where it asks for the committed offset of partition 0."""
    bench = Bench(**{"commits": "never"} | settings)
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"))
    bench.answer(
        m.SyncGroupRequest, m.SyncGroupResponse(0, "consumer", "range", write_assignment([("t", 0)]))
    )
    return bench


def test_an_offset_in_an_open_transaction_is_asked_for_again_after_the_back_off() -> None:
    bench = joining()
    bench.answer(m.OffsetFetchRequest, fetched(codes.UNSTABLE_OFFSET_COMMIT))
    assert not bench.to(m.OffsetFetchRequest)
    bench.node.wake("retry", 100_000, bench.out)
    assert len(bench.to(m.OffsetFetchRequest)) == 1


def test_a_coordinator_that_has_moved_is_searched_before_the_offset_is_asked_for_again() -> None:
    bench = joining()
    bench.answer(
        m.OffsetFetchRequest,
        m.OffsetFetchResponse([m.OffsetFetchGroupResult("g", [], codes.NOT_COORDINATOR)]),
    )
    bench.node.wake("retry", 100_000, bench.out)
    assert not bench.to(m.OffsetFetchRequest)
    bench.serve(100_000)
    bench.node.wake("retry", 200_000, bench.out)
    assert len(bench.to(m.OffsetFetchRequest)) == 1


@pytest.mark.parametrize(("where", "timestamp"), [("earliest", -2), ("latest", -1)])
def test_without_a_committed_offset_it_starts_where_it_is_told_to(where: str, timestamp: int) -> None:
    bench = joining(auto_offset_reset=where)
    bench.answer(m.OffsetFetchRequest, fetched(0))
    ((_, request),) = bench.to(r.ListOffsetsRequest)
    assert [part.timestamp for part in request.partitions] == [timestamp]


def test_none_gives_up_and_says_so() -> None:
    bench = joining(auto_offset_reset="none")
    bench.answer(m.OffsetFetchRequest, fetched(0))
    assert bench.state.member.phase == FAILED
    told = {"client": "c1", "error": "NoOffsetForPartitionException", "topic": "t", "partitions": [0]}
    assert [data for kind, data in bench.out.told if kind == "kafka.consumer.threw"] == [told]


def test_a_leader_that_cannot_say_is_asked_again_with_newer_metadata() -> None:
    bench = joining()
    bench.answer(m.OffsetFetchRequest, fetched(0))
    bench.answer(r.ListOffsetsRequest, r.ListOffsetsResponse([r.ListedOffset("t", 0, 6, -1, -1, -1)]))
    assert bench.to(r.MetadataRequest) or bench.state.cluster.is_stale
    bench.serve(100_000)
    bench.node.wake("retry", 200_000, bench.out)
    assert len(bench.to(r.ListOffsetsRequest)) == 1


# --- whom it asks what any broker can answer: NetworkClient.leastLoadedNode


def node_of(bench: Bench, connection: int) -> int:
    return bench.state.network.broker_of[connection]


def ask_again(bench: Bench, now_us: int = SECOND) -> int:
    """Its picture of the cluster is old: whom does it ask?"""
    bench.to(r.MetadataRequest)
    bench.node.wake("metadata", now_us, bench.out)
    ((connection, _),) = bench.to(r.MetadataRequest)
    return node_of(bench, connection)


def test_it_asks_whom_it_is_connected_to_and_opens_no_other_connection() -> None:
    bench = reading(1)  # led by broker 2, and the first question went to broker 1
    open_before = set(bench.state.network.connections)
    assert open_before == {-1, 1, 2}
    assert ask_again(bench) in (1, 2) and set(bench.state.network.connections) == open_before


def test_it_asks_the_broker_with_the_fewest_requests_in_flight() -> None:
    bench = reading(1)  # a fetch waits at broker 2, nothing at broker 1
    assert [ask_again(bench), len(bench.state.network.in_flight[bench.state.network.connections[2]])] == [
        1,
        1,
    ]


def test_between_equals_it_takes_turns() -> None:
    bench = reading(0, 1, 2)  # a fetch waits at each
    first = ask_again(bench)
    bench.node.receive(bench.state.network.connections[first], bench.metadata(), SECOND, bench.out)
    assert ask_again(bench, 2 * SECOND) != first


def test_a_dead_coordinator_s_successor_is_asked_for_where_a_connection_is_open() -> None:
    bench = reading(0)  # by broker 1; broker 2 coordinates
    bench.node.receive(bench.state.network.connections[-1], Closed("reset"), SECOND, bench.out)
    bench.node.wake("retry", 2 * SECOND, bench.out)
    assert {node_of(bench, connection) for connection, _ in bench.to(FindCoordinatorRequest)} == {1}


def test_with_every_connection_just_broken_it_waits_for_the_back_off() -> None:
    bench = reading(0)
    network = bench.state.network
    bench.state.cluster.brokers = [1]
    bench.to(r.MetadataRequest)
    for broker in (1, -1):
        bench.node.receive(network.connections[broker], Closed("reset"), SECOND, bench.out)
    asked = bench.to(r.MetadataRequest) + bench.to(FindCoordinatorRequest)
    assert asked == [] and not network.connections, "reconnect.backoff.ms has only begun"
    bench.node.wake("retry", SECOND + 100_000, bench.out)
    assert {
        node_of(bench, connection)
        for connection, _ in [*bench.to(r.MetadataRequest), *bench.to(FindCoordinatorRequest)]
    } == {1}
