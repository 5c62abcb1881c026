"""What a coordinator tells of itself, from which words and pictures are made: kinds, rules, and the numbers
in them."""

from __future__ import annotations

from typing import Any

from broker_core.events import Cause
from broker_core.kafka.group import messages as m
from tests.core.kafka.group.classic.parked import leave
from tests.core.kafka.group.desk import Desk, heartbeat848, join, sync


class Hearing(Desk):
    """heard: (kind without `kafka.group.`, rule, inputs, data) of each turning point, `group` left out.
    blamed: what was said to follow from what."""

    def __init__(self, **settings: Any) -> None:
        self.heard: list[tuple[str, str | None, dict[str, Any], dict[str, Any]]] = []
        self.blamed: list[Cause] = []
        super().__init__(**settings)

    def tell(self, kind: str, rule: str | None, inputs: Any, data: Any) -> Cause:
        assert data["group"] == "g"
        self.heard.append(
            (
                kind.removeprefix("kafka.group."),
                rule,
                dict(inputs),
                {name: value for name, value in data.items() if name != "group"},
            )
        )
        return Cause(event=f"told:{len(self.heard)}")

    def because(self, cause: Cause) -> None:
        self.blamed.append(cause)

    def take(self) -> list[tuple[str, str | None, dict[str, Any], dict[str, Any]]]:
        heard, self.heard = self.heard, []
        return heard


def test_life_of_a_classic_group() -> None:
    desk = Hearing()
    desk.send(join(), 3, "a")
    desk.send(join(), 3, "b")
    one, two = desk.group().members
    assert desk.take() == [
        ("member_joined", None, {}, {"client": "a", "member_id": one}),
        (
            "rebalance_started",
            "kafka.group.join",
            {"initial_delay_ms": 3_000},
            {"members": 1, "generation": 0},
        ),
        ("member_joined", None, {}, {"client": "b", "member_id": two}),
    ]
    desk.pass_until(6_000)
    assert desk.take() == [
        (
            "generation_started",
            "kafka.group.all_members_joined",
            {"members": 2},
            {"generation": 1, "leader": one},
        )
    ]
    desk.send(sync(1, two)), desk.send(sync(1, one, {one: b"1", two: b"2"}))
    assert desk.take() == [("assigned", "kafka.assignor.range", {"members": 2}, {"generation": 1})]
    desk.send(join(one, rebalance_ms=40_000))
    assert desk.take() == [
        (
            "rebalance_started",
            "kafka.group.rejoin",
            {"rebalance_timeout_ms": 40_000},
            {"members": 2, "generation": 1},
        )
    ]
    desk.pass_until(16_000)
    assert desk.take() == [
        ("member_expired", "kafka.group.session_timeout", {"session_timeout_ms": 10_000}, {"member_id": two}),
        (
            "generation_started",
            "kafka.group.all_members_joined",
            {"members": 1},
            {"generation": 2, "leader": one},
        ),
    ]
    desk.send(leave(one))
    assert desk.take() == [
        ("member_left", None, {}, {"member_id": one}),
        (
            "rebalance_started",
            "kafka.group.leave",
            {"rebalance_timeout_ms": 0},
            {"members": 0, "generation": 2},
        ),
    ]


def test_heartbeat_that_hears_of_a_rebalance_follows_from_what_began_it_and_no_other_does() -> None:
    desk = Hearing()
    desk.send(join(), 3, "a")
    desk.pass_until(3_000)
    (one,) = desk.group().members
    desk.send(sync(1, one, {one: b"1"}))
    desk.send(m.HeartbeatRequest("g", 1, one))
    assert desk.blamed == []
    desk.send(join(), 3, "b")
    began = [number for number, told in enumerate(desk.heard, 1) if told[0] == "rebalance_started"][-1]
    desk.send(m.HeartbeatRequest("g", 1, one))
    assert desk.blamed == [Cause(event=f"told:{began}")]


def test_life_of_a_group_of_the_consumer_protocol() -> None:
    desk = Hearing(partitions=4)
    one = desk.send(heartbeat848()).member_id
    assert desk.take() == [
        ("epoch_bumped", None, {"members": 1}, {"epoch": 1}),
        ("target_assigned", "kafka.assignor.uniform", {"members": 1}, {"epoch": 1, "changed": 1}),
    ]
    two = desk.send(heartbeat848()).member_id
    assert desk.take() == [
        ("epoch_bumped", None, {"members": 2}, {"epoch": 2}),
        ("target_assigned", "kafka.assignor.uniform", {"members": 2}, {"epoch": 2, "changed": 2}),
    ]
    desk.send(heartbeat848(one, 1))
    assert desk.take() == [], "who is told to let go is no turning point of the group"
    desk.send(m.ConsumerGroupHeartbeatRequest("g", two, -1))
    assert desk.take() == [("member_left", None, {}, {"member_id": two})]
    desk.pass_until(10_000)
    assert desk.take() == [("member_expired", "kafka.group.rebalance_timeout", {}, {"member_id": one})]
