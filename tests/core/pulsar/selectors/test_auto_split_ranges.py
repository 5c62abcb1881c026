"""Auto-split hash ranges: what a join takes and a leave gives, the documentation's rule beside the recorded
one, and what a key notices of it."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.pulsar.selectors import AssignRefused
from broker_core.pulsar.selectors.auto_split import AutoSplitSelector
from broker_core.pulsar.selectors.auto_split_document import AutoSplitDocumentSelector

KINDS = pytest.mark.parametrize("kind", [AutoSplitSelector, AutoSplitDocumentSelector])
ORDER_3459134 = 3112179635
"""The hash of the article's key "Order-3459134": slot 6067."""


def grown(kind, names, size=65536):
    """Each name joins, or leaves when it is there."""
    selector = kind(size)
    for name in names:
        (selector.remove if name in selector.owners else selector.add)(name)
    return selector


def owners(selector):
    """Of every slot."""
    return [selector.select(slot) for slot in range(selector.space)]


def sizes(selector):
    return {name: owners(selector).count(name) for name in selector.owners}


@KINDS
@pytest.mark.parametrize(
    ("names", "owned"),
    [
        ("a", "aaaaaaaa"),
        ("ab", "bbbbaaaa"),
        ("abc", "ccbbaaaa"),
        ("abcd", "ccbbddaa"),
        ("abcde", "ecbbddaa"),
        ("abcdd", "ccbbaaaa"),
        ("abcda", "ccbbdddd"),
        ("abcdb", "ccddddaa"),
        ("abb", "aaaaaaaa"),
        ("aba", "bbbbbbbb"),
        ("abcabc", "........"),
    ],
)
def test_join_halves_the_largest_range_and_a_leavers_goes_to_its_right_neighbour(kind, names, owned):
    """Drawn as the documentation draws it, over eight slots. By the recorded rule each bound belongs to the
    range below it."""
    selector = grown(kind, names, 8)
    drawn = "".join(owner or "." for owner in owners(selector))
    if kind is AutoSplitSelector and selector.owners:
        drawn = (
            drawn[1:] + selector.owners[-1]
        )  # one slot further, and the last bound is a slot that no key has
    assert drawn == owned


@pytest.mark.parametrize(
    ("names", "owner"), [("A", "A"), ("AB", "B"), ("ABC", "C"), ("ABCD", "C"), ("ABCDD", "C"), ("ABCDC", "B")]
)
def test_articles_key_is_where_the_worked_example_has_it(names, owner):
    selector = grown(AutoSplitSelector, names)
    assert selector.slot(ORDER_3459134) == 6067 and selector.select(ORDER_3459134) == owner


def test_worked_example_of_leaves_ends_with_three_quarters_at_one_and_a_newcomer_halves_them():
    selector = grown(AutoSplitSelector, ["C1", "C2", "C3", "C4", "C4", "C1"])
    assert selector.ranges() == {"C3": [(0, 16384)], "C2": [(16385, 65536)]}
    selector.add("C5")
    assert selector.ranges() == {"C3": [(0, 16384)], "C5": [(16385, 40960)], "C2": [(40961, 65536)]}


@KINDS
@pytest.mark.parametrize("names", ["abb", "abcc", "abcdd", "abcdee"])
def test_newcomer_that_leaves_again_gives_back_what_it_took(kind, names):
    assert owners(grown(kind, names, 32)) == owners(grown(kind, names[:-2], 32))


def test_newcomers_half_of_an_odd_range_is_the_larger_one_and_by_the_document_the_smaller():
    """Leaves make odd sizes only where slots are few: (0, 3] of four, after b has gone to the left."""
    real, told = AutoSplitSelector(8), AutoSplitDocumentSelector(7)
    real.uppers, real.owners = [3, 8], ["a", "b"]
    told.lows, told.owners = [0, 3], ["a", "b"]
    real.add("c")  # (3, 8] has five slots
    told.add("c")  # [3, 7) has four
    assert real.uppers == [3, 6, 8] and real.owners == ["a", "c", "b"]
    assert told.lows == [0, 3, 5] and told.owners == ["a", "c", "b"]
    told.add("d")  # [0, 3) has three: its floor is 1
    assert told.lows == [0, 1, 3, 5] and told.owners == ["d", "a", "c", "b"]


@KINDS
def test_hash_loses_its_top_bit_which_changes_no_slot_of_a_power_of_two(kind):
    selector = grown(kind, "abc")
    assert all(
        selector.slot(hash32) == selector.slot(hash32 | 1 << 31)
        for hash32 in (0, 1, 6067, 65535, 65536, 2**31 - 1)
    )


def test_bound_belongs_to_the_range_below_it_and_by_the_document_to_the_one_above():
    assert [grown(AutoSplitSelector, "ab").select(slot) for slot in (32767, 32768, 32769)] == ["b", "b", "a"]
    assert [grown(AutoSplitDocumentSelector, "ab").select(slot) for slot in (32767, 32768, 32769)] == [
        "b",
        "a",
        "a",
    ]


@KINDS
@pytest.mark.parametrize("size", [0, -1])
def test_no_space_is_refused(kind, size):
    with pytest.raises(CommandError) as error:
        kind(size)
    assert error.value.field == "range_size"


@pytest.mark.parametrize("size", [1, 3, 6, 65535])
def test_space_that_is_no_power_of_two_is_refused_by_the_recorded_rule_only(size):
    with pytest.raises(CommandError, match="must be a power of two, 2 or more"):
        AutoSplitSelector(size)
    assert AutoSplitDocumentSelector(size).space == size


@KINDS
def test_as_many_as_there_are_slots_fit_and_one_more_is_refused_until_somebody_leaves(kind):
    selector = grown(kind, "abcdefgh", 8)
    with pytest.raises(AssignRefused, match="assigned consumers 8"):
        selector.add("i")
    assert "i" not in selector.owners
    selector.remove("c")
    selector.add("i")
    assert set(selector.owners) == set("abdefghi")


@KINDS
@settings(max_examples=50, deadline=None)
@given(names=st.lists(st.sampled_from("abcdefghij"), max_size=25))
def test_join_takes_from_one_other_and_a_leave_gives_to_one_other(kind, names):
    selector = kind(64)
    for name in names:
        before, leaves = owners(selector), name in selector.owners
        (selector.remove if leaves else selector.add)(name)
        after = owners(selector)
        moved = {(old, new) for old, new in zip(before, after, strict=True) if old != new}
        assert len({old for old, _ in moved}) <= 1 and len({new for _, new in moved}) <= 1
        assert all((old if leaves else new) == name for old, new in moved)
        runs = 1 + sum(one != other for one, other in pairwise(after))
        assert runs == max(len(set(after)), 1), "each has one range"


@KINDS
@settings(max_examples=25, deadline=None)
@given(count=st.integers(1, 16))
def test_growth_alone_gives_sizes_that_differ_by_a_factor_of_two(kind, count):
    found = sizes(grown(kind, [f"c{number}" for number in range(count)], 64))
    assert sum(found.values()) == 64
    ranges = {64 // 2 ** (count.bit_length() - 1), 64 // 2 ** (count - 1).bit_length()}
    slack = 1 if kind is AutoSplitSelector else 0  # slot 0 is the first one's, and the last bound is nobody's
    assert all(min(abs(size - whole) for whole in ranges) <= slack for size in found.values())
