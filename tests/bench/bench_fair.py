"""What a shard lets a click wait while large labs are ordered about, on the shard's own CPU clock: the wall
says nothing on a busy machine.

    a real Shard and database in one process, no Redis ─► its clock is this process's CPU time, and waiting for a wake moves it on
    a click: pause or resume of a small lab, stored ─► turns until it is decided

Run alone: python -m tests.bench.bench_fair
"""

import gc
import json
import logging
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from tests.bench import bench_neighbour
from tests.bench.bench_neighbour import (
    BAR_MS,
    EIGHT_LANES,
    FOUR_LANES,
    ORDER_EVERY_S,
    Figure,
    all_orders,
    grow,
    large_lab,
)
from tests.bench.smoke import is_smoke, shrink
from tests.bench.sockets import quantile

if TYPE_CHECKING:
    from dashboard.models import Lab
    from tests.dashboard.world import World

CLICKS = 100
CLICK_EVERY_S = 0.12
WAIT_S = 0.01
SETTLING_S = 8.0
CASES = {"one lab of four lanes": [FOUR_LANES], "three labs of eight lanes": [EIGHT_LANES] * 3}


def run() -> list[Figure]:
    """Each case in a process of its own, with the settings and the empty database of the tests."""
    figures: list[Figure] = []
    for name in CASES:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.bench_fair", name],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "mqsite.settings.test"},
        )
        clicks = json.loads(done.stdout.splitlines()[-1])
        p50_ms, p99_ms = quantile(clicks, 0.5) * 1000, quantile(clicks, 0.99) * 1000
        what, note = (
            f"CPU of the shard until a click beside {name} is decided",
            f"{len(clicks)} clicks, longest {max(clicks) * 1000:.0f} ms",
        )
        figures += [
            (f"{what}, p50", p50_ms, "ms", "", note),
            (f"{what}, p99", p99_ms, "ms", f"<= {BAR_MS}", note),
        ]
    return figures


def measure(labs: list[tuple[str, ...]]) -> list[float]:
    """Seconds of each click."""
    from django.conf import settings

    from dashboard.labs import selectors
    from dashboard.labs.shard import Shard
    from dashboard.labs.tasks import GENERATIONS
    from tests.dashboard.world import World

    settings.LAB_SHARDS = 1
    gc.set_threshold(*GENERATIONS)  # as the task that drives a shard does
    world, clock = World(), CpuClock()
    transport = world.transport

    def wait_for_wake(shard: int, timeout_s: float) -> list[str]:
        entries, transport.entries = transport.entries, []
        if not entries:
            clock.skipped_s += min(timeout_s, WAIT_S)
        return entries

    transport.wait_for_wake = wait_for_wake  # type: ignore[method-assign]
    world.shard = Shard(0, transport, clock)  # type: ignore[arg-type]
    small, large = world.open(scenario="demo"), [world.open(**large_lab(models)) for models in labs]
    ordering = [Ordering(world, lab, models) for lab, models in zip(large, labs, strict=True)]
    for lab, models in zip(large, labs, strict=True):
        for order in grow(models):
            world.order(lab, **order)
    until_s = clock() + SETTLING_S
    while clock() < until_s:
        world.shard.turn()
    clicks = []
    for number in range(CLICKS):
        until_s = clock() + CLICK_EVERY_S
        while clock() < until_s:
            for each in ordering:
                each.go_on(clock())
            world.shard.turn()
        began_s = clock()
        click = world.order(small, ("pause", "resume")[number % 2], consumer="c1")
        while selectors.command_get(lab_id=small.pk, command_id=click["command_id"])["state"] == "accepted":
            world.shard.turn()
        clicks.append(clock() - began_s)
        if set(world.shard.drivers) < {small.pk, *(lab.pk for lab in large)}:
            raise RuntimeError("a lab has stopped")
    return clicks


class CpuClock:
    """CPU seconds of this process, and what it would have slept."""

    def __init__(self) -> None:
        self.skipped_s = 0.0

    def __call__(self) -> float:
        return time.process_time() + self.skipped_s


class Ordering:
    """A lab is ordered about: the next order when the last one is decided, and not before its time."""

    def __init__(self, world: "World", lab: "Lab", models: tuple[str, ...]) -> None:
        self.world, self.lab, self.orders = world, lab, all_orders(models)
        self.last: dict[str, Any] | None = None
        self.next_s = 0.0

    def go_on(self, now_s: float) -> None:
        from dashboard.labs import selectors

        if now_s < self.next_s:
            return
        if (
            self.last
            and selectors.command_get(lab_id=self.lab.pk, command_id=self.last["command_id"])["state"]
            == "accepted"
        ):
            return
        self.last, self.next_s = self.world.order(self.lab, **next(self.orders)), now_s + ORDER_EVERY_S


def main(name: str) -> None:
    import django

    django.setup()
    logging.getLogger("dashboard.labs.transport").setLevel(logging.ERROR)  # that there is no Redis here
    from django.db import connection

    before = str(connection.settings_dict["NAME"])
    connection.creation.create_test_db(verbosity=0)
    try:
        print(json.dumps(measure(CASES[name])))
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        if is_smoke():
            shrink("fair", sys.modules[__name__])
            shrink("neighbour", bench_neighbour)
        main(sys.argv[1])
    else:
        for figure in run():
            print(figure)
