"""A slow disk: what is to be appended is appended when the disk has taken it, one write after another.

The thread that appends is busy as long: a producer gets its answer later, and a follower sends its next fetch
later. A disk in order takes no time here, as an append goes to the page cache.

Source: Kafka 3.9 core UnifiedLog.append, LogSegment.append (FileRecords.append is a blocking write).
"""

from __future__ import annotations

from typing import Any

from broker_core.kafka.cluster.hosting import Host
from broker_core.sim.node import Outbox


def is_written_later(host: Host, connection: int, message: Any, size: int, now_us: int, out: Outbox) -> bool:
    """Give the disk a write; False: it is done already."""
    done_us = out.disk.write(size, now_us)
    if isinstance(done_us, str) or done_us <= now_us:
        return False
    host.state.writing.append((done_us, connection, message))
    out.deadline("disk", host.state.writing[0][0])
    return True


def written(host: Host, _: str, now_us: int, out: Outbox) -> None:
    """The disk has taken what it was given first: that is appended."""
    writing = host.state.writing
    while writing and writing[0][0] <= now_us:
        connection, message = writing.popleft()[1:]
        host.consequences.taken_by_disk(host, connection, message, now_us, out)
    if writing:
        out.deadline("disk", writing[0][0])
