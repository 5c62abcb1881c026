"""A leader whose assignor fails, or is not done yet."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.held import Held
from broker_core.kafka.assignors import custom
from broker_core.kafka.client.group_consumer.core import ASSIGN, FAILED, OUT
from broker_core.kafka.group import messages as m
from broker_core.plain import to_plain
from tests.core.kafka.client.group_consumer.classic_bench import given, joined, started


class Later(Held):
    """An answer that another process works on."""

    is_ready = False

    def wait(self) -> None:
        self.is_ready = True


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any] | Held]:
    """What whoever runs the function says, call by call."""
    coming: list[dict[str, Any] | Held] = []

    def run(*_call: Any) -> dict[str, Any]:
        answer = coming.pop(0)
        if isinstance(answer, Held):
            raise answer
        return answer

    monkeypatch.setattr(custom, "_runner", run)
    return coming


OWN = "def assign(members, partitions):\n    return {}\n"


Answers = list[dict[str, Any] | Held]


def test_an_assignor_that_fails_ends_the_program_which_leaves_the_group(answers: Answers) -> None:
    answers.append({"error": "name 'memberz' is not defined", "line": 2})
    bench = started(assignors=["custom"], assignor_source=OWN)
    assert joined(bench, protocol="custom") is None
    bench.node.wake(ASSIGN, 0, bench.out)
    assert (
        bench.state.member.phase == FAILED
        and bench.state.owned == []
        and "heartbeat" not in bench.out.deadlines
    )
    assert [request.members[0].member_id for _, request in bench.to(m.LeaveGroupRequest)] == ["c1-id"]
    kind, data = bench.out.told[-1]
    assert (kind, data["reason"]) == ("kafka.consumer.assignor_failed", "name 'memberz' is not defined")


def test_nothing_changes_while_a_users_function_is_worked_on_and_the_same_deadline_goes_on_afterwards(
    answers: Answers,
) -> None:
    answers += [Later(), Later(), {"assignment": {"c1-id": [["t", 1]]}}]
    bench = started(assignors=["custom"], assignor_source=OWN)
    assert joined(bench, protocol="custom") is None and bench.out.deadlines[ASSIGN] == 0, (
        "poll() is in assign()"
    )
    before = to_plain(bench.state)
    for _ in range(2):
        with pytest.raises(Held):
            bench.node.wake(ASSIGN, 0, bench.out)
        assert to_plain(bench.state) == before
    bench.node.wake(ASSIGN, 0, bench.out)
    ((_, sync),) = bench.to(m.SyncGroupRequest)
    assert given(sync) == {"c1-id": [("t", 1)]} and bench.state.member.answer is None


def test_a_leader_that_lost_its_coordinator_before_its_function_was_asked_joins_again(
    answers: Answers,
) -> None:
    bench = started(assignors=["custom"], assignor_source=OWN)
    joined(bench, protocol="custom")
    bench.node.core.lose_coordinator(0, bench.out)
    bench.node.wake(ASSIGN, 0, bench.out)
    assert (bench.state.member.phase, bench.state.member.must_rejoin, bench.to(m.SyncGroupRequest)) == (
        OUT,
        True,
        [],
    )
