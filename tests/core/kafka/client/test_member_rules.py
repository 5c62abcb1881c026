"""What a member of a group does with each answer that is not the usual one, and what it does not do twice."""

import pytest

from broker_core.kafka.assignors.subscription_bytes import read_subscription, write_assignment
from broker_core.kafka.client.group_consumer.core import CLOSING, COMMITTING, FAILED, JOINING
from broker_core.kafka.client.group_consumer.fetches import visible
from broker_core.kafka.client.group_consumer.orders import Start, Subscribe
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest, FindCoordinatorResponse
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.transaction_index import AbortedTransaction
from broker_core.kafka.replication.replica_log import LightLog, light_batch
from broker_core.sim.node import Closed
from broker_core.sim.program import Leave
from tests.core.kafka.client.consumer_bench import SECOND, Bench, Server


def member(*numbers: int, **settings) -> Bench:
    bench = Bench(**settings)
    bench.start()
    bench.join(*(numbers or (0,)))
    return bench


def rebalance(bench: Bench, code: int = codes.REBALANCE_IN_PROGRESS, now_us: int = 3 * SECOND) -> None:
    """Its next heartbeat is answered with this code."""
    bench.node.wake("heartbeat", now_us, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(code), now_us)


def joins(bench: Bench) -> list[tuple[str, int, tuple]]:
    """Of each JoinGroup that was sent: member id, generation, partitions that it says it owns."""
    found = []
    for _, request in bench.to(m.JoinGroupRequest):
        told = read_subscription(request.protocols[0].metadata)
        found.append((request.member_id, told.generation, told.owned))
    return found


# --- out of the group


@pytest.mark.parametrize(
    ("code", "member_id"), [(codes.ILLEGAL_GENERATION, "c1-id"), (codes.UNKNOWN_MEMBER_ID, "")]
)
def test_who_is_of_another_generation_keeps_its_id_and_who_is_unknown_does_not(code, member_id):
    bench = member()
    rebalance(bench, code)
    assert joins(bench) == [(member_id, -1, ())]
    assert bench.out.rules[-1] == "kafka.consumer.lost" and not bench.to(m.OffsetCommitRequest)


@pytest.mark.parametrize(
    ("code", "member_id"), [(codes.ILLEGAL_GENERATION, "c1-id"), (codes.UNKNOWN_MEMBER_ID, "")]
)
def test_the_same_holds_for_an_answer_to_syncgroup(code, member_id):
    bench = member(assignors=["cooperative-sticky"])
    rebalance(bench)
    bench.answer(m.OffsetCommitRequest, m.OffsetCommitResponse([]))
    bench.answer(
        m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 2, "consumer", "cooperative-sticky", "other")
    )
    bench.answer(m.SyncGroupRequest, m.SyncGroupResponse(code))
    assert joins(bench) == [(member_id, -1, ())] and bench.out.rules[-1] == "kafka.consumer.lost"


@pytest.mark.parametrize(
    ("code", "member_id"), [(codes.ILLEGAL_GENERATION, "c1-id"), (codes.UNKNOWN_MEMBER_ID, "")]
)
def test_and_for_a_commit_of_its_own_generation(code, member_id):
    bench = member()
    bench.node.wake("commit", 5 * SECOND, bench.out)
    bench.answer(
        m.OffsetCommitRequest,
        m.OffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0, code)])]),
        5 * SECOND,
    )
    assert joins(bench) == [(member_id, -1, ())] and bench.state.commits.failed == 1


def test_a_rebalance_that_is_heard_of_in_syncgroup_means_to_join_again_at_once():
    bench = Bench()
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"))
    bench.answer(m.SyncGroupRequest, m.SyncGroupResponse(codes.REBALANCE_IN_PROGRESS))
    assert joins(bench) == [("c1-id", 1, ())] and "retry" not in bench.out.deadlines


def test_a_coordinator_that_still_loads_is_asked_again_after_the_back_off():
    bench = Bench()
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("", 14), SECOND)
    assert joins(bench) == [("", -1, ())], "the poll that saw the answer asks once more"
    assert bench.out.deadlines["retry"] == SECOND + 100_000 and not bench.to(FindCoordinatorRequest)


def test_who_finds_no_coordinator_looks_for_one_again_after_the_back_off():
    bench = Bench()
    bench.node.receive(0, Start(), 0, bench.out)
    bench.answer(r.MetadataRequest, bench.metadata())
    bench.answer(FindCoordinatorRequest, FindCoordinatorResponse(15, -1), SECOND)
    assert not bench.to(FindCoordinatorRequest) and bench.out.deadlines["retry"] == SECOND + 100_000
    bench.node.wake("retry", SECOND + 100_000, bench.out)
    assert len(bench.to(FindCoordinatorRequest)) == 1


