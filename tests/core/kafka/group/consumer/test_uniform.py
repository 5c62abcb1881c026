"""The server's uniform assignor, without a coordinator: quotas, what stays where it is, unequal
subscriptions, and its laws."""

from __future__ import annotations

import base64
from collections import Counter

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.kafka.group.codes import UNKNOWN_SERVER_ERROR, Refused
from broker_core.kafka.group.consumer.assignor import GroupSpec, MemberSpec, Target
from broker_core.kafka.group.consumer.uniform import assign_uniform
from broker_core.kafka.group.consumer.uniform_general import _Moves

T, U, V = (base64.urlsafe_b64encode(bytes([0] * 15 + [number])).decode().rstrip("=") for number in (1, 2, 3))
LAW = settings(max_examples=20, deadline=None)


def spec(
    topics: dict[str, tuple[str, ...]], counts: dict[str, int], had: dict[str, Target] | None = None
) -> GroupSpec:
    """topics: member -> what it reads. had: what the present target gives to whom."""
    held = had or {}
    members = {
        member_id: MemberSpec(None, asked, held.get(member_id, {})) for member_id, asked in topics.items()
    }
    targeted = {
        (topic, number): member_id
        for member_id, target in held.items()
        for topic, numbers in target.items()
        for number in numbers
    }
    return GroupSpec(members, len(set(map(frozenset, topics.values()))) <= 1, targeted, counts)


def places(target: Target) -> set[tuple[str, int]]:
    return {(topic, number) for topic, numbers in target.items() for number in numbers}


def sizes(given_out: dict[str, Target]) -> dict[str, int]:
    return {member_id: len(places(target)) for member_id, target in given_out.items()}


def test_nobody_and_nothing() -> None:
    assert assign_uniform(spec({}, {T: 3})) == {}
    assert assign_uniform(spec({"a": (), "b": ()}, {T: 3})) == {}, "who is not in the answer has nothing"
    assert sizes(assign_uniform(spec({"a": (T,), "b": (T,)}, {T: 0}))) == {"a": 0, "b": 0}
    assert assign_uniform(spec({"a": (T,), "b": ()}, {T: 2})) == {"a": {T: (0, 1)}, "b": {}}


