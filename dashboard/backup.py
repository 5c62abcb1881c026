"""A site's data as one folder, taken while it runs, and a site made from it again.

    database.sqlite3   SQLite's own backup, one moment of it     or   database.dump   pg_dump's, one moment too
    secret_key         unless the environment has it
    files/             uploads, studies, chunks, comparisons, searches, opened and uploaded logs, the processes' logs
    backup.json        what it is: written last, so a folder without it is no backup

The database comes first: a file that is written after it is an orphan, which the site's own sweep removes,
and never a row without its file. A file that is removed while it is copied had expired.
"""

import fcntl
import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from broker_core.events import Json
from broker_core.lab.rules import RULES_VERSION

FORMAT = 1
LOCKED_S = 30.0
FOLDERS = ("uploads", "studies", "chunks", "comparisons", "breaking", "kafka-logs", "logs")
"""Of the run folder. The others are made again: a lab's log, static files, Spark's work."""
INSTALLED = {"secret_key", "static", "prepared", "flights", "java", "prepare.log"}
"""What a run folder has before any site ran in it."""
MANIFEST, SQLITE, DUMP, KEY, FILES = "backup.json", "database.sqlite3", "database.dump", "secret_key", "files"


class CannotBackUp(Exception):
    """The one sentence that a person reads, of a backup or a restore that was not begun or came to
    nothing."""


def backup(folder: Path) -> Json:
    """Write this site's data into a new folder. Returns what was written into backup.json."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CannotBackUp(f"{folder} is not empty: name a folder that is not there yet.")
    if settings.RUN_DIR in folder.resolve().parents:
        raise CannotBackUp(
            f"{folder} is inside the site's own folder {settings.RUN_DIR}: it would be lost with it."
        )
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).is_file():
        raise CannotBackUp(
            f"There is no database at {connection.settings_dict['NAME']}: no site has run here yet."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)  # the key is in it, and what people uploaded
        about = {
            "format": FORMAT,
            "made_at": timezone.now().isoformat(),
            "database": connection.vendor,
            "rules": RULES_VERSION,
            "migrations": sorted(
                f"{app}.{name}" for app, name in MigrationLoader(connection).applied_migrations
            ),
        }
        _database_out(folder)
        if (settings.RUN_DIR / KEY).is_file():
            shutil.copy2(settings.RUN_DIR / KEY, folder / KEY)
        for name in FOLDERS:
            _copy_tree(settings.RUN_DIR / name, folder / FILES / name)
        (folder / MANIFEST).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise CannotBackUp(
            f"{error.filename or folder} cannot be written or read: {error.strerror or error}."
        ) from error
    return about


def restore(folder: Path) -> Json:
    """Fill this site's empty run folder and database from a backup. Refuses before anything is written.
    Returns the backup's backup.json."""
    about = _about(folder)
    _check_stopped()
    if taken := sorted(path.name for path in settings.RUN_DIR.iterdir() if path.name not in INSTALLED):
        raise CannotBackUp(
            f"{settings.RUN_DIR} is not empty: it has {taken[0]}. Restore into a new folder: "
            f"HIGHWATER_RUN_DIR=..."
        )
    if connection.vendor == "postgresql" and connection.introspection.table_names():
        raise CannotBackUp("The database that DATABASE_URL names is not empty: restore into a new one.")
    try:
        _database_in(folder)
        if (folder / KEY).is_file():
            shutil.copy2(folder / KEY, settings.RUN_DIR / KEY)
        for name in FOLDERS:
            _copy_tree(folder / FILES / name, settings.RUN_DIR / name)
    except OSError as error:
        raise CannotBackUp(
            f"{error.filename or folder} cannot be written or read: {error.strerror or error}."
        ) from error
    return about


def _about(folder: Path) -> Json:
    try:
        about = dict(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise CannotBackUp(f"{folder} is not a whole backup: it has no readable {MANIFEST}.") from error
    if about.get("format") != FORMAT:
        raise CannotBackUp(f"{folder} has the format {about.get('format')}, and this version reads {FORMAT}.")
    if about.get("database") != connection.vendor:
        raise CannotBackUp(
            f"The backup is of {about.get('database')}, and this site uses {connection.vendor}: set or "
            f"unset DATABASE_URL."
        )
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    if newer := sorted(set(about.get("migrations", [])) - known):
        raise CannotBackUp(f"The backup is of a newer version: this one does not know {newer[-1]}.")
    return about


def _check_stopped() -> None:
    """Raises CannotBackUp while a supervisor runs in the run folder."""
    try:
        lock = settings.SUPERVISOR_LOCK.open("r+")
    except FileNotFoundError:
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CannotBackUp(f"A site is running in {settings.RUN_DIR}: stop it first.") from error


# -- the database --------------------------------------------------------------------------------------------


def _database_out(folder: Path) -> None:
    if connection.vendor == "postgresql":
        _run("pg_dump", "--format=custom", f"--file={folder / DUMP}")
        return
    source = connection.settings_dict["NAME"]
    # All pages in one step, under one read transaction: with WAL writers go on meanwhile, and the copy is one
    # moment.
    with (
        closing(sqlite3.connect(source, timeout=LOCKED_S)) as live,
        closing(sqlite3.connect(folder / SQLITE)) as copy,
    ):
        live.backup(copy)


def _database_in(folder: Path) -> None:
    if connection.vendor == "postgresql":
        _run(
            "pg_restore",
            "--no-owner",
            "--exit-on-error",
            "--single-transaction",
            f"--dbname={connection.settings_dict['NAME']}",
            str(folder / DUMP),
        )
        return
    connection.close()
    with closing(sqlite3.connect(folder / SQLITE)) as copy:
        try:
            found = copy.execute("PRAGMA quick_check").fetchone()[0]
        except sqlite3.DatabaseError as error:
            found = str(error)
        if found != "ok":
            raise CannotBackUp(f"{folder / SQLITE} is damaged: {found}.")
    shutil.copy2(folder / SQLITE, connection.settings_dict["NAME"])


def _run(program: str, *arguments: str) -> None:
    """PostgreSQL's own program, with this site's database in its environment, so that no password is on a
    command line."""
    where = connection.settings_dict
    names = {
        "PGHOST": "HOST",
        "PGPORT": "PORT",
        "PGUSER": "USER",
        "PGPASSWORD": "PASSWORD",
        "PGDATABASE": "NAME",
    }
    environment = {**os.environ, **{name: str(where[key]) for name, key in names.items() if where.get(key)}}
    try:
        done = subprocess.run(
            [program, *arguments], env=environment, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise CannotBackUp(
            f"{program} is not installed here. Install PostgreSQL's client (Debian: apt-get install "
            f"postgresql-client), or run it where it is:"
            " pg_dump --format=custom, later pg_restore; and copy the run folder's files beside it."
        ) from error
    if done.returncode:
        raise CannotBackUp(f"{program}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")


# -- files ---------------------------------------------------------------------------------------------------


def _copy_tree(source: Path, target: Path) -> None:
    """Copy a folder while others write and remove in it. Links are not followed: nothing of ours is one."""
    if not source.is_dir():
        return
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.is_symlink():
            continue
        if path.is_dir():
            _copy_tree(path, target / path.name)
            continue
        try:
            shutil.copy2(path, target / path.name)
        except FileNotFoundError:
            (target / path.name).unlink(missing_ok=True)
