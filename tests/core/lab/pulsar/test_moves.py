"""What a newcomer took and from whom, and what a leaver's keys became: small hash spaces by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.hashing.hash_range import Owner
from broker_core.lab.pulsar.moves import (
    GIVERS_MAX,
    first_of,
    given_facts,
    holds,
    owner_before,
    taken_facts,
)
from broker_core.lab.shared.bill import Space


def space(bounds: list[int], owners: list[Owner], slots: int, first_slot: int) -> Space:
    return bounds, owners, slots, first_slot


BEFORE = space([4, 9], ["c1", "c2"], 16, 0)
"""A ring of 16 slots: 0 to 4 and, around the top, 10 to 15 are c1's; 5 to 9 are c2's."""


def test_slot_is_of_the_next_point_clockwise_and_above_the_last_of_the_first() -> None:
    assert [owner_before(BEFORE, slot) for slot in (0, 4, 5, 9, 10, 15)] == [
        "c1",
        "c1",
        "c2",
        "c2",
        "c1",
        "c1",
    ]
    assert owner_before(space([], [], 16, 0), 3) is None


@pytest.mark.parametrize(
    ("owner", "is_c1s", "first"),
    [
        ("c1", True, "c1"),
        ("c2", False, "c2"),
        (None, False, None),
        (("c2", "c1"), True, "c2"),
        (("c2",), False, "c2"),
    ],
)
def test_of_several_who_share_a_point_each_holds_it_and_the_first_is_named(
    owner: Owner, is_c1s: bool, first: str | None
) -> None:
    assert holds(owner, "c1") is is_c1s and first_of(owner) == first


def test_point_that_cuts_off_the_end_of_a_slice_takes_the_keys_in_it() -> None:
    after = space([4, 7, 9], ["c1", "c3", "c2"], 16, 0)
    facts = taken_facts("c3", BEFORE, after, [(5, "c2"), (7, "c2")], 20, True)
    assert facts == {
        "points": 1,
        "taken": [{"consumer": "c2", "slices": 1, "keys": 2}],
        "largest": [{"start": 5, "end": 7, "consumer": "c2", "keys": 2}],
        "keys_moved": 2,
        "keys_total": 20,
    }


def test_slice_that_wraps_around_the_top_begins_above_the_last_bound() -> None:
    after = space([2, 4, 9], ["c3", "c1", "c2"], 16, 0)
    (largest,) = taken_facts("c3", BEFORE, after, [(12, "c1"), (1, "c1")], 20, True)["largest"]
    assert largest == {"start": 10, "end": 2, "consumer": "c1", "keys": 2}


def test_space_of_ranges_does_not_wrap_and_begins_with_its_first_slot() -> None:
    after = space([7, 15], ["c3", "c1"], 16, 1)
    facts = taken_facts("c3", space([15], ["c1"], 16, 1), after, [(2, "c1")], 20, False)
    assert (
        facts["largest"] == [{"start": 1, "end": 7, "consumer": "c1", "keys": 1}]
        and facts["slices"] == 1
        and "points" not in facts
    )


def test_slices_without_a_key_count_for_whom_they_were_cut_off() -> None:
    after = space([1, 4, 7, 9], ["c3", "c1", "c3", "c2"], 16, 0)
    facts = taken_facts("c3", BEFORE, after, [(6, "c2")], 20, True)
    assert facts["points"] == 2
    assert facts["taken"] == [
        {"consumer": "c2", "slices": 1, "keys": 1},
        {"consumer": "c1", "slices": 1, "keys": 0},
    ], "most keys first"


def test_newcomer_takes_nothing_of_itself_unless_keys_say_so() -> None:
    after = space([4, 9], ["c3", "c3"], 16, 0)
    assert taken_facts("c3", space([4, 9], ["c3", "c2"], 16, 0), after, [], 5, True)["taken"] == [
        {"consumer": "c2", "slices": 1, "keys": 0}
    ]


def test_first_consumer_takes_from_nobody() -> None:
    facts = taken_facts(
        "c1", space([], [], 16, 0), space([9], ["c1"], 16, 0), [(3, None), (12, None)], 2, True
    )
    assert facts["taken"] == [{"consumer": None, "slices": 1, "keys": 2}]
    assert facts["largest"] == [{"start": 10, "end": 9, "consumer": None, "keys": 2}]


def test_lists_are_cut_to_the_largest_and_say_how_many_more_there_are() -> None:
    bounds = list(range(0, 24, 2))
    names = [f"c{number:02}" for number in range(12)]
    after = space(bounds, ["new"] * 12, 32, 0)
    moved = [(slot, names[place]) for place, slot in enumerate(bounds) for _ in range(place + 1)]
    facts = taken_facts("new", space(bounds, [*names], 32, 0), after, moved, 100, True)
    assert [entry["consumer"] for entry in facts["taken"]] == names[:3:-1] and facts["taken_more"] == 4
    assert [entry["keys"] for entry in facts["largest"]] == [12, 11, 10, 9] and facts["largest_more"] == 8


def test_leavers_keys_go_to_whom_most_first_and_nobody_is_one_of_them() -> None:
    facts = given_facts(["c2", None, "c3", "c2", None, "c1"], 30)
    assert facts["given"] == [
        {"consumer": name, "keys": keys} for name, keys in ((None, 2), ("c2", 2), ("c1", 1), ("c3", 1))
    ]
    assert (facts["keys_moved"], facts["keys_total"]) == (6, 30) and "given_more" not in facts
    assert given_facts([], 30) == {"given": [], "keys_moved": 0, "keys_total": 30}


@settings(max_examples=25)
@given(st.lists(st.sampled_from([None, *(f"c{number}" for number in range(12))]), max_size=40))
def test_given_keys_are_counted_once_each(receivers: list[str | None]) -> None:
    facts = given_facts(receivers, 99)
    listed = sum(entry["keys"] for entry in facts["given"])
    assert (
        len(facts["given"]) + facts.get("given_more", 0) == len(set(receivers))
        and len(facts["given"]) <= GIVERS_MAX
    )
    assert listed == len(receivers) or "given_more" in facts
