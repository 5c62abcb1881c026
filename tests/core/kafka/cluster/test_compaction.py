"""Compaction of people's topics on a cluster's brokers: what goes, on whom, what a leader takes and refuses,
and what followers and readers get over the gaps."""

from typing import Any

import pytest

from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cleaner import was_cut, was_deleted
from broker_core.kafka.cluster.cluster import TopicPlan
from broker_core.kafka.cluster.requests import DeleteRecordsRequest, ProducePartition, ProduceRequest
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.checkpoints import CLEANER, read_offsets, write_offsets
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.topic_config import TopicConfig
from broker_core.kafka.replication.replica_log import LightBatch, light_batch
from tests.core.kafka.cluster.clusters import KEY, Cluster


def cluster(brokers: int = 3, **config: Any) -> Cluster:
    """Two batches of 70 bytes a segment; the cleaner looks every five seconds."""
    own = TopicConfig(**{"segment_bytes": 150, "cleanup_policy": "compact", **config})
    topics = (TopicPlan("t", 1, brokers, min_insync_replicas=min(2, brokers), config=own),)
    return Cluster(brokers, topics, log_cleaner_backoff_ms=5_000, log_retention_check_interval_ms=10_000)


def record(key: str, value: str | None = "v") -> tuple[str, str | None]:
    """As a broker keeps it whose clients put in key and value."""
    return key.encode().hex(), None if value is None else value.encode().hex()


def write(made: Cluster, keys: str) -> None:
    """A record a key, each in a batch of its own; a capital letter is the tombstone of its key."""
    for key in keys:
        value = None if key.isupper() else "v"
        assert made.produce(made.decided.leader, record(key.lower(), value), size_in_bytes=70)[0] == 0


def offsets(made: Cluster, broker: int) -> list[int]:
    return [
        batch.header.base_offset + delta
        for batch in made.log(broker).batches()
        for delta, value in enumerate(batch.values)
        if value is not None
    ]


def test_every_replica_keeps_the_last_record_of_each_key_and_all_of_the_active_segment() -> None:
    made = cluster()
    write(made, "xyxyxz")
    made.run(15)
    assert {tuple(offsets(made, broker)) for broker in (1, 2, 3)} == {(2, 3, 4, 5)}
    assert made.ends() == dict.fromkeys((1, 2, 3), (6, 6)), "log ends and high watermarks stay"
    assert {made.log(broker).log_start_offset for broker in (1, 2, 3)} == {0}
    assert {read_offsets(made.state(broker).disk.folder, CLEANER)[KEY] for broker in (1, 2, 3)} == {4}


def test_who_reads_from_the_start_gets_what_is_left_and_goes_on_behind_it() -> None:
    made = cluster()
    write(made, "xyxyxz")
    made.run(15)
    leader = made.decided.leader
    assert (
        made.consumed(leader, 0)[0] == record("x")
        and made.consume(leader, 0).records[0].header.base_offset == 2
    )
    assert made.consume(leader, 1).error_code == 0, "an offset in a gap is in range"


def test_a_new_follower_fetches_over_the_gaps() -> None:
    made = cluster()
    write(made, "xyxyxz")
    made.run(15)
    other = next(broker for broker in (1, 2, 3) if broker != made.decided.leader)
    verbs.lose_disk(made.world, other)
    made.run(1)
    verbs.come_back(made.world, other)
    made.run(20)
    assert offsets(made, other) == [2, 3, 4, 5] and made.ends()[other] == (6, 6)
    assert other in made.decided.isr


def test_each_replica_is_cleaned_up_to_its_own_high_watermark() -> None:
    made = cluster(2, min_cleanable_dirty_ratio_percent=0)
    leader = made.decided.leader
    write(made, "xx")
    verbs.cut_link(made.world, leader, 3 - leader)
    for _ in range(4):
        made.produce(leader, record("x"), acks=1, size_in_bytes=70)
    mark = made.log(leader).high_watermark
    assert mark < made.log(leader).log_end_offset == 6
    made.run(10)
    assert offsets(made, leader)[-4:] == [2, 3, 4, 5], (
        "what is not replicated is neither cleaned nor takes others away"
    )


def test_a_tombstone_goes_when_its_time_is_over_and_not_in_the_round_that_meets_it() -> None:
    made = cluster(1, delete_retention_ms=20_000, min_cleanable_dirty_ratio_percent=0)
    write(made, "xXyz")
    made.run(10)
    assert offsets(made, 1) == [1, 2, 3]
    made.run(20)
    write(made, "yzyz")
    made.run(10)
    assert 1 not in offsets(made, 1)


