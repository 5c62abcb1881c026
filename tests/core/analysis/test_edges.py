"""The formulas of a study where their inputs end: nobody, one, ties, windows whose edges meet."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.analysis.churn import churn_least, churn_so_far, moved_share
from broker_core.analysis.lag import drain_s, lag_peak, thinned
from broker_core.analysis.order import Flight, at_risk
from broker_core.analysis.pause import Stop, longest_us, stopped_us
from broker_core.analysis.skew import gini, p99, skew_milli
from broker_core.hashing.hash_range import moved_share as moved_slots
from broker_core.hashing.hash_range import taken_ranges

# -- skew ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loads", "skew", "unevenness", "high"),
    [
        ([7], 1000, 0.0, 1.0),
        ([0, 5], 2000, 0.5, 1.98),
        ([1, 1, 1], 1000, 0.0, 1.0),
        ([1, 0, 0], 3000, 2 / 3, 2.94),
        ([2, 1], 1333, 1 / 6, 1.99 / 1.5),
    ],
)
def test_few_consumers_are_measured_exactly(
    loads: list[int], skew: int, unevenness: float, high: float
) -> None:
    assert (
        skew_milli(loads) == skew
        and gini(loads) == pytest.approx(unevenness)
        and p99(loads) == pytest.approx(high)
    )


def test_p99_of_a_hundred_and_one_is_the_hundredth_and_the_busiest_alone_does_not_count() -> None:
    assert p99([1] * 99 + [50, 9_999]) == pytest.approx(50 * 101 / (99 + 50 + 9_999))


# -- churn ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "least"),
    [
        ([], 0),
        ([["a"]], 0),
        ([["a"], ["a"]], 0),
        ([["a"], ["b"]], 1),
        ([["a", "b"], ["b", "a"]], 0),
        ([["a"], ["a", "b"]], 1 / 2),
        ([["a", "b"], ["a", "c"]], 1 / 2),
        ([["a", "b", "c", "d"], ["a"]], 3 / 4),
        ([[], ["a"], ["b"]], 1),
    ],
)
def test_least_churn_is_what_even_shares_cannot_keep(members: list[list[str]], least: float) -> None:
    assert churn_least(members) == pytest.approx(least)


def test_share_of_nothing_is_unknown_and_a_step_without_one_adds_nothing() -> None:
    assert moved_share(0, 5) == 0 and moved_share(5, 5) == 1 and moved_share(3, 0) is None
    assert churn_so_far([]) == [] and churn_so_far([0.0, None, 0.5]) == [0.0, 0.0, 0.5]


# -- lag -----------------------------------------------------------------------------------------------------


def test_backlog_that_has_two_peaks_is_drained_after_the_later_one() -> None:
    assert drain_s([(0, 9), (1, 2), (2, 9), (3, 8), (4, 2)], 2) == 4
    assert drain_s([(0, 9), (1, 2)], 9) == 0 and drain_s([(0, 9), (1, 2)], 8) == 1
    assert drain_s([(0, 0)], 0) == 0 and drain_s([(0, 1)], 0) is None and lag_peak([(0, 0)]) == 0


@pytest.mark.parametrize(
    ("count", "points"),
    [
        (2, [(0, 1), (5, 2)]),
        (3, [(0, 1), (2, 9), (5, 2)]),
        (4, [(0, 1), (2, 9), (3, 8), (5, 2)]),
        (6, None),
        (9, None),
    ],
)
def test_thinned_curve_keeps_its_ends_and_the_highest_of_each_stretch(
    count: int, points: list[tuple[int, int]] | None
) -> None:
    curve = [(0, 1), (1, 3), (2, 9), (3, 8), (4, 7), (5, 2)]
    assert thinned(curve, count) == (curve if points is None else points)


# -- order ---------------------------------------------------------------------------------------------------


def test_end_of_a_flight_is_exclusive() -> None:
    first = Flight(1, "c1", 0, 10)
    assert at_risk([first, Flight(1, "c2", 10, 20)]) == [] and at_risk(
        [first, late := Flight(1, "c2", 9, 20)]
    ) == [late]


def test_third_consumers_flight_is_at_risk_from_either_of_the_others() -> None:
    long, short = Flight(1, "c1", 0, 100), Flight(1, "c2", 10, 20)
    third, same = Flight(1, "c3", 50, 60), Flight(1, "c1", 15, 30)
    assert at_risk([long, short, same, third]) == [short, same, third]
    assert at_risk([long, Flight(1, "c1", 5, 200), Flight(1, "c2", 150, 160)]) == [
        Flight(1, "c2", 150, 160)
    ], "its longest counts"


def test_those_at_risk_come_by_the_time_they_were_sent_whatever_their_keys() -> None:
    flights = [
        Flight(key, consumer, sent, sent + 50)
        for key, consumer, sent in ((2, "c1", 0), (1, "c1", 1), (2, "c2", 9), (1, "c2", 5))
    ]
    assert [flight.sent_us for flight in at_risk(flights)] == [5, 9] and at_risk([]) == []


# -- pauses --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "stopped", "longest"),
    [
        ((0, 10), 0, 0),
        ((10, 20), 10, 30),
        ((39, 41), 1, 0),
        ((40, 90), 0, 0),
        ((9, 11), 1, 30),
        ((0, 100), 30, 30),
        ((11, 12), 1, 0),
    ],
)
def test_window_takes_what_falls_into_it_and_the_longest_that_began_in_it(
    window: tuple[int, int], stopped: int, longest: int
) -> None:
    stops = [Stop("0", 10, 40)]
    assert stopped_us(stops, *window) == stopped and longest_us(stops, *window) == longest


# -- slots that changed hands --------------------------------------------------------------------------------


@given(st.sets(st.integers(0, 62), min_size=1, max_size=8), st.integers(0, 63))
@settings(max_examples=50)
def test_turning_every_owner_moves_everything_and_none_moves_nothing(cuts: set[int], first_slot: int) -> None:
    bounds = [*sorted(cuts), 63]
    owners, others = (
        [f"c{place}" for place in range(len(bounds))],
        [f"d{place}" for place in range(len(bounds))],
    )
    assert moved_slots((bounds, owners), (bounds, others), 64, first_slot) == 1
    assert moved_slots((bounds, owners), (bounds, owners[:]), 64, first_slot) == 0
    assert moved_slots((bounds, owners), ([], []), 64, first_slot) == 1, "nobody is an owner of its own"


def test_shared_points_count_slot_by_slot() -> None:
    two, turned, one = ([15], [("a", "b")]), ([15], [("b", "a")]), ([15], ["a"])
    assert moved_slots(two, turned, 16) == 1 and moved_slots(two, one, 16) == Fraction(1, 2)
    assert moved_slots(([15], [("a", "b", "c")]), two, 16) == Fraction(
        sum("abc"[s % 3] != "ab"[s % 2] for s in range(16)), 16
    )


def test_ranges_taken_from_several_owners_are_told_for_each_and_what_they_were_given_with_the_arguments_turned() -> (
    None
):
    before, after = (
        {"a": [(0, 9), (20, 29)], "b": [(10, 19)]},
        {"a": [(0, 4), (6, 6)], "b": [(10, 29)], "c": [(5, 5), (7, 9)]},
    )
    assert taken_ranges(before, after) == {"a": [(5, 5), (7, 9), (20, 29)]}
    assert taken_ranges(after, before) == {"b": [(20, 29)], "c": [(5, 5), (7, 9)]}
