"""More labs than a shard has time for: each is behind by the same share, frames and clicks keep their rate."""

from typing import Any

import pytest

from broker_core.lab.lab import Lab as CoreLab
from dashboard.labs import selectors
from dashboard.labs.pace import FRAMES_PART_MAX, SHARE_MIN, USUAL_S, Pace
from tests.dashboard.world import FakeClock, World

SMALL = {"workload": {"kind": "uniform", "keys": 5, "rate": 5}, "lanes": [{"model": "rabbitmq"}]}


class Busy:
    """Work at a pace for a while. demand: of the time, for the labs' own time; telling: for frames, at the
    shortest interval."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.pace = Pace(self.clock)
        self.shortest_s = self.pace.interval_s
        self.worked_s = 0.0

    def work(self, seconds: float, demand: float, telling: float) -> None:
        for _turn in range(round(seconds / 0.1)):
            told_s = 0.1 * telling * self.shortest_s / self.pace.interval_s
            self.pace.told(told_s)
            took_s = min(0.1, told_s + 0.1 * demand * self.pace.share)
            self.pace.worked(took_s)
            self.worked_s += took_s
            self.clock.now_s += 0.1
            self.pace.adapt()


def test_with_time_to_spare_the_labs_clock_is_the_walls() -> None:
    busy = Busy()
    began_s = busy.pace.at(busy.clock.now_s)
    busy.work(30, demand=0.4, telling=0.3)
    assert busy.pace.at(busy.clock.now_s) - began_s == pytest.approx(30)
    assert busy.pace.behind_s == 0 and busy.pace.interval_s == busy.shortest_s


@pytest.mark.parametrize("demand", [1.0, 1.4, 3.0])
def test_too_much_to_do_slows_the_labs_clock_and_not_the_frames(demand: float) -> None:
    busy = Busy()
    busy.work(20, demand, telling=0.3)
    assert busy.pace.interval_s == busy.shortest_s and busy.pace.behind_s > 0
    assert busy.pace.share * demand == pytest.approx(0.65, abs=0.02), "it does what there is time for"


@pytest.mark.parametrize(("demand", "telling"), [(0.9, 0.3), (1.4, 0.1), (3.0, 0.6), (0.5, 1.5), (8.0, 1.2)])
def test_too_much_to_do_leaves_no_time_unused(demand: float, telling: float) -> None:
    busy = Busy()
    busy.work(30, demand, telling)
    busy.worked_s = 0.0
    busy.work(10, demand, telling)
    assert busy.worked_s / 10 == pytest.approx(0.95, abs=0.02)


def test_frames_come_oftener_again_while_the_labs_are_still_slowed() -> None:
    """What made frames dear was a crowd that opened at once; now they take less, and the labs all the rest."""
    busy = Busy()
    busy.work(10, demand=3.0, telling=3.0)
    assert busy.pace.interval_s > 2 * busy.shortest_s
    busy.work(10, demand=3.0, telling=0.4)
    assert busy.pace.interval_s == pytest.approx(busy.shortest_s) and busy.pace.share < 0.3


def test_frames_that_take_most_of_the_time_become_rarer_first() -> None:
    busy = Busy()
    busy.work(20, demand=0.3, telling=0.75)
    assert busy.pace.share == 1.0 and busy.shortest_s < busy.pace.interval_s <= USUAL_S


def test_a_crowd_is_slowed_before_it_has_fewer_frames_than_usual() -> None:
    """Fifty demos on a slow machine: at full speed they would leave time for five frames a second."""
    busy = Busy()
    busy.work(30, demand=0.5, telling=0.9)
    assert busy.pace.interval_s == pytest.approx(USUAL_S, abs=0.01) and 0.6 < busy.pace.share < 0.9


def test_frames_never_take_more_than_their_part_from_labs_that_ask_for_it() -> None:
    """A hundred demos on two cores."""
    busy = Busy()
    busy.work(30, demand=0.42, telling=1.2)
    assert busy.pace.interval_s == pytest.approx(0.1 * 1.2 / FRAMES_PART_MAX, abs=0.02)
    assert busy.pace.share * 0.42 == pytest.approx(0.95 - FRAMES_PART_MAX, abs=0.02)


def test_a_crowd_that_opened_at_once_has_its_frames_back_within_four_seconds() -> None:
    busy = Busy()
    busy.work(10, demand=0.4, telling=4.0)
    assert busy.pace.interval_s > 0.35
    busy.work(4, demand=0.4, telling=0.5)
    assert busy.pace.interval_s <= USUAL_S


def test_labs_run_at_their_speed_again_when_there_is_time(settings: Any) -> None:
    busy = Busy()
    busy.work(20, demand=5.0, telling=4.0)
    assert busy.pace.share < 0.2 and busy.pace.interval_s == settings.FRAME_INTERVAL_MAX_S
    busy.work(60, demand=0.3, telling=0.2)
    assert busy.pace.share == 1.0 and busy.pace.interval_s == busy.shortest_s


def test_the_labs_clock_never_jumps_or_stops() -> None:
    busy = Busy()
    last_s = busy.pace.at(busy.clock.now_s)
    for demand in (0.1, 50.0, 0.1, 3.0):
        for _tenth in range(150):
            busy.work(0.1, demand, telling=0.2)
            now_s = busy.pace.at(busy.clock.now_s)
            assert 0.1 * SHARE_MIN * 0.99 <= now_s - last_s <= 0.1001
            last_s = now_s


@pytest.mark.django_db
def test_labs_of_a_shard_that_is_too_small_for_them_are_behind_by_the_same_share(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six labs ask for twice the time there is, one of them for three times as much as another."""
    settings.LAB_SHARDS = 1
    world = World()
    labs = [world.open(**SMALL) for _lab in range(6)]
    world.run(1)
    costs = {lab.pk: cost for lab, cost in zip(labs, (0.2, 0.2, 0.3, 0.3, 0.4, 0.6), strict=True)}
    cores = {id(world.shard.drivers[lab.pk].core): costs[lab.pk] for lab in labs}
    real = CoreLab.advancing

    def costly(core: CoreLab, at_us: int) -> Any:
        world.clock.now_s += cores[id(core)] * max(0, at_us - core.now_us) / 1e6
        return (yield from real(core, at_us))

    def turns(seconds: float) -> None:
        until_s = world.clock.now_s + seconds
        while world.clock.now_s < until_s:
            before_s = world.clock.now_s
            world.shard.turn()
            if world.clock.now_s == before_s:
                world.clock.now_s += 0.005

    monkeypatch.setattr(CoreLab, "advancing", costly)
    turns(8)
    world.transport.frames.clear()
    before = {lab.pk: world.shard.drivers[lab.pk].core.now_us for lab in labs}
    turns(8)
    lived = [(world.shard.drivers[lab.pk].core.now_us - before[lab.pk]) / 8e6 for lab in labs]
    assert max(lived) / min(lived) < 1.15 and 0.3 < min(lived) < 0.6, lived
    assert all(len(world.messages(lab)) / 8 >= 4 for lab in labs), "frames keep coming"
    assert all(world.shard.drivers[lab.pk].view["feed"]["behind_ms"] >= 500 for lab in labs)
    waits = []
    for lab in labs * 2:
        began_s, order = world.clock.now_s, world.order(lab, "join")
        while selectors.command_get(lab_id=lab.pk, command_id=order["command_id"])["state"] == "accepted":
            turns(0.001)
        waits.append(world.clock.now_s - began_s)
    assert max(waits) < 0.4, waits
    monkeypatch.undo()
    turns(20)
    assert world.shard.pace.share == 1.0 and world.shard.drivers[labs[0].pk].behind_ms == 0
