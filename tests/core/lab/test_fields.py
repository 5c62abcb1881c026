"""Fields of a request: what is a number, a name, a known key; and the field at which the refusal stands."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.fields import consumer_name, is_finite, refuse_unknown, speed, whole

HUGE = 10**400
"""A whole number that JSON and TOML bring along and no float can hold."""


def refused(act: Any, *args: Any) -> tuple[str, str] | None:
    try:
        act(*args)
    except CommandError as error:
        return error.field, error.reason
    return None


@settings(max_examples=25)
@given(
    st.one_of(st.integers(), st.booleans(), st.floats(), st.text(max_size=3), st.none()),
    st.integers(-5, 5),
    st.integers(0, 9),
)
def test_whole_number_is_an_int_between_its_bounds(value: Any, low: int, width: int) -> None:
    is_one = type(value) is int and low <= value <= low + width
    assert refused(whole, "f", value, low, low + width) == (
        None if is_one else ("f", f"must be a whole number from {low} to {low + width}")
    )
    assert not is_one or whole("f", value, low, low + width) == value


@pytest.mark.parametrize(
    "value", [HUGE, -HUGE, float("nan"), float("inf"), 20.001, 0.05, None, True, "1", [1]]
)
def test_speed_that_no_clock_can_have_is_refused_whatever_it_is(value: object) -> None:
    assert refused(speed, value) == ("args.speed", "must be a number from 0.1 to 20")


@pytest.mark.parametrize("value", [0.1, 1, 20, 3.14159])
def test_speed_is_in_thousandths(value: float) -> None:
    assert speed(value) == round(value, 3)


@pytest.mark.parametrize(
    ("value", "finite"),
    [
        (0, True),
        (-1.5, True),
        (2**1023, True),
        (HUGE, False),
        (-HUGE, False),
        (float("nan"), False),
        (float("-inf"), False),
    ],
)
def test_what_a_float_can_hold(value: float, finite: bool) -> None:
    assert is_finite(value) is finite


@pytest.mark.parametrize(
    "name",
    [
        "c1",
        "0",
        "A.b_c-d",
        "x" * 32,
        "broker-",
        "broker-x",
        "broker-1x",
        "brokers",
        "writer",
        "lab",
        "all",
        "master",
    ],
)
def test_names_that_a_consumer_may_have(name: str) -> None:
    assert consumer_name(name) == name


@pytest.mark.parametrize("name", ["", "-a", ".a", "x" * 33, "a b", "c1\n", "ü", 3, None, ["c1"]])
def test_names_that_are_none(name: object) -> None:
    assert refused(consumer_name, name, "who") == (
        "who",
        "must be 1 to 32 letters, digits or . _ -, beginning with a letter or digit",
    )


@pytest.mark.parametrize(
    "name",
    [
        "broker",
        "publisher",
        "producer",
        "operator",
        "controller",
        "tool",
        "broker-1",
        "broker-10",
        "writer-2",
    ],
)
def test_names_that_processes_of_a_lane_have(name: str) -> None:
    assert refused(consumer_name, name) == ("consumer", f"{name} is the name of a process of the lane itself")


def test_first_unknown_key_is_named_and_what_is_known_is_sorted() -> None:
    assert refused(refuse_unknown, {"b": 1, "x": 2, "y": 3}, ["c", "b"], "args.", "args") == (
        "args.x",
        "is unknown; known: b, c",
    )
    assert (
        refused(refuse_unknown, {"b": 1}, ["b"], "args.", "args") is None
        and refused(refuse_unknown, {}, [], "", "all") is None
    )


@pytest.mark.parametrize("key", ["<b>", "", "1a", "a b", "x" * 65, 3, None])
def test_key_that_is_no_name_is_not_said_again(key: object) -> None:
    assert refused(refuse_unknown, {key: 1}, ["b"], "args.", "args") == (
        "args",
        "has a field that is not a name",
    )
