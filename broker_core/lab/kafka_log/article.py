"""The log of the article of docs/kafka/log.md, nginx_access_log-1, to try its walks: offset 6506155, and time
1570793423501.

The 21 files that the article lists, in its sizes, 5.6 GB in six segments, but sparse: the logs are holes,
with real batches only where the article's walks read, in the last 43 kB of segment 3257573. The index rows
that the article prints are exact, 10 and 9 of them at each end; it does not print those between, nor those of
the other segments: they are spaced evenly, as many as the sizes of its files say.

Source: the article, chapter 2 (file list, kafka-dump-log of .index and .timeindex). Its times are UTC+8.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from broker_core.errors import InvariantError
from broker_core.kafka.log.checkpoints import LEADER_EPOCH, write_leader_epochs
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.file_names import INDEX, LOG, SNAPSHOT, TIME_INDEX, file_name
from broker_core.kafka.log.producer_state import ProducerState
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch

FOLDER = "nginx_access_log-1"
BASE, NEXT_BASE, LOG_BYTES = 3257573, 6506251, 1_073_741_513
TIME = 1_570_793_423_000
Rows = Sequence[tuple[int, int]]
RowArray = NDArray[np.int64]

# (base offset, bytes of the .log, rows of the .index, rows of the .timeindex, when the file was last written:
# HH, MM of that day)
SEGMENTS = (
    (0, 1_073_741_684, 229_490, 228_157, (19, 18)),
    (BASE, LOG_BYTES, 228_537, 227_126, (19, 30)),
    (NEXT_BASE, 1_073_741_771, 229_343, 228_006, (19, 42)),
    (9_751_854, 1_073_740_984, 229_019, 227_631, (19, 54)),
    (12_999_310, 1_073_741_584, 226_099, 224_547, (20, 6)),
    (16_260_431, 278_255_892, 59_000, 58_600, (20, 9)),
)
"""Of the active segment the article shows only the room that is kept for its indexes: its rows here are as
dense as the others'."""
ACTIVE_INDEX_BYTES = {INDEX: 10_485_760, TIME_INDEX: 10_485_756}
"""segment.index.bytes, 10 MiB, in whole rows: a broker makes the indexes of the segment it writes as large as
they may become."""
SNAPSHOTS = ((12_999_310, (19, 54)), (16_260_431, (20, 6)))
"""Taken when those segments began; 10 bytes: nobody wrote with a producer id."""
FIRST_EPOCH_AT = (19, 3)
LOG_END_OFFSET = 17_102_000
"""Assumed: the article does not tell it; about as many records a byte as in the other segments."""

INDEX_HEAD = (
    (3257687, 17413), (3257743, 33770), (3257799, 50127), (3257818, 66484), (3257819, 72074),
    (3257871, 87281), (3257884, 91444), (3257896, 95884), (3257917, 100845),
)  # fmt: skip
INDEX_TAIL = (
    (6506124, 1073698512),
    (6506137, 1073702918),
    (6506150, 1073707263),
    (6506162, 1073711499),
    (6506176, 1073716197),
    (6506188, 1073720433),
    (6506205, 1073725654),
    (6506217, 1073730060),
    (6506229, 1073734174),
    (6506243, 1073738288),
)
TIME_HEAD = (
    (1570792689308, 3257685), (1570792689324, 3257742), (1570792689345, 3257795), (1570792689348, 3257813),
    (1570792689357, 3257867), (1570792689361, 3257881), (1570792689364, 3257896), (1570792689368, 3257915),
    (1570792689369, 3257927),
)  # fmt: skip
TIME_TAIL = (
    (TIME + 474, 6506136),
    (TIME + 477, 6506150),
    (TIME + 481, 6506159),
    (TIME + 485, 6506176),
    (TIME + 489, 6506188),
    (TIME + 493, 6506204),
    (TIME + 496, 6506214),
    (TIME + 500, 6506228),
    (TIME + 503, 6506240),
    (TIME + 505, 6506248),
)
_MIDNIGHT_S = 1_570_723_200  # of 11 October 2019 in the article's time zone
_HEADER_BYTES = 61
_RECORD_BYTES_MAX = 20  # what a record takes beside its value


