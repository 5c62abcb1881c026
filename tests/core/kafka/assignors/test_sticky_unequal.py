"""Sticky with unequal subscriptions, case by case: what is kept, who is asked first, what evening out moves,
and when it is taken back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.assignors import ASSIGNORS, Assignment, StickyUserData, Subscription, TopicPartition
from broker_core.kafka.assignors.general import _imbalance, _MembersByLoad

assign = ASSIGNORS["sticky"].assign


def member(topics: str, *had: TopicPartition, generation: int = 1, rack: str | None = None) -> Subscription:
    """Topics have one letter each; had: as its user data tell."""
    return Subscription(
        tuple(topics),
        generation=generation if had else -1,
        user_data=StickyUserData(had, generation) if had else None,
        rack=rack,
    )


def sizes(assignment: Assignment) -> dict[str, int]:
    return {name: len(row) for name, row in assignment.items()}


def of(topic: str, *numbers: int) -> list[TopicPartition]:
    return [(topic, number) for number in numbers]


def test_topic_with_the_fewest_readers_is_placed_first_and_on_the_least_loaded() -> None:
    assert assign({"a": member("t"), "b": member("tu"), "c": member("tu")}, {"t": 2, "u": 2}) == {
        "a": of("t", 0, 1), "b": of("u", 0), "c": of("u", 1),
    }  # fmt: skip


def test_kafkas_own_example_is_as_even_as_it_can_be() -> None:
    """StickyAssignor's documentation: round robin gives 1, 2 and 3; sticky gives c all it alone reads, and no
    more."""
    assert sizes(
        assign({"a": member("t"), "b": member("tu"), "c": member("tuv")}, {"t": 1, "u": 2, "v": 3})
    ) == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize("topics", ["u", ""])
def test_topic_that_a_member_no_longer_reads_goes_to_one_that_does(topics: str) -> None:
    members = {"a": member(topics, ("t", 0), ("u", 0)), "b": member("t", ("t", 1))}
    given_out = assign(members, {"t": 2, "u": 1})
    assert sorted(given_out["b"]) == of("t", 0, 1) and given_out["a"] == (of("u", 0) if topics else [])


def test_what_is_kept_stands_in_front_and_nothing_moves_without_need() -> None:
    members = {"a": member("t", ("t", 2), ("t", 0)), "b": member("tu", ("u", 0), ("t", 1))}
    assert assign(members, {"t": 3, "u": 2}) == {"a": of("t", 2, 0), "b": [("t", 1), ("u", 0), ("u", 1)]}


def test_newcomer_is_filled_up_from_the_fullest_until_the_difference_is_one() -> None:
    members = {"a": member("t", *of("t", 0, 1, 2, 3)), "b": member("t", *of("t", 4, 5)), "c": member("tu")}
    given_out = assign(members, {"t": 6, "u": 0})
    assert sizes(given_out) == {"a": 2, "b": 2, "c": 2} and given_out["b"] == of("t", 4, 5)
    assert set(given_out["a"]) < set(of("t", 0, 1, 2, 3))


def test_partitions_that_are_newly_placed_move_before_those_that_somebody_had() -> None:
    """a had t-0 and is given t-2 as well; what evens out is t-2, though t-0 stands first."""
    members = {"a": member("tu", ("t", 0)), "b": member("u", *of("u", 0, 2)), "c": member("t")}
    assert assign(members, {"t": 3, "u": 3}) == {
        "a": [("t", 0), ("u", 1)],
        "b": of("u", 0, 2),
        "c": of("t", 1, 2),
    }


def test_one_partition_after_the_other_moves_from_the_member_that_has_all() -> None:
    members = {"a": member("tu"), "b": member("u"), "c": member("t", *of("t", 0, 1, 2, 3))}
    assert assign(members, {"t": 4, "u": 1}) == {"a": of("t", 0, 1), "b": of("u", 0), "c": of("t", 2, 3)}


def test_who_alone_reads_a_new_topic_gives_up_what_others_can_have() -> None:
    members = {"a": member("tu", *of("t", 0, 1)), "b": member("tv", *of("t", 2, 3))}
    given_out = assign(members, {"t": 4, "u": 2, "v": 0})
    assert (
        sizes(given_out) == {"a": 3, "b": 3}
        and set(given_out["b"]) > set(of("t", 2, 3))
        and set(given_out["a"]) > set(of("u", 0, 1))
    )


def test_member_that_can_neither_give_nor_take_is_left_alone() -> None:
    members = {"a": member("u", *of("u", 0, 1, 2)), "b": member("t", *of("t", 0, 1, 2)), "c": member("tx")}
    given_out = assign(members, {"t": 3, "u": 3, "x": 0})
    assert given_out["a"] == of("u", 0, 1, 2) and sorted([len(given_out["b"]), len(given_out["c"])]) == [1, 2]


def test_two_that_claim_one_partition_in_one_generation_both_lose_it_and_one_is_given_it() -> None:
    members = {
        "a": member("t", *of("t", 0, 1), generation=3),
        "b": member("tu", *of("t", 0, 2), generation=3),
    }
    given_out = assign(members, {"t": 4, "u": 0})
    assert sorted(given_out["a"] + given_out["b"]) == of("t", 0, 1, 2, 3) and sizes(given_out) == {
        "a": 2,
        "b": 2,
    }
    assert given_out["a"][0] == ("t", 1) and given_out["b"][0] == ("t", 2)


def test_zombie_of_an_older_generation_gives_way() -> None:
    members = {
        "a": member("t", *of("t", 0, 1), generation=2),
        "b": member("tu", *of("t", 0, 1), generation=3),
    }
    given_out = assign(members, {"t": 2, "u": 0})
    assert sizes(given_out) == {"a": 1, "b": 1}, "b keeps what it may, and evens out"


def test_racks_decide_what_stays_and_where_the_free_ones_go() -> None:
    members = {"a": member("t", *of("t", 0, 1), rack="e"), "b": member("tu", *of("t", 2, 3), rack="w")}
    racks = {"t": [["w"], ["e"], ["e"], ["w"]]}
    given_out = assign(members, {"t": 4, "u": 0}, racks)
    assert {name: sorted(row) for name, row in given_out.items()} == {"a": of("t", 1, 2), "b": of("t", 0, 3)}


def test_partition_that_nobody_can_read_at_home_goes_to_the_least_loaded() -> None:
    given_out = assign(
        {"a": member("t", rack="e"), "b": member("tu", rack="w")}, {"t": 2, "u": 0}, {"t": [["north"], ["e"]]}
    )
    assert given_out == {"a": of("t", 1), "b": of("t", 0)}


@pytest.mark.parametrize(
    ("loads", "imbalance"), [([2, 2, 2], 0), ([1, 2, 3], 4), ([0, 4], 4), ([5], 0), ([], 0), ([3, 1, 2], 4)]
)
def test_imbalance_is_the_sum_of_all_differences(loads: list[int], imbalance: int) -> None:
    assert _imbalance({f"m{place}": of("t", *range(load)) for place, load in enumerate(loads)}) == imbalance


def test_members_stand_by_load_and_then_by_id_as_java_compares_texts() -> None:
    row = _MembersByLoad({"b": of("t", 0), "a": of("t", 1), "c": [], "\N{GRINNING FACE}": [], "\uffff": []})
    assert row.in_order() == ["c", "\N{GRINNING FACE}", "\uffff", "a", "b"], (
        "UTF-16: a surrogate stands before U+FFFF"
    )
    row.remove("c", 0)
    row.add("c", 1)
    assert row.in_order()[2:] == ["a", "b", "c"] and (row.least_loaded(), row.most_loaded()) == (
        "\N{GRINNING FACE}",
        "c",
    )


TOPICS = st.lists(st.sampled_from("tuv"), unique=True).map("".join)
COUNTS = st.fixed_dictionaries({topic: st.integers(0, 5) for topic in "tuv"})


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), TOPICS, min_size=1), COUNTS)
def test_law_nobody_could_take_one_from_a_member_with_two_more(
    reads: dict[str, str], counts: dict[str, int]
) -> None:
    given_out = assign({name: member(topics) for name, topics in reads.items()}, counts)
    loads = sizes(given_out)
    for giver, row in given_out.items():
        for topic, _ in row:
            assert all(loads[giver] <= loads[taker] + 1 for taker, topics in reads.items() if topic in topics)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), TOPICS, min_size=2), COUNTS, st.sampled_from("abcd"))
def test_law_who_stays_keeps_all_it_had_when_another_leaves(
    reads: dict[str, str], counts: dict[str, int], gone: str
) -> None:
    """Unless that would leave somebody two behind, which only evening out may mend."""
    before = assign({name: member(topics) for name, topics in reads.items()}, counts)
    stays = {name: member(topics, *before[name]) for name, topics in reads.items() if name != gone}
    after = assign(stays, counts)
    lost = [partition for name in stays for partition in before[name] if partition not in after[name]]
    if lost:
        kept = {name: [partition for partition in before[name] if partition in after[name]] for name in stays}
        assert max(map(len, after.values())) >= max(map(len, kept.values()))
        receivers = {name for name, row in after.items() for partition in row if partition in lost}
        losers = {name for name in stays for partition in before[name] if partition in lost}
        assert not receivers & losers, "nobody swaps"
