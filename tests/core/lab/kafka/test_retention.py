"""Retention in a lane: what a group has not read in time is gone, is counted, and is an event once."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.log.topic_config import TopicConfig
from broker_core.lab.kafka.group import brokers_of
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.kafka.test_group_commands import SECOND, kinds, lab_of, lane_of, order

pytestmark = pytest.mark.slow
SHORT: dict[str, Any] = {"segment_ms": 5_000, "retention_ms": 20_000, "retention_check_interval_ms": 5_000}
DELETED = "kafka.log.segments_deleted"


def logs(lab: Lab) -> list[Any]:
    """Every replica of the lane's topic."""
    lane = next(iter(lab.lanes.values()))
    return [
        log
        for slot in brokers_of(lane.world).values()
        for (topic, _), log in slot.node.state.disk.logs.items()
        if topic == lane.options["topic"]
    ]


def left_alone(seconds: int, **options: Any) -> tuple[Lab, list[Any]]:
    """A group that leaves after 15 s, and what is reported in the seconds after."""
    lab = lab_of(**options)
    told = []
    for name in ("c1", "c2", "c3"):
        told += order(lab, "leave", 1, consumer=name)
    return lab, told + lab.advance_to(lab.now_us + seconds * SECOND)


class Polled:
    """What the programs of a lab's group have polled, overheard from its beginning."""

    def __init__(self, seconds: int = 15, **options: Any) -> None:
        self.lab, self.offsets = lab_of(0, **options), dict[int, set[int]]()
        reads = next(iter(self.lab.lanes.values())).rules.reads
        inner = reads.polled

        def polled(partition: tuple[str, int], offset: int) -> None:
            self.offsets.setdefault(partition[1], set()).add(offset)
            inner(partition, offset)

        reads.polled = polled
        self.lab.advance_to(seconds * SECOND)

    def is_whole(self) -> bool:
        """Each record of a partition was polled, waits, or was passed over, and is one of these alone."""
        view = lane_of(self.lab)
        rows = {int(number): part for number, part in view["picture"]["partitions"].items()}
        return all(
            len(self.offsets.get(number, ())) + part["passed_over"] + part["lag"] == part["end"]
            for number, part in rows.items()
        )


def test_what_nobody_reads_in_time_is_deleted_counted_and_told_once_for_each_partition() -> None:
    lab, told = left_alone(60, **SHORT)
    deletions = [event for event in told if event["kind"] == DELETED]
    assert deletions and {event["rule"] for event in deletions} == {"kafka.log.retention_ms"}
    assert sorted(event["data"]["partition"] for event in deletions) == list(range(6))
    view = lane_of(lab)
    lost = view["group_health"]["passed_over"]
    assert lost == sum(part["passed_over"] for part in view["group"]["partitions"].values())
    assert 0 < sum(event["data"]["passed_over"] for event in deletions) < lost, "the first of each was told"
    assert view["sentence"] == {"code": "kafka.retention_passed", "params": {"records": lost}}
    starts = {number: part["start"] for number, part in view["group"]["partitions"].items()}
    assert all(starts[str(event["data"]["partition"])] > event["data"]["start"] for event in deletions)
    for number, part in view["picture"]["partitions"].items():
        assert part["lag"] == part["end"] - starts[number], "the lag counts what is still there"
    waiting = sum(part["lag"] for part in view["picture"]["partitions"].values())
    assert waiting <= view["lag"] <= waiting + 2, "and what is on its way"
    assert {log.settings.retention_ms for log in logs(lab)} == {20_000}
    now_ms = next(iter(lab.lanes.values())).world.node_us // 1_000
    for log in logs(lab):
        eldest = next(log.batches()).header.max_timestamp
        assert now_ms - eldest < 20_000 + 5_000 + 5_000, "retention, a segment, and a look"


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_who_comes_back_goes_on_by_auto_offset_reset_and_nothing_is_counted_twice(reset: str) -> None:
    lab, _ = left_alone(60, **SHORT, auto_offset_reset=reset)
    before = lane_of(lab)["group_health"]["passed_over"]
    told = order(lab, "join", 15)
    resets = [event["data"] for event in told if event["kind"] == "kafka.consumer.offset_reset"]
    assert len(resets) == 6, "the committed offset of each partition is out of range"
    after = lane_of(lab)["group_health"]["passed_over"]
    if reset == "earliest":
        assert after == before and {each["passed_over"] for each in resets} == {0}
    else:
        assert after - before == sum(each["passed_over"] for each in resets) > 0
    assert lane_of(lab)["tally"]["redelivered"] == 0


@pytest.mark.parametrize("how", ["leave", "group_freeze", "crash"])
def test_each_record_is_read_waits_or_was_passed_over_while_retention_goes_on(how: str) -> None:
    heard = Polled(**SHORT, session_timeout_ms=60_000)
    lab = heard.lab
    names = ("c1", "c2", "c3") if how == "leave" else ("c1",)
    for name in names:
        order(lab, how, 0, consumer=name)
    lab.advance_to(lab.now_us + 45 * SECOND)
    assert lane_of(lab)["group_health"]["passed_over"] > 0, "what a silent member owns is read by nobody"
    if how == "group_freeze":
        order(lab, "group_thaw", 1, consumer="c1")
    else:
        order(lab, "join", 1)
    lab.advance_to(lab.now_us + 60 * SECOND)
    assert heard.is_whole()


