"""The log's folder on disk.

Appends are `write` calls, so they outlive the process at once and the machine after `flush`. Reads are slices
of a memory map; but a single header is read with `pread`, as in the original, for the longer a log is, the
less of its map is at hand. A map cannot grow with its file: what was appended since is read with `pread`
until it is worth a new map.
"""

from __future__ import annotations

import errno
import mmap
import os
from os import pread, write, writev
from pathlib import Path

from broker_core.kafka.log.storage import StorageFull
from broker_core.kafka.log.varint import Buffer

REMAP_BYTES = 1 << 20
COPY_BYTES_MAX = 64 * 1024
READ_BYTES_MAX = 4096  # so little is read faster than a page of the map is brought in
_MS_IN_NS = 1_000_000


class DiskFolder:
    """A folder on disk, made if it is missing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def names(self) -> list[str]:
        with os.scandir(
            self.path
        ) as entries:  # which says on its own what is a file, where `iterdir` asks the system about each
            return sorted(entry.name for entry in entries if entry.is_file())

    def open(self, name: str) -> DiskFile:
        return DiskFile(self.path / name)

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def replace(self, name: str, content: bytes) -> None:
        beside = self.path / f"{name}.tmp"
        file = DiskFile(beside)
        try:
            file.truncate(0)
            file.append(content)
            file.flush()
        finally:
            file.close()
        beside.replace(self.path / name)
        self.sync()

    def rename(self, old: str, new: str) -> None:
        (self.path / old).replace(self.path / new)

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def modified_ms(self, name: str) -> int:
        return (self.path / name).stat().st_mtime_ns // _MS_IN_NS

    def set_modified_ms(self, name: str, at_ms: int) -> None:
        os.utime(self.path / name, ns=(at_ms * _MS_IN_NS, at_ms * _MS_IN_NS))

    def sync(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class DiskFile:
    """One file of a `DiskFolder`."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._descriptor = -1
        self._map = memoryview(b"")
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.size = os.fstat(self._descriptor).st_size

    def append(self, data: Buffer, rest: Buffer | None = None) -> None:
        try:
            if rest is None:
                size = len(data)
                written = write(self._descriptor, data)
            else:
                size = len(data) + len(rest)
                written = writev(self._descriptor, (data, rest))
            self.size += written
            if written < size:
                self._append_rest(memoryview(b"".join((data, rest or b"")))[written:])
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise StorageFull(f"{self.name}: {error.strerror}") from error
            raise

    def view(self, position: int, size: int) -> memoryview:
        if size <= READ_BYTES_MAX:
            return memoryview(pread(self._descriptor, size, position))
        end = min(position + size, self.size)
        if end <= len(self._map):
            return self._map[position:end]
        if size > COPY_BYTES_MAX or self.size - len(self._map) >= REMAP_BYTES:
            self._map = memoryview(mmap.mmap(self._descriptor, self.size, prot=mmap.PROT_READ))
            return self._map[position:end]
        return memoryview(pread(self._descriptor, max(0, end - position), position))

    def truncate(self, size: int) -> None:
        # First the map: touching a mapped byte past the end of a file kills the process.
        self._map = memoryview(b"")
        os.ftruncate(self._descriptor, size)
        self.size = size

    def _append_rest(self, data: memoryview) -> None:
        """A device that fills up takes what fits first, and says so at the next call."""
        while data:
            written = write(self._descriptor, data)
            self.size += written
            data = data[written:]

    def flush(self) -> None:
        os.fsync(self._descriptor)

    def close(self) -> None:
        self._map = memoryview(b"")
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        # A log that is given up after an error is not closed in order; its files must not stay open for the
        # life of the process.
        self.close()
