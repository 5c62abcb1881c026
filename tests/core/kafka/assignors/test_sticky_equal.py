"""Sticky with equal subscriptions, case by case: who keeps the ceiling, what is let go, who is dealt what;
and racks within the quotas."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.assignors import ASSIGNORS, Assignment, StickyUserData, Subscription
from broker_core.kafka.assignors.rack_preference import RackPreference

Had = list[int]
assign = ASSIGNORS["sticky"].assign
assign_cooperative = ASSIGNORS["cooperative-sticky"].assign


def eager(
    *numbers: int, generation: int = 1, topics: tuple[str, ...] = ("t",), rack: str | None = None
) -> Subscription:
    """A member that had these partitions of `t`, as its user data tell; without any it is new."""
    data = StickyUserData(tuple(("t", number) for number in numbers), generation) if numbers else None
    return Subscription(topics, user_data=data, rack=rack)


def cooperative(*numbers: int, generation: int = 1, rack: str | None = None) -> Subscription:
    return Subscription(
        ("t",),
        owned=tuple(("t", number) for number in numbers),
        generation=generation if numbers else -1,
        rack=rack,
    )


def numbers(assignment: Assignment) -> dict[str, Had]:
    return {member: [number for _, number in row] for member, row in assignment.items()}


@pytest.mark.parametrize(
    ("had", "count", "gets"),
    [
        ({"a": [], "b": []}, 5, {"a": [0, 2, 4], "b": [1, 3]}),
        ({"a": [0, 1], "b": [2, 3]}, 4, {"a": [0, 1], "b": [2, 3]}),
        ({"a": [0, 1, 2, 3], "b": []}, 4, {"a": [0, 1], "b": [2, 3]}),
        ({"a": [0, 1, 2], "b": [3, 4], "c": []}, 5, {"a": [0, 1], "b": [3, 4], "c": [2]}),
        ({"a": [0, 1, 2], "b": [3, 4, 5], "c": []}, 7, {"a": [0, 1, 2], "b": [3, 4], "c": [5, 6]}),
        ({"a": [0], "b": [1]}, 6, {"a": [0, 2, 4], "b": [1, 3, 5]}),
        ({"b": [1, 2]}, 4, {"b": [1, 2, 0, 3]}),
        ({"a": [3, 1], "b": [2, 0]}, 4, {"a": [1, 3], "b": [0, 2]}),
        ({"a": [0, 1], "b": [2], "c": [3]}, 2, {"a": [0], "b": [1], "c": []}),
        ({"a": [5], "b": []}, 1, {"a": [0], "b": []}),
    ],
    ids=[
        "all new",
        "nothing to do",
        "one joins",
        "the first keep the ceiling",
        "two ceilings of three",
        "more partitions",
        "one left",
        "its own lists are sorted",
        "fewer partitions",
        "a claim of what is gone",
    ],
)
def test_case(had: dict[str, Had], count: int, gets: dict[str, Had]) -> None:
    assert numbers(assign({member: eager(*owned) for member, owned in had.items()}, {"t": count})) == gets


def test_member_that_must_let_go_keeps_the_lowest_numbers_over_all_topics() -> None:
    had = StickyUserData((("t", 0), ("t", 1), ("u", 0), ("u", 1)), 1)
    members = {"a": Subscription(("t", "u"), user_data=had), "b": Subscription(("t", "u"))}
    assert assign(members, {"t": 2, "u": 2}) == {"a": [("t", 0), ("u", 0)], "b": [("t", 1), ("u", 1)]}


def test_free_partitions_go_around_among_those_below_the_floor_first() -> None:
    members = {"a": eager(0, 1), "b": eager(2), "c": eager()}
    assert numbers(assign(members, {"t": 7})) == {"a": [0, 1, 6], "b": [2, 3], "c": [4, 5]}


def test_seats_at_the_ceiling_go_to_those_that_had_more_first() -> None:
    """Java's order visits a before b; a has the floor already, b has the ceiling, and there is one seat."""
    assert numbers(assign({"a": eager(0), "b": eager(1, 2)}, {"t": 3})) == {"a": [0], "b": [1, 2]}


def test_topic_that_is_gone_takes_its_claims_along() -> None:
    had = StickyUserData((("gone", 0), ("gone", 1), ("t", 1)), 1)
    assert numbers(
        assign({"a": Subscription(("t", "gone"), user_data=had), "b": Subscription(("t", "gone"))}, {"t": 2})
    ) == {
        "a": [1],
        "b": [0],
    }


