"""Questions about a change: the true answer is among them, nothing in their form gives it away."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.question import questions_of


def bill(**known: Any) -> dict[str, Any]:
    facts = ("partitions_moved", "partitions_total", "keys_moved", "keys_total", "redelivered", "pause_us")
    return {**dict.fromkeys(facts, 0), "partitions_moved": None, "partitions_total": None, **known}


def holds(answer: dict[str, int | None], value: int) -> bool:
    low, high = answer["from"], answer["to"]
    assert low is not None
    return low <= value and (high is None or value <= high)


@given(st.integers(1, 600), st.data())
def test_partitions_are_counted_and_no_answer_is_impossible(total: int, data: st.DataObject) -> None:
    moved = data.draw(st.integers(0, total))
    (asked,) = questions_of(bill(partitions_moved=moved, partitions_total=total), True, False)
    counts = [answer["from"] for answer in asked["answers"]]
    assert counts == sorted(set(counts)) and len(counts) == min(4, total + 1)
    assert counts[asked["truth"]] == moved and counts[0] >= 0 and counts[-1] <= total
    assert asked["total"] == total and all(answer["from"] == answer["to"] for answer in asked["answers"])


@given(st.integers(1, 10_000), st.data())
def test_a_share_of_keys_is_in_one_range_of_four(keys: int, data: st.DataObject) -> None:
    moved = data.draw(st.integers(0, keys))
    (asked,) = questions_of(bill(keys_moved=moved, keys_total=keys), True, False)
    assert asked["figure"] == "keys_moved" and len(asked["answers"]) == 4
    assert [place for place, answer in enumerate(asked["answers"]) if holds(answer, asked["value"])] == [
        asked["truth"]
    ]
    assert (asked["value"] == 0) == (moved == 0) and (asked["value"] == 100) == (moved == keys)


@given(st.integers(1, 10**10))
def test_a_pause_is_in_its_range_and_its_neighbours_are_the_other_answers(pause_us: int) -> None:
    asked = questions_of(bill(partitions_moved=1, partitions_total=2, pause_us=pause_us), True, False)[1]
    answers = asked["answers"]
    assert asked["figure"] == "pause_us" and holds(answers[asked["truth"]], pause_us)
    assert all(before["to"] == after["from"] for before, after in pairwise(answers))


def test_a_pause_that_has_no_end_is_not_asked_for() -> None:
    standing = bill(partitions_moved=1, partitions_total=2, pause_us=5)
    assert [asked["figure"] for asked in questions_of(standing, True, True)] == ["partitions_moved"]


@pytest.mark.parametrize(("has_owners", "keys"), [(False, 7), (True, 0)])
def test_where_no_key_has_an_owner_it_is_asked_what_comes_twice(has_owners: bool, keys: int) -> None:
    (asked,) = questions_of(bill(keys_total=keys, redelivered=12), has_owners, False)
    assert asked["figure"] == "redelivered" and asked["answers"][asked["truth"]] == {"from": 11, "to": 30}


def test_the_true_answer_stands_at_each_place() -> None:
    places = Counter(
        questions_of(bill(keys_moved=moved, keys_total=100), True, False)[0]["truth"] for moved in range(101)
    )
    assert sorted(places) == [0, 1, 2, 3]
    assert min(places.values()) > 10