def test_young_segments_wait_for_min_compaction_lag_and_old_ones_do_not_wait_for_the_ratio() -> None:
    young = cluster(1, min_compaction_lag_ms=60_000)
    write(young, "xxxxxx")
    young.run(15)
    assert len(offsets(young, 1)) == 6
    young.run(60)
    assert offsets(young, 1) == [3, 4, 5]
    patient = cluster(1, min_cleanable_dirty_ratio_percent=100)
    write(patient, "xxxxxx")
    patient.run(90)
    assert len(offsets(patient, 1)) == 6, "no log is dirtier than wholly"
    late = cluster(1, min_cleanable_dirty_ratio_percent=100, max_compaction_lag_ms=30_000)
    write(late, "xxxxxx")
    late.run(15)
    assert len(offsets(late, 1)) == 6
    late.run(30)
    assert offsets(late, 1) == [3, 4, 5]


@pytest.mark.parametrize(("policy", "left"), [("compact,delete", [8, 9]), ("compact", [7, 8, 9])])
def test_with_both_policies_what_compaction_leaves_is_deleted_too(policy: str, left: list[int]) -> None:
    made = cluster(1, cleanup_policy=policy, retention_bytes=140)
    write(made, "abcdefgxxx")
    made.run(45)
    assert offsets(made, 1)[-len(left) :] == left
    assert (made.log(1).log_start_offset > 0) is (policy != "compact")


def test_a_record_without_a_key_is_refused_and_nothing_is_written() -> None:
    made = cluster()
    leader = made.decided.leader
    for values in (("plain",), (record("k"), 7), ((),), ((None, "31"),)):
        assert made.produce(leader, *values) == (ErrorCode.INVALID_RECORD, -1)
    assert made.log(leader).log_end_offset == 0
    follower = next(broker for broker in (1, 2, 3) if broker != leader)
    assert made.produce(follower, "plain")[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER, "who leads is asked first"


def test_too_few_in_sync_is_refused_before_a_record_without_a_key() -> None:
    made = cluster(2)
    leader = made.decided.leader
    verbs.crash(made.world, 3 - leader)
    made.run(20)
    assert made.produce(leader, "plain")[0] == ErrorCode.NOT_ENOUGH_REPLICAS
    assert made.produce(leader, "plain", acks=1)[0] == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("policy", "error"),
    [
        ("compact", ErrorCode.POLICY_VIOLATION),
        ("compact,delete", 0),
        ("delete", 0),
        ("", ErrorCode.POLICY_VIOLATION),
    ],
)
def test_delete_records_needs_delete_in_the_policy(policy: str, error: int) -> None:
    made = cluster(cleanup_policy=policy)
    write(made, "xy")
    leader = made.decided.leader
    answer = made.ask(leader, DeleteRecordsRequest(10_000, [(*KEY, 1)]))[0]
    assert [part.error_code for part in answer.partitions] == [error]
    assert made.log(leader).log_start_offset == (0 if error else 1)


def test_what_is_cut_off_or_deleted_is_no_longer_clean() -> None:
    made = cluster(1)
    write(made, "xyxyxz")
    made.run(15)
    disk = made.state(1).disk
    write_offsets(disk.folder, CLEANER, {KEY: 4, ("u", 0): 7})
    made.log(1).truncate_to(1, 0)
    was_cut(disk, KEY)
    assert read_offsets(disk.folder, CLEANER) == {KEY: made.log(1).active.base_offset, ("u", 0): 7}
    was_deleted(disk, KEY)
    assert read_offsets(disk.folder, CLEANER) == {("u", 0): 7}


def test_a_topic_says_how_it_is_cleaned() -> None:
    both = TopicConfig(cleanup_policy="compact, delete").over(LogSettings())
    assert (both.cleanup_delete, both.cleanup_compact) == (True, True)
    neither = TopicConfig(cleanup_policy="").over(LogSettings())
    assert (neither.cleanup_delete, neither.cleanup_compact) == (False, False)


@pytest.mark.parametrize(
    "config",
    [
        {"cleanup_policy": "keep"},
        {"cleanup_policy": "compact,"},
        {"min_cleanable_dirty_ratio_percent": 101},
        {"delete_retention_ms": -1},
        {"min_compaction_lag_ms": -1},
        {"max_compaction_lag_ms": 0},
        {"min_compaction_lag_ms": 6, "max_compaction_lag_ms": 5},
    ],
)
def test_what_no_topic_can_have_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        TopicConfig(**config).check()
    assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_a_batch_with_more_or_fewer_records_than_it_says_is_refused_before_a_cleaner_meets_it() -> None:
    made = cluster(1)
    write(made, "xyxyxz")
    sound = light_batch([record("x"), record("y")], timestamp=0)
    for count in (1, 3):
        header = sound.header._replace(record_count=count, last_offset_delta=count - 1)
        request = ProduceRequest(-1, 1_000, [ProducePartition(*KEY, LightBatch(header, sound.data))])
        assert made.ask(1, request)[0].partitions[0].error_code == ErrorCode.INVALID_RECORD
    made.run(15)
    assert offsets(made, 1) == [2, 3, 4, 5]
