"""The hash ring: the cells are a matter of speed, never of the answer."""

from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.hashing.ring import HashRing

SPACE = 1024
points = st.lists(st.integers(0, SPACE - 1), max_size=40)


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), points), max_size=12),
    st.integers(0, SPACE - 1),
)
def test_cells_give_the_answer_of_one_bisection(steps: list[tuple[str, bool, list[int]]], slot: int) -> None:
    ring = HashRing(SPACE)
    model: dict[int, list[str]] = {}
    for holder, joins, chosen in steps:
        if joins:
            ring.add(holder, chosen)
            for point in chosen:
                if holder not in model.setdefault(point, []):
                    model[point].append(holder)
        else:
            ring.remove(holder, chosen)
            for point in chosen:
                if holder in model.get(point, []):
                    model[point].remove(holder)
                    if not model[point]:
                        del model[point]
    ordered = sorted(model)
    assert ring.points == ordered
    assert {point: list(ring.holders(point)) for point in ordered} == model
    expected = model[ordered[bisect_left(ordered, slot) % len(ordered)]][0] if ordered else None
    assert ring.holder_at(slot) == expected


def test_points_stay_right_while_cells_double_and_halve() -> None:
    ring = HashRing(2**20)
    every = [(number * 7919) % 2**20 for number in range(20_000)]
    for number, point in enumerate(every):
        ring.add(str(number), [point])
    assert ring.points == sorted(every)
    for number, point in enumerate(every[:19_990]):
        ring.remove(str(number), [point])
    assert ring.points == sorted(every[19_990:])
    assert ring.holder_at(every[-1]) == "19999"


def test_shared_point_splits_its_slots_among_its_holders() -> None:
    ring = HashRing(64)
    ring.add("b", [20])
    ring.add("a", [20], sort_key=lambda holder: holder)
    assert [ring.holder_at(slot, is_split=True) for slot in (0, 1, 63)] == ["a", "b", "b"]
    assert ring.holder_at(1) == "a"


def test_repeats_stand_in_the_queue_as_often_as_they_hit_the_point() -> None:
    ring = HashRing(64)
    ring.add("a", [5, 5], repeats=True)
    assert list(ring.holders(5)) == ["a", "a"]
    ring.add("b", [5])
    ring.remove("a", [5, 5])
    assert list(ring.holders(5)) == ["b"]


@pytest.mark.parametrize("space", [0, 32, 100])
def test_space_must_be_a_power_of_two(space: int) -> None:
    with pytest.raises(CommandError):
        HashRing(space)
