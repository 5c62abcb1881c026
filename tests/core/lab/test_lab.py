"""A lab as it is ordered about: names, caption, timeline and history of what was ordered, and what a refusal
leaves unchanged."""

from typing import Any

import pytest

from broker_core.errors import CommandError, ReplayError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.view import TIMELINE_SHOWN
from tests.core.lab.small import SECOND, lab_of, order

TWO = {
    "lanes": [{"model": "rabbitmq"}, {"model": "tubemq"}],
    "consumers": 2,
    "workload": {"kind": "uniform", "keys": 5, "rate": 5},
}


def two_lanes() -> Lab:
    return Lab(scenario_from_json(TWO))


def submit(
    lab: Lab, kind: str, consumer: str | None = None, lane: str = "all", name: str = "x", **args: Any
) -> list[Any]:
    return lab.submit({"command_id": name, "kind": kind, "lane": lane, "consumer": consumer, "args": args})


def test_at_its_beginning_it_speaks_of_those_who_are_there() -> None:
    lab = two_lanes()
    assert lab.caption == {"code": "start", "params": {"count": 2}} and lab.seen == {"c1": 1, "c2": 2}
    assert Lab(scenario_from_json({**TWO, "consumers": 0})).caption == {
        "code": "start",
        "params": {"count": 0},
    }


def test_newcomers_take_the_first_names_that_nobody_ever_had() -> None:
    lab = two_lanes()
    submit(lab, "join", "c4")
    submit(lab, "leave", "c1")
    submit(lab, "join", count=3)
    assert list(lab.seen) == ["c1", "c2", "c4", "c3", "c5", "c6"]


def test_one_who_comes_again_under_its_name_has_its_colour() -> None:
    lab = two_lanes()
    submit(lab, "join", "x")
    submit(lab, "leave", "c1")
    submit(lab, "join", "c1")
    assert lab.seen["c1"] == 1 and all(lane.consumers["c1"].color == 1 for lane in lab.lanes.values())


def test_caption_of_several_newcomers_names_the_first_and_the_last() -> None:
    lab = two_lanes()
    submit(lab, "join", count=3, lane="tubemq")
    assert lab.caption == {
        "code": "join",
        "params": {"count": 3, "consumer": "c5", "first": "c3", "lane": "tubemq"},
    }
    assert lab.timeline[1] == {
        "at_us": 0,
        "kind": "join",
        "consumer": "c5",
        "color": 5,
        "count": 3,
        "lane": "tubemq",
    }


def test_consumer_that_joined_by_the_demo_itself_is_told_as_such() -> None:
    lab = two_lanes()
    submit(lab, "join", name="demo:join")
    assert lab.caption["params"]["by"] == "demo" and lab.timeline[1]["by"] == "demo"
    submit(lab, "crash", "c3", name="demo:join")
    assert "by" not in lab.caption["params"] and "by" not in lab.timeline[2]


@pytest.mark.parametrize(
    ("kind", "before", "meaning"),
    [("resume", "slow", {"full_speed": True}), ("resume", "pause", {}), ("leave", None, {})],
)
def test_caption_knows_what_an_order_means_for_the_consumer_as_it_is(
    kind: str, before: str | None, meaning: dict[str, bool]
) -> None:
    lab = two_lanes()
    if before is not None:
        submit(lab, before, "c1")
    submit(lab, kind, "c1")
    assert {
        name: value for name, value in lab.caption["params"].items() if name in ("full_speed", "gone")
    } == meaning


def test_clearing_away_one_who_is_gone_is_another_matter_than_a_leave() -> None:
    lab = lab_of("rabbitmq", seconds=1)
    order(lab, "crash", "c1", seconds=200)
    order(lab, "leave", "c1")
    assert lab.caption["params"]["gone"] is True and lab.timeline[2]["gone"] is True


def test_clock_is_no_part_of_the_story() -> None:
    lab = two_lanes()
    for kind in ("play", "pause_lab", "step"):
        submit(lab, kind)
    submit(lab, "speed", speed=2.5)
    assert (
        list(lab.timeline) == [0]
        and lab.caption["code"] == "start"
        and (lab.playing, lab.speed_milli) == (False, 2_500)
    )


def test_what_changes_who_gets_what_is_in_the_history_that_a_switched_lane_goes_through() -> None:
    lab = two_lanes()
    lab.advance_to(SECOND)
    submit(lab, "slow", "c1", rate=3)
    submit(lab, "set_algorithm", lane="rabbitmq", algorithm="prefetch_1")
    submit(lab, "play")
    entries = [
        (entry["position"], entry["at_us"], entry["names"], entry["command"]["kind"]) for entry in lab.history
    ]
    assert entries == [(0, 0, ["c1", "c2"], "join"), (1, SECOND, ["c1"], "slow")]


