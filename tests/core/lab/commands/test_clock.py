"""The lab's clock: it runs, pauses, and runs to a moment; what the lanes do stays the same."""

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import command_from_json
from broker_core.lab.lab import Lab
from tests.core.lab.small import SECOND, lab_of, order


def clock(lab: Lab) -> tuple[bool, int | None, int]:
    return lab.playing, lab.stop_us, lab.pace_milli


def test_a_lab_that_plays_to_a_moment_pauses_there_and_has_its_own_speed_again() -> None:
    lab = lab_of("rabbitmq")
    order(lab, "speed", speed=4)
    order(lab, "play_until", until_us=2 * SECOND, speed=0.1)
    assert clock(lab) == (True, 2 * SECOND, 100)
    lab.advance_to(2 * SECOND - 1)
    assert clock(lab) == (True, 2 * SECOND, 100)
    assert (lab.view()["stop_us"], lab.view()["speed"]) == (2 * SECOND, 0.1)
    lab.advance_to(2 * SECOND)
    assert clock(lab) == (False, None, 4_000) and lab.now_us == 2 * SECOND
    assert (lab.view()["playing"], lab.view()["stop_us"], lab.view()["speed"]) == (False, None, 4)


def test_without_a_speed_the_way_has_the_labs_own() -> None:
    lab = lab_of("rabbitmq")
    order(lab, "speed", speed=2)
    order(lab, "play_until", until_us=SECOND)
    assert clock(lab) == (True, SECOND, 2_000)


@pytest.mark.parametrize(
    ("kind", "args", "after"),
    [
        ("play", {}, (True, None, 1_000)),
        ("pause_lab", {}, (False, None, 1_000)),
        ("play_until", {"until_us": 9 * SECOND, "speed": 3}, (True, 9 * SECOND, 3_000)),
        # of what comes after the way
        ("speed", {"speed": 4}, (True, 5 * SECOND, 500)),
    ],
)
def test_the_next_order_to_the_clock_takes_the_place_of_a_way(
    kind: str, args: dict[str, Any], after: tuple[bool, int | None, int]
) -> None:
    lab = lab_of("rabbitmq")
    order(lab, "play_until", until_us=5 * SECOND, speed=0.5)
    order(lab, kind, **args)
    assert clock(lab) == after


def paces(lab: Lab, seconds: float) -> list[tuple[int, int]]:
    """(milliseconds from now, pace) wherever the pace turns."""
    start_us, found = lab.now_us, [(0, lab.pace_milli)]
    while lab.now_us < start_us + seconds * SECOND:
        lab.advance_to(lab.now_us + 10_000)
        if lab.pace_milli != found[-1][1]:
            found.append(((lab.now_us - start_us) // 1_000, lab.pace_milli))
    return found


def test_a_change_is_shown_in_slow_motion_until_all_is_served_again() -> None:
    lab = lab_of("kafka", algorithm="range", partitions=8, seconds=15)
    order(lab, "speed", speed=2, at_changes=0.1)
    assert paces(lab, 3) == [(0, 2_000)]
    order(lab, "join")
    assert lab.pace_milli == 100 and lab.view()["changing"]
    *_, (at_ms, pace) = paces(lab, 10)
    assert pace == 2_000 and 200 < at_ms < 5_000
    view = lab.view()
    assert (view["speed"], view["own_speed"], view["at_changes"], view["changing"]) == (2, 2, 0.1, False)


def test_a_crash_that_nobody_has_noticed_is_no_slow_motion() -> None:
    lab = lab_of("kafka", algorithm="range", partitions=8, seconds=15)
    order(lab, "speed", speed=4, at_changes=0.1)
    order(lab, "crash", "c2")
    found = paces(lab, 50)
    assert [pace for _, pace in found] == [100, 4_000, 100, 4_000]
    assert 1_900 < found[1][0] < 3_000 and found[2][0] > 40_000, "from the session timeout on"


def test_an_order_to_the_speed_alone_ends_slow_motion_and_a_way_has_its_own() -> None:
    lab = lab_of("kafka", seconds=5)
    order(lab, "speed", speed=2, at_changes=0.1)
    order(lab, "play_until", until_us=20 * SECOND, speed=3)
    order(lab, "join")
    assert lab.is_changing and lab.pace_milli == 3_000
    order(lab, "play")
    assert lab.pace_milli == 100
    order(lab, "speed", speed=2)
    assert lab.is_changing and lab.pace_milli == 2_000


def test_slow_motion_comes_through_a_checkpoint() -> None:
    lab = lab_of("kafka", seconds=5)
    order(lab, "speed", speed=2, at_changes=0.1)
    order(lab, "join", seconds=0.1)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    assert (again.pace_milli, again.is_changing) == (lab.pace_milli, lab.is_changing) == (100, True)


@pytest.mark.parametrize("until_us", [1, SECOND])
def test_a_moment_that_is_not_after_now_is_refused(until_us: int) -> None:
    lab = lab_of("rabbitmq")
    lab.advance_to(SECOND)
    before = lab.checkpoint()
    with pytest.raises(CommandError, match="must be after now, which is 1000000 us") as refused:
        order(lab, "play_until", until_us=until_us)
    assert refused.value.field == "args.until_us" and lab.checkpoint() == before


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({}, "args.until_us"),
        ({"until_us": "9"}, "args.until_us"),
        ({"until_us": 0}, "args.until_us"),
        ({"until_us": 10**16}, "args.until_us"),
        ({"until_us": 1.5}, "args.until_us"),
        ({"until_us": 9, "speed": 0}, "args.speed"),
        ({"until_us": 9, "speed": 21}, "args.speed"),
        ({"until_us": 9, "pace": 1}, "args.pace"),
    ],
)
def test_fields_of_a_way_are_checked(args: dict[str, Any], field: str) -> None:
    with pytest.raises(CommandError) as refused:
        command_from_json({"command_id": "x", "kind": "play_until", "args": args})
    assert refused.value.field == field


def test_a_way_changes_nothing_of_what_happens_and_a_checkpoint_on_it_goes_on_the_same() -> None:
    plain, driven = lab_of("kafka"), lab_of("kafka")
    plain.advance_to(8 * SECOND)
    order(driven, "play_until", until_us=3 * SECOND, speed=0.5)
    driven.advance_to(2 * SECOND)
    driven = Lab.restore(driven.scenario, driven.checkpoint())
    assert clock(driven) == (True, 3 * SECOND, 500)
    driven.advance_to(8 * SECOND)
    assert driven.view()["lanes"] == plain.view()["lanes"] and not driven.playing
