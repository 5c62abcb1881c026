"""The clock of the shards of a site that stories are played on: it goes as the wall clock does, and further
when a story lets time pass. So a story waits for a session timeout no longer than the page needs to draw it.

A lab that owes more than DEBT_MAX_S lets the rest go (dashboard/labs/driver.py), so time passes in steps below that, each
when the lab has lived the one before.
"""

import json
import os
import re
import time
import urllib.request
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import Page

NAME = "story-clock"
LOOK_EVERY_S = 0.02
STEP_S = 1.5
WITHIN_S = 60.0


class StoryClock:
    """Seconds, as a shard reads them. path: holds how many a story has let pass."""

    def __init__(self, path: Path) -> None:
        self.path, self._ahead_s, self._look_s = path, 0.0, -1e9

    def __call__(self) -> float:
        now_s = time.monotonic()
        if now_s - self._look_s >= LOOK_EVERY_S:
            self._look_s = now_s
            self._ahead_s = ahead(self.path)
        return now_s + self._ahead_s


def ahead(path: Path) -> float:
    return float(path.read_text()) if path.exists() else 0.0


def let_pass(page: Page, run_dir: Path, seconds: float) -> None:
    """Virtual seconds of the lab on this page, which plays at speed 1."""
    snapshot, path = snapshot_of(page), run_dir / NAME
    left_s = seconds
    while left_s > 0:
        step_s, begun_us = min(left_s, STEP_S), lab_time_us(snapshot)
        draft = path.with_suffix(".part")
        draft.write_text(str(ahead(path) + step_s))
        draft.replace(path)
        until_s = time.monotonic() + WITHIN_S
        while lab_time_us(snapshot) < begun_us + step_s * 900_000:
            assert time.monotonic() < until_s, f"the lab does not live {step_s} s"
            time.sleep(LOOK_EVERY_S)
        left_s -= step_s


def snapshot_of(page: Page) -> str:
    """Where the lab on this page is asked for. A visitor's Stage is at the root, and names its lab itself."""
    named = re.search(r"/lab/([^/]+)/", page.url)
    lab = named[1] if named else page.get_attribute("#main", "data-lab")
    assert lab, f"{page.url} is not the page of a lab"
    return urljoin(page.url, f"/api/labs/{lab}/snapshot/")


def lab_time_us(snapshot: str) -> int:
    with urllib.request.urlopen(snapshot, timeout=10) as answer:
        return int(json.load(answer)["view"]["at_us"])


def clock() -> float:
    """The clock of a worker process of such a site (HIGHWATER_SHARD_CLOCK)."""
    return _CLOCK()


_CLOCK = StoryClock(Path(os.environ.get("HIGHWATER_RUN_DIR", ".")) / NAME)
