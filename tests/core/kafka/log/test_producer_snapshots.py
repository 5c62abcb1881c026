"""Which `.snapshot` files a start leaves."""

from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.producer_snapshots import snapshot_offsets
from tests.core.kafka.log.small_logs import NOW, TOPIC, fill, new_folder


def run(folder: MemoryFolder, record_count: int, *, rolls: bool = False) -> PartitionLog:
    """One run of a broker, ended in order."""
    log = PartitionLog.open(folder, TOPIC, now_ms=NOW, was_closed=True)
    fill(log, record_count)
    if rolls:
        log.roll(NOW)
    log.close(NOW)
    return log


def test_orderly_ends_do_not_pile_up_snapshots() -> None:
    folder = new_folder()
    for _ in range(8):
        run(folder, 2)
    assert snapshot_offsets(folder) == [14, 16], "the one that the last start read, and that of the last end"
    PartitionLog.open(folder, TOPIC, now_ms=NOW, was_closed=True)
    assert snapshot_offsets(folder) == [16]


def test_a_start_keeps_a_snapshot_for_each_segment_and_none_between() -> None:
    folder = new_folder()
    run(folder, 3)
    log = run(folder, 3, rolls=True)
    bases = [segment.base_offset for segment in log.segments]
    assert bases == [0, 6] and snapshot_offsets(folder) == [3, 6]
    PartitionLog.open(folder, TOPIC, now_ms=NOW, was_closed=True)
    assert snapshot_offsets(folder) == [6], "3 lies inside the segment of 0"


def test_the_newest_stray_goes_too_where_a_segment_begins_behind_it() -> None:
    folder = new_folder()
    log = run(folder, 3, rolls=True)
    for offset in (1, 2):
        folder.replace(f"{offset:020d}.snapshot", log.producers.snapshot())
    PartitionLog.open(folder, TOPIC, now_ms=NOW, was_closed=True)
    assert snapshot_offsets(folder) == [3]
