"""The formulas of a study: worked numbers, and the laws that hold for any."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.analysis.churn import churn_least, churn_so_far, moved_share
from broker_core.analysis.lag import drain_s, lag_peak, thinned
from broker_core.analysis.order import Flight, at_risk
from broker_core.analysis.pause import Stop, longest_us, stopped_us
from broker_core.analysis.skew import gini, p99, skew_milli

LOADS = st.lists(st.integers(0, 10**9), min_size=1, max_size=40)


# -- skew ----------------------------------------------------------------------------------------------------


def test_skew_of_the_worked_example_is_the_busiest_over_the_mean():
    assert skew_milli([12, 8, 4]) == 1500  # mean 8
    assert skew_milli([5, 5, 5]) == 1000
    assert skew_milli([0, 0]) is None and skew_milli([]) is None


def test_gini_of_known_incomes():
    assert gini([1, 1, 1, 1]) == 0
    assert gini([1, 2, 3, 4]) == 0.25  # mean difference 1.25, mean 2.5
    assert gini([0, 0, 0, 10]) == 0.75
    assert gini([]) is None


def test_p99_is_what_all_but_one_in_a_hundred_stay_below():
    hundred_and_one = [10] * 99 + [20, 500]
    assert p99(hundred_and_one) == pytest.approx(20 * 101 / sum(hundred_and_one))
    assert p99([1, 3]) == pytest.approx((1 + 2 * 0.99) / 2)
    assert p99([0]) is None


@given(LOADS, st.integers(2, 9))
def test_evenness_does_not_depend_on_scale_or_order_and_keeps_its_bounds(loads, times):
    if not sum(loads):
        assert gini(loads) is None and p99(loads) is None and skew_milli(loads) is None
        return
    count = len(loads)
    assert gini([times * load for load in reversed(loads)]) == pytest.approx(gini(loads), abs=1e-9)
    assert -1e-12 <= gini(loads) <= (count - 1) / count + 1e-12
    assert 1000 <= skew_milli(loads) <= 1000 * count
    assert p99(loads) <= (skew_milli(loads) + 1) / 1000


@given(LOADS)
def test_gini_is_half_the_mean_difference_over_the_mean(loads):
    if sum(loads):
        differences = sum(abs(one - other) for one in loads for other in loads)
        assert gini(loads) == pytest.approx(differences / (2 * len(loads) * sum(loads)), abs=1e-9)


# -- churn ---------------------------------------------------------------------------------------------------


def test_four_to_eight_and_back_with_two_crashes_needs_1_77():
    """The twelve changes of the picture of a study: +c5 +c6 +c7 +c8, c3 down and back, c6 down and back, −c8
    −c7 −c6 −c5."""
    up = [[f"c{n}" for n in range(1, count + 1)] for count in range(4, 9)]
    eight = up[-1]
    crashes = [[n for n in eight if n != "c3"], eight, [n for n in eight if n != "c6"], eight]
    assert round(churn_least([*up, *crashes, *up[-2::-1]]), 2) == 1.77


def test_churn_adds_up_and_begins_with_the_first_change():
    assert churn_so_far([None, 0.25, 0.5]) == [None, 0.25, 0.75]
    assert churn_so_far([None, None]) == [None, None]
    assert moved_share(1, 4) == 0.25 and moved_share(0, 0) is None
    assert churn_least([["a"], [], ["a"]]) == 0  # nobody to leave, nobody to go to


@given(st.lists(st.sets(st.sampled_from("abcdefgh")).map(sorted), max_size=8))
def test_least_churn_is_between_none_and_everything_and_the_same_backwards(members):
    assert 0 <= churn_least(members) <= max(0, len(members) - 1)
    assert churn_least(members) == churn_least(members[::-1])


# -- lag -----------------------------------------------------------------------------------------------------

CURVES = st.lists(st.integers(0, 50), min_size=1, max_size=80).map(lambda lags: list(enumerate(lags)))


def test_a_backlog_is_drained_when_it_first_falls_to_the_level_after_its_peak():
    curve = [(0, 3), (1, 12), (2, 2), (3, 30), (4, 9), (5, 3), (6, 5)]
    assert lag_peak(curve) == 30
    assert drain_s(curve, 3) == 5  # the dip at 2 came before the peak
    assert drain_s(curve, 30) == 0
    assert drain_s(curve, 0) is None
    assert lag_peak([]) is None and drain_s([], 4) is None


@given(CURVES, st.integers(0, 50), st.integers(2, 20))
def test_a_drained_backlog_is_at_the_level_after_its_peak_and_thinning_keeps_the_peak(curve, level, count):
    drained, peak = drain_s(curve, level), lag_peak(curve)
    if drained is None:
        assert curve[-1][1] > level
    elif drained:
        highest = max(second for second, records in curve if records == peak)
        assert dict(curve)[drained] <= level < dict(curve)[drained - 1] and drained > highest
    else:
        assert peak <= level
    thin = thinned(curve, count)
    assert len(thin) <= max(count, 2) and set(thin) <= set(curve)
    assert thin[0] == curve[0] and thin[-1] == curve[-1] and all(a[0] <= b[0] for a, b in pairwise(thin))
    if count > 2:
        assert lag_peak(thin) == lag_peak(curve)


# -- order ---------------------------------------------------------------------------------------------------

FLIGHTS = st.lists(
    st.builds(
        lambda key, consumer, sent, length: Flight(key, consumer, sent, sent + length),
        st.integers(0, 3), st.sampled_from(["c1", "c2", "c3"]), st.integers(0, 60), st.integers(1, 30),
    ),
    max_size=30,
    unique_by=lambda flight: flight.sent_us,
)  # fmt: skip


def test_a_record_sent_while_another_consumer_has_one_of_its_key_is_at_risk():
    first, second = Flight(7, "c1", 0, 100), Flight(7, "c2", 40, 60)
    assert at_risk([second, first]) == [second]
    assert at_risk([first, Flight(7, "c1", 40, 60)]) == []  # the same consumer keeps its order
    assert at_risk([first, Flight(8, "c2", 40, 60)]) == []  # another key
    assert at_risk([first, Flight(7, "c2", 100, 120)]) == []  # the first one is done


@given(FLIGHTS)
def test_order_at_risk_is_what_comparing_every_pair_finds(flights):
    expected = {
        late
        for late in flights
        for early in flights
        if early.key == late.key
        and early.consumer != late.consumer
        and early.sent_us < late.sent_us < early.gone_us
    }
    assert set(at_risk(flights)) == expected


# -- pause ---------------------------------------------------------------------------------------------------


def test_a_pause_counts_in_the_window_in_which_it_falls():
    stops = [Stop("0", 10, 40), Stop("1", 20, 30)]
    assert stopped_us(stops, 0, 100) == 40
    assert stopped_us(stops, 25, 35) == 15
    assert longest_us(stops, 15, 100) == 10
    assert longest_us(stops, 50, 100) == 0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50))), st.integers(0, 100))
def test_windows_that_tile_time_share_the_pause_out_without_loss(pairs, cut):
    stops = [Stop("p", start, start + length) for start, length in pairs]
    assert stopped_us(stops, 0, cut) + stopped_us(stops, cut, 200) == sum(length for _, length in pairs)
