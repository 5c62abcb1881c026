"""State as plain data and back: every part has the type that it had."""

from collections import deque
from dataclasses import dataclass, field

import msgspec

from broker_core.plain import from_plain, to_plain


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
