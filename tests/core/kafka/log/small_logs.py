"""Small logs in memory, for tests that break them: segments of 1,500 bytes, seven keys, a stopped clock."""

from broker_core.kafka.log.batch_reader import whole_batches
from broker_core.kafka.log.compaction import clean, log_to_clean
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.settings import DAY_MS, LogSettings

NOW = 100 * DAY_MS
TOPIC = LogSettings(segment_bytes=1500, index_interval_bytes=150)
Rows = list[tuple[int, bytes | None, bytes | None]]


def new_folder() -> MemoryFolder:
    return MemoryFolder(now_ms=lambda: NOW)


def fill(log: PartitionLog, count: int, keys: int = 1000) -> None:
    for number in range(count):
        log.append_pairs([(b"key-%d" % (number % keys), b"value-%d" % number)], now_ms=NOW + number)


def rows(log: PartitionLog) -> Rows:
    return [
        (record.offset, record.key, record.value) for batch in log.batches() for record in batch.records()
    ]


def is_sound(log: PartitionLog) -> bool:
    """Every record is found by its offset and by its time, and the log goes on."""
    for offset, _, _ in rows(log):
        (batch,) = whole_batches(log.read(offset, 1).data)
        if not batch.header.base_offset <= offset <= batch.header.last_offset:
            return False
    times = [record.timestamp for batch in log.batches() for record in batch.records()]
    for time in times[::5]:
        found = log.offset_for_time(time)
        if found is None or found.timestamp < time:
            return False
    end = log.log_end_offset
    return log.append_pairs([(b"next", b"v")], now_ms=NOW).first_offset == end


def prepared(folder: MemoryFolder) -> PartitionLog:
    log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
    fill(log, 60, keys=7)
    return log


def table(found: Rows) -> dict[bytes | None, bytes | None]:
    """Each key's newest record: what compaction has to keep."""
    return {key: value for _, key, value in found}


def compact(log: PartitionLog) -> None:
    clean(log, log_to_clean(log, None, NOW), OffsetMap(24 * 1000), NOW)
