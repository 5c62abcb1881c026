"""What members claim to have had: how it is read, in which order, whom the leader believes, and the bytes in
which claims travel."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.assignors.byte_fields import (
    FieldReader,
    MalformedBytes,
    Underflow,
    array_bytes,
    int32_bytes,
    nullable_bytes,
    string_bytes,
)
from broker_core.kafka.assignors.claims import (
    CLAIMS_OF_COOPERATIVE_MEMBERS,
    CLAIMS_OF_EAGER_MEMBERS,
    ClaimReader,
    by_java_topic,
    read_ownership,
)
from broker_core.kafka.assignors.protocol import StickyUserData, Subscription, TopicPartition
from broker_core.kafka.assignors.subscription_bytes import (
    AssignmentData,
    SchemaError,
    SubscriptionData,
    read_assignment,
    read_sticky_user_data,
    read_subscription,
    read_version,
    write_assignment,
    write_sticky_user_data,
    write_subscription,
)


def t(*numbers: int) -> tuple[TopicPartition, ...]:
    return tuple(("t", number) for number in numbers)


def member(
    *numbers: int, generation: int = -1, data: StickyUserData | None = None, topics: tuple[str, ...] = ("t",)
) -> Subscription:
    return Subscription(topics, t(*numbers), generation, data)


@pytest.mark.parametrize(
    ("reader", "owned", "generation"),
    [(CLAIMS_OF_EAGER_MEMBERS, [2], 4), (CLAIMS_OF_COOPERATIVE_MEMBERS, [0, 1], 5)],
    ids=["eager", "cooperative"],
)
def test_each_kind_of_group_reads_its_own_claim(
    reader: ClaimReader, owned: list[int], generation: int
) -> None:
    asked = member(0, 1, generation=5, data=StickyUserData(t(2), 4))
    found = read_ownership({"a": asked}, {"t": 3}, reader, -1)
    assert (found.owned, found.max_generation, found.claims["a"].generation) == (
        {"a": list(t(*owned))},
        generation,
        generation,
    )


@pytest.mark.parametrize(("seen", "highest"), [(-1, 5), (5, 5), (9, 9)])
def test_highest_generation_is_of_now_or_before(seen: int, highest: int) -> None:
    members = {"a": member(0, generation=5), "b": member(1, generation=3)}
    assert read_ownership(members, {"t": 3}, CLAIMS_OF_COOPERATIVE_MEMBERS, seen).max_generation == highest


def test_claims_of_what_is_not_there_are_dropped() -> None:
    asked = Subscription(("t",), (("t", 0), ("t", 3), ("t", -1), ("gone", 0)), 1)
    assert read_ownership({"a": asked}, {"t": 3}, CLAIMS_OF_COOPERATIVE_MEMBERS, -1).owned == {
        "a": list(t(0))
    }


@pytest.mark.parametrize(
    ("generations", "owned", "doubly"),
    [
        ((3, 4), {"a": [0], "b": [1, 2]}, []),
        ((4, 3), {"a": [0, 1], "b": [2]}, []),
        ((4, 4), {"a": [0], "b": [2]}, [1]),
        ((-1, -1), {"a": [0], "b": [2]}, [1]),
        ((-1, 0), {"a": [0], "b": [1, 2]}, []),
    ],
)
def test_newer_of_two_claims_wins_and_of_one_generation_neither(
    generations: tuple[int, int], owned: dict[str, list[int]], doubly: list[int]
) -> None:
    members = {"a": member(0, 1, generation=generations[0]), "b": member(1, 2, generation=generations[1])}
    found = read_ownership(members, {"t": 3}, CLAIMS_OF_COOPERATIVE_MEMBERS, -1)
    assert found.owned == {name: list(t(*numbers)) for name, numbers in owned.items()} and list(
        found.doubly_claimed
    ) == list(t(*doubly))


@pytest.mark.parametrize("order", ["abc", "cba", "bca"])
def test_of_three_that_claim_one_partition_the_newest_has_it(order: str) -> None:
    generations = {"a": 1, "b": 3, "c": 2}
    found = read_ownership(
        {name: member(0, generation=generations[name]) for name in order},
        {"t": 1},
        CLAIMS_OF_COOPERATIVE_MEMBERS,
        -1,
    )
    assert {name: len(row) for name, row in found.owned.items()} == {"a": 0, "b": 1, "c": 0}


def test_topics_of_user_data_stand_in_the_order_of_javas_map_with_the_later_of_one_slot_first() -> None:
    assert by_java_topic([("u", 1), ("t", 2), ("u", 0)]) == [("t", 2), ("u", 1), ("u", 0)]
    assert by_java_topic([("Aa", 0), ("BB", 1), ("Aa", 2)]) == [("BB", 1), ("Aa", 0), ("Aa", 2)]


@pytest.mark.parametrize(
    ("lists", "is_equal"),
    [
        ((("t", "u"), ("u", "t")), True),
        ((("t",), ("t", "u")), False),
        (((), ("t",)), False),
        (((), ()), True),
    ],
)
def test_equal_lists_are_equal_in_any_order_and_an_empty_one_is_like_no_other(
    lists: tuple[tuple[str, ...], ...], is_equal: bool
) -> None:
    members = {f"m{place}": Subscription(topics) for place, topics in enumerate(lists)}
    assert (
        read_ownership(members, {"t": 1, "u": 1}, CLAIMS_OF_EAGER_MEMBERS, -1).has_equal_subscriptions
        is is_equal
    )


TOPIC = st.text("abz-\u00e9\U0001f600", min_size=1, max_size=4)
PLACES = st.lists(st.tuples(TOPIC, st.integers(0, 2**31 - 1)), unique=True, max_size=6)


DATA, RACK = st.none() | st.binary(max_size=4), st.sampled_from([None, "east"])


@settings(max_examples=50, deadline=None)
@given(st.lists(TOPIC, unique=True, max_size=4), DATA, PLACES, st.integers(-1, 9), RACK, st.integers(0, 3))
def test_law_a_subscription_says_in_each_version_what_that_version_has(
    topics: list[str],
    data: bytes | None,
    owned: list[TopicPartition],
    generation: int,
    rack: str | None,
    version: int,
) -> None:
    said = SubscriptionData(tuple(topics), data, tuple(owned), generation, rack)
    read = read_subscription(write_subscription(said, version))
    assert (sorted(read.topics), read.user_data, read.version) == (sorted(topics), data, version)
    assert sorted(read.owned) == (sorted(owned) if version >= 1 else [])
    assert (read.generation, read.rack) == (
        generation if version >= 2 else -1,
        rack if version >= 3 else None,
    )
    assert read_subscription(write_subscription(said, version), 0).topics == read.topics, (
        "what a coordinator looks at"
    )


@settings(max_examples=40, deadline=None)
@given(PLACES, DATA, st.integers(0, 3))
def test_law_an_assignment_is_read_by_topic_in_order_of_appearance(
    places: list[TopicPartition], data: bytes | None, version: int
) -> None:
    told = read_assignment(write_assignment(places, data, version))
    topics = list(dict.fromkeys(topic for topic, _ in places))
    assert told == AssignmentData(
        tuple(place for topic in topics for place in places if place[0] == topic), data
    )


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=24))
def test_law_any_bytes_are_read_or_refused_and_unreadable_memory_is_none(data: bytes) -> None:
    for read in (read_subscription, read_assignment):
        try:
            read(data)
        except MalformedBytes:
            continue
    assert read_sticky_user_data(data)[1] >= -(2**31)


def test_newer_version_is_read_as_the_newest_known_and_a_negative_one_is_none() -> None:
    said = write_subscription(SubscriptionData(("t",), None, (), 7, "east"))
    newer = read_subscription(b"\x00\x09" + said[2:] + b"more")
    assert (newer.topics, newer.generation, newer.rack, newer.version) == (("t",), 7, "east", 9)
    for read in (read_subscription, read_assignment):
        with pytest.raises(SchemaError, match="version -1"):
            read(b"\xff\xff" + said[2:])
        with pytest.raises(SchemaError, match="no version"):
            read(b"\x00")
    assert read_version(b"\x00\x02") == 2


@pytest.mark.parametrize(("cut", "kind"), [(3, SchemaError), (9, MalformedBytes)], ids=["number", "text"])
def test_cut_within_a_number_is_no_subscription_and_a_length_that_does_not_fit_is_malformed(
    cut: int, kind: type[MalformedBytes]
) -> None:
    with pytest.raises(MalformedBytes) as refused:
        read_subscription(write_subscription(SubscriptionData(("topic",)), 0)[:cut])
    assert type(refused.value) is kind


def test_memory_of_the_sticky_assignor_keeps_the_order_given_and_an_old_one_has_no_generation() -> None:
    data = write_sticky_user_data({"u": [1, 0], "t": [2]}, 5)
    assert read_sticky_user_data(data) == ([("u", 1), ("u", 0), ("t", 2)], 5)
    assert read_sticky_user_data(data[:-4]) == ([("u", 1), ("u", 0), ("t", 2)], -1)
    assert read_sticky_user_data(data[:-1]) == read_sticky_user_data(None) == ([], -1)


def test_fields_say_what_is_wrong_with_them() -> None:
    assert (
        FieldReader(string_bytes(None)).nullable_string() is None
        and FieldReader(nullable_bytes(None)).nullable_bytes() is None
    )
    for data, read, words in (
        (string_bytes(None), FieldReader.string, "may not be null"),
        (int32_bytes(-1), lambda reader: reader.array(reader.int32), "may not be null"),
        (int32_bytes(2) + b"x", lambda reader: reader.array(reader.int8), "an array of 2 with 1 bytes left"),
        (b"\x00\x05ab", FieldReader.string, "5 bytes wanted"),
        (b"\xff" * 5, FieldReader.unsigned_varint, "more than 32 bits"),
    ):
        with pytest.raises(MalformedBytes, match=words):
            read(FieldReader(data))
    with pytest.raises(Underflow, match="4 bytes with 3 left"):
        FieldReader(b"\x00" * 3).int32()
    reader = FieldReader(array_bytes([int32_bytes(7), int32_bytes(-7)]) + b"\xac\x02")
    assert (reader.array(reader.int32), reader.left, reader.unsigned_varint(), reader.left) == (
        [7, -7],
        2,
        300,
        0,
    )
