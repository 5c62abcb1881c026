"""The status of a partition by each of its rules, and a window's laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.kafka.group.lag import (
    ERROR,
    OK,
    WARNING,
    WINDOW,
    Commit,
    Status,
    lag_of,
    lags_of,
    note_commit,
    status_of,
)


def window(*rows: tuple[int, int, int]) -> list[Commit]:
    return [Commit(second * 1_000, offset, lag) for second, offset, lag in rows]


@pytest.mark.parametrize(("rows", "lag_now", "now_s", "expected"), [
    ([], 9, 100, Status(OK, "young")),
    ([(0, 5, 3), (5, 6, 3)], 3, 6, Status(OK, "young")),
    ([(0, 5, 3), (5, 5, 3), (10, 5, 3)], 0, 100, Status(OK, "no_lag")),
    ([(0, 5, 3), (5, 6, 3), (10, 7, 3)], 3, 21, Status(ERROR, "stopped")),
    ([(0, 5, 0), (5, 6, 0), (10, 7, 0)], 3, 21, Status(ERROR, "stopped")),
    ([(0, 5, 3), (5, 6, 0), (10, 7, 3)], 3, 20, Status(OK, "caught_up")),
    ([(0, 5, 3), (5, 4, 4), (10, 7, 3)], 3, 11, Status(ERROR, "rewound")),
    ([(0, 5, 3), (5, 5, 4), (10, 5, 9)], 9, 11, Status(ERROR, "stalled")),
    ([(0, 5, 3), (5, 6, 3), (10, 7, 9)], 9, 11, Status(WARNING, "falling")),
    ([(0, 5, 3), (5, 6, 9), (10, 7, 8)], 8, 11, Status(OK, "moving")),
])  # fmt: skip
def test_each_rule_decides_its_case(rows, lag_now, now_s, expected):
    assert status_of(window(*rows), lag_now, now_s * 1_000) == expected


@given(st.lists(st.tuples(st.integers(0, 60_000), st.integers(0, 50), st.integers(0, 9)), max_size=40))
def test_a_window_keeps_the_newest_commits_one_a_second(rows):
    kept: list[Commit] = []
    for row in sorted(rows):
        note_commit(kept, Commit(*row))
    seconds = [commit.at_ms // 1_000 for commit in kept]
    assert seconds == sorted(set(seconds)) and len(kept) <= WINDOW
    if rows:
        assert (
            kept[-1].at_ms == max(rows)[0] and seconds == sorted({at // 1_000 for at, _, _ in rows})[-WINDOW:]
        )


@given(
    st.lists(st.tuples(st.integers(0, 99), st.none() | st.integers(0, 99), st.integers(0, 99)), max_size=9)
)
def test_many_lags_are_those_of_each(rows):
    ends, committed, starts = zip(*rows, strict=True) if rows else ((), (), ())
    assert lags_of(ends, committed, starts) == [lag_of(*row) for row in rows]
