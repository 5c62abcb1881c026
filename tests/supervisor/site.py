"""A real site under the real supervisor, for tests: started as `make run` starts it, in its own run folder,
on a free port."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from mqsite.supervisor_children import start_time

ROOT = Path(__file__).resolve().parents[2]
START_WITHIN_S = 60


class SupervisedSite:
    """One run of the supervisor. url is known after `wait_started`."""

    def __init__(self, run_dir: Path, *arguments: str, **environment: str) -> None:
        self.run_dir, self.url = run_dir, ""
        clean = {
            name: value
            for name, value in os.environ.items()
            if name
            not in (
                "REDIS_URL",
                "DATABASE_URL",
                "HOST",
                "PORT",
                "DJANGO_SETTINGS_MODULE",
                "HIGHWATER_SECRET_KEY",
            )
        }
        command = [
            sys.executable,
            "-m",
            "mqsite.supervisor",
            "--run-dir",
            str(run_dir),
            *(arguments or ("--port", "0")),
        ]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=clean | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_started(self) -> str:
        """The address that it printed. Raises AssertionError with what it said instead."""
        assert self.process.stdout is not None
        end_s, said = time.monotonic() + START_WITHIN_S, ""
        while time.monotonic() < end_s:
            if select.select([self.process.stdout], [], [], 0.2)[0]:
                line = self.process.stdout.readline()
                said += line
                if found := re.search(r"Highwater is at (\S+)", line):
                    self.url = found[1]
                    return said
                if not line:
                    break
        raise AssertionError(
            f"not started: "
            f"{said}{self.process.communicate(timeout=10) if self.process.poll() is not None else ''}"
        )

    def children(self) -> dict[str, tuple[int, str | None]]:
        """Name -> (process id, start time) of what runs now, as the supervisor wrote it down."""
        rows = json.loads((self.run_dir / "children.json").read_text())
        return {row["name"]: (row["pid"], row["started"]) for row in rows}

    def healthz(self) -> tuple[int, dict]:
        """(status, answer) of /healthz; (0, {}) while nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.url}healthz", timeout=3) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except OSError:
            return 0, {}

    def wait_healthy(self, within_s: float) -> float:
        """Seconds until /healthz says 200."""
        begun_s = time.monotonic()
        while self.healthz()[0] != 200:
            assert time.monotonic() - begun_s < within_s, self.healthz()
            time.sleep(0.1)
        return time.monotonic() - begun_s

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """(exit code, seconds it took)."""
        begun_s = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(20)
        finally:
            if self.process.poll() is None:
                self.process.kill()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code, time.monotonic() - begun_s


def is_running(child: tuple[int, str | None]) -> bool:
    """Whether that very process still runs."""
    return child[1] is not None and start_time(child[0]) == child[1]


def wait_until(condition, within_s: float) -> None:
    """Look until it holds. Raises AssertionError when the time is over."""
    end_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end_s, "still not so"
        time.sleep(0.05)
