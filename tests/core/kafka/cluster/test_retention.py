"""Retention on a cluster's brokers: what goes, when, on whom, and what its followers and readers hear of it."""

import pytest

from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import TopicPlan
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.topic_config import TopicConfig
from tests.core.kafka.cluster.clusters import Cluster

CHECK_S = 10


def cluster(brokers: int = 3, **config: int) -> Cluster:
    """Two batches of 70 bytes a segment, unless config says otherwise."""
    topics = (TopicPlan("t", 1, brokers, config=TopicConfig(**{"segment_bytes": 150, **config})),)
    return Cluster(brokers, topics, log_retention_check_interval_ms=CHECK_S * 1_000)


def fill(made: Cluster, count: int, values: str = "v") -> None:
    leader = made.decided.leader
    for number in range(count):
        assert made.produce(leader, f"{values}{number}", size_in_bytes=70)[0] == 0


def starts(made: Cluster) -> set[int]:
    return {made.log(broker).log_start_offset for broker in made.decided.replicas}


def deleted(made: Cluster) -> list[tuple[str, int, int]]:
    """(rule, segments, new log start) of each deletion that was told."""
    return [
        (event.rule, event.data["segments"], event.data["start"])
        for event in made.told
        if event.kind == "kafka.log.segments_deleted"
    ]


def test_what_is_older_than_retention_ms_goes_by_whole_segments_on_leader_and_followers() -> None:
    made = cluster(retention_ms=20_000)
    fill(made, 5)
    made.run(25)
    assert starts(made) == {0}, "the first look is 30 s after a start, and no segment has expired by then"
    fill(made, 1, "young")
    made.run(10)
    assert starts(made) == {4}, "the last segment has a young record, so that it stays whole"
    assert made.values(made.decided.leader) == ["v4", "young0"]
    assert deleted(made) == [("kafka.log.retention_ms", 2, 4)], "told once, by the leader"
    made.run(60)
    assert starts(made) == {6} and made.ends() == dict.fromkeys((1, 2, 3), (6, 6))
    assert all(len(made.log(broker).segments) == 1 for broker in (1, 2, 3)), (
        "the active segment has expired, too: an empty one is the log"
    )
    assert made.produce(made.decided.leader, "next") == (0, 6)


@pytest.mark.parametrize(("bytes_kept", "start"), [(141, 4), (140, 6), (420, 2), (10_000, 0), (0, 8)])
def test_more_than_retention_bytes_is_deleted_as_far_as_whole_segments_go(
    bytes_kept: int, start: int
) -> None:
    made = cluster(retention_bytes=bytes_kept)
    fill(made, 8)
    made.run(40)
    assert starts(made) == {start}
    size = sum(segment.size for segment in made.log(made.decided.leader).segments)
    assert size - bytes_kept < 140, "less than a segment above the bound"
    assert [each[0] for each in deleted(made)] == (["kafka.log.retention_bytes"] if start else [])


def test_without_a_bound_of_its_own_a_topic_has_the_brokers_seven_days() -> None:
    made = cluster()
    fill(made, 5)
    made.run(60)
    assert starts(made) == {0} and deleted(made) == []
    assert made.log(1).settings.retention_ms == 7 * 24 * 3_600_000


def test_nothing_above_the_high_watermark_goes() -> None:
    made = cluster(2, retention_bytes=0, retention_ms=0)
    leader = made.decided.leader
    follower = 3 - leader
    fill(made, 3)
    verbs.cut_link(made.world, leader, follower)
    for value in ("a", "b", "c"):
        made.produce(leader, value, acks=1, size_in_bytes=70)
    mark = made.log(leader).high_watermark
    assert mark == 3 and made.log(leader).log_end_offset == 6
    made.state(leader).retain_at_us = 0
    made.run(5)
    assert made.log(leader).log_start_offset == 2, "the segment of 2 and 3 is not replicated whole"
    assert made.values(leader)[-3:] == ["a", "b", "c"]


def test_a_reader_below_the_log_start_is_out_of_range_and_finds_the_earliest_offset() -> None:
    made = cluster(retention_bytes=140)
    fill(made, 8)
    made.run(40)
    leader = made.decided.leader
    assert made.consume(leader, 0).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert made.consume(leader, 5).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert made.consumed(leader, 6) == ["v6", "v7"]


def test_a_segment_is_closed_at_segment_ms_so_that_its_records_can_go() -> None:
    made = cluster(segment_bytes=100_000, segment_ms=5_000, retention_ms=20_000)
    fill(made, 1)
    made.run(6)
    fill(made, 1)
    assert [segment.base_offset for segment in made.log(1).segments] == [0, 1]


def test_a_new_follower_begins_at_its_leaders_log_start() -> None:
    made = cluster(retention_bytes=140)
    fill(made, 8)
    made.run(40)
    other = next(broker for broker in (1, 2, 3) if broker != made.decided.leader)
    verbs.lose_disk(made.world, other)
    made.run(1)
    verbs.come_back(made.world, other)
    made.run(20)
    assert made.log(other).log_start_offset == 6 and made.values(other) == ["v6", "v7"]
    assert made.log(other).settings.retention_bytes == 140, "the topic's settings came with the metadata"


def test_a_log_start_outlives_a_restart() -> None:
    made = cluster(retention_bytes=140)
    fill(made, 8)
    made.run(40)
    leader = made.decided.leader
    verbs.crash(made.world, leader)
    made.run(20)
    verbs.come_back(made.world, leader)
    made.run(20)
    assert starts(made) == {6}


@pytest.mark.parametrize(
    "config",
    [
        {"segment_bytes": 13},
        {"segment_bytes": 1 << 31},
        {"segment_ms": 0},
        {"retention_ms": -2},
        {"retention_bytes": -2},
    ],
)
def test_settings_that_no_log_can_have_are_refused_and_no_topic_is_made(config: dict[str, int]) -> None:
    made = cluster()
    verbs.create_topic(made.world, TopicPlan("u", 1, 3, config=TopicConfig(**config)))
    made.run(1)
    refused = [event.data["error"] for event in made.told if event.kind == "kafka.controller.refused"]
    assert refused == ["INVALID_CONFIG"]
    assert "u" not in made.world.node("controller").state.rules.topics
