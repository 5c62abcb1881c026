"""A disk that is slow, full or lost."""

from hypothesis import given
from hypothesis import strategies as st

from broker_core.sim.disk import FULL, LOST, Disk


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 50)), max_size=30))
def test_writes_are_done_one_after_another(writes):
    disk, now, last = Disk(write_us=5, byte_ns=1_000), 0, 0
    for size, later in writes:
        now += later
        done = disk.write(size, now)
        assert done == max(last, now) + 5 + size
        last = done


def test_full_disk_takes_nothing_and_has_room_again_when_files_go():
    disk = Disk(capacity_bytes=10)
    assert disk.write(8, 0) == 0
    assert disk.write(3, 0) == FULL
    disk.free(8)
    assert disk.write(10, 4) == 4


def test_lost_disk_refuses_until_it_is_replaced():
    disk = Disk(capacity_bytes=10)
    disk.write(5, 0)
    disk.lose()
    assert disk.write(1, 1) == LOST
    disk.replace()
    assert (disk.write(10, 1), disk.used_bytes) == (1, 10)


def test_slow_disk_takes_its_time_for_the_write_and_for_each_byte():
    disk = Disk(write_us=100, byte_ns=250)
    assert disk.write(7, 1_000) == 1_101, "7 bytes are 1,750 ns, of which whole microseconds count"
    assert disk.write(0, 1_000) == 1_201, "a write of nothing waits its turn, too"
    assert disk.write(8, 5_000) == 5_102, "it was idle meanwhile"


def test_write_that_fits_exactly_is_taken_and_one_byte_more_is_not():
    disk = Disk(capacity_bytes=10)
    assert (disk.write(10, 0), disk.write(0, 0), disk.write(1, 0)) == (0, 0, FULL)


def test_refused_write_costs_no_time_and_no_room():
    disk = Disk(write_us=50, capacity_bytes=10)
    disk.write(4, 0)
    assert disk.write(7, 0) == FULL and (disk.used_bytes, disk.free_us) == (4, 50)
    disk.lose()
    assert disk.write(1, 900) == LOST and disk.free_us == 50
    disk.replace()
    assert disk.write(10, 900) == 950


def test_lost_disk_says_so_even_when_it_was_full():
    disk = Disk(capacity_bytes=1)
    disk.write(1, 0)
    disk.lose()
    assert disk.write(5, 0) == LOST


def test_more_deleted_than_there_was_leaves_an_empty_disk():
    disk = Disk(capacity_bytes=10)
    disk.write(3, 0)
    disk.free(9)
    assert disk.used_bytes == 0 and disk.write(11, 0) == FULL


def test_disk_without_a_limit_is_never_full():
    disk = Disk()
    assert disk.write(1 << 50, 7) == 7 and disk.used_bytes == 1 << 50


@given(
    st.lists(st.tuples(st.sampled_from(("write", "free")), st.integers(0, 40)), max_size=40),
    st.integers(0, 100),
)
def test_room_taken_is_never_more_than_there_is_and_a_refusal_changes_nothing(steps, capacity):
    disk, used = Disk(capacity_bytes=capacity), 0
    for what, size in steps:
        if what == "free":
            disk.free(size)
            used = max(0, used - size)
        elif used + size <= capacity:
            assert disk.write(size, 0) == 0
            used += size
        else:
            assert disk.write(size, 0) == FULL
        assert disk.used_bytes == used <= capacity
