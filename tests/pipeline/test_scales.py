"""What a figure is worth in points: the scales of docs/analyze/measures.md as laws, and what a term takes
from a result."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pipeline.scales import (
    IDEALS,
    churn_points,
    figure_of,
    pause_points,
    share_points,
    skew_points,
    term_points,
)

ROOT = Path(__file__).parents[2]
SHARE, SKEW = st.floats(0, 1), st.floats(1, 64)
FEW = settings(max_examples=50)


def strategy(**totals):
    return {"totals": {"skew": 1.0, "churn": 0.0, "waited_share": 0.0, "order_share": 0.0} | totals}


@FEW
@given(SKEW, SKEW)
def test_more_skew_is_never_worth_more(one, other):
    low, high = sorted((one, other))
    assert 0 <= skew_points(high) <= skew_points(low) <= 100


@FEW
@given(st.floats(1, 2))
def test_each_doubling_of_the_skew_costs_half(skew):
    assert skew_points(skew) - skew_points(2 * skew) == pytest.approx(50)


@pytest.mark.parametrize("skew", [4.0, 4.0001, 100.0, 4096.0])
def test_at_four_times_the_mean_a_group_is_worth_nothing_and_never_less(skew):
    assert skew_points(skew) == 0.0


def test_a_skew_below_one_which_rounding_can_make_is_the_ideal():
    assert skew_points(0.999) == 100.0


@FEW
@given(st.floats(0, 40), st.integers(1, 40))
def test_churn_is_worth_the_mean_share_that_a_change_moves(churn, changes):
    assert churn_points(churn, changes) == pytest.approx(100 * (1 - min(1.0, churn / changes)))


def test_twice_the_history_with_twice_the_moves_is_as_good():
    assert churn_points(0.4, 2) == churn_points(0.8, 4) == churn_points(4.0, 20) == pytest.approx(80)


def test_moves_of_a_history_without_changes_do_not_divide_by_zero():
    assert (churn_points(0.0, 0), churn_points(0.5, 0)) == (100.0, 50.0)


@FEW
@given(SHARE, SHARE)
def test_more_records_at_risk_or_in_the_dark_are_never_worth_more(one, other):
    low, high = sorted((one, other))
    for points in (share_points, pause_points):
        assert 0 <= points(high) <= points(low) <= 100


@FEW
@given(st.floats(0.001, 0.1))
def test_ten_times_as_many_at_risk_cost_a_quarter_once_the_scale_is_logarithmic(share):
    """Four decades from 100 points to 0, the knee far below."""
    assert share_points(share) - share_points(10 * share) == pytest.approx(25, abs=1.1)


@FEW
@given(SHARE)
def test_the_pause_scale_is_half_logarithmic_and_half_linear_down_to_a_quarter(share):
    linear = 100 * max(0.0, 1 - share / 0.25)
    assert pause_points(share) == pytest.approx((share_points(share) + linear) / 2)


PAGE = ROOT / "docs" / "analyze" / "measures.md"


def drawn(scale):
    """The scale as the page draws it: share -> points."""
    lines = [
        line.replace("%", "").split() for line in PAGE.read_text().splitlines() if line.startswith("    ")
    ]
    shares, points = (
        next(words[1:9] for words in lines if words[:2] in ([name, "0"], [name, "100"]))
        for name in ("share", scale)
    )
    return {float(share) / 100: int(each) for share, each in zip(shares, points, strict=True)}


@pytest.mark.parametrize(("scale", "points"), [("order", share_points), ("pause", pause_points)])
def test_the_points_are_those_that_the_page_draws(scale, points):
    table = drawn(scale)
    assert len(table) >= 8
    assert {share: round(points(share)) for share in table} == table


@pytest.mark.parametrize("term", IDEALS)
def test_a_figure_that_does_not_apply_counts_as_the_ideal(term):
    column = {"skew": "skew", "churn": "churn", "pause": "waited_share", "order": "order_share"}[term]
    absent = strategy(**{column: None})
    assert figure_of(absent, term) is None
    assert term_points(absent, term, 3) == 100.0 == term_points(strategy(**{column: IDEALS[term]}), term, 3)


def test_each_term_takes_its_own_figure():
    one = strategy(skew=2.0, churn=1.0, waited_share=0.25, order_share=0.01)
    assert {term: round(term_points(one, term, 4)) for term in IDEALS} == {
        "skew": 50,
        "churn": 75,
        "pause": 8,
        "order": 50,
    }
    assert {term: figure_of(one, term) for term in IDEALS} == {
        "skew": 2.0,
        "churn": 1.0,
        "pause": 0.25,
        "order": 0.01,
    }
