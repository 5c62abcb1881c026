"""A Celery application with its workers, processes of their own, over our broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.core.serve.programs import CLEAN, PATIENCE_S, program_of, serving

pytestmark = pytest.mark.slow

TASKS, KILLS = 1_000, (250, 600)
APPLICATION = """
import os, pathlib, sys, time
from celery import Celery

app = Celery("counted", broker=os.environ["AMQP_URL"])
app.conf.update(task_acks_late=True, worker_prefetch_multiplier=10, task_ignore_result=True)
DONE = pathlib.Path("done")


@app.task(bind=True)
def count(self, number):
    line = f"{number} {int(self.request.delivery_info['redelivered'])}\\n".encode()
    out = os.open(DONE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(out, line)
    os.close(out)
    time.sleep(0.001)


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        count.delay(number)
"""


def test_program_of_the_page_runs(tmp_path):
    with (
        serving() as url,
        application(tmp_path, "orders", program_of("celery.md"), url) as run,
        worker(run, "orders"),
    ):
        assert run("orders.py") == ["10", "11", "12"]


def test_worker_that_is_killed_twice_loses_no_task_and_what_runs_twice_was_redelivered(tmp_path):
    """1,000 tasks; the worker's processes are killed in the middle of what they hold."""
    with serving() as url, application(tmp_path, "counted", APPLICATION, url) as run:
        run("counted.py", str(TASKS))
        for enough in KILLS:
            with worker(run, "counted", signal.SIGKILL):
                wait_for(lambda enough=enough: len(done(tmp_path)) >= enough)
        with worker(run, "counted"):
            wait_for(lambda: len({number for number, _ in done(tmp_path)}) == TASKS)
    rows = done(tmp_path)
    times = Counter(number for number, _ in rows)
    redelivered = {number for number, again in rows if again}
    assert sorted(times) == list(range(TASKS))
    assert {number for number, count in times.items() if count > 1} <= redelivered
    assert len(KILLS) <= len(redelivered) <= len(KILLS) * 2 * 11, "what the two had, prefetched or in hand"


def done(folder: Path) -> list[tuple[int, bool]]:
    """(number, whether it was redelivered) of each run of a task, in the order in which they began."""
    path = folder / "done"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(number), again == "1") for number, again in map(str.split, lines)]


@contextmanager
def application(folder: Path, name: str, program: str, url: str) -> Iterator[object]:
    """Where a program and its workers run. Gives how to run it to its end: arguments -> lines printed."""
    (folder / f"{name}.py").write_text(program)
    environment = CLEAN | {"AMQP_URL": url}

    def run(*arguments: str) -> list[str]:
        ran = subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()

    run.folder, run.environment = folder, environment
    yield run


@contextmanager
def worker(run: object, name: str, end: signal.Signals = signal.SIGTERM) -> Iterator[None]:
    """A worker of two processes. end: how it ends; SIGKILL ends all of its processes at once."""
    with (run.folder / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", name, "worker", "--concurrency", "2", "--without-gossip", "--without-mingle"],
            cwd=run.folder, env=run.environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield
    finally:
        if end is signal.SIGKILL:
            os.killpg(process.pid, end)
        else:
            process.send_signal(end)
        try:
            process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise


def wait_for(is_so: object) -> None:
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)
