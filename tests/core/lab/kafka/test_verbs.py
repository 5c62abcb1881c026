"""What a person does to a member of the group, at the moment of the order: its state, its deadline, what is
reported and what its next life has."""

from typing import Any

import pytest

from broker_core.events import Json
from broker_core.kafka.client.group_consumer.core import ConsumerState
from broker_core.lab.kafka.reading import KafkaClusterReading
from broker_core.lab.lab import Lab
from tests.core.lab.small import SECOND, kinds, lab_of, lane_of, order

SOURCE = "def assign(members, partitions):\n    return {}\n"


def group(consumers: int = 2, **lane: Any) -> Lab:
    """A group that has come to rest."""
    return lab_of(
        "kafka",
        consumers=consumers,
        rate=4,
        seconds=9,
        **{"brokers": 1, "partitions": 4, "offsets_partitions": 1, **lane},
    )


def state_of(lab: Lab, name: str) -> ConsumerState:
    lane = lane_of(lab)
    state = lane.world.slots[lane.consumers[name].incarnation].node.state
    assert isinstance(state, ConsumerState)
    return state


def owned(lab: Lab, name: str) -> list[str]:
    return [number for number, owner in (lane_of(lab).reads.units() or {}).items() if owner == name]


def paused(lab: Lab) -> set[int]:
    reads = lane_of(lab).reads
    assert isinstance(reads, KafkaClusterReading)
    return set(reads.notes.paused_us)


def told_of(told: list[Json], kind: str) -> Json:
    (event,) = [event for event in told if event["kind"] == kind]
    return event


def test_frozen_member_is_read_by_nobody_and_its_session_runs_out_at_its_deadline() -> None:
    lab = group(session_timeout_ms=10_000)
    mine = owned(lab, "c2")
    event = told_of(order(lab, "group_freeze", "c2"), "kafka.member.frozen")
    consumer = lane_of(lab).consumers["c2"]
    assert event["inputs"] == {"session_timeout_us": 10_000_000} and event["cause"] == {"command": 1}
    assert event["data"] == {"consumer": "c2", "partitions": len(mine), "deadline_us": consumer.deadline_us}
    assert (consumer.state, consumer.held_by, consumer.deadline_from_us) == (
        "frozen",
        1,
        lab.now_us,
    ) and paused(lab) == set(map(int, mine))
    assert consumer.deadline_us is not None and lab.now_us < consumer.deadline_us <= lab.now_us + 10 * SECOND
    expired = told_of(lab.advance_to(consumer.deadline_us), "kafka.group.member_expired")
    assert expired["at_us"] == consumer.deadline_us or lab.now_us == expired["at_us"]
    given_up = lane_of(lab).consumers["c2"]
    assert given_up.deadline_us is None and given_up.state == "frozen", "it is given up, and does not know"


@pytest.mark.parametrize(
    ("frozen_s", "code", "is_member"), [(2, "kafka.thawed", True), (14, "kafka.zombie", False)]
)
def test_member_that_goes_on_is_a_zombie_once_its_group_has_given_it_up(
    frozen_s: float, code: str, is_member: bool
) -> None:
    lab = group(session_timeout_ms=8_000)
    order(lab, "group_freeze", "c2", seconds=frozen_s)
    event = told_of(order(lab, "group_thaw", "c2"), "kafka.member.thawed")
    consumer = lane_of(lab).consumers["c2"]
    assert event["data"]["is_member"] is is_member and lane_of(lab).sentence["code"] == code
    assert (
        (consumer.state, consumer.held_by) == ("live", 0)
        and consumer.deadline_us is None
        and consumer.deadline_from_us is None
    )


def test_stuck_member_has_the_time_of_max_poll_interval_from_its_last_poll() -> None:
    lab = group(max_poll_interval_ms=20_000, metadata_max_age_ms=100_000)
    event = told_of(order(lab, "group_stick", "c2"), "kafka.member.stuck")
    consumer = lane_of(lab).consumers["c2"]
    assert event["inputs"] == {"max_poll_interval_us": 20_000_000} and event["data"] == {
        "consumer": "c2",
        "partitions": len(owned(lab, "c2")),
    }
    assert consumer.state == "stuck" and paused(lab) == set(), (
        "its heartbeats go on, so its partitions are its own"
    )
    assert consumer.deadline_us is None or consumer.deadline_us <= lab.now_us + 20 * SECOND
    told = order(lab, "group_unstick", "c2", seconds=1)
    assert (
        told_of(told, "kafka.member.unstuck")["data"] == {"consumer": "c2"}
        and lane_of(lab).sentence["code"] == "kafka.unstuck"
    )
    assert consumer.state == "live" and "kafka.consumer.poll_timeout" not in kinds(told)


