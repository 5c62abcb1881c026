"""Range, case by case: runs, quotas, unequal subscriptions, static members; and racks, which never change how
many a member gets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.assignors import Assignment, Subscription
from broker_core.kafka.assignors.range import assign_range

Racks = dict[str, list[list[str | None]]]


def group(**topics: str) -> dict[str, Subscription]:
    """Members by name; the topics they read have one letter each."""
    return {member: Subscription(tuple(asked)) for member, asked in topics.items()}


def numbers(assignment: Assignment, topic: str = "t") -> dict[str, list[int]]:
    return {member: [number for name, number in row if name == topic] for member, row in assignment.items()}


@pytest.mark.parametrize(
    ("count", "runs"),
    [
        (0, [[], [], []]),
        (1, [[0], [], []]),
        (2, [[0], [1], []]),
        (3, [[0], [1], [2]]),
        (7, [[0, 1, 2], [3, 4], [5, 6]]),
        (8, [[0, 1, 2], [3, 4, 5], [6, 7]]),
    ],
)
def test_first_members_have_the_one_more_that_does_not_divide(count: int, runs: list[list[int]]) -> None:
    assert list(numbers(assign_range(group(a="t", b="t", c="t"), {"t": count})).values()) == runs


def test_every_topic_favours_the_same_members_and_topics_of_one_size_are_aligned() -> None:
    given_out = assign_range(group(a="tu", b="tu"), {"t": 3, "u": 3})
    assert given_out == {"a": [("t", 0), ("t", 1), ("u", 0), ("u", 1)], "b": [("t", 2), ("u", 2)]}


def test_topic_is_cut_for_those_who_read_it() -> None:
    given_out = assign_range(group(a="t", b="tu", c="u"), {"t": 3, "u": 3})
    assert (numbers(given_out), numbers(given_out, "u")) == (
        {"a": [0, 1], "b": [2], "c": []},
        {"a": [], "b": [0, 1], "c": [2]},
    )


@pytest.mark.parametrize(
    "members", [{"a": ""}, {"a": "x", "b": "y"}], ids=["no topics", "topics that do not exist"]
)
def test_who_reads_nothing_that_is_there_is_idle(members: dict[str, str]) -> None:
    assert assign_range(group(**members), {"t": 3}) == {member: [] for member in members}


def test_topic_that_is_named_twice_counts_once() -> None:
    assert assign_range({"a": Subscription(("t", "t")), "b": Subscription(("t",))}, {"t": 2}) == {
        "a": [("t", 0)],
        "b": [("t", 1)],
    }


def test_topics_stand_by_name_and_members_as_the_coordinator_listed_them() -> None:
    given_out = assign_range(group(b="zat", a="taz"), {"z": 1, "t": 1, "a": 1})
    assert list(given_out) == ["b", "a"] and given_out["a"] == [("a", 0), ("t", 0), ("z", 0)]


def test_static_member_keeps_its_run_when_it_comes_back_under_another_id() -> None:
    before = assign_range(
        {"z-1": Subscription(("t",), instance_id="i1"), "a": Subscription(("t",))}, {"t": 3}
    )
    after = assign_range({"b-2": Subscription(("t",), instance_id="i1"), "a": Subscription(("t",))}, {"t": 3})
    assert numbers(before)["z-1"] == numbers(after)["b-2"] == [0, 1]


def racked(**racks: str | None) -> dict[str, Subscription]:
    return {member: Subscription(("t",), rack=rack) for member, rack in racks.items()}


def test_each_reads_in_its_own_rack_where_quotas_allow_and_lists_stay_sorted() -> None:
    racks: Racks = {"t": [["w"], ["e"], ["w"], ["e"]]}
    assert numbers(assign_range(racked(a="e", b="w"), {"t": 4}, racks)) == {"a": [1, 3], "b": [0, 2]}


def test_quota_comes_before_the_rack() -> None:
    racks: Racks = {"t": [["e"], ["e"], ["e"], ["w"]]}
    assert numbers(assign_range(racked(a="e", b="w"), {"t": 4}, racks)) == {"a": [0, 1], "b": [2, 3]}


def test_one_that_took_the_one_more_in_its_rack_leaves_none_for_the_others() -> None:
    racks: Racks = {"t": [["e"], ["e"], ["w"], ["w"]]}
    assert numbers(assign_range(racked(a="e", b="w", c=None), {"t": 4}, racks)) == {
        "a": [0, 1],
        "b": [2],
        "c": [3],
    }


def test_member_without_a_rack_takes_what_is_first_and_the_others_the_rest() -> None:
    racks: Racks = {"t": [["e"], ["w"], ["w"]]}
    assert numbers(assign_range(racked(a=None, b="e", c="w"), {"t": 3}, racks)) == {
        "a": [0],
        "b": [2],
        "c": [1],
    }


@pytest.mark.parametrize(
    ("members", "racks"),
    [
        ({"a": "north", "b": "south"}, [["e"], ["w"]]),
        ({"a": "e", "b": "e"}, [["e"], ["e"]]),
        ({"a": "e", "b": "w"}, [[], []]),
        ({"a": None, "b": ""}, [["e"], ["w"]]),
        ({"a": "e", "b": "w"}, [[None], [None]]),
    ],
    ids=["foreign racks", "one rack", "no replicas known", "no racks of members", "replicas without racks"],
)
def test_racks_that_make_no_difference_are_not_looked_at(
    members: dict[str, str | None], racks: list[list[str | None]]
) -> None:
    assert assign_range(racked(**members), {"t": 2}, {"t": racks}) == assign_range(
        racked(**members), {"t": 2}
    )


def test_partition_beyond_what_is_known_of_replicas_is_in_no_rack() -> None:
    assert numbers(assign_range(racked(a="e", b="w"), {"t": 4}, {"t": [["w"], ["e"]]})) == {
        "a": [1, 2],
        "b": [0, 3],
    }


def test_aligned_topics_go_to_a_member_that_has_both_in_its_rack() -> None:
    members = {"a": Subscription(("t", "u"), rack="e"), "b": Subscription(("t", "u"), rack="w")}
    racks: Racks = {"t": [["w"], ["e"], ["e"]], "u": [["w"], ["e"], ["w"]]}
    given_out = assign_range(members, {"t": 3, "u": 3}, racks)
    assert numbers(given_out, "t") == numbers(given_out, "u") == {"a": [1, 2], "b": [0]}


def test_topics_of_unlike_size_are_matched_each_for_itself() -> None:
    members = {"a": Subscription(("t", "u"), rack="e"), "b": Subscription(("t", "u"), rack="w")}
    given_out = assign_range(members, {"t": 2, "u": 3}, {"t": [["w"], ["e"]], "u": [["w"], ["e"], ["e"]]})
    assert numbers(given_out, "t") == {"a": [1], "b": [0]} and numbers(given_out, "u") == {
        "a": [1, 2],
        "b": [0],
    }


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["e", "w", None]), min_size=1, max_size=5), st.integers(0, 8),
    st.lists(st.lists(st.sampled_from(["e", "w"]), max_size=2), max_size=8),
)  # fmt: skip
def test_law_racks_change_who_gets_what_and_never_how_many(
    racks: list[str | None], count: int, replicas: list[list[str | None]]
) -> None:
    members = racked(**{f"m{place}": rack for place, rack in enumerate(racks)})
    with_racks, without = (
        numbers(assign_range(members, {"t": count}, known)) for known in ({"t": replicas}, None)
    )
    assert sorted(map(len, with_racks.values())) == sorted(map(len, without.values()))
    assert sorted(number for row in with_racks.values() for number in row) == list(range(count))

    def in_rack(given_out: dict[str, list[int]]) -> int:
        placed = [(members[member].rack, number) for member, row in given_out.items() for number in row]
        return sum(number < len(replicas) and rack in replicas[number] for rack, number in placed)

    assert in_rack(with_racks) >= in_rack(without)
