"""The book of open windows: what a window's row is made of, and that nothing of it depends on which batches
came before a restart."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pipeline.live_windows import STATES_KEPT, WindowBook

SECOND = 1_000_000
NEVER_LATE = (0, -1)


def group(start, partition=0, lane="t", **figures):
    """A partition's group of a window, as Spark tells it of a log."""
    return {
        "start_us": start,
        "lane": lane,
        "partition": partition,
        "records": 0,
        "lag": None,
        "skew": None,
        "hw_lag": None,
        "stopped_us": None,
        "end_offset": 0,
        "damaged": 0,
    } | figures


def lane(start, lane="kafka", **figures):
    """A lane's window as a whole, as Spark tells it of a lab."""
    return {
        "start_us": start,
        "lane": lane,
        "partition": -1,
        "records": 20,
        "lag": 7,
        "skew": 1.5,
        "hw_lag": None,
        "stopped_us": None,
        "end_offset": None,
    } | figures


def book(path, window_us=SECOND, kept_us=10 * SECOND):
    return WindowBook(path, window_us, kept_us)


def merged(path, groups, late=NEVER_LATE, marks=None, batch=0, **options):
    return book(path, **options).merge(batch, groups, late, marks or {})


# -- a lab's window ------------------------------------------------------------------------------------------


def test_a_lanes_window_has_the_lanes_own_figures_and_its_cost_in_partition_seconds(tmp_path):
    (row,) = merged(tmp_path, [lane(3 * SECOND, stopped_us=36_500_000, hw_lag=2)])
    assert row == {
        "start_us": 3 * SECOND,
        "end_us": 4 * SECOND,
        "lane": "kafka",
        "throughput": 20.0,
        "lag": 7,
        "skew": 1.5,
        "hw_lag": 2,
        "rebalance_cost": 36.5,
        "late": 0,
        "damaged": 0,
    }


def test_a_lane_in_which_nothing_paused_cost_nothing_and_not_an_unknown_amount(tmp_path):
    (row,) = merged(tmp_path, [lane(0)])
    assert row["rebalance_cost"] == 0.0


def test_throughput_is_a_rate_whatever_the_windows_length(tmp_path):
    (row,) = merged(tmp_path, [lane(0, records=30)], window_us=5 * SECOND)
    assert (row["throughput"], row["end_us"]) == (6.0, 5 * SECOND)
    (row,) = merged(tmp_path / "none", [lane(0, records=None, lag=None, skew=None)])
    assert row["throughput"] == 0.0, "a change without a record in that second"


# -- a log's window ------------------------------------------------------------------------------------------


def test_skew_of_a_log_is_the_busiest_partition_over_the_mean_of_all(tmp_path):
    (row,) = merged(tmp_path, [group(0, 0, records=6), group(0, 1, records=2)])
    assert row["skew"] == 1.5
    assert (row["lag"], row["rebalance_cost"]) == (None, None), "a log has no consumers"


def test_partitions_that_had_nothing_in_a_window_count_in_its_mean_where_the_log_tells_of_them(tmp_path):
    """One of four partitions had everything: it is at four times the mean, not at one."""
    marks = {("t", number): 9 for number in range(4)} | {("another", 0): 9}
    (row,) = merged(tmp_path, [group(0, 2, records=8)], marks=marks)
    assert row["skew"] == 4.0
    (row,) = merged(
        tmp_path / "more", [group(0, number, records=1) for number in range(3)], marks={("t", 0): 1}
    )
    assert row["skew"] == 1.0, "marks that are older than the newest partitions"


def test_a_window_of_damaged_batches_alone_has_no_skew(tmp_path):
    (row,) = merged(tmp_path, [group(0, records=0, damaged=3)])
    assert (row["throughput"], row["skew"], row["damaged"]) == (0.0, None, 3)


def test_what_is_behind_the_high_watermark_is_summed_over_partitions_and_never_below_zero(tmp_path):
    groups = [
        group(0, 0, records=1, end_offset=12),
        group(0, 1, records=1, end_offset=5),
        group(0, 2, records=1, end_offset=99),
    ]
    (row,) = merged(tmp_path, groups, marks={("t", 0): 10, ("t", 1): 8})
    assert row["hw_lag"] == 2, "partition 1's mark is ahead of the window, partition 2 has none"
    (row,) = merged(tmp_path / "none", groups, marks={("another", 0): 10})
    assert row["hw_lag"] is None, "a log that tells no mark of the topic"


# -- from batch to batch -------------------------------------------------------------------------------------


def test_rows_come_by_start_and_then_by_lane_and_only_of_windows_that_changed(tmp_path):
    windows = book(tmp_path)
    windows.merge(0, [lane(0), lane(0, "pulsar"), lane(SECOND)], NEVER_LATE, {})
    rows = windows.merge(1, [lane(SECOND, "pulsar"), lane(SECOND), lane(0, "tubemq")], NEVER_LATE, {})
    assert [(row["start_us"], row["lane"]) for row in rows] == [
        (0, "tubemq"),
        (SECOND, "kafka"),
        (SECOND, "pulsar"),
    ]


def test_a_partition_that_comes_again_replaces_its_group_and_the_others_stay(tmp_path):
    windows = book(tmp_path)
    windows.merge(0, [group(0, 0, records=4), group(0, 1, records=4)], NEVER_LATE, {})
    (row,) = windows.merge(1, [group(0, 0, records=8)], NEVER_LATE, {})
    assert (row["throughput"], row["skew"]) == (12.0, pytest.approx(8 / 6))


