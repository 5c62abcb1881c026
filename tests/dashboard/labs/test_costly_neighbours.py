"""A lab that costs much takes no time from its neighbours."""

import inspect
from typing import Any

import pytest

from broker_core.lab import journal as journals
from broker_core.lab import view as views
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.scenario import scenario_from_json
from dashboard.labs import selectors
from dashboard.models import Lab
from tests.dashboard.labs.neighbours import Two

pytestmark = pytest.mark.django_db


class Costly:
    """A shard's clock that every piece of work of one lab moves on, as a lab of 512 consumers would."""

    def __init__(self, two: Two, monkeypatch: pytest.MonkeyPatch, **costs_s: float) -> None:
        self.two = two
        for name, cost_s in costs_s.items():
            self._charge(monkeypatch, name, cost_s)

    def _charge(self, monkeypatch: pytest.MonkeyPatch, name: str, cost_s: float) -> None:
        real = getattr(CoreLab, name)

        def charge(core: CoreLab) -> None:
            if core is self.two.driver.core:
                self.two.world.clock.now_s += cost_s

        def call(core: CoreLab, *args: Any) -> Any:
            charge(core)
            return real(core, *args)

        def pieces(core: CoreLab, *args: Any) -> Any:
            charge(core)
            return (yield from real(core, *args))

        monkeypatch.setattr(CoreLab, name, pieces if inspect.isgeneratorfunction(real) else call)


def turns_of(two: Two, count: int) -> list[float]:
    """How long each turn takes, by the shard's own clock."""
    lengths = []
    for _turn in range(count):
        before_s = two.world.clock.now_s
        two.world.shard.turn()
        lengths.append(two.world.clock.now_s - before_s)
        two.world.clock.now_s += 0.005
    return lengths


def test_a_large_lab_does_not_hold_its_shard_and_says_behind(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    Costly(two, monkeypatch, advancing=0.015, viewing=0.03)
    two.driver._slice_us = 10_000
    lengths = turns_of(two, 200)
    assert max(lengths) < 0.15, "one step of 30 ms and one frame, then the wakes are looked at"
    took_s = sum(lengths) + 200 * 0.005
    frames = [message for message in two.world.messages(two.sound) if message["seq"] > 5]
    assert len(frames) / took_s > 6, "the neighbour keeps its beat"
    assert two.driver.behind_ms > 0 and two.driver.view["feed"]["behind_ms"] > 0
    assert sum(lengths) < 0.8 * took_s, "it rests as long as it works"


def test_many_orders_of_one_lab_let_a_neighbours_order_in(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    for _order in range(30):
        two.world.order(two.broken, "join")
    Costly(two, monkeypatch, submitting=0.1)
    two.world.shard.turn()
    receipt = two.world.order(two.sound, "join")
    turns_of(two, 2)
    assert selectors.command_get(lab_id=two.sound.pk, command_id=receipt["command_id"])["state"] == "applied"
    waiting = two.broken.commands.filter(state="accepted")
    assert waiting.count() > 25
    turns_of(two, 2_000)
    assert not waiting.exists(), "and all of its own are carried out, in order, a few at a time"
    applied = two.broken.commands.order_by("position").values_list("at_us", flat=True)
    assert list(applied) == sorted(applied)


def costly_lanes(two: Two, monkeypatch: pytest.MonkeyPatch, cost_s: float) -> None:
    """What each lane of the one lab takes for a join."""
    real = CoreLab.join_lanes

    def join_lanes(core: CoreLab, *args: Any) -> Any:
        for _stop in real(core, *args):
            two.world.clock.now_s += cost_s if core is two.driver.core else 0.0
            yield

    monkeypatch.setattr(CoreLab, "join_lanes", join_lanes)


def test_one_long_command_lets_a_neighbours_order_in(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane's part of a command takes 0.3 s, a lane's part of a view 0.1 s; the neighbour waits for one of
    them, not for all."""
    costly_lanes(two, monkeypatch, 0.3)
    real = views.lane_view

    def lane_view(lab: CoreLab, lane: Any, panels: Any) -> Any:
        two.world.clock.now_s += 0.1 if lab is two.driver.core else 0.0
        return real(lab, lane, panels)

    monkeypatch.setattr(views, "lane_view", lane_view)
    long = two.world.order(two.broken, "join")
    waited_s = []

    def state(lab: Lab, receipt: Any) -> str:
        return str(selectors.command_get(lab_id=lab.pk, command_id=receipt["command_id"])["state"])

    while state(two.broken, long) == "accepted":
        began_s = two.world.clock.now_s
        click = two.world.order(two.sound, "join")
        while state(two.sound, click) == "accepted":
            two.world.shard.turn()
            assert two.world.clock.now_s - began_s < 0.45, "one piece, and what is left of its turn"
        waited_s.append(two.world.clock.now_s - began_s)
        two.world.clock.now_s += 0.15
    assert len(waited_s) > 8 and min(waited_s) < 0.1
    while two.broken.pk in two.world.shard.under_way:
        turns_of(two, 1)
    journal = selectors.journal(lab=two.broken)
    again = journals.Journal(scenario_from_json(journal["scenario"]), journal["commands"]).seek(
        two.driver.core.now_us
    )
    assert again.view() == two.driver.core.view()


def test_a_command_in_pieces_is_not_half_done_when_the_database_is_gone(
    two: Two, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.SHARD_POLL_S = 0.01
    costly_lanes(two, monkeypatch, 0.3)
    long = two.world.order(two.broken, "join")
    two.world.shard.turn()
    assert two.broken.pk in two.world.shard.under_way
    two.world.shard._forget_all()
    assert not two.world.shard.under_way
    turns_of(two, 200)
    assert selectors.command_get(lab_id=two.broken.pk, command_id=long["command_id"])["state"] == "applied"
    core = two.world.shard.drivers[two.broken.pk].core
    assert core is not two.driver.core and {len(lane.consumers) for lane in core.lanes.values()} == {4}


def test_pieces_make_the_same_lab(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a turn cuts a lab's time, what comes of it is what a replay of its journal in one go gives."""
    Costly(two, monkeypatch, advancing=0.015)
    for kind in ("join", "join"):
        two.world.order(two.broken, kind)
        turns_of(two, 60)
    journal = selectors.journal(lab=two.broken)
    core = two.driver.core
    again = journals.Journal(scenario_from_json(journal["scenario"]), journal["commands"]).seek(core.now_us)
    assert again.view() == core.view()
