"""The server's range assignor, without a coordinator: runs, who stands first, unequal subscriptions; and the
sets of Java that order topics."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.group.codes import UNKNOWN_SERVER_ERROR, Refused
from broker_core.kafka.group.consumer.assignor import GroupSpec, MemberSpec
from broker_core.kafka.group.consumer.java_sets import (
    copied_numbers,
    in_topic_order,
    partition_hash,
    topic_id_hash,
)
from broker_core.kafka.group.consumer.range import assign_range


def topic_id(number: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(16, "big")).decode().rstrip("=")


T, U = topic_id(1), topic_id(2)


def spec(
    topics: dict[str, tuple[str, ...]], counts: dict[str, int], instances: dict[str, str] | None = None
) -> GroupSpec:
    members = {
        member_id: MemberSpec((instances or {}).get(member_id), asked, {})
        for member_id, asked in topics.items()
    }
    return GroupSpec(members, len(set(map(frozenset, topics.values()))) <= 1, {}, counts)


def test_nobody_and_nothing() -> None:
    assert assign_range(spec({}, {T: 3})) == {}
    assert assign_range(spec({"a": ()}, {T: 3})) == {"a": {}}
    assert assign_range(spec({"a": (T,), "b": (T,)}, {T: 0})) == {"a": {}, "b": {}}


def test_first_members_have_one_more_of_each_topic() -> None:
    assert assign_range(spec({"b": (T, U), "a": (T, U)}, {T: 3, U: 1})) == {
        "a": {T: (0, 1), U: (0,)},
        "b": {T: (2,)},
    }


def test_more_members_than_partitions_leave_the_last_without_any() -> None:
    assert assign_range(spec(dict.fromkeys("cab", (T,)), {T: 2})) == {"a": {T: (0,)}, "b": {T: (1,)}, "c": {}}


def test_static_members_stand_first_by_instance_and_so_keep_their_runs_when_their_ids_change() -> None:
    before = assign_range(spec(dict.fromkeys("abz", (T,)), {T: 4}, {"z": "i-2", "b": "i-1"}))
    assert before == {"b": {T: (0, 1)}, "z": {T: (2,)}, "a": {T: (3,)}}
    after = assign_range(spec(dict.fromkeys("abq", (T,)), {T: 4}, {"q": "i-2", "b": "i-1"}))
    assert after["q"] == before["z"] and after["a"] == before["a"]


def test_each_topic_is_cut_for_its_own_readers() -> None:
    assert assign_range(spec({"a": (T,), "b": (T, U), "c": (U,)}, {T: 3, U: 3})) == {
        "a": {T: (0, 1)}, "b": {T: (2,), U: (0, 1)}, "c": {U: (2,)},
    }  # fmt: skip


def test_topics_of_one_size_are_shared_alike() -> None:
    given_out = assign_range(spec(dict.fromkeys("abc", (T, U)), {T: 7, U: 7}))
    assert all(mine[T] == mine[U] for mine in given_out.values())


def test_topic_without_metadata_fails_the_whole_assignment() -> None:
    with pytest.raises(Refused) as refused:
        assign_range(spec({"a": (T, U)}, {T: 2}))
    assert refused.value.code == UNKNOWN_SERVER_ERROR


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from("abcd"), st.lists(st.sampled_from([T, U]), unique=True).map(tuple), min_size=1
    ),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_law_runs_tile_each_topic_once_and_differ_by_one_at_most(
    topics: dict[str, tuple[str, ...]], of_t: int, of_u: int
) -> None:
    given_out = assign_range(spec(topics, {T: of_t, U: of_u}))
    assert list(given_out) == sorted(topics)
    for topic, count in ((T, of_t), (U, of_u)):
        readers = [name for name in sorted(topics) if topic in topics[name]]
        runs = [given_out[name].get(topic, ()) for name in readers]
        assert [number for run in runs for number in run] == (list(range(count)) if readers else [])
        assert sorted(map(len, runs), reverse=True) == list(map(len, runs)) and (
            not runs or len(runs[0]) - len(runs[-1]) <= 1
        )
        assert all(topic not in given_out[name] for name in topics if name not in readers)


def test_hash_of_a_topic_id_mixes_its_four_words() -> None:
    """Uuid.hashCode: the halves together, then the upper word with the lower."""
    assert [topic_id_hash(topic_id(number)) for number in (1, 1 << 32, 1 << 64, 1 << 96)] == [1, 1, 1, 1]
    assert topic_id_hash(topic_id((1 << 64) | 1)) == 0 and topic_id_hash(topic_id(0xFFFFFFFF)) == 0xFFFFFFFF
    assert partition_hash((T, 7)) == 961 + 31 + 7 and partition_hash((topic_id(0xFFFFFFFF), 0)) == 961 - 31


def test_topics_stand_in_the_order_of_a_hash_set() -> None:
    """16 slots: 17 shares that of 1 and stands behind it, whoever came first keeps its place."""
    assert in_topic_order(map(topic_id, (3, 17, 2, 1, 1))) == [topic_id(number) for number in (17, 1, 2, 3)]
    assert in_topic_order(map(topic_id, (1, 17))) == [T, topic_id(17)]


def test_copy_of_a_set_has_room_for_one_more() -> None:
    """12 numbers fit 16 slots; a copy of them has 32 (its table is for 13), so 16 does not come before 1."""
    assert copied_numbers([16, *range(1, 12)]).in_order() == [*range(1, 12), 16]
    assert copied_numbers([16, *range(1, 11)]).in_order() == [16, *range(1, 11)]
