"""How long a newcomer waits: `make run` in a clean clone with a warm package cache, and again when everything
is installed."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import ARGUMENTS, executable

ROOT = Path(__file__).parents[2]
Figure = tuple[str, float, str, str, str]
GIVE_UP_S = 300
CALLERS = ("VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "DJANGO_SETTINGS_MODULE", "PYTEST_XDIST_WORKER")
"""What a newcomer has not: of a make or a test run around this. With a test's settings no worker takes a lab."""
IS_CLONED = True
"""Else what is here is started as it is: no clone, and nothing is installed."""
# Two different frames have been drawn since the page was asked.
TWO_FRAMES = """() => {
  const seq = document.querySelector("[data-seq]")?.dataset.seq;
  window.firstSeq ??= seq;
  return seq !== undefined && seq !== window.firstSeq;
}"""


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder:
        if not IS_CLONED:
            supervisor = [sys.executable, "-m", "mqsite.supervisor"]
            return [_second(_seconds_to_moving_page(ROOT, supervisor, {"HIGHWATER_RUN_DIR": folder}))]
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        first = _seconds_to_moving_page(clone, ["make", "run"])
        second = _seconds_to_moving_page(clone, ["make", "run"])
    return [
        ("clean clone to a page that moves", first, "s", "<= 90", "what is committed, warm package cache"),
        _second(second),
    ]


def _second(took_s: float) -> Figure:
    return "second start to a page that moves", took_s, "s", "<= 8", "browser start included"


def _seconds_to_moving_page(tree: Path, command: list[str], more: dict[str, str] | None = None) -> float:
    """From typing `make run` to the second frame drawn in Chromium. more: for the environment."""
    environment = {name: value for name, value in os.environ.items() if name not in CALLERS}
    process = subprocess.Popen(
        command,
        cwd=tree,
        env={**environment, "PORT": "0", **(more or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    began = time.monotonic()
    try:
        address = _address(process, began)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
            page = browser.new_page()
            page.goto(address)
            page.wait_for_function(TWO_FRAMES)
            took = time.monotonic() - began
            browser.close()
        return took
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def _address(process: "subprocess.Popen[str]", began: float) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if "http://" in line and "Highwater is at" in line:
            address = "http://" + line.split("http://", 1)[1].split("/", 1)[0]
            while time.monotonic() - began < GIVE_UP_S:
                try:
                    urllib.request.urlopen(f"{address}/healthz", timeout=5).close()
                except urllib.error.HTTPError:  # 503: a part of it is not up yet
                    time.sleep(0.05)
                else:
                    return address
    raise RuntimeError("make run ended without an address")
