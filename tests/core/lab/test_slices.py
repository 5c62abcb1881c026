"""What the page shows of a hash space, and what is dark in it, against a walk over every slot."""

from hypothesis import given
from hypothesis import strategies as st

from broker_core.hashing.hash_range import Owner
from broker_core.lab.slices import CELLS, SLICES_MAX, dark_slots, named_owners, slices_view

SPACE = 60
owner = st.one_of(st.none(), st.sampled_from("abc"), st.sampled_from([("a", "b"), ("c", "a", "b")]))


@st.composite
def slices(draw: st.DrawFn) -> tuple[list[int], list[Owner]]:
    bounds = sorted(draw(st.sets(st.integers(1, SPACE - 1), min_size=1, max_size=12)))
    return bounds, [draw(owner) for _ in bounds]


@given(slices(), st.integers(0, 1), st.sets(st.sampled_from("abc")))
def test_dark_slots_are_those_without_an_owner_or_with_a_dead_one(
    piece: tuple[list[int], list[Owner]], first_slot: int, dead: set[str]
) -> None:
    bounds, owners = piece
    dark, low = 0, first_slot
    for bound, held in [*zip(bounds, owners, strict=True), (SPACE - 1, owners[0])]:
        sharers = held if isinstance(held, tuple) else (held,)
        silent = [one for one in sharers if one is None or one in dead]
        dark += len(range(low, bound + 1)) * len(silent) // len(sharers)
        low = bound + 1
    assert dark_slots(bounds, owners, SPACE, first_slot, dead.__contains__) == dark


@given(slices())
def test_slices_show_every_slot_s_first_owner(piece: tuple[list[int], list[Owner]]) -> None:
    bounds, owners = piece
    view = slices_view(bounds, owners, SPACE, ["c", "b", "a"])
    for slot in range(bounds[-1] + 1):
        held = owners[next(at for at, bound in enumerate(bounds) if slot <= bound)]
        shown = view["owners"][next(at for at, bound in enumerate(view["bounds"]) if slot <= bound)]
        first = held[0] if isinstance(held, tuple) else held
        assert (None if shown < 0 else "cba"[shown]) == first
    assert all(one != next_one for one, next_one in zip(view["owners"], view["owners"][1:], strict=False))


def test_more_slices_than_a_screen_shows_become_cells_with_their_middle_s_owner() -> None:
    slots, names = 1 << 20, ["a", "b", "c"]
    bounds = [at * 200 + at % 7 for at in range(1, SLICES_MAX + 500)]
    owners: list[Owner] = [names[(at * at) % 3] for at in range(len(bounds))]
    dark = [at % 5 == 0 for at in range(len(bounds))]
    view = slices_view(bounds, owners, slots, names, dark)
    for cell in range(CELLS):
        middle = (2 * cell + 1) * slots // (2 * CELLS)
        at = next((at for at, bound in enumerate(bounds) if middle <= bound), 0)
        shown = next(at for at, bound in enumerate(view["bounds"]) if middle <= bound)
        assert (names[view["owners"][shown]], bool(view["dark"][shown])) == (owners[at], dark[at])


def test_owners_by_other_names_keep_their_places() -> None:
    owners: list[Owner] = ["s1", ("s2", "s1"), None, "s2", ("s2", "s1")]
    assert named_owners(owners, {"s1": "a", "s2": "b"}) == ["a", ("b", "a"), None, "b", ("b", "a")]
