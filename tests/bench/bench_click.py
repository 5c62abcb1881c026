"""From a click to the changed picture: the demo lab playing, alone and with 200 more clients looking on.

Run alone: python -m tests.bench.bench_click
"""

import asyncio
import json
import subprocess
import tempfile
from pathlib import Path

from tests.bench.clicks import WatchedLab, click_often, lab_made
from tests.bench.sockets import quantile
from tests.dashboard.processes import PYTHON, ROOT, Site

Figure = tuple[str, float, str, str, str]
CLICKS = 60
CROWD = 200


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder, Site(Path(folder)) as site:
        return asyncio.run(_measure(site))


async def _measure(site: Site) -> list[Figure]:
    lab = WatchedLab(site, lab_made(site, {"scenario": "demo"}))
    await lab.watch()
    await asyncio.sleep(1.5)
    alone = await click_often([lab], CLICKS, 0.12)
    command = [
        PYTHON,
        "-m",
        "tests.bench.sockets",
        str(site.port),
        f"/ws/labs/{lab.id}/",
        str(CROWD),
        "0",
    ]
    crowd = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert crowd.stdin is not None and crowd.stdout is not None
    await asyncio.get_running_loop().run_in_executor(None, crowd.stdout.readline)
    crowded = await click_often([lab], CLICKS, 0.12)
    crowd.stdin.close()
    seen = json.loads(await asyncio.get_running_loop().run_in_executor(None, crowd.stdout.read))
    crowd.wait()
    note = f"{CLICKS} clicks on one lab"
    return [
        ("click to frame, p50", quantile(alone, 0.5) * 1000, "ms", "<= 80", note),
        ("click to frame, p99", quantile(alone, 0.99) * 1000, "ms", "<= 200", note),
        (f"click to frame with {CROWD} more clients, p50", quantile(crowded, 0.5) * 1000, "ms", "", note),
        (
            f"click to frame with {CROWD} more clients, p99",
            quantile(crowded, 0.99) * 1000,
            "ms",
            "<= 300",
            note,
        ),
        (
            f"frames missed unannounced by {CROWD} clients",
            float(seen["gaps"]),
            "frames",
            "= 0",
            (
                f"{seen['frames_min']} to {seen['frames_max']} frames each, {seen['snapshots']} snapshots, "
                f"{seen['closed']} closed"
            ),
        ),
    ]


if __name__ == "__main__":
    for figure in run():
        print(figure)
