"""The supervisor's Django half, its own process: prepares the site, makes the demo lab, then looks after the
shards.

Four times a second it enqueues the shards whose task is gone; each second it fails studies whose worker is
and ends labs that were deleted; each minute it drops what has expired. It reports on standard output, one
JSON object a line: {"step": "files"} when static files and translations are in place, {"step": "ready"}, or
{"cannot_start": sentence} before it ends with code 2.
"""

import hashlib
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mqsite.messages import compile_messages

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

ROOT = Path(__file__).resolve().parent.parent
CANNOT_START = 2
OUTSIDE_WAIT_S = 3.0
KEEP_EVERY_S = 0.25  # a shard without a task is noticed so soon after its lease
TEND_EVERY_S = 1.0
SWEEP_EVERY_S = 60.0  # what has expired goes: uploads, studies
PREPARING_LOCK = 4_851_023  # of PostgreSQL's advisory locks, for this database
_PORTS = {"postgres": 5432, "postgresql": 5432, "redis": 6379, "rediss": 6379}


def fingerprint() -> str:
    """What the collected files depend on: names, sizes and times of the sources."""
    seen = hashlib.sha256()
    for folder, pattern in (("static", "**/*"), ("locale", "**/*.po")):
        for path in sorted((ROOT / folder).glob(pattern)):
            if path.is_file():
                stat = path.stat()
                seen.update(f"{path.relative_to(ROOT)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return seen.hexdigest()


def files_are_fresh(run_dir: Path) -> bool:
    """Whether static files and translations were prepared from what is there now."""
    try:
        return (run_dir / "prepared").read_text(encoding="utf-8") == fingerprint()
    except OSError:
        return False


def main() -> int:
    """Prepare, report, keep."""
    run_dir = Path(os.environ["HIGHWATER_RUN_DIR"])
    try:
        _reachable("REDIS_URL", "The Redis")
        _reachable("DATABASE_URL", "The database")
        _prepare(run_dir)
        report(step="ready")
    except _Refusal as refusal:
        report(cannot_start=str(refusal))
        return CANNOT_START
    _keep()
    return 0


def report(**message: str) -> None:
    """Tell the supervisor, which may be gone: then this process is about to end too."""
    print(json.dumps(message), flush=True)


class _Refusal(Exception):
    """The one sentence that a person reads."""


def _reachable(name: str, what: str) -> None:
    """Try the address before a library does, whose own waiting has no end."""
    url = os.environ.get(name, "")
    if not url or url.startswith(("unix:", "redis+socket:", "sqlite:")):
        return
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError) as error:
        raise _Refusal(f"{name} is not an address that Highwater understands.") from error
    if not host or host.startswith(("/", "%2f", "%2F")):
        return
    try:
        socket.create_connection((host, port), OUTSIDE_WAIT_S).close()
    except OSError as error:
        raise _Refusal(
            f"{what} at {host}:{port} ({name}) cannot be reached: {error.strerror or error}."
        ) from error


def _prepare(run_dir: Path) -> None:
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import call_command
    from django.db import DatabaseError, connection

    try:
        fresh = files_are_fresh(run_dir)
        if not fresh:
            compile_messages(ROOT / "locale")
        django.setup()
        if not fresh:
            _collect(run_dir)
        report(step="files")
        _check_redis()
        connection.ensure_connection()
        with _one_at_a_time(connection):
            call_command("migrate", verbosity=0, interactive=False)
            from dashboard.labs.services import demo_lab_ensure

            demo_lab_ensure()
    except DatabaseError as error:
        raise _Refusal(f"The database cannot be used: {_first_line(error)}.") from error
    except (ImproperlyConfigured, ValueError) as error:
        raise _Refusal(f"The settings cannot be used: {_first_line(error)}.") from error
    except OSError as error:
        raise _Refusal(
            f"{error.filename or run_dir} cannot be written: {error.strerror or error}."
        ) from error


@contextmanager
def _one_at_a_time(connection: "BaseDatabaseWrapper") -> Iterator[None]:
    """Hosts that share a database may start at once; two migrations of one database would run into each
    other. SQLite has one host."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARING_LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [PREPARING_LOCK])


def _collect(run_dir: Path) -> None:
    from django.conf import settings
    from django.core.management import call_command

    mark = fingerprint()
    shutil.rmtree(settings.STATIC_ROOT, ignore_errors=True)
    call_command("collectstatic", verbosity=0, interactive=False)
    (run_dir / "prepared").write_text(mark, encoding="utf-8")


def _check_redis() -> None:
    """A Redis that was named must answer now; the embedded one may still be starting, and everything waits
    for it."""
    import redis
    from django.conf import settings

    if os.environ.get("HIGHWATER_REDIS_EMBEDDED") == "1":
        return
    try:
        client = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=OUTSIDE_WAIT_S, socket_connect_timeout=OUTSIDE_WAIT_S
        )
        client.ping()
        client.close()
    except (redis.RedisError, ValueError) as error:
        raise _Refusal(f"The Redis that REDIS_URL names does not answer: {_first_line(error)}.") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _keep() -> None:
    from django.db import DatabaseError, connection

    from dashboard.labs.keeping import labs_purge
    from dashboard.labs.shards import shards_ensure
    from dashboard.rooms.services import rooms_sweep
    from dashboard.studies.services import studies_tend

    tended_s = swept_s = 0.0
    while True:
        try:
            shards_ensure()
            if time.monotonic() - tended_s > TEND_EVERY_S:
                tended_s = time.monotonic()
                labs_purge()
                sweep = tended_s - swept_s > SWEEP_EVERY_S
                studies_tend(sweep=sweep)
                if sweep:
                    rooms_sweep()
                swept_s = tended_s if sweep else swept_s
        except DatabaseError as error:
            # The database is away for now; nothing that is stored is lost, and the next second asks again.
            print(f"the site cannot be looked after: {_first_line(error)}", file=sys.stderr, flush=True)
            connection.close()
        time.sleep(KEEP_EVERY_S)


if __name__ == "__main__":
    sys.exit(main())
