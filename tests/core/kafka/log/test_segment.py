"""One segment on its own: why it rolls and when exactly, its times, what a cut leaves, its files' names, and
what a flush keeps."""

import pytest

from broker_core.kafka.log.errors import CorruptRecord
from broker_core.kafka.log.file_names import CLEANED, INDEX, LOG, SWAP, TIME_INDEX, file_name
from broker_core.kafka.log.index_file import CorruptIndex
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import HEADER_SIZE, encode_batch, with_offset
from broker_core.kafka.log.segment import RollReason, Segment
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import StorageFull
from tests.core.kafka.log.small_logs import NOW

BASE = 100
TOPIC = LogSettings(segment_bytes=500, segment_ms=1_000, segment_jitter_ms=100, index_interval_bytes=150)
ONE = 70


def batch(offset: int, time: int, count: int = 1) -> bytes:
    records = [Record(number, time, b"k", b"v") for number in range(count)]
    return bytes(with_offset(encode_batch(records), offset, 0).data)


def segment(
    *batches: tuple[int, int], folder: MemoryFolder | None = None, settings: LogSettings = TOPIC
) -> Segment:
    """A segment of batches of one record: (offset, time)."""
    made = Segment(folder or MemoryFolder(now_ms=lambda: NOW), BASE, settings, NOW)
    for offset, time in batches:
        add(made, offset, time)
    return made


def add(to: Segment, offset: int, time: int, count: int = 1) -> None:
    last = offset + count - 1
    to.append(last, time, last, batch(offset, time, count))


# --- rolling


@pytest.mark.parametrize(
    ("batches", "incoming", "time", "last_offset", "now_ms", "reason"),
    [
        ([], 500, 10, BASE, NOW, None),
        ([], 501, 10, BASE, NOW, "size"),
        ([(BASE, 10)], 500 - ONE, 10, BASE + 1, NOW, None),
        ([(BASE, 10)], 501 - ONE, 10, BASE + 1, NOW, "size"),
        ([(BASE, 10)], ONE, 910, BASE + 1, NOW, None),
        ([(BASE, 10)], ONE, 911, BASE + 1, NOW, "time"),
        # record time alone, where the segment began with one
        ([(BASE, 10)], ONE, 5, BASE + 1, NOW + 10**9, None),
        # else its own age
        ([(BASE, -1)], ONE, 10**9, BASE + 1, NOW + 900, None),
        ([(BASE, -1)], ONE, -1, BASE + 1, NOW + 901, "time"),
        ([], ONE, 10**9, BASE, NOW + 10**9, None),  # an empty segment is never too old
        ([(BASE, 10)], ONE, 10, BASE + 2**31 - 1, NOW, None),
        ([(BASE, 10)], ONE, 10, BASE + 2**31, NOW, "offset_span"),
        # the first that holds
        ([(BASE, 10)], 501, 2_000, BASE + 2**31, NOW, "size"),
        ([(BASE, 10)], ONE, 2_000, BASE + 2**31, NOW, "time"),
    ],
)
def test_why_and_when_exactly_the_next_append_goes_elsewhere(
    batches: list[tuple[int, int]],
    incoming: int,
    time: int,
    last_offset: int,
    now_ms: int,
    reason: RollReason | None,
) -> None:
    assert segment(*batches).should_roll(incoming, time, last_offset, now_ms) == reason


def test_a_full_index_rolls_last_of_all() -> None:
    small = segment(settings=LogSettings(segment_index_bytes=24, index_interval_bytes=0))
    for number in range(2):
        assert not small.is_index_full
        add(small, BASE + number, 10 + number)
    assert small.is_index_full, "the first append has no row, and of two rows the time index keeps one free"
    assert small.should_roll(1, 10, BASE + 9, NOW) == "index_full"
    assert small.should_roll(1, 10**12, BASE + 9, NOW) == "time"


def test_the_age_counts_from_the_first_append_after_a_restart_too() -> None:
    folder = MemoryFolder(now_ms=lambda: NOW)
    segment((BASE, 10), (BASE + 1, 500), folder=folder).close()
    again = Segment(folder, BASE, TOPIC, NOW + 5)
    assert again.first_timestamp == 10
    assert (again.should_roll(ONE, 910, BASE + 2, NOW), again.should_roll(ONE, 911, BASE + 2, NOW)) == (
        None,
        "time",
    )


# --- times


