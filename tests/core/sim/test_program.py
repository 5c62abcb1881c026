"""A consuming program on its own: one message at a time, and what a person may order."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.sim.program import DONE, Pace, Pause, Program, Resume
from tests.core.playbook import Counted, Played


class Timed(Counted):
    """Traffic that keeps who did it, and when."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[tuple[str, str, int]] = []

    def handled(self, program: str, message: int, now_us: int) -> None:
        super().handled(program, message, now_us)
        self.times.append(("handled", program, now_us))

    def dropped(self, program: str, message: int, now_us: int) -> None:
        super().dropped(program, message, now_us)
        self.times.append(("dropped", program, now_us))


def busy(service_us: int = 100, message: int = 41, now_us: int = 50) -> tuple[Program, Any, Timed]:
    program, out, traffic = Program(service_us), Played("c1"), Timed()
    program.take(message, now_us, out)  # type: ignore[arg-type]
    return program, out, traffic


def test_message_taken_is_in_hand_until_its_time_is_over() -> None:
    program, out, traffic = busy()
    assert (program.hand, program.done_us, out.deadlines, program.is_free) == (41, 150, {DONE: 150}, False)
    assert program.done(150, out, traffic) == 41
    assert program.is_free and program.finished == 1 and traffic.times == [("handled", "c1", 150)]


def test_message_number_zero_is_a_message() -> None:
    program, out, traffic = busy(message=0)
    assert not program.is_free
    program.drop(60, out, traffic)
    assert traffic.log == [("dropped", 0)] and program.is_free


def test_dropped_message_is_not_finished_and_wakes_nobody() -> None:
    program, out, traffic = busy()
    program.drop(60, out, traffic)
    assert (program.hand, program.finished, out.deadlines) == (-1, 0, {}) and traffic.times == [
        ("dropped", "c1", 60)
    ]
    out.deadline(DONE, 500)
    program.drop(70, out, traffic)
    assert traffic.log == [("dropped", 41)] and out.deadlines == {DONE: 500}, (
        "with nothing in hand nothing is dropped or cancelled"
    )


def test_paused_program_keeps_its_message_and_is_not_free_without_one() -> None:
    program, out, traffic = busy()
    program.obey(Pause())
    program.obey(Pause())
    assert out.deadlines == {DONE: 150} and program.done(150, out, traffic) == 41
    assert not program.is_free, "it takes nothing"
    program.obey(Resume())
    assert program.is_free


def test_pace_is_for_the_next_message() -> None:
    program, out, traffic = busy()
    program.obey(Pace(7))
    assert out.deadlines == {DONE: 150} and program.done_us == 150
    program.done(150, out, traffic)
    program.take(42, 150, out)
    assert out.deadlines == {DONE: 157}


@pytest.mark.parametrize("service_us", [0, 1])
def test_message_that_takes_no_time_is_done_at_once(service_us: int) -> None:
    program, out, _ = busy(service_us)
    assert out.deadlines == {DONE: 50 + service_us} and program.hand == 41