def build_article_log(path: Path) -> None:
    """Make the folder FOLDER in `path`, about 24 MB on disk. Raises FileExistsError where it is already."""
    folder = path / FOLDER
    folder.mkdir(parents=True)
    bases = [*(base for base, *_ in SEGMENTS[1:]), LOG_END_OFFSET]
    begun_ms = TIME_HEAD[0][0] - 11 * 60_000
    for (base, log_bytes, index_rows, time_rows, (hour, minute)), next_base in zip(
        SEGMENTS, bases, strict=True
    ):
        ended_ms = (_MIDNIGHT_S + hour * 3600 + minute * 60) * 1000
        if base == BASE:
            _write_walked_segment(folder)
            begun_ms = TIME_TAIL[-1][0] + 1
        else:
            with (folder / file_name(base, LOG)).open("wb") as log:
                log.truncate(log_bytes)
            ended_ms = max(ended_ms, begun_ms + time_rows) if base else TIME_HEAD[0][0] - 1
            index = _between([(base + 114, 17_413), (next_base - 1, log_bytes - 4_096)], index_rows)
            times = _between([(begun_ms, base + 114), (ended_ms, next_base - 1)], time_rows)
            _write_indexes(folder, base, index, times)
            begun_ms = ended_ms + 1
        os.utime(folder / file_name(base, LOG), (ended_ms / 1000, ended_ms / 1000))
    for suffix, size in ACTIVE_INDEX_BYTES.items():
        os.truncate(folder / file_name(SEGMENTS[-1][0], suffix), size)
    _write_beside(folder)


def _write_beside(folder: Path) -> None:
    """The files that belong to no segment: what was known of producers, and of leaders."""
    for base, (hour, minute) in SNAPSHOTS:
        snapshot = folder / file_name(base, SNAPSHOT)
        snapshot.write_bytes(ProducerState().snapshot())
        _set_time(snapshot, hour, minute)
    write_leader_epochs(DiskFolder(folder), [(0, 0)])
    _set_time(folder / LEADER_EPOCH, *FIRST_EPOCH_AT)


def _set_time(file: Path, hour: int, minute: int) -> None:
    at_s = _MIDNIGHT_S + hour * 3600 + minute * 60
    os.utime(file, (at_s, at_s))


def _write_walked_segment(folder: Path) -> None:
    _, _, index_rows, time_rows, _ = SEGMENTS[1]
    index = _filled(INDEX_HEAD, INDEX_TAIL, index_rows)
    _write_indexes(folder, BASE, index, _filled(TIME_HEAD, TIME_TAIL, time_rows))
    ends = (*INDEX_TAIL[1:], (NEXT_BASE, LOG_BYTES))
    with (folder / file_name(BASE, LOG)).open("wb") as log:
        for (first, start), (end, end_position) in zip(INDEX_TAIL, ends, strict=True):
            log.seek(start)
            each, rest = divmod(end_position - start, end - first)
            for offset in range(first, end):
                log.write(_batch(offset, _time_of(offset), each + (rest if offset == end - 1 else 0)))


def _write_indexes(folder: Path, base: int, index: RowArray, times: RowArray) -> None:
    offset_rows = np.zeros(len(index), dtype=[("offset", ">i4"), ("position", ">i4")])
    offset_rows["offset"], offset_rows["position"] = index[:, 0] - base, index[:, 1]
    (folder / file_name(base, INDEX)).write_bytes(offset_rows.tobytes())
    time_rows = np.zeros(len(times), dtype=[("timestamp", ">i8"), ("offset", ">i4")])
    time_rows["timestamp"], time_rows["offset"] = times[:, 0], times[:, 1] - base
    (folder / file_name(base, TIME_INDEX)).write_bytes(time_rows.tobytes())


def _filled(head: Rows, tail: Rows, count: int) -> RowArray:
    """The printed rows, and between them as many as are missing."""
    between = _between([head[-1], tail[0]], count - len(head) - len(tail) + 2)
    return np.concatenate([np.array(head[:-1]), between, np.array(tail[1:])])


def _between(ends: Rows, count: int) -> RowArray:
    """`count` rows from the first to the last, both included, in whole steps as even as they can be."""
    (first, second), (last, last_second) = ends
    steps = np.arange(count, dtype=np.int64)
    return np.stack(
        [
            first + steps * (last - first) // (count - 1),
            second + steps * (last_second - second) // (count - 1),
        ],
        axis=1,
    )


def _time_of(offset: int) -> int:
    """The latest time that the index tells up to the record."""
    return max(timestamp for timestamp, row_offset in TIME_TAIL if row_offset <= max(offset, TIME_TAIL[0][1]))


def _batch(offset: int, timestamp: int, size: int) -> bytes:
    """One request in a batch of exactly so many bytes."""
    request = (
        b'203.0.113.%d - - [11/Oct/2019:19:30:23 +0800] "GET /search?q=segment HTTP/1.1" 200 3516 "-" '
        b'"Mozilla/5.0" ' % (offset % 250 + 1)
    )
    for value_bytes in range(size - _HEADER_BYTES - _RECORD_BYTES_MAX, size - _HEADER_BYTES):
        value = (request * (value_bytes // len(request) + 1))[:value_bytes]
        data = bytes(
            encode_batch([Record(offset, timestamp, b"nginx", value)], partition_leader_epoch=0).data
        )
        if len(data) == size:
            return data
    raise InvariantError(f"no batch of {size} bytes")
