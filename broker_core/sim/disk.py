"""A node's disk: how long a write takes, when it is full, and that it can be lost."""

from dataclasses import dataclass

FULL, LOST = "full", "lost"


@dataclass(slots=True)
class Disk:
    """One disk as its node sees it. Writes are served one after another.

    write_us: time a write takes on its own. byte_ns: and each of its bytes, in nanoseconds. capacity_bytes:
    None for no limit.
    free_us: when the writes so far are done.
    """

    write_us: int = 0
    byte_ns: int = 0
    capacity_bytes: int | None = None
    used_bytes: int = 0
    is_lost: bool = False
    free_us: int = 0

    def write(self, size_bytes: int, now_us: int) -> int | str:
        """Take a write. Returns the time at which it is on disk, or why it never will be: FULL or LOST, and
        then nothing was taken.

        >>> disk = Disk(write_us=10, capacity_bytes=5)
        >>> disk.write(3, 100), disk.write(2, 100), disk.write(1, 100)
        (110, 120, 'full')
        """
        if self.is_lost:
            return LOST
        if self.capacity_bytes is not None and self.used_bytes + size_bytes > self.capacity_bytes:
            return FULL
        self.used_bytes += size_bytes
        self.free_us = max(self.free_us, now_us) + self.write_us + size_bytes * self.byte_ns // 1_000
        return self.free_us

    def free(self, size_bytes: int) -> None:
        """Deleted files give their bytes back."""
        self.used_bytes = max(0, self.used_bytes - size_bytes)

    def lose(self) -> None:
        """The disk dies with everything on it; every write from now on is refused until it is replaced."""
        self.is_lost = True
        self.used_bytes = 0

    def replace(self) -> None:
        """An empty disk in its place, as fast and as large as the old one was made."""
        self.is_lost = False
        self.used_bytes = 0
