"""What `make run` starts: every process of the site, looked after until Ctrl-C.

    supervisor ── redis          embedded, unix socket, nothing on disk (absent with REDIS_URL)
               ├─ keeper         prepares the site, then re-enqueues shards whose task is gone
               ├─ worker labs.N  one per shard: there the broker core runs
               ├─ worker wire.0  the shard of labs that real clients come to, with their sockets; started when the others answer
               ├─ worker general queue default
               ├─ web            mqsite.web (Daphne) on a listening socket that the supervisor holds
               ├─ worker past    looks at labs' pasts, away from those that drive them and from the web server; started when the others answer
               └─ worker analysis  queue analysis: studies, on a Spark that the first one opens; started when the others answer

The supervisor imports nothing but the standard library, so it answers a signal at once whatever the others
do. A child that dies is started again, more slowly each time; all of them die with the supervisor where the
system can do that (Linux), and what is left elsewhere is ended by the next start. `python -m
mqsite.supervisor --run-dir DIR --port 0` is the whole site on a free port, for tests too.
"""

import argparse
import http.client
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from types import FrameType

from mqsite.host import WIRE_SHARD, host_id, past_queue, shard_queue, takes_clients
from mqsite.keeper import ROOT, files_are_fresh
from mqsite.supervisor_checks import (
    CannotStart,
    address_shown,
    client_ports,
    listen,
    open_run_dir,
    port_of,
    redis_executable,
    shards_of,
)
from mqsite.supervisor_children import Child, Children, end_left_over

STOP_WITHIN_S = 4.5
START_WITHIN_S = 60.0
DEATHS_AT_START_MAX = 3
# Linux allows 107 bytes for the path of a unix socket, macOS 103.
SOCKET_PATH_BYTES_MAX = 100
# A watched log folder keeps three files of each segment open, and many systems allow a process only 1,024
# unless it asks for more.
OPEN_FILES = 65_536


