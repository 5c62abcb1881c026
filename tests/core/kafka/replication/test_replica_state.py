"""What a leader knows of one follower: by each of its fetches it was caught up now, when it fetched before,
or as long ago as it was."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.replication.replica_state import ReplicaState

LAG_MS = 30_000
EPOCH = 7


def fetched(state: ReplicaState, offset: int, at_ms: int, leader_end: int) -> ReplicaState:
    state.fetched(offset, 0, at_ms, leader_end, EPOCH)
    return state


def after(*fetches: tuple[int, int, int]) -> ReplicaState:
    """A follower after these fetches: (offset, when, the leader's end then)."""
    state = ReplicaState()
    for fetch in fetches:
        fetched(state, *fetch)
    return state


@pytest.mark.parametrize(
    ("fetches", "caught_up_ms"),
    [
        ([(5, 10, 5)], 10),
        ([(6, 10, 5)], 10),  # beyond: a leader that was cut
        ([(4, 10, 5)], None),
        ([(4, 10, 5), (5, 20, 9)], 10),  # it reached the end of its fetch before, and had it when that came
        ([(4, 10, 5), (4, 20, 9)], None),
        ([(5, 10, 5), (5, 20, 9)], 10),
        ([(5, 10, 5), (6, 20, 9), (9, 30, 12)], 20),
        ([(5, 10, 5), (6, 20, 9), (8, 30, 12)], 10),
        ([(5, 10, 5), (5, 20, 5)], 20),
    ],
)
def test_when_a_follower_was_caught_up(fetches: list[tuple[int, int, int]], caught_up_ms: int | None) -> None:
    assert after(*fetches).last_caught_up_ms == caught_up_ms


def test_a_fetch_that_comes_late_takes_nothing_back() -> None:
    """The broker's clock may jump: who was caught up at 20 was so."""
    state = after((5, 20, 5), (5, 12, 5))
    assert (state.last_caught_up_ms, state.last_fetch_ms) == (20, 12)
    fetched(state, 3, 30, 9)
    fetched(state, 9, 40, 12)
    assert state.last_caught_up_ms == 30


def test_the_leaders_end_that_counts_is_the_highest_that_a_fetch_met() -> None:
    """A leader whose log was cut: who asks for its new end has not had the old one for that."""
    state = after((3, 10, 9), (4, 20, 5), (6, 30, 8))
    assert (state.last_fetch_leader_end_offset, state.last_caught_up_ms) == (9, None)


@pytest.mark.parametrize(
    ("end", "now_ms", "is_caught_up"),
    [(5, 10**9, True), (6, 10 + LAG_MS, True), (6, 11 + LAG_MS, False), (4, 11 + LAG_MS, False)],
)
def test_at_the_end_it_is_never_late_and_elsewhere_by_when_it_was_caught_up(
    end: int, now_ms: int, is_caught_up: bool
) -> None:
    assert after((5, 10, 5)).is_caught_up(end, now_ms, LAG_MS) is is_caught_up


def test_who_has_never_fetched_is_not_caught_up_even_at_time_0() -> None:
    assert not ReplicaState().is_caught_up(0, 0, LAG_MS)


# --- the rule from before 0.9


@pytest.mark.parametrize(
    ("end", "now_ms", "is_out"),
    [(9, 10, False), (10, 10, True), (5, 10 + LAG_MS, False), (5, 11 + LAG_MS, True)],
)
def test_the_old_rule_counts_messages_and_silence(end: int, now_ms: int, is_out: bool) -> None:
    assert after((5, 10, 5)).is_stuck_or_slow(end, now_ms, LAG_MS, 4) is is_out


def test_under_the_old_rule_a_member_of_a_new_leader_has_its_time_before_it_has_fetched() -> None:
    state = ReplicaState()
    state.reset(100, 8, is_new_leader=True, is_in_sync=True)
    assert not state.is_stuck_or_slow(8, 100 + LAG_MS, LAG_MS, 4), "its log end is not known: it is not slow"
    assert state.is_stuck_or_slow(8, 101 + LAG_MS, LAG_MS, 4)
    assert ReplicaState().is_stuck_or_slow(0, 0, LAG_MS, 4), "nothing was ever heard of this one"


# --- a new epoch


@pytest.mark.parametrize("is_in_sync", [True, False])
def test_a_new_leader_knows_nothing_but_that_members_have_their_time(is_in_sync: bool) -> None:
    state = after((5, 10, 5))
    state.reset(90, 8, is_new_leader=True, is_in_sync=is_in_sync)
    assert state == ReplicaState(-1, -1, -1, None, 90 if is_in_sync else None, None)


@pytest.mark.parametrize("is_in_sync", [True, False])
def test_elected_again_it_keeps_the_offsets_and_counts_from_its_own_end(is_in_sync: bool) -> None:
    state = after((5, 10, 5))
    state.reset(90, 8, is_new_leader=False, is_in_sync=is_in_sync)
    assert state == ReplicaState(0, 5, 8, 90 if is_in_sync else None, 90 if is_in_sync else None, EPOCH)


def test_a_member_that_fetches_the_old_end_of_a_leader_that_was_elected_again_is_caught_up_since_then() -> (
    None
):
    state = after((5, 10, 5))
    state.reset(90, 8, is_new_leader=False, is_in_sync=True)
    fetched(state, 8, 120, 12)
    assert state.last_caught_up_ms == 90


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=12))
def test_law_who_always_asks_for_the_end_of_the_fetch_before_was_caught_up_at_that_fetch(
    steps: list[tuple[int, int]],
) -> None:
    """However much is written meanwhile: it stays in sync for ever, though it never reaches the end."""
    state, now_ms, end = ReplicaState(), 0, 3
    before: tuple[int, int] | None = None
    for written, wait_ms in steps:
        offset = end if before is None else before[1]
        end += written
        now_ms += 1 + wait_ms
        fetched(state, min(offset, end), now_ms, end)
        if before is not None:
            assert state.last_caught_up_ms is not None and state.last_caught_up_ms >= before[0]
        before = now_ms, end
