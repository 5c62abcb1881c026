"""How the load is shared out, how even that is, and the seconds of it that are remembered."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.shared.history import HISTORY_KEPT_S, keep_skew
from broker_core.lab.shared.shares import shares, skew_milli, units_of
from tests.core.lab.small import consumer, paper

WEIGHTS = st.lists(st.integers(0, 1_000), min_size=1, max_size=6)


def lane_with(weights: list[int]) -> object:
    return paper(
        *(consumer(f"c{number}") for number in range(len(weights))),
        weights={f"c{number}": weight for number, weight in enumerate(weights)},
    )


@settings(max_examples=25)
@given(WEIGHTS)
def test_shares_fill_the_whole_but_for_what_rounding_drops(weights: list[int]) -> None:
    each = shares(lane_with(weights))  # type: ignore[arg-type]
    assert (
        sum(each.values()) in range(1_000_000 - len(weights), 1_000_001)
        if sum(weights)
        else set(each.values()) == {0}
    )


@settings(max_examples=25)
@given(WEIGHTS)
def test_skew_is_1_for_an_even_share_and_the_number_of_consumers_where_one_has_all(
    weights: list[int],
) -> None:
    skew = skew_milli(lane_with(weights))  # type: ignore[arg-type]
    if not sum(weights):
        assert skew is None
    else:
        assert skew is not None and 1_000 <= skew <= 1_000 * len(weights)
        assert (skew == 1_000 * len(weights)) == (max(weights) == sum(weights))


def test_newcomer_without_a_record_has_a_share_of_nothing() -> None:
    lane = paper(consumer("c1"), consumer("c2"), weights={"c1": 3})
    assert shares(lane) == {"c1": 1_000_000, "c2": 0} and skew_milli(lane) == 2_000


def test_one_that_is_gone_counts_for_evenness_only_while_it_still_has_something() -> None:
    lane = paper(consumer("c1"), consumer("c2", "gone"), weights={"c1": 3})
    assert skew_milli(lane) == 1_000
    assert skew_milli(lane.set(weights={"c1": 3, "c2": 3})) == 1_000
    assert skew_milli(lane.set(weights={"c1": 1, "c2": 3})) == 1_500


def test_one_that_crashed_unnoticed_counts_without_having_anything() -> None:
    assert skew_milli(paper(consumer("c1"), consumer("c2", "crashed"), weights={"c1": 3})) == 2_000


def test_partitions_of_a_consumer_are_counted_and_a_model_without_them_has_none() -> None:
    lane = paper(consumer("c1"), units={"0": "c1", "1": None, "2": "c1"})
    assert (units_of(lane, "c1"), units_of(lane, "c2"), units_of(paper(consumer("c1")), "c1")) == (2, 0, 0)


def test_history_keeps_the_last_seconds_and_also_those_in_which_there_was_nothing_to_share() -> None:
    lane = paper(consumer("c1"), weights={"c1": 1})
    for second in range(1, HISTORY_KEPT_S + 5):
        keep_skew(lane.set(weights={"c1": second % 2}), second)
    assert list(lane.history) == list(range(5, HISTORY_KEPT_S + 5))
    assert {lane.history[second] for second in range(5, HISTORY_KEPT_S, 2)} == {1_000}
    assert {lane.history[second] for second in range(6, HISTORY_KEPT_S, 2)} == {None}
