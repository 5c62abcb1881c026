"""Sticky ranges by version: whose a slot is, which newcomer is refused and in whose name, and what each
version reports."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.pulsar.selectors import AssignRefused, selector_from_json
from broker_core.pulsar.selectors.sticky_document import StickyDocumentSelector
from broker_core.pulsar.selectors.sticky_ranges import (
    StickyCurrentSelector,
    StickySelector,
    check_client_ranges,
)

EACH = pytest.mark.parametrize("kind", [StickySelector, StickyCurrentSelector, StickyDocumentSelector])
BROKERS = pytest.mark.parametrize("kind", [StickySelector, StickyCurrentSelector])


def sticky(kind, size=100, **consumers):
    """consumers: name -> its ranges, with both ends; those of the document are given their end and one
    more."""
    selector = kind(size)
    for name, ranges in consumers.items():
        selector.add(name, ranges=given_to(kind, ranges))
    return selector


def given_to(kind, ranges):
    return [(start, end + 1) for start, end in ranges] if kind is StickyDocumentSelector else ranges


def drawn(selector):
    """The owner of every slot, from the first that a key can have."""
    return "".join(selector.select(slot) or "." for slot in range(selector.first_slot, selector.space))


def refusal(selector, ranges, name="n"):
    before = selector.to_json()
    with pytest.raises(AssignRefused) as error:
        selector.add(name, ranges=ranges)
    assert selector.to_json() == before, "a refused one leaves no trace"
    return error.value


# --- whose a slot is


@pytest.mark.parametrize(
    ("kind", "owned"),
    [
        (StickySelector, "..aa.bbbbb"),
        (StickyCurrentSelector, ".aa.b.bbb"),
        (StickyDocumentSelector, "..aa.b.bbb"),
    ],
)
def test_ranges_hold_both_ends_and_what_nobody_asked_for_is_nobodys(kind, owned):
    """Only in 3.2 is b's hole between two of its ranges its own."""
    assert drawn(sticky(kind, 10, a=[(2, 3)], b=[(5, 5), (7, 9)])) == owned


@EACH
def test_leavers_ranges_are_a_gap_that_a_newcomer_may_have(kind):
    selector = sticky(kind, 10, a=[(0, 4)], b=[(5, 9)])
    selector.remove("a")
    assert drawn(selector) == "." * (5 - selector.first_slot) + "bbbbb"
    selector.add("c", ranges=given_to(kind, [(1, 2)]))
    assert drawn(selector) == "." * (1 - selector.first_slot) + "cc..bbbbb"


@pytest.mark.parametrize(
    ("kind", "ranges", "owned"),
    [
        (StickySelector, [(0, 9)], "aaaaaaaaaa"),
        (StickySelector, [(3, 3)], "...a......"),
        (StickySelector, [(9, 9), (0, 0)], "aaaaaaaaaa"),
        (StickyCurrentSelector, [(0, 9)], "aaaaaaaaa"),
        (StickyCurrentSelector, [(3, 3)], "..a......"),
        (StickyCurrentSelector, [(9, 9), (1, 1)], "a.......a"),
    ],
)
def test_first_and_last_slot_may_be_had(kind, ranges, owned):
    assert drawn(sticky(kind, 10, a=ranges)) == owned


def test_current_has_no_slot_zero():
    selector = sticky(StickyCurrentSelector, 10, a=[(0, 0)], b=[(1, 1)])
    assert selector.slot(0) == selector.slot(10) == selector.slot(1) == 1 and selector.select(0) == "b"
    assert sticky(StickySelector, 10, a=[(0, 0)], b=[(1, 1)]).select(0) == "a"


@EACH
def test_hash_keeps_its_slot_without_its_top_bit(kind):
    selector = sticky(kind, 65_536, a=[(6067, 6067)])
    assert selector.slot(3112179635) == 6067 and selector.select(3112179635) == "a"


@EACH
@pytest.mark.parametrize("size", [0, -5])
def test_no_space_is_refused(kind, size):
    with pytest.raises(CommandError, match="must be greater than 0"):
        kind(size)


# --- refusals


