"""From batch to batch by their headers, through a segment that may be damaged, hollow, or of an older format.

The log's own reading (`Segment.batches`) ends with an error where it meets what it cannot read. A page shows
everything up to there, and then what is there: bytes that are not a batch, a batch that is cut off, or zeros,
of which a sparse file is full.
"""

from collections.abc import Iterator
from typing import NamedTuple

from broker_core.kafka.log.batch_reader import LENGTH_MIN, MAGIC_POSITION
from broker_core.kafka.log.record_batch import HEADER, HEADER_SIZE, LOG_OVERHEAD, MAGIC
from broker_core.kafka.log.storage import LogFile

_WINDOW_BYTES = 64 * 1024
_OLD_TIME_END = 26
"""Where a message of format 1 has its timestamp: bytes 18 to 26."""


class BatchSeen(NamedTuple):
    """A batch's header. records: as it says. first_timestamp, max_timestamp: ms, -1 where the format has
    none."""

    position: int
    bytes: int
    base_offset: int
    last_offset: int
    magic: int
    records: int
    first_timestamp: int
    max_timestamp: int


class Damage(NamedTuple):
    """What is wrong, and where. kind: "zeros", "cut", "no_batch", "old_format", "crc", "records", "index" or
    "unfinished".

    position, bytes: in the file. detail: the log's own words, for the person who repairs it; "" where the
    kind says all.
    """

    kind: str
    position: int
    bytes: int
    detail: str = ""


def begins_with_batch(head: bytes) -> bool:
    """Whether a `.log` with these first bytes can be one: nothing yet, or a batch, even one that is cut off
    later.

    >>> begins_with_batch(b""), begins_with_batch(b"only words, as long as a header")
    (True, False)
    """
    if not head:
        return True
    if len(head) <= MAGIC_POSITION:
        return False
    base_offset, length = int.from_bytes(head[:8], signed=True), int.from_bytes(head[8:12], signed=True)
    return base_offset >= 0 and length >= LENGTH_MIN and head[MAGIC_POSITION] <= MAGIC


def walk(file: LogFile, position: int = 0, end: int | None = None) -> Iterator[BatchSeen | Damage]:
    """Give the batches that start from a position on, up to `end`; the last item is a Damage where the walk
    cannot go on.

    position: of a batch. Only headers are read.
    """
    end = file.size if end is None else min(end, file.size)
    start, window = position, memoryview(b"")
    while position < end:
        head = window[position - start : position - start + HEADER_SIZE]
        if len(head) < HEADER_SIZE and start + len(window) < file.size:
            start, window = position, file.view(position, _WINDOW_BYTES)
            head = window[:HEADER_SIZE]
        seen = _seen_at(head, position, file.size - position)
        yield seen
        if isinstance(seen, Damage):
            return
        position += seen.bytes


def _seen_at(head: memoryview, position: int, left: int) -> BatchSeen | Damage:
    if len(head) <= MAGIC_POSITION:
        return Damage("cut", position, left)
    base_offset = int.from_bytes(head[:8], signed=True)
    length, magic = int.from_bytes(head[8:12], signed=True), head[MAGIC_POSITION]
    if length == 0 and not any(head):
        return Damage("zeros", position, left)
    if length < LENGTH_MIN or magic > MAGIC:
        return Damage("no_batch", position, left)
    size = LOG_OVERHEAD + length
    if size > left:
        return Damage("cut", position, left)
    if magic < MAGIC:
        timestamp = (
            int.from_bytes(head[18:_OLD_TIME_END], signed=True)
            if magic and len(head) >= _OLD_TIME_END
            else -1
        )
        return BatchSeen(position, size, base_offset, base_offset, magic, 1, timestamp, timestamp)
    if size < HEADER_SIZE:
        return Damage("no_batch", position, left)
    fields = HEADER.unpack(head)
    return BatchSeen(
        position, size, base_offset, base_offset + fields[6], magic, fields[12], fields[7], fields[8]
    )