def test_the_largest_time_and_the_offset_that_brought_it() -> None:
    made = segment((BASE, 30), (BASE + 1, 90), (BASE + 2, 60), (BASE + 3, 90))
    assert (made.max_timestamp, made.offset_of_max_timestamp, made.largest_timestamp) == (90, BASE + 1, 90)


def test_without_a_time_a_segment_is_as_old_as_its_file() -> None:
    made = segment((BASE, -1))
    assert (made.largest_timestamp, made.max_timestamp) == (NOW, -1)


@pytest.mark.parametrize(
    ("time", "start", "found"),
    [
        (30, BASE, (30, BASE)),
        (31, BASE, (90, BASE + 1)),
        (60, BASE + 2, (60, BASE + 2)),
        (61, BASE + 2, (90, BASE + 3)),
        (91, BASE, None),
        (0, BASE + 9, None),
    ],
)
def test_the_first_record_that_is_late_enough_from_an_offset_on(
    time: int, start: int, found: tuple[int, int] | None
) -> None:
    made = segment((BASE, 30), (BASE + 1, 90), (BASE + 2, 60), (BASE + 3, 90))
    assert made.find_timestamp(time, start) == found


@pytest.mark.parametrize(
    ("time", "start", "found"), [(30, 0, (50, 1)), (30, 2, (30, 2)), (40, 2, None), (10, 1, (50, 1))]
)
def test_inside_a_batch_each_record_is_asked_for_its_time_and_its_offset(
    time: int, start: int, found: tuple[int, int] | None
) -> None:
    made = segment()
    records = [Record(number, at, b"k", b"v") for number, at in enumerate((10, 50, 30))]
    made.append(BASE + 2, 50, BASE + 2, bytes(with_offset(encode_batch(records), BASE, 0).data))
    expected = None if found is None else (found[0], BASE + found[1])
    assert made.find_timestamp(time, BASE + start) == expected


def test_an_index_that_lacks_the_latest_time_is_not_that_of_its_log() -> None:
    made = segment((BASE, 30), (BASE + 1, 90))
    with pytest.raises(CorruptIndex):
        made.check()
    made.close_for_appends()
    made.check()


def test_closing_puts_the_largest_time_into_the_index_though_no_row_was_due() -> None:
    made = segment((BASE, 30), (BASE + 1, 90))
    assert made.time_index.row_count == 0
    made.close_for_appends()
    assert made.time_index.rows() == [(90, 1)]


# --- finding


@pytest.mark.parametrize(
    ("offset", "found"),
    [
        (BASE - 5, BASE),
        (BASE, BASE),
        (BASE + 2, BASE + 1),
        (BASE + 3, BASE + 1),
        (BASE + 4, BASE + 6),
        (BASE + 7, None),
    ],
)
def test_an_offset_is_in_the_batch_that_ends_at_or_above_it_also_across_a_gap(
    offset: int, found: int | None
) -> None:
    made = segment((BASE, 1))
    add(made, BASE + 1, 2, count=3)
    add(made, BASE + 6, 3)
    place = made.find(offset)
    assert (None if place is None else place.batch.header.base_offset) == found
    assert made.next_offset() == BASE + 7


@pytest.mark.parametrize("window_bytes", [HEADER_SIZE, ONE - 1, ONE, ONE + 1, 2 * ONE + 5, 1 << 20])
def test_a_walk_finds_every_batch_whatever_it_reads_at_once(window_bytes: int) -> None:
    made = segment(*((BASE + number, number) for number in range(5)))
    walked = list(made.batches(ONE, 4 * ONE, window_bytes))
    assert [(each.position, each.batch.header.base_offset) for each in walked] == [
        (number * ONE, BASE + number) for number in (1, 2, 3)
    ]


def test_a_look_up_tells_which_rows_and_batches_it_has_passed() -> None:
    made = segment(*((BASE + number, number) for number in range(7)))
    rows = [position for _, position in made.offset_index.rows()]
    assert rows == [3 * ONE, 6 * ONE]
    place, lookup = made.trace(BASE + 5)
    assert place is not None and place.position == 5 * ONE
    assert lookup.entry == (BASE + 3, 3 * ONE) and [each.position for each in lookup.scanned] == [
        3 * ONE,
        4 * ONE,
    ]


