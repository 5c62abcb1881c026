"""A lab as large as one may be, at the highest rate and speed, and its neighbour in the same shard: how long a click on the neighbour takes,
how often it moves, and what the large one says of itself.

Run alone: python -m tests.bench.bench_neighbour
"""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.clicks import WatchedLab, click_often
from tests.bench.sockets import quantile
from tests.dashboard.processes import Site

Figure = tuple[str, float, str, str, str]
CLICKS = 100
LARGE: dict[str, Any] = {
    "name": "large", "workload": {"kind": "uniform", "rate": 5_000}, "consumers": 3, "seed": 1,
    "rigs": [{"id": "pulsar", "model": "pulsar"}, {"id": "kafka", "model": "kafka", "partitions": 1_000},
             {"id": "tubemq", "model": "tubemq", "partitions": 1_000, "brokers": 4}, {"id": "rabbitmq", "model": "rabbitmq"}],
}  # fmt: skip


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder, Site(Path(folder), shards=1) as site:
        return asyncio.run(_measure(site))


async def _measure(site: Site) -> list[Figure]:
    lab = WatchedLab(site, site.request("POST", "/api/labs/", {"scenario": "demo"})[1])
    await lab.watch()
    await asyncio.sleep(1.5)
    alone = await click_often([lab], CLICKS, 0.12)
    large = WatchedLab(site, site.request("POST", "/api/labs/", LARGE)[1])
    await large.watch()
    for place, body in enumerate([{"kind": "join", "args": {"count": 509}}, {"kind": "speed", "args": {"speed": 20}}]):
        site.request("POST", f"/api/labs/{large.id}/commands/", {"command_id": f"large-{place}", **body}, token=large.token)
    await asyncio.sleep(5)
    assert lab.client is not None and large.client is not None
    before, started_s = (lab.client.frames, large.client.frames), asyncio.get_running_loop().time()
    beside = await click_often([lab], CLICKS, 0.12)
    took_s = asyncio.get_running_loop().time() - started_s
    rate, large_rate = [(client.frames - count) / took_s for client, count in zip((lab.client, large.client), before, strict=True)]
    behind_ms = site.request("GET", f"/api/labs/{large.id}/snapshot/")[1]["view"]["feed"]["behind_ms"]
    note = f"{CLICKS} clicks; alone p50 {quantile(alone, 0.5) * 1000:.0f}, p99 {quantile(alone, 0.99) * 1000:.0f} ms"
    return [
        ("click beside a lab of 512 consumers and 1,000 partitions, p50", quantile(beside, 0.5) * 1000, "ms", "", note),
        ("click beside a lab of 512 consumers and 1,000 partitions, p99", quantile(beside, 0.99) * 1000, "ms", "<= 200", note),
        ("the same neighbour's frames", rate, "frames/s", ">= 8", f"the large lab's own: {large_rate:.1f} frames/s"),
        ("the large lab is behind, and says so", float(behind_ms), "ms", "> 0", ""),
    ]


if __name__ == "__main__":
    for figure in run():
        print(figure)