@pytest.mark.parametrize(
    ("one", "two", "gets"),
    [
        (eager(0, 1, generation=4), eager(0, 1, generation=5), {"a": [2, 3], "b": [0, 1]}),
        (eager(0, 1, generation=5), eager(0, 1, generation=4), {"a": [0, 1], "b": [2, 3]}),
        (eager(0, 1), eager(2, 3, generation=7), {"a": [0, 1], "b": [2, 3]}),
    ],
    ids=["the second is newer", "the first is newer", "without a dispute an old claim holds"],
)
def test_zombie_with_an_older_generation_loses_what_another_claims(
    one: Subscription, two: Subscription, gets: dict[str, Had]
) -> None:
    members = {"a": one, "b": two}
    for member, asked in list(members.items()):
        assert asked.user_data is not None
        members[member] = Subscription(
            asked.topics, generation=asked.user_data.generation, user_data=asked.user_data
        )
    assert numbers(assign(members, {"t": 4})) == gets


def test_cooperative_gives_in_two_steps_what_another_still_owns() -> None:
    members = {"a": cooperative(0, 1, 2, 3), "b": cooperative(), "c": cooperative()}
    first = numbers(assign_cooperative(members, {"t": 6}))
    assert first == {"a": [0, 1], "b": [4], "c": [5]}, (
        "what is free is given at once, 2 and 3 are still owned"
    )
    members = {member: cooperative(*owned, generation=2) for member, owned in first.items()}
    assert numbers(assign_cooperative(members, {"t": 6})) == {"a": [0, 1], "b": [4, 2], "c": [5, 3]}


def test_cooperative_hands_over_at_once_what_its_owner_left_behind() -> None:
    assert numbers(assign_cooperative({"b": cooperative(2, 3), "c": cooperative()}, {"t": 4})) == {
        "b": [2, 3],
        "c": [0, 1],
    }


def test_cooperative_members_that_own_one_partition_twice_are_asked_to_let_go_of_it_first() -> None:
    members = {"a": cooperative(0, 1, generation=3), "b": cooperative(0, 2, generation=3)}
    given_out = numbers(assign_cooperative(members, {"t": 4}))
    assert (
        0 not in given_out["a"] + given_out["b"] and given_out["a"][:1] == [1] and given_out["b"][:1] == [2]
    )


def test_partition_that_two_claim_in_one_generation_is_not_kept_by_a_third_that_claims_it_in_a_newer_one() -> (
    None
):
    """AbstractStickyAssignor takes what was ever claimed twice from everybody; nobody has it until the next
    rebalance."""
    members = {
        "a": cooperative(0, generation=3),
        "b": cooperative(0, generation=3),
        "c": cooperative(0, 1, generation=4),
    }
    assert numbers(assign_cooperative(members, {"t": 3})) == {"a": [], "b": [2], "c": [1]}


def test_eager_members_ignore_what_a_subscription_says_it_owns() -> None:
    owns = Subscription(("t",), owned=(("t", 0), ("t", 1)), generation=1)
    assert assign({"a": Subscription(("t",)), "b": owns}, {"t": 2}) == {"a": [("t", 0)], "b": [("t", 1)]}


RACKS = {"t": [["w"], ["w"], ["e"], ["e"]]}


def test_partition_in_another_rack_is_let_go_and_dealt_within_the_racks() -> None:
    members = {"a": eager(0, 1, rack="e"), "b": eager(2, 3, rack="w")}
    assert numbers(assign(members, {"t": 4}, RACKS)) == {"a": [2, 3], "b": [0, 1]}
    first = assign_cooperative(
        {"a": cooperative(0, 1, rack="e"), "b": cooperative(2, 3, rack="w")}, {"t": 4}, RACKS
    )
    assert numbers(first) == {"a": [], "b": []}, "all of it changes hands"


def test_seat_at_the_ceiling_goes_to_one_that_reads_at_home_also_when_it_has_just_been_filled() -> None:
    members = {"a": eager(rack="e"), "b": eager(rack="w")}
    assert numbers(assign(members, {"t": 3}, {"t": [["e"], ["e"], ["w"]]})) == {"a": [0, 1], "b": [2]}
    assert numbers(assign(members, {"t": 3}, {"t": [["w"], ["e"], ["w"]]})) == {"a": [1], "b": [0, 2]}
    with_third = members | {"c": eager(rack="north")}
    racks = {"t": [["e"], ["w"], ["e"], ["w"]]}
    assert numbers(assign(with_third, {"t": 4}, racks)) == {"a": [0, 2], "b": [1], "c": [3]}, (
        "the one seat is taken"
    )


