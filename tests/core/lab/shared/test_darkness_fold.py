"""The fold of darkness by hand: each span between two reports counts with what was dark in it, whoever looks
in between."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.shared.darkness import Darkness

REPORTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=1, max_size=12)


def folded(*reports: tuple[int, int], units: int = 10) -> Darkness:
    darkness = Darkness()
    for at_us, dark in reports:
        darkness.fold(at_us, dark, units)
    return darkness


@settings(max_examples=25)
@given(REPORTS, st.integers(0, 30))
def test_sum_is_what_was_dark_in_each_microsecond(steps: list[tuple[int, int]], rest_us: int) -> None:
    now_us, reports, expected, level = 0, list[tuple[int, int]](), 0, 0
    for wait_us, dark in steps:
        expected += level * wait_us
        now_us, level = now_us + wait_us, dark
        reports.append((now_us, dark))
    assert folded(*reports).unit_us_at(now_us + rest_us) == expected + level * rest_us


@settings(max_examples=25)
@given(REPORTS, st.integers(0, 12))
def test_saying_the_same_again_changes_no_figure(steps: list[tuple[int, int]], place: int) -> None:
    now_us, reports, doubled = 0, list[tuple[int, int]](), list[tuple[int, int]]()
    for number, (wait_us, dark) in enumerate(steps):
        if number == place and reports:
            doubled.append((now_us + wait_us // 2, reports[-1][1]))
        now_us += wait_us
        reports.append((now_us, dark))
        doubled.append((now_us, dark))
    once, twice = folded(*reports), folded(*doubled)
    assert once.unit_us_at(now_us + 7) == twice.unit_us_at(now_us + 7)
    assert (once.began_us, once.level_us, once.dark) == (twice.began_us, twice.level_us, twice.dark)


def test_it_began_when_the_first_unit_went_dark_and_more_or_less_of_it_is_no_new_beginning() -> None:
    darkness = folded((0, 0), (5, 3), (9, 1), (12, 4))
    assert (darkness.began_us, darkness.level_us) == (5, 12)


def test_after_all_was_served_it_begins_anew() -> None:
    darkness = folded((5, 3), (8, 0))
    assert darkness.began_us is None
    darkness.fold(20, 1, 10)
    assert darkness.began_us == 20


def test_level_is_as_old_as_the_last_report_that_changed_it() -> None:
    assert folded((5, 3), (9, 3), (14, 3)).level_us == 5


def test_mean_is_over_the_units_there_are_now_rounded_down() -> None:
    darkness = folded((0, 1), (10, 0), units=3)
    assert darkness.unit_us_at(100) == 10 and darkness.mean_us_at(100) == 3
    darkness.fold(100, 0, 6)  # the topic has grown
    assert darkness.mean_us_at(100) == 1


def test_lane_without_units_has_no_mean_and_does_not_divide_by_nothing() -> None:
    assert Darkness().mean_us_at(50) == 0
    assert folded((0, 0), units=0).mean_us_at(9) == 0


def test_asking_for_a_later_moment_counts_the_present_darkness_on_and_keeps_nothing() -> None:
    darkness = folded((10, 2))
    assert [darkness.unit_us_at(at_us) for at_us in (10, 15, 11)] == [0, 10, 2]
    assert darkness.unit_us == 0
