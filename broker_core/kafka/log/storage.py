"""How the log reaches its bytes: one folder of append-only files, behind an interface with two
implementations.

`DiskFolder` (disk_storage.py) is a folder on disk; fsync and recovery are real. `MemoryFolder`
(memory_storage.py) is a folder in memory that can be made to fail: torn write, flipped bit, full disk, lost
file, a crash between any two steps. The log above them cannot tell which it has.
"""

from __future__ import annotations

from typing import Protocol

from broker_core.errors import HighwaterError
from broker_core.kafka.log.varint import Buffer


class StorageFull(HighwaterError):
    """The device has no room. Part of what was to be appended may have been written: the caller cuts it
    off."""


class LogFile(Protocol):
    """One open file that grows at its end."""

    name: str
    size: int  # in bytes; what was appended counts at once

    def append(self, data: Buffer, rest: Buffer | None = None) -> None:
        """Write at the end. rest: what follows the data, written with it in one step. Raises StorageFull."""

    def view(self, position: int, size: int) -> memoryview:
        """Give `size` bytes, fewer at the end of the file. Data at rest is not copied; valid until a
        truncation."""

    def truncate(self, size: int) -> None:
        """Cut the file to that size."""

    def flush(self) -> None:
        """Return when all of it would outlive a power cut."""

    def close(self) -> None:
        """Let go of the file; views stay valid."""


class Folder(Protocol):
    """One folder. Names are plain file names."""

    def names(self) -> list[str]:
        """Every file, by name."""

    def open(self, name: str) -> LogFile:
        """Open a file, made empty if it is missing."""

    def read(self, name: str) -> bytes:
        """Give a small file whole. Raises FileNotFoundError."""

    def replace(self, name: str, content: bytes) -> None:
        """Put a small file there in one step: after a crash it is the old one or the new one. Raises
        StorageFull."""

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in place of one that has it."""

    def remove(self, name: str) -> None:
        """Delete a file; a missing one is not an error."""

    def modified_ms(self, name: str) -> int:
        """When the file was last written, ms since 1970."""

    def set_modified_ms(self, name: str, at_ms: int) -> None:
        """Set that time."""

    def sync(self) -> None:
        """Return when the names themselves would outlive a power cut."""
