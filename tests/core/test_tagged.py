"""State whose types are open: every value comes back as it was, and the same state gives the same bytes."""

from __future__ import annotations

import json
import math
import sys
from collections import deque
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.tagged import from_tagged, kinds_of, to_tagged


@dataclass(frozen=True)
class Pair:
    left: Any
    right: Any


class Ask(msgspec.Struct, frozen=True):
    key: str
    parts: Any


KINDS = kinds_of(sys.modules[__name__])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 40), 1 << 40)
    | st.text(max_size=5)
    | st.floats(allow_nan=False)
)
HASHABLE = st.integers(-99, 99) | st.text(max_size=4) | st.tuples(st.text(max_size=3), st.integers(0, 9))
SETS = st.frozensets(st.integers(0, 50)) | st.frozensets(st.text(max_size=3)) | st.sets(st.integers(0, 50))
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS | st.binary(max_size=6) | SETS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.builds(Pair, inner, inner)
        | st.builds(Ask, st.text(max_size=4), inner)
    ),
    max_leaves=8,
)


@given(VALUES)
@settings(max_examples=50)
def test_every_value_comes_back_as_it_was_through_json(value: Any) -> None:
    plain = json.loads(json.dumps(to_tagged(value)))
    back = from_tagged(plain, KINDS)
    assert back == value and type(back) is type(value)
    assert to_tagged(back) == to_tagged(value)


@given(st.lists(st.text(max_size=4), unique=True, max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_a_set_is_kept_in_order_however_it_was_filled(items: list[str], random: Any) -> None:
    shuffled = items[:]
    random.shuffle(shuffled)
    assert to_tagged(frozenset(items)) == to_tagged(frozenset(shuffled)) == ["{", *sorted(items)]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ([], ["["]),
        ((), ["("]),
        ({}, [":"]),
        (b"", ["b", ""]),
        (set(), ["set"]),
        ({1: [2]}, [":", 1, ["[", 2]]),
        ({("t", 0): None}, [":", ["(", "t", 0], None]),
        (Pair(1, (2,)), ["Pair", 1, ["(", 2]]),
        (Ask("k", b"\x00\xff"), ["Ask", "k", ["b", "AP8="]]),
        (True, True),
        ("[", "["),
    ],
)
def test_shape_of_what_is_kept_is_what_checkpoints_hold(value: Any, plain: Any) -> None:
    assert to_tagged(value) == plain
    assert from_tagged(plain, KINDS) == value


def test_list_of_texts_that_look_like_tags_is_still_a_list() -> None:
    assert from_tagged(to_tagged(["(", "b", ":", ["set"]]), KINDS) == ["(", "b", ":", ["set"]]


def test_order_of_a_dict_is_kept() -> None:
    back = from_tagged(to_tagged({"z": 1, "a": 2, "m": 3}), KINDS)
    assert list(back) == ["z", "a", "m"]


def test_true_is_not_one_and_a_whole_float_stays_a_float() -> None:
    back = from_tagged(to_tagged([True, 1, 1.0, math.inf]), KINDS)
    assert [type(each) for each in back] == [bool, int, float, float]


@pytest.mark.parametrize(
    "value", [deque([1]), object(), {"deep": [1, bytearray(b"x")]}], ids=["deque", "object", "deep inside"]
)
def test_what_has_no_form_is_our_own_mistake(value: Any) -> None:
    with pytest.raises(InvariantError, match="cannot be part of a checkpoint"):
        to_tagged(value)


def test_kinds_of_a_module_are_its_own_and_those_named_beside_it() -> None:
    assert set(KINDS) == {"Pair", "Ask"}, "not what it imports, nor what is neither dataclass nor struct"
    assert set(kinds_of(more=[Pair])) == {"Pair"}


def test_unknown_class_is_not_read() -> None:
    with pytest.raises(KeyError, match="Pair"):
        from_tagged(to_tagged(Pair(1, 2)), {})
