"""What the Cluster page costs its browser: main-thread time of a frame with 9 brokers and 96 partitions. A
real Chromium on the real processes.

Run alone: python -m tests.bench.bench_cluster_page; TRACE=1 also prints which functions took the time.
"""

import os
import tempfile
from collections import Counter
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, drawn_seq, executable, wait_frame
from tests.supervisor.site import SupervisedSite

Figure = tuple[str, float, str, str, str]
SCENARIO = {
    "lanes": [
        {
            "model": "kafka",
            "brokers": 9,
            "partitions": 96,
            "min_insync_replicas": 2,
            "racks": list("abcabcabc"),
        }
    ],
    "workload": {"kind": "uniform", "keys": 200, "rate": 50},
}
SECONDS = 15
FIRST_S = 5
"""The lab's group finds its balance, and the page its pace."""
PATIENCE_MS = 120_000
SHOWN = 30
MAKE_LAB = """async (scenario) => {
  const csrf = JSON.parse(document.getElementById("page").textContent).csrf;
  const headers = {"Content-Type": "application/json", "X-CSRFToken": csrf};
  const answer = await fetch("/api/labs/", {method: "POST", headers, body: JSON.stringify(scenario)});
  return (await answer.json()).id;
}"""


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder, sync_playwright() as playwright:
        site = SupervisedSite(Path(folder))
        try:
            site.wait_started()
            chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
            page = chromium.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(PATIENCE_MS)
            page.goto(f"{site.url}labs/")
            lab = page.evaluate(MAKE_LAB, SCENARIO)
            page.goto(f"{site.url}lab/{lab}/kafka/cluster/")
            wait_frame(page)
            return _measure(page)
        finally:
            site.stop()


def _measure(page: Page) -> list[Figure]:
    tools = page.context.new_cdp_session(page)
    # Thread ticks: processor time of the main thread, not what other programs took from it meanwhile.
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.wait_for_timeout(FIRST_S * 1000)
    if "TRACE" in os.environ:
        _print_profile(page, tools)
    before, seq = _metrics(tools), drawn_seq(page)
    page.wait_for_timeout(SECONDS * 1000)
    frames = max(1, drawn_seq(page) - seq)
    after = _metrics(tools)
    task_ms, script_ms, layout_ms, style_ms = (
        (after[name] - before[name]) * 1000 / frames
        for name in ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
    )
    note = (
        f"script {script_ms:.1f}, style {style_ms:.1f}, layout {layout_ms:.1f}; {frames / SECONDS:.1f} "
        f"frames a second, software rendering"
    )
    return [
        (
            "main-thread cost of a frame, Cluster page, 9 brokers and 96 partitions",
            task_ms,
            "ms",
            "<= 10",
            note,
        )
    ]


def _metrics(tools: CDPSession) -> dict[str, float]:
    return {row["name"]: float(row["value"]) for row in tools.send("Performance.getMetrics")["metrics"]}


def _print_profile(page: Page, tools: CDPSession) -> None:
    """Each function's own time, of the sampling profiler."""
    tools.send("Profiler.enable")
    tools.send("Profiler.setSamplingInterval", {"interval": 200})
    tools.send("Profiler.start")
    seq = drawn_seq(page)
    page.wait_for_timeout(SECONDS * 1000)
    frames = max(1, drawn_seq(page) - seq)
    profile = tools.send("Profiler.stop")["profile"]
    tools.send("Profiler.disable")
    frame_of = {node["id"]: node["callFrame"] for node in profile["nodes"]}
    own: Counter[str] = Counter()
    for node, us in zip(profile["samples"], profile["timeDeltas"], strict=True):
        call = frame_of[node]
        own[
            f"{call['functionName'] or '(anonymous)'} "
            f"{call['url'].rsplit('/', 1)[-1]}:{call['lineNumber'] + 1}"
        ] += us
    for name, us in own.most_common(SHOWN):
        print(f"  {us / 1000 / frames:6.2f} ms a frame  {name}")


if __name__ == "__main__":
    for figure in run():
        print(figure)
