"""What is reported of a RabbitMQ lane: a small lab for each thing that can happen, and the sentence that it
leaves."""

from typing import Any

import pytest

from broker_core.lab.lab import Lab
from tests.core.lab.small import SECOND, lab_of, lane_of, order

Step = tuple[str, str | None, float, dict[str, Any]]
GIVEN_UP_S = 181
"""Heartbeats of 60 s: a silent connection is dropped at the second check that heard nothing, after three at
most."""


def lived(consumers: int, *steps: Step) -> Lab:
    lab = lab_of("rabbitmq", consumers=consumers, rate=4, seconds=3)
    for kind, consumer, seconds, args in steps:
        order(lab, kind, consumer, seconds, **args)
    return lab


def step(kind: str, consumer: str | None = None, seconds: float = 1, **args: Any) -> Step:
    return kind, consumer, seconds, args


@pytest.mark.parametrize(
    ("consumers", "steps", "code", "params"),
    [
        (0, [step("join")], "join_first", {"consumer": "c1", "count": 1}),
        (0, [step("join", count=3)], "join_first_many", {"consumer": "c1", "count": 3}),
        (2, [step("join")], "join", {"consumer": "c3", "count": 1}),
        (2, [step("join", count=2)], "join_many", {"consumer": "c3", "count": 2}),
        (2, [step("leave", "c1")], "leave", {"consumer": "c1"}),
        (1, [step("leave", "c1")], "leave_last", {"consumer": "c1"}),
        (2, [step("crash", "c1")], "crash_pending", {"consumer": "c1"}),
        (2, [step("crash", "c1", GIVEN_UP_S)], "crash_noticed", {"consumer": "c1"}),
        (1, [step("crash", "c1", GIVEN_UP_S)], "crash_noticed_last", {"consumer": "c1"}),
        (2, [step("crash", "c1"), step("rejoin", "c1", GIVEN_UP_S)], "ghost_noticed", {"consumer": "c1"}),
        (2, [step("crash", "c1"), step("leave", "c1")], "leave", {"consumer": "c1"}),
        (2, [step("pause", "c1")], "paused", {"consumer": "c1", "rate": 10}),
    ],
)
def test_sentence_after_each_change(
    consumers: int, steps: list[Step], code: str, params: dict[str, Any]
) -> None:
    sentence = lane_of(lived(consumers, *steps)).sentence
    assert sentence["code"] == f"rabbitmq.{code}" and params.items() <= sentence["params"].items()


def test_one_who_is_gone_is_cleared_away_with_a_sentence_of_all_models() -> None:
    assert lane_of(lived(2, step("crash", "c1", GIVEN_UP_S), step("leave", "c1"))).sentence == {
        "code": "left_gone",
        "params": {"consumer": "c1"},
    }


def test_leaver_gives_back_what_the_sentence_says() -> None:
    lab = lived(2, step("pause", "c1", 4))
    held = lane_of(lab).reads.held(lane_of(lab).consumers["c1"])
    order(lab, "leave", "c1", seconds=1)
    assert (
        held > 0
        and lane_of(lab).sentence["params"]["redelivered"] == held == lane_of(lab).reads.redelivered()
    )


def test_given_up_connection_tells_what_it_held() -> None:
    lab = lived(2, step("pause", "c1", 4), step("resume", "c1", 0), step("crash", "c1", 5))
    held = lane_of(lab).reads.held(lane_of(lab).consumers["c1"])
    lab.advance_to(lab.now_us + GIVEN_UP_S * SECOND)
    assert lane_of(lab).sentence["params"]["unacked"] == held > 0


def test_while_its_former_connection_holds_messages_the_sentence_of_one_who_came_back_says_so_and_when_it_ends() -> (
    None
):
    lab = lived(2, step("crash", "c1", 3), step("rejoin", "c1"))
    lane = lane_of(lab)
    now = lane.narrator.sentence_now(lane)
    assert lane.sentence["code"] == "rabbitmq.join" and now["code"] == "rabbitmq.join_former"
    assert now["params"]["former"] > 0 and now["params"]["deadline_us"] > lab.now_us
    lab.advance_to(now["params"]["deadline_us"] - 1)
    assert lane.narrator.sentence_now(lane)["code"] == "rabbitmq.join_former"
    lab.advance_to(now["params"]["deadline_us"] + SECOND)
    assert lane.narrator.sentence_now(lane)["code"] == "rabbitmq.ghost_noticed"


def test_sentence_of_somebody_else_says_nothing_of_a_former_connection() -> None:
    lab = lived(2, step("crash", "c1", 3), step("rejoin", "c1"), step("join"))
    assert (
        lane_of(lab).narrator.sentence_now(lane_of(lab)) == lane_of(lab).sentence
        and lane_of(lab).sentence["params"]["consumer"] == "c3"
    )


def test_broker_that_passes_over_a_dead_consumer_is_told_apart_from_one_at_its_limit() -> None:
    """The broker cannot know; the person at the page does, so the lane says which of those it passed over are
    dead."""
    lab = lab_of("rabbitmq", algorithm="prefetch_1", consumers=3, rate=30, consumer_rate=2, seconds=3)
    order(lab, "crash", "c1", seconds=1)
    told = order(lab, "leave", "c3", seconds=1) + order(lab, "join", seconds=2)
    skipped = [over for event in told for over in event["data"].get("skipped", [])]
    assert {(over["consumer"], over.get("dead")) for over in skipped} == {
        ("c1", True),
        ("c2", None),
        ("c4", None),
    }


def test_join_amid_a_crash_that_nobody_noticed_is_not_the_first() -> None:
    lab = lived(1, step("crash", "c1"), step("join"))
    assert lane_of(lab).sentence["code"] == "rabbitmq.join_first", "the dead one serves nobody"
