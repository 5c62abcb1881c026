"""The consuming program on its own, and a whole group of them with its broker."""

import pytest

from broker_core.clock import SECOND_US
from broker_core.events import Cause
from broker_core.kafka import requests as r
from broker_core.kafka.assignors import Subscription
from broker_core.kafka.broker import Broker, BrokerState, PartitionRecords
from broker_core.kafka.client.consumer import AUTO_COMMIT_INTERVAL_US, Consumer, ConsumerState, Join
from broker_core.kafka.client.producer import plain as producers
from broker_core.kafka.client.producer.plain import Producer, ProducerState
from broker_core.kafka.producer.placement import Placement
from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume
from broker_core.sim.stream import Arrivals
from broker_core.sim.world import Design, World
from tests.core.playbook import Counted, Played, play, wake

ME = "c1-00000001"


def joined(assignor="range", generation=1, draws=(40_000,)):
    counted = Counted()
    node = Consumer(
        ConsumerState("c1", "g", "t", 4, assignor, Program(100)), counted, lambda partition, offset, end: None
    )
    out = Played("c1", draws)
    ((_, request),) = play(node, out, PERSON, Join("broker"))
    assert (request.member_id, request.client_id, request.protocol) == ("", "c1", assignor)
    ((_, request),) = play(node, out, 1, r.JoinGroupResponse(r.MEMBER_ID_REQUIRED, -1, "", "", ME, []))
    assert request.member_id == ME
    answer = r.JoinGroupResponse(0, generation, assignor, "other", ME, [])
    assert play(node, out, 1, answer) == [(1, r.SyncGroupRequest("g", generation, ME, {}))]
    return node, out, counted


def reading(assignor="range", owned=(0, 1), **options):
    node, out, counted = joined(assignor, **options)
    assert play(node, out, 1, r.SyncGroupResponse(0, list(owned))) == [
        (1, r.OffsetFetchRequest("g", list(owned)))
    ]
    ((_, fetch),) = play(node, out, 1, r.OffsetFetchResponse(dict.fromkeys(owned, -1)))
    assert fetch.offsets == dict.fromkeys(owned, 0)
    return node, out, counted


def test_leader_assigns_for_everybody_and_followers_bring_nothing():
    node, out, _ = joined()
    members = [(ME, Subscription(("t",))), ("c2-7", Subscription(("t",)))]
    ((_, request),) = play(node, out, 1, r.JoinGroupResponse(0, 2, "range", ME, ME, members))
    assert request.assignments == {ME: [0, 1], "c2-7": [2, 3]}


def test_records_are_handled_one_at_a_time_round_the_partitions():
    node, out, counted = reading()
    play(node, out, 1, r.FetchResponse([(0, 0, [0, 1]), (1, 0, [100])]))
    for _ in range(2):
        wake(node, out, DONE)
    assert counted.log == [("handled", 0), ("handled", 100)] and node.state.program.hand == 1
    assert node.state.positions == {0: 2, 1: 1}


def test_position_outside_of_the_log_is_reset_to_its_start():
    node, out, _ = reading()
    sent = play(node, out, 1, r.FetchResponse([], [(0, 0, r.OFFSET_OUT_OF_RANGE)]))
    assert sent[0] == (1, r.ListOffsetsRequest([0])) and sent[1][1].offsets == {1: 0}
    play(node, out, 1, r.ListOffsetsResponse({0: 7}))
    ((_, fetch),) = play(node, out, 1, r.FetchResponse([]))
    assert fetch.offsets == {0: 7, 1: 0} and node.state.resetting == []


def test_reset_of_a_partition_that_was_revoked_meanwhile_changes_nothing():
    node, out, _ = reading()
    play(node, out, 1, r.FetchResponse([], [(0, 0, r.OFFSET_OUT_OF_RANGE)]))
    play(node, out, 1, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS))
    play(node, out, 1, r.ListOffsetsResponse({0: 7}))
    assert node.state.positions == {} and node.state.resetting == []


def test_error_of_an_offset_that_is_no_longer_the_position_is_ignored():
    node, out, _ = reading()
    ((_, fetch),) = play(node, out, 1, r.FetchResponse([], [(0, 5, r.OFFSET_OUT_OF_RANGE)]))
    assert fetch.offsets == {0: 0, 1: 0}


def test_partition_that_the_broker_does_not_know_is_not_asked_for_again():
    node, out, _ = reading()
    ((_, fetch),) = play(node, out, 1, r.FetchResponse([], [(0, 0, r.UNKNOWN_TOPIC_OR_PARTITION)]))
    assert fetch.offsets == {1: 0}


