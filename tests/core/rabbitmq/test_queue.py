"""One queue's dispatch: its turns, its laws, its cost."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab import checkpoint
from tests.core.rabbitmq.plays import WorkQueue


def queue_with(**prefetch: int) -> WorkQueue:
    queue = WorkQueue()
    for consumer, limit in prefetch.items():
        queue.consume(consumer, limit)
    return queue


def takers(queue: WorkQueue, positions: range) -> list[str]:
    return [consumer for position in positions for consumer, _, _ in queue.publish(position)]


def test_without_a_limit_records_go_round_in_the_order_of_subscription() -> None:
    assert takers(queue_with(c1=0, c2=0, c3=0), range(7)) == ["c1", "c2", "c3", "c1", "c2", "c3", "c1"]


def test_a_newcomer_stands_behind_everyone_who_waits_for_a_turn() -> None:
    queue = queue_with(c1=0, c2=0)
    queue.publish(0)
    queue.consume("c3", 0)
    assert queue.ring == ["c2", "c1", "c3"]
    assert takers(queue, range(1, 4)) == ["c2", "c1", "c3"]


def test_the_first_consumer_without_a_limit_takes_the_whole_backlog() -> None:
    queue = WorkQueue()
    for position in range(6):
        assert queue.publish(position) == []
    assert queue.consume("c1", 0) == [("c1", position, False) for position in range(6)]
    assert queue.consume("c2", 0) == []
    assert takers(queue, range(6, 8)) == ["c1", "c2"]


def test_with_prefetch_one_the_first_to_ack_gets_the_next() -> None:
    queue = queue_with(c1=1, c2=1, c3=1)
    assert takers(queue, range(5)) == ["c1", "c2", "c3"]
    assert queue.ready == 2
    assert queue.ack("c2", 1) == [("c2", 3, False)]
    assert queue.ack("c3", 2) == [("c3", 4, False)]


def test_a_consumer_passed_by_at_its_limit_comes_back_at_the_end() -> None:
    queue = queue_with(c1=1, c2=2)
    assert takers(queue, range(2)) == ["c1", "c2"]
    assert takers(queue, range(2, 3)) == ["c2"], "c1 was passed by"
    assert queue.ring == ["c2", "c1"]
    queue.ack("c2", 1)
    queue.ack("c1", 0)
    assert queue.ring == ["c2", "c1"]
    assert takers(queue, range(3, 5)) == ["c2", "c1"]


def test_an_ack_before_the_turn_comes_costs_no_place() -> None:
    queue = queue_with(c1=1, c2=1)
    assert takers(queue, range(2)) == ["c1", "c2"]
    # Both are at their limit, but nothing came that would have passed them by: the later ack does not lose
    # its turn.
    assert len(queue.unacked("c1")) == len(queue.unacked("c2")) == 1 and queue.passed_over == []
    queue.ack("c2", 1)
    queue.ack("c1", 0)
    assert takers(queue, range(2, 4)) == ["c1", "c2"]


def test_a_closing_channel_puts_its_records_back_where_they_were() -> None:
    queue = queue_with(c1=2, c2=2)
    assert takers(queue, range(6)) == ["c1", "c2", "c1", "c2"]
    assert queue.ack("c1", 0) == [("c1", 4, False)]
    assert queue.cancel_and_close("c1") == []
    assert queue.head(9) == [(2, True), (4, True), (5, False)]
    assert queue.ack("c2", 3) == [("c2", 2, True)]
    assert queue.unacked("c2") == [(1, False), (2, True)]
    assert queue.unacked("c2", 1) == [(1, False)]
    assert queue.holds("c2", 2) and not queue.holds("c2", 3)
    assert queue.consume("c3", 0) == [("c3", 4, True), ("c3", 5, False)]


def test_all_consumers_of_a_channel_give_back_before_anything_moves() -> None:
    queue = queue_with(c1=0, c2=0, c3=0)
    takers(queue, range(5))
    assert queue.cancel_and_close("c2", "c1") == [
        ("c3", 0, True),
        ("c3", 1, True),
        ("c3", 3, True),
        ("c3", 4, True),
    ]


def test_a_returned_record_may_come_straight_back_to_the_same_consumer() -> None:
    queue = queue_with(c1=1, c2=1)
    takers(queue, range(4))
    assert queue.nack("c1", 0) == [("c1", 0, True)]
    assert queue.nack("c1", 0, 0) == [("c1", 0, True)], "redelivered for good"
    assert queue.head(5) == [(2, False), (3, False)]


def test_a_cancelled_consumer_keeps_what_it_holds_until_its_channel_closes() -> None:
    queue = queue_with(c1=2, c2=1)
    assert takers(queue, range(4)) == ["c1", "c2", "c1"]
    queue.cancel("c1")
    queue.cancel("c1")
    assert queue.ring == ["c2"]
    assert queue.ack("c1", 0) == []
    assert queue.unacked("c1") == [(2, False)]
    assert queue.cancel_and_close("c1") == []
    assert queue.head(3) == [(2, True), (3, False)]


ORDERS = st.lists(
    st.tuples(
        st.sampled_from(["publish"] * 4 + ["consume", "ack", "ack", "nack", "nack many", "cancel", "close"]),
        st.integers(0, 3),
        st.integers(0, 9),
    ),
    max_size=80,
)


def act(
    queue: WorkQueue, held: dict[str, list[int]], order: tuple[str, int, int], published: int
) -> list[Any]:
    """Do the order when it is possible; `held` is a second account of who was given what."""
    kind, who, choice = order
    consumer = f"c{who}"
    mine = held.get(consumer)
    if kind == "publish":
        return queue.publish(published * 3)  # gaps: positions need not be neighbours
    if kind == "consume" and mine is None:
        held[consumer] = []
        return queue.consume(consumer, choice % 4)
    if mine is None:
        return []
    if kind == "cancel":
        queue.cancel(consumer)
        return []
    if kind == "close":
        del held[consumer]
        return queue.cancel_and_close(consumer)
    if not mine:
        return []
    if kind == "nack many":
        returned = mine[choice % len(mine) :]
        del mine[choice % len(mine) :]
        return queue.nack(consumer, *reversed(returned))
    position = mine.pop(choice % len(mine))
    return queue.ack(consumer, position) if kind == "ack" else queue.nack(consumer, position)


@given(ORDERS)
def test_laws_of_the_queue(orders: list[tuple[str, int, int]]) -> None:
    """Nothing is lost, nothing is out twice, nobody holds more than its prefetch, the head is in publish
    order, and a queue that went through JSON at any point goes on as the live one does."""
    queue = WorkQueue()
    held: dict[str, list[int]] = {}
    limits: dict[str, int] = {}
    seen_before: set[int] = set()
    published = acked = 0
    for order in orders:
        twin = WorkQueue.from_json(checkpoint.decode(checkpoint.encode(queue.to_json())))
        twin_held = {consumer: list(positions) for consumer, positions in held.items()}
        before = sum(map(len, held.values())) + queue.ready
        deliveries = act(queue, held, order, published)
        assert act(twin, twin_held, order, published) == deliveries
        assert twin.to_json() == queue.to_json()

        if order[0] == "publish":
            published += 1
        if order[0] == "consume":
            limits.setdefault(f"c{order[1]}", order[2] % 4)
        for consumer, position, redelivered in deliveries:
            assert redelivered == (position in seen_before)
            seen_before.add(position)
            held[consumer].append(position)
        after = sum(map(len, held.values())) + queue.ready
        acked += before + (order[0] == "publish") - after
        assert acked + after == published
        limits = {consumer: limit for consumer, limit in limits.items() if consumer in held}

        for consumer, positions in held.items():
            assert [position for position, _ in queue.unacked(consumer)] == positions
            assert queue.unacked_count(consumer) == len(positions)
            assert not limits[consumer] or len(positions) <= limits[consumer]
        head = queue.head(published + 1)
        assert head == sorted(head) and len(head) == queue.ready
        assert all(redelivered == (position in seen_before) for position, redelivered in head)
        out = [position for positions in held.values() for position in positions] + [
            position for position, _ in head
        ]
        assert len(out) == len(set(out)) == published - acked


def test_a_backlog_that_comes_back_costs_no_pass_per_record() -> None:
    """100,000 messages return, then 20,000 single ones are given back on top: a pass over all for each would
    take minutes."""
    queue = queue_with(c1=0)
    for position in range(100_000):
        queue.publish(position)
    start = time.perf_counter()
    queue.cancel_and_close("c1")
    queue.consume("c2", 3)
    for _ in range(20_000):
        queue.nack("c2", queue.unacked("c2")[-1][0])
    assert queue.head(2) == [(3, True), (4, True)]
    assert time.perf_counter() - start < 5
