"""The bill of one change, filled in by hand: what it counts as moved, which pause is its longest, and what
its page gets."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.shared.bill import Bill

OWNERS = st.lists(st.sampled_from(["c1", "c2", None]), max_size=12)


def bill(**changed: Any) -> Bill:
    facts: dict[str, Any] = {
        "position": 3,
        "kind": "join",
        "consumer": "c2",
        "at_us": 1_000,
        "owners_before": None,
        "units_before": None,
        "space_before": None,
        "shares_before": {},
        "skew_before": None,
        "redelivered_from": 0,
        "out_of_order_from": 0,
        "keys_total": 0,
    }
    return Bill(**facts | changed)


def entries(one: Bill) -> list[tuple[str, int]]:
    return [(change.kind, change.count) for change in one.changes]


def test_key_that_appeared_after_the_bill_was_opened_had_no_owner_to_leave() -> None:
    one = bill(owners_before=["c1", "c1", "c2"])
    one.compare(["c1", "c2", "c2", "c2", "c2"], None, None)
    assert one.keys_moved == 1


def test_key_that_nobody_owns_any_more_has_moved_too() -> None:
    one = bill(owners_before=["c1", "c2"])
    one.compare([None, "c2"], None, None)
    assert one.keys_moved == 1


@settings(max_examples=25)
@given(OWNERS, OWNERS)
def test_keys_moved_are_those_whose_owner_is_another_one(
    before: list[str | None], now: list[str | None]
) -> None:
    one = bill(owners_before=before)
    one.compare(now, None, None)
    assert one.keys_moved == sum(before[key] != now[key] for key in range(min(len(before), len(now))))


def test_a_second_look_replaces_the_first_so_what_went_back_has_not_moved() -> None:
    one = bill(owners_before=["c1", "c2"], units_before={"0": "c1", "1": "c1"})
    one.compare(["c2", "c1"], {"0": "c2", "1": "c1"}, None)
    assert (one.keys_moved, one.partitions_moved) == (2, 1)
    one.compare(["c1", "c2"], {"0": "c1", "1": "c1"}, None)
    assert (one.keys_moved, one.partitions_moved, one.moved_units) == (0, 0, [])


def test_moved_partitions_are_named_in_the_order_of_the_topic_and_a_new_one_counts_as_moved() -> None:
    one = bill(units_before={"0": "c1", "1": "c1", "2": None})
    one.compare(None, {"0": "c1", "1": "c2", "2": "c2", "3": "c1"}, None)
    assert (one.moved_units, one.partitions_moved, one.partitions_total) == (["1", "2", "3"], 3, 4)


def test_new_partition_without_an_owner_has_not_moved() -> None:
    one = bill(units_before={"0": "c1"})
    one.compare(None, {"0": "c1", "1": None}, None)
    assert (one.partitions_moved, one.partitions_total) == (0, 2)


@pytest.mark.parametrize(("owners_before", "owners"), [(None, ["c1"]), (["c1"], None)])
def test_where_keys_have_no_owner_on_one_side_nothing_is_compared(
    owners_before: list[str | None] | None, owners: list[str | None] | None
) -> None:
    one = bill(owners_before=owners_before, units_before=None)
    one.compare(owners, {"0": "c2"}, ([9], ["c2"], 10, 0))
    assert (one.keys_moved, one.partitions_moved, one.partitions_total, one.space_moved_millionths) == (
        0,
        None,
        None,
        None,
    )


def test_share_of_the_space_that_moved_is_in_millionths_rounded_down() -> None:
    one = bill(space_before=([9], ["c1"]))
    one.compare(None, None, ([2, 9], ["c2", "c1"], 10, 0))
    assert one.space_moved_millionths == 300_000
    one = bill(space_before=([2], ["c1"]))
    one.compare(None, None, ([0, 2], ["c2", "c1"], 3, 0))
    assert one.space_moved_millionths == 333_333


def test_bounds_that_change_without_a_change_of_owner_move_nothing_of_the_space() -> None:
    one = bill(space_before=([9], ["c1"]))
    one.compare(None, None, ([4, 9], ["c1", "c1"], 10, 0))
    assert one.space_moved_millionths == 0


def test_longest_pause_is_kept_with_the_moment_when_it_began() -> None:
    one = bill()
    one.note_pause(10, 20)
    one.note_pause(30, 35)
    assert one.pause_facts() == {"pause_us": 10, "paused_from_us": 10}
    one.note_pause(40, 90)
    assert one.pause_facts() == {"pause_us": 50, "paused_from_us": 40}


def test_of_two_pauses_of_one_length_the_first_is_told() -> None:
    one = bill()
    one.note_pause(10, 20)
    one.note_pause(30, 40)
    assert one.pause_facts()["paused_from_us"] == 10


def test_pause_of_no_length_is_a_pause_too() -> None:
    one = bill()
    one.note_pause(5, 5)
    assert one.pause_facts() == {"pause_us": 0, "paused_from_us": 5}


@pytest.mark.parametrize(
    ("kind", "standing_us"),
    [("join", 9_500), ("crash", 9_500), ("pause", 9_000), ("slow", 9_000), ("full_speed", 9_000)],
)
def test_a_change_of_pace_counts_what_stood_still_before_it_from_its_own_beginning_on(
    kind: str, standing_us: int
) -> None:
    assert bill(kind=kind).standing_us(500, 10_000) == standing_us
    assert bill(kind=kind).standing_us(4_000, 10_000) == 6_000


def test_change_of_pace_is_on_a_bill_that_it_opened_and_not_on_one_of_a_join() -> None:
    opened, joined = bill(kind="slow"), bill()
    joined.note_change("join", ["c3"], 5)
    for one in (opened, joined):
        one.note_change("slow", ["c1"], 7)
    assert entries(opened) == [("slow", 1)] and entries(joined) == [("join", 1)]


def test_change_that_moves_something_is_on_the_bill_of_a_change_of_pace() -> None:
    one = bill(kind="slow")
    one.note_change("slow", ["c1"], 5)
    one.note_change("leave", ["c2"], 7)
    assert entries(one) == [("slow", 1), ("leave", 1)]


def test_page_gets_what_came_twice_or_late_since_the_bill_was_opened_and_shares_as_numbers_below_one() -> (
    None
):
    one = bill(redelivered_from=5, out_of_order_from=2, skew_before=1_500, keys_total=9)
    one.space_moved_millionths = 250_000
    view = one.to_view(12, 3, 0)
    assert (view["redelivered"], view["out_of_order"], view["space_moved"]) == (7, 1, 0.25)
    assert (view["skew_before"], view["skew_after"]) == (1.5, None)


@pytest.mark.parametrize(("pause_us", "standing_us", "told"), [(50, 0, 50), (50, 80, 80), (0, 0, 0)])
def test_page_gets_the_longer_of_the_pause_that_is_over_and_the_one_that_lasts(
    pause_us: int, standing_us: int, told: int
) -> None:
    one = bill()
    one.pause_us = pause_us
    assert one.to_view(0, 0, standing_us)["pause_us"] == told


def test_page_of_a_model_without_a_hash_space_gets_null_and_not_nothing_moved() -> None:
    view = bill().to_view(0, 0, 0)
    assert view["space_moved"] is None and view["partitions_moved"] is None and view["keys_moved"] == 0
