"""A file's bytes, taken out of what it is packed in, and its text as UTF-8.

Read: gzip, bzip2, zstd, and a zip archive with one file in it.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, cast

from broker_core.real_files import open_file

GZIP_MARK, BZIP2_MARK, ZSTD_MARK, ZIP_MARK = b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
PACKED = {GZIP_MARK: ".gz", BZIP2_MARK: ".bz2", ZSTD_MARK: ".zst", ZIP_MARK: ".zip"}
"""First bytes of a packed file, and how its name ends."""
UNPACK_ERRORS = (OSError, EOFError, zlib.error, zipfile.BadZipFile, ValueError)
"""What reading a damaged file raises; Arrow's errors are ValueError or OSError."""
DIRECTORY_BYTES_MAX = 1 << 20
"""Of a zip archive's directory, which is read at once: twenty thousand files."""
_MARK_BYTES = 4


class ManyInside(OSError):
    """An archive of several files, or of none."""

    def __init__(self, count: int) -> None:
        super().__init__(f"the archive holds {count} files")
        self.count = count


def packing_of(path: Path) -> str | None:
    """How a name of such a file ends, by its first bytes; None for one that is not packed."""
    with open_file(path) as file:
        return packing_in(file.read(_MARK_BYTES))


def packing_in(head: bytes) -> str | None:
    return next((ending for mark, ending in PACKED.items() if head.startswith(mark)), None)


def open_bytes(path: Path, encoding: str = "utf-8") -> IO[bytes]:
    """The file's bytes without their packing; UTF-16 as UTF-8. Raises ManyInside, and
    some of UNPACK_ERRORS, as reading does."""
    file = open_file(path)
    try:
        packing = packing_in(file.read(_MARK_BYTES))
        file.seek(0)
        unpacked = file if packing is None else _unpacked(file, packing)
    except BaseException:
        file.close()
        raise
    if not encoding.startswith("utf-16"):
        return unpacked
    wide, utf_8 = codecs.lookup(encoding), codecs.lookup("utf-8")
    return cast(
        "IO[bytes]",
        codecs.StreamRecoder(
            unpacked, utf_8.encode, utf_8.decode, wide.streamreader, wide.streamwriter, "replace"
        ),
    )


def _unpacked(file: IO[bytes], packing: str) -> IO[bytes]:
    match packing:
        case ".gz":
            return cast("IO[bytes]", _Gzip(file))
        case ".bz2":
            return cast("IO[bytes]", _Closing(bz2.BZ2File(file), file))
        case ".zst":
            import pyarrow as pa  # the web process looks at a file's kind without it

            stream = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
            return cast("IO[bytes]", _Closing(stream, file))
    directory = _Directory(file)
    archive = zipfile.ZipFile(cast("IO[bytes]", directory))
    directory.bytes_max = sys.maxsize
    inside = [
        member for member in archive.infolist() if not member.is_dir() and not _is_aside(member.filename)
    ]
    if len(inside) != 1:
        raise ManyInside(len(inside))
    try:
        return cast("IO[bytes]", _Closing(archive.open(inside[0]), file))
    except (RuntimeError, NotImplementedError) as error:  # a password, or a method that is not built in
        raise OSError(str(error)) from error


def _is_aside(name: str) -> bool:
    """What macOS packs beside each file."""
    return name.startswith("__MACOSX/") or Path(name).name.startswith(".")


class _Directory:
    """An archive's file, of which nothing longer than `bytes_max` is read at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.bytes_max = DIRECTORY_BYTES_MAX

    def read(self, size: int = -1) -> bytes:
        if size > self.bytes_max:
            raise OSError("the archive holds too many files")
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class _Gzip(gzip.GzipFile):
    """Closes the file that it reads as well."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(fileobj=file)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()


class _Closing(io.RawIOBase):
    """Reads from one, and closes the file below it as well."""

    def __init__(self, stream: Any, file: IO[bytes]) -> None:
        self._stream, self._file = stream, file

    def read(self, size: int = -1) -> bytes:
        """As many bytes as asked for, unless the file ends."""
        found = bytearray()
        while size < 0 or len(found) < size:
            more = self._stream.read(size - len(found) if size >= 0 else None)
            if not more:
                break
            found += more
        return bytes(found)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._file.close()
        super().close()
