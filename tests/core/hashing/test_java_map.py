"""The order of java.util.HashMap: slots first, insertion within a slot, and what growing does to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.hashing.java_map import JavaHashSet, computed_order, java_order, spread_hash


def test_keys_of_one_slot_stand_in_order_of_insertion() -> None:
    # "Aa" and "BB" have the same hash.
    assert java_order(["BB", "Aa"]) == ["BB", "Aa"]
    assert java_order(["Aa", "BB"]) == ["Aa", "BB"]


def test_the_thirteenth_key_doubles_the_table() -> None:
    numbers: JavaHashSet[int] = JavaHashSet(int)
    for number in [16, *range(12)][:12]:
        numbers.add(number)
    assert numbers.in_order()[:2] == [16, 0]
    numbers.add(11)
    assert numbers.in_order()[:2] == [0, 1]
    assert numbers.in_order()[-1] == 16


def test_a_ninth_key_in_one_slot_doubles_a_small_table() -> None:
    numbers: JavaHashSet[int] = JavaHashSet(int)
    for step in range(8):
        numbers.add(16 * step)
    assert numbers.in_order() == [0, 16, 32, 48, 64, 80, 96, 112]
    numbers.add(128)
    assert numbers.in_order() == [0, 32, 64, 96, 128, 16, 48, 80, 112]


def test_removing_keeps_the_table_as_large_as_it_was() -> None:
    numbers: JavaHashSet[int] = JavaHashSet(int)
    for number in range(13):
        numbers.add(number)
    for number in range(13):
        numbers.remove(number)
    for number in (16, 0):
        numbers.add(number)
    assert (len(numbers), numbers.first(), numbers.in_order()) == (2, 0, [0, 16])


def test_the_upper_half_of_a_hash_reaches_the_slot() -> None:
    assert spread_hash(0xABCD0000) & 0xF == 0xD


@given(st.lists(st.text(max_size=6), max_size=60))
def test_every_key_comes_once(keys: list[str]) -> None:
    assert sorted(java_order(keys)) == sorted(set(keys))


@given(st.lists(st.text(max_size=6), max_size=60))
def test_a_copy_of_a_map_has_the_order_of_the_map(keys: list[str]) -> None:
    assert java_order(java_order(keys)) == java_order(keys)


@given(st.lists(st.text(max_size=6), max_size=60))
def test_the_first_key_is_the_first_in_order(keys: list[str]) -> None:
    table: JavaHashSet[str] = JavaHashSet(len)
    for key in keys:
        table.add(key)
    if keys:
        assert table.first() == table.in_order()[0]


# What JDK 17 prints for a HashMap that computeIfAbsent has filled with these topics, one after the other.
FILLED_BY_COMPUTE_IF_ABSENT = {
    "tms tomb tajx tjjd tpg tzbj": "tjjd tomb tzbj tpg tms tajx",
    "to tf te tcb toc tdwj ttym tvp tm tp": "te ttym tcb tf tdwj tm toc to tp tvp",
    "topic-60 topic-71 topic-82": "topic-82 topic-71 topic-60",
    "topic-50 topic-61 topic-72 topic-83 topic-94 topic-107 topic-118 topic-129 topic-190": (
        "topic-129 topic-118 topic-107 topic-94 topic-83 topic-72 topic-61 topic-50 topic-190"
    ),
}


@pytest.mark.parametrize("keys", FILLED_BY_COMPUTE_IF_ABSENT)
def test_a_newcomer_of_compute_if_absent_stands_first_in_its_slot(keys: str) -> None:
    assert computed_order(keys.split()) == FILLED_BY_COMPUTE_IF_ABSENT[keys].split()
    assert java_order(keys.split()) != computed_order(keys.split())