def test_timeline_keeps_all_orders_and_a_view_has_the_last() -> None:
    lab = lab_of("rabbitmq")
    for _ in range(TIMELINE_SHOWN + 3):
        order(lab, "slow", "c1")
    assert list(lab.timeline) == list(range(TIMELINE_SHOWN + 4))
    assert list(lab.view()["timeline"]) == [str(position) for position in range(4, TIMELINE_SHOWN + 4)]


@pytest.mark.parametrize("position", [3, 2, 0, -1])
def test_place_in_the_journal_that_is_not_after_the_last_is_refused(position: int) -> None:
    lab = two_lanes()
    lab.submit({"command_id": "x", "kind": "play", "position": 3})
    before = lab.checkpoint()
    with pytest.raises(CommandError, match="is not after 3") as refused:
        lab.submit({"command_id": "y", "kind": "play", "position": position})
    assert refused.value.field == "position" and lab.checkpoint() == before and lab.position == 3


def test_places_need_not_follow_one_another_and_without_one_it_is_the_next() -> None:
    lab = two_lanes()
    lab.submit({"command_id": "x", "kind": "play", "position": 7, "at_us": 0})
    submit(lab, "pause_lab")
    assert lab.position == 8


def test_turning_points_of_all_lanes_are_in_one_order_by_time_and_then_by_lane() -> None:
    lab = two_lanes()
    told = lab.advance_to(5 * SECOND) + submit(lab, "crash", "c1") + lab.advance_to(40 * SECOND)
    assert [event["seq"] for event in told] == list(range(told[0]["seq"], told[0]["seq"] + len(told)))
    order_of = {"rabbitmq": 0, "tubemq": 1}
    assert [(event["at_us"], order_of[event["lane"]]) for event in told] == sorted(
        (event["at_us"], order_of[event["lane"]]) for event in told
    )
    assert {event["lane"] for event in told} == {"rabbitmq", "tubemq"}


def test_step_leads_to_the_next_record() -> None:
    lab = two_lanes()
    lab.advance_to(100_000)
    count, arrival_us = lab.record_count, lab.next_arrival_us
    submit(lab, "step")
    assert (lab.now_us, lab.record_count) == (arrival_us, count + 1)


def test_order_for_one_lane_leaves_the_others_alone() -> None:
    lab = two_lanes()
    submit(lab, "leave", "c1", lane="tubemq")
    assert "c1" in lab.lanes["rabbitmq"].consumers and "c1" not in lab.lanes["tubemq"].consumers


def test_slowest_network_decides_how_long_an_answer_takes() -> None:
    lanes = [
        {"model": "rabbitmq", "network_delay_us": 10_000},
        {"model": "tubemq", "network_delay_us": 500_000},
    ]
    lab = Lab(scenario_from_json({**TWO, "lanes": lanes}))
    lab.advance_to(20 * SECOND)
    assert lab.answer_us == lab.lanes["tubemq"].answer_us == 1_100_000


@pytest.mark.parametrize("blob", [b"", b"{}", b"not a checkpoint", b"\x00" * 40])
def test_bytes_that_are_no_checkpoint_are_said_to_be_none(blob: bytes) -> None:
    with pytest.raises(ReplayError):
        Lab.restore(scenario_from_json(TWO), blob)


def test_order_rule_of_key_shared_outlives_another_algorithm_and_a_checkpoint() -> None:
    lab = lab_of("pulsar", seconds=1)
    lab.submit({"command_id": "a", "kind": "set_order", "lane": "pulsar", "args": {"order": "draining"}})
    lab.submit(
        {"command_id": "b", "kind": "set_algorithm", "lane": "pulsar", "args": {"algorithm": "auto_split"}}
    )
    for each in (lab, Lab.restore(lab.scenario, lab.checkpoint())):
        assert each.view()["lanes"]["pulsar"]["pulsar"]["order"] == "draining"
        with pytest.raises(CommandError, match="already runs draining"):
            each.submit(
                {"command_id": "c", "kind": "set_order", "lane": "pulsar", "args": {"order": "draining"}}
            )


def test_prefetch_of_its_own_belongs_to_the_algorithm_that_the_lane_began_with() -> None:
    lab = lab_of("rabbitmq", prefetch=3, seconds=1)
    assert lab.view()["lanes"]["rabbitmq"]["picture"]["prefetch"] == 3
    for algorithm, prefetch in (("prefetch_1", 1), ("prefetch_5", 3)):
        lab.submit(
            {
                "command_id": algorithm,
                "kind": "set_algorithm",
                "lane": "rabbitmq",
                "args": {"algorithm": algorithm},
            }
        )
        assert lab.view()["lanes"]["rabbitmq"]["picture"]["prefetch"] == prefetch