@BROKERS
@pytest.mark.parametrize(("ranges", "kind_of_refusal", "text"), [
    (None, "no_key_shared_meta", "Must specify key shared meta for consumer."),
    ([], "empty_ranges", "Ranges for KeyShared policy must not be empty."),
    ([(50, 49)], "start_gt_end", "Fixed hash range start > end"),
])  # fmt: skip
def test_list_that_cannot_be_is_refused_before_anybody_is_asked_about(kind, ranges, kind_of_refusal, text):
    error = refusal(sticky(kind, a=[(10, 99)]), ranges)
    assert (error.kind, error.conflict) == (kind_of_refusal, None) and error.message.startswith(text)


@EACH
@pytest.mark.parametrize(
    "asked", [[(10, 10)], [(19, 19)], [(5, 10)], [(19, 25)], [(12, 15)], [(0, 99)], [(50, 60), (15, 15)]]
)
def test_range_that_touches_anothers_is_refused_in_its_name(kind, asked):
    error = refusal(sticky(kind, a=[(10, 19)]), given_to(kind, asked))
    assert (error.kind, error.conflict, error.message) == (
        "range_conflict",
        "a",
        "Range conflict with consumer a",
    )


@EACH
@pytest.mark.parametrize("asked", [[(9, 9)], [(20, 20)], [(0, 9), (20, 99)]])
def test_range_beside_anothers_is_given(kind, asked):
    selector = sticky(kind, a=[(10, 19)])
    selector.add("n", ranges=given_to(kind, asked))
    assert selector.select(asked[0][0]) == "n" and selector.select(10) == selector.select(19) == "a"


@pytest.mark.parametrize(("kind", "named"), [(StickySelector, "b"), (StickyCurrentSelector, "a")])
def test_of_several_in_the_way_3_2_names_the_highest_and_current_the_lowest(kind, named):
    assert refusal(sticky(kind, a=[(10, 19)], b=[(30, 39)]), [(15, 35)]).conflict == named


@BROKERS
def test_first_range_of_the_list_that_conflicts_decides_whom_it_names(kind):
    selector = sticky(kind, a=[(10, 19)], b=[(30, 39)])
    assert (
        refusal(selector, [(50, 60), (35, 35), (15, 15)]).conflict == "b"
        and refusal(selector, [(15, 15), (35, 35)]).conflict == "a"
    )


def test_hole_between_two_ranges_of_one_is_served_by_it_and_may_still_be_asked_for_in_3_2():
    selector = sticky(StickySelector, a=[(0, 10), (20, 30)])
    assert selector.select(15) == "a"
    selector.add("b", ranges=[(12, 18)])
    assert drawn(selector)[:31] == "a" * 11 + "." + "b" * 7 + "." + "a" * 11, (
        "and what is left of the hole is nobody's"
    )


def test_overlaps_within_one_list_are_taken_by_3_2_lose_parts_and_are_refused_by_current():
    selector = sticky(StickySelector, a=[(0, 10), (5, 20)])
    assert selector.ranges() == {"a": [(0, 5), (10, 20)]} and drawn(selector)[:21] == "a" * 21
    error = refusal(sticky(StickyCurrentSelector), [(5, 20), (0, 10)])
    assert (error.kind, error.message) == (
        "own_ranges_overlap",
        "Consumer's own ranges conflict: [0,10] overlaps with [5,20]",
    )


@pytest.mark.parametrize(
    "ranges", [[(0, 10), (10, 20)], [(0, 10), (0, 10)], [(0, 20), (5, 6)], [(5, 6), (0, 20)]]
)
def test_current_refuses_every_overlap_of_ones_own(ranges):
    assert refusal(sticky(StickyCurrentSelector), ranges).kind == "own_ranges_overlap"


def test_bounds_are_not_the_brokers_to_check():
    for kind in (StickySelector, StickyCurrentSelector):
        selector = sticky(kind, a=[(-5, 3), (98, 200)])
        assert (
            selector.select(98) == selector.select(99) == selector.select(2) == "a"
            and selector.slices()[0][-1] == 99
        )
    assert refusal(sticky(StickyDocumentSelector), [(0, 101)]).kind == "out_of_bounds"
    assert refusal(sticky(StickyDocumentSelector), [(-1, 5)]).kind == "out_of_bounds"