def test_restarted_member_has_a_new_process_and_its_partitions_wait() -> None:
    lab = group()
    mine = owned(lab, "c2")
    event = told_of(order(lab, "group_restart", "c2", down_s=3), "kafka.member.restarting")
    consumer = lane_of(lab).consumers["c2"]
    assert (
        event["data"] == {"consumer": "c2", "down_us": 3_000_000, "instance": None}
        and lane_of(lab).sentence["code"] == "kafka.restarting"
    )
    assert (consumer.incarnation, consumer.acked, consumer.state, consumer.joined_us) == (
        "c2~2",
        {},
        "live",
        lab.now_us,
    )
    assert paused(lab) == set(map(int, mine)) and set(lane_of(lab).traffic.by_node) == {"c1", "c2~2"}
    lab.advance_to(lab.now_us + 30 * SECOND)
    assert set((lane_of(lab).reads.units() or {}).values()) == {"c1", "c2"} and paused(lab) == set()


def test_static_member_restarts_under_its_instance_id() -> None:
    lab = group(static_members=True)
    event = told_of(order(lab, "group_restart", "c2"), "kafka.member.restarting")
    assert event["data"]["instance"] == "c2" and lane_of(lab).sentence["code"] == "kafka.restarting_static"


def test_restart_with_other_settings_keeps_them_for_the_lives_after_it_too() -> None:
    lab = group()
    order(lab, "group_restart", "c2", down_s=1, assignors=["sticky", "range"], seconds=5)
    assert state_of(lab, "c2").settings.assignors == ["sticky", "range"]
    order(lab, "group_restart", "c2", down_s=1, seconds=5)
    assert state_of(lab, "c2").settings.assignors == ["sticky", "range"] and state_of(
        lab, "c1"
    ).settings.assignors == ["range"]
    order(lab, "crash", "c2", seconds=1)
    order(lab, "rejoin", "c2", seconds=1)
    assert (
        state_of(lab, "c2").settings.assignors == ["sticky", "range"]
        and lane_of(lab).consumers["c2"].incarnation == "c2~4"
    )


def test_assignor_of_ones_own_is_given_to_all_who_are_alive_and_to_whoever_comes_later() -> None:
    lab = group(consumers=3)
    order(lab, "group_restart", "c1", down_s=1, assignors=["sticky"], seconds=2)
    order(lab, "crash", "c3")
    told = order(lab, "group_assignor", source=SOURCE)
    assert [event["data"]["consumer"] for event in told if event["kind"] == "kafka.member.restarting"] == [
        "c1",
        "c2",
    ]
    order(lab, "join", "late", seconds=3)
    for name in ("c1", "c2", "late"):
        assert (
            state_of(lab, name).settings.assignors == ["custom"]
            and state_of(lab, name).settings.assignor_source == SOURCE
        )
    order(lab, "group_assignor", seconds=3)
    assert (
        lane_of(lab).set_to == {}
        and [state_of(lab, name).settings.assignors for name in ("c1", "c2", "late")] == [["range"]] * 3
    )


@pytest.mark.parametrize(
    ("args", "topics", "pattern", "told"),
    [
        ({"topics": ["t"]}, ["t"], None, ["t"]),
        ({"pattern": "t.*"}, [], "t.*", "t.*"),
        ({"topics": ["t", "records"]}, ["t", "records"], None, ["t", "records"]),
    ],
)
def test_new_subscription_is_told_and_kept_for_the_next_lives(
    args: dict[str, Any], topics: list[str], pattern: str | None, told: Any
) -> None:
    lab = group(more_topics=[{"name": "t", "partitions": 1}])
    event = told_of(order(lab, "group_subscribe", "c2", **args), "kafka.member.subscribed")
    assert event["data"] == {"consumer": "c2", "topics": told}
    assert lane_of(lab).consumers["c2"].set_to == {"topics": topics, "pattern": pattern}
    order(lab, "group_restart", "c2", down_s=1, seconds=2)
    assert (state_of(lab, "c2").settings.topics, state_of(lab, "c2").settings.pattern) == (topics, pattern)


def test_crash_of_a_frozen_member_is_a_crash_as_any_other() -> None:
    lab = group(session_timeout_ms=8_000)
    order(lab, "group_freeze", "c2", seconds=1)
    order(lab, "crash", "c2")
    consumer = lane_of(lab).consumers["c2"]
    assert (
        consumer.state == "crashed"
        and lane_of(lab).crash_positions == {"c2": 2}
        and consumer.deadline_us is not None
    )
    lab.advance_to(consumer.deadline_us + SECOND)
    assert consumer.state == "gone"
