"""Who made the mistake: a sentence, its template and its values, which a page translates; and what survives a
process."""

from __future__ import annotations

import pickle

import pytest

from broker_core.clock import VirtualClock
from broker_core.errors import CommandError, HighwaterError, InvariantError, Names, ReplayError, SentenceError


def test_sentence_is_filled_and_its_template_and_values_stay_for_the_translator() -> None:
    error = CommandError("args.count", "must be {low} to {high}", low=1, high=512)
    assert (error.field, error.template, error.values, error.reason) == (
        "args.count", "must be {low} to {high}", {"low": 1, "high": 512}, "must be 1 to 512",
    )  # fmt: skip
    assert str(error) == "args.count: must be 1 to 512"


def test_template_without_values_may_hold_braces() -> None:
    assert SentenceError('{"key": 1} is no scenario').reason == '{"key": 1} is no scenario'


def test_names_are_one_text_in_a_sentence_and_each_by_itself_for_the_page() -> None:
    error = CommandError("consumers", "{names} are there already", names=Names(["c1", "c2"]))
    assert error.reason == "c1, c2 are there already" and error.values["names"].each == ("c1", "c2")  # type: ignore[attr-defined]


@pytest.mark.parametrize("names", [[], ["c1"], ["c,1", "c2"]])
def test_names_travel_between_processes_whole(names: list[str]) -> None:
    back = pickle.loads(pickle.dumps(Names(names)))
    assert back == ", ".join(names) and back.each == tuple(names)


def test_names_of_a_generator_are_read_once() -> None:
    text = Names(f"c{number}" for number in range(3))
    assert (text, text.each) == ("c0, c1, c2", ("c0", "c1", "c2"))


def test_replay_error_names_the_entry() -> None:
    error = ReplayError(17, "consumer.add")
    assert str(error) == "entry 17 (consumer.add) cannot be replayed" and (error.seq, error.kind) == (
        17,
        "consumer.add",
    )
    assert str(ReplayError(3, "x", "is of a later version")) == "entry 3 (x) is of a later version"


def test_broken_invariant_is_no_sentence_for_a_person() -> None:
    assert issubclass(InvariantError, HighwaterError) and not issubclass(InvariantError, SentenceError)


def test_clock_may_stand_still_and_never_runs_back() -> None:
    clock = VirtualClock(5)
    clock.advance_to(5)
    with pytest.raises(InvariantError, match="stands at 5 us and was told 4 us"):
        clock.advance_to(4)
    assert clock.now_us == 5
