"""`__consumer_offsets` is compacted while a cluster runs, and what a coordinator reads back from it is the
same as before."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.cluster.groups import _stored
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.group import records as r
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.group_coordinator import GroupCoordinator
from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.group.topics import Topic, TopicsImage, topic_id
from broker_core.kafka.log.compaction import log_to_clean
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.replication.light_cleaner import clean_light
from broker_core.kafka.replication.replica_log import LightBatch, LightLog
from broker_core.lab.kafka import settings as kafka_cluster_settings
from broker_core.lab.kafka.group import GROUP_ID, coordinating
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.tagged import to_tagged

SECOND = 1_000_000
KEY = ("__consumer_offsets", coordinator_partition(GROUP_ID, 5))
COMPACT = LogSettings(
    cleanup_delete=False, cleanup_compact=True, delete_retention_ms=5_000, verifies_transactions=False
)


def lab_of(**options: Any) -> Lab:
    lane = {"model": "kafka", "brokers": 3, "partitions": 6, "offsets_partitions": 5, **options}
    return Lab(
        scenario_from_json(
            {"lanes": [lane], "consumers": 3, "workload": {"kind": "uniform", "keys": 30, "rate": 10}}
        )
    )


def order(lab: Lab, kind: str, **parts: Any) -> None:
    lab.submit({"command_id": f"t{lab.position + 1}", "kind": kind, "position": lab.position + 1, **parts})


def log_of(lab: Lab, broker: int) -> LightLog:
    log: LightLog = lab.lanes["kafka"].world.slots[broker_node(broker)].node.state.disk.logs[KEY]
    return log


def leader_of(lab: Lab) -> int:
    found = coordinating(lab.lanes["kafka"].world)
    assert found is not None
    return int(found[0].node.state.broker_id)


def live(lab: Lab) -> Lab:
    """Members come, crash, leave; positions are committed all the while."""
    lab.advance_to(8 * SECOND)
    order(lab, "join", args={"count": 2})
    lab.advance_to(16 * SECOND)
    order(lab, "leave", consumer="c1")
    lab.advance_to(24 * SECOND)
    order(lab, "crash", consumer="c2")
    lab.advance_to(50 * SECOND)
    return lab


@cache
def written(protocol: str) -> tuple[LightBatch, ...]:
    """The batches of a lab's offsets partition, of which nothing was compacted."""
    before = kafka_cluster_settings.SEGMENT_MS
    kafka_cluster_settings.SEGMENT_MS = 10**9
    try:
        lab = live(lab_of(group_protocol=protocol))
        batches: Any = list(log_of(lab, leader_of(lab)).batches())
    finally:
        kafka_cluster_settings.SEGMENT_MS = before
    return tuple(batches)


class Silent:
    """A coordinator's surroundings that hear nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **more: None


def loaded(log: LightLog) -> Any:
    """What a broker that begins to lead knows."""
    coordinator = GroupCoordinator(
        GroupSettings(), TopicsImage.of([Topic("flights", topic_id("flights"), 6, ())])
    )
    coordinator.load(list(_stored(log)), log.log_end_offset, 10_000_000, Silent())
    coordinator.state.timers.clear()
    return without_places(to_tagged(coordinator.state))


def without_places(tagged: Any) -> Any:
    """The state without the order in which records came: the rows of tables in one order, no commit's place
    in the log, and not how many members a group once had, which is the size of Java's map."""
    if not isinstance(tagged, list) or not tagged:
        return tagged
    if tagged[0] == "CommittedOffset":
        return [tagged[0], 0, *tagged[2:]]
    if tagged[0] == "ConsumerGroup":
        tagged = tagged[:-1]
    parts = [without_places(each) for each in tagged]
    if parts[0] != ":":
        return parts
    return [":", *sorted(zip(parts[1::2], parts[2::2], strict=True), key=str)]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["classic", "consumer"]),
    st.lists(st.tuples(st.integers(1, 25), st.integers(0, 8_000), st.booleans()), max_size=12),
)
def test_what_a_coordinator_reads_back_is_the_same_however_the_log_was_compacted(
    protocol: str, rounds: list[tuple[int, int, bool]]
) -> None:
    whole, cut = LightLog.begin(COMPACT, now_ms=0), LightLog.begin(COMPACT, now_ms=0)
    waiting, now_ms, cleaned_up_to = list(written(protocol)), 3_600_000, None
    for count, wait_ms, rolls in [*rounds, (len(waiting), 0, True), (0, 10_000, True)]:
        for batch in waiting[:count]:
            for log in (whole, cut):
                log.append_as_follower((batch,), now_ms=now_ms)
                log.high_watermark = log.log_end_offset
        del waiting[:count]
        now_ms += wait_ms
        if rolls:
            cut.roll(now_ms)
        todo = log_to_clean(cut, cleaned_up_to, now_ms)
        cleaned_up_to = clean_light(cut, todo, now_ms).end_offset
        assert loaded(cut) == loaded(whole)
    left = sum(batch.header.record_count for batch in cut.batches())
    assert left < sum(batch.header.record_count for batch in whole.batches()) / 2


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_lab_s_offsets_topic_is_compacted_on_every_broker_and_survives_its_coordinator(
    protocol: str,
) -> None:
    lab = live(lab_of(group_protocol=protocol))
    lab.advance_to(100 * SECOND)
    for broker in (1, 2, 3):
        log = log_of(lab, broker)
        kept = sum(batch.header.record_count for batch in log.batches())
        assert kept < log.log_end_offset / 2, "most were superseded"
        state = lab.lanes["kafka"].world.slots[broker_node(broker)].node.state
        assert (
            state.disk.folder.read("cleaner-offset-checkpoint")
            .decode()
            .startswith(f"0\n1\n{KEY[0]} {KEY[1]} ")
        )
    first = leader_of(lab)
    committed = {
        number: row["committed"] for number, row in lab.lanes["kafka"].reads.picture()["partitions"].items()
    }
    order(lab, "cluster_crash", args={"broker": first})
    lab.advance_to(112 * SECOND)
    assert leader_of(lab) != first
    after = {
        number: row["committed"] for number, row in lab.lanes["kafka"].reads.picture()["partitions"].items()
    }
    assert all(after[number] >= committed[number] for number in committed), "nobody begins again"
    order(lab, "cluster_come_back", args={"broker": first})
    lab.advance_to(150 * SECOND)
    end = log_of(lab, leader_of(lab)).log_end_offset
    assert abs(log_of(lab, first).log_end_offset - end) <= 3


def test_commits_that_come_before_what_is_left_of_a_group_of_the_consumer_protocol_make_no_classic_group() -> (
    None
):
    coordinator = GroupCoordinator(GroupSettings(), TopicsImage.of([]))
    commit = r.OffsetCommitValue(offset=7, leader_epoch=0, metadata="", commit_timestamp=1)
    coordinator.apply(r.Record(r.OffsetCommitKey("g", "t", 0), commit), 0)
    for gone in (r.ConsumerGroupCurrentMemberAssignmentKey("g", "m"), r.ConsumerGroupMetadataKey("g")):
        coordinator.apply(r.Record(gone, None), 1)
    assert isinstance(coordinator.state.groups.get("g"), ClassicGroup), (
        "a tombstone of what is not there changes nothing"
    )
    coordinator.apply(r.Record(r.ConsumerGroupMetadataKey("g"), r.ConsumerGroupMetadataValue(epoch=6)), 2)
    group = coordinator.state.groups.get("g")
    assert isinstance(group, ConsumerGroup) and group.epoch == 6
    assert coordinator.state.offsets.visible.present["g", "t", 0].offset == 7
