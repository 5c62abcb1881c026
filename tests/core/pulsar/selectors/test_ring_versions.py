"""Consistent hashing by version: where points are, what namesakes and shared points do, and which share of
the keys a join or a leave moves."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.pulsar.selectors import make_selector, selector_from_json
from broker_core.pulsar.selectors.consistent_hash import RING_3_2_0, RING_3_2_1, RING_CURRENT, RingSelector
from broker_core.pulsar.selectors.ring_document import RingDocumentSelector

VERSIONS = ["consistent_hash_3_2_0", "consistent_hash", "consistent_hash_current", "ring_document"]
EACH = pytest.mark.parametrize("algorithm", VERSIONS)
MASK_31 = 2**31 - 1
HASHES = [murmur3_32(f"key-{number}") for number in range(400)]
ORDER_3459134 = 3112179635


def ring(algorithm, *names, points=100):
    """Each is a consumer by that name; of namesakes the second is "name'"."""
    selector = make_selector(algorithm, points)
    for name in names:
        selector.add(name, name.rstrip("'"))
    return selector


def owners(selector):
    return [selector.select(hash32) for hash32 in HASHES]


# --- points


@pytest.mark.parametrize(
    ("algorithm", "texts", "place"),
    [
        ("consistent_hash_3_2_0", [f"c1{number}" for number in range(100)], lambda hash32: hash32 & MASK_31),
        ("consistent_hash", [f"c1\0{number}" for number in range(100)], lambda hash32: hash32 & MASK_31),
        (
            "consistent_hash_current",
            [f"c1\x000\0{number}" for number in range(100)],
            lambda hash32: (hash32 & MASK_31) % 65_535 + 1,
        ),
        ("ring_document", [f"c1{number}" for number in range(1, 101)], lambda hash32: hash32),
    ],
)
def test_points_are_the_places_of_the_versions_strings(algorithm, texts, place):
    selector = ring(algorithm, "c1")
    assert set(selector.ring.points) == {place(murmur3_32(text)) for text in texts}
    assert all(selector.slot(hash32) == place(hash32) for hash32 in HASHES)


def test_articles_points_are_numbers_1_to_100_of_the_document_and_0_to_99_of_3_2_0():
    name = "orders-aggregator-pod-2345-consumer"
    real, told = ring("consistent_hash_3_2_0", name).ring.points, ring("ring_document", name).ring.points
    assert {1003084738, 373317202, 320276078} <= set(told)
    assert murmur3_32(f"{name}100") in told and murmur3_32(f"{name}100") & MASK_31 not in real
    assert murmur3_32(f"{name}0") not in told and murmur3_32(f"{name}0") & MASK_31 in real


@EACH
@pytest.mark.parametrize("points", [1, 7, 250])
def test_as_many_points_as_were_asked_for(algorithm, points):
    selector = ring(algorithm, "c1", points=points)
    assert sum(len(selector.ring.holders(point)) for point in selector.ring.points) == points, (
        "a point of its own twice counts twice"
    )


@pytest.mark.parametrize("points", [0, -1])
def test_no_points_are_refused(points):
    with pytest.raises(CommandError, match="must be 1 or more"):
        RingSelector(RING_3_2_1, points)


def test_points_are_for_rings_only():
    assert make_selector("auto_split", 7).to_json() == make_selector("auto_split").to_json()


# --- whose a key is


def test_worked_example():
    selector = ring("consistent_hash", "C1", "C2", "C3")
    assert selector.slot(ORDER_3459134) == 964695987 and selector.select(ORDER_3459134) == "C3"
    selector.add("C4")
    assert selector.select(ORDER_3459134) == "C4" and 967801768 in selector.ring.points
    selector.remove("C4")
    assert selector.select(ORDER_3459134) == "C3"


@EACH
def test_key_is_of_the_first_point_at_or_after_it_and_past_the_last_of_the_first(algorithm):
    selector = ring(algorithm, "a", "b")
    points = selector.ring.points
    low = {"consistent_hash_current": 1}.get(algorithm, 0)
    for place, point in enumerate(points):
        for slot in {point, max(points[place - 1] + 1, low) if place else low}:
            hash32 = slot - 1 if algorithm == "consistent_hash_current" else slot
            assert selector.slot(hash32) == slot and selector.select(hash32) in selector.ring.holders(point)
    if points[-1] + 1 < selector.space:
        hash32 = points[-1] if algorithm == "consistent_hash_current" else points[-1] + 1
        assert selector.select(hash32) in selector.ring.holders(points[0])


@EACH
def test_nobody_there_is_nobodys_key(algorithm):
    selector = ring(algorithm, "a")
    selector.remove("a")
    assert (
        set(owners(selector)) == {None}
        and selector.ranges() == {}
        and selector.slices() == ([selector.space - 1], [None])
    )


@EACH
def test_join_moves_what_the_newcomer_then_holds_and_a_leave_what_the_leaver_held(algorithm):
    selector = ring(algorithm, "c1", "c2", "c3")
    before = owners(selector)
    selector.add("c4", "c4")
    after = owners(selector)
    assert all(old == new or new == "c4" for old, new in zip(before, after, strict=True)) and "c4" in after
    assert len({old for old, new in zip(before, after, strict=True) if old != new}) == 3, (
        "it comes from all the others"
    )
    selector.remove("c2")
    assert all(old == new or old == "c2" for old, new in zip(after, owners(selector), strict=True))
    selector.remove("c4")
    selector.add("c2", "c2")
    assert owners(selector) == before


@EACH
def test_same_names_in_another_order_give_every_key_the_same_consumer_where_no_point_is_shared(algorithm):
    """Of the current ring, whose 65,535 places are few, this holds for few points only."""
    one, other = ring(algorithm, "x", "y", "z", points=20), ring(algorithm, "z", "x", "y", points=20)
    assert not one.ring.shared and owners(one) == owners(other)


@EACH
def test_same_consumer_may_not_come_twice(algorithm):
    selector = ring(algorithm, "a")
    with pytest.raises(CommandError, match="is connected already"):
        selector.add("a", "other")
    assert list(selector.members) == ["a"] and len(selector.ring.points) >= 99


# --- namesakes and shared points


@pytest.mark.parametrize("algorithm", ["consistent_hash_3_2_0", "consistent_hash"])
def test_namesakes_of_3_2_share_every_point_and_split_its_keys_by_the_hash(algorithm):
    selector = ring(algorithm, "a", "a'")
    assert len(selector.ring.shared) == 100
    assert owners(selector) == [("a", "a'")[selector.slot(hash32) % 2] for hash32 in HASHES]
    selector.remove("a")
    assert set(owners(selector)) == {"a'"} and not selector.ring.shared


def test_namesakes_of_current_have_points_of_their_own_by_the_smallest_free_index():
    selector = ring("consistent_hash_current", "a", "a'", "a''")
    assert [member.name_index for member in selector.members.values()] == [0, 1, 2]
    lone = [ring("consistent_hash_current", "a").ring.points]
    assert set(lone[0]) < set(selector.ring.points) and set(owners(selector)) == {"a", "a'", "a''"}
    selector.remove("a'")
    selector.add("again", "a")
    selector.add("more", "a")
    assert [(consumer, member.name_index) for consumer, member in selector.members.items()] == [
        ("a", 0),
        ("a''", 2),
        ("again", 1),
        ("more", 3),
    ]


def test_shared_point_of_3_2_stands_in_the_order_of_names_whoever_came_first():
    """c1 + 11 is c11 + 1: ten of their points are the same."""
    for names in (("c1", "c11"), ("c11", "c1")):
        selector = ring("consistent_hash_3_2_0", *names)
        assert len(selector.ring.shared) == 10 and all(
            holders == ["c1", "c11"] for holders in selector.ring.shared.values()
        )
        for point in selector.ring.shared:
            assert selector.select(point) == ("c1", "c11")[point % 2]


def test_shared_point_of_current_is_its_first_holders_alone_until_that_one_leaves():
    selector = RingSelector(RING_CURRENT, 2_000)
    for name in ("a", "b"):
        selector.add(name)
    point = next(point for point, holders in selector.ring.shared.items() if holders == ["a", "b"])
    assert selector.select(point - 1) == "a"
    selector.remove("a")
    assert selector.select(point - 1) == "b" and selector.ring.holders(point) == ("b",)
    selector.add("a")
    assert selector.select(point - 1) == "b", "it is at the end of the queue now"


def test_consumer_of_current_that_hits_its_own_point_queues_after_itself():
    selector = RingSelector(RING_CURRENT, 2_000)
    selector.add("a")
    own = [point for point, holders in selector.ring.shared.items() if holders == ["a", "a"]]
    assert own and len(selector.ring.points) == 2_000 - sum(
        len(holders) - 1 for holders in selector.ring.shared.values()
    )
    selector.remove("a")
    assert len(selector.ring) == 0 and not selector.ring.shared


def test_shared_slices_name_all_holders_where_they_split_and_the_first_where_they_queue():
    split = ring("consistent_hash_3_2_0", "c1", "c11")
    assert [owner for owner in split.shared_slices()[1] if isinstance(owner, tuple)] == [("c1", "c11")] * 10
    assert not [owner for owner in split.slices()[1] if isinstance(owner, tuple)]
    queue = RingSelector(RING_CURRENT, 2_000)
    for name in ("a", "b"):
        queue.add(name)
    assert queue.shared_slices() == queue.slices()


# --- ranges as reported


def test_3_2_reports_a_range_for_each_point_and_leaves_out_what_wraps():
    selector = ring("consistent_hash", "a", "b", points=3)
    points = selector.ring.points
    reported = sorted(pair for ranges in selector.ranges().values() for pair in ranges)
    assert reported == [
        (start, point) for start, point in zip([0, *(point + 1 for point in points)], points, strict=False)
    ]
    assert all(
        selector.select(end) == name for name, ranges in selector.ranges().items() for _, end in ranges
    )


def test_3_2_reports_the_range_of_a_shared_point_for_each_of_its_holders():
    selector = ring("consistent_hash", "a", "a'", points=3)
    assert selector.ranges()["a"] == selector.ranges()["a'"] and len(selector.ranges()["a"]) == 3


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d'", "d"]), unique=True, min_size=1), st.integers(1, 30))
def test_current_reports_every_place_once_with_neighbours_merged(names, points):
    selector = ring("consistent_hash_current", *names, points=points)
    ranges = sorted((*pair, name) for name, pairs in selector.ranges().items() for pair in pairs)
    assert ranges[0][0] == 1 and ranges[-1][1] == 65_535
    for (_, end, name), (start, _, other) in pairwise(ranges):
        assert start == end + 1 and name != other
    for start, end, name in ranges:
        assert selector.select(start - 1) == selector.select(end - 1) == name


@pytest.mark.parametrize("algorithm", VERSIONS)
def test_kept_ring_is_the_same_also_in_the_order_of_its_namesakes(algorithm):
    selector = ring(algorithm, "a", "a'", "c1", "c11")
    selector.remove("a")
    selector.add("new", "a")
    again = selector_from_json(json.loads(json.dumps(selector.to_json())))
    assert isinstance(again, RingSelector) and again.to_json() == selector.to_json()
    assert owners(again) == owners(selector) and again.shared_slices() == selector.shared_slices()
    selector.add("more", "a")
    again.add("more", "a")
    assert again.to_json() == selector.to_json() and owners(again) == owners(selector)


def test_versions_are_three_rings_and_the_document_a_fourth():
    states = [
        json.dumps(selector.to_json())
        for selector in (
            RingSelector(RING_3_2_0),
            RingSelector(RING_3_2_1),
            RingSelector(RING_CURRENT),
            RingDocumentSelector(),
        )
    ]
    assert len(set(states)) == 4 and [selector_from_json(json.loads(text)).to_json() for text in states] == [
        json.loads(text) for text in states
    ]
