"""Positions that the log no longer has, or that a leader of an older epoch must not judge."""

from __future__ import annotations

from broker_core.kafka.assignors.subscription_bytes import (
    write_assignment,
)
from broker_core.kafka.client.group_consumer.core import FAILED
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from tests.core.kafka.client.consumer_bench import SECOND, Bench


def test_an_offset_out_of_range_is_reset_and_none_gives_up() -> None:
    bench = Bench()
    bench.start()
    bench.join(0, committed={0: 50})
    bench.records(0, 50, code=1)
    assert bench.to(r.ListOffsetsRequest)[0][1].partitions[0].timestamp == -2
    other = Bench(auto_offset_reset="none")
    other.start()
    other.join(0, committed={0: 50})
    other.records(0, 50, code=1)
    assert other.state.member.phase == FAILED and other.out.told[-1][0] == "kafka.consumer.threw"


def test_a_position_beyond_the_end_of_its_epoch_goes_back() -> None:
    bench = Bench(max_poll_records=10)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10, 11, 12)
    for _ in range(3):
        bench.done()
    bench.epoch = 1
    bench.node.wake("metadata", SECOND, bench.out)
    bench.serve(SECOND)
    (connection, question) = bench.to(r.OffsetsForLeaderEpochRequest)[0]
    assert (question.partitions[0].leader_epoch, question.partitions[0].current_leader_epoch) == (0, 1)
    bench.node.receive(
        connection, r.OffsetsForLeaderEpochResponse([r.EpochEnd("t", 0, 0, 0, 2)]), SECOND, bench.out
    )
    assert bench.state.subscribed.assigned["t", 0].position == 2
    assert bench.out.told[-1][0] == "kafka.consumer.truncated"


def test_a_committed_offset_is_not_asked_of_a_leader_from_before_its_epoch() -> None:
    """A leader that is cut off and does not know it would say that there is no such offset, and the whole
    partition would be read again."""
    bench = Bench(partitions=1)
    bench.start()
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, 1, "consumer", "range", "other"))
    bench.answer(
        m.SyncGroupRequest, m.SyncGroupResponse(0, "consumer", "range", write_assignment([("t", 0)]))
    )
    rows = [m.FetchedPartition(0, 18, committed_leader_epoch=3)]
    bench.answer(
        m.OffsetFetchRequest,
        m.OffsetFetchResponse([m.OffsetFetchGroupResult("g", [m.FetchedTopicResult("t", rows)])]),
        SECOND,
    )
    bench.answer(r.MetadataRequest, bench.metadata(), SECOND)
    assert not bench.to(r.FetchRequest), "the answer is of one that is behind"
    bench.epoch = 3
    bench.node.wake("retry", 2 * SECOND, bench.out)
    bench.answer(r.MetadataRequest, bench.metadata(), 2 * SECOND)
    assert [part.fetch_offset for _, request in bench.to(r.FetchRequest) for part in request.partitions] == [
        18
    ]
