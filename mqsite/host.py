"""What tells one supervisor's processes from another's, where several share a database and a Redis. The
standard library alone."""

import os
import socket
from hashlib import sha256
from pathlib import Path


def host_id(run_dir: Path) -> str:
    """HIGHWATER_HOST_ID, or this machine's name and a mark of the run folder: two supervisors never share
    both. At most 40 characters."""
    if given := os.environ.get("HIGHWATER_HOST_ID"):
        return given[:40]
    return f"{socket.gethostname()[:24]}-{sha256(os.fsencode(run_dir.resolve())).hexdigest()[:8]}"


WIRE_SHARD = 1_000
"""The shard of labs that are open to real clients: its worker holds their sockets."""


def shard_queue(number: int, host: str) -> str:
    """The Celery queue of a shard's tasks on one host: a task stays where its shard's labs, and their clients' sockets, are.

    >>> shard_queue(1, "here"), shard_queue(WIRE_SHARD, "here")
    ('labs.1.here', 'wire.0.here')
    """
    return f"wire.{number - WIRE_SHARD}.{host}" if number >= WIRE_SHARD else f"labs.{number}.{host}"


def takes_clients(listen_host: str) -> bool:
    """Whether labs may be open to real clients: HIGHWATER_CLIENTS, 1 or 0, and without it where the site itself listens on
    loopback alone."""
    given = os.environ.get("HIGHWATER_CLIENTS")
    if given in ("0", "1"):
        return given == "1"
    return listen_host == "localhost" or listen_host == "::1" or listen_host.startswith("127.")


def past_queue(host: str) -> str:
    """The Celery queue of those who look at labs' pasts on one host: the labs that they look at stay in memory."""
    return f"past.{host}"
