"""Turning points as plain JSON, what they follow from, and lists that are given in part."""

from __future__ import annotations

import pytest

from broker_core.events import Cause, TurningPoint, capped

EVENT = TurningPoint(
    "kafka:3",
    17,
    "kafka",
    "kafka.group.generation_started",
    Cause(command=4),
    "rule",
    {"members": 2},
    {"leader": "c1"},
)


@pytest.mark.parametrize(
    ("cause", "plain"),
    [
        (Cause(), None),
        (Cause(command=0), {"command": 0}),
        (Cause(event="kafka:2"), {"event": "kafka:2"}),
        (Cause(command=5, event="kafka:2"), {"command": 5}),
    ],
)
def test_cause_is_a_command_or_a_turning_point_or_unknown(cause: Cause, plain: object) -> None:
    assert cause.to_json() == plain


def test_lane_is_named_and_seq_is_the_labs() -> None:
    assert EVENT.to_json(91) == {
        "seq": 91,
        "id": "kafka:3",
        "at_us": 17,
        "lane": "kafka",
        "kind": "kafka.group.generation_started",
        "cause": {"command": 4},
        "rule": "rule",
        "inputs": {"members": 2},
        "data": {"leader": "c1"},
    }


def test_told_with_more_it_is_the_same_turning_point_and_the_first_one_stays_as_it_was() -> None:
    more = EVENT.with_facts(inputs={"members": 3}, data={"moved": 1})
    assert (more.inputs, more.data) == ({"members": 3}, {"leader": "c1", "moved": 1})
    assert (more.id, more.at_us, more.cause) == (EVENT.id, EVENT.at_us, EVENT.cause)
    assert EVENT.inputs == {"members": 2} and EVENT.data == {"leader": "c1"}
    assert EVENT.with_facts() == EVENT


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, {"turns": []}),
        (2, {"turns": [0, 1]}),
        (3, {"turns": [0, 1], "turns_more": 1}),
        (9, {"turns": [0, 1], "turns_more": 7}),
    ],
)
def test_long_list_is_told_in_part_and_says_how_much_is_left_out(count: int, told: dict[str, object]) -> None:
    assert capped("turns", list(range(count)), 2) == told
