"""Laws of the ways to share out partitions beside the modulo."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.tubemq.assigners import ASSIGNERS

KEYS = st.lists(st.integers(0, 60).map(lambda number: f"1:t:{number}"), unique=True, max_size=40)
MEMBERS = st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1)


@pytest.mark.parametrize("rule", ASSIGNERS)
@given(members=MEMBERS, keys=KEYS, data=st.data())
def test_each_partition_has_one_taker(
    rule: str, members: list[str], keys: list[str], data: st.DataObject
) -> None:
    previous = {key: data.draw(st.sampled_from("abcxyz")) for key in keys}
    lags = {key: data.draw(st.integers(0, 9)) for key in keys}
    shares = ASSIGNERS[rule](members, keys, previous, lags)
    assert list(shares) == members and sorted(key for share in shares.values() for key in share) == sorted(
        keys
    )
    assert all(share == sorted(share, key=keys.index) for share in shares.values())
    assert ASSIGNERS[rule]([], keys, previous, lags) == {}


@given(members=MEMBERS, keys=KEYS, data=st.data())
def test_sticky_is_level_and_moves_no_more_than_it_must(
    members: list[str], keys: list[str], data: st.DataObject
) -> None:
    previous = {key: data.draw(st.sampled_from("abcxyz")) for key in keys}
    shares = ASSIGNERS["sticky"](members, keys, previous, {})
    counts = [len(share) for share in shares.values()]
    assert max(counts) - min(counts) <= 1
    kept = sum(previous[key] == member for member, share in shares.items() for key in share)
    had = sorted((sum(owner == member for owner in previous.values()) for member in members), reverse=True)
    each, rest = divmod(len(keys), len(members))
    assert kept == sum(min(count, each + (place < rest)) for place, count in enumerate(had))


@given(members=MEMBERS, keys=KEYS)
def test_sticky_moves_nothing_while_nothing_changes(members: list[str], keys: list[str]) -> None:
    shares = ASSIGNERS["sticky"](members, keys, {}, {})
    previous = {key: member for member, share in shares.items() for key in share}
    assert ASSIGNERS["sticky"](members, keys, previous, {}) == shares


@given(members=MEMBERS, keys=KEYS, data=st.data())
def test_by_lag_levels_the_number_of_partitions_with_those_that_are_empty(
    members: list[str], keys: list[str], data: st.DataObject
) -> None:
    late = keys[: data.draw(st.integers(0, len(members)))]
    shares = ASSIGNERS["by_lag"](members, keys, {}, {key: data.draw(st.integers(1, 99)) for key in late})
    counts = [len(share) for share in shares.values()]
    assert max(counts) - min(counts) <= 1


@given(members=MEMBERS, keys=KEYS, data=st.data())
def test_by_lag_gives_nobody_more_than_the_least_and_one_partition(
    members: list[str], keys: list[str], data: st.DataObject
) -> None:
    lags = {key: data.draw(st.integers(0, 99)) for key in keys}
    shares = ASSIGNERS["by_lag"](members, keys, {}, lags)
    waiting = [sum(lags[key] for key in share) for share in shares.values()]
    assert max(waiting) - min(waiting) <= max(lags.values(), default=0)
