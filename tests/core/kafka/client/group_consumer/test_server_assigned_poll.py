"""A member whose coordinator assigns, in its poll loop: what it reports, takes up and gives up."""

from __future__ import annotations

from broker_core.kafka.client.group_consumer.core import IN
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.topics import topic_id
from broker_core.sim.program import Leave
from tests.core.kafka.client.consumer_bench import SECOND, Server


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
