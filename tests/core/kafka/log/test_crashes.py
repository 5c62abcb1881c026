"""After a crash the log opens, nothing that was flushed is lost, and nothing is invented."""

from collections.abc import Callable, Iterator

import pytest

from broker_core.kafka.log.compaction import clean, log_to_clean
from broker_core.kafka.log.memory_storage import Crashed, MemoryFolder
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.retention import delete_old_segments
from broker_core.kafka.log.settings import DAY_MS, LogSettings
from broker_core.kafka.log.storage import StorageFull

NOW = 100 * DAY_MS
TOPIC = LogSettings(segment_bytes=1500, index_interval_bytes=150)
Rows = list[tuple[int, bytes | None, bytes | None]]


def new_folder(steps_left: int | None = None) -> MemoryFolder:
    return MemoryFolder(now_ms=lambda: NOW, steps_left=steps_left)


def fill(log: PartitionLog, count: int, keys: int = 1000) -> None:
    for number in range(count):
        log.append_pairs([(b"key-%d" % (number % keys), b"value-%d" % number)], now_ms=NOW + number)


def rows(log: PartitionLog) -> Rows:
    return [(record.offset, record.key, record.value) for batch in log.batches() for record in batch.records()]


def is_sound(log: PartitionLog) -> bool:
    """Every record is found by its offset and by its time, and the log goes on."""
    for offset, _, _ in rows(log):
        fetched = log.read(offset, 1)
        if not fetched.base_offset <= offset:
            return False
    times = [record.timestamp for batch in log.batches() for record in batch.records()]
    for time in times[::5]:
        found = log.offset_for_time(time)
        if found is None or found.timestamp < time:
            return False
    end = log.log_end_offset
    return log.append_pairs([(b"next", b"v")], now_ms=NOW).first_offset == end


def test_the_last_segment_cut_at_each_byte_of_its_last_4_kib() -> None:
    topic = LogSettings(index_interval_bytes=500)
    folder = new_folder()
    log = PartitionLog.open(folder, topic, now_ms=NOW)
    for number in range(14):
        log.append_pairs([(b"key-%d" % number, b"value" * 60)], now_ms=NOW + number)
    everything = rows(log)
    ends = [position + batch.size_in_bytes for position, batch in log.active.batches()]
    log.flush(NOW)
    size = log.active.size
    assert size > 4096
    name = "00000000000000000000.log"
    for cut in range(size - 4096, size):
        torn = folder.after_crash()
        torn.tear(name, cut)
        again = PartitionLog.open(torn, topic, now_ms=NOW)
        whole = sum(end <= cut for end in ends)
        assert again.log_end_offset == whole
        if cut % 61 == 0:  # looking at all of it each time would take a minute
            assert rows(again) == everything[:whole]
            assert is_sound(again)


