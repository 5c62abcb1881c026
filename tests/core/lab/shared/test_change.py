"""What falls together is one entry of a bill: who is named, who is only counted, and what a list takes over
from another."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.shared.change import NAMES_KEPT, Change, add_changes, changes_view, note_change

NAMES = st.sampled_from([f"c{number}" for number in range(1, 8)])
NOTES = st.lists(
    st.tuples(
        st.sampled_from(["join", "leave", "crash"]), st.lists(NAMES, min_size=1, max_size=4, unique=True)
    ),
    max_size=8,
)


def noted(*entries: tuple[str, list[str]]) -> list[Change]:
    changes: list[Change] = []
    for at_us, (kind, names) in enumerate(entries):
        note_change(changes, kind, names, at_us)
    return changes


def seen(changes: list[Change]) -> list[tuple[str, list[str], int]]:
    return [(change.kind, change.names, change.count) for change in changes]


def test_the_fourth_of_a_kind_is_counted_and_not_named() -> None:
    assert seen(noted(("join", ["c1", "c2"]), ("join", ["c3", "c4", "c5"]))) == [
        ("join", ["c1", "c2", "c3"], 5)
    ]


def test_entry_keeps_the_time_of_its_first() -> None:
    assert [change.at_us for change in noted(("crash", ["c1"]), ("join", ["c2"]), ("crash", ["c3"]))] == [
        0,
        1,
    ]


def test_one_that_is_named_already_is_not_counted_twice() -> None:
    assert seen(noted(("leave", ["c1"]), ("leave", ["c1", "c2"]))) == [("leave", ["c1", "c2"], 2)]


def test_crash_that_is_found_out_is_told_only_where_the_crash_itself_is_not() -> None:
    assert seen(noted(("crash", ["c1", "c2"]), ("noticed", ["c2"]))) == [("crash", ["c1", "c2"], 2)]
    assert seen(noted(("crash", ["c1"]), ("noticed", ["c2"]))) == [
        ("crash", ["c1"], 1),
        ("noticed", ["c2"], 1),
    ]
    assert seen(noted(("leave", ["c1"]), ("noticed", ["c1"]))) == [
        ("leave", ["c1"], 1),
        ("noticed", ["c1"], 1),
    ]


def test_of_two_found_out_at_once_one_without_its_crash_is_enough_to_tell_both() -> None:
    assert seen(noted(("crash", ["c1"]), ("noticed", ["c1", "c2"])))[1] == ("noticed", ["c1", "c2"], 2)


@settings(max_examples=25)
@given(NOTES)
def test_an_entry_a_kind_at_most_three_names_none_twice_and_never_fewer_counted_than_named(
    entries: list[tuple[str, list[str]]],
) -> None:
    changes = noted(*entries)
    assert len({change.kind for change in changes}) == len(changes)
    for change in changes:
        told = [name for kind, names in entries if kind == change.kind for name in names]
        assert change.names == list(dict.fromkeys(told))[:NAMES_KEPT] and len(
            set(told)
        ) <= change.count <= len(told)


def test_list_that_takes_over_another_copies_it() -> None:
    source, target = noted(("join", ["c1"])), list[Change]()
    add_changes(target, source)
    note_change(target, "join", ["c2"], 9)
    assert seen(source) == [("join", ["c1"], 1)] and seen(target) == [("join", ["c1", "c2"], 2)]


def test_what_both_lists_name_is_counted_once_and_the_larger_count_stays() -> None:
    target = noted(("leave", ["c1", "c2"]))
    add_changes(target, noted(("leave", ["c2", "c3", "c4", "c5", "c6"])))
    assert seen(target) == [("leave", ["c1", "c2", "c3"], 5)]
    add_changes(target, noted(("leave", ["c1"])))
    assert seen(target) == [("leave", ["c1", "c2", "c3"], 5)]


def test_taking_over_the_same_list_again_changes_nothing() -> None:
    changes = noted(("crash", ["c1", "c2", "c3", "c4"]), ("join", ["c5"]))
    before = seen(changes)
    add_changes(changes, noted(("crash", ["c1", "c2", "c3", "c4"]), ("join", ["c5"])))
    assert seen(changes) == before


def test_found_out_is_not_taken_over_where_the_crash_itself_is() -> None:
    target = noted(("crash", ["c1"]))
    add_changes(target, noted(("noticed", ["c1"])))
    assert seen(target) == [("crash", ["c1"], 1)]
    add_changes(target, noted(("noticed", ["c4"])))
    assert seen(target) == [("crash", ["c1"], 1), ("noticed", ["c4"], 1)]


def test_page_gets_names_of_its_own_that_later_changes_do_not_reach() -> None:
    changes = noted(("join", ["c1"]))
    view = changes_view(changes)
    note_change(changes, "join", ["c2"], 1)
    assert view == [{"kind": "join", "names": ["c1"], "count": 1}]