def test_fetch_goes_out_while_the_program_works_and_only_one_at_a_time():
    node, out, _ = reading()
    ((_, request),) = play(node, out, 1, r.FetchResponse([(0, 0, [0, 1, 2, 3, 4])]))
    assert request.offsets == {1: 0}
    assert wake(node, out, DONE) == []


def test_heartbeats_are_late_by_what_was_drawn_and_stop_when_the_member_rejoins():
    node, out, _ = reading(draws=(40_000,))
    assert out.deadlines["heartbeat"] == 3_040_000
    assert wake(node, out, "heartbeat") == [(1, r.HeartbeatRequest("g", 1, ME))]
    play(node, out, 1, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS))
    assert "heartbeat" not in out.deadlines


def test_eager_member_commits_revokes_everything_and_then_joins():
    node, out, _ = reading()
    play(node, out, 1, r.FetchResponse([(0, 0, [0, 1])]))
    play(node, out, 1, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS))
    assert node.state.owned == [0, 1]  # the record in hand is finished first
    assert wake(node, out, DONE) == [(1, r.OffsetCommitRequest("g", 1, ME, {0: 1, 1: 0}))]
    assert node.state.owned == [] and out.told[-1] == (
        "kafka.consumer.revoked",
        {"client": "c1", "partitions": [0, 1]},
    )
    ((_, request),) = play(node, out, 1, r.OffsetCommitResponse(0))
    assert isinstance(request, r.JoinGroupRequest) and request.member_id == ME


def test_cooperative_member_reads_on_and_revokes_only_what_it_lost():
    node, out, _ = reading("cooperative-sticky")
    play(node, out, 1, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS))
    ((_, request),) = play(node, out, 1, r.OffsetCommitResponse(0))
    assert node.state.owned == [0, 1] and request.subscription.owned == (("t", 0), ("t", 1))
    play(node, out, 1, r.JoinGroupResponse(0, 2, "cooperative-sticky", "other", ME, []))
    out.told.clear()
    play(node, out, 1, r.SyncGroupResponse(0, [1]))
    assert [(kind, data["partitions"]) for kind, data in out.told] == [
        ("kafka.consumer.revoked", [0])
    ] and node.state.owned == [1]
    assert node.state.phase == "committing"  # what it let go is handed out in a second rebalance


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_member_claims_what_it_had_for_the_last_generation_whose_assignment_it_took(assignor):
    node, out, _ = reading(assignor, owned=(0,))
    play(node, out, 1, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS), r.OffsetCommitResponse(0))
    play(node, out, 1, r.JoinGroupResponse(0, 2, assignor, "other", ME, []))
    sent = play(node, out, 1, r.SyncGroupResponse(r.REBALANCE_IN_PROGRESS, []), r.OffsetCommitResponse(0))
    subscription = next(
        message.subscription for _, message in sent if isinstance(message, r.JoinGroupRequest)
    )
    claims = (
        (subscription.owned, subscription.generation)
        if assignor == "cooperative-sticky"
        else (subscription.user_data.partitions, subscription.user_data.generation)
    )
    assert claims == ((("t", 0),), 1)


def test_assignment_that_arrives_while_a_record_is_in_hand_waits_for_the_next_poll():
    node, out, _ = reading("cooperative-sticky")
    play(node, out, 1, r.FetchResponse([(0, 0, [0, 1])]))
    node.state.phase = "syncing"
    play(node, out, 1, r.SyncGroupResponse(0, [0, 1, 2]))
    assert node.state.pending == [0, 1, 2] and node.state.owned == [0, 1]
    wake(node, out, DONE)
    assert node.state.owned == [0, 1, 2]


def test_what_was_fetched_before_a_rebalance_is_thrown_away():
    node, out, _ = reading()
    play(node, out, 1, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS))
    play(node, out, 1, r.FetchResponse([(0, 0, [0, 1])]))
    assert node.state.buffer == {} and node.state.program.hand < 0


def test_what_a_member_does_after_its_record_in_hand_follows_from_what_it_heard_meanwhile():
    node, out, _ = reading()
    play(node, out, 1, r.FetchResponse([(0, 0, [0, 1])]))
    out.cause = Cause(event="test:rebalance")
    play(node, out, 1, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS))
    out.cause = Cause(event="test:earlier")
    wake(node, out, DONE)
    assert out.blamed[-1] == Cause(event="test:rebalance")


def test_positions_are_committed_every_five_seconds_without_the_record_in_hand():
    node, out, _ = reading()
    play(node, out, 1, r.FetchResponse([(0, 0, [0, 1])]))
    assert out.deadlines["commit"] == AUTO_COMMIT_INTERVAL_US
    assert wake(node, out, "commit") == []  # at the next poll, not before
    commit = next(
        message for _, message in wake(node, out, DONE) if isinstance(message, r.OffsetCommitRequest)
    )
    assert commit.offsets == {0: 1, 1: 0}


