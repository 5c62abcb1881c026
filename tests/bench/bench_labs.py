"""Many labs playing at once, each watched: how often each moves, and how long a click on one of them takes.

Run alone: python -m tests.bench.bench_labs
"""

import asyncio
import tempfile
from pathlib import Path

from tests.bench.clicks import WatchedLab, click_often, lab_made
from tests.bench.sockets import quantile
from tests.dashboard.processes import Site

Figure = tuple[str, float, str, str, str]
CROWDS = ((50, 8, 300), (100, 5, None), (150, 2, 1_000))
"""Labs, and their bars: frames a second of the slowest, the 99th of a hundred clicks in ms."""
CLICKS = 100
WATCHED_S = (4, 6)
"""Before and while their frames are counted."""


def run() -> list[Figure]:
    figures: list[Figure] = []
    for count, frames, click_ms in CROWDS:
        with tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder, Site(Path(folder)) as site:
            figures += asyncio.run(_measure(site, count, frames, click_ms))
    return figures


async def _measure(site: Site, count: int, frames: int, click_ms: int | None) -> list[Figure]:
    labs = [WatchedLab(site, lab_made(site, {"scenario": "demo", "seed": seed})) for seed in range(count)]
    for lab in labs:
        await lab.watch()
    await asyncio.sleep(WATCHED_S[0])
    clients = [lab.client for lab in labs if lab.client is not None]
    before, started_s = [client.frames for client in clients], asyncio.get_running_loop().time()
    clock_s = _clock_s(site, labs[0])
    await asyncio.sleep(WATCHED_S[1])
    calm_s = asyncio.get_running_loop().time() - started_s
    speed = (_clock_s(site, labs[0]) - clock_s) / calm_s
    rates = [(client.frames - seen) / calm_s for client, seen in zip(clients, before, strict=True)]
    seconds = await click_often(labs, CLICKS, 0.05)
    return [
        (
            f"{count} labs at once, slowest lab",
            min(rates),
            "frames/s",
            f">= {frames}",
            f"mean {sum(rates) / len(rates):.1f} frames/s; the labs' clock runs at {speed:.0%} of the wall's",
        ),
        (
            f"{count} labs at once, click to frame p50",
            quantile(seconds, 0.5) * 1000,
            "ms",
            "",
            f"{CLICKS} clicks",
        ),
        (
            f"{count} labs at once, click to frame p99",
            quantile(seconds, 0.99) * 1000,
            "ms",
            "" if click_ms is None else f"<= {click_ms}",
            f"{CLICKS} clicks",
        ),
        (
            f"{count} labs at once, frames missed unannounced",
            float(sum(client.gaps for client in clients)),
            "frames",
            "= 0",
            "",
        ),
    ]


def _clock_s(site: Site, lab: WatchedLab) -> float:
    """The virtual time that a viewer of the lab has, in seconds."""
    return float(site.request("GET", f"/api/labs/{lab.id}/snapshot/")[1]["at_us"]) / 1e6


if __name__ == "__main__":
    for figure in run():
        print(figure)
