"""Pause, resume and slow, and the lab's own clock, against a page."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.limits import Limits
from tests.core.lab.commands.pages import STATES, made, misread, of_model, page, refused

HELD = {
    "crashed": "has crashed",
    "gone": "has crashed",
    "frozen": "is frozen",
    "stuck": "is stuck in a record",
}


@pytest.mark.parametrize("kind", ["pause", "resume", "slow"])
@pytest.mark.parametrize("state", HELD)
def test_program_that_is_not_there_to_listen_takes_no_order_about_its_pace(kind: str, state: str) -> None:
    answer = refused(page(one=of_model("rabbitmq", *STATES)), kind, state)
    assert answer is not None and answer[0] == "consumer" and f"{state} {HELD[state]}" in answer[1]


@pytest.mark.parametrize(
    ("kind", "who", "reason"),
    [
        ("pause", "live", None),
        ("pause", "paused", "paused is already paused"),
        ("pause", "slow", None),
        ("resume", "live", "live is neither paused nor slow"),
        ("resume", "paused", None),
        ("resume", "slow", None),
        ("slow", "live", None),
        ("slow", "paused", None),
        ("slow", "slow", None),
    ],
)
def test_what_makes_sense_for_a_working_paused_and_slow_one(kind: str, who: str, reason: str | None) -> None:
    assert refused(page(one=of_model("rabbitmq", *STATES, "slow")), kind, who) == (
        None if reason is None else ("consumer", reason)
    )


def test_pace_in_records_a_second_has_the_labs_limits_and_a_default() -> None:
    assert made("slow", "c1").args() == {"rate": 2}
    assert misread("slow", "c1", rate=0) == ("args.rate", "must be a whole number from 1 to 100000")
    assert misread("slow", "c1", rate=100_000) is None
    with pytest.raises(CommandError, match="from 1 to 4"):
        made("slow", "c1", limits=Limits(service_per_second_max=4), rate=5)


@pytest.mark.parametrize(
    ("asked", "speed"), [(0.1, 0.1), (20, 20.0), (1.23456, 1.235), (0.0999, 0.1), (20.0004, 20.0)]
)
def test_speed_is_kept_in_thousandths(asked: float, speed: float) -> None:
    assert made("speed", speed=asked).args() == {"speed": speed}


@pytest.mark.parametrize("asked", [0.0994, 20.001, 0, -1, True, "2", None, float("inf")])
def test_speed_out_of_range_or_no_number_is_refused(asked: object) -> None:
    assert misread("speed", speed=asked) == ("args.speed", "must be a number from 0.1 to 20")
    assert misread("speed", speed=1, at_changes=asked or 0) == (
        "args.at_changes",
        "must be a number from 0.1 to 20",
    )


def test_a_step_is_for_a_clock_that_stands_and_the_other_orders_come_at_any_time() -> None:
    lane = of_model("rabbitmq", "c1")
    assert refused(page(one=lane, is_playing=True), "step") == ("kind", "pause the lab before you step")
    assert refused(page(one=lane), "step") is None
    for is_playing in (True, False):
        assert [refused(page(one=lane, is_playing=is_playing), kind) for kind in ("play", "pause_lab")] == [
            None,
            None,
        ]