@pytest.mark.parametrize("topics", [{"a": (T, U)}, {"a": (T, U), "b": (T,)}], ids=["equal", "unequal"])
def test_topic_without_metadata_fails_the_whole_assignment(topics: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(Refused) as refused:
        assign_uniform(spec(topics, {T: 2}))
    assert refused.value.code == UNKNOWN_SERVER_ERROR


def test_first_members_of_the_map_have_one_more() -> None:
    assert sizes(assign_uniform(spec({"b": (T,), "a": (T,), "c": (T,)}, {T: 5}))) == {"b": 2, "a": 2, "c": 1}


def test_all_topics_together_are_shared_evenly_where_range_would_favour_the_first() -> None:
    given_out = assign_uniform(spec({"a": (T, U, V), "b": (T, U, V)}, {T: 1, U: 1, V: 1}))
    assert sorted(sizes(given_out).values()) == [1, 2]


def test_newcomer_takes_the_last_numbers_of_those_that_have_too_many() -> None:
    given_out = assign_uniform(spec({"a": (T,), "b": (T,)}, {T: 6}, {"a": {T: (0, 1, 2, 3, 4, 5)}}))
    assert given_out == {"a": {T: (0, 1, 2)}, "b": {T: (3, 4, 5)}}


def test_partitions_of_who_left_go_to_those_below_their_quota_and_nobody_else_moves() -> None:
    given_out = assign_uniform(spec({"a": (T,), "c": (T,)}, {T: 6}, {"a": {T: (0, 3)}, "c": {T: (2, 5)}}))
    assert given_out == {"a": {T: (0, 1, 3)}, "c": {T: (2, 4, 5)}}


def test_new_partitions_fill_up_and_take_nothing_away() -> None:
    given_out = assign_uniform(spec({"a": (T,), "b": (T,)}, {T: 5}, {"a": {T: (0,)}, "b": {T: (1,)}}))
    assert given_out == {"a": {T: (0, 2, 3)}, "b": {T: (1, 4)}}


def test_topic_that_nobody_reads_any_more_goes_and_its_room_is_used() -> None:
    given_out = assign_uniform(
        spec({"a": (U,), "b": (U,)}, {U: 4}, {"a": {T: (0, 1), U: (3,)}, "b": {T: (2,)}})
    )
    assert given_out == {"a": {U: (0, 3)}, "b": {U: (1, 2)}}


def test_second_topic_of_a_full_member_goes_as_a_whole() -> None:
    had: dict[str, Target] = {"a": {T: (0, 1, 2), U: (0, 1)}, "b": {}}
    given_out = assign_uniform(spec({"a": (T, U), "b": (T, U)}, {T: 3, U: 2}, had))
    assert given_out == {"a": {T: (0, 1, 2)}, "b": {U: (0, 1)}}


def test_unequal_readers_are_evened_out_as_far_as_their_topics_allow() -> None:
    given_out = assign_uniform(spec({"a": (T,), "b": (T, U), "c": (U,)}, {T: 2, U: 4}))
    assert sizes(given_out) == {"a": 2, "b": 2, "c": 2}
    assert places(given_out["a"]) == {(T, 0), (T, 1)}


def test_only_reader_of_a_topic_has_all_of_it_and_the_rest_goes_to_the_others() -> None:
    assert sizes(assign_uniform(spec({"a": (T, U), "b": (U,)}, {T: 4, U: 3}))) == {"a": 4, "b": 3}


def test_unequal_readers_keep_what_they_had_when_it_is_even() -> None:
    had: dict[str, Target] = {"a": {T: (1, 3)}, "b": {T: (0, 2)}, "c": {U: (0, 1)}}
    given_out = assign_uniform(spec({"a": (T,), "b": (T, U), "c": (U,)}, {T: 4, U: 2}, had))
    assert {member_id: places(target) for member_id, target in given_out.items()} == {
        member_id: places(had[member_id]) for member_id in had
    }


def test_member_that_reads_less_loses_that_topic_alone() -> None:
    had: dict[str, Target] = {"a": {T: (0,), U: (0,)}, "b": {T: (1,), U: (1,)}}
    given_out = assign_uniform(spec({"a": (T,), "b": (T, U)}, {T: 2, U: 2}, had))
    assert places(given_out["b"]) >= {(U, 0), (U, 1)} and places(given_out["a"]) >= {(T, 0)}
    assert sizes(given_out) == {"a": 2, "b": 2}


def test_overloaded_member_gives_one_after_the_other_to_the_least_loaded_reader() -> None:
    had: dict[str, Target] = {"a": {T: (0, 1, 2, 3)}}
    given_out = assign_uniform(spec({"a": (T,), "b": (T,), "c": (T, U)}, {T: 4, U: 1}, had))
    assert sizes(given_out) == {"a": 2, "b": 2, "c": 1} and places(given_out["c"]) == {(U, 0)}


@pytest.mark.parametrize("is_back", [True, False])
def test_move_that_would_cross_another_takes_the_older_one_back(is_back: bool) -> None:
    moves = _Moves()
    moves.note((T, 0), "a", "b")
    assert moves.instead_of((T, 5), "b", "a") == (T, 0)
    assert moves.instead_of((U, 5), "b", "a") == (U, 5) and moves.instead_of((T, 5), "a", "b") == (T, 5)
    if is_back:
        with pytest.raises(Refused):
            moves.note((T, 0), "b", "a")
    assert moves.instead_of((T, 5), "b", "a") == ((T, 5) if is_back else (T, 0))


def test_partition_that_is_not_where_it_was_moved_to_is_our_own_mistake() -> None:
    moves = _Moves()
    moves.note((T, 0), "a", "b")
    with pytest.raises(InvariantError, match="was moved to b and is with c"):
        moves.instead_of((T, 0), "c", "a")


@st.composite
def groups(draw: st.DrawFn, is_equal: bool) -> GroupSpec:
    """Any group with any history of one owner each."""
    counts = {topic: draw(st.integers(0, 6)) for topic in (T, U, V)}
    shared = tuple(draw(st.lists(st.sampled_from([T, U, V]), unique=True)))
    names = draw(st.permutations("abcde"))[: draw(st.integers(1, 5))]
    topics = {
        name: shared if is_equal else tuple(draw(st.lists(st.sampled_from([T, U, V]), unique=True)))
        for name in names
    }
    had: dict[str, dict[str, list[int]]] = {name: {} for name in names}
    for topic, count in counts.items():
        for number in range(count):
            owner = draw(st.sampled_from([None, *names]))
            if owner is not None:
                had[owner].setdefault(topic, []).append(number)
    return spec(
        topics,
        counts,
        {name: {topic: tuple(numbers) for topic, numbers in mine.items()} for name, mine in had.items()},
    )


def assigned(group: GroupSpec) -> dict[str, Target]:
    """What the assignor gives out. With unequal subscriptions the original gives up where it would move a
    partition a second time."""
    try:
        return assign_uniform(group)
    except Refused:
        if group.is_equal:
            raise
        reject()


@pytest.mark.parametrize("is_equal", [True, False], ids=["equal", "unequal"])
@LAW
@given(st.data())
def test_law_each_partition_that_somebody_reads_has_one_reader(is_equal: bool, data: st.DataObject) -> None:
    group = data.draw(groups(is_equal))
    given_out = assigned(group)
    owners = Counter(place for target in given_out.values() for place in places(target))
    asked = {topic for member in group.members.values() for topic in member.topic_ids}
    assert owners == Counter(
        (topic, number) for topic in asked for number in range(group.partition_counts[topic])
    )
    assert all(
        topic in group.members[member_id].topic_ids
        for member_id, target in given_out.items()
        for topic in target
    )


@LAW
@given(groups(is_equal=True))
def test_law_equal_readers_are_within_one_and_each_keeps_up_to_its_quota(group: GroupSpec) -> None:
    given_out = assigned(group)
    if not given_out:
        return
    loads = sizes(given_out)
    assert max(loads.values()) - min(loads.values()) <= 1
    for member_id, member in group.members.items():
        had = {place for place in places(member.target) if place[0] in member.topic_ids}
        assert len(places(given_out[member_id]) & had) >= min(len(had), *loads.values()), "what fits stays"


@LAW
@given(groups(is_equal=False))
def test_law_no_unequal_reader_could_take_one_from_a_reader_with_two_more(group: GroupSpec) -> None:
    given_out = assigned(group)
    loads = sizes(given_out)
    for giver, target in given_out.items():
        for topic in target:
            for taker, member in group.members.items():
                if topic in member.topic_ids:
                    assert loads[giver] <= loads[taker] + 1


@pytest.mark.parametrize("is_equal", [True, False], ids=["equal", "unequal"])
@LAW
@given(st.data())
def test_law_a_second_look_moves_nothing(is_equal: bool, data: st.DataObject) -> None:
    group = data.draw(groups(is_equal))
    first = assigned(group)
    again = assigned(
        spec(
            {name: member.topic_ids for name, member in group.members.items()},
            dict(group.partition_counts),
            first,
        )
    )
    assert {name: places(target) for name, target in again.items()} == {
        name: places(target) for name, target in first.items()
    }
