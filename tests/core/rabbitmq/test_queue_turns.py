"""Whose turn it is when consumers fill up, cancel and come back: one queue played move by move."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.rabbitmq.queues.ready import Positions
from tests.core.rabbitmq.plays import WorkQueue


def queue_with(*positions: int, **prefetch: int) -> WorkQueue:
    """Consumers with these limits, then messages at these positions."""
    queue = WorkQueue()
    for consumer, limit in prefetch.items():
        queue.consume(consumer, limit)
    for position in positions:
        queue.publish(position)
    return queue


def taken(deliveries: list[tuple[str, int, bool]]) -> list[str]:
    """ "c1<5" for each, with "!" where it comes again."""
    return [f"{consumer}<{position}{'!' if again else ''}" for consumer, position, again in deliveries]


# -- the limit -----------------------------------------------------------------------------------------------


def test_consumer_is_passed_over_at_its_turn_and_keeps_that_order_among_the_passed_over() -> None:
    queue = queue_with(0, 1, 2, c1=1, c2=1, c3=1)
    assert queue.turn_order == ["c1", "c2", "c3"] and queue.passed_over == [], (
        "full, but nobody's turn has come"
    )
    assert (
        queue.publish(3) == []
        and queue.passed_over == ["c1", "c2", "c3"]
        and queue.ring == ["c1", "c2", "c3"]
    )
    assert taken(queue.ack("c2", 1)) == ["c2<3"]
    assert (queue.turn_order, queue.passed_over) == (["c2"], ["c1", "c3"])
    queue.ack("c3", 2)
    queue.ack("c1", 0)
    assert queue.turn_order == ["c2", "c3", "c1"]


def test_backlog_goes_message_by_message_to_whoever_acks_and_ends_with_it_in_the_ring() -> None:
    queue = queue_with(*range(6), c1=1, c2=1)
    assert queue.ready == 4
    assert [
        taken(queue.ack(consumer, position))
        for consumer, position in (("c1", 0), ("c1", 2), ("c2", 1), ("c1", 3))
    ] == [
        ["c1<2"],
        ["c1<3"],
        ["c2<4"],
        ["c1<5"],
    ]
    assert (queue.turn_order, queue.passed_over) == (["c1"], ["c2"]), (
        "with the last message nobody's turn passes"
    )
    assert queue.ack("c1", 5) == [] and taken(queue.publish(6)) == ["c1<6"]


def test_ack_of_several_of_a_full_consumer_takes_as_many_again() -> None:
    queue = queue_with(*range(8), c1=3)
    assert [taken(queue.ack("c1", position)) for position in (0, 1, 2)] == [["c1<3"], ["c1<4"], ["c1<5"]]
    assert queue.unacked("c1") == [(3, False), (4, False), (5, False)] and queue.ready == 2


def test_one_without_a_limit_takes_what_the_full_ones_cannot() -> None:
    queue = queue_with(*range(3), c1=1, c2=0)
    assert queue.unacked_count("c1") == 1 and queue.unacked_count("c2") == 2
    assert queue.passed_over == ["c1"] and queue.ready == 0


# -- what comes back -----------------------------------------------------------------------------------------


def test_returned_message_goes_before_those_that_wait_and_stays_marked() -> None:
    queue = queue_with(*range(4), c1=2)
    assert taken(queue.nack("c1", 1)) == ["c1<1!"]
    assert queue.head(9) == [(2, False), (3, False)]
    assert taken(queue.nack("c1", 0, 1)) == ["c1<0!", "c1<1!"]
    assert taken(queue.ack("c1", 0)) == ["c1<2"] and queue.unacked("c1") == [(1, True), (2, False)]


def test_returned_message_goes_to_whose_turn_it_is() -> None:
    queue = queue_with(0, 1, c1=0, c2=0, c3=0)
    assert queue.turn_order == ["c3", "c1", "c2"]
    assert taken(queue.nack("c1", 0)) == ["c3<0!"] and queue.turn_order == ["c1", "c2", "c3"]


def test_nack_makes_room_as_an_ack_does() -> None:
    queue = queue_with(0, 1, 2, c1=1, c2=1)
    assert queue.passed_over == ["c1", "c2"]
    assert taken(queue.nack("c2", 1)) == ["c2<1!"], "alone in the ring, it gets its own back"
    assert queue.head(5) == [(2, False)]


def test_nack_of_nothing_moves_nothing_and_costs_no_place() -> None:
    queue = queue_with(0, 1, 2, c1=1, c2=1)
    assert queue.nack("c2") == [] and queue.passed_over == ["c1", "c2"]


def test_cancelled_consumer_gives_back_to_others_and_never_to_itself() -> None:
    queue = queue_with(0, 1, 2, c1=0, c2=1)
    queue.cancel("c1")
    assert queue.nack("c1", 2) == [] and queue.head(5) == [(2, True)], "c2 is full"
    assert taken(queue.ack("c2", 1)) == ["c2<2!"]
    assert queue.ack("c1", 0) == [] and queue.unacked("c1") == [] and queue.ring == ["c2"]


def test_consumer_that_was_passed_over_may_cancel_and_close() -> None:
    queue = queue_with(0, 1, 2, c1=1, c2=1)
    queue.cancel("c1")
    assert queue.ring == ["c2"] and queue.ack("c1", 0) == [] and queue.ready == 1
    assert queue.cancel_and_close("c1") == [] and taken(queue.cancel_and_close("c2")) == []
    assert queue.ring == [] and queue.head(5) == [(1, True), (2, False)]
    assert taken(queue.consume("c1", 5)) == ["c1<1!", "c1<2"], "the name is free again"


def test_close_of_nobody_moves_nothing() -> None:
    queue = queue_with(0, 1, c1=1)
    assert queue.cancel_and_close() == [] and queue.ready == 1


# -- what it says of itself ----------------------------------------------------------------------------------


def test_head_is_as_long_as_asked_and_in_publish_order_over_what_came_back_and_what_is_new() -> None:
    queue = queue_with(*range(0, 40, 2), c1=7)
    queue.cancel_and_close("c1")
    expected = [(position, position < 7) for position in range(20)]
    assert [queue.message(position) for position, _ in queue.head(20)] == list(range(0, 40, 2))
    for count in (0, 1, 6, 7, 8, 20, 99):
        assert queue.head(count) == expected[:count]
    assert queue.ready == 20 and queue.published == 20 and queue.acked == 0


@given(st.lists(st.integers(0, 60), unique=True).map(sorted))
@settings(max_examples=50)
def test_positions_are_kept_as_unbroken_runs(positions: list[int]) -> None:
    runs = Positions(positions).to_json()
    assert list(Positions.from_json(runs)) == positions
    assert all(first + count < following for (first, count), (following, _) in pairwise(runs)), (
        "two runs never touch"
    )


@given(st.lists(st.integers(-5, 10**12), max_size=40), st.integers(0, 9), st.integers(0, 9))
@settings(max_examples=50)
def test_messages_of_any_numbers_keep_their_places_and_are_kept_as_runs(
    messages: list[int], prefetch: int, done: int
) -> None:
    queue = queue_with(*messages, c1=prefetch)
    for position, _ in queue.unacked("c1", done):
        queue.ack("c1", position)
    left = {position: queue.message(position) for position, _ in (*queue.unacked("c1"), *queue.head(99))}
    assert left == dict(sorted(enumerate(messages))[queue.acked :])
    twin = WorkQueue.from_json(queue.to_json())
    assert {
        position: twin.message(position) for position in left
    } == left and twin.to_json() == queue.to_json()


@pytest.mark.parametrize("count", [1, 7, 50, 400])
def test_many_that_come_back_at_once_or_one_by_one_stand_in_the_same_order(count: int) -> None:
    """Few go into the heap one by one, many in one pass: the head is the same."""
    at_once, one_by_one = (queue_with(*range(count), c1=0) for _ in range(2))
    at_once.cancel("c1")
    one_by_one.cancel("c1")
    at_once.nack("c1", *reversed(range(count)))
    for position in reversed(range(count)):
        one_by_one.nack("c1", position)
    assert at_once.head(count) == one_by_one.head(count) == [(position, True) for position in range(count)]
    assert at_once.to_json() == one_by_one.to_json()
