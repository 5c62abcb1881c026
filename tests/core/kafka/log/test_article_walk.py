"""The article's two walks through 00000000000003257573: offset 6506155, and time 1570793423501.

The folder is made as the article lists it: a log of 1,073,741,513 bytes, sparse, with real batches where the
walks read, and the rows of both indexes that the article prints.
"""

from pathlib import Path

import pytest

from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.offset_index import ROW as OFFSET_ROW
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.time_index import ROW as TIME_ROW
from broker_core.kafka.log.time_lookup import time_lookup_document, time_lookup_kafka

BASE, NEXT_BASE, LOG_BYTES = 3257573, 6506251, 1_073_741_513
TIME = 1_570_793_423_000
INDEX_HEAD = [
    (3257687, 17413), (3257743, 33770), (3257799, 50127), (3257818, 66484), (3257819, 72074),
    (3257871, 87281), (3257884, 91444), (3257896, 95884), (3257917, 100845),
]  # fmt: skip
INDEX_TAIL = [
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
]
TIME_HEAD = [
    (1570792689308, 3257685), (1570792689324, 3257742), (1570792689345, 3257795), (1570792689348, 3257813),
    (1570792689357, 3257867), (1570792689361, 3257881), (1570792689364, 3257896), (1570792689368, 3257915),
    (1570792689369, 3257927),
]  # fmt: skip
TIME_TAIL = [
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
]


def batch_of(offset: int, timestamp: int, size: int) -> bytes:
    """One record in a batch of exactly so many bytes."""
    for value_size in range(size - 61 - 20, size - 61):
        data = bytes(encode_batch([Record(offset, timestamp, b"nginx", b"x" * value_size)]).data)
        if len(data) == size:
            return data
    raise AssertionError(f"no batch of {size} bytes")


def time_of(offset: int) -> int:
    return max(timestamp for timestamp, row_offset in TIME_TAIL if row_offset <= max(offset, TIME_TAIL[0][1]))


@pytest.fixture
def segment(tmp_path: Path) -> Segment:
    name = f"{BASE:020d}"
    (tmp_path / f"{name}.index").write_bytes(
        b"".join(OFFSET_ROW.pack(o - BASE, p) for o, p in INDEX_HEAD + INDEX_TAIL)
    )
    (tmp_path / f"{name}.timeindex").write_bytes(
        b"".join(TIME_ROW.pack(t, o - BASE) for t, o in TIME_HEAD + TIME_TAIL)
    )
    with (tmp_path / f"{name}.log").open("wb") as log:
        ends = [*INDEX_TAIL[1:], (NEXT_BASE, LOG_BYTES)]
        for (first, start), (end, end_position) in zip(INDEX_TAIL, ends, strict=True):
            log.seek(start)
            count = end - first
            each = (end_position - start) // count
            for offset in range(first, end):
                size = each if offset < end - 1 else end_position - start - each * (count - 1)
                log.write(batch_of(offset, time_of(offset), size))
    return Segment(DiskFolder(tmp_path), BASE, LogSettings(), 0)


def test_offset_6506155_is_found_from_the_row_6506150(segment: Segment) -> None:
    segment.check()
    assert segment.size == LOG_BYTES
    found, trace = segment.trace(6506155)
    assert trace.entry == (6506150, 1073707263)
    assert [scanned.batch.header.base_offset for scanned in trace.scanned] == [6506150 + i for i in range(5)]
    assert found is not None and found.batch.header.base_offset == 6506155
    assert next(found.batch.records()).key == b"nginx"
    assert len(trace.index_probes) <= 7, "by halves, not one by one"


def test_time_1570793423501_by_kafka_s_rule_and_by_the_article_s(segment: Segment) -> None:
    kafka = time_lookup_kafka([segment], TIME + 501)
    assert kafka is not None
    assert kafka.row == (TIME + 500, 6506228)
    assert kafka.entry == (6506217, 1073730060)
    document = time_lookup_document([segment], TIME + 501)
    assert document is not None
    assert document.row == (TIME + 503, 6506240)
    assert document.row.offset - BASE == 3248667, "the article prints 3247667"
    assert document.entry == (6506229, 1073734174)
    assert document.entry.offset - BASE == 3248656, "the article calls this one right"
    assert kafka.found == document.found == (TIME + 503, 6506240)


def test_the_segment_is_chosen_by_its_largest_time(segment: Segment) -> None:
    assert segment.largest_timestamp == TIME + 505
    assert time_lookup_kafka([segment], TIME + 506) is None


def test_the_article_s_rule_misses_records_between_two_rows() -> None:
    """A row above the target stands at the append that brought it; what came between the rows lies before
    that."""
    log = PartitionLog.open(MemoryFolder(), LogSettings(index_interval_bytes=200), now_ms=0)
    for time in (100, 200, 300, 400, 500, 600, 700, 800):
        log.append_pairs([(b"k", b"v" * 10)], timestamp=time, now_ms=0)
    rows = [log.active.time_index.entry(slot) for slot in range(log.active.time_index.row_count)]
    assert rows == [(400, 3), (700, 6)]
    kafka = time_lookup_kafka(log.segments, 450)
    document = time_lookup_document(log.segments, 450)
    assert kafka is not None and kafka.found == (500, 4)
    assert document is not None and document.found == (700, 6), "500 and 600 are late enough, and missed"
