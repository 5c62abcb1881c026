"""Which partitions a path of Kafka's log format holds: one segment, a partition's folder, or a broker's log
folder with many.

    .../flights-3/00000000000000000000.log     one segment of partition 3 of flights
    .../flights-3/                             the partition
    .../                                       every partition folder in it

A file that was taken out of its folder has the topic "segment" and partition 0.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from broker_core.errors import CommandError, Names
from broker_core.real_files import file_names

_FOLDER = re.compile(r"(?P<topic>.+)-(?P<partition>\d{1,10})")
_SEGMENT = re.compile(r"\d{20}\.log")
LOOSE_TOPIC = "segment"


class PartitionFolder(NamedTuple):
    """One partition's segments on disk: (base offset, .log file), by offset."""

    topic: str
    partition: int
    segments: tuple[tuple[int, Path], ...]

    @property
    def folder(self) -> Path:
        return self.segments[0][1].parent


def partition_folders(path: Path, topic: str | None = None) -> list[PartitionFolder]:
    """The partitions with at least one segment, by topic and number. topic: only that one's.

    Raises CommandError at source.path: not there, not readable, no log; at source.topic: not among those
    there.
    """
    try:
        found = _found(path.resolve())
    except OSError as error:
        raise CommandError(
            "source.path", "cannot be read: {reason}", reason=error.strerror or type(error).__name__
        ) from error
    if not found:
        raise CommandError(
            "source.path",
            "holds no log: neither a segment (00000000000000000000.log) nor a partition's folder",
        )
    if topic is None:
        return found
    chosen = [partition for partition in found if partition.topic == topic]
    if not chosen:
        topics = Names(sorted({partition.topic for partition in found})[:40])
        raise CommandError(
            "source.topic",
            "there is no topic {name}; the topics are {topics}",
            name=topic[:100],
            topics=topics,
        )
    return chosen


def segments_of(folder: Path) -> tuple[tuple[int, Path], ...]:
    """The segments in a folder, by base offset; none where it is gone. A link is no segment of it."""
    try:
        names = file_names(folder)
    except FileNotFoundError:
        return ()
    return tuple((int(name[:20]), folder / name) for name in names if _SEGMENT.fullmatch(name))


def _found(path: Path) -> list[PartitionFolder]:
    if path.is_file():
        if path.suffix != ".log":
            return []
        topic, partition = _name_of(path.parent)
        base = int(path.name[:20]) if _SEGMENT.fullmatch(path.name) else 0
        return [PartitionFolder(topic, partition, ((base, path),))]
    if not path.exists():
        raise CommandError("source.path", "there is no such file")
    own = segments_of(path)
    if own:
        return [PartitionFolder(*_name_of(path), own)]
    inside = [
        (folder, segments_of(folder))
        for folder in sorted(path.iterdir())
        if _is_folder(folder) and _FOLDER.fullmatch(folder.name)
    ]
    return sorted(PartitionFolder(*_name_of(folder), segments) for folder, segments in inside if segments)


def _is_folder(path: Path) -> bool:
    """A link to a folder is none of its broker's."""
    return path.is_dir() and not path.is_symlink()


def _name_of(folder: Path) -> tuple[str, int]:
    match = _FOLDER.fullmatch(folder.resolve().name)
    return (match["topic"], int(match["partition"])) if match else (LOOSE_TOPIC, 0)