@pytest.mark.parametrize("code", [30, codes.INCONSISTENT_GROUP_PROTOCOL, codes.FENCED_INSTANCE_ID])
def test_who_is_refused_for_good_says_so_loses_what_it_had_and_asks_nothing_more(code):
    bench = member()
    rebalance(bench, code)
    assert bench.state.member.phase == FAILED and bench.state.member.code == code and bench.state.owned == []
    assert [kind for kind, _ in bench.out.told[-2:]] == ["kafka.consumer.revoked", "kafka.consumer.failed"]
    bench.out.take()
    for name in ("metadata", "retry", "heartbeat", "commit"):
        bench.node.wake(name, 400 * SECOND, bench.out)
    assert bench.out.take() == []


def test_who_has_not_polled_for_too_long_beats_no_more():
    bench = member(max_poll_interval_ms=60_000)
    bench.records(0, 0, 10)
    bench.node.wake("poll_interval", 60 * SECOND, bench.out)
    assert "heartbeat" not in bench.out.deadlines and bench.to(m.LeaveGroupRequest)


def test_the_clock_of_max_poll_interval_begins_when_the_program_does():
    bench = Bench(max_poll_interval_ms=60_000)
    bench.node.receive(0, Start(2 * SECOND), 0, bench.out)
    assert bench.out.deadlines == {"boot": 2 * SECOND} and bench.out.take() == [], (
        "the process is still starting"
    )
    bench.node.wake("metadata", SECOND, bench.out)
    assert bench.out.take() == []
    bench.node.wake("boot", 2 * SECOND, bench.out)
    assert bench.out.deadlines["poll_interval"] == 62 * SECOND and bench.to(r.MetadataRequest)


def test_a_joingroup_may_take_the_rebalance_timeout_and_five_seconds():
    for max_poll_interval_ms, until_us in ((60_000, 65 * SECOND), (1_000, 30 * SECOND)):
        bench = Bench(max_poll_interval_ms=max_poll_interval_ms)
        bench.start()
        ((connection, _),) = bench.to(m.JoinGroupRequest)
        assert bench.out.deadlines[f"request:{connection}"] == until_us


# --- between two generations


def test_an_eager_member_takes_nothing_up_while_its_commit_is_under_way():
    bench = member(0, 1, assignors=["range"], max_poll_records=1)
    bench.records(0, 0, 10, 11)
    rebalance(bench)
    bench.done(3 * SECOND)
    assert bench.state.member.phase == COMMITTING and bench.state.program.hand == -1
    bench.records(1, 0, 20, now_us=3 * SECOND)
    assert bench.state.program.hand == -1 and not bench.to(r.FetchRequest), "it neither hands over nor asks"


def test_a_new_subscription_is_asked_for_at_once_and_the_member_joins_with_it():
    bench = member()
    bench.node.receive(0, Subscribe(["t", "u"], None), SECOND, bench.out)
    assert [request.topics for _, request in bench.to(r.MetadataRequest)] == [["t", "u"]]
    bench.answer(m.OffsetCommitRequest, m.OffsetCommitResponse([]), SECOND)
    ((_, request),) = bench.to(m.JoinGroupRequest)
    assert read_subscription(request.protocols[0].metadata).topics == ("t", "u")
    assert bench.state.member.phase == JOINING


def test_who_subscribes_to_nothing_joins_nothing():
    bench = Bench(topics=[])
    bench.start()
    assert not bench.to(m.JoinGroupRequest)


def test_a_cooperative_member_gives_up_what_it_no_longer_subscribes_to_before_it_joins():
    bench = member(assignors=["cooperative-sticky"])
    bench.node.receive(0, Subscribe(["u"], None), SECOND, bench.out)
    bench.answer(m.OffsetCommitRequest, m.OffsetCommitResponse([]), SECOND)
    assert bench.out.rules[-1] == "kafka.consumer.unsubscribed" and joins(bench) == [("c1-id", 1, ())]


# --- commits


def test_a_commit_that_nobody_could_take_goes_out_again_with_the_next_poll():
    bench = member()
    bench.node.wake("commit", 5 * SECOND, bench.out)
    bench.answer(
        m.OffsetCommitRequest,
        m.OffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0, codes.NOT_COORDINATOR)])]),
        5 * SECOND,
    )
    assert not bench.to(m.OffsetCommitRequest), "there is no coordinator to send it to"
    bench.serve(5 * SECOND)
    assert bench.state.commits.failed == 1 and bench.state.commits.is_due is False
    bench.node.wake("commit", 10 * SECOND, bench.out)
    assert len(bench.to(m.OffsetCommitRequest)) == 1 and bench.out.deadlines["commit"] == 15 * SECOND


