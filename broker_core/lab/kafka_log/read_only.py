"""A partition's folder that can only be read: somebody else's log, or one that another process is writing.

The log's own code may want to put an index in order (`indexed_batches.py` rebuilds a damaged one). Here that
happens in memory; the disk stays unchanged. A link in the folder is not a file of it, and the path of the
folder has none (`real_files.py`). Files are opened for each read and never mapped: the folder's writer may
cut or remove a file at any moment, and a mapped byte past a file's end would kill the process that reads it.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from broker_core.errors import InvariantError
from broker_core.kafka.log import offset_index, time_index
from broker_core.kafka.log.file_names import INDEX, LOG, TIME_INDEX
from broker_core.kafka.log.varint import Buffer
from broker_core.real_files import file_names, open_file, read_file, stat_file

_MS_IN_NS = 1_000_000
_ROW_BYTES = {INDEX: offset_index.ROW.size, TIME_INDEX: time_index.ROW.size}


class ReadOnlyFile:
    """One file as it was when it was opened. size: in bytes. What is changed is changed in memory, and only
    for indexes."""

    def __init__(self, path: Path, size: int, content: bytes | None = None) -> None:
        self.name = path.name
        self.size = size
        self._path = path
        self._content = None if content is None else bytearray(content)

    def view(self, position: int, size: int) -> memoryview:
        """Give `size` bytes, fewer at the end of the file. Raises FileNotFoundError when it has been removed
        since."""
        end = min(position + size, self.size)
        if self._content is not None:
            return memoryview(bytes(self._content[position:end]))
        with open_file(self._path) as file:
            return memoryview(os.pread(file.fileno(), max(0, end - position), position))

    def append(self, data: Buffer, rest: Buffer | None = None) -> None:
        self._copied().extend(data)
        self._copied().extend(rest or b"")
        self.size = len(self._copied())

    def truncate(self, size: int) -> None:
        del self._copied()[size:]
        self.size = size

    def flush(self) -> None:
        """Nothing here has to outlive anything."""

    def close(self) -> None:
        """Nothing is held open."""

    def _copied(self) -> bytearray:
        if self._content is None:
            raise InvariantError(f"{self.name} is only read")
        return self._content


class ReadOnlyFolder:
    """A folder whose files are only read.

    path: it exists. sizes: file name -> how many of its bytes count, for files that grow while they are read;
    others count whole.
    """

    def __init__(self, path: Path, sizes: Mapping[str, int] | None = None) -> None:
        self.path = path
        self._sizes = sizes or {}

    def names(self) -> list[str]:
        return file_names(self.path)

    def size_of(self, name: str) -> int:
        """In bytes, as on disk. Raises FileNotFoundError."""
        return stat_file(self.path / name).st_size

    def open(self, name: str) -> ReadOnlyFile:
        """Open a file; a missing one is empty. An index is read whole, without the zeros that a running
        broker keeps after its rows."""
        path = self.path / name
        if name not in self.names():
            return ReadOnlyFile(path, 0, b"")
        row_bytes = next((size for suffix, size in _ROW_BYTES.items() if f"{suffix}." in f"{name}."), None)
        if row_bytes is not None:
            content = _without_spare_room(read_file(path), row_bytes)
            return ReadOnlyFile(path, len(content), content)
        size = self.size_of(name)
        return ReadOnlyFile(path, min(size, self._sizes.get(name, size)))

    def read(self, name: str) -> bytes:
        return read_file(self.path / name)

    def modified_ms(self, name: str) -> int:
        return stat_file(self.path / name).st_mtime_ns // _MS_IN_NS

    def replace(self, name: str, content: bytes) -> None:
        raise InvariantError(f"{name}: the folder is only read")

    def rename(self, old: str, new: str) -> None:
        raise InvariantError(f"{old}: the folder is only read")

    def remove(self, name: str) -> None:
        raise InvariantError(f"{name}: the folder is only read")

    def set_modified_ms(self, name: str, at_ms: int) -> None:
        raise InvariantError(f"{name}: the folder is only read")

    def sync(self) -> None:
        """Nothing here has to outlive anything."""


def base_offset_of(name: str) -> int | None:
    """The base offset that a file of a segment is named after; None for other files.

    >>> base_offset_of("00000000000003257573.log"), base_offset_of("partition.metadata")
    (3257573, None)
    """
    return int(name[:20]) if name[:20].isascii() and name[:20].isdigit() and name[20:21] == "." else None


def has_log(names: list[str]) -> bool:
    """Whether these are the files of a partition."""
    return any(name.endswith(LOG) and base_offset_of(name) is not None for name in names)


def _without_spare_room(content: bytes, row_bytes: int) -> bytes:
    """A row of zeros is not a row: the first append of a segment has none. A row cut in the middle stays, as
    damage to be seen."""
    used = len(content.rstrip(b"\0"))
    return content if used == len(content) else content[: -(-used // row_bytes) * row_bytes]
