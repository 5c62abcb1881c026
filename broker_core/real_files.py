"""Files of a folder that others write to, opened below that folder: no link leads out of it, not even one
that is put there at this moment.

A source or a log is named by its real path, which has no link in it. Each open goes down that path name by
name and follows none, so a name that has become a link since is a missing file and no way out.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_folder(path: Path) -> int:
    """The descriptor of a folder, for `dir_fd`. Raises FileNotFoundError where a name of the path is a link
    or no folder."""
    descriptor = os.open(os.sep, _PASS)
    try:
        for name in path.absolute().parts[1:]:
            inner = _open(name, _PASS, descriptor)
            os.close(descriptor)
            descriptor = inner
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_file(path: Path) -> IO[bytes]:
    """A regular file, for reading. Raises FileNotFoundError for a link, in whatever part of the path, OSError
    for a device or a pipe."""
    folder = open_folder(path.parent)
    try:
        # Without waiting: a pipe that nobody writes to would hold the reader for ever.
        descriptor = _open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def _open(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):  # a link: what it leads to is not there for us
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from error
        raise


def read_file(path: Path) -> bytes:
    """All of a file, opened as `open_file` does."""
    with open_file(path) as file:
        return file.read()


def stat_file(path: Path) -> os.stat_result:
    """What the system says of a name, of a link itself and never of its target."""
    folder = open_folder(path.parent)
    try:
        return os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def file_names(path: Path) -> list[str]:
    """The regular files in a folder, by name. A link is no file of it."""
    folder = open_folder(path)
    try:
        readable = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        with os.scandir(readable) as entries:
            return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    finally:
        os.close(readable)


def files_below(root: Path) -> list[Path]:
    """The real paths of all files below a real folder, by their name there. A link counts as the file that it
    leads to, if that is below, too.

    Links to folders are not followed: what is below is found under its own name.
    """
    found = {}
    for folder, _folders, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            real = real_below(path, root)
            if real is not None and real.is_file():
                found[path] = real
    return [found[path] for path in sorted(found)]


def real_below(path: Path, root: Path) -> Path | None:
    """The real path of `path` if it is below the real folder `root`; None where it leads out, nowhere or
    round in a circle."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return real if root in real.parents else None
