"""Compaction in a lane: its brokers keep the newest record of each key, who begins at the start reads those,
and what has no key is refused."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.topic_config import TopicConfig
from broker_core.kafka.producer.partitioner import positive_key_hash
from broker_core.lab.kafka.group import brokers_of
from broker_core.lab.lab import Lab
from broker_core.lab.messages import FIRST_SENT
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.kafka.test_group_commands import LANE, SECOND, kinds, lab_of, lane_of, order

pytestmark = pytest.mark.slow
COMPACTED: dict[str, Any] = {"cleanup_policy": "compact", "segment_ms": 5_000}


def logs(lab: Lab) -> list[tuple[int, Any]]:
    """(partition, log) of every replica of the lane's topic."""
    lane = next(iter(lab.lanes.values()))
    return [
        (number, log)
        for slot in brokers_of(lane.world).values()
        for (topic, number), log in slot.node.state.disk.logs.items()
        if topic == lane.options["topic"]
    ]


def records(log: Any) -> dict[int, int]:
    """offset -> id of what is left."""
    return {
        batch.header.base_offset + delta: value
        for batch in log.batches()
        if not batch.header.is_control
        for delta, value in enumerate(batch.values)
        if value is not None
    }


def key(lab: Lab, message: int) -> int:
    return next(iter(lab.lanes.values())).rules.messages.key_code(message)


def test_the_newest_record_of_each_key_is_kept_on_every_replica_however_long_the_lab_runs() -> None:
    lab = lab_of(120, **COMPACTED)
    for number, log in logs(lab):
        left = records(log)
        newest = {key(lab, message): offset for offset, message in sorted(left.items())}
        closed = {offset for offset in left if offset < log.segments[-2].base_offset - 200}
        assert closed <= set(newest.values()), "what is old and still there is the newest of its key"
        assert len(left) < log.log_end_offset / 2 and log.log_start_offset == 0, number
    keys = {key(lab, message) for _, log in logs(lab) for message in records(log).values()}
    assert len(keys) == 40
    assert sum(log.log_end_offset for _, log in logs(lab)) > 3 * 2_000


def test_who_begins_at_the_start_reads_what_is_left_and_nothing_was_passed_over() -> None:
    lab = lab_of(90, **COMPACTED)
    for name in ("c1", "c2", "c3"):
        order(lab, "leave", 1, consumer=name)
    for number in range(6):
        order(lab, "group_reset_offsets", 1, args={"partition": number, "offset": 0})
    lane = next(iter(lab.lanes.values()))
    heard: set[tuple[int, int]] = set()
    reads = lane.rules.reads
    inner = reads.polled

    def polled(partition: tuple[str, int], offset: int) -> None:
        heard.add((partition[1], offset))
        inner(partition, offset)

    reads.polled = polled
    ends = {number: log.log_end_offset for number, log in logs(lab)}
    order(lab, "join", 40)
    for number, log in logs(lab):
        left = set(records(log))
        assert {offset for of, offset in heard if of == number} >= left & set(range(ends[number]))
    assert 40 <= len({each for each in heard if each[1] < ends[each[0]]}) < sum(ends.values()) / 2
    assert lane_of(lab)["group_health"]["passed_over"] == 0
    assert lane_of(lab)["lag"] < 40, "the lag counts offsets, and gaps are behind in one step"


def test_with_delete_beside_it_retention_goes_on_and_compaction_keeps_segments_young() -> None:
    both = {**COMPACTED, "cleanup_policy": "compact,delete", "retention_ms": 30_000}
    idle = lab_of(90, **both, min_cleanable_dirty_ratio_percent=100)
    assert min(log.log_start_offset for _, log in logs(idle)) > 0, (
        "nothing is compacted, so segments grow old"
    )
    busy = lab_of(90, **both)
    assert {log.log_start_offset for _, log in logs(busy)} == {0}, (
        "each round puts what it leaves into one segment, as old as its newest record"
    )
    assert all(len(records(log)) < log.log_end_offset / 2 for _, log in logs(busy))


def test_without_a_policy_of_its_own_a_topic_is_not_compacted() -> None:
    assert {log.settings.cleanup_compact for _, log in logs(lab_of(5))} == {False}
    settings = {
        (log.settings.segment_ms, log.settings.delete_retention_ms, log.settings.cleanup_delete)
        for _, log in logs(lab_of(5, cleanup_policy="compact"))
    }
    assert settings == {(20_000, 60_000, False)}, "short, so that somebody sees the cleaner at work"


def test_records_without_a_key_are_refused_and_the_producer_fails_them() -> None:
    lab = Lab(
        scenario_from_json(
            {
                "lanes": [{**LANE, **COMPACTED}],
                "consumers": 2,
                "workload": {"kind": "keys", "keys": [["a", 1]], "keyless": 99, "rate": 40},
            }
        )
    )
    lab.advance_to(10 * SECOND)
    lane = next(iter(lab.lanes.values()))
    keys = {key(lab, message) for _, log in logs(lab) for message in records(log).values()}
    assert keys <= {lane.rules.messages.key_code(next(n for n in range(5_000) if key(lab, n) >= 0))}
    counts = lane.rules.reads.producer().counts
    assert counts.failed > 300 and counts.errors[ErrorCode.INVALID_RECORD] > 0


