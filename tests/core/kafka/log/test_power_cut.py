"""A power cut at any step of any history of appends, flushes, rolls and rounds of the cleaner takes no key
back past its flushed state."""

import random

import pytest

from broker_core.kafka.log.compaction import clean, log_to_clean
from broker_core.kafka.log.memory_storage import Crashed, MemoryFolder
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.settings import LogSettings
from tests.core.kafka.log.small_logs import NOW, new_folder

TOPIC = LogSettings(segment_bytes=600, index_interval_bytes=100, cleanup_compact=True, cleanup_delete=False)
KEYS = [b"key-%d" % number for number in range(6)]


def newest(log: PartitionLog) -> dict[bytes | None, int]:
    """Key -> the offset of its last record."""
    return {record.key: record.offset for batch in log.batches() for record in batch.records()}


def after_power_cut(folder: MemoryFolder, recovery_point: int) -> PartitionLog:
    return PartitionLog.open(folder.after_crash(), TOPIC, now_ms=NOW, recovery_point=recovery_point)


def closed_and_not_flushed() -> PartitionLog:
    """Of the key an old record is flushed; the new one lies in a closed segment that is not."""
    log = PartitionLog.open(new_folder(), TOPIC, now_ms=NOW)
    log.append_pairs([(b"k", b"old" * 150)], now_ms=NOW)
    log.flush(NOW)
    log.append_pairs([(b"k", b"new" * 150)], now_ms=NOW)
    log.roll(NOW)
    return log


def test_a_newer_record_is_flushed_before_the_older_one_goes() -> None:
    steps = 0
    while True:
        log = closed_and_not_flushed()
        log.folder.steps_left = steps
        try:
            clean(log, log_to_clean(log, None, NOW), OffsetMap(2400), NOW)
        except Crashed:
            assert b"k" in newest(after_power_cut(log.folder, 0)), f"before step {steps} of the round"
            steps += 1
        else:
            break
    assert steps > 10
    assert newest(after_power_cut(log.folder, 0)) == {b"k": 1}


@pytest.mark.parametrize("seed", range(100))
def test_no_cut_takes_a_key_back_behind_what_was_flushed_of_it(seed: int) -> None:
    draw = random.Random(seed)
    folder = new_folder()
    log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
    flushed: dict[bytes | None, int] = {}
    checkpoint, recovery_point = None, 0
    folder.steps_left = draw.randint(100, 400)
    try:
        while True:
            match draw.choice(["append"] * 5 + ["flush", "clean", "clean"]):
                case "append":
                    for _ in range(draw.randint(1, 6)):
                        log.append_pairs([(draw.choice(KEYS), b"v" * draw.randint(1, 200))], now_ms=NOW)
                case "flush":
                    log.flush(NOW)
                    flushed, recovery_point = newest(log), log.recovery_point
                case "clean":
                    checkpoint = clean(
                        log, log_to_clean(log, checkpoint, NOW), OffsetMap(draw.choice([96, 2400])), NOW
                    ).end_offset
    except Crashed:
        survived = newest(after_power_cut(folder, recovery_point))
    assert {key: offset for key, offset in flushed.items() if survived.get(key, -1) < offset} == {}