def test_damaged_batches_are_counted_once_though_their_window_is_told_again(tmp_path):
    windows = book(tmp_path)
    told = [
        windows.merge(batch, [group(0, records=4, damaged=damaged)], NEVER_LATE, {})[0]["damaged"]
        for batch, damaged in enumerate((1, 1, 3))
    ]
    (other,) = windows.merge(3, [group(SECOND, 1, records=1, damaged=1)], NEVER_LATE, {})
    assert (told, other["damaged"]) == ([1, 1, 3], 4)


def test_late_rows_are_added_up_batch_by_batch_and_no_batch_counts_twice(tmp_path):
    """Spark tells of the last finished batch, and tells it again until another one is finished."""
    windows = book(tmp_path)
    told = []
    for batch, late in enumerate([(0, -1), (3, 0), (3, 0), (2, 2), (7, 1)]):
        told.append(windows.merge(batch, [lane(batch * SECOND)], late, {})[0]["late"])
    assert told == [0, 3, 3, 5, 5]


def test_a_batch_without_groups_tells_nothing_and_keeps_the_state(tmp_path):
    windows = book(tmp_path)
    windows.merge(0, [lane(0)], (2, 5), {})
    assert windows.merge(1, [], NEVER_LATE, {}) == []
    assert windows.merge(2, [lane(0)], NEVER_LATE, {})[0]["late"] == 2


def test_a_window_is_kept_as_long_as_it_can_change_and_not_a_second_longer(tmp_path):
    windows = book(tmp_path, kept_us=2 * SECOND)
    windows.merge(0, [group(0, 0, records=4), group(SECOND, 0, records=4)], NEVER_LATE, {})
    windows.merge(1, [group(3 * SECOND, 0, records=1)], NEVER_LATE, {})
    (first, second) = windows.merge(2, [group(0, 1, records=2), group(SECOND, 1, records=2)], NEVER_LATE, {})
    assert (first["throughput"], second["throughput"]) == (2.0, 6.0), (
        "the first window's other partition is forgotten, the second's is not"
    )


# -- restarts ------------------------------------------------------------------------------------------------


def test_a_state_that_a_power_cut_left_half_written_is_passed_over(tmp_path):
    windows = book(tmp_path)
    windows.merge(0, [group(0, 0, records=4)], (1, 0), {})
    windows.merge(1, [group(0, 1, records=4)], (1, 0), {})
    half = (tmp_path / "1.json").read_text()[:-9]
    (tmp_path / "1.json").write_text(half)
    (row,) = book(tmp_path).merge(2, [group(0, 2, records=4)], NEVER_LATE, {})
    assert (row["throughput"], row["late"]) == (8.0, 1)


def test_states_are_put_in_place_in_one_step_and_few_are_kept(tmp_path):
    windows = book(tmp_path)
    for batch in range(3 * STATES_KEPT):
        windows.merge(batch, [lane(batch * SECOND)], NEVER_LATE, {})
    names = sorted(int(file.stem) for file in tmp_path.iterdir())
    assert names == list(range(2 * STATES_KEPT, 3 * STATES_KEPT)), "and nothing half written lies beside them"


def test_a_batch_that_is_done_again_begins_at_the_state_before_it(tmp_path):
    windows = book(tmp_path)
    windows.merge(0, [group(0, 0, records=4, damaged=1)], NEVER_LATE, {})
    first = windows.merge(1, [group(0, 0, records=5, damaged=2), group(0, 1, records=1)], (4, 0), {})
    windows.merge(2, [group(0, 0, records=50, damaged=9)], (8, 1), {})
    again = book(tmp_path).merge(1, [group(0, 0, records=5, damaged=2), group(0, 1, records=1)], (4, 0), {})
    assert again == first
    (row,) = book(tmp_path).merge(1, [group(0, 0, records=5)], NEVER_LATE, {})
    assert row["throughput"] == 5.0, "what an earlier try of the same batch had is not in it"


GROUPS = st.lists(
    st.builds(
        lambda second, partition, records, damaged: group(
            second * SECOND, partition, records=records, end_offset=records, damaged=damaged
        ),
        st.integers(0, 6),
        st.integers(0, 3),
        st.integers(0, 50),
        st.integers(0, 2),
    ),
    max_size=4,
)


@settings(max_examples=30, deadline=None)
@given(st.lists(GROUPS, min_size=1, max_size=6), st.data())
def test_a_study_that_is_restarted_between_any_two_batches_tells_the_same(tmp_path_factory, batches, data):
    """Law: a new book on the same folder goes on as the old one would."""
    once = book(tmp_path_factory.mktemp("once"))
    folder = tmp_path_factory.mktemp("again")
    restarts = data.draw(st.sets(st.integers(0, len(batches) - 1)))
    again = book(folder)
    for batch, groups in enumerate(batches):
        if batch in restarts:
            again = book(folder)
        late = (batch, batch - 1)
        assert again.merge(batch, groups, late, {("t", 0): 9}) == once.merge(
            batch, groups, late, {("t", 0): 9}
        )


def test_the_state_is_json_that_another_process_can_read(tmp_path):
    book(tmp_path).merge(4, [group(0, records=4)], (1, 2), {})
    state = json.loads((tmp_path / "4.json").read_text())
    assert (state["late"], state["late_batch"], list(state["windows"])) == (1, 2, ["0/t"])
