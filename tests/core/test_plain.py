"""State as plain data and back: every part has the type that it had."""

from collections import deque
from dataclasses import dataclass, field

import msgspec

from broker_core.plain import from_plain, kept, take_back, to_plain


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