def test_a_group_that_keeps_up_loses_nothing_and_hears_of_no_deletion() -> None:
    lab = lab_of(**SHORT)
    told = lab.advance_to(90 * SECOND)
    assert DELETED not in kinds(told) and lane_of(lab)["group_health"]["passed_over"] == 0
    assert min(log.log_start_offset for log in logs(lab)) > 0


def test_by_size_the_oldest_segments_go() -> None:
    sizes = {"segment_ms": 5_000, "retention_bytes": 1_000, "retention_check_interval_ms": 5_000}
    lab, told = left_alone(60, **sizes)
    assert {event["rule"] for event in told if event["kind"] == DELETED} == {"kafka.log.retention_bytes"}
    for log in logs(lab):
        assert sum(segment.size for segment in log.segments[1:-1]) < 1_000, (
            "but for those since the last look"
        )


def test_without_a_bound_a_lane_keeps_what_nobody_has_read() -> None:
    lab, told = left_alone(60)
    assert DELETED not in kinds(told) and lane_of(lab)["group_health"]["passed_over"] == 0


def test_a_topic_that_an_operator_makes_has_the_settings_that_it_was_given() -> None:
    lab = lab_of()
    given = {"retention_ms": 60_000, "segment_bytes": 20_000}
    order(lab, "cluster_create_topic", 3, args={"topic": "audit", "partitions": 1, **given})
    lane = next(iter(lab.lanes.values()))
    made = [
        slot.node.state.disk.logs["audit", 0].settings
        for slot in brokers_of(lane.world).values()
        if ("audit", 0) in slot.node.state.disk.logs
    ]
    assert len(made) == 3
    assert {(each.retention_ms, each.segment_bytes) for each in made} == {(60_000, 20_000)}
    assert {slot.node.state.configs["audit"] for slot in brokers_of(lane.world).values()} == {
        TopicConfig(**given)
    }


def test_a_lab_goes_on_the_same_after_a_checkpoint() -> None:
    whole, _ = left_alone(60, **SHORT)
    half, _ = left_alone(30, **SHORT)
    restored = Lab.restore(half.scenario, half.checkpoint())
    restored.advance_to(whole.now_us)
    assert lane_of(restored) == lane_of(whole)


def leaders(lab: Lab) -> dict[int, Any]:
    """Partition -> its leader's log."""
    lane = next(iter(lab.lanes.values()))
    topic = lane.options["topic"]
    return {
        number: slot.node.state.disk.logs[topic, number]
        for slot in brokers_of(lane.world).values()
        for (name, number), replica in slot.node.state.replicas.items()
        if name == topic and replica.partition.is_leader
    }


def committed(lab: Lab) -> dict[int, int]:
    return dict(next(iter(lab.lanes.values())).reads.look().group.offsets)


def test_of_what_everybody_has_read_a_few_closed_segments_stay_and_nothing_unread_goes() -> None:
    lab = lab_of(30, segment_ms=3_000)
    for _ in range(8):
        lab.advance_to(lab.now_us + 5 * SECOND)
        low = committed(lab)
        for number, log in leaders(lab).items():
            assert 0 < log.log_start_offset <= low[number]
            read = [segment.base_offset for segment in log.segments[1:] if segment.base_offset <= low[number]]
            # Three, and what has rolled and was committed since the last look.
            kept = sum(base > log.log_start_offset for base in read)
            assert 3 <= kept <= 3 + 3, (number, read, low[number], log.log_start_offset)
            assert log.log_start_offset in [segment.base_offset for segment in log.segments], "whole segments"


def test_what_a_lane_s_own_retention_keeps_is_deleted_by_that_alone() -> None:
    """By size or time; a lane that sets neither deletes what has been read."""
    lab = lab_of(90, segment_ms=3_000, retention_ms=60_000, retention_check_interval_ms=5_000)
    ages = [lab.now_us // 1_000 - next(log.batches()).header.max_timestamp + 3_600_000 for log in logs(lab)]
    assert all(55_000 < age < 60_000 + 3_000 + 5_000 + 1_000 for age in ages), ages


def test_a_segment_that_is_closed_late_keeps_no_more_than_so_many_records_that_were_read() -> None:
    options = {
        "lanes": [{"model": "kafka", "brokers": 1, "partitions": 1, "segment_ms": 3_600_000}],
        "consumers": 1,
        "consumer_rate": 1_000,
        "workload": {"kind": "uniform", "keys": 40, "rate": 300},
    }
    lab = Lab(scenario_from_json(options))
    lab.advance_to(30 * SECOND)
    (log,) = logs(lab)
    assert len(log.segments) == 1 and 2_000 <= committed(lab)[0] - log.log_start_offset < 2_000 + 300 * 11
