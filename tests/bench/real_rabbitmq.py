"""A real RabbitMQ beside ours, where one is installed (Debian: `rabbitmq-server`): its own data folder, loopback, free ports, ended by
process id. HIGHWATER_RABBITMQ names the folder that holds usr/lib/rabbitmq and usr/bin/erl; / without it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE_S = 60


@dataclass(frozen=True)
class Running:
    """A server under measurement. pid: whose CPU and memory count. ready_s: how long until it took clients."""

    pid: int
    port: int
    ready_s: float


def installed() -> Path | None:
    root = Path(os.environ.get("HIGHWATER_RABBITMQ", "/"))
    return root if _command(root).exists() and (root / "usr/bin/erl").exists() else None


@contextmanager
def real_rabbitmq(root: Path) -> Iterator[Running]:
    """Raises RuntimeError where it does not start, with the end of what it printed."""
    with tempfile.TemporaryDirectory(prefix="highwater-rabbitmq-") as folder:
        home, (amqp, names, distribution) = Path(folder), _free_ports(3)
        environment = {
            "HOME": folder, "PATH": f"{root / 'usr/bin'}:{os.environ['PATH']}", "RABBITMQ_NODENAME": "bench@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1", "RABBITMQ_NODE_PORT": str(amqp), "RABBITMQ_DIST_PORT": str(distribution),
            "ERL_EPMD_PORT": str(names), "ERL_EPMD_ADDRESS": "127.0.0.1", "RABBITMQ_MNESIA_BASE": str(home / "mnesia"),
            "RABBITMQ_LOG_BASE": str(home / "log"), "RABBITMQ_PID_FILE": str(home / "pid"),
            "RABBITMQ_CONFIG_FILE": str(home / "none"), "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
        }  # fmt: skip
        said = home / "said"
        with said.open("wb") as output:
            epmd = subprocess.Popen([root / "usr/bin/epmd", "-port", str(names), "-address", "127.0.0.1"])
            began = time.perf_counter()
            script = subprocess.Popen([_command(root)], env=environment, stdout=output, stderr=output)
        try:
            while not _takes_clients(amqp):
                if script.poll() is not None or time.perf_counter() - began > PATIENCE_S:
                    raise RuntimeError(said.read_text(errors="replace")[-2_000:])
                time.sleep(0.02)
            yield Running(int((home / "pid").read_text()), amqp, time.perf_counter() - began)
        finally:
            if script.poll() is None and (home / "pid").exists():
                os.kill(int((home / "pid").read_text()), signal.SIGTERM)
                script.wait(PATIENCE_S)
            script.kill()
            epmd.terminate()
            epmd.wait()


def _command(root: Path) -> Path:
    return root / "usr/lib/rabbitmq/bin/rabbitmq-server"


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _takes_clients(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as client:
            client.sendall(b"AMQP\0\0\x09\x01")
            return bool(client.recv(8))
    except OSError:
        return False
