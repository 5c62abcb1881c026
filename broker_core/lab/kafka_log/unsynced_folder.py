"""The folder of a lab's log on disk: real files, but nothing waits for the device.

What is written outlives the process at once, as with any file. Outliving a power cut is worth nothing here,
for the lab tells it again; and thousands of waits for the device would slow the database down, which shares
it.
"""

from broker_core.kafka.log.disk_storage import DiskFile, DiskFolder


class UnsyncedFile(DiskFile):
    """One file of an UnsyncedFolder."""

    def flush(self) -> None:
        """What was written is with the system; that is all that is asked here."""


class UnsyncedFolder(DiskFolder):
    """A folder on disk, made if it is missing."""

    def open(self, name: str) -> UnsyncedFile:
        return UnsyncedFile(self.path / name)

    def replace(self, name: str, content: bytes) -> None:
        beside = self.path / f"{name}.tmp"
        beside.write_bytes(content)
        beside.replace(self.path / name)

    def sync(self) -> None:
        """The names are with the system."""
