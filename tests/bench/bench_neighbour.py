"""Labs as large as they may be, at the highest rate and speed, and their neighbour in the same shard: how
long a click on the neighbour takes, how often it moves, and what a large one says of itself.

    beside one that plays ─► beside one that is ordered about (join, leave, crash, slow, set_algorithm, speed) ─► beside three of eight lanes

Run alone: python -m tests.bench.bench_neighbour
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from broker_core.errors import CommandError
from broker_core.lab.scenario import scenario_from_json
from tests.bench.clicks import WatchedLab, click_often, lab_made
from tests.bench.sockets import quantile
from tests.dashboard.processes import Site

Figure = tuple[str, float, str, str, str]
Order = dict[str, Any]
CLICKS = 100
BAR_MS = 200
ORDER_EVERY_S = 0.4
CONSUMERS = 512
SETTLING_S = (5, 15)
"""After the first large lab came, and after the others did."""
FOUR_LANES = ("pulsar", "kafka", "tubemq", "rabbitmq")
EIGHT_LANES = ("pulsar", "pulsar", "pulsar", "kafka", "kafka", "tubemq", "tubemq", "rabbitmq")


@cache
def largest(models: tuple[str, ...]) -> tuple[int, int]:
    """(consumers, partitions): the most of both that a lab of these lanes may have."""
    for consumers in (CONSUMERS, *(count for count in (384, 256, 192, 128, 64) if count < CONSUMERS)):
        for partitions in (512, 256, 128, 64, 32, 16):
            try:
                scenario_from_json({**large_lab(models, partitions), "consumers": consumers})
            except CommandError:
                continue
            return consumers, partitions
    raise ValueError(f"no lab of {models} is small enough")


def large_lab(models: tuple[str, ...], partitions: int | None = None) -> dict[str, Any]:
    """A scenario; all but three of its consumers join later (`largest`)."""
    count = partitions or largest(models)[1]
    sizes = {"kafka": {"partitions": count}, "tubemq": {"partitions": count, "brokers": 4}}
    lanes = [
        {"id": f"{model}{place}", "model": model, **sizes.get(model, {})}
        for place, model in enumerate(models)
    ]
    return {
        "name": "large",
        "workload": {"kind": "uniform", "rate": 5_000},
        "consumers": 3,
        "seed": 1,
        "lanes": lanes,
    }


def grow(models: tuple[str, ...]) -> list[Order]:
    """What makes a new lab large, and quick."""
    return [
        {"kind": "join", "args": {"count": largest(models)[0] - 3}},
        {"kind": "speed", "args": {"speed": 20}},
    ]


def all_orders(models: tuple[str, ...]) -> Iterator[Order]:
    """One after the other, of every kind that takes long in a large lab of these lanes."""
    pulsar, kafka = (f"{model}{models.index(model)}" for model in ("pulsar", "kafka"))
    for number in range(4, largest(models)[0], 3):
        yield {"kind": "leave", "consumer": f"c{number}"}
        yield {"kind": "crash", "consumer": f"c{number + 1}"}
        yield {"kind": "slow", "consumer": f"c{number + 2}", "args": {"rate": 2}}
        yield {"kind": "join", "args": {"count": 1}}
        yield {
            "kind": "set_algorithm",
            "lane": pulsar,
            "args": {"algorithm": ("consistent_hash_current", "consistent_hash")[number % 2]},
        }
        yield {"kind": "speed", "args": {"speed": (20, 10)[number % 2]}}
        yield {"kind": "set_algorithm", "lane": kafka, "args": {"algorithm": ("sticky", "range")[number % 2]}}


def leaves(models: tuple[str, ...]) -> Iterator[Order]:
    return ({"kind": "leave", "consumer": f"c{number}"} for number in range(4, largest(models)[0]))


def run() -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder,
        Site(Path(folder), shards=1) as site,
    ):
        return asyncio.run(_measure(site))


async def _measure(site: Site) -> list[Figure]:
    lab = WatchedLab(site, lab_made(site, {"scenario": "demo"}))
    await lab.watch()
    await asyncio.sleep(1.5)
    note = _told("alone", await click_often([lab], CLICKS, 0.12))
    large = await _open(site, FOUR_LANES)
    await asyncio.sleep(SETTLING_S[0])
    assert lab.client is not None and large.client is not None
    before, started_s = (lab.client.frames, large.client.frames), asyncio.get_running_loop().time()
    beside = await click_often([lab], CLICKS, 0.12)
    took_s = asyncio.get_running_loop().time() - started_s
    rate, large_rate = [
        (client.frames - count) / took_s
        for client, count in zip((lab.client, large.client), before, strict=True)
    ]
    behind_ms = site.request("GET", f"/api/labs/{large.id}/snapshot/")[1]["view"]["feed"]["behind_ms"]
    ordered = await _click_beside(lab, {large: all_orders(FOUR_LANES)})
    others = [await _open(site, EIGHT_LANES) for _lab in range(3)]
    await asyncio.sleep(SETTLING_S[1])
    crowded = await _click_beside(lab, {other: leaves(EIGHT_LANES) for other in others})
    load = f"{CLICKS} clicks; load average at the end {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    return [
        *_figures(
            "click beside a lab of {} consumers and {} partitions".format(*largest(FOUR_LANES)),
            beside,
            f"{note}; {load}",
        ),
        *_figures("click beside it while it is ordered about", ordered, load),
        *_figures("click beside it and three of eight such lanes while consumers leave them", crowded, load),
        (
            "the same neighbour's frames beside the one",
            rate,
            "frames/s",
            ">= 8",
            f"the large lab's own: {large_rate:.1f} frames/s",
        ),
        ("the large lab is behind, and says so", float(behind_ms), "ms", "> 0", ""),
    ]


def _told(what: str, seconds: list[float]) -> str:
    return f"{what} p50 {quantile(seconds, 0.5) * 1000:.0f}, p99 {quantile(seconds, 0.99) * 1000:.0f} ms"


def _figures(what: str, seconds: list[float], note: str) -> list[Figure]:
    p50_ms, p99_ms = quantile(seconds, 0.5) * 1000, quantile(seconds, 0.99) * 1000
    return [
        (f"{what}, p50", p50_ms, "ms", "", note),
        (f"{what}, p99", p99_ms, "ms", f"<= {BAR_MS}", f"longest {max(seconds) * 1000:.0f} ms"),
        (f"{what}, p99 over its bar", p99_ms / BAR_MS, "ratio", "<= 1", ""),
    ]


async def _open(site: Site, models: tuple[str, ...]) -> WatchedLab:
    lab = WatchedLab(site, lab_made(site, large_lab(models)))
    await lab.watch()
    for place, order in enumerate(grow(models)):
        if (status := _send(lab, f"large-{place}", order)) != 202:
            raise RuntimeError(f"order {order} refused: {status}")
    return lab


def _send(lab: WatchedLab, command_id: str, order: Order) -> int:
    return lab.site.request(
        "POST", f"/api/labs/{lab.id}/commands/", {"command_id": command_id, **order}, token=lab.token
    )[0]


async def _click_beside(lab: WatchedLab, orders: dict[WatchedLab, Iterator[Order]]) -> list[float]:
    """Clicks on the one while the others are ordered about without a pause."""
    ordering = [asyncio.create_task(_order(other, given)) for other, given in orders.items()]
    try:
        return await click_often([lab], CLICKS, 0.12, seed=len(orders))
    finally:
        for task in ordering:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _order(lab: WatchedLab, orders: Iterator[Order]) -> None:
    for place, order in enumerate(orders):
        status = await asyncio.get_running_loop().run_in_executor(None, _send, lab, f"order-{place}", order)
        if status != 202:
            raise RuntimeError(f"order {order} refused: {status}")
        await asyncio.sleep(ORDER_EVERY_S)


if __name__ == "__main__":
    for figure in run():
        print(figure)
