"""The small text files beside the segments, each put in place in one step.

    recovery-point-offset-checkpoint     0            leader-epoch-checkpoint   0          partition.metadata
    replication-offset-checkpoint        2                                      1            version: 0
    log-start-offset-checkpoint          flights 0 7                            0 0          topic_id: 4u8G...
    cleaner-offset-checkpoint            flights 1 9

The four of the log's top folder have one row per partition: topic, partition, offset. The first line is the
version, the second the number of rows. A file that cannot be read counts as missing: every one of them can be
worked out again.

Source: Kafka 3.9 server-common/.../CheckpointFile, OffsetCheckpointFile, LeaderEpochCheckpointFile,
PartitionMetadataFile.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from broker_core.kafka.log.storage import Folder

RECOVERY_POINT = "recovery-point-offset-checkpoint"
REPLICATION = "replication-offset-checkpoint"
LOG_START = "log-start-offset-checkpoint"
CLEANER = "cleaner-offset-checkpoint"
LEADER_EPOCH = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
LOCK, META_PROPERTIES = ".lock", "meta.properties"
"""Of a broker's folder alone: the first keeps a second broker out, the second says whose folder it is
(version, cluster.id, node.id). Ours has one writer by other means and belongs to no cluster, so neither is
written. Source: Kafka 3.9 LogManager.lockLogDirs, MetaPropertiesEnsemble."""
VERSION = "0"

Offsets = Mapping[tuple[str, int], int]


def write_offsets(folder: Folder, name: str, offsets: Offsets) -> None:
    """Write one of the four files of the top folder. Raises StorageFull."""
    _write(
        folder,
        name,
        (f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items())),
    )


def read_offsets(folder: Folder, name: str) -> dict[tuple[str, int], int]:
    """Read one of the four files; {} if it is missing or damaged."""
    rows = [row.rsplit(" ", 2) for row in _read(folder, name)]
    try:
        return {(topic, int(partition)): int(offset) for topic, partition, offset in rows}
    except ValueError:
        return {}


def write_leader_epochs(folder: Folder, epochs: Iterable[tuple[int, int]]) -> None:
    """Write (epoch, start offset), both rising."""
    _write(folder, LEADER_EPOCH, (f"{epoch} {start}" for epoch, start in epochs))


def read_leader_epochs(folder: Folder) -> list[tuple[int, int]]:
    """Read (epoch, start offset); [] if the file is missing or damaged."""
    try:
        return [
            (int(epoch), int(start))
            for epoch, start in (row.split(" ") for row in _read(folder, LEADER_EPOCH))
        ]
    except ValueError:
        return []


def write_topic_id(folder: Folder, topic_id: bytes) -> None:
    """Write partition.metadata. topic_id: the 16 bytes of the topic's UUID."""
    text = base64.urlsafe_b64encode(topic_id).decode().rstrip("=")
    folder.replace(PARTITION_METADATA, f"version: 0\ntopic_id: {text}".encode())


def read_topic_id(folder: Folder) -> bytes | None:
    """Read partition.metadata; None if it is missing or damaged."""
    try:
        lines = dict(
            line.split(": ", 1) for line in folder.read(PARTITION_METADATA).decode().split("\n") if line
        )
        topic_id = base64.urlsafe_b64decode(lines["topic_id"] + "==")
    except (FileNotFoundError, ValueError, KeyError):
        return None
    return topic_id if len(topic_id) == 16 else None


def _write(folder: Folder, name: str, rows: Iterable[str]) -> None:
    lines = list(rows)
    folder.replace(name, "".join(f"{line}\n" for line in (VERSION, len(lines), *lines)).encode())


def _read(folder: Folder, name: str) -> list[str]:
    try:
        version, count, *rows = folder.read(name).decode().splitlines()
        return rows if version == VERSION and int(count) == len(rows) else []
    except (FileNotFoundError, ValueError):
        return []