def test_a_commit_names_the_epoch_of_the_record_before_it_and_none_for_a_given_offset():
    bench = member(max_poll_records=5)
    bench.records(0, 0, 10, 11)
    bench.done()
    bench.done()
    bench.node.wake("commit", 5 * SECOND, bench.out)
    ((_, commit),) = bench.to(m.OffsetCommitRequest)
    (row,) = commit.topics[0].partitions
    assert (row.committed_offset, row.committed_leader_epoch) == (2, 0)


# --- whom it asks, and how often


def test_one_who_looks_for_the_coordinator_is_not_made_to_ask_twice_by_another_connection_that_breaks():
    bench = member(0, 1)
    network = bench.state.network
    bench.node.receive(network.connections[-1], Closed("reset"), SECOND, bench.out)
    bench.node.wake("retry", SECOND + 200_000, bench.out)
    ((asked_on, _),) = bench.to(FindCoordinatorRequest)
    other = next(
        connection
        for broker, connection in network.connections.items()
        if broker > 0 and connection != asked_on
    )
    bench.node.receive(other, Closed("reset"), SECOND + 300_000, bench.out)
    bench.node.wake("retry", 2 * SECOND, bench.out)
    assert not bench.to(FindCoordinatorRequest)
    bench.node.receive(asked_on, Closed("reset"), 2 * SECOND, bench.out)
    bench.node.wake("retry", 3 * SECOND, bench.out)
    assert len(bench.to(FindCoordinatorRequest)) == 1


def test_metadata_are_asked_for_once_and_not_twice_within_the_back_off():
    bench = member()
    bench.node.wake("metadata", 10 * SECOND, bench.out)
    assert len(bench.to(r.MetadataRequest)) == 1
    bench.node.wake("metadata", 10 * SECOND + 10_000, bench.out)
    assert not bench.to(r.MetadataRequest), "an answer is under way"
    bench.node.receive(bench.state.network.connections[1], bench.metadata(), 10 * SECOND + 20_000, bench.out)
    assert not bench.to(r.MetadataRequest) and bench.out.deadlines["retry"] == 10 * SECOND + 120_000
    bench.node.wake("retry", 10 * SECOND + 120_000, bench.out)
    assert len(bench.to(r.MetadataRequest)) == 1


def test_an_epoch_of_a_partition_that_metadata_do_not_know_yet_changes_nothing():
    bench = member()
    view = bench.state.cluster
    view.is_stale = False
    view.saw_epoch(("t", len(view.leaders["t"])), 7)
    view.saw_epoch(("u", 0), 7)
    assert not view.is_stale
    view.saw_epoch(("t", 0), 7)
    assert view.is_stale and view.leader(("t", 0)) is None and view.leader(("t", 1)) is not None


def test_older_metadata_do_not_take_the_place_of_what_is_known():
    bench = member()
    bench.epoch = 3
    bench.node.wake("metadata", SECOND, bench.out)
    bench.answer(r.MetadataRequest, bench.metadata(), SECOND)
    bench.epoch = 2
    bench.node.wake("metadata", 2 * SECOND, bench.out)
    bench.answer(r.MetadataRequest, bench.metadata(), 2 * SECOND)
    assert [leader.epoch for leader in bench.state.cluster.leaders["t"]] == [3, 3, 3]


def test_an_offset_that_the_coordinator_could_not_give_is_asked_again_after_the_back_off_of_that_coordinator():
    bench = Bench()
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"))
    bench.answer(
        m.SyncGroupRequest, m.SyncGroupResponse(0, "consumer", "range", write_assignment([("t", 0)]))
    )
    bench.answer(m.OffsetFetchRequest, m.OffsetFetchResponse([m.OffsetFetchGroupResult("g", [], 14)]), SECOND)
    assert (
        not bench.to(m.OffsetFetchRequest)
        and bench.state.coordinator.node_id == 2
        and bench.out.deadlines["retry"] == SECOND + 100_000
    )
    bench.node.wake("retry", SECOND + 100_000, bench.out)
    assert len(bench.to(m.OffsetFetchRequest)) == 1 and not bench.to(FindCoordinatorRequest)


# --- what came back too late


def test_an_answer_for_a_partition_whose_position_is_being_looked_for_is_not_buffered():
    bench = member(0)
    ((connection, request),) = bench.to(r.FetchRequest)
    bench.state.subscribed.assigned["t", 0].request_reset("earliest")
    batches = (light_batch([10], timestamp=0, base_offset=0, partition_leader_epoch=0),)
    bench.node.receive(
        connection, r.FetchResponse([r.FetchedPartition("t", 0, 0, 1, 1, 0, batches)]), 0, bench.out
    )
    assert not bench.state.fetches.completed and bench.state.program.hand == -1 and request.partitions