class Supervisor:
    """One site. run_dir: where everything that it writes goes. run() returns the exit code."""

    def __init__(self, run_dir: Path, host: str, port: str, shards: str) -> None:
        self.run_dir, self.host, self.port_text, self.shards_text = run_dir, host, port, shards
        self.stopping = False
        self.port = 0
        self.children: Children
        self._report = b""
        self._steps: set[str] = set()

    def run(self) -> int:
        """Start, print the address, look after the children until a signal comes, end them. 0; 1 after a
        sentence why not."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)
        try:
            port, shards = port_of(self.port_text), shards_of(self.shards_text)
            client_ports(os.environ.get("HIGHWATER_CLIENTS_PORTS", ""))
            lock = open_run_dir(self.run_dir)
            for name in end_left_over(self.run_dir):
                print(f"Ended what an earlier run had left behind: {name}.", flush=True)
            listener = listen(self.host, port)
        except CannotStart as reason:
            print(reason, file=sys.stderr, flush=True)
            return 1
        self.port = listener.getsockname()[1]
        _allow_open_files()
        # Woken by a signal or a child's death at once; without it the loop looks ten times a second.
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        report_read, report_write = os.pipe()
        self.children = Children(self.run_dir, ROOT, self._environment(shards))
        try:
            self._start_all(shards, listener.fileno(), report_write, (wake_read, report_read))
            self._look_after((wake_read, report_read))
        except CannotStart as reason:
            print(reason, file=sys.stderr, flush=True)
            return 1
        finally:
            self.stopping = True
            self.children.end_all(STOP_WITHIN_S)
            listener.close()
            lock.close()
        return 0

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stopping = True

    def _environment(self, shards: int) -> dict[str, str]:
        outside = os.environ.get("REDIS_URL")
        given = {
            "HIGHWATER_RUN_DIR": str(self.run_dir),
            "HIGHWATER_REDIS_EMBEDDED": "0" if outside else "1",
            "REDIS_URL": outside or f"unix://{self._socket_path()}",
            "LAB_SHARDS": str(shards),
            "HOST": self.host,
            "PORT": str(self.port),
            "PYTHONUNBUFFERED": "1",
        }
        # Without compiled files each of five processes would spend seconds at every start compiling what it
        # imports.
        around = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return (
            {"DJANGO_SETTINGS_MODULE": "mqsite.settings.dev", "HIGHWATER_LOG_LEVEL": "WARNING"}
            | around
            | given
        )

    def _socket_path(self) -> Path:
        path = self.run_dir / "redis.sock"
        if len(os.fsencode(path)) <= SOCKET_PATH_BYTES_MAX:
            return path
        return Path(tempfile.gettempdir()) / f"highwater-{sha256(os.fsencode(path)).hexdigest()[:16]}.sock"

    def _start_all(self, shards: int, listener: int, report_write: int, pipes: tuple[int, int]) -> None:
        """Everything at once, but the web server after the files that it reads once at its start."""
        if not os.environ.get("REDIS_URL"):
            self.children.start(
                Child(
                    "redis",
                    [
                        redis_executable(),
                        "--port",
                        "0",
                        "--unixsocket",
                        str(self._socket_path()),
                        "--unixsocketperm",
                        "700",
                        "--save",
                        "",
                        "--appendonly",
                        "no",
                        "--dir",
                        str(self.run_dir),
                        "--loglevel",
                        "warning",
                    ],
                )
            )
        self.children.start(Child("keeper", [sys.executable, "-m", "mqsite.keeper"], stdout=report_write))
        fresh = files_are_fresh(self.run_dir)
        # Daphne's message limit binds what is sent as well, and a view of eight lanes with 512 consumers is
        # above its default of 1 MiB.
        limits = ["--websocket-max-message-size", str(8 * 2**20), "--websocket-max-frame-size", "65536"]
        web = Child(
            "web",
            [
                sys.executable,
                "-m",
                "mqsite.web",
                "--fd",
                str(listener),
                "--verbosity",
                "0",
                *limits,
                "mqsite.asgi:application",
            ],
            pass_fds=(listener,),
        )
        if fresh:
            self.children.start(web)
        for number in range(shards):
            self.children.start(
                Child(f"worker labs.{number}", _worker(shard_queue(number, host_id(self.run_dir)), "solo"))
            )
        self.children.start(Child("worker general", _worker("default", "threads", "--concurrency", "2")))
        if not fresh:
            self._wait_for("files", pipes)
            if not self.stopping:
                self.children.start(web)

    def _look_after(self, pipes: tuple[int, int]) -> None:
        self._wait_for("ready", pipes)
        shown = False
        begun_s = time.monotonic()
        while not self.stopping:
            if not shown and (self._is_healthy() or time.monotonic() - begun_s > START_WITHIN_S):
                # Nobody needs these in the first seconds, and the others do need the processor.
                if takes_clients(self.host):
                    queue = shard_queue(WIRE_SHARD, host_id(self.run_dir))
                    self.children.start(Child("worker wire.0", _worker(queue, "solo")))
                self.children.start(Child("worker past", _worker(past_queue(host_id(self.run_dir)), "solo")))
                self.children.start(Child("worker analysis", _worker("analysis", "solo")))
                print(f"Highwater is at {address_shown(self.host, self.port)}  (Ctrl-C stops it)", flush=True)
                shown = True
            self._turn(pipes, at_start=not shown)

    def _wait_for(self, step: str, pipes: tuple[int, int]) -> None:
        end_s = time.monotonic() + START_WITHIN_S
        while not self.stopping and step not in self._steps:
            if time.monotonic() > end_s:
                raise CannotStart(
                    f"The site was not prepared within {START_WITHIN_S:.0f} s; see "
                    f"{self.children.log_path('keeper')}."
                )
            self._turn(pipes, at_start=True)

    def _turn(self, pipes: tuple[int, int], at_start: bool) -> None:
        wake, report = pipes
        readable, _, _ = select.select([wake, report], [], [], 0.1)
        if wake in readable:
            os.read(wake, 4096)
        if report in readable:
            self._hear(os.read(report, 65_536))
        if self.stopping:
            return
        for child in self.children.tend():
            code = child.process.returncode if child.process else None
            if at_start and child.deaths >= DEATHS_AT_START_MAX:
                raise CannotStart(
                    f"{child.name} does not stay up (exit code {code}); see "
                    f"{self.children.log_path(child.name)}."
                )
            print(f"{child.name} ended (exit code {code}) and is started again.", file=sys.stderr, flush=True)

    def _hear(self, data: bytes) -> None:
        """Take in what the keeper reports."""
        *lines, self._report = (self._report + data).split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # a library's own print
            if "cannot_start" in message and "ready" not in self._steps:
                raise CannotStart(message["cannot_start"])
            if "step" in message:
                self._steps.add(message["step"])

    def _is_healthy(self) -> bool:
        host = address_shown(self.host, self.port).removeprefix("http://").rpartition(":")[0].strip("[]")
        connection = http.client.HTTPConnection(host, self.port, timeout=1.5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def _allow_open_files() -> None:
    """Let the children have OPEN_FILES files open each, or as many as this process may allow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _worker(queues: str, pool: str, *more: str) -> list[str]:
    # Without the workers' small talk: nobody reads it, and it costs wake-ups and Redis traffic.
    return [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "mqsite.celery:app",
        "worker",
        "--pool",
        pool,
        "--queues",
        queues,
        "--hostname",
        f"{queues.split(',')[0]}@%h",
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
        "--loglevel",
        "WARNING",
        *more,
    ]


def main(arguments: list[str] | None = None) -> int:
    """Read the environment and the arguments, which win over it, and run one site."""
    parser = argparse.ArgumentParser(
        prog="mqsite.supervisor", description="Run Highwater: Redis, workers and web server."
    )
    parser.add_argument(
        "--run-dir",
        default=os.environ.get("HIGHWATER_RUN_DIR") or str(ROOT / "var"),
        help="folder for all it writes",
    )
    parser.add_argument("--host", default=os.environ.get("HOST") or "127.0.0.1", help="address to listen on")
    parser.add_argument(
        "--port", default=os.environ.get("PORT") or "8000", help="port to listen on; 0: any free one"
    )
    chosen = parser.parse_args(arguments)
    shards = os.environ.get("LAB_SHARDS") or "2"
    return Supervisor(Path(chosen.run_dir).resolve(), chosen.host, chosen.port, shards).run()


if __name__ == "__main__":
    sys.exit(main())
