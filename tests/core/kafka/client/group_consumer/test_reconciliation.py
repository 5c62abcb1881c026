"""A member of the consumer protocol (KIP-848): what each heartbeat says, each code of an answer, targets, and
the end. By playbook."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.client.group_consumer.core import CLOSED, COMMITTING, FAILED, IN, OUT
from broker_core.kafka.client.group_consumer.orders import Subscribe
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.topics import topic_id
from broker_core.sim.node import Closed
from broker_core.sim.program import Leave
from tests.core.kafka.client.consumer_bench import SECOND, Server

OK_COMMIT = m.OffsetCommitResponse([])


def reading(*numbers: int, **settings: Any) -> Server:
    """It has these partitions under epoch 1, and the coordinator knows."""
    bench = Server(partitions=6, **settings)
    bench.start()
    bench.beat(1, list(numbers))
    bench.beat(1, None)
    return bench


def asked(bench: Server) -> list[m.ConsumerGroupHeartbeatRequest]:
    return [request for _, request in bench.to(m.ConsumerGroupHeartbeatRequest)]


def held(request: m.ConsumerGroupHeartbeatRequest) -> list[int] | None:
    """Partitions of t that a heartbeat reports; None: it says nothing of them."""
    if request.topic_partitions is None:
        return None
    return [number for row in request.topic_partitions for number in row.partitions]


def ticks(bench: Server, now_us: int = 5 * SECOND) -> None:
    bench.out.deadlines.pop("heartbeat", None)
    bench.node.wake("heartbeat", now_us, bench.out)


# --- what a heartbeat says


def test_the_first_one_says_who_it_is_what_it_wants_and_how_long_it_may_take() -> None:
    bench = Server(
        remote_assignor="uniform", client_rack="b", max_poll_interval_ms=70_000, group_instance_id="one"
    )
    bench.start()
    (first,) = asked(bench)
    assert (first.member_id, first.member_epoch, first.instance_id, first.client_id) == ("", 0, "one", "c1")
    assert (
        first.rebalance_timeout_ms,
        first.subscribed_topic_names,
        first.server_assignor,
        first.rack_id,
    ) == (70_000, ["t"], "uniform", "b")


def test_a_heartbeat_by_the_clock_says_nothing_that_is_known() -> None:
    bench = reading(0)
    ticks(bench)
    (quiet,) = asked(bench)
    assert (quiet.member_id, quiet.member_epoch) == ("m1", 1) and held(quiet) is None
    assert (
        quiet.rebalance_timeout_ms,
        quiet.subscribed_topic_names,
        quiet.server_assignor,
        quiet.rack_id,
    ) == (-1, None, None, None)


def test_while_one_is_under_way_the_next_waits_for_its_answer() -> None:
    bench = reading(0)
    ticks(bench, 5 * SECOND)
    ticks(bench, 10 * SECOND)
    assert len(asked(bench)) == 1 and bench.out.deadlines["heartbeat"] == 15 * SECOND


def test_a_new_subscription_is_said_at_once_with_everything_else() -> None:
    bench = reading(0)
    bench.node.receive(0, Subscribe(["t", "u"]), SECOND, bench.out)
    (told,) = asked(bench)
    assert (told.subscribed_topic_names, told.member_epoch, held(told)) == (["t", "u"], 1, [0])


def test_the_interval_that_the_coordinator_names_counts_from_its_answer_and_its_own_setting_before() -> None:
    bench = Server(heartbeat_interval_ms=3_000)
    bench.start()
    assert bench.out.deadlines["heartbeat"] == 3 * SECOND
    bench.answer(m.ConsumerGroupHeartbeatRequest, m.ConsumerGroupHeartbeatResponse(0, "m1", 1, 8_000), SECOND)
    assert bench.out.deadlines["heartbeat"] == 9 * SECOND
    bench.out.deadlines["heartbeat"] = 0
    ticks(bench, 9 * SECOND)
    bench.answer(
        m.ConsumerGroupHeartbeatRequest, m.ConsumerGroupHeartbeatResponse(0, "m1", 1, 8_000), 10 * SECOND
    )
    assert bench.out.deadlines["heartbeat"] == 17 * SECOND, "the same interval moves nothing"


# --- codes


@pytest.mark.parametrize(
    ("code", "phase", "owned", "epoch"),
    [
        (codes.COORDINATOR_NOT_AVAILABLE, IN, [0], None),
        (codes.NOT_COORDINATOR, IN, [0], None),
        (codes.FENCED_MEMBER_EPOCH, IN, [], 0),
        (codes.UNKNOWN_MEMBER_ID, IN, [], 0),
        *(
            (code, FAILED, [], None)
            for code in (
                codes.UNRELEASED_INSTANCE_ID,
                codes.UNSUPPORTED_ASSIGNOR,
                codes.FENCED_INSTANCE_ID,
                codes.INVALID_REQUEST,
                codes.GROUP_MAX_SIZE_REACHED,
                30,
            )
        ),
    ],
)
def test_each_code_leads_where_the_original_goes(
    code: int, phase: str, owned: list[int], epoch: int | None
) -> None:
    """epoch: of the heartbeat that follows at once; None: none does. After any refusal the next one says
    everything."""
    bench = reading(0)
    ticks(bench)
    bench.beat(1, None, code, 5 * SECOND)
    known = bench.state.member
    assert (known.phase, [number for _, number in bench.state.owned]) == (phase, owned)
    follows = asked(bench)
    assert [request.member_epoch for request in follows] == ([] if epoch is None else [epoch])
    assert all(request.subscribed_topic_names == ["t"] and held(request) == owned for request in follows)
    if phase == FAILED:
        ticks(bench, 10 * SECOND)
        assert known.code == code and "heartbeat" not in bench.out.deadlines and asked(bench) == []


def test_a_fenced_member_keeps_its_id_and_says_so_with_the_epoch_that_was_fenced() -> None:
    bench = reading(0)
    ticks(bench)
    bench.beat(1, None, codes.FENCED_MEMBER_EPOCH, 5 * SECOND)
    (again,) = asked(bench)
    assert again.member_id == "m1" and bench.out.rules[-1] == "kafka.consumer.lost"
    assert [kind for kind, _ in bench.out.told[-2:]] == ["kafka.consumer.fenced", "kafka.consumer.revoked"]


def test_an_answer_without_an_id_does_not_take_the_one_it_has() -> None:
    bench = reading(0)
    ticks(bench)
    bench.answer(
        m.ConsumerGroupHeartbeatRequest, m.ConsumerGroupHeartbeatResponse(0, None, 2, 5_000), 5 * SECOND
    )
    assert (bench.state.member.member_id, bench.state.member.generation) == ("m1", 2)


# --- targets


@pytest.mark.parametrize("commits", ["auto", "sync", "async", "never"])
def test_only_auto_commit_commits_before_it_gives_up_and_only_if_something_goes(commits: str) -> None:
    for target, goes in (([0, 1, 2], False), ([1], True)):
        bench = reading(0, 1, commits=commits)
        ticks(bench)
        bench.beat(2, target, now_us=5 * SECOND)
        waits = goes and commits == "auto"
        assert (bench.state.member.phase == COMMITTING) is waits and bool(
            bench.to(m.OffsetCommitRequest)
        ) is waits
        assert ([number for _, number in bench.state.owned] == target) is not waits


def test_it_reports_what_it_holds_in_the_order_of_the_target_and_that_frees_the_rest_for_others() -> None:
    bench = reading(0, 1, commits="never")
    ticks(bench)
    bench.beat(2, [3, 1], now_us=5 * SECOND)
    (report,) = asked(bench)
    assert (report.member_epoch, held(report), report.subscribed_topic_names) == (2, [3, 1], None)


def test_a_target_that_takes_everything_is_reported_too() -> None:
    bench = reading(0, commits="never")
    ticks(bench)
    bench.beat(2, [], now_us=5 * SECOND)
    (report,) = asked(bench)
    assert held(report) == [] and bench.state.owned == []


def test_the_auto_commit_clock_begins_with_the_first_partitions() -> None:
    for commits in ("auto", "never"):
        bench = Server(partitions=6, commits=commits)
        bench.start()
        bench.beat(1, [0], now_us=SECOND)
        assert bench.out.deadlines.get("commit") == (6 * SECOND if commits == "auto" else None)


def test_a_topic_that_becomes_known_completes_the_target_and_is_asked_for_no_more() -> None:
    bench = Server(pattern="t|u", topics=[], commits="never")
    bench.start()
    both = m.Assignment([m.TopicPartitions(topic_id(topic), [0]) for topic in ("t", "u")])
    bench.answer(
        m.ConsumerGroupHeartbeatRequest, m.ConsumerGroupHeartbeatResponse(0, "m1", 1, 5_000, both), SECOND
    )
    assert bench.state.member.unresolved
    rows = bench.metadata().topics[0].partitions
    topics = [r.MetadataTopic(topic, 0, rows) for topic in ("t", "u")]
    bench.answer(r.MetadataRequest, r.MetadataResponse([r.MetadataBroker(1)], 1, topics), SECOND)
    assert bench.state.member.unresolved == [] and bench.state.owned == [("t", 0), ("u", 0)]


def test_a_target_waits_for_the_record_in_hand_and_the_newest_one_is_taken() -> None:
    bench = reading(0, commits="never", max_poll_records=1)
    bench.records(0, 0, 10)
    for target in ([0, 1], [0, 2]):
        ticks(bench)
        bench.beat(2, target, now_us=5 * SECOND)
    assert bench.state.owned == [("t", 0)]
    bench.done(6 * SECOND)
    assert bench.state.owned == [("t", 0), ("t", 2)]


def test_back_to_what_it_has_before_it_looked_there_is_nothing_to_do_but_to_report() -> None:
    """The target changed and changed back while a record was in hand."""
    bench = reading(0, commits="never", max_poll_records=1)
    bench.records(0, 0, 10)
    told = len(bench.out.told)
    for target in ([0, 1], [0]):
        ticks(bench)
        bench.beat(2, target, now_us=5 * SECOND)
    bench.done(6 * SECOND)
    assert bench.state.owned == [("t", 0)] and len(bench.out.told) == told


def test_partitions_of_several_topics_are_reported_topic_by_topic() -> None:
    bench = Server(topics=["t", "u"], commits="never")
    bench.start()
    rows = [m.TopicPartitions(topic_id("u"), [1]), m.TopicPartitions(topic_id("t"), [0, 2])]
    bench.answer(
        m.ConsumerGroupHeartbeatRequest,
        m.ConsumerGroupHeartbeatResponse(0, "m1", 1, 5_000, m.Assignment(rows)),
    )
    (report,) = asked(bench)
    assert report.topic_partitions == rows and bench.state.owned == [("u", 1), ("t", 0), ("t", 2)]


# --- the coordinator is lost


@pytest.mark.parametrize("is_committing", [False, True])
def test_with_the_coordinator_lost_it_reads_on_gives_up_what_it_was_giving_up_and_says_everything_again(
    is_committing: bool,
) -> None:
    bench = reading(0, 1)
    if is_committing:
        ticks(bench)
        bench.beat(2, [1], now_us=5 * SECOND)
        assert bench.state.member.phase == COMMITTING
    bench.out.take()
    bench.node.receive(bench.state.network.connections[-1], Closed("reset"), 6 * SECOND, bench.out)
    owned = [1] if is_committing else [0, 1]
    assert (bench.state.member.phase, [number for _, number in bench.state.owned]) == (IN, owned)
    for step in range(1, 4):
        bench.serve(6 * SECOND + step * 100_000)
        bench.node.wake("retry", 6 * SECOND + step * 100_000, bench.out)
    (again,) = asked(bench)
    assert (again.member_epoch, again.subscribed_topic_names, held(again)) == (
        2 if is_committing else 1,
        ["t"],
        owned,
    )


def test_a_target_that_waits_for_the_record_in_hand_still_waits_when_the_coordinator_is_lost() -> None:
    bench = reading(0, commits="never", max_poll_records=1)
    bench.records(0, 0, 10)
    ticks(bench)
    bench.beat(2, [1], now_us=5 * SECOND)
    bench.node.receive(bench.state.network.connections[-1], Closed("reset"), 6 * SECOND, bench.out)
    assert bench.state.owned == [("t", 0)] and bench.state.member.given == [("t", 1)]
    bench.serve(6 * SECOND)
    bench.done(7 * SECOND)
    bench.serve(7 * SECOND)
    assert bench.state.owned == [("t", 1)]


# --- out of the group


@pytest.mark.parametrize(("instance", "epoch"), [(None, -1), ("one", -2)])
def test_a_late_poll_leaves_with_the_epoch_of_its_kind_and_the_next_one_joins_with_its_id(
    instance: str | None, epoch: int
) -> None:
    bench = reading(0, max_poll_interval_ms=60_000, group_instance_id=instance, max_poll_records=1)
    bench.records(0, 0, 10)
    bench.node.wake("poll_interval", 60 * SECOND, bench.out)
    (left,) = asked(bench)
    assert (left.member_epoch, left.topic_partitions, left.subscribed_topic_names) == (epoch, None, None)
    assert (
        bench.state.member.phase == OUT
        and "heartbeat" not in bench.out.deadlines
        and bench.out.told[-1][0] == "kafka.consumer.poll_timeout"
    )
    ticks(bench, 63 * SECOND)
    assert asked(bench) == [], "out of the group nobody beats"
    bench.done(70 * SECOND)
    (again,) = asked(bench)
    assert (again.member_id, again.member_epoch, held(again)) == ("m1", 0, []) and bench.out.rules[
        -1
    ] == "kafka.consumer.lost"


def test_an_answer_that_comes_after_it_left_gives_it_nothing() -> None:
    bench = reading(0, max_poll_interval_ms=60_000, max_poll_records=1)
    bench.records(0, 0, 10)
    ticks(bench, 58 * SECOND)
    late = bench.to(m.ConsumerGroupHeartbeatRequest)[0][0]
    bench.node.wake("poll_interval", 60 * SECOND, bench.out)
    answer = m.ConsumerGroupHeartbeatResponse(
        0, "m1", 9, 5_000, m.Assignment([m.TopicPartitions(topic_id("t"), [4])])
    )
    bench.node.receive(late, answer, 61 * SECOND, bench.out)
    assert (bench.state.member.phase, bench.state.member.generation, bench.state.member.given) == (
        OUT,
        1,
        None,
    )


def test_close_commits_leaves_and_hangs_up_when_that_is_answered() -> None:
    bench = reading(0)
    bench.node.receive(0, Leave(), SECOND, bench.out)
    assert asked(bench) == []
    bench.answer(m.OffsetCommitRequest, OK_COMMIT, SECOND)
    assert not bench.out.closed
    request = bench.answer(m.ConsumerGroupHeartbeatRequest, m.ConsumerGroupHeartbeatResponse(), 2 * SECOND)
    assert (
        request.member_epoch == -1
        and bench.state.member.phase == CLOSED
        and sorted(bench.out.closed) == sorted(bench.out.connected)
    )


def test_who_subscribes_to_nothing_says_nothing() -> None:
    bench = Server(topics=[])
    bench.start()
    assert asked(bench) == [] and not bench.to(r.FetchRequest)
