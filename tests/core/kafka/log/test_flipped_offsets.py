"""A flipped bit in a batch's base offset. The CRC leaves it out, so only its neighbours tell; it is damage
like any other."""

from itertools import pairwise

import pytest

from broker_core.kafka.log.batch_reader import read_batches
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.settings import LogSettings
from tests.core.kafka.log.small_logs import NOW, TOPIC, fill, new_folder

ONE_SEGMENT = LogSettings(index_interval_bytes=150)


def closed(settings: LogSettings, count: int) -> MemoryFolder:
    folder = new_folder()
    log = PartitionLog.open(folder, settings, now_ms=NOW)
    fill(log, count)
    log.close(NOW)
    return folder


def batch_positions(content: bytes) -> list[int]:
    positions = [0]
    for batch in read_batches(content):
        positions.append(positions[-1] + batch.size_in_bytes)
    return positions[:-1]


def with_flipped(settings: LogSettings, count: int, name: str, position: int, bit: int) -> MemoryFolder:
    folder = closed(settings, count)
    content = bytearray(folder.read(name))
    content[position + 7 - bit // 8] ^= 1 << bit % 8
    folder.replace(name, bytes(content))
    return folder


@pytest.mark.parametrize("bit", [0, 4, 12, 31, 32, 40, 62, 63])
@pytest.mark.parametrize(
    ("settings", "count"), [(TOPIC, 30), (ONE_SEGMENT, 20)], ids=["segments", "one segment"]
)
def test_a_log_with_a_flipped_offset_opens_reads_and_goes_on(
    settings: LogSettings, count: int, bit: int
) -> None:
    whole = closed(settings, count)
    for name in [name for name in whole.names() if name.endswith(".log")]:
        for position in batch_positions(whole.read(name)):
            folder = with_flipped(settings, count, name, position, bit)
            log = PartitionLog.open(folder, settings, now_ms=NOW, was_closed=True, recovery_point=count)
            for offset in range(log.log_start_offset, min(count, log.log_end_offset)):
                log.read(offset, 1)
            for time in range(0, count, 7):
                log.offset_for_time(NOW + time)
            end = log.log_end_offset
            assert log.append_pairs([(b"next", b"v")], now_ms=NOW + count).first_offset == end


@pytest.mark.parametrize("bit", [3, 31, 62, 63])
def test_in_the_last_batches_the_log_ends_before_it(bit: int) -> None:
    content = closed(ONE_SEGMENT, 20).read("00000000000000000000.log")
    *_, before_last, _ = batch_positions(content)
    folder = with_flipped(ONE_SEGMENT, 20, "00000000000000000000.log", before_last, bit)
    log = PartitionLog.open(folder, ONE_SEGMENT, now_ms=NOW, was_closed=True, recovery_point=20)
    offsets = [record.offset for batch in log.batches() for record in batch.records()]
    assert offsets[:18] == list(range(18)) and len(offsets) < 20
    assert all(before < after for before, after in pairwise(offsets))