def index_damage() -> Iterator[tuple[str, Callable[[MemoryFolder, str], None]]]:
    yield "lost", lambda folder, name: folder.lose(name)
    yield "empty", lambda folder, name: folder.tear(name, 0)
    yield "torn", lambda folder, name: folder.tear(name, len(folder.files[name].data) // 2 + 3)
    yield "zeros", lambda folder, name: folder.files[name].data.__setitem__(slice(None), bytes(4096))
    yield "noise", lambda folder, name: folder.files[name].data.__setitem__(slice(None), bytes(byte * 37 % 251 for byte in range(120)))


@pytest.mark.parametrize("was_closed", [True, False])
@pytest.mark.parametrize("damage", [row[1] for row in index_damage()], ids=[row[0] for row in index_damage()])
def test_each_index_file_lost_or_damaged(damage: Callable[[MemoryFolder, str], None], was_closed: bool) -> None:
    folder = new_folder()
    log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
    fill(log, 80)
    expected = rows(log)
    log.close(NOW)
    names = [name for name in folder.names() if name.endswith(("index", ".snapshot"))]
    assert len(names) > 8
    for name in names:
        damaged = folder.after_crash()
        damage(damaged, name)
        for file in damaged.files.values():
            file.size = file.flushed_size = len(file.data)
        again = PartitionLog.open(damaged, TOPIC, now_ms=NOW, was_closed=was_closed)
        assert rows(again) == expected, name
        assert is_sound(again), name


def test_a_segment_too_long_for_its_indexes_keeps_its_records() -> None:
    """segment.index.bytes was made smaller since: the indexes end early, the log does not."""
    folder = new_folder()
    log = PartitionLog.open(folder, LogSettings(index_interval_bytes=150), now_ms=NOW)
    fill(log, 60)
    expected = rows(log)
    log.flush(NOW)
    again = PartitionLog.open(folder.after_crash(), LogSettings(index_interval_bytes=150, segment_index_bytes=48), now_ms=NOW)
    assert rows(again) == expected
    assert again.active.is_index_full
    assert is_sound(again) and len(again.segments) == 2


def test_a_flipped_bit_in_an_index_misleads_nobody() -> None:
    folder = new_folder()
    log = PartitionLog.open(folder, LogSettings(index_interval_bytes=150), now_ms=NOW)
    fill(log, 60)
    expected = rows(log)
    log.close(NOW)
    for name in ("00000000000000000000.index", "00000000000000000000.timeindex"):
        for bit in range(0, len(folder.files[name].data) * 8, 11):
            damaged = folder.after_crash()
            damaged.flip_bit(name, bit)
            again = PartitionLog.open(damaged, LogSettings(index_interval_bytes=150), now_ms=NOW, was_closed=True)
            for number in range(0, 60, 7):
                assert again.read(number, 1).base_offset == number
                assert again.offset_for_time(NOW + number) == (NOW + number, number), (name, bit)
            assert rows(again) == expected


def test_a_flipped_bit_in_the_log_ends_it_there() -> None:
    folder = new_folder()
    log = PartitionLog.open(folder, LogSettings(index_interval_bytes=150), now_ms=NOW)
    fill(log, 20)
    expected = rows(log)
    log.flush(NOW)
    for bit in range(0, log.size * 8, 13):
        damaged = folder.after_crash()
        damaged.flip_bit("00000000000000000000.log", bit)
        again = PartitionLog.open(damaged, now_ms=NOW)
        kept = rows(again)
        # What the CRC leaves out is the place that the broker gives: base offset and leader epoch.
        assert [row[1:] for row in kept] == [row[1:] for row in expected[: len(kept)]], f"bit {bit}"


def test_a_full_disk_refuses_and_harms_nothing() -> None:
    for room in range(300, 2600, 61):
        folder = MemoryFolder(now_ms=lambda: NOW, bytes_max=room)
        log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        with pytest.raises(StorageFull):
            fill(log, 200)
        written = rows(log)
        assert [row[0] for row in written] == list(range(log.log_end_offset))
        with pytest.raises(StorageFull):
            log.append_pairs([(b"k", b"v" * 500)], now_ms=NOW)
        assert rows(log) == written
        folder.bytes_max = None
        assert log.append_pairs([(b"k", b"v")], now_ms=NOW).first_offset == len(written)
        log.flush(NOW)
        again = PartitionLog.open(folder.after_crash(), TOPIC, now_ms=NOW)
        assert rows(again) == [*written, (len(written), b"k", b"v")]


def crash_everywhere(
    prepare: Callable[[MemoryFolder], PartitionLog], act: Callable[[PartitionLog], object], unflushed_bytes_kept: int
) -> Iterator[tuple[MemoryFolder, Rows]]:
    """Run `act` again and again, each time stopped one step later; give what is left, and what was there before."""
    for steps in range(1000):
        folder = new_folder()
        log = prepare(folder)
        before = rows(log)
        log.flush(NOW)
        folder.steps_left = steps
        try:
            act(log)
        except Crashed:
            yield folder.after_crash(unflushed_bytes_kept), before
        else:
            assert steps > 3, "there was something to interrupt"
            return
    raise AssertionError("it never ended")


def prepared(folder: MemoryFolder) -> PartitionLog:
    log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
    fill(log, 60, keys=7)
    return log


@pytest.mark.parametrize("kept", [0, 37, 10**6], ids=["nothing unflushed", "a torn part", "all"])
def test_a_crash_at_each_step_of_a_roll(kept: int) -> None:
    def roll_and_append(log: PartitionLog) -> None:
        log.roll(NOW)
        fill(log, 3)
        log.flush_if_due(NOW)

    for folder, before in crash_everywhere(prepared, roll_and_append, kept):
        again = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        after = rows(again)
        assert after[: len(before)] == before
        assert [row[2] for row in after[len(before) :]] == [b"value-0", b"value-1", b"value-2"][: len(after) - len(before)]
        assert is_sound(again)


@pytest.mark.parametrize("kept", [0, 10**6], ids=["nothing unflushed", "all"])
def test_a_crash_at_each_step_of_retention(kept: int) -> None:
    for folder, before in crash_everywhere(prepared, lambda log: delete_old_segments(log, NOW + 9 * DAY_MS), kept):
        again = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        after = rows(again)
        assert after == before[len(before) - len(after) :], "a whole end of the log, no gap"
        assert not [name for name in folder.names() if name.endswith(".deleted")]
        assert again.log_end_offset == 60
        assert is_sound(again)


@pytest.mark.parametrize("kept", [0, 41, 10**6], ids=["nothing unflushed", "a torn part", "all"])
def test_a_crash_at_each_step_of_a_compaction(kept: int) -> None:
    def compact(log: PartitionLog) -> None:
        clean(log, log_to_clean(log, None, NOW), OffsetMap(24 * 100), NOW)

    for folder, before in crash_everywhere(prepared, compact, kept):
        again = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        after = rows(again)
        assert set(after) <= set(before)
        assert {key: value for _, key, value in after} == {key: value for _, key, value in before}
        assert not [name for name in folder.names() if name.endswith((".cleaned", ".swap", ".deleted"))]
        assert is_sound(again)


def test_a_crash_at_each_step_of_putting_things_in_order() -> None:
    """The machine stops again while the next start deals with an unfinished swap; the start after that finds the same."""

    def compact(log: PartitionLog) -> None:
        clean(log, log_to_clean(log, None, NOW), OffsetMap(24 * 100), NOW)

    interrupted = 0
    for number, (folder, before) in enumerate(crash_everywhere(prepared, compact, 10**6)):
        if number % 16 or not any(name.endswith((".swap", ".cleaned")) for name in folder.names()):
            continue
        for steps in range(0, 1000, 2):
            halfway = folder.after_crash()
            halfway.steps_left = steps
            try:
                PartitionLog.open(halfway, TOPIC, now_ms=NOW)
            except Crashed:
                interrupted += 1
                again = PartitionLog.open(halfway.after_crash(10**6), TOPIC, now_ms=NOW)
                assert {key: value for _, key, value in rows(again)} == {key: value for _, key, value in before}
                assert set(rows(again)) <= set(before)
                assert again.log_end_offset == before[-1][0] + 1
            else:
                break
    assert interrupted > 20


def test_only_what_was_not_flushed_can_be_lost() -> None:
    for kept in range(0, 400, 7):
        folder = new_folder()
        log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        fill(log, 40)
        log.flush(NOW)
        recovery_point = log.recovery_point
        fill(log, 4)
        everything = rows(log)
        again = PartitionLog.open(folder.after_crash(kept), TOPIC, now_ms=NOW, recovery_point=recovery_point)
        after = rows(again)
        assert len(after) >= 40
        assert after == everything[: len(after)]


def transaction(log: PartitionLog, producer_id: int, ending: ControlType) -> None:
    for sequence in range(2):
        log.append_pairs(
            [(b"t", b"v")], now_ms=NOW, producer_id=producer_id, producer_epoch=0, base_sequence=sequence,
            is_transactional=True,
        )  # fmt: skip
    log.append_marker(ending, producer_id=producer_id, producer_epoch=0, coordinator_epoch=0, now_ms=NOW)


def test_what_stands_beside_the_log_is_made_anew() -> None:
    """Aborted transactions and leader epochs are in the log itself: a crash may lose their files, not what they say."""
    folder = new_folder()
    log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
    fill(log, 12)
    for producer_id, ending in enumerate([ControlType.ABORT, ControlType.COMMIT, ControlType.ABORT, ControlType.ABORT]):
        log.leader_epoch = producer_id
        transaction(log, producer_id, ending)
        fill(log, 5)
    log.flush(NOW)
    assert len(log.segments) > 2
    aborted, epochs = log.aborted_transactions(0, log.log_end_offset), log.epochs.rows
    assert [row.producer_id for row in aborted] == [0, 2, 3] and len(epochs) == 4
    damaged = folder.after_crash()
    for name in damaged.names():
        if name.endswith((".txnindex", "leader-epoch-checkpoint", ".snapshot")):
            damaged.lose(name)
    again = PartitionLog.open(damaged, TOPIC, now_ms=NOW)
    assert again.aborted_transactions(0, again.log_end_offset) == aborted
    assert again.epochs.rows == epochs
    again.truncate_to(aborted[1].last_offset, NOW)
    assert again.aborted_transactions(0, again.log_end_offset) == aborted[:1]


@pytest.mark.parametrize("kept", [0, 10**6], ids=["nothing unflushed", "all"])
def test_a_crash_at_each_step_of_a_transaction_s_end(kept: int) -> None:
    """The marker and its row in the index of aborted transactions: either both count or neither."""

    def prepare(folder: MemoryFolder) -> PartitionLog:
        log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        fill(log, 3)
        log.append_pairs([(b"t", b"v")], now_ms=NOW, producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True)
        return log

    def abort(log: PartitionLog) -> None:
        log.append_marker(ControlType.ABORT, producer_id=1, producer_epoch=0, coordinator_epoch=0, now_ms=NOW)
        log.flush(NOW)

    for folder, before in crash_everywhere(prepare, abort, kept):
        again = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        has_marker = again.log_end_offset == len(before) + 1
        assert rows(again)[: len(before)] == before
        assert len(again.aborted_transactions(0, again.log_end_offset)) == has_marker
        assert again.last_stable_offset == (again.log_end_offset if has_marker else 3)


def values(log: PartitionLog) -> dict[bytes | None, bytes | None]:
    """Each key's newest record: what compaction has to keep."""
    return {key: value for _, key, value in rows(log)}


def compact(log: PartitionLog) -> None:
    clean(log, log_to_clean(log, None, NOW), OffsetMap(24 * 1000), NOW)


class RememberingFolder(MemoryFolder):
    """Keeps what a crash before each renaming would leave."""

    def __init__(self) -> None:
        super().__init__(now_ms=lambda: NOW)
        self.crashes: list[MemoryFolder] = []

    def rename(self, old: str, new: str) -> None:
        self.crashes.append(self.after_crash(10**6))
        super().rename(old, new)


def test_a_crash_after_a_round_that_hit_a_full_disk_was_made_up_for() -> None:
    """What the round that failed has left must not stand for the one that a crash interrupts much later."""
    folder = RememberingFolder()
    log = prepared(folder)
    log.flush(NOW)
    folder.bytes_max = folder.bytes_used()
    with pytest.raises(StorageFull):
        compact(log)
    folder.bytes_max = None
    compact(log)
    fill(log, 90, keys=70)
    log.flush(NOW)
    before, folder.crashes = values(log), []
    compact(log)
    assert len(folder.crashes) > 20
    for left in folder.crashes[::2]:
        assert values(PartitionLog.open(left, TOPIC, now_ms=NOW)) == before


def test_a_round_that_fails_leaves_nothing_behind() -> None:
    """In whichever segment the disk is full, before and after the first of them was put in its place."""
    failed = 0
    for extra in range(0, 4000, 97):
        folder = new_folder()
        log = prepared(folder)
        log.flush(NOW)
        before, folder.bytes_max = values(log), folder.bytes_used() + extra
        try:
            compact(log)
        except StorageFull:
            failed += 1
        assert not [name for name in folder.names() if name.endswith((".cleaned", ".swap"))]
        assert values(log) == before
    assert failed > 3


def roll_and_fill(log: PartitionLog) -> None:
    log.roll(NOW)
    fill(log, 3, keys=7)


def fill_and_flush(log: PartitionLog) -> None:
    fill(log, 3, keys=7)
    log.flush(NOW)


@pytest.mark.parametrize("act", [roll_and_fill, fill_and_flush, compact])
def test_a_disk_that_fills_up_loses_nothing_that_was_flushed(act: Callable[[PartitionLog], object]) -> None:
    """The process goes on and tries again, or the machine stops there: each key that was flushed still has its value or a newer one."""
    was_full = 0
    for extra in range(0, 1500, 149):
        folder = new_folder()
        log = prepared(folder)
        log.flush(NOW)
        before, folder.bytes_max = values(log), folder.bytes_used() + extra
        try:
            act(log)
        except StorageFull:
            was_full += 1
        stopped = PartitionLog.open(folder.after_crash(), TOPIC, now_ms=NOW)
        assert values(stopped).keys() == before.keys()
        folder.bytes_max = None
        act(log)
        assert values(log).keys() == before.keys()
        log.flush(NOW)
        again = PartitionLog.open(folder.after_crash(), TOPIC, now_ms=NOW)
        assert rows(again) == rows(log)
        assert is_sound(log) and is_sound(again)
    assert was_full


def test_retention_on_a_full_disk_leaves_a_whole_end_of_the_log() -> None:
    was_full = 0
    for extra in (0, 1, 40, 400):
        folder = new_folder()
        log = prepared(folder)
        log.flush(NOW)
        before, folder.bytes_max = rows(log), folder.bytes_used() + extra
        try:
            delete_old_segments(log, NOW + 9 * DAY_MS)
        except StorageFull:
            was_full += 1
            assert rows(log) == before
        again = PartitionLog.open(folder.after_crash(), TOPIC, now_ms=NOW)
        assert rows(again) == before[len(before) - len(rows(again)) :]
        assert again.log_end_offset == 60
        assert is_sound(again)
    assert was_full
