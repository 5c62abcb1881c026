"""What the Stage costs its browser: main-thread time of a frame, memory while it runs, and how soon it moves.
A real Chromium, the demo lab.

Run alone: python -m tests.bench.bench_stage; MINUTES=10 watches the memory for longer than the usual one.
"""

import os
import tempfile
import time
from pathlib import Path

from playwright.sync_api import CDPSession, Page, ViewportSize, sync_playwright

from tests.bench.bench_cluster_page import MAKE_LAB, PATIENCE_MS
from tests.browser.conftest import ARGUMENTS, drawn_seq, executable, wait_frame
from tests.supervisor.site import SupervisedSite

Figure = tuple[str, float, str, str, str]
SECONDS = 15
SETTLING_MS = 3_000
SIZE: ViewportSize = {"width": 1440, "height": 900}
CROWD = {
    "consumers": 512,
    "lanes": [
        {"model": "rabbitmq"},
        {"model": "pulsar"},
        {"model": "kafka", "brokers": 9, "partitions": 64, "replication_factor": 3},
        {"model": "tubemq", "brokers": 8, "partitions": 64},
    ],
    "workload": {"kind": "uniform", "keys": 2_000, "rate": 200},
}
CROWD_SETTLES_MS = 15_000
"""Built in some seconds, and the Kafka group finds its balance."""
MINUTES = float(os.environ.get("MINUTES", "1"))


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder, sync_playwright() as playwright:
        site = SupervisedSite(Path(folder))
        try:
            site.wait_started()
            chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
            page = chromium.new_page(viewport=SIZE)
            return [
                *_measure(page, f"{site.url}?demo=off"),
                _crowd(chromium.new_page(viewport=SIZE), site.url),
            ]
        finally:
            site.stop()


def _measure(page: Page, url: str) -> list[Figure]:
    begun_s = time.monotonic()
    page.goto(url)
    wait_frame(
        page, int(page.evaluate("() => JSON.parse(document.getElementById('page').textContent).seq ?? 0"))
    )
    moving_s = time.monotonic() - begun_s
    tools = page.context.new_cdp_session(page)
    # Thread ticks: processor time of the main thread, not what other programs took from it meanwhile.
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.wait_for_timeout(SETTLING_MS)
    task_s, seq = _metric(tools, "TaskDuration"), drawn_seq(page)
    page.wait_for_timeout(SECONDS * 1000)
    frames = drawn_seq(page) - seq
    cost_ms = (_metric(tools, "TaskDuration") - task_s) * 1000 / max(1, frames)
    heap_mb, nodes = _heap_mb(tools), _metric(tools, "Nodes")
    page.wait_for_timeout(MINUTES * 60_000)
    return [
        ("opening to moving", moving_s, "s", "<= 3", "first visit, browser running"),
        (
            "main-thread cost of a frame, Stage",
            cost_ms,
            "ms",
            "<= 10",
            f"{frames / SECONDS:.1f} frames a second, software rendering",
        ),
        (
            "memory of the Stage grown",
            _heap_mb(tools) - heap_mb,
            "MB",
            "<= 2",
            f"over {MINUTES:g} min from {heap_mb:.1f} MB, after collection",
        ),
        (
            "DOM nodes of the Stage grown",
            _metric(tools, "Nodes") - nodes,
            "nodes",
            "<= 300",
            f"over {MINUTES:g} min from {nodes:.0f}",
        ),
    ]


def _crowd(page: Page, url: str) -> Figure:
    """512 consumers of each model, in one lab: within the time from one of its frames to the next."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{url}labs/")
    page.goto(f"{url}lab/{page.evaluate(MAKE_LAB, CROWD)}/")
    wait_frame(page)
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.wait_for_timeout(CROWD_SETTLES_MS)
    task_s, seq = _metric(tools, "TaskDuration"), drawn_seq(page)
    page.wait_for_timeout(SECONDS * 1000)
    frames = max(1, drawn_seq(page) - seq)
    cost_ms = (_metric(tools, "TaskDuration") - task_s) * 1000 / frames
    note = f"{frames / SECONDS:.1f} frames a second, software rendering"
    return (
        "main-thread cost of a frame, Stage, 4 x 512 consumers, 64 partitions",
        cost_ms,
        "ms",
        "<= 100",
        note,
    )


def _metric(tools: CDPSession, name: str) -> float:
    return float(
        next(row["value"] for row in tools.send("Performance.getMetrics")["metrics"] if row["name"] == name)
    )


def _heap_mb(tools: CDPSession) -> float:
    tools.send("HeapProfiler.collectGarbage")
    return _metric(tools, "JSHeapUsedSize") / 1e6


if __name__ == "__main__":
    for figure in run():
        print(figure)
