"""The messages of a partition that may still be read, and what a broker gives out of them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.plain import from_plain, to_plain
from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Consumed, Partition
from broker_core.tubemq.client_id import host_of, make_client_id
from broker_core.tubemq.message_log import GONE_AT_ONCE, MessageLog
from tests.core.playbook import Played, play

KEY = "1:orders:0"
SIZE = 100
"""Of a message, with its header."""
NUMBERS = st.lists(st.integers(0, 10**12), max_size=200).map(sorted)


@given(NUMBERS, st.integers(0, 500), st.lists(st.integers(0, 800), max_size=5))
@settings(max_examples=50)
def test_what_is_forgotten_is_never_more_than_was_allowed_and_the_rest_keeps_its_offsets(
    numbers: list[int], start: int, allowed: list[int]
) -> None:
    log = MessageLog(start, numbers[:], [SIZE] * len(numbers))
    for until in allowed:
        before = log.start
        log.forget(min(until, start + len(numbers)))
        assert log.start in (before, until) or log.start <= start + len(numbers)
        assert log.start <= max(start, *allowed)
        assert log.between(log.start, start + len(numbers)) == numbers[log.start - start :]


@given(NUMBERS, st.integers(0, 500))
@settings(max_examples=50)
def test_kept_log_comes_back_with_its_numbers(numbers: list[int], start: int) -> None:
    sizes = [number % 700 for number in numbers]
    log = MessageLog.from_json(MessageLog(start, numbers[:], sizes).to_json())
    assert (log.start, log.messages, log.sizes) == (start, numbers, sizes)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=40), st.integers(0, 39), st.integers(1, 2_000))
@settings(max_examples=100)
def test_batch_ends_with_the_message_that_reaches_the_limit(
    sizes: list[int], first: int, bytes_max: int
) -> None:
    log = MessageLog(0, list(range(len(sizes))), sizes)
    first = min(first, len(sizes) - 1)
    stop = log.batch_end(first, len(sizes), bytes_max)
    assert stop > first and sum(sizes[first : stop - 1]) < bytes_max, (
        "one message at least, and none too many"
    )
    assert stop == len(sizes) or sum(sizes[first:stop]) >= bytes_max, "and none too few"


def test_few_that_nobody_reads_any_more_stay_until_there_are_many() -> None:
    log = MessageLog(10, list(range(100)), [SIZE] * 100)
    log.forget(10 + GONE_AT_ONCE - 1)
    assert log.start == 10
    log.forget(10 + GONE_AT_ONCE)
    assert (log.start, log.messages[0], log.between(80, 82)) == (74, 64, [70, 71])


def placed(**offsets: int) -> tuple[Broker, Played]:
    """A partition of 200 messages; groups at these offsets, each with its own owner, in batches of 50."""
    groups = {name: Consumed(offset, owner=name, deadline_us=10**9) for name, offset in offsets.items()}
    node = Broker(
        BrokerState(
            1,
            {KEY: Partition(200, groups, MessageLog(0, list(range(1_000, 1_200)), [SIZE] * 200))},
            transfer_bytes_max=50 * SIZE,
        )
    )
    return node, Played("broker")


def read_and_confirm(node: Broker, out: Played, group: str) -> list[int]:
    (_, answer), _ = play(
        node,
        out,
        1,
        r.GetMessageRequestC2B(group, group, KEY),
        r.CommitOffsetRequestC2B(group, group, KEY, True),
    )
    messages: list[int] = answer.messages
    return messages


def test_slowest_group_decides_what_is_forgotten() -> None:
    node, out = placed(fast=100, slow=0)
    read_and_confirm(node, out, "fast")
    log = node.state.partitions[KEY].log
    assert log.start == 0, "the slow group may still read it all"
    assert read_and_confirm(node, out, "slow") == list(range(1_000, 1_050))
    assert log.start == 0, "50 are too few"
    read_and_confirm(node, out, "slow")
    assert log.start == 100 and read_and_confirm(node, out, "slow") == list(range(1_100, 1_150))


def test_batch_that_is_not_confirmed_keeps_its_messages() -> None:
    node, out = placed(a=0)
    for _ in range(3):
        play(
            node,
            out,
            1,
            r.GetMessageRequestC2B("a", "a", KEY),
            r.CommitOffsetRequestC2B("a", "a", KEY, False),
        )
    assert node.state.partitions[KEY].log.start == 0 and node.state.read_again == 100


def test_messages_handed_out_again_are_counted_where_a_batch_overlaps() -> None:
    node, out = placed(a=0)
    play(node, out, 1, r.GetMessageRequestC2B("a", "a", KEY))
    node.state.partitions[KEY].groups[
        "a"
    ].offset = 20  # confirmed in part, as by an owner that gives an offset of its own
    play(node, out, 1, r.GetMessageRequestC2B("a", "a", KEY))
    assert node.state.read_again == 30, "20..49 were out before, 50..69 were not"


def test_last_batch_is_what_is_left_and_then_there_is_nothing_until_more_is_written() -> None:
    node, out = placed(a=180)
    assert read_and_confirm(node, out, "a") == list(range(1_180, 1_200))
    ((_, answer),) = play(node, out, 1, r.GetMessageRequestC2B("a", "a", KEY))
    assert (answer.code, answer.messages, answer.curr_offset, answer.max_offset) == (
        404,
        [],
        200 * r.ENTRY_BYTES,
        200 * r.ENTRY_BYTES,
    )
    play(node, out, 9, r.SendMessageRequestP2B(KEY, 7_000, SIZE))
    assert read_and_confirm(node, out, "a") == [7_000]


def test_newcomers_group_begins_at_the_first_message_and_its_own_place_holds_the_log() -> None:
    node, out = placed(a=150)
    play(node, out, 1, r.RegisterRequestC2B(r.REGISTER, "b", "late", KEY))
    assert read_and_confirm(node, out, "a") == list(range(1_150, 1_200))
    assert node.state.partitions[KEY].log.start == 0
    ((_, answer),) = play(node, out, 1, r.GetMessageRequestC2B("b", "late", KEY))
    assert answer.messages[:2] == [1_000, 1_001]


def test_newcomers_group_begins_where_the_log_does_as_recorded() -> None:
    """Vectors: tubemq/broker_register.json, offset-first: without a stored offset a group starts at the log's
    minimum."""
    node, out = placed(a=100)
    read_and_confirm(node, out, "a")
    assert node.state.partitions[KEY].log.start == 150
    ((_, answer),) = play(node, out, 1, r.RegisterRequestC2B(r.REGISTER, "b", "late", KEY))
    assert (answer.code, answer.curr_offset) == (200, 150 * r.ENTRY_BYTES)
    assert read_and_confirm(node, out, "a") == list(range(1_150, 1_200))
    (_, batch), _ = play(
        node,
        out,
        1,
        r.GetMessageRequestC2B("b", "late", KEY),
        r.CommitOffsetRequestC2B("b", "late", KEY, True),
    )
    assert batch.messages == list(range(1_150, 1_200)) and node.state.read_again == 0


def test_broker_restored_in_the_middle_of_a_batch_gives_it_again() -> None:
    node, out = placed(a=0)
    ((_, first),) = play(node, out, 1, r.GetMessageRequestC2B("a", "a", KEY))
    twin = Broker(from_plain(to_plain(node.state), BrokerState))
    ((_, again),) = play(twin, Played("broker"), 1, r.GetMessageRequestC2B("a", "a", KEY))
    assert again.messages == first.messages and twin.state.read_again == 50


@given(st.text(min_size=1, max_size=8), st.integers(1, 10**6))
@settings(max_examples=50)
def test_a_host_is_found_in_each_of_its_processes_ids(host: str, start: int) -> None:
    assert host_of(make_client_id(host, start)) == host
