"""Laws that every selector keeps, and refusals that leave no trace."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.hashing.hash_range import moved_share
from broker_core.lab.pulsar.sticky_join import plan_join
from broker_core.pulsar.selectors import SELECTORS, AssignRefused, Selector, selector_from_json
from broker_core.pulsar.selectors.auto_split import AutoSplitSelector
from broker_core.pulsar.selectors.auto_split_document import AutoSplitDocumentSelector
from broker_core.pulsar.selectors.consistent_hash import RING_3_2_0, RingSelector
from broker_core.pulsar.selectors.ring_document import RingDocumentSelector
from broker_core.pulsar.selectors.sticky_document import StickyDocumentSelector
from broker_core.pulsar.selectors.sticky_ranges import StickyCurrentSelector, StickySelector

HASHES = [
    0,
    1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    3112179635,
    *(number * 2654435761 % 2**32 for number in range(200)),
]
history = st.lists(st.sampled_from(["c1", "c2", "c3", "c11", "c111"]), max_size=14)


def run(algorithm: str, names: list[str]) -> Selector:
    """Each name joins, or leaves when it is there."""
    selector = SELECTORS[algorithm]()
    owned: dict[str, list[tuple[int, int]]] = {}
    half_open = algorithm == "sticky_document"
    for name in names:
        if name in owned:
            selector.remove(name)
            del owned[name]
        elif algorithm in ("sticky", "sticky_document"):
            widest, kept, given_ = plan_join(owned, name, half_open)
            if widest is not None:
                selector.remove(widest)
                selector.add(widest, ranges=kept)
                owned[widest] = kept
            selector.add(name, ranges=given_)
            owned[name] = given_
        else:
            selector.add(name)
            owned[name] = []
    return selector


@pytest.mark.parametrize("algorithm", SELECTORS)
@given(names=history)
def test_slices_tell_the_owner_of_every_slot(algorithm: str, names: list[str]) -> None:
    selector = run(algorithm, names)
    bounds, owners = selector.slices()
    assert bounds == sorted(set(bounds)) and len(bounds) == len(owners) and bounds[-1] < selector.space
    shared = selector.shared_slices()[1] if isinstance(selector, RingSelector) else owners
    for hash32 in HASHES:
        slot = selector.slot(hash32)
        assert selector.first_slot <= slot < selector.space
        held = shared[next((at for at, bound in enumerate(bounds) if slot <= bound), 0)]
        assert selector.select(hash32) == (held[slot % len(held)] if isinstance(held, tuple) else held)


@pytest.mark.parametrize(
    "algorithm", [name for name, made in SELECTORS.items() if isinstance(made(), RingSelector)]
)
@given(names=history)
def test_slices_of_a_ring_follow_who_comes_and_goes(algorithm: str, names: list[str]) -> None:
    selector = SELECTORS[algorithm]()
    for name in names:
        (selector.remove if name in selector.ranges() else selector.add)(name)
        fresh = selector_from_json(selector.to_json())
        assert isinstance(selector, RingSelector) and isinstance(fresh, RingSelector)
        assert (selector.slices(), selector.shared_slices()) == (fresh.slices(), fresh.shared_slices())


@pytest.mark.parametrize("algorithm", SELECTORS)
@given(names=history)
def test_state_survives_json(algorithm: str, names: list[str]) -> None:
    selector = run(algorithm, names)
    again = selector_from_json(json.loads(json.dumps(selector.to_json())))
    assert again.to_json() == selector.to_json()
    assert again.slices() == selector.slices() and again.ranges() == selector.ranges()
    assert [again.select(hash32) for hash32 in HASHES] == [selector.select(hash32) for hash32 in HASHES]


@pytest.mark.parametrize("algorithm", [name for name in SELECTORS if not name.startswith("sticky")])
@given(names=history)
def test_ring_and_auto_split_cover_everything(algorithm: str, names: list[str]) -> None:
    selector = run(algorithm, [*names, "c0"])
    assert all(selector.select(hash32) is not None for hash32 in HASHES)


@pytest.mark.parametrize("algorithm", [name for name in SELECTORS if "ring" in name or "hash" in name])
def test_newcomer_of_a_ring_only_takes_and_a_leaver_only_gives(algorithm: str) -> None:
    selector = run(algorithm, ["c1", "c2", "c3"])
    before = {hash32: selector.select(hash32) for hash32 in HASHES}
    selector.add("newcomer")
    assert all(
        owner in (before[hash32], "newcomer") for hash32 in HASHES for owner in [selector.select(hash32)]
    )
    selector.remove("newcomer")
    assert {hash32: selector.select(hash32) for hash32 in HASHES} == before


@pytest.mark.parametrize("algorithm", SELECTORS)
def test_unknown_leaver_changes_nothing_and_a_second_add_is_refused(algorithm: str) -> None:
    selector = run(algorithm, ["c1", "c2"])
    state = selector.to_json()
    selector.remove("stranger")
    with pytest.raises(CommandError):
        selector.add("c1", ranges=[(0, 1)])
    assert selector.to_json() == state


@pytest.mark.parametrize("kind", [AutoSplitSelector, AutoSplitDocumentSelector])
def test_full_range_refuses_the_next_consumer(
    kind: type[AutoSplitSelector] | type[AutoSplitDocumentSelector],
) -> None:
    selector = kind(4)
    for name in "abcd":
        selector.add(name)
    state = selector.to_json()
    with pytest.raises(
        AssignRefused, match="No more range can assigned to new consumer, assigned consumers 4"
    ) as error:
        selector.add("e")
    assert error.value.kind == "no_more_ranges" and selector.to_json() == state


def test_auto_split_range_that_no_key_reaches_is_no_slice() -> None:
    selector = AutoSplitSelector(2)
    selector.add("a")
    selector.add("b")
    assert selector.ranges() == {"b": [(0, 1)], "a": [(2, 2)]}
    assert selector.slices() == ([1], ["b"])


def test_digits_at_the_end_of_a_name_make_points_collide_in_3_2_0_only() -> None:
    ambiguous, fixed = RingSelector(RING_3_2_0), RingSelector()
    for selector in (ambiguous, fixed):
        selector.add("c1")
        selector.add("c11")
    assert len(ambiguous.ring.shared) == 10 and not fixed.ring.shared


def test_name_order_of_a_shared_point_is_javas() -> None:
    # U+FFFF sorts after U+10000 in UTF-16 code units, before it in code points.
    selector = RingSelector(RING_3_2_0, 1)
    text = "\uffff", "\U00010000"
    for name in text:
        selector.add(name, name)
    assert sorted(text, key=selector._name_order) == ["\U00010000", "\uffff"]


def test_holders_of_the_document_ring_stand_in_arrival_order() -> None:
    selector = RingDocumentSelector()
    selector.add("c11")
    selector.add("c1")
    assert selector.ring.shared and all(holders == ["c11", "c1"] for holders in selector.ring.shared.values())


@pytest.mark.parametrize("kind", [StickySelector, StickyCurrentSelector, StickyDocumentSelector])
@pytest.mark.parametrize(
    ("ranges", "refusal"), [(None, ("no_key_shared_meta", "empty_ranges")), ([], ("empty_ranges",)),
                            ([(9, 3)], ("start_gt_end",)), ([(600, 700), (5, 20)], ("range_conflict",))],
)  # fmt: skip
def test_refused_sticky_consumer_leaves_no_trace(
    kind: type[StickySelector], ranges: list[tuple[int, int]] | None, refusal: tuple[str, ...]
) -> None:
    selector = kind()
    selector.add("there", ranges=[(10, 30)])
    state = selector.to_json()
    with pytest.raises(AssignRefused) as error:
        selector.add("newcomer", ranges=ranges)
    assert error.value.kind in refusal and selector.to_json() == state
    assert error.value.conflict == ("there" if error.value.kind == "range_conflict" else None)


def test_moved_share_of_a_shared_point_is_exact() -> None:
    before, after = RingSelector(RING_3_2_0), RingSelector(RING_3_2_0)
    for name in ("c1", "c11"):
        before.add(name)
        after.add(name)
    after.remove("c11")
    share = moved_share(before.shared_slices(), after.shared_slices(), before.space)
    assert 0 < share < 1 and share != moved_share(before.slices(), after.slices(), before.space)