def test_member_that_the_coordinator_forgot_joins_as_a_new_one():
    node, out, _ = reading()
    sent = play(node, out, 1, r.HeartbeatResponse(r.UNKNOWN_MEMBER_ID))
    assert [type(message) for _, message in sent] == [r.JoinGroupRequest] and sent[0][1].member_id == ""
    assert node.state.owned == []


def test_leaving_commits_and_says_so():
    node, out, counted = reading()
    play(node, out, 1, r.FetchResponse([(0, 0, [0, 1])]))
    sent = play(node, out, PERSON, Leave())
    assert sent == [(1, r.OffsetCommitRequest("g", 1, ME, {0: 0, 1: 0})), (1, r.LeaveGroupRequest("g", ME))]
    assert out.closed == [1] and counted.log[-1] == ("dropped", 0)


def test_paused_program_stays_in_the_group():
    node, out, _ = reading()
    play(node, out, PERSON, Pause())
    play(node, out, 1, r.FetchResponse([(0, 0, [0, 1])]))
    assert node.state.program.hand < 0 and node.state.buffer[0].first == 0
    assert wake(node, out, "heartbeat") == [(1, r.HeartbeatRequest("g", 1, ME))]


# -- a whole group -------------------------------------------------------------------------------------------

PARTITIONS = 6


def cluster(assignor: str, consumers: int):
    counted, state = Counted(), BrokerState([PartitionRecords() for _ in range(PARTITIONS)])
    design = Design(
        {
            "broker": (BrokerState, Broker),
            "consumer": (ConsumerState, lambda own: Consumer(own, counted, lambda number, offset, end: None)),
            "producer": (
                ProducerState,
                lambda own: Producer(own, {code: code % PARTITIONS for code in range(10_000)}),
            ),
        },
        r.Request | Join | Leave | Pause | Resume | Pace | producers.Connect,
        jitter_us=200,
    )
    world = World("k", design, 7)
    world.start("broker", "broker", state)
    world.start("producer", "producer", ProducerState(Placement(PARTITIONS)))
    world.order("producer", producers.Connect("broker"))
    for number in range(1, consumers + 1):
        add(world, f"c{number}", assignor)
    return world, state, counted


def add(world: World, name: str, assignor: str) -> None:
    world.start(name, "consumer", ConsumerState(name, "g", "t", PARTITIONS, assignor, Program(2_000)))
    world.order(name, Join("broker"))


def run(world: World, until_us: int) -> None:
    """20 records a second, in order, for as long as it runs."""
    producer, slot, first = world.node("producer"), world.slots["producer"], world.now_us // 50_000 + 1
    times = range(first * 50_000, until_us + 1, 50_000)
    world.advance(
        until_us, Arrivals(times, lambda place: slot.send(*producer.send(first + place, first + place)))
    )


def test_group_without_commits_begins_where_each_log_starts():
    world, state, counted = cluster("range", 1)
    for number, log in enumerate(state.logs):
        log.start = log.end = 100 * number
    run(world, 10 * SECOND_US)
    positions = world.node("c1").state.positions
    assert {number: log.end for number, log in enumerate(state.logs)} == positions and min(
        log.end - log.start for log in state.logs
    ) > 20
    assert sum(what == "handled" for what, _ in counted.log) == sum(log.end - log.start for log in state.logs)


def owned(world: World, *names: str) -> list[list[int]]:
    return [sorted(world.node(name).state.owned) for name in names]


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_group_shares_every_partition_once_through_join_crash_and_leave(assignor):
    world, state, counted = cluster(assignor, 2)
    run(world, 15 * SECOND_US)
    assert sorted(number for part in owned(world, "c1", "c2") for number in part) == list(range(PARTITIONS))
    add(world, "c3", assignor)
    run(world, 30 * SECOND_US)
    assert sorted(number for part in owned(world, "c1", "c2", "c3") for number in part) == list(
        range(PARTITIONS)
    )
    assert all(len(part) == 2 for part in owned(world, "c1", "c2", "c3"))
    world.crash("c2")
    run(world, 90 * SECOND_US)
    assert sorted(number for part in owned(world, "c1", "c3") for number in part) == list(range(PARTITIONS))
    world.order("c3", Leave())
    run(world, 110 * SECOND_US)
    assert owned(world, "c1") == [list(range(PARTITIONS))]
    # At least once: each record but those of the last moment was handled, some twice.
    handled = {number for what, number in counted.log if what == "handled"}
    sent = {number for log in state.logs for number in log.records}
    assert len(sent - handled) <= 3 and handled <= sent
    assert [event.kind for event in world.told].count("kafka.group.member_expired") == 1
