"""The look-up of a number in a view: names with dots in them, folds, filters, units, and what stands there
where a path leads nowhere."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.lesson.checks import holds
from broker_core.lab.lesson.numbers import NoSuchNumber, number_at

ROWS = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(-9, 9), max_size=6)


def missing(view: Any, path: str) -> tuple[str, list[str]]:
    with pytest.raises(NoSuchNumber) as caught:
        number_at(view, path)
    return caught.value.name, caught.value.known


@settings(max_examples=25)
@given(ROWS)
def test_folds_are_those_of_the_values_and_of_none_of_them_the_largest_is_nothing(
    rows: dict[str, int],
) -> None:
    view = {"rows": {name: {"lag": lag} for name, lag in rows.items()}}
    assert number_at(view, "rows.*.lag.sum") == sum(rows.values()) and number_at(
        view, "rows.*.lag.count"
    ) == number_at(view, "rows.count") == len(rows)
    assert number_at(view, "rows.*.lag.max") == max(rows.values(), default=None) and number_at(
        view, "rows.*.lag.min"
    ) == min(rows.values(), default=None)
    for limit in (-1, 0, 4):
        assert number_at(view, f"rows.lag>{limit}.count") + number_at(
            view, f"rows.lag<{limit}.count"
        ) + number_at(view, f"rows.lag={limit}.count") == len(rows)


def test_longest_name_that_is_there_is_taken() -> None:
    view = {"a": {"b.c": 1, "b": {"c": 2, "d": 3}}, "x.y": {"z": 4}, "x": {"w": 5}}
    assert [number_at(view, path) for path in ("a.b.c", "a.b.d", "x.y.z", "x.w")] == [1, 3, 4, 5]
    assert missing(view, "x.y.w") == ("w", ["z"])


@pytest.mark.parametrize(
    ("path", "came"),
    [
        ("pause_us", 1_500_000),
        ("pause_s", 1.5),
        ("pause_ms", 1_500),
        ("gone_s", None),
        ("own_s", 7),
        ("own_ms", 0.002),
    ],
)
def test_time_is_in_the_unit_that_is_asked_for_unless_the_view_has_that_name_itself(
    path: str, came: Any
) -> None:
    assert number_at({"pause_us": 1_500_000, "gone_us": None, "own_s": 7, "own_us": 2}, path) == came


def test_unit_is_the_end_of_a_path() -> None:
    assert missing({"pause_us": 3}, "pause_s.max") == ("pause_s", ["pause_us"]) and missing(
        {"pause_us": 3}, "pause_min"
    ) == (
        "pause_min",
        ["pause_us"],
    )


def test_below_what_is_not_there_yet_there_is_nothing_rather_than_a_mistake() -> None:
    assert (
        number_at({"bill": None}, "bill.moved.*.sum") is None
        and number_at({"rows": [None, 3]}, "rows.*.sum") == 3
    )
    assert (
        number_at({"rows": [None]}, "rows.max") is None
        and number_at({"rows": [None]}, "rows.sum") == 0
        and number_at({"rows": [None]}, "rows.count") == 1
    )


@pytest.mark.parametrize(
    ("such", "count"),
    [
        ("state=live", 2),
        ("state!=live", 1),
        ("state=nothing", 1),
        ("state!=nothing", 2),
        ("up=true", 2),
        ("up=false", 1),
        ("up!=true", 1),
        ("n=3", 1),
        ("n>2", 2),
        ("n<4", 2),
        ("n>-1", 3),
        ("up>0", 0),
        ("state>0", 0),
        ("n>", 0),
        ("other=1", 0),
        ("other!=1", 0),
        ("n>9999999999999999999", 0),
    ],
)
def test_entries_are_chosen_by_a_field_that_they_have(such: str, count: int) -> None:
    """True is no number, and an entry without the field is in no choice."""
    rows = {
        "a": {"state": "live", "up": True, "n": 0},
        "b": {"state": "live", "up": False, "n": 3},
        "c": {"state": None, "up": True, "n": 4},
        "d": 5,
    }
    assert (
        number_at({"rows": rows}, f"rows.{such}.count") == number_at({"rows": rows}, f"rows.{such}") == count
    )
    assert number_at({"rows": list(rows.values())}, f"rows.{such}") == count


def test_choices_follow_one_another_and_end_in_a_fold() -> None:
    rows = [{"a": 1, "b": 1, "lag": 5}, {"a": 1, "b": 2, "lag": 7}, {"a": 2, "b": 2, "lag": 9}]
    assert (
        number_at({"rows": rows}, "rows.a=1.b=2.*.lag.sum") == 7
        and number_at({"rows": rows}, "rows.b=2.count") == 2
    )
    assert number_at({"rows": rows}, "rows.a=1.1.lag") == 7, "what is left is counted from 0"


@pytest.mark.parametrize(
    ("path", "name", "known"),
    [
        ("rows", "rows", ["count", "sum", "max", "min", "0 to 1"]),
        ("rows.2", "2", ["count", "sum", "max", "min", "0 to 1"]),
        ("none", "none", ["count", "sum", "max", "min"]),
        ("rows.*", "rows.*", ["count", "sum", "max", "min"]),
        ("rows.*.n", "n", ["count", "sum", "max", "min"]),
        ("rows.sum.n", "sum", ["count", "sum", "max", "min", "0 to 1"]),
        ("rows.*.s.max", "rows.*.s.max", ["count"]),
        ("text.max", "max", []),
        ("map", "map", ["a", "b"]),
        ("", "", ["map", "none", "rows", "text"]),
    ],
)
def test_path_that_leads_nowhere_says_where_it_ended_and_what_is_there(
    path: str, name: str, known: list[str]
) -> None:
    view = {
        "rows": [{"n": 1, "s": "x"}, {"n": 2, "s": "y"}],
        "none": [],
        "text": "live",
        "map": {"b": 1, "a": 2},
    }
    assert missing(view, path) == (name, known)


def test_of_many_names_the_first_24_are_told() -> None:
    view = {f"n{number:02}": number for number in range(40)}
    assert missing(view, "x")[1] == [f"n{number:02}" for number in range(24)]


@pytest.mark.parametrize(
    ("came", "asks", "does_hold"),
    [
        (5, {"is": 5.0}, True),
        (True, {"is": True}, True),
        (True, {"is": 1}, False),
        (0, {"is": False}, False),
        (None, {"is": "nothing"}, True),
        (None, {"is_not": "nothing"}, False),
        ("live", {"is_not": "gone"}, True),
        (None, {"is_not": 0}, True),
        (5, {"more_than": 5}, False),
        (5, {"at_least": 5, "at_most": 5}, True),
        (5, {"less_than": 5}, False),
        (False, {"at_most": 3}, False),
        ("5", {"at_least": 1}, False),
        (None, {"less_than": 3}, False),
        (4, {"at_least": 5, "is": 4}, False),
        (4, {}, True),
    ],
)
def test_check_holds_when_all_that_is_asked_does(came: Any, asks: dict[str, Any], does_hold: bool) -> None:
    assert holds(came, asks) is does_hold
