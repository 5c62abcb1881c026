"""Who took which part of the hash space from whom: counted to the slot, and held against a slot-by-slot
comparison."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.hashing.hash_range import Owner
from broker_core.lab.pulsar.views.handed import HANDED_MAX, handed

SLOTS = 20
OWNERS: list[Owner] = ["a", "b", "c", None]
SPACE = st.dictionaries(st.integers(0, SLOTS - 1), st.sampled_from(OWNERS), max_size=6).map(
    lambda points: (sorted(points), [points[at] for at in sorted(points)])
)


def owners_of(space: tuple[list[int], list[Owner]]) -> list[Owner]:
    bounds, owners = space
    return [
        owners[next((place for place, bound in enumerate(bounds) if bound >= slot), 0)] if bounds else None
        for slot in range(SLOTS)
    ]


@settings(max_examples=40)
@given(SPACE, SPACE)
def test_rows_are_what_differs_slot_by_slot(
    before: tuple[list[int], list[Owner]], now: tuple[list[int], list[Owner]]
) -> None:
    was, is_now = owners_of(before), owners_of(now)
    expected: dict[tuple[Owner, Owner], list[int]] = {}
    for slot in range(SLOTS):
        if was[slot] != is_now[slot]:
            expected.setdefault((was[slot], is_now[slot]), []).append(slot)
    rows = handed(before, now, SLOTS)
    assert {(row["from"], row["to"]): row["slots"] for row in rows} == {
        pair: len(slots) for pair, slots in expected.items()
    }
    for row in rows:
        slots = expected[row["from"], row["to"]]
        runs = [slot for slot in slots if slot - 1 not in slots]
        first, last = row["largest"]
        assert row["pieces"] == len(runs) and set(range(first, last + 1)) <= set(slots)
        assert first in runs and last + 1 not in slots
    assert [-row["slots"] for row in rows] == sorted(-row["slots"] for row in rows)


def test_nothing_is_handed_where_only_bounds_have_moved_within_one_owner() -> None:
    assert handed(([9], ["a"]), ([4, 9], ["a", "a"]), 10) == []


def test_pieces_that_touch_are_one() -> None:
    (row,) = handed(([2, 5, 9], ["a", "a", "a"]), ([3, 5, 9], ["b", "b", "a"]), 10)
    assert (row["slots"], row["pieces"], row["largest"]) == (6, 1, [0, 5])


def test_of_those_who_share_a_point_the_first_is_named() -> None:
    (row,) = handed(([9], [("a", "b")]), ([9], [("b", "a")]), 10)
    assert (row["from"], row["to"], row["slots"]) == ("a", "b", 10)


def test_rows_of_one_size_are_by_name_and_nobody_comes_first() -> None:
    rows = handed(([1, 3, 5, 9], ["b", "a", None, "x"]), ([5, 9], ["c", "x"]), 10)
    assert [(row["from"], row["to"], row["slots"]) for row in rows] == [
        (None, "c", 2),
        ("a", "c", 2),
        ("b", "c", 2),
    ]


def test_only_the_largest_are_told() -> None:
    bounds, owners = (
        list(range(1, 2 * (HANDED_MAX + 5), 2)),
        [f"c{place:02}" for place in range(HANDED_MAX + 5)],
    )
    old: tuple[list[int], list[Any]] = (bounds, owners)
    rows = handed(old, ([bounds[-1]], ["new"]), bounds[-1] + 1)
    assert len(rows) == HANDED_MAX and [row["from"] for row in rows] == owners[:HANDED_MAX]
