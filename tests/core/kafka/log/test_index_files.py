"""The two indexes of a segment on their own: look-ups by halves, what a cut leaves, when they are full, and
what reaches their files."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.kafka.log.index_file import ROWS_A_WRITE, WARM_BYTES, CorruptIndex
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.offset_index import OffsetIndex, OffsetPosition
from broker_core.kafka.log.storage import StorageFull
from broker_core.kafka.log.time_index import TimeIndex, TimestampOffset

BASE = 1_000
ROOM = 1 << 20
NAME = "i"
RISING = st.lists(st.integers(1, 5), max_size=40)


def offset_index(
    *rows: tuple[int, int], folder: MemoryFolder | None = None, bytes_max: int = ROOM
) -> OffsetIndex:
    index = OffsetIndex((folder or MemoryFolder()).open(NAME), BASE, bytes_max)
    for row in rows:
        index.append(*row)
    return index


def time_index(
    *rows: tuple[int, int], folder: MemoryFolder | None = None, bytes_max: int = ROOM
) -> TimeIndex:
    index = TimeIndex((folder or MemoryFolder()).open(NAME), BASE, bytes_max)
    for row in rows:
        index.maybe_append(*row)
    return index


# --- looking up


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (BASE, (BASE, 0)),
        (1_004, (BASE, 0)),
        (1_005, (1_005, 70)),
        (1_008, (1_005, 70)),
        (1_009, (1_009, 140)),
        (9_999, (1_009, 140)),
        (5, (BASE, 0)),
    ],
)
def test_an_offset_is_reached_from_the_last_row_at_or_below_it(asked: int, found: tuple[int, int]) -> None:
    assert offset_index((1_005, 70), (1_009, 140)).lookup(asked) == found


@pytest.mark.parametrize(
    ("asked", "found"),
    [(99, (-1, BASE)), (100, (100, 1_003)), (149, (100, 1_003)), (150, (150, 1_003)), (2**40, (150, 1_003))],
)
def test_a_time_is_reached_from_the_last_row_at_or_below_it(asked: int, found: tuple[int, int]) -> None:
    assert time_index((100, 1_003), (150, 1_003)).lookup(asked) == found


@pytest.mark.parametrize(
    ("position", "found"),
    [(0, (1_005, 70)), (70, (1_005, 70)), (71, (1_009, 140)), (140, (1_009, 140)), (141, None)],
)
def test_the_first_row_from_a_position_on(position: int, found: tuple[int, int] | None) -> None:
    assert offset_index((1_005, 70), (1_009, 140)).first_at_or_after_position(position) == found


def test_a_new_record_is_looked_for_in_the_last_rows_first_and_an_old_one_below_them() -> None:
    """The last 8 KiB of rows are in memory: most readers want what is new."""
    index = offset_index(*((BASE + 1 + number, 10 + number) for number in range(3_000)))
    first_warm = 2_999 - WARM_BYTES // 8
    for offset, bounds in ((BASE + 3_000, (first_warm, 2_999)), (BASE + 10, (0, first_warm))):
        probes: list[int] = []
        assert index.lookup(offset, probes).offset == offset
        assert (
            probes[0] == first_warm
            and all(bounds[0] <= probe <= bounds[1] for probe in probes)
            and len(probes) < 16
        )
    nothing: list[int] = []
    assert index.lookup(BASE, nothing) == (BASE, 0) and nothing == [first_warm, 0]


def test_an_empty_index_is_asked_for_nothing() -> None:
    probes: list[int] = []
    assert offset_index().lookup(BASE + 7, probes) == (BASE, 0) and probes == []
    assert time_index().lookup(7, probes) == (-1, BASE) and probes == []


@settings(max_examples=50, deadline=None)
@given(RISING, st.integers(-2, 250))
def test_law_a_look_up_is_the_last_of_the_rows_that_are_not_above(steps: list[int], asked: int) -> None:
    offsets = [BASE + sum(steps[: number + 1]) for number in range(len(steps))]
    index = offset_index(*((offset, 3 * number) for number, offset in enumerate(offsets)))
    below = [
        OffsetPosition(offset, 3 * number) for number, offset in enumerate(offsets) if offset <= BASE + asked
    ]
    assert index.lookup(BASE + asked) == (below[-1] if below else (BASE, 0))


@settings(max_examples=50, deadline=None)
@given(RISING, st.integers(0, 250))
def test_law_a_cut_leaves_the_rows_below_and_the_next_row_goes_on_from_there(
    steps: list[int], cut: int
) -> None:
    offsets = [BASE + sum(steps[: number + 1]) for number in range(len(steps))]
    folder = MemoryFolder()
    positions, times = (
        offset_index(*((offset, offset) for offset in offsets)),
        time_index(*((offset, offset) for offset in offsets), folder=folder),
    )
    positions.truncate_to(BASE + cut)
    times.truncate_to(BASE + cut)
    kept = [offset for offset in offsets if offset < BASE + cut]
    assert [row for row, _ in positions.rows()] == [offset - BASE for offset in kept]
    assert positions.last_offset == (kept[-1] if kept else BASE)
    assert times.last_entry == ((kept[-1], kept[-1]) if kept else (-1, BASE))
    times.maybe_append(10**6, BASE + cut)
    times.close_for_appends()
    assert [row for row, _ in time_index(folder=folder).rows()] == [*kept, 10**6]


# --- adding


def test_offsets_rise_and_the_base_offset_itself_may_be_the_first() -> None:
    index = offset_index((BASE, 70))
    for offset in (BASE, BASE - 1):
        with pytest.raises(InvariantError):
            index.append(offset, 140)
    assert index.rows() == [(0, 70)]


def test_a_time_that_does_not_rise_is_no_row() -> None:
    index = time_index((100, 1_003), (100, 1_009), (90, 1_010))
    assert index.rows() == [(100, 3)] and index.last_entry == TimestampOffset(100, 1_003)
    with pytest.raises(InvariantError):
        index.maybe_append(200, 1_002)


def test_the_time_index_keeps_one_row_free_for_the_end_of_its_segment() -> None:
    index = time_index((1, BASE), (2, BASE), bytes_max=3 * 12)
    assert index.is_full
    with pytest.raises(InvariantError):
        index.maybe_append(3, BASE)
    index.maybe_append(3, BASE, at_close=True)
    assert index.row_count == 3


@pytest.mark.parametrize(("bytes_max", "rows"), [(24, 3), (31, 3), (32, 4)])
def test_an_offset_index_is_full_with_as_many_rows_as_there_is_room_for(bytes_max: int, rows: int) -> None:
    index = offset_index(bytes_max=bytes_max)
    for number in range(rows):
        assert not index.is_full
        index.append(BASE + number, number)
    assert index.is_full
    index.truncate_to(BASE + 1)
    assert not index.is_full, "a cut makes room again"


# --- the file


def test_rows_reach_the_file_a_page_at_a_time_and_count_at_once() -> None:
    folder = MemoryFolder()
    index = offset_index(*((BASE + number, number) for number in range(ROWS_A_WRITE - 1)), folder=folder)
    assert folder.files[NAME].size == 0 and index.lookup(BASE + 5) == (BASE + 5, 5)
    index.append(BASE + ROWS_A_WRITE, 9_999)
    assert folder.files[NAME].size == 8 * ROWS_A_WRITE
    index.append(BASE + ROWS_A_WRITE + 1, 10_000)
    index.close_for_appends()
    assert folder.files[NAME].size == 8 * (ROWS_A_WRITE + 1) and index.last_row() == (
        ROWS_A_WRITE + 1,
        10_000,
    )


def test_a_closed_index_takes_rows_again_when_its_segment_is_opened() -> None:
    folder = MemoryFolder()
    offset_index((BASE + 1, 70), folder=folder).close_for_appends()
    again = offset_index(folder=folder)
    again.append(BASE + 2, 140)
    assert again.rows() == [(1, 70), (2, 140)] and again.last_offset == BASE + 2


def test_on_a_full_disk_a_row_counts_and_the_flush_says_so() -> None:
    folder = MemoryFolder(bytes_max=8 * ROWS_A_WRITE - 1)
    index = offset_index(*((BASE + number, number) for number in range(ROWS_A_WRITE)), folder=folder)
    assert index.row_count == ROWS_A_WRITE and folder.files[NAME].size == 0, "no torn row is left in the file"
    with pytest.raises(StorageFull):
        index.write_out()
    folder.bytes_max = None
    index.write_out()
    assert folder.files[NAME].size == 8 * ROWS_A_WRITE


def test_a_cut_of_rows_that_are_not_in_the_file_leaves_those_that_are() -> None:
    folder = MemoryFolder()
    index = offset_index((BASE + 1, 10), (BASE + 2, 20), folder=folder)
    index.write_out()
    index.append(BASE + 3, 30)
    index.truncate_to(BASE + 3)
    assert folder.files[NAME].size == 16
    index.truncate_to(BASE + 2)
    assert folder.files[NAME].size == 8 and index.rows() == [(1, 10)]


# --- what cannot be an index


@pytest.mark.parametrize(
    ("rows", "log_size", "is_sound"),
    [
        ([], 0, True),
        ([(0, 5)], 6, True),
        ([(0, 5)], 5, False),
        ([(1, 5), (2, 9)], 100, True),
        ([(2, 5), (2, 9)], 100, False),
        ([(2, 5), (1, 9)], 100, False),
        ([(1, 9), (2, 9)], 100, False),
        ([(-1, 5)], 100, False),
        ([(1, -5)], 100, False),
        ([(0, 0), (0, 0)], 100, False),  # the zeros that a crash may leave
    ],
)
def test_which_rows_can_be_an_offset_index(
    rows: list[tuple[int, int]], log_size: int, is_sound: bool
) -> None:
    folder = MemoryFolder()
    folder.replace(NAME, b"".join(struct.pack(">ii", *row) for row in rows))
    index = offset_index(folder=folder)
    if is_sound:
        index.check(log_size)
    else:
        with pytest.raises(CorruptIndex):
            index.check(log_size)


@pytest.mark.parametrize(
    ("rows", "is_sound"),
    [
        ([], True),
        ([(7, 0)], True),
        ([(7, 1), (8, 1)], True),
        ([(7, 1), (7, 2)], False),
        ([(8, 1), (7, 2)], False),
        ([(7, 2), (8, 1)], False),
        ([(-1, 0)], False),
        ([(7, -1)], False),
    ],
)
def test_which_rows_can_be_a_time_index(rows: list[tuple[int, int]], is_sound: bool) -> None:
    folder = MemoryFolder()
    folder.replace(NAME, b"".join(struct.pack(">qi", *row) for row in rows))
    index = time_index(folder=folder)
    if is_sound:
        index.check()
    else:
        with pytest.raises(CorruptIndex):
            index.check()


@pytest.mark.parametrize("size", [1, 7, 9, 23])
def test_a_torn_last_row_is_not_read_and_is_told(size: int) -> None:
    folder = MemoryFolder()
    folder.replace(NAME, bytes(range(1, size + 1)))
    index = offset_index(folder=folder)
    assert index.row_count == size // 8
    with pytest.raises(CorruptIndex, match="not whole rows"):
        index.check(1 << 40)
