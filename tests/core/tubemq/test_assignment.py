"""The modulo rule's laws, and what one pass of the assigner does."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.tubemq.assignment import (
    Call,
    Connect,
    Disconnect,
    assigner_pass,
    is_owned,
    node_of,
    owned_by,
    planned_calls,
)

KEYS = st.sets(
    st.builds("{}:{}:{}".format, st.integers(0, 40), st.text(max_size=6), st.integers(0, 30_003)), max_size=40
)


@given(KEYS, st.integers(1, 20))
def test_the_nodes_share_all_keys_and_no_key_twice(keys: set[str], source_count: int) -> None:
    shares = [owned_by(keys, source_count, node) for node in range(source_count)]
    assert sorted(key for share in shares for key in share) == sorted(keys)
    assert all(node_of(key, source_count) == node for node, share in enumerate(shares) for key in share)


@given(KEYS, KEYS, st.integers(1, 20))
def test_more_partitions_move_none_of_the_old_ones(keys: set[str], more: set[str], source_count: int) -> None:
    for node in range(source_count):
        assert set(owned_by(keys, source_count, node)) <= set(owned_by(keys | more, source_count, node))


def test_a_count_that_is_switched_off_gives_nobody_anything() -> None:
    assert owned_by([f"1:t:{number}" for number in range(50)], -2, -2) == []


def test_a_count_of_zero_is_refused() -> None:
    with pytest.raises(CommandError, match="source_count"):
        is_owned("1:t:0", 0, 0)
    with pytest.raises(CommandError, match="source_count"):
        node_of("1:t:0", -1)


def one_pass(
    status: dict[str, bool],
    registered: list[str],
    codes: Mapping[Call, int] = MappingProxyType({}),
    saved_offsets: Mapping[str, int] = MappingProxyType({}),
) -> list[tuple[Call, int]]:
    """Node 0 of 1, which owns everything that is configured."""
    calls = assigner_pass(
        status,
        registered,
        source_count=1,
        node_id=0,
        saved_offsets=saved_offsets,
        call=lambda call: codes.get(call, 200),
    )
    return list(calls)


def test_a_key_that_is_not_subscribable_is_released_and_comes_back_later() -> None:
    assert one_pass({"1:t:0": False}, ["1:t:0"]) == [(Disconnect("1:t:0"), 200)]
    assert one_pass({"1:t:0": True}, []) == [(Connect("1:t:0", -1), 200)]


def test_a_key_gone_from_the_metadata_is_released() -> None:
    assert one_pass({"1:t:0": True}, ["1:t:0", "9:gone:0"]) == [(Disconnect("9:gone:0"), 200)]


def test_an_empty_answer_changes_nothing() -> None:
    assert one_pass({}, ["1:t:0"]) == []


def test_a_saved_offset_goes_with_the_connect() -> None:
    assert one_pass({"1:t:0": True}, [], saved_offsets={"1:t:0": 560}) == [(Connect("1:t:0", 560), 200)]


def test_a_refused_connect_does_not_stop_the_others() -> None:
    calls = one_pass({"1:t:0": True, "1:t:1": True}, [], {Connect("1:t:0", -1): 410})
    assert calls == [(Connect("1:t:0", -1), 410), (Connect("1:t:1", -1), 200)]


def test_a_client_shut_down_ends_only_the_loop_it_is_met_in() -> None:
    status = {"1:t:0": False, "1:t:1": True, "1:t:2": True}
    calls = one_pass(status, ["1:t:0", "1:t:1"], {Disconnect("1:t:0"): 420, Connect("1:t:1", -1): 420})
    assert calls == [(Disconnect("1:t:0"), 420), (Connect("1:t:1", -1), 420)]


# -- what a pass plans ---------------------------------------------------------------------------------------


def planned(
    status: dict[str, bool], registered: list[str], source_count: int = 1, node_id: int = 0
) -> list[Call]:
    return planned_calls(status, registered, source_count=source_count, node_id=node_id, saved_offsets={})


@given(KEYS, st.sets(st.integers(0, 39)), st.integers(1, 6), st.data())
@settings(max_examples=30)
def test_after_its_calls_a_client_has_what_is_its_own_and_subscribable_and_the_next_pass_has_none(
    keys: set[str], offline: set[int], source_count: int, data: st.DataObject
) -> None:
    status = {key: place not in offline for place, key in enumerate(sorted(keys))}
    node_id = data.draw(st.integers(0, source_count - 1))
    held = data.draw(st.sets(st.sampled_from(sorted(keys)))) if keys else set()
    after = set(held)
    for call in planned(status, sorted(held), source_count, node_id):
        assert (call.key in after) is isinstance(call, Disconnect), "nothing is released or connected twice"
        after ^= {call.key}
    own = {key for key in owned_by(keys, source_count, node_id) if status[key]}
    assert after == (own if status else held)
    assert planned(status, sorted(after), source_count, node_id) == []


def test_calls_are_sorted_by_utf_16_units_releases_first() -> None:
    # Below U+FFEE by its first unit, above it as a code point.
    keys = ["1:\uffee:0", "1:\U0001f600:0"]
    assert [call.key for call in planned(dict.fromkeys(keys, True), [])] == keys[::-1]
    assert [call.key for call in planned(dict.fromkeys(keys, False), keys)] == keys[::-1]


@pytest.mark.parametrize("registered", [[], ["1:t:0"], ["1:t:0", "9:gone:0"]])
def test_empty_metadata_is_no_answer_yet(registered: list[str]) -> None:
    assert planned({}, registered) == []


def test_a_changed_source_count_moves_most_keys_and_a_node_without_any_releases_all() -> None:
    keys = [f"1:orders:{number}" for number in range(60)]
    two, three = owned_by(keys, 2, 0), owned_by(keys, 3, 0)
    calls = planned(dict.fromkeys(keys, True), two, 3, 0)
    assert (
        len([call for call in calls if isinstance(call, Disconnect)])
        == len(set(two) - set(three))
        > len(two) // 2
    )
    assert planned(dict.fromkeys(keys, True), two, 3, 7) == [Disconnect(key) for key in two], (
        "a node id beyond the count owns nothing"
    )