def test_a_row_that_points_elsewhere_is_not_believed_and_the_index_is_made_anew() -> None:
    made = segment(*((BASE + number, number) for number in range(7)))
    sound = made.offset_index.rows()
    made.offset_index.truncate_rows(0)
    made.offset_index.append(BASE + 1, 3 * ONE)  # there BASE + 3 begins
    place = made.find(BASE + 1)
    assert place is not None and place.position == ONE and made.offset_index.rows() == sound


def test_a_file_that_ends_inside_a_batch_ends_there_and_one_with_a_wrong_length_is_corrupt() -> None:
    folder = MemoryFolder(now_ms=lambda: NOW)
    segment((BASE, 1), (BASE + 1, 2), folder=folder)
    folder.tear(file_name(BASE, LOG), 2 * ONE - 1)
    torn = Segment(folder, BASE, TOPIC, NOW)
    assert torn.find(BASE + 1) is None and torn.next_offset() == BASE + 1
    folder.files[file_name(BASE, LOG)].data[8:12] = (3).to_bytes(4)
    with pytest.raises(CorruptRecord):
        Segment(folder, BASE, TOPIC, NOW).find(BASE)


# --- cutting


@pytest.mark.parametrize(
    ("offset", "kept", "cut"),
    [(BASE, 0, 4), (BASE + 1, 1, 3), (BASE + 3, 3, 1), (BASE + 4, 4, 0), (BASE - 1, 0, 4)],
)
def test_a_cut_takes_the_batch_that_holds_the_offset_and_all_behind_it(
    offset: int, kept: int, cut: int
) -> None:
    made = segment(*((BASE + number, 10 * number) for number in range(4)))
    assert made.truncate_to(offset, NOW + 1) == cut * ONE
    assert [each.batch.header.base_offset for each in made.batches()] == [
        BASE + number for number in range(kept)
    ]
    assert made.max_timestamp == (10 * (kept - 1) if kept else -1)
    assert made.created_ms == (NOW if kept else NOW + 1), "emptied, it is as young as a new one"


def test_a_cut_inside_a_batch_takes_it_whole() -> None:
    made = segment((BASE, 1))
    add(made, BASE + 1, 2, count=3)
    made.truncate_to(BASE + 2, NOW)
    assert made.size == ONE and made.next_offset() == BASE + 1


def test_an_emptied_segment_begins_its_age_with_the_next_append() -> None:
    made = segment((BASE, 10))
    made.truncate_to(BASE, NOW)
    add(made, BASE, 5_000)
    assert (made.first_timestamp, made.should_roll(ONE, 5_900, BASE + 1, NOW)) == (5_000, None)


# --- files


def test_files_take_the_name_of_each_stage_and_the_log_comes_last() -> None:
    folder = MemoryFolder(now_ms=lambda: NOW)
    made = Segment(folder, BASE, TOPIC, NOW, CLEANED)
    add(made, BASE, 1)
    renamed: list[str] = []
    rename = folder.rename
    folder.rename = lambda old, new: (renamed.append(new), rename(old, new))[1]  # type: ignore[method-assign, func-returns-value]
    for stage in (SWAP, ""):
        made.change_stage(stage)
        assert sorted(folder.names()) == sorted(
            file_name(BASE, suffix) + stage for suffix in (LOG, INDEX, TIME_INDEX)
        )
        assert renamed[-1] == file_name(BASE, LOG) + stage, "it is what a restart goes by"
    assert made.find(BASE) is not None and made.log.name == file_name(BASE, LOG)


def test_a_flush_makes_log_and_rows_outlive_a_power_cut() -> None:
    folder = MemoryFolder(now_ms=lambda: NOW)
    made = segment(*((BASE + number, number) for number in range(4)), folder=folder)
    assert folder.after_crash().files[file_name(BASE, LOG)].size == 0
    made.flush()
    survived = folder.after_crash()
    assert survived.files[file_name(BASE, LOG)].size == 4 * ONE
    assert Segment(survived, BASE, TOPIC, NOW).offset_index.rows() == [(3, 3 * ONE)]


def test_an_append_that_does_not_fit_on_the_disk_leaves_nothing_of_it() -> None:
    folder = MemoryFolder(now_ms=lambda: NOW)
    made = segment((BASE, 1), folder=folder)
    folder.bytes_max = ONE + 30
    with pytest.raises(StorageFull):
        add(made, BASE + 1, 99)
    assert (made.size, made.max_timestamp, made.next_offset()) == (ONE, 1, BASE + 1)
    folder.bytes_max = None
    add(made, BASE + 1, 99)
    assert made.next_offset() == BASE + 2
