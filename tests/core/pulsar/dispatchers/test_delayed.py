"""Delayed delivery: entries whose time has not come wait aside and hold nobody up; the broker wakes for the
first of them."""

import pytest

from tests.core.pulsar.dispatchers.arriving import HIGH, LOW
from tests.core.pulsar.dispatchers.kinds import BY_KEY, KINDS, come, ordered


def ready(kind, permits=100, **options):
    dispatcher = kind(**options)
    dispatcher.connect("a", "a", permits)
    return dispatcher


def due(dispatcher, now_us):
    dispatcher.now_us = now_us
    return [position for _, position in dispatcher.due()]


@KINDS
def test_entry_waits_aside_until_its_time_and_those_behind_it_do_not_wait(kind):
    dispatcher = ready(kind)
    assert come(dispatcher, HIGH, at_us=500) == [] and come(dispatcher, HIGH) == [("a", 1)]
    assert dispatcher.next_delayed_us == 500 and dispatcher.has_news and len(dispatcher.replay) == 0
    assert due(dispatcher, 499) == [] and dispatcher.delayed == [(500, 0)]
    assert due(dispatcher, 500) == [0] and dispatcher.delayed == [] and dispatcher.next_delayed_us is None


@KINDS
@pytest.mark.parametrize(
    ("at_us", "now_us", "waits"), [(0, 0, False), (500, 500, False), (499, 500, False), (501, 500, True)]
)
def test_entry_whose_time_has_come_when_it_is_read_does_not_wait(kind, at_us, now_us, waits):
    dispatcher = ready(kind)
    dispatcher.now_us = now_us
    assert come(dispatcher, HIGH, at_us=at_us) == ([] if waits else [("a", 0)])
    assert dispatcher.next_delayed_us == (at_us if waits else None) and dispatcher.has_news == waits


@KINDS
def test_they_come_by_time_and_at_one_moment_by_position(kind):
    dispatcher = ready(kind)
    for at_us in (700, 500, 700, 500, 600):
        come(dispatcher, HIGH, at_us=at_us)
    assert dispatcher.delayed == [(500, 1), (500, 3), (600, 4), (700, 0), (700, 2)]
    assert [due(dispatcher, now_us) for now_us in (500, 600, 650, 700)] == [[1, 3], [4], [], [0, 2]]


@KINDS
def test_all_that_are_due_go_in_the_order_of_their_positions(kind):
    dispatcher = ready(kind)
    for at_us in (700, 500, 600):
        come(dispatcher, HIGH, at_us=at_us)
    assert due(dispatcher, 1_000) == [0, 1, 2]


@KINDS
def test_without_permits_what_is_due_waits_before_anything_new(kind):
    dispatcher = ready(kind, permits=1)
    come(dispatcher, HIGH, at_us=500)
    assert come(dispatcher, HIGH) == [("a", 1)] and come(dispatcher, HIGH) == []
    assert due(dispatcher, 500) == [] and dispatcher.replay.positions == [0]
    assert dispatcher.flow("a", 1) == [("a", 0)] and dispatcher.flow("a", 1) == [("a", 2)]


@KINDS
def test_wake_that_finds_nothing_due_changes_nothing_but_keeps_the_next_timer_to_be_set(kind):
    dispatcher = ready(kind)
    come(dispatcher, HIGH, at_us=500)
    dispatcher.has_news = False
    assert due(dispatcher, 400) == [] and dispatcher.has_news and dispatcher.next_delayed_us == 500


@KINDS
def test_entry_that_is_acknowledged_before_its_time_is_not_sent(kind):
    dispatcher = ready(kind)
    come(dispatcher, HIGH, at_us=500)
    come(dispatcher, HIGH, at_us=600)
    dispatcher.ack([0], "a")
    assert due(dispatcher, 600) == [1]
    dispatcher.check()


@KINDS
def test_entry_that_waits_for_its_time_is_read_and_not_at_anybody(kind):
    dispatcher = ready(kind)
    come(dispatcher, HIGH, at_us=500)
    assert (
        dispatcher.cursor.read_position == 1 and dispatcher.unacked == 0 and dispatcher.pending() == {"a": []}
    )
    assert dispatcher.available == 100


@KINDS
def test_what_was_due_once_is_no_delayed_entry_when_it_is_asked_for_again(kind):
    dispatcher = ready(kind)
    come(dispatcher, HIGH, at_us=500)
    due(dispatcher, 500)
    assert dispatcher.redeliver("a", [0]) == [("a", 0)] and dispatcher.delayed == []


@KINDS
def test_first_one_after_all_had_left_puts_aside_again_what_is_not_due(kind):
    dispatcher = ready(kind)
    come(dispatcher, HIGH, at_us=500)
    come(dispatcher, HIGH, at_us=900)
    dispatcher.disconnect("a")
    assert dispatcher.next_delayed_us is None
    dispatcher.now_us = 600
    assert dispatcher.connect("b", "b", 9) == [("b", 0)] and dispatcher.delayed == [(900, 1)]


@KINDS
def test_full_subscription_still_sends_what_is_due(kind):
    dispatcher = ready(kind, unacked_all_max=2)
    come(dispatcher, HIGH, at_us=500)
    come(dispatcher, HIGH)
    come(dispatcher, HIGH)
    assert dispatcher.is_full and come(dispatcher, HIGH) == []
    assert due(dispatcher, 500) == [0] and dispatcher.unacked == 3


@BY_KEY
def test_delayed_entry_blocks_no_newer_one_of_its_key(kind):
    """By its sender's wish it comes later than those behind it."""
    dispatcher = kind()
    dispatcher.connect("a", "a", 10)
    dispatcher.connect("b", "b", 10)
    come(dispatcher, LOW, at_us=500)
    assert come(dispatcher, LOW) == [("b", 1)]
    assert dispatcher.waiting_for("b") == 1 and dispatcher.waiting_for("a") == 0
    assert due(dispatcher, 500) == [0]


def test_delayed_entry_of_before_a_join_goes_to_who_joined_if_the_key_is_its_own():
    dispatcher = ready(ordered)
    come(dispatcher, LOW, at_us=500)
    come(dispatcher, LOW)
    dispatcher.connect("b", "b", 10)
    assert dispatcher.recently_joined == {"b": 2}
    dispatcher.now_us = 500
    assert dispatcher.due() == [("b", 0)], "it lies before the join, so the newcomer may have it"
