"""The log's folder in memory, with faults to inject; for labs in simulation and for tests.

A crash keeps of each file what was flushed, and of the rest as much as the caller says: none, all, or a torn
part. Names are taken to survive in the order in which they were given, as a journalling file system has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_core.errors import HighwaterError
from broker_core.kafka.log.storage import StorageFull
from broker_core.kafka.log.varint import Buffer


class Crashed(HighwaterError):
    """The machine stopped here: nothing more can be written to this folder. Ask it what survived."""


class MemoryFolder:
    """A folder in memory.

    bytes_max: how much the device holds; None: no limit. steps_left: how many changes (append, truncate,
    flush, replace, rename, remove) are still carried out before the machine stops; None: it does not. now_ms:
    gives the time that a changed file gets.
    """

    def __init__(
        self,
        bytes_max: int | None = None,
        steps_left: int | None = None,
        now_ms: Callable[[], int] = lambda: 0,
    ) -> None:
        self.bytes_max = bytes_max
        self.steps_left = steps_left
        self.now_ms = now_ms
        self.step_count = 0
        self.files: dict[str, MemoryFile] = {}

    def to_json(self) -> dict[str, Any]:
        """Its files as plain data: (content, bytes flushed, when it was changed). Not its faults,
        nor its clock."""
        return {name: (bytes(file.data), file.flushed_size, file.at_ms) for name, file in self.files.items()}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> MemoryFolder:
        folder = cls()
        for name, (content, flushed_size, at_ms) in plain.items():
            file = folder.open(name)
            file.data += content
            file.size, file.flushed_size, file.at_ms = len(file.data), flushed_size, at_ms
        return folder

    def names(self) -> list[str]:
        return sorted(self.files)

    def open(self, name: str) -> MemoryFile:
        if name not in self.files:
            self.files[name] = MemoryFile(self, name)
        return self.files[name]

    def read(self, name: str) -> bytes:
        if name not in self.files:
            raise FileNotFoundError(name)
        return bytes(self.files[name].data)

    def replace(self, name: str, content: bytes) -> None:
        self.step()
        self.make_room(len(content))
        file = MemoryFile(self, name)
        file.data += content
        file.size = file.flushed_size = len(content)
        self.files[name] = file

    def rename(self, old: str, new: str) -> None:
        self.step()
        file = self.files.pop(old)
        file.name = new
        self.files[new] = file

    def remove(self, name: str) -> None:
        self.step()
        self.files.pop(name, None)

    def modified_ms(self, name: str) -> int:
        return self.files[name].at_ms

    def set_modified_ms(self, name: str, at_ms: int) -> None:
        self.files[name].at_ms = at_ms

    def sync(self) -> None:
        self.step()

    def step(self) -> None:
        """Count one change, or stop the machine before it."""
        self.step_count += 1
        if self.steps_left is not None:
            if self.steps_left <= 0:
                raise Crashed(f"before step {self.step_count}")
            self.steps_left -= 1

    def make_room(self, size: int) -> None:
        """Raise StorageFull when that many bytes more do not fit."""
        if self.bytes_max is not None and self.room() < size:
            raise StorageFull("the device is full")

    def room(self) -> int:
        """How many bytes still fit."""
        return max(0, self.bytes_max - self.bytes_used()) if self.bytes_max is not None else 1 << 62

    def bytes_used(self) -> int:
        return sum(len(file.data) for file in self.files.values())

    def after_crash(self, unflushed_bytes_kept: int = 0) -> MemoryFolder:
        """Give the folder as the next start finds it: of what was not flushed, that many bytes of each file
        survived."""
        survived = MemoryFolder(now_ms=self.now_ms)
        for name, file in self.files.items():
            copy = survived.open(name)
            copy.data += file.data[: file.flushed_size + unflushed_bytes_kept]
            copy.size = copy.flushed_size = len(copy.data)
            copy.at_ms = file.at_ms
        return survived

    def flip_bit(self, name: str, bit: int) -> None:
        """Damage one bit of a file, counted from its first byte's lowest."""
        self.files[name].data[bit // 8] ^= 1 << bit % 8

    def tear(self, name: str, size: int) -> None:
        """Cut a file as a torn write leaves it."""
        file = self.files[name]
        del file.data[size:]
        file.size = len(file.data)
        file.flushed_size = min(file.flushed_size, file.size)

    def lose(self, name: str) -> None:
        """Make a file vanish."""
        del self.files[name]


class MemoryFile:
    """One file of a `MemoryFolder`."""

    def __init__(self, folder: MemoryFolder, name: str) -> None:
        self.name = name
        self.size = 0
        self.flushed_size = 0
        self.data = bytearray()
        self.at_ms = folder.now_ms()
        self._folder = folder

    def append(self, data: Buffer, rest: Buffer | None = None) -> None:
        self._folder.step()
        data = b"".join((data, rest or b""))
        room = self._folder.room()
        self.data += data[:room]
        self.size = len(self.data)
        self.at_ms = self._folder.now_ms()
        if room < len(data):
            raise StorageFull(f"{self.name}: the device is full")

    def view(self, position: int, size: int) -> memoryview:
        # A copy: a bytearray that somebody looks into cannot grow.
        return memoryview(bytes(self.data[position : position + size]))

    def truncate(self, size: int) -> None:
        self._folder.step()
        del self.data[size:]
        self.size = len(self.data)
        self.flushed_size = min(self.flushed_size, self.size)

    def flush(self) -> None:
        self._folder.step()
        self.flushed_size = self.size

    def close(self) -> None:
        """Nothing is held."""
