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
