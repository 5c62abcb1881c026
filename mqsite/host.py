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


def shard_queue(number: int, host: str) -> str:
    """The Celery queue of a shard's tasks on one host: a task stays where its shard's labs are in memory."""
    return f"labs.{number}.{host}"


def past_queue(host: str) -> str:
    """The Celery queue of those who look at labs' pasts on one host: the labs that they look at stay in memory."""
    return f"past.{host}"
