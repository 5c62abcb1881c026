"""Laws of a program that handles records on its own: it is where one that wakes for each record would be,
whenever somebody looks."""

from __future__ import annotations

from collections import deque
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka import requests as r
from broker_core.kafka.client.consumer import Consumer, ConsumerState, Fetched
from broker_core.kafka.client.quiet import NEVER, takes_until_empty
from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE, Pace, Pause, Program, Resume
from tests.core.playbook import Counted, Played, play

SERVICE_US = 100
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.integers(1, 450)),
        st.tuples(st.just("wait"), st.integers(1, 450)),
        st.tuples(st.just("fetched"), st.integers(0, 7)),
        st.tuples(st.just("pause"), st.just(0)),
        st.tuples(st.just("resume"), st.just(0)),
        st.tuples(st.just("pace"), st.sampled_from([50, 100, 300])),
        st.tuples(st.just("commit"), st.just(0)),
    ),
    max_size=25,
)


class One:
    """A consumer in its group with partitions 0 to 2, which are fetched by hand."""

    def __init__(self, *, is_watched: bool) -> None:
        self.traffic, self.places = Counted(), list[tuple[int, int]]()
        self.traffic.is_watched = is_watched
        state = ConsumerState(
            "c1",
            "g",
            "t",
            4,
            "range",
            Program(SERVICE_US),
            connection=1,
            phase="in",
            member_id="m",
            generation=1,
        )
        state.owned, state.positions = [0, 1, 2], {0: 0, 1: 0, 2: 0}
        self.node = Consumer(
            state,
            self.traffic,
            lambda number, offset, end: self.places.extend((number, at) for at in range(offset, end)),
        )
        out: Any = Played("c1")
        self.out = out
        self.now_us, self.asked = 0, list[Any]()
        self.node.fetch(out)
        self.look()

    def look(self) -> None:
        self.asked += [message for _, message in self.out.take()]

    def step(self, what: str, number: int) -> None:
        node, out = self.node, self.out
        match what:
            case "wait":
                until_us = self.now_us + number
                while DONE in out.deadlines and out.deadlines[DONE] <= until_us:
                    self.now_us = out.deadlines.pop(DONE)
                    node.wake(DONE, self.now_us, out)
                    self.look()
                self.now_us = until_us
            case "fetched" if node.state.is_fetching:
                wanted = self.asked[-1].offsets if isinstance(self.asked[-1], r.FetchRequest) else {}
                read = [
                    (place, offset, [place * 100 + offset + at for at in range(1 + number % 3)])
                    for place, offset in wanted.items()
                    if number >> place & 1
                ]
                play(node, out, 1, r.FetchResponse(read), now_us=self.now_us)
            case "commit":
                node.wake("commit", self.now_us, out)
            case "pause" | "resume" | "pace":
                order = {"pause": Pause(), "resume": Resume(), "pace": Pace(number)}[what]
                play(node, out, PERSON, order, now_us=self.now_us)
        self.look()

    def handled(self) -> list[int]:
        """By now; a quiet one is asked to settle first."""
        self.node.settle(self.now_us, self.out)
        return [record for what, record in self.traffic.log if what == "handled"]


@settings(max_examples=50, deadline=None)
@given(STEPS)
def test_law_a_quiet_program_has_handled_what_one_that_wakes_each_time_has(
    steps: list[tuple[str, int]],
) -> None:
    quiet, loud = One(is_watched=False), One(is_watched=True)
    for what, number in steps:
        quiet.step(what, number)
        loud.step(what, number)
        assert quiet.handled() == loud.handled()
        assert (quiet.node.state.positions, quiet.node.state.program.hand) == (
            loud.node.state.positions,
            loud.node.state.program.hand,
        )
        assert sorted(quiet.places) == sorted(loud.places), "several are counted partition by partition"
        assert quiet.asked == loud.asked, "the same fetches and commits, in the same order"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.integers(0, 4))
def test_law_the_take_that_empties_the_first_partition_is_foreseen(counts: list[int], turn: int) -> None:
    turn %= len(counts)
    buffer = {number: Fetched(0, deque(range(count))) for number, count in enumerate(counts)}
    foreseen, left, takes = takes_until_empty(buffer, list(range(len(counts))), turn), list(counts), 0
    while min(left) > 0:
        left[turn] -= 1
        turn, takes = (turn + 1) % len(counts), takes + 1
    assert foreseen == takes


def test_nothing_is_planned_for_a_program_that_has_nothing() -> None:
    one = One(is_watched=False)
    one.step("fetched", 0)
    assert one.node.state.quiet_until_us == NEVER and DONE not in one.out.deadlines