def test_a_topic_that_an_operator_makes_has_the_policy_that_it_was_given() -> None:
    lab = lab_of()
    given = {"cleanup_policy": "compact,delete", "min_compaction_lag_ms": 1_000, "segment_bytes": 20_000}
    order(lab, "cluster_create_topic", 3, args={"topic": "audit", "partitions": 1, **given})
    lane = next(iter(lab.lanes.values()))
    configs = {slot.node.state.configs["audit"] for slot in brokers_of(lane.world).values()}
    assert configs == {TopicConfig(**given, segment_ms=20_000, delete_retention_ms=60_000)}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"cleanup_policy": "keep"}, "cleanup_policy"),
        ({"cleanup_policy": ["compact"]}, "cleanup_policy"),
        ({"cleanup_policy": "delete,compact"}, "cleanup_policy"),
        ({"min_cleanable_dirty_ratio_percent": 101}, "min_cleanable_dirty_ratio_percent"),
        ({"min_cleanable_dirty_ratio_percent": 0.5}, "min_cleanable_dirty_ratio_percent"),
        ({"delete_retention_ms": -1}, "delete_retention_ms"),
        ({"max_compaction_lag_ms": 0}, "max_compaction_lag_ms"),
        ({"min_compaction_lag_ms": 6_000, "max_compaction_lag_ms": 5_000}, "min_compaction_lag_ms"),
    ],
)
def test_what_no_topic_can_have_is_refused_at_its_field(given: dict[str, Any], field: str) -> None:
    with pytest.raises(CommandError) as refused:
        scenario_from_json(
            {"lanes": [{**LANE, **given}], "workload": {"kind": "uniform", "keys": 4, "rate": 2}}
        )
    assert refused.value.field == f"lanes.0.{field}"
    lab = lab_of(1)
    with pytest.raises(CommandError) as refused:
        order(lab, "cluster_create_topic", args={"topic": "audit", **given})
    assert refused.value.field == f"args.{field}"


def test_a_lab_goes_on_the_same_after_a_checkpoint() -> None:
    whole, half = lab_of(100, **COMPACTED), lab_of(50, **COMPACTED)
    restored = Lab.restore(half.scenario, half.checkpoint())
    restored.advance_to(whole.now_us)
    assert lane_of(restored) == lane_of(whole)
    assert [records(log) for _, log in logs(restored)] == [records(log) for _, log in logs(whole)]


def test_a_checkpoint_stays_small_while_the_lab_grows_old() -> None:
    sizes = []
    lab = lab_of(120, **COMPACTED)
    for minutes in (2, 6):
        lab.advance_to(minutes * 60 * SECOND)
        sizes.append(sum(len(list(log.batches())) for _, log in logs(lab)))
    assert sizes[1] < 1.3 * sizes[0]
    assert "kafka.log.segments_deleted" not in kinds(lab.advance_to(lab.now_us + SECOND))


def test_a_transactional_writer_writes_to_a_compacted_topic_by_the_keys_of_its_records() -> None:
    lab = lab_of(2)
    order(lab, "cluster_create_topic", 1, args={"topic": "facts", "partitions": 3, "replication_factor": 1,
          "cleanup_policy": "compact", "segment_ms": 5_000})  # fmt: skip
    order(lab, "cluster_start_writer", 40, args={"writer": 1, "topic": "facts"})
    lane = next(iter(lab.lanes.values()))
    leading = {
        number: slot.node.state.disk.logs[topic, number]
        for slot in brokers_of(lane.world).values()
        for (topic, number), replica in slot.node.state.replicas.items()
        if topic == "facts" and replica.partition.is_leader
    }
    kept = {number: records(log).values() for number, log in leading.items()}
    newest = [value for values in kept.values() for value in values]
    assert sum(log.log_end_offset for log in leading.values()) > 60 and 6 <= len(newest) < 60
    assert len({key(lab, value) for value in newest}) == 6
    for number, values in kept.items():
        for value in values:
            assert positive_key_hash(lane.rules.messages.key_bytes(key(lab, value))) % 3 == number
    assert not [event for event in lab.advance_to(lab.now_us + 5 * SECOND) if "abort" in event["kind"]]


def test_a_tombstone_by_hand_removes_its_key_and_goes_later_itself() -> None:
    lab = lab_of(8, cleanup_policy="compact", segment_ms=5_000, delete_retention_ms=20_000)
    place = {"partition": 0, "key": "account-7"}
    order(lab, "cluster_send_record", 20, args={**place, "value": "balance 12"})

    def of_account() -> list[str | None]:
        """What the leader's log has of it."""
        messages = next(iter(lab.lanes.values())).rules.messages
        log = next(log for number, log in logs(lab) if number == 0)
        mine = [message for message in records(log).values() if message >= FIRST_SENT]
        return [messages.payload(message) if messages.has_value(message) else None for message in mine]

    assert of_account() == ["balance 12"]
    order(lab, "cluster_send_record", 3, args={**place, "tombstone": True})
    assert of_account() == ["balance 12", None]
    lab.advance_to(lab.now_us + 22 * SECOND)
    assert of_account() == [None], "readers still see the deletion"
    copies = lane_of(lab)["cluster"]["partitions"]["records-0"]["copies"]
    assert {each["compacted"]["tombstones"] for each in copies.values()} == {1}
    lab.advance_to(lab.now_us + 60 * SECOND)
    assert of_account() == []
    other = Lab.restore(lab.scenario, lab.checkpoint())
    assert other.view() == lab.view()


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({"key": "k", "tombstone": 1}, "args.tombstone"),
        ({"key": "k", "tombstone": True, "value": "v"}, "args.value"),
        ({"tombstone": True}, "args.key"),
        ({"value": 5}, "args.value"),
        ({"value": "v" * 201}, "args.value"),
        ({"value": "a\nb"}, "args.value"),
    ],
)
def test_a_record_that_cannot_be_is_refused_at_its_field(args: dict[str, Any], field: str) -> None:
    lab = lab_of(1)
    with pytest.raises(CommandError) as refused:
        order(lab, "cluster_send_record", args={"partition": 0, **args})
    assert refused.value.field == field