def test_records_of_before_a_revocation_are_not_handed_over():
    bench = member(0, max_poll_records=1)
    bench.records(0, 0, 10, 11)
    bench.state.subscribed.assigned["t", 0].is_revoking = True
    bench.done()
    assert not bench.state.fetches.completed and bench.state.program.hand == -1


def test_an_aborted_transaction_hides_nothing_before_its_first_record():
    """One producer writes outside of a transaction, or in one that it commits, and then in one that it
    aborts."""
    log = LightLog.begin(now_ms=0)
    about = {"timestamp": 1, "producer_id": 7, "producer_epoch": 0, "is_transactional": True}
    log.append(light_batch([1, 2], base_sequence=0, **about), now_ms=1)
    log.append_marker(ControlType.COMMIT, producer_id=7, producer_epoch=0, coordinator_epoch=0, now_ms=1)
    log.append(light_batch([3], base_sequence=2, **about), now_ms=1)
    log.append_marker(ControlType.ABORT, producer_id=7, producer_epoch=0, coordinator_epoch=0, now_ms=1)
    log.append(light_batch([4], base_sequence=3, **about), now_ms=1)
    aborted = [AbortedTransaction(7, 3, 4, 5)]
    assert [value for _, value in visible(log.batches(), 0, r.READ_COMMITTED, aborted)] == [1, 2, 4]
    assert [value for _, value in visible(log.batches(), 1, r.READ_COMMITTED, aborted)] == [2, 4]
    assert [value for _, value in visible(log.batches(), 0, 0, aborted)] == [1, 2, 3, 4]


# --- close()


def test_close_hears_only_its_own_clock():
    bench = member()
    bench.node.receive(0, Leave(), SECOND, bench.out)
    for name in ("heartbeat", "retry", "commit", "metadata"):
        bench.node.wake(name, 2 * SECOND, bench.out)
    assert bench.state.member.phase == CLOSING and not bench.out.closed and not bench.to(m.HeartbeatRequest)
    bench.node.wake("close", bench.out.deadlines["close"], bench.out)
    assert (
        sorted(bench.out.closed) == sorted(bench.out.connected)
        and bench.out.told[-1][0] == "kafka.consumer.closed"
    )


def test_who_never_found_its_coordinator_closes_at_once():
    bench = Bench()
    bench.node.receive(0, Start(), 0, bench.out)
    bench.answer(r.MetadataRequest, bench.metadata())
    bench.answer(FindCoordinatorRequest, FindCoordinatorResponse(15, -1))
    bench.node.receive(0, Leave(), SECOND, bench.out)
    assert bench.out.told[-1][0] == "kafka.consumer.closed" and not bench.to(m.LeaveGroupRequest)


# --- poll() throws


def test_who_has_nowhere_to_begin_commits_what_it_did_leaves_the_group_and_ends():
    bench = Bench(auto_offset_reset="none", max_poll_records=1)
    bench.start()
    bench.join(0, 1, committed={0: 5, 1: 7})
    bench.records(0, 5, 10)
    bench.done()
    bench.out.take()
    bench.node.wake("metadata", SECOND, bench.out)
    bench.to(r.MetadataRequest)
    connection = bench.state.network.connections[2]
    bench.node.receive(
        connection, r.FetchResponse([r.FetchedPartition("t", 1, 1, 0, 0, 0, ())]), SECOND, bench.out
    )
    sent = [message for _, message in bench.out.take()]
    assert [type(message) for message in sent[:2]] == [m.OffsetCommitRequest, m.LeaveGroupRequest]
    assert {row.partition_index: row.committed_offset for row in sent[0].topics[0].partitions} == {0: 6, 1: 7}
    assert (
        bench.state.member.phase == FAILED
        and bench.state.owned == []
        and "heartbeat" not in bench.out.deadlines
    )
    assert [kind for kind, _ in bench.out.told[-2:]] == ["kafka.consumer.revoked", "kafka.consumer.threw"]


def test_several_partitions_without_an_offset_end_it_once():
    for bench in (
        Bench(auto_offset_reset="none", partitions=4),
        Server(auto_offset_reset="none", partitions=4),
    ):
        bench.start()
        if isinstance(bench, Server):
            bench.beat(1, [0, 1, 2])
        else:
            bench.join(0, 1, 2)
        assert [kind for kind, _ in bench.out.told].count(
            "kafka.consumer.threw"
        ) == 1 and bench.state.owned == []
        left = [
            message
            for _, message in bench.out.take()
            if isinstance(message, m.LeaveGroupRequest | m.ConsumerGroupHeartbeatRequest)
        ]
        assert isinstance(left[-1], m.LeaveGroupRequest) or left[-1].member_epoch == -1
        for name in ("heartbeat", "retry", "metadata"):
            bench.node.wake(name, 10 * SECOND, bench.out)
        assert bench.out.take() == []
