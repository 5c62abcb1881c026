"""A user's assignor is worked on aside: its lab is held, in no virtual time, while the other labs of its
shard go on."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from broker_core.held import Held
from broker_core.kafka.assignors import custom
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from dashboard.assignors.runner import COMMAND, RUNNER, Runner
from dashboard.labs import selectors
from dashboard.labs.shard import HELD_LOOK_S
from dashboard.models import Lab as Row
from tests.core.lab.kafka.test_group_commands import LANE, SECOND
from tests.dashboard.world import World

EVEN = """
def assign(members, partitions):
    names = sorted(members)
    return {name: [(t, n) for t in partitions for n in range(partitions[t]) if names[n % len(names)] == name] for name in names}
"""
LOOPS = "def assign(members, partitions):\n    while True:\n        pass\n"
SLOW_S = 1.5
TURN_S_MAX = 0.4
"""Of a shard's turn on a machine that runs other tests beside this one; a call in it would take SLOW_S."""
KAFKA = {
    "lanes": [LANE | {"id": "kafka"}],
    "consumers": 3,
    "workload": {"kind": "uniform", "keys": 40, "rate": 20},
}


def slow(seconds: float = SLOW_S) -> Runner:
    """A runner whose processes take their time first, as a function that loops does."""
    return Runner(
        (
            sys.executable,
            "-c",
            f"import os, sys, time; time.sleep({seconds}); os.execv(sys.argv[1], sys.argv[1:])",
            *COMMAND,
        )
    )


class Pair:
    """A lab that gets an assignor of its own, and its neighbour."""

    def __init__(self, world: World) -> None:
        self.world, self.own, self.neighbour = world, world.open(**KAFKA), world.open(**KAFKA)
        world.run(9)

    def deploy(self, source: str) -> None:
        self.world.order(self.own, "group_assignor", lane="kafka", args={"source": source})

    @property
    def is_held(self) -> bool:
        return self.own.pk in self.world.shard.under_way

    def until_held(self) -> None:
        for _ in range(400):
            self.world.run(0.05)
            if self.is_held:
                return
        raise AssertionError("its leader never assigned")

    def view(self, lab: Row) -> dict[str, Any]:
        snapshot = selectors.lab_snapshot(lab_id=lab.pk)
        assert snapshot is not None
        return dict(snapshot["view"]["lanes"]["kafka"])


@pytest.fixture
def pair(world: World) -> Pair:
    return Pair(world)


@pytest.mark.django_db
@pytest.mark.parametrize("source", [EVEN, LOOPS], ids=["answers", "loops"])
def test_a_shard_with_other_labs_is_not_delayed_by_an_assignor(
    pair: Pair, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custom, "_runner", slow().ask)
    pair.deploy(source)
    pair.until_held()
    held_us, world = world_time(pair, pair.own), pair.world
    turns, begun_s, longest_s = 0, time.monotonic(), 0.0
    while pair.is_held and time.monotonic() - begun_s < SLOW_S - 0.5:
        receipt = world.order(pair.neighbour, "join")
        before_us, started_s = world_time(pair, pair.neighbour), time.monotonic()
        world.shard.turn()
        longest_s = max(longest_s, time.monotonic() - started_s)
        assert (
            selectors.command_get(lab_id=pair.neighbour.pk, command_id=receipt["command_id"])["state"]
            == "applied"
        )
        world.clock.now_s += 0.05
        world.shard.turn()
        assert world_time(pair, pair.neighbour) > before_us and world_time(pair, pair.own) == held_us
        turns += 1
    assert turns > 3 and longest_s < TURN_S_MAX
    until_s = time.monotonic() + 60
    while time.monotonic() < until_s:
        world.run(0.2)
        group = pair.view(pair.own)["group"]
        if source == LOOPS and any(member["failed"] is not None for member in group["members"].values()):
            return
        if source == EVEN and group["state"] == "Stable" and group["assignor"] == "custom":
            return
        time.sleep(0.02)
    raise AssertionError("it never went on")


def world_time(pair: Pair, lab: Row) -> int:
    return pair.world.shard.drivers[lab.pk].core.now_us


@pytest.mark.django_db
def test_a_lab_that_loads_is_held_without_a_busy_shard(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another worker takes the labs over, and remembers no answer: the journal asks for them again."""
    pair.deploy(EVEN)
    pair.world.run(0.5)
    until_s = time.monotonic() + 60
    while pair.view(pair.own)["group"]["assignor"] != "custom" and time.monotonic() < until_s:
        pair.world.run(0.2)
        time.sleep(0.02)
    row = Row.objects.get(pk=pair.own.pk)
    monkeypatch.setattr(custom, "_runner", slow().ask)
    monkeypatch.setattr("dashboard.labs.writes.checkpoint_before", lambda *_given: None)
    pair.world.shard.let_go()
    shard = pair.world.shard_new()
    begun_s, waits = time.monotonic(), []
    while time.monotonic() - begun_s < 60:
        pair.world.run(0.05, shard)
        driver = shard.drivers.get(row.pk)
        if driver is not None and driver.is_held:
            waits.append(shard._wait_s())
        if row.pk in shard.frame_due_s:
            break
        time.sleep(0.01)
    assert row.pk in shard.frame_due_s and waits
    assert all(wait_s <= HELD_LOOK_S for wait_s in waits) and any(wait_s > 0 for wait_s in waits), (
        "it looks now and then, and does not spin"
    )


class LateAnswer(Held):
    def __init__(self, waits: list[int]) -> None:
        super().__init__()
        self.waits = waits

    @property
    def is_ready(self) -> bool:
        return True

    def wait(self) -> None:
        self.waits.append(1)


@pytest.mark.parametrize("late", [0, 1, 3])
def test_a_lab_that_was_held_is_to_the_byte_the_one_that_was_not(
    late: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []
    asked: dict[str, int] = {}

    def run(source: str, members: dict[str, Any], partitions: dict[str, int]) -> dict[str, Any]:
        key = str((members, partitions))
        asked[key] = asked.get(key, 0) + 1
        if asked[key] <= late:
            raise LateAnswer(waits)
        return RUNNER.run(source, members, partitions)

    def lived() -> bytes:
        lab = Lab(scenario_from_json(KAFKA))
        lab.advance_to(12 * SECOND)
        lab.submit(
            {
                "command_id": "a",
                "kind": "group_assignor",
                "lane": "kafka",
                "args": {"source": EVEN},
                "position": 1,
                "at_us": lab.now_us,
            }
        )
        lab.advance_to(24 * SECOND)
        lab.submit({"command_id": "b", "kind": "join", "args": {}, "position": 2, "at_us": lab.now_us})
        lab.advance_to(40 * SECOND)
        assert lab.view()["lanes"]["kafka"]["group"]["assignor"] == "custom"
        return lab.checkpoint()

    monkeypatch.setattr(custom, "_runner", RUNNER.run)
    at_once = lived()
    monkeypatch.setattr(custom, "_runner", run)
    assert lived() == at_once and len(waits) == late * len(asked) and asked
