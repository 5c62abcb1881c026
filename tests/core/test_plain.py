"""State as plain data and back: every part has the type that it had."""

import collections
from collections import deque
from dataclasses import dataclass, field
from typing import Self

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.plain import from_plain, from_steps, kept, take_back, to_plain, to_steps


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    key: str


class Tell(msgspec.Struct, frozen=True, tag="tell"):
    key: str
    offset: int


@dataclass
class State:
    calls: deque[Ask | Tell] = field(default_factory=deque)
    pairs: deque[tuple[int, str]] = field(default_factory=deque)
    by_number: dict[int, deque[int]] = field(default_factory=dict)


def test_what_is_in_a_deque_comes_back_as_it_was():
    state = State(deque([Ask("a"), Tell("b", 7)]), deque([(1, "x")]), {3: deque([1, 2])})
    assert from_plain(to_plain(state), State) == state


@dataclass
class Counts:
    seen: dict[int, str] = field(default_factory=dict)
    total: int = 0


class Counter(Counts):
    def __init__(self):
        super().__init__()
        self.cache = object()


def test_fields_that_a_class_declares_once_are_kept_and_taken_back():
    counter, again = Counter(), Counter()
    counter.seen, counter.total = {3: "c"}, 7
    plain = kept(counter, Counts)
    assert plain == {"seen": {3: "c"}, "total": 7}
    take_back(again, Counts, plain)
    assert (again.seen, again.total) == ({3: "c"}, 7) and again.seen is not counter.seen


class Runs:
    """Something with a form of its own."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers

    def to_json(self) -> list[int]:
        return to_steps(self.numbers)

    @classmethod
    def from_json(cls, steps: list[int]) -> Self:
        return cls(from_steps(steps))


@dataclass
class Mixed:
    runs: Runs
    votes: collections.Counter[str]
    inner: deque[deque[int]]
    maybe: Ask | None = None


def test_what_has_a_form_of_its_own_is_kept_in_it_and_counters_stay_counters() -> None:
    state = Mixed(Runs([5, 6, 9]), collections.Counter("aab"), deque([deque([1]), deque()]), Ask("k"))
    plain = msgspec.msgpack.decode(msgspec.msgpack.encode(to_plain(state)), strict=False)
    assert plain["runs"] == [5, 1, 3] and plain["votes"] == {"a": 2, "b": 1}
    back = from_plain(plain, Mixed)
    assert back.runs.numbers == [5, 6, 9] and back.inner == state.inner and back.maybe == Ask("k")
    assert type(back.votes) is collections.Counter and back.votes["z"] == 0


def test_integer_keys_of_dicts_stay_integers() -> None:
    assert from_plain(
        msgspec.msgpack.decode(msgspec.msgpack.encode(to_plain({3: "c"})), strict=False), dict[int, str]
    ) == {3: "c"}


@pytest.mark.parametrize("value", [object(), {"deep": [object()]}])
def test_what_has_no_plain_form_is_our_own_mistake(value: object) -> None:
    with pytest.raises(InvariantError, match="cannot be part of a checkpoint"):
        to_plain(value)


def test_type_without_a_way_back_is_our_own_mistake() -> None:
    class OneWay:
        pass

    with pytest.raises(InvariantError, match="OneWay"):
        from_plain([1], OneWay)


def test_plain_value_of_another_type_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        from_plain({"seen": {3: 4}}, Counts)


@given(st.lists(st.integers(-(1 << 40), 1 << 40), max_size=30))
@settings(max_examples=50)
def test_steps_lead_back_to_the_numbers_whatever_their_order(numbers: list[int]) -> None:
    assert from_steps(to_steps(numbers)) == numbers and len(to_steps(numbers)) == len(numbers)
