"""Moved shares and taken ranges against counting slot by slot."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from broker_core.hashing.hash_range import Owner, moved_share, taken_ranges

SPACE = 48
owner = st.one_of(
    st.none(), st.sampled_from("ab"), st.sampled_from([("a", "b"), ("b", "a"), ("a", "b", "c")])
)


@st.composite
def slices(draw: st.DrawFn) -> tuple[list[int], list[Owner]]:
    bounds = sorted(draw(st.sets(st.integers(0, SPACE - 1), min_size=1, max_size=10)))
    return bounds, [draw(owner) for _ in bounds]


def owner_of(assignment: tuple[list[int], list[Owner]], slot: int) -> str | None:
    bounds, owners = assignment
    at = next((i for i, bound in enumerate(bounds) if slot <= bound), 0)
    held = owners[at]
    return held[slot % len(held)] if isinstance(held, tuple) else held


@given(slices(), slices(), st.integers(0, 1))
def test_moved_share_is_the_count_of_slots_that_changed_owner(
    before: tuple[list[int], list[Owner]], after: tuple[list[int], list[Owner]], first_slot: int
) -> None:
    moved = sum(owner_of(before, slot) != owner_of(after, slot) for slot in range(first_slot, SPACE))
    assert moved_share(before, after, SPACE, first_slot) == Fraction(moved, SPACE - first_slot)


def test_everything_moves_from_nobody() -> None:
    assert moved_share(([], []), ([15], ["a"]), 16) == 1


def ranges_of(slots: set[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for slot in sorted(slots):
        if out and out[-1][1] == slot - 1:
            out[-1] = (out[-1][0], slot)
        else:
            out.append((slot, slot))
    return out


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_taken_ranges_are_what_is_gone(before: set[int], after: set[int]) -> None:
    expected = {"a": ranges_of(before - after)} if before - after else {}
    assert taken_ranges({"a": ranges_of(before)}, {"a": ranges_of(after)}) == expected
