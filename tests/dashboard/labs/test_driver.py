"""One lab's runner without a shard: this wall time has passed, so much virtual time follows, this frame and
these rows come of it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from dashboard.labs import driver as module
from dashboard.labs import writes
from dashboard.labs.pace import timed
from dashboard.models import StoredCommand
from tests.dashboard.labs.driven import SMALL, Clock, Driven

pytestmark = pytest.mark.django_db


SECOND = 1_000_000


# -- time ----------------------------------------------------------------------------------------------------


def test_virtual_time_follows_the_wall_clock_at_the_labs_speed(playing: Driven) -> None:
    start_us = playing.driver.core.now_us
    assert playing.advance(0.5) and playing.driver.core.now_us == start_us + SECOND // 2
    playing.handle(playing.order("speed", speed=4))
    playing.store()
    start_us = playing.driver.core.now_us
    playing.advance(0.25)
    assert playing.driver.core.now_us == start_us + SECOND, "the new speed counts from its order on"


def test_a_change_sets_another_pace_from_where_it_begins_and_the_old_one_from_its_end(clock: Clock) -> None:
    kafka = scenario_from_json({**SMALL, "lanes": [{"model": "kafka"}]})
    playing = Driven(clock, scenario=scenario_to_json(kafka)).play()
    for _ in range(20):
        playing.advance(1.0)
        playing.store()
    playing.handle(playing.order("speed", speed=4, at_changes=0.1))
    playing.store()
    core = playing.driver.core
    playing.handle(playing.order("join"))
    playing.store()
    assert core.pace_milli == 100
    start_us = core.now_us
    playing.advance(0.5)
    assert core.now_us == start_us + SECOND // 20
    turns = []
    for _ in range(400):
        pace, before_us = core.pace_milli, core.now_us
        playing.advance(0.1)
        playing.store()
        if core.pace_milli == pace:
            assert abs(core.now_us - before_us - pace * 100) < 3, (
                "each tenth of a second at its pace, nothing owed"
            )
        else:
            turns.append(core.pace_milli)
    assert turns == [4_000]


def test_a_paused_lab_owes_nothing_when_it_plays_again(clock: Clock) -> None:
    lab = Driven(clock)
    assert lab.advance(60) and lab.driver.core.now_us == 0
    lab.play()
    start_us = lab.driver.core.now_us
    assert start_us < SECOND
    lab.advance(0.125)
    assert lab.driver.core.now_us == start_us + SECOND // 8


def test_no_lab_goes_past_its_floor_and_the_floor_is_moved_before_it_is_reached(playing: Driven) -> None:
    start_us = playing.driver.core.now_us
    assert playing.driver.floor_us == start_us + 1_500_000
    playing.advance(1.0)
    _frame, commit = playing.store()
    assert commit is not None and commit.clock_floor_us == start_us + 2_500_000
    assert playing.advance(9.0), "nothing more to do than the floor allows"
    assert playing.driver.core.now_us == start_us + 2_500_000
    playing.row.refresh_from_db()
    assert playing.row.clock_floor_us == playing.driver.floor_us


def test_a_lab_that_cannot_keep_up_says_so_and_forgets_what_it_owes_beyond_two_seconds(
    playing: Driven, clock: Clock
) -> None:
    playing.advance(5.0)
    assert playing.driver.behind_ms == 3_500
    playing.store()
    before_us = playing.driver.core.now_us
    assert playing.advance(0.0) and playing.driver.core.now_us == before_us + 1_500_000, "up to the new floor"
    assert playing.driver.behind_ms == 500
    playing.store()
    playing.advance(0.0)
    assert playing.driver.core.now_us == before_us + 2 * SECOND and playing.driver.behind_ms == 0, (
        "two seconds, and no more"
    )


def test_a_lab_that_keeps_its_pace_after_a_stall_is_not_behind_for_ever(
    playing: Driven, clock: Clock
) -> None:
    """A busy machine: it stood for a second and a half, and from then on has time for its own pace and for
    nothing beyond it."""
    whole(playing.driver.advance(clock, 0.0))
    clock.now_s += 1.5
    shown = [keep_pace(playing, clock, pace=1.0) for _tenth in range(70)]
    assert shown[0] == 1_500 and shown[-1] == 0 and shown.index(0) <= 61
    before_us, began_s = playing.driver.core.now_us, clock.now_s
    for _tenth in range(20):
        keep_pace(playing, clock, pace=1.0)
    assert playing.driver.core.now_us - before_us == pytest.approx((clock.now_s - began_s) * SECOND, rel=0.01)


def test_a_lab_that_cannot_keep_up_stays_behind(playing: Driven, clock: Clock) -> None:
    shown = [keep_pace(playing, clock, pace=0.5) for _tenth in range(300)]
    assert min(shown[50:]) >= 1_500


def keep_pace(playing: Driven, clock: Clock, pace: float) -> int:
    """A tenth of a second in which the processor does `pace` of what is asked for it. What the lab says then
    about being behind."""
    driver = playing.driver
    clock.now_s += 0.1
    goal_us = driver.core.now_us + int(0.1 * SECOND * pace)
    driver.floor_us = min(driver.floor_us, goal_us)  # as far as its turns got
    whole(driver.advance(clock, 10.0))
    playing.store()
    return driver.behind_ms


def test_a_lab_that_is_behind_and_pauses_owes_nothing_in_any_frame(playing: Driven) -> None:
    playing.advance(2.8)
    assert playing.driver.behind_ms == 1_300
    playing.store()
    playing.handle(playing.order("pause_lab"))
    _frame, commit = playing.store()
    assert commit is not None and json.loads(commit.view_text)["feed"]["behind_ms"] == 0


def test_the_last_frame_before_a_rest_is_stored_within_a_second(playing: Driven, clock: Clock) -> None:
    """A page that is opened later is sent what is stored, and nothing follows it."""
    playing.handle(playing.order("pause_lab"))
    playing.store()
    playing.driver.panels.watched = frozenset({"cluster"})
    frame, commit = playing.store()
    assert frame is not None and commit is None
    assert playing.store() == (None, None)
    playing.advance(1.0)
    frame, commit = playing.store()
    assert frame is None and commit is not None and json.loads(commit.view_text) == playing.driver.view
    playing.advance(5.0)
    assert playing.store() == (None, None), "once"


@pytest.mark.parametrize(("late_s", "shown_ms"), [(0.24, 0), (0.26, 300), (1.04, 1_000), (1.06, 1_100)])
def test_less_than_a_frames_beat_is_not_called_behind(playing: Driven, late_s: float, shown_ms: int) -> None:
    playing.advance(1.5 + late_s)
    assert playing.driver.behind_ms == shown_ms


def test_a_turn_whose_time_is_over_says_that_there_is_more_to_do(playing: Driven, clock: Clock) -> None:
    clock.step_s = 0.004
    assert not playing.advance(1.4, budget_s=0.01)
    clock.step_s = 0.0
    between_us = playing.driver.core.now_us
    assert 0 < between_us < 1_400_000 and playing.advance(0.0) and playing.driver.core.now_us > between_us


@pytest.mark.parametrize(
    ("took_s", "slices"), [(0.021, [125_000, 62_500]), (0.01, [250_000, 250_000]), (0.004, [500_000, SECOND])]
)
def test_the_next_slice_is_such_that_it_takes_about_ten_milliseconds(
    playing: Driven, took_s: float, slices: list[int]
) -> None:
    driver, seen = playing.driver, []
    driver._slice_us = 250_000
    for _slice in slices:
        before_us = driver.core.now_us - driver._slice_us
        driver._pace(before_us, took_s)
        seen.append(driver._slice_us)
    assert seen == slices


def test_a_slice_is_never_shorter_than_ten_milliseconds_nor_grows_beyond_a_minute(playing: Driven) -> None:
    driver = playing.driver
    driver._slice_us = 15_000
    driver._pace(driver.core.now_us - 15_000, 1.0)
    assert driver._slice_us == 10_000
    driver._slice_us = 60 * SECOND
    driver._pace(driver.core.now_us, 0.0)
    assert driver._slice_us == 60 * SECOND


def test_work_is_timed_without_the_stops_in_between(clock: Clock) -> None:
    def pieces() -> Iterator[None]:
        clock.now_s += 1
        yield
        clock.now_s += 2
        yield
        clock.now_s += 4
        return "answer"  # type: ignore[return-value]

    work, stops = timed(pieces(), clock), 0  # type: ignore[arg-type]
    while True:
        try:
            next(work)
        except StopIteration as end:
            assert end.value == ("answer", 7) and stops == 2
            break
        clock.now_s += 100
        stops += 1


# -- commands ------------------------------------------------------------------------------------------------


def test_orders_are_decided_in_their_order_and_a_refusal_is_told_in_both_languages(playing: Driven) -> None:
    driver = playing.driver
    orders = [playing.order("join", "c9"), playing.order("crash", "nobody"), playing.order("leave", "c9")]
    decided, refusals = playing.handle(*orders)
    assert decided == 3 and [decision.command for decision in driver.decisions] == orders
    assert [decision.refusal and list(decision.refusal) for decision in driver.decisions] == [
        None,
        ["consumer"],
        None,
    ]
    [refusal] = refusals
    assert (refusal["seq"], refusal["kind"], refusal["cause"]) == (
        None,
        "lab.command_refused",
        {"command": orders[1].position},
    )
    data = refusal["data"]
    assert data["command_id"] == orders[1].command_id and data["fields"] == driver.decisions[1].refusal
    assert (
        "nobody" in data["words"]["en"]
        and "nobody" in data["words"]["zh-hans"]
        and data["words"]["en"] != data["words"]["zh-hans"]
    )


def test_after_an_order_to_the_brokers_a_moment_passes_also_in_a_paused_lab(clock: Clock) -> None:
    lab = Driven(clock)
    lab.handle(lab.order("pause_lab"))
    assert lab.driver.core.now_us == 0, "an order to the clock goes nowhere"
    lab.handle(lab.order("join"))
    assert 0 < lab.driver.core.now_us <= module.EFFECT_US_MAX and not lab.driver.core.playing


def test_one_order_at_least_is_decided_however_short_the_time(playing: Driven, clock: Clock) -> None:
    orders = [playing.order("join") for _order in range(6)]
    clock.step_s = 0.01
    decided, _refusals = playing.handle(*orders, budget_s=0.0)
    assert decided == 1 and [decision.command for decision in playing.driver.decisions] == orders[:1]
    decided, _refusals = playing.handle(*orders[1:], budget_s=0.025)
    assert decided == 3


def test_what_a_refused_order_changes_is_nothing(playing: Driven) -> None:
    before = playing.driver.core.view()
    playing.handle(playing.order("crash", "nobody"))
    assert playing.driver.core.view() == before


# -- the script ----------------------------------------------------------------------------------------------


def join_at(at_us: int, name: str) -> dict[str, Any]:
    return {
        "at_us": at_us,
        "body": {
            "command_id": f"study:{name}",
            "kind": "join",
            "lane": "all",
            "consumer": name,
            "args": {"count": 1},
        },
    }


def test_a_lab_waits_at_the_time_of_its_script_until_that_is_decided(clock: Clock) -> None:
    lab = Driven(clock, script=[join_at(300_000, "x"), join_at(300_000, "y"), join_at(900_000, "z")]).play()
    assert not lab.driver.follow_script(), "it is not time"
    lab.advance(0.5)
    assert lab.driver.core.now_us == 300_000
    assert lab.driver.follow_script() and not lab.driver.follow_script()
    lab.advance(0.1)
    assert lab.driver.core.now_us == 300_000, "accepted is not decided"
    lab.handle(*writes.commands_waiting(lab.row.pk))
    assert [decision.at_us for decision in lab.driver.decisions] == [300_000, 300_000]
    lab.store()
    lab.advance(0.4)
    assert 300_000 < lab.driver.core.now_us <= 900_000
    assert [entry["body"]["consumer"] for entry in lab.driver.script] == ["z"]


def test_the_floor_is_not_set_beyond_what_the_script_orders(clock: Clock) -> None:
    lab = Driven(clock, script=[join_at(700_000, "x")]).play()
    assert lab.driver.floor_us == 700_000


def test_an_entry_whose_id_is_taken_does_not_hold_the_lab(clock: Clock) -> None:
    lab = Driven(clock, script=[join_at(100_000, "x")]).play()
    StoredCommand.objects.create(lab=lab.row, command_id="study:x", position=50, body={})
    lab.advance(0.2)
    assert lab.driver.follow_script() and lab.driver.holds == {}
    lab.store()
    lab.advance(0.2)
    assert lab.driver.core.now_us > 100_000
