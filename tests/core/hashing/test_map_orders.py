"""The orders of maps that are copied, computed into, or Scala's: what JDK 17 and Scala 2.13.18 print, and
laws for any keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.hashing.java_hash import string_hash_unsigned
from broker_core.hashing.java_map import computed_order, copied_order, java_order
from broker_core.hashing.scala_map import scala_order, scala_tree_order
from broker_core.hashing.timeline_map import timeline_order

Order = Callable[[list[str]], list[str]]
KEYS = st.lists(
    st.text(st.characters(codec="utf-8"), max_size=5)
    | st.sampled_from(("Aa", "BB", "C#", "AaAa", "BBBB", "AaBB")),
    max_size=60,
)
ORDERS: list[Order] = [
    java_order,
    computed_order,
    copied_order,
    scala_order,
    scala_tree_order,
    timeline_order,
]


@pytest.mark.parametrize("order", ORDERS)
@given(keys=KEYS)
@settings(max_examples=30)
def test_every_key_comes_once_whatever_the_map(order: Order, keys: list[str]) -> None:
    ordered = order(keys)
    assert sorted(ordered) == sorted(set(keys))
    assert order(keys) == ordered


# -- computeIfAbsent, and a key that is in already -----------------------------------------------------------

# Thirteen keys fill three quarters of sixteen slots and one more: JDK 17 doubles the table at the next call,
# whether its key is new or not.
THIRTEEN = {
    "topic-0 topic-3 topic-6 topic-9 topic-12 topic-15 topic-18 topic-21 topic-24 topic-27 topic-30 "
    "topic-33 topic-36": (
        (
            "topic-24 topic-6 topic-36 topic-15 topic-27 topic-9 topic-18 topic-0 topic-30 topic-21 topic-3 "
            "topic-33 topic-12"
        ),
        (
            "topic-6 topic-9 topic-0 topic-30 topic-21 topic-3 topic-33 topic-12 topic-24 topic-36 topic-15 "
            "topic-27 topic-18"
        ),
    ),
    "tms tomb tajx tjjd tpg tzbj to tf te tcb toc tdwj ttym": (
        "te ttym tcb tf tdwj tjjd tomb tzbj toc tpg to tms tajx",
        "ttym tjjd tomb toc tpg tajx te tcb tf tdwj tzbj to tms",
    ),
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu": (
        "zeta epsilon lambda iota eta nu alpha mu delta kappa theta gamma beta",
        "zeta iota nu mu delta theta epsilon lambda eta alpha kappa gamma beta",
    ),
}


@pytest.mark.parametrize("keys", THIRTEEN)
def test_call_for_a_key_that_is_in_may_double_the_table(keys: str) -> None:
    listed = keys.split()
    once, again = (order.split() for order in THIRTEEN[keys])
    assert computed_order(listed) == once
    for more in (listed[:1], listed[-1:], listed):
        assert computed_order([*listed, *more]) == again
    assert computed_order([listed[0], *listed]) == once, (
        "a call in between, when there was room, doubles nothing"
    )


# -- copies --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("copied", "removed", "computed", "order"),
    [
        ("uniform", "", "range", "range uniform"),
        ("uniform range custom", "range", "sticky Aa BB", "BB Aa sticky uniform custom"),
        (
            "m0 m1 m2 m3 m4 m5 m6 m7 m8 m9 m10 m11",
            "m3",
            "x1 x2 x3",
            "m0 m1 m2 m4 m5 m6 m7 m8 m9 m11 m10 x1 x2 x3",
        ),
        ("Aa BB C#", "BB", "AaAa BBBB AaBB BBAa", "Aa C# BBAa AaBB BBBB AaAa"),
        ("", "", "uniform range", "uniform range"),
    ],
)
def test_copy_has_a_table_of_its_own_size_as_jdk_17_prints(
    copied: str, removed: str, computed: str, order: str
) -> None:
    assert copied_order(copied.split(), removed.split(), computed.split()) == order.split()


@given(KEYS)
@settings(max_examples=30)
def test_keys_of_one_slot_stay_in_the_order_of_the_map_that_was_copied(keys: list[str]) -> None:
    # "Aa", "BB" and "C#" have one hash, so they share a slot whatever its table's size.
    together = ("Aa", "BB", "C#")
    copied = list(dict.fromkeys(keys))
    assert [key for key in copied_order(copied) if key in together] == [
        key for key in copied if key in together
    ]


# -- Scala ---------------------------------------------------------------------------------------------------

# names: (mutable.HashMap, immutable.HashMap), as Scala 2.13.18 prints them.
SCALA = {
    "consumer-1 consumer-2 consumer-3": (
        "consumer-3 consumer-2 consumer-1",
        "consumer-3 consumer-1 consumer-2",
    ),
    "range roundrobin sticky cooperative-sticky custom": (
        "custom sticky range roundrobin cooperative-sticky",
        "cooperative-sticky custom roundrobin range sticky",
    ),
    "Aa BB C# AaAa BBBB AaBB é 订单": ("Aa BB C# 订单 é AaAa BBBB AaBB", "é 订单 Aa BB C# AaAa BBBB AaBB"),
    "member-0 member-1 member-2 member-3 member-4 member-5 member-6 member-7 member-8 member-9 member-10": (
        "member-1 member-2 member-0 member-5 member-6 member-3 member-4 member-9 member-10 member-7 member-8",
        "member-2 member-8 member-4 member-1 member-9 member-5 member-10 member-3 member-7 member-0 member-6",
    ),
    "member-0 member-1 member-2 member-3 member-4 member-5 member-6 member-7 member-8 member-9 member-10 "
    "member-11": (
        (
            "member-5 member-6 member-3 member-4 member-9 member-11 member-10 member-7 member-8 member-1 "
            "member-2 member-0"
        ),
        (
            "member-2 member-8 member-4 member-9 member-5 member-10 member-3 member-7 member-1 member-11 "
            "member-0 member-6"
        ),
    ),
}


@pytest.mark.parametrize("names", SCALA)
def test_scala_maps_hand_out_their_keys_as_scala_prints_them(names: str) -> None:
    mutable, immutable = SCALA[names]
    assert scala_order(names.split()) == mutable.split()
    assert scala_tree_order(names.split()) == immutable.split()


def test_mutable_map_that_has_held_more_keys_keeps_its_table() -> None:
    # Scala 2.13.18, after x0 to x19 were put in and removed again.
    assert scala_order(["c0", "c1", "c2", "zeta", "omega"], size_peak=25) == [
        "zeta",
        "c0",
        "c1",
        "omega",
        "c2",
    ]


def test_scala_doubles_one_key_earlier_than_java() -> None:
    twelve = [f"member-{number}" for number in range(12)]
    assert scala_order(twelve) != java_order(twelve) and scala_order(twelve[:11]) == java_order(twelve[:11])


@given(KEYS)
@settings(max_examples=30)
def test_order_of_scala_maps_depends_on_insertion_only_among_keys_of_one_hash(keys: list[str]) -> None:
    distinct = list({string_hash_unsigned(key): key for key in keys}.values())
    assert scala_order(distinct[::-1]) == scala_order(distinct)
    assert scala_tree_order(distinct[::-1]) == scala_tree_order(distinct)


# -- Kafka's timeline map ------------------------------------------------------------------------------------


def test_newest_key_of_a_slot_comes_first() -> None:
    for keys in (["Aa", "BB", "C#"], ["C#", "Aa", "BB"]):
        assert timeline_order(keys) == keys[::-1]


@given(KEYS, st.integers(0, 200))
@settings(max_examples=30)
def test_larger_table_cuts_the_slots_and_never_mixes_them(keys: list[str], size_peak: int) -> None:
    """A slot is the upper bits of the mixed hash: with more of them the keys of a slot part, in the same
    order of slots."""
    distinct = list({string_hash_unsigned(key): key for key in keys}.values())
    fine = timeline_order(distinct, 1 << 40)
    for slots in (timeline_order(distinct), timeline_order(distinct, size_peak)):
        assert sorted(slots) == sorted(fine)
    assert timeline_order(distinct[::-1], 1 << 40) == fine, "a slot for each: no order of insertion is left"
