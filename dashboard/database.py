"""What a database or a disk says that cannot serve now: gone, locked or full. And how SQLite's texts are
read.

locked, unreachable, read-only, an input/output error   503, try again in a moment        full   507, nothing was kept
"""

import errno
import sqlite3
from typing import Any

from django.db import InterfaceError, OperationalError
from django.db.backends.signals import connection_created
from django.utils.translation import gettext as _

from dashboard.errors import Refused

AGAIN_S = 5
FULL_AGAIN_S = 60
LOST = (OperationalError, InterfaceError)
DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
POSTGRES_DISK_FULL = "53100"


def refusal_of(error: BaseException) -> Refused | None:
    """How a request is answered that met this error; None: it says nothing about the database or the disk."""
    if is_full(error):
        return Refused(
            507,
            {"disk": _("the server's disk is full: nothing was changed; try again in about a minute")},
            FULL_AGAIN_S,
        )
    # A wrong statement, a missing table: an error of ours that a second try does not mend.
    if isinstance(error, LOST) and _sqlite_code(error) != sqlite3.SQLITE_ERROR:
        return Refused(
            503, {"database": _("the database cannot be reached right now: try again in a moment")}, AGAIN_S
        )
    return None


def is_full(error: BaseException) -> bool:
    """Whether the database or the disk has no room left."""
    if isinstance(error, LOST):
        return (
            _sqlite_code(error) == sqlite3.SQLITE_FULL
            or getattr(error.__cause__, "sqlstate", None) == POSTGRES_DISK_FULL
        )
    return isinstance(error, OSError) and error.errno in DISK_FULL


def _sqlite_code(error: BaseException) -> int | None:
    """SQLite's primary result code."""
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def read_damaged_texts(*, connection: Any, **_kwargs: Any) -> None:
    """A text that is not UTF-8 would end the whole query in which its row is read. As marked bytes it is its
    row's alone."""
    if connection.vendor == "sqlite":
        connection.connection.text_factory = lambda text: text.decode(errors="surrogateescape")


def prepare() -> None:
    connection_created.connect(read_damaged_texts, dispatch_uid="dashboard.database")
