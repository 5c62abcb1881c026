"""Replay, with a life that only writes down what it hears: each command at its time, none twice, however
long the slices are."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError, ReplayError
from broker_core.events import Json
from broker_core.lab.pieces import Pieces, whole
from broker_core.lab.replay import Replay


class Diary:
    """A life of which only time and commands are known. refuses: kinds that it cannot carry out. runs_on_us:
    how much longer a step takes it."""

    def __init__(
        self, now_us: int = 0, position: int = 0, refuses: Sequence[str] = (), runs_on_us: int = 0
    ) -> None:
        self.now_us, self.position, self.refuses, self.runs_on_us = now_us, position, refuses, runs_on_us
        self.did: list[tuple[int, str]] = []
        self.stops: list[int] = []

    def advancing(self, at_us: int) -> Pieces[list[Json]]:
        yield
        self.now_us = at_us
        self.stops.append(at_us)
        return [{"kind": "time", "at_us": at_us}]

    def submitting(self, command: Json) -> Pieces[list[Json]]:
        if command["kind"] in self.refuses:
            raise CommandError("kind", "no")
        yield
        self.did.append((self.now_us, command["kind"]))
        self.position = command["position"]
        if command["kind"] == "step":
            self.now_us += self.runs_on_us
        return [{"kind": command["kind"], "at_us": self.now_us}]


def commands(*entries: tuple[int, str], first: int = 1) -> list[Json]:
    return [
        {"position": place, "at_us": at_us, "kind": kind}
        for place, (at_us, kind) in enumerate(entries, first)
    ]


JOURNAL = st.lists(st.integers(0, 60), max_size=6).map(sorted)


@settings(max_examples=25)
@given(JOURNAL, st.integers(0, 80), st.integers(1, 30))
def test_each_command_comes_at_its_time_whatever_the_slices_are(
    times: list[int], until_us: int, slice_us: int
) -> None:
    life = Diary()
    replay = Replay(life, commands(*((at_us, f"k{place}") for place, at_us in enumerate(times))), until_us)
    while not replay.is_there:
        whole(replay.step(slice_us))
    assert life.did == [(at_us, f"k{place}") for place, at_us in enumerate(times)]
    assert life.now_us == max([until_us, *times])
    assert all(
        later - earlier <= slice_us for earlier, later in zip([0, *life.stops], life.stops, strict=False)
    )


def test_what_the_life_has_carried_out_already_is_skipped() -> None:
    life = Diary(now_us=10, position=2)
    Replay(life, commands((5, "a"), (10, "b"), (12, "c")), 15).finish()
    assert life.did == [(12, "c")] and life.now_us == 15


def test_of_commands_at_one_time_each_is_a_step_of_its_own_and_no_time_passes_between() -> None:
    life = Diary(now_us=5)
    replay, there = Replay(life, commands((5, "a"), (5, "b")), 5), []
    for kind in ("a", "b"):
        assert whole(replay.step(100)).events == [{"kind": kind, "at_us": 5}]
        there.append(replay.is_there)
    assert there == [False, True] and life.stops == []


def test_last_step_may_lead_further_than_the_moment() -> None:
    life = Diary(runs_on_us=7)
    assert Replay(life, commands((4, "step")), 5).finish().now_us == 11


def test_command_that_a_step_has_overtaken_is_dated_before_what_it_follows() -> None:
    replay = Replay(Diary(runs_on_us=7), commands((4, "step"), (6, "join")), 20)
    with pytest.raises(
        ReplayError, match=r"entry 2 \(join\) is dated 6 us, before the 11 us it follows"
    ) as error:
        replay.finish()
    assert (error.value.seq, error.value.kind) == (2, "join")


def test_refusal_of_what_was_once_accepted_names_the_entry() -> None:
    with pytest.raises(ReplayError, match=r"entry 8 \(join\) is refused: kind: no"):
        Replay(Diary(refuses=["join"]), commands((4, "join"), first=8), 5).finish()


def test_borrowed_command_may_be_late_and_may_be_refused_and_the_rest_goes_on() -> None:
    life = Diary(refuses=["join"], runs_on_us=7)
    replay = Replay(life, commands((4, "step"), (6, "slow"), (8, "join"), (12, "crash")), 20, borrowed={2, 3})
    told: list[Any] = []
    while not replay.is_there:
        told.append(whole(replay.step(100)))
    assert life.did == [(4, "step"), (11, "slow"), (12, "crash")]
    refusals = {
        step.command["position"]: str(step.refusal)
        for step in told
        if step.command is not None and step.refusal is not None
    }
    assert refusals == {3: "kind: no"} and [step.events for step in told if step.refusal] == [[]]


def test_command_that_stops_in_pieces_is_left_until_it_is_whole() -> None:
    """Whoever drives it may be asked in between; until the command is done the replay is not there."""
    replay = Replay(Diary(), commands((0, "a")), 0)
    pieces, there = replay.step(10), []
    for _ in pieces:
        there.append(replay.is_there)
    assert [*there, replay.is_there] == [False, True]


def test_life_that_is_there_already_is_given_back_untouched() -> None:
    life = Diary(now_us=9)
    assert Replay(life, [], 4).finish() is life and life.stops == [] and life.now_us == 9
