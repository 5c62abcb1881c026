"""A ring at its ends and its shared points: slots between points, holders that come and go, and names that
are not there."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.hashing.ring import CELLS_MIN, POINTS_PER_CELL_MAX, HashRing

SPACE = 256


def ring_of(**points: list[int]) -> HashRing:
    ring = HashRing(SPACE)
    for holder, each in points.items():
        ring.add(holder, each)
    return ring


def test_slot_belongs_to_the_first_point_at_or_after_it_and_what_is_above_the_last_wraps() -> None:
    ring = ring_of(a=[0], b=[100], c=[255])
    assert [ring.holder_at(slot) for slot in (0, 1, 99, 100, 101, 254, 255)] == [
        "a",
        "b",
        "b",
        "b",
        "c",
        "c",
        "c",
    ]
    ring.remove("c", [255])
    assert [ring.holder_at(slot) for slot in (100, 101, 255)] == ["b", "a", "a"]


def test_ring_of_one_point_is_its_holders_whole_and_an_empty_one_is_nobodys() -> None:
    ring = ring_of(a=[77])
    assert {ring.holder_at(slot, is_split) for slot in range(SPACE) for is_split in (False, True)} == {"a"}
    ring.remove("a", [77])
    assert len(ring) == 0 and ring.points == [] and ring.first_holders == []
    assert [ring.holder_at(slot, is_split) for slot in (0, 77, 255) for is_split in (False, True)] == [
        None
    ] * 6


def test_split_wraps_to_a_shared_first_point() -> None:
    ring = ring_of(a=[20], b=[20])
    assert [ring.holder_at(slot, is_split=True) for slot in (250, 251)] == ["a", "b"]
    assert [ring.holder_at(slot) for slot in (250, 251)] == ["a", "a"]


def test_point_named_twice_counts_once_unless_repeats_are_asked_for() -> None:
    ring = ring_of(a=[9, 9], b=[9])
    assert list(ring.holders(9)) == ["a", "b"] and ring.shared == {9: ["a", "b"]}
    ring.add("b", [9])
    assert list(ring.holders(9)) == ["a", "b"], "it has the point already"
    ring.add("b", [9], repeats=True)
    assert list(ring.holders(9)) == ["a", "b", "b"]
    ring.remove("b", [9])
    assert list(ring.holders(9)) == ["a"] and ring.shared == {}, "it is gone as often as it was there"


def test_next_holder_moves_up_at_a_shared_point() -> None:
    ring = ring_of(a=[9], b=[9], c=[9])
    ring.remove("a", [9])
    assert ring.holder_at(5) == "b" and ring.first_holders == ["b"] and ring.shared == {9: ["b", "c"]}
    ring.remove("b", [9])
    assert ring.holder_at(5) == "c" and ring.shared == {} and list(ring.holders(9)) == ["c"]


def test_sort_key_decides_among_holders_and_ties_stay_in_order_of_arrival() -> None:
    ring = HashRing(SPACE)
    for holder in ("b2", "a1", "b1", "a2"):
        ring.add(holder, [9], sort_key=lambda name: name[0])
    assert list(ring.holders(9)) == ["a1", "a2", "b2", "b1"] and ring.holder_at(0) == "a1"


def test_point_that_a_holder_does_not_have_stays_with_who_has_it() -> None:
    ring = ring_of(a=[9, 10], b=[20])
    ring.remove("b", [9, 11])
    ring.remove("nobody", [20])
    assert ring.points == [9, 10, 20] and ring.first_holders == ["a", "a", "b"]


def test_cells_are_cut_when_they_are_crowded_and_joined_when_they_are_thin() -> None:
    ring = HashRing(1 << 16)
    crowd = CELLS_MIN * POINTS_PER_CELL_MAX
    ring.add("a", range(crowd))
    assert len(ring._cells) == CELLS_MIN
    ring.add("a", [crowd])
    assert len(ring._cells) == 2 * CELLS_MIN and ring.points == list(range(crowd + 1))
    ring.remove("a", range(crowd + 1 - 2 * CELLS_MIN))
    assert len(ring._cells) == 2 * CELLS_MIN, "a consumer that comes and goes does not cut the ring each time"
    ring.remove("a", [crowd])
    assert len(ring._cells) == CELLS_MIN and len(ring.points) == 2 * CELLS_MIN - 1


def test_small_space_is_never_cut_finer_than_its_slots() -> None:
    ring = HashRing(CELLS_MIN)
    for holder in ("a", "b"):
        ring.add(holder, range(CELLS_MIN))
    assert len(ring) == CELLS_MIN and [ring.holder_at(slot, is_split=True) for slot in range(4)] == [
        "a",
        "b",
        "a",
        "b",
    ]


HOLDERS = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(st.integers(0, SPACE - 1), max_size=6, unique=True)),
    max_size=8,
)


@given(HOLDERS, st.sampled_from("abc"))
@settings(max_examples=50)
def test_who_comes_and_goes_leaves_the_ring_as_it_was(steps: list[tuple[str, list[int]]], guest: str) -> None:
    ring = HashRing(SPACE)
    for holder, points in steps:
        if holder != guest:
            ring.add(holder, points)
    before = [ring.holder_at(slot, is_split=True) for slot in range(SPACE)]
    every = [point for holder, points in steps if holder == guest for point in points]
    ring.add(guest, every)
    ring.remove(guest, every)
    assert [ring.holder_at(slot, is_split=True) for slot in range(SPACE)] == before


@given(HOLDERS)
@settings(max_examples=50)
def test_holders_of_a_shared_point_share_its_slots_evenly(steps: list[tuple[str, list[int]]]) -> None:
    ring = HashRing(SPACE)
    for holder, points in steps:
        ring.add(holder, points)
    start = 0
    for point in ring.points:
        holders = list(ring.holders(point))
        counts = [
            sum(ring.holder_at(slot, is_split=True) == holder for slot in range(start, point + 1))
            for holder in holders
        ]
        assert max(counts) - min(counts) <= 1 or start == 0, "the first point also has what wraps"
        assert sum(counts) == point + 1 - start
        start = point + 1
