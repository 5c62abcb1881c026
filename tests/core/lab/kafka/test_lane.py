"""The Kafka lane on a cluster: the laws of every lane, and what is its own."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.journal import Journal
from broker_core.lab.kafka.views.cluster import cluster_view
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from tests.core.lab.journals import SCENARIO, random_life

pytestmark = pytest.mark.slow

LANES: list[dict[str, Any]] = [{"model": "kafka", "brokers": 3, "offsets_partitions": 5}]
SECOND = 1_000_000


def lab_of(**options: Any) -> Lab:
    return Lab(scenario_from_json({"lanes": [{**LANES[0], **options}], "consumer_rate": 20}))


def order(lab: Lab, kind: str, **parts: Any) -> None:
    lab.submit({"command_id": f"t{lab.position + 1}", "kind": kind, "position": lab.position + 1, **parts})


def test_three_brokers_share_the_leaders_and_everything_is_read_once() -> None:
    lab = lab_of()
    lab.advance_to(60 * SECOND)
    lane = lab.lanes["kafka"]
    picture = lane.reads.picture()
    assert {partition["leader_broker"] for partition in picture["partitions"].values()} == {1, 2, 3}
    assert picture["state"] == "Stable" and lane.reads.redelivered() == 0
    ends = sum(partition["end"] for partition in picture["partitions"].values())
    assert 0 <= lab.record_count - ends <= 3, "but for what is on its way, every record is in a log"


@pytest.mark.parametrize("seed", [1, 3, 8])
def test_replicas_stand_where_the_placement_seed_draws_them_whatever_the_labs_seed(seed: int) -> None:
    def replicas(lab_seed: int, **options: Any) -> list[Any]:
        lab = Lab(scenario_from_json({"lanes": [{**LANES[0], "partitions": 6, **options}], "seed": lab_seed}))
        lab.advance_to(5 * SECOND)
        cluster = cluster_view(lab.lanes["kafka"].world)
        return [partition["replicas"] for partition in cluster["partitions"].values()]

    placed = replicas(7)
    assert replicas(seed, placement_seed=7) == placed and replicas(seed) == replicas(7, placement_seed=seed)
    assert replicas(seed) != placed


@pytest.mark.parametrize("algorithm", ["range", "cooperative-sticky"])
def test_a_newcomer_gets_its_share_and_one_that_leaves_hands_it_back(algorithm: str) -> None:
    lab = lab_of(algorithm=algorithm)
    lab.advance_to(20 * SECOND)
    order(lab, "join", args={"count": 1})
    lab.advance_to(40 * SECOND)
    lane = lab.lanes["kafka"]
    assert set(lane.reads.units().values()) == {"c1", "c2", "c3", "c4"}
    order(lab, "leave", consumer="c4")
    lab.advance_to(60 * SECOND)
    assert set(lane.reads.units().values()) == {"c1", "c2", "c3"} and lane.reads.is_settled()
    assert "c4" not in lane.world.slots


def test_a_crash_is_noticed_by_the_session_timeout_and_its_records_are_read_again() -> None:
    lab = lab_of()
    lab.advance_to(21 * SECOND)
    order(lab, "crash", consumer="c2")
    lane = lab.lanes["kafka"]
    noticed_us = lane.consumers["c2"].deadline_us
    assert noticed_us is not None and 60 * SECOND < noticed_us < 67 * SECOND
    lab.advance_to(noticed_us - 1)
    assert "c2" in lane.reads.units().values()
    told = lab.advance_to(noticed_us + 10 * SECOND)
    assert set(lane.reads.units().values()) == {"c1", "c3"}
    assert [event["at_us"] for event in told if event["kind"] == "kafka.group.member_expired"] == [noticed_us]


def test_a_group_of_the_consumer_protocol_is_served_without_a_leader() -> None:
    lab = lab_of(group_protocol="consumer")
    lab.advance_to(20 * SECOND)
    order(lab, "join", args={"count": 1})
    lab.advance_to(60 * SECOND)
    lane = lab.lanes["kafka"]
    assert lane.reads.picture()["leader"] is None and lane.reads.picture()["state"] == "Stable"
    assert set(lane.reads.units().values()) == {"c1", "c2", "c3", "c4"} and lane.reads.is_settled()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("brokers", 0),
        ("brokers", 10),
        ("replication_factor", 4),
        ("acks", 2),
        ("racks", ["a"]),
        ("truncation", "none"),
        ("group_protocol", "new"),
        ("idempotence", 1),
    ],
)
def test_what_a_cluster_cannot_be_is_refused_at_its_field(field: str, value: object) -> None:
    with pytest.raises(CommandError) as refused:
        scenario_from_json({"lanes": [{**LANES[0], field: value}]})
    assert refused.value.field == f"lanes.0.{field}"


def test_a_lane_that_says_nothing_of_it_runs_on_three_brokers_with_three_copies() -> None:
    (lane,) = scenario_from_json({"lanes": [{"model": "kafka", "acks": 1}]}).lanes
    assert (lane.options["brokers"], lane.options["replication_factor"], lane.options["acks"]) == (3, 3, 1)
    alone = scenario_from_json({"lanes": [{"model": "kafka", "cluster": False}]})
    assert alone == scenario_from_json({"lanes": [{"model": "kafka", "brokers": 1}]}), "as old labs say it"
    assert scenario_from_json(scenario_to_json(alone)) == alone
    for name, value in (("acks", 1), ("brokers", 3)):
        with pytest.raises(CommandError) as refused:
            scenario_from_json({"lanes": [{"model": "kafka", "cluster": False, name: value}]})
        assert refused.value.field == f"lanes.0.{name}"
    with pytest.raises(CommandError) as refused:
        scenario_from_json({"lanes": [{"model": "kafka", "cluster": "no"}]})
    assert refused.value.field == "lanes.0.cluster"


@pytest.mark.parametrize(
    ("options", "way_in", "code"),
    [
        ({}, "eager", "kafka.announced"),
        ({"group_protocol": "consumer"}, "cooperative", "kafka.cooperating_unpaused"),
        ({"group_protocol": "consumer", "consumers": 0}, "cooperative", "kafka.formed"),
    ],
)
def test_members_of_the_consumer_protocol_keep_what_does_not_move_and_the_lane_says_so(
    options: dict[str, Any], way_in: str, code: str
) -> None:
    consumers = options.pop("consumers", 3)
    lab = Lab(scenario_from_json({"consumers": consumers, "lanes": [{"model": "kafka", **options}]}))
    lab.advance_to(20 * SECOND)
    lane = lab.lanes["kafka"]
    assert lane.reads.way_in() == way_in
    order(lab, "join")
    lab.advance_to(lab.now_us + 100_000)
    assert lane.narrator.sentence_now(lane)["code"] == code


def test_each_step_of_a_rebalance_on_the_cluster_follows_from_the_order_that_began_it() -> None:
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "join")
    events = {event["id"]: event for event in lab.advance_to(30 * SECOND)}
    assert sum(event["kind"] == "kafka.consumer.revoked" for event in events.values()) == 3
    for event in events.values():
        first = event
        while first["cause"] and "event" in first["cause"]:
            first = events[first["cause"]["event"]]
        assert first["cause"] == {"command": 1}, event
    order(lab, "crash", consumer="c2")
    expired = [
        event for event in lab.advance_to(90 * SECOND) if event["kind"] == "kafka.group.member_expired"
    ]
    assert [event["cause"] for event in expired] == [{"command": 2}]


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10_000), parts=st.lists(st.integers(1, 4_000_000), min_size=1, max_size=8))
def test_time_in_pieces_equals_time_at_once(seed: int, parts: list[int]) -> None:
    scenario = scenario_from_json({**SCENARIO, "seed": seed, "lanes": LANES})
    pieces, whole = Lab(scenario), Lab(scenario)
    events = []
    for part in parts:
        events += pieces.advance_to(pieces.now_us + part)
    assert events == whole.advance_to(whole.now_us + sum(parts))
    assert pieces.checkpoint() == whole.checkpoint()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_random_life_can_be_replayed_restored_and_calms_down(seed: int, protocol: str) -> None:
    scenario, journal, lab = random_life(seed, 10, lanes=[{**LANES[0], "group_protocol": protocol}])
    assert Journal(scenario, journal).seek(lab.now_us).checkpoint() == lab.checkpoint()
    restored = Lab.restore(scenario, lab.checkpoint())
    assert restored.advance_to(lab.now_us + 5 * SECOND) == lab.advance_to(lab.now_us + 5 * SECOND)
    assert restored.checkpoint() == lab.checkpoint()
    lane = lab.lanes["kafka"]
    for name in list(lab.seen):
        consumer = lane.consumers.get(name)
        if consumer is not None and consumer.state in ("crashed", "gone"):
            order(lab, "leave", consumer=name)
        elif consumer is not None:
            for _ in range(2):
                with suppress(CommandError):  # it was neither paused nor slow
                    order(lab, "resume", consumer=name)
    order(lab, "join", args={"count": 10})
    lab.advance_to(lab.now_us + 60 * SECOND)
    lane.reads.check()
    assert lane.reads.picture()["state"] == "Stable" and 0 <= lane.reads.lag() <= 50


def test_lag_and_ends_are_those_of_the_moment_also_between_two_turning_points() -> None:
    lab = Lab(
        scenario_from_json(
            {
                "lanes": [{**LANES[0], "partitions": 1}],
                "consumers": 1,
                "workload": {"kind": "uniform", "keys": 20, "rate": 1},
            }
        )
    )
    lane = lab.lanes["kafka"]
    for tenth in range(80, 100):
        lab.advance_to(tenth * SECOND // 10)
        picture, log = (
            lane.reads.picture()["partitions"]["0"],
            cluster_view(lane.world)["partitions"]["records-0"],
        )
        assert (picture["end"], picture["high_watermark"]) == (log["end"], log["high_watermark"])
        assert 0 <= lane.reads.lag() <= 1


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("after_us", [0, 496, 1_500, 3_000])
def test_a_program_that_crashes_before_its_group_knows_it_is_not_waited_for_for_ever(
    after_us: int, protocol: str
) -> None:
    lab = lab_of(group_protocol=protocol)
    lab.advance_to(12 * SECOND)
    order(lab, "join")
    lab.advance_to(lab.now_us + after_us)
    order(lab, "crash", consumer="c4")
    (lane,) = lab.lanes.values()
    lab.advance_to(lab.now_us + 2 * SECOND)
    order(lab, "rejoin", consumer="c4")
    lab.advance_to(lab.now_us + 60 * SECOND)
    assert not lane.crash_positions and lane.reads.is_settled() and lane.ledger.is_at_rest
    assert [name for name, slot in lane.world.slots.items() if slot.condition == "crashed"] == []
    lane.reads.check()


def test_whom_nobody_knew_is_gone_within_a_second_and_the_lane_says_so() -> None:
    lab = lab_of()
    lab.advance_to(12 * SECOND)
    order(lab, "join")
    order(lab, "crash", consumer="c4")
    lab.advance_to(lab.now_us + 2 * SECOND)
    (lane,) = lab.view()["lanes"].values()
    assert lane["sentence"] == {"code": "kafka.crash_unknown", "params": {"consumer": "c4"}}
    assert lane["consumers"]["c4"]["state"] == "gone"
