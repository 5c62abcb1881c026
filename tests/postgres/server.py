"""A PostgreSQL of the tests' own: its data in a temporary folder, on loopback, run by a user without rights
(it refuses to run as root)."""

import ctypes
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg

from mqsite.supervisor_children import PR_SET_PDEATHSIG
from tests.dashboard.processes import free_port

MISSING = "PostgreSQL is not installed; on Debian or Ubuntu: apt-get install postgresql"
START_WITHIN_S = 60
PROGRAMS = ("initdb", "postgres")


def program(name: str) -> str | None:
    """On the path, else the newest where Debian puts it; None where there is none."""
    versions = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"),
        key=lambda path: int(path.parts[-3]) if path.parts[-3].isdigit() else 0,
    )
    return shutil.which(name) or (str(versions[-1]) if versions else None)


def is_installed() -> bool:
    return all(program(name) for name in PROGRAMS)


class Postgres:
    """One server. Use as a context manager; `url(name)` makes a database and gives its DATABASE_URL."""

    def __init__(self) -> None:
        self.port, self.password = free_port(), secrets.token_hex(12)
        self.folder = Path(tempfile.mkdtemp(prefix="highwater-postgres-"))
        self.user = _user() if os.geteuid() == 0 else None
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Postgres":
        data, key = self.folder / "data", self.folder / "password"
        key.write_text(self.password)
        if self.user is not None:
            for path in (self.folder, key):
                shutil.chown(path, self.user)
        try:
            self._run(
                [
                    str(program("initdb")),
                    "--pgdata",
                    str(data),
                    "--username",
                    "highwater",
                    "--auth",
                    "scram-sha-256",
                    "--pwfile",
                    str(key),
                    "--encoding",
                    "UTF8",
                    "--locale",
                    "C",
                    "--no-sync",
                ]
            )
            with (self.folder / "log").open("wb") as log:
                self.process = subprocess.Popen(
                    [
                        str(program("postgres")),
                        "-D",
                        str(data),
                        "-h",
                        "127.0.0.1",
                        "-p",
                        str(self.port),
                        "-k",
                        str(self.folder),
                        "-F",
                    ],
                    user=self.user,
                    group=self.user and pwd.getpwnam(self.user).pw_gid,
                    extra_groups=[] if self.user else None,
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    preexec_fn=_end_with_parent,
                )
            self._wait_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                # Still connected clients do not matter to it now: SIGQUIT ends it and all its processes at
                # once.
                self.process.send_signal(signal.SIGQUIT)
                self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str) -> str:
        """The address of a new empty database."""
        with self._connect() as connection:
            connection.execute(f'CREATE DATABASE "{database}"')
        return f"postgres://highwater:{self.password}@127.0.0.1:{self.port}/{database}"

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="highwater",
            password=self.password,
            dbname="postgres",
            autocommit=True,
        )

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(
            command,
            user=self.user,
            group=self.user and pwd.getpwnam(self.user).pw_gid,
            extra_groups=[] if self.user else None,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stderr}")

    def _wait_up(self) -> None:
        end_s = time.monotonic() + START_WITHIN_S
        while True:
            try:
                self._connect().close()
                return
            except psycopg.OperationalError as error:
                if time.monotonic() > end_s:
                    raise RuntimeError((self.folder / "log").read_text(errors="replace")) from error
                time.sleep(0.1)


def _end_with_parent() -> None:
    """Where the system can do that: a run of the tests that is killed leaves no server behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


def _user() -> str:
    """Who runs it when the tests run as root: Debian's user of the package, else the one that owns
    nothing."""
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)