def test_hardest_to_place_goes_first() -> None:
    members = {"a": eager(rack="e"), "b": eager(rack="e"), "c": eager(rack="w")}
    assert numbers(assign(members, {"t": 3}, {"t": [["e", "w"], ["e"], ["w"]]}))["c"] == [2]


def test_member_without_a_rack_takes_what_no_rack_can_have() -> None:
    members = {"a": eager(rack="e"), "b": eager()}
    assert numbers(assign(members, {"t": 2}, {"t": [["w"], ["e"]]})) == {"a": [1], "b": [0]}


@pytest.mark.parametrize(
    ("members", "first", "index"),
    [(["a", "b", "c"], 0, 1), (["a", "b", "c"], 2, 2), (["a", "b"], 5, 1), (["a"], 0, -1), ([], 0, -1)],
)
def test_next_match_goes_around_from_where_it_begins(members: list[str], first: int, index: int) -> None:
    preference = RackPreference(
        {"a": "e", "b": "w", "c": "w"}, {("t", 0): frozenset({"w"}), ("t", 1): frozenset()}
    )
    assert preference.next_match(("t", 0), members, first) == index
    assert (
        preference.next_match(("t", 1), members, first)
        == preference.next_match(("t", 9), members, first)
        == -1
    )


def test_partitions_that_the_fewest_members_can_read_at_home_come_first_and_others_keep_their_order() -> None:
    replicas = {"t": [["e"], ["w"], ["e", "w"], ["north"], ["e"], []]}
    preference = RackPreference.of(
        {name: eager(rack=rack) for name, rack in {"a": "e", "b": "e", "c": "w"}.items()}, {"t": 6}, replicas
    )
    row = [("t", number) for number in range(6)]
    assert [number for _, number in preference.hardest_first(row)] == [3, 5, 1, 0, 4, 2]


@pytest.mark.parametrize(
    ("members", "replicas"),
    [
        ({"a": "north"}, [["e"], ["w"]]),
        ({"a": "e"}, [["e"], ["e"]]),
        ({"a": ""}, [["e"], ["w"]]),
        ({"a": "e"}, []),
    ],
)
def test_racks_that_make_no_difference_are_not_looked_at(
    members: dict[str, str], replicas: list[list[str]]
) -> None:
    asked = {name: eager(rack=rack) for name, rack in members.items()}
    assert RackPreference.of(asked, {"t": 2}, {"t": replicas}) == RackPreference({}, {})


def test_mismatch_needs_a_rack_of_the_member() -> None:
    preference = RackPreference({"a": "e"}, {("t", 0): frozenset({"w"}), ("t", 1): frozenset({"e"})})
    asked = [("a", 0), ("a", 1), ("a", 9), ("b", 0)]
    assert [preference.is_mismatch(member, ("t", number)) for member, number in asked] == [
        True,
        False,
        True,
        False,
    ]
    assert RackPreference({}, {}).hardest_first([("t", 1), ("t", 0)]) == [("t", 1), ("t", 0)]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.lists(st.sampled_from(["join", "leave", "grow"]), max_size=6), st.booleans())
def test_law_a_life_of_a_group_moves_only_what_balance_asks_for(
    count: int, acts: list[str], is_cooperative: bool
) -> None:
    """Members come and go and partitions are added: after each change all is given out within one, and nobody
    swaps."""
    held: dict[str, Had] = {"m0": list(range(count))}
    for step, act in enumerate(acts):
        if act == "join":
            held[f"m{step + 1}"] = []
        elif act == "leave" and len(held) > 1:
            del held[min(held)]
        else:
            count += 2
        before = {number: member for member, owned in held.items() for number in owned}
        for generation in (2 * step + 1, 2 * step + 2):
            if is_cooperative:
                told = assign_cooperative(
                    {member: cooperative(*owned, generation=generation) for member, owned in held.items()},
                    {"t": count},
                )
            else:
                told = assign(
                    {member: eager(*owned, generation=generation) for member, owned in held.items()},
                    {"t": count},
                )
            held = numbers(told)
        sizes = [len(owned) for owned in held.values()]
        assert sorted(number for owned in held.values() for number in owned) == list(range(count))
        assert max(sizes) - min(sizes) <= 1
        lost = {
            before[number]
            for member, owned in held.items()
            for number in owned
            if before.get(number, member) != member
        }
        gained = {
            member
            for member, owned in held.items()
            for number in owned
            if before.get(number, member) != member
        }
        assert not lost & gained, "who gives something up takes nothing from another"
