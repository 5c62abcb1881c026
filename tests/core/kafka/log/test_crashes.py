"""After a crash the log opens, nothing that was flushed is lost, and nothing is invented."""

from collections.abc import Callable, Iterator

import pytest

from broker_core.kafka.log.memory_storage import Crashed, MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.retention import delete_old_segments
from broker_core.kafka.log.settings import DAY_MS, LogSettings
from tests.core.kafka.log.small_logs import (
    NOW,
    TOPIC,
    Rows,
    compact,
    fill,
    is_sound,
    new_folder,
    prepared,
    rows,
    table,
)


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
    yield (
        "noise",
        lambda folder, name: folder.files[name].data.__setitem__(
            slice(None), bytes(byte * 37 % 251 for byte in range(120))
        ),
    )


@pytest.mark.parametrize("was_closed", [True, False])
@pytest.mark.parametrize("damage", [row[1] for row in index_damage()], ids=[row[0] for row in index_damage()])
def test_each_index_file_lost_or_damaged(
    damage: Callable[[MemoryFolder, str], None], was_closed: bool
) -> None:
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
    again = PartitionLog.open(
        folder.after_crash(), LogSettings(index_interval_bytes=150, segment_index_bytes=48), now_ms=NOW
    )
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
            again = PartitionLog.open(
                damaged, LogSettings(index_interval_bytes=150), now_ms=NOW, was_closed=True
            )
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


def crash_everywhere(
    prepare: Callable[[MemoryFolder], PartitionLog],
    act: Callable[[PartitionLog], object],
    unflushed_bytes_kept: int,
) -> Iterator[tuple[MemoryFolder, Rows]]:
    """Run `act` again and again, each time stopped one step later; give what is left, and what was there
    before."""
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
        assert [row[2] for row in after[len(before) :]] == [b"value-0", b"value-1", b"value-2"][
            : len(after) - len(before)
        ]
        assert is_sound(again)


@pytest.mark.parametrize("kept", [0, 10**6], ids=["nothing unflushed", "all"])
def test_a_crash_at_each_step_of_retention(kept: int) -> None:
    for folder, before in crash_everywhere(
        prepared, lambda log: delete_old_segments(log, NOW + 9 * DAY_MS), kept
    ):
        again = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        after = rows(again)
        assert after == before[len(before) - len(after) :], "a whole end of the log, no gap"
        assert not [name for name in folder.names() if name.endswith(".deleted")]
        assert again.log_end_offset == 60
        assert is_sound(again)


@pytest.mark.parametrize("kept", [0, 41, 10**6], ids=["nothing unflushed", "a torn part", "all"])
def test_a_crash_at_each_step_of_a_compaction(kept: int) -> None:
    for folder, before in crash_everywhere(prepared, compact, kept):
        again = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        after = rows(again)
        assert set(after) <= set(before)
        assert table(after) == table(before)
        assert not [name for name in folder.names() if name.endswith((".cleaned", ".swap", ".deleted"))]
        assert is_sound(again)


def test_a_crash_at_each_step_of_putting_things_in_order() -> None:
    """The machine stops again while the next start deals with an unfinished swap; the start after that finds
    the same."""
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
                assert table(rows(again)) == table(before)
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
    """Aborted transactions and leader epochs are in the log itself: a crash may lose their files, not what
    they say."""
    folder = new_folder()
    log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
    fill(log, 12)
    for producer_id, ending in enumerate(
        [ControlType.ABORT, ControlType.COMMIT, ControlType.ABORT, ControlType.ABORT]
    ):
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
        log.append_pairs(
            [(b"t", b"v")],
            now_ms=NOW,
            producer_id=1,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=True,
        )
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