def test_articles_example_fits_as_it_is_written_and_conflicts_with_both_ends_held():
    mine, others = [(0, 16384), (32768, 49152)], [(16384, 32768), (49152, 65536)]
    told = StickyDocumentSelector()
    told.add("C1", ranges=mine)
    told.add("C2", ranges=others)
    assert [told.select(slot) for slot in (0, 16383, 16384, 32768, 49152, 65535)] == [
        "C1",
        "C1",
        "C2",
        "C1",
        "C2",
        "C2",
    ]
    for kind in (StickySelector, StickyCurrentSelector):
        selector = kind()
        selector.add("C1", ranges=mine)
        assert refusal(selector, others, "C2").conflict == "C1"


@pytest.mark.parametrize(
    ("ranges", "kind"),
    [
        ([], "empty_ranges"),
        ([(5, 4)], "start_gt_end"),
        ([(0, 70_000), (9, 3)], "start_gt_end"),
        ([(0, 65_536)], "out_of_bounds"),
        ([(-1, 4)], "out_of_bounds"),
        ([(0, 9), (9, 12)], "own_ranges_overlap"),
        ([(5, 6), (5, 6)], "own_ranges_overlap"),
        ([(0, 9), (5, 70_000)], "own_ranges_overlap"),
    ],
)
def test_client_refuses_what_the_first_wrong_range_is_wrong_for(ranges, kind):
    with pytest.raises(AssignRefused) as error:
        check_client_ranges(ranges)
    assert error.value.kind == kind
    check_client_ranges([(0, 0), (1, 9), (65_535, 65_535)])


# --- what is reported


def test_3_2_reports_pairs_of_ends_so_that_a_range_of_one_slot_upsets_what_follows():
    assert sticky(StickySelector, a=[(0, 9)], b=[(20, 29)]).ranges() == {"a": [(0, 9)], "b": [(20, 29)]}
    assert sticky(StickySelector, a=[(5, 5)], b=[(20, 29)]).ranges() == {}
    assert sticky(StickySelector, a=[(5, 5), (7, 9)]).ranges() == {"a": [(5, 7)]}


def test_current_reports_what_touches_as_one():
    assert sticky(StickyCurrentSelector, a=[(30, 39), (0, 9), (10, 19)], b=[(20, 29)]).ranges() == {
        "a": [(0, 19), (30, 39)],
        "b": [(20, 29)],
    }


ranges_of = st.lists(
    st.tuples(st.integers(0, 39), st.integers(0, 9)).map(lambda one: (one[0], min(one[0] + one[1], 39))),
    min_size=1,
    max_size=4,
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), ranges_of), max_size=8))
def test_current_is_the_set_of_slots_that_each_was_given(steps):
    selector = StickyCurrentSelector(40)
    given_: dict[str, set[int]] = {}
    for name, ranges in steps:
        if name in given_:
            selector.remove(name)
            del given_[name]
            continue
        wanted = [slot for start, end in ranges for slot in range(start, end + 1)]
        in_the_way = {other for other, slots in given_.items() if slots & set(wanted)}
        if len(set(wanted)) < len(wanted):
            assert refusal(selector, ranges, name).kind == "own_ranges_overlap"
        elif in_the_way:
            assert refusal(selector, ranges, name).conflict in in_the_way
        else:
            selector.add(name, ranges=ranges)
            given_[name] = set(wanted)
        assert drawn(selector) == "".join(
            next((name for name, slots in given_.items() if slot in slots), ".") for slot in range(1, 40)
        )


@settings(max_examples=50, deadline=None)
@given(
    mine=ranges_of,
    others=ranges_of,
    kind=st.sampled_from([StickySelector, StickyCurrentSelector, StickyDocumentSelector]),
)
def test_leaving_and_coming_again_gives_back_the_same(mine, others, kind):
    selector = kind(40)
    try:
        selector.add("a", ranges=given_to(kind, mine))
        selector.add("b", ranges=given_to(kind, others))
    except AssignRefused:  # they overlap
        return
    before = drawn(selector), selector.ranges()
    selector.remove("b")
    selector.add("b", ranges=given_to(kind, others))
    assert (drawn(selector), selector.ranges()) == before
    again = selector_from_json(json.loads(json.dumps(selector.to_json())))
    assert (drawn(again), again.ranges(), again.slices()) == (*before, selector.slices())
