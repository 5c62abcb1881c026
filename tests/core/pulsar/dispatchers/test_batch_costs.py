"""An entry costs its unacknowledged messages: in permits, in the counts of them, and in their limits. Facts
11.4, 11.5, 4.9, 4.11."""

import pytest

from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.single_active import SingleActiveDispatcher
from broker_core.pulsar.entry import Entry
from tests.core.pulsar.dispatchers.arriving import HIGH, LOW
from tests.core.pulsar.dispatchers.kinds import KINDS, come, permits


@KINDS
@pytest.mark.parametrize("acked", [(), (0,), (0, 3), (1, 2, 3, 4, 5, 6, 7, 8, 9)])
def test_entry_that_comes_again_takes_a_permit_for_each_message_that_is_left_of_it(kind, acked):
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    assert come(dispatcher, HIGH, size=10) == [("a", 0)] and permits(dispatcher) == {"a": 90}
    dispatcher.ack_places(0, acked, "a")
    assert dispatcher.consumers["a"].unacked == dispatcher.unacked == 10 - len(acked)
    assert dispatcher.redeliver("a", [0]) == [("a", 0)]
    assert permits(dispatcher) == {"a": 80 + len(acked)} and dispatcher.available == 80 + len(acked)
    assert dispatcher.consumers["a"].unacked == dispatcher.unacked == 10 - len(acked)
    dispatcher.check()


@KINDS
def test_message_that_is_given_back_for_ever_costs_its_consumer_one_permit_a_time(kind):
    """Case 03 without a client: it grants one permit for each message that it is sent, and never runs out."""
    dispatcher = kind()
    dispatcher.connect("a", "a", 20)
    come(dispatcher, HIGH, size=10)
    dispatcher.ack_places(0, range(1, 10), "a")
    dispatcher.flow("a", 10)
    for _ in range(50):
        assert dispatcher.redeliver("a", [0]) == [("a", 0)]
        dispatcher.flow("a", 1)
    assert permits(dispatcher) == {"a": 20} and dispatcher.unacked == 1


@KINDS
def test_what_a_leaver_had_in_part_costs_the_next_one_the_rest(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    come(dispatcher, HIGH, size=6)
    dispatcher.ack_places(0, [0, 1, 2, 5], "a")
    dispatcher.connect("b", "b", 0)
    dispatcher.disconnect("a")
    assert dispatcher.unacked == 0
    assert (
        dispatcher.flow("b", 10) == [("b", 0)] and permits(dispatcher) == {"b": 8} and dispatcher.unacked == 2
    )


@KINDS
def test_places_are_taken_from_whoever_has_the_entry_whoever_acknowledges_them(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    dispatcher.connect("b", "b", 100)
    come(dispatcher, HIGH, size=4)
    come(dispatcher, LOW, size=4)
    (holder,) = [name for name, known in dispatcher.consumers.items() if 0 in known.pending]
    before = {name: known.unacked for name, known in dispatcher.consumers.items()}
    dispatcher.ack_places(0, [1, 2], "b" if holder == "a" else "a")
    after = {name: known.unacked for name, known in dispatcher.consumers.items()}
    assert after == before | {holder: before[holder] - 2} and dispatcher.unacked == 6


@KINDS
def test_same_place_twice_and_a_place_of_what_is_acknowledged_count_nothing(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    come(dispatcher, HIGH, size=3)
    come(dispatcher, HIGH, size=3)
    for _ in range(2):
        dispatcher.ack_places(0, [1], "a")
    assert dispatcher.unacked == 5
    dispatcher.ack([0], "a")
    dispatcher.ack_places(0, [2], "a")
    dispatcher.ack_places(9, [0], "a")
    assert (
        dispatcher.unacked == dispatcher.consumers["a"].unacked == 3
        and dispatcher.cursor.acked_in_batch == {}
    )


@KINDS
def test_several_batches_in_part_are_acknowledged_together_with_what_is_left_of_each(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    for size in (4, 1, 3):
        come(dispatcher, HIGH, size=size)
    dispatcher.ack_places(0, [0, 1, 2], "a")
    dispatcher.ack_places(2, [1], "a")
    assert dispatcher.unacked == 1 + 1 + 2
    dispatcher.ack([2, 1, 0], "a")
    assert dispatcher.unacked == dispatcher.consumers["a"].unacked == 0 and dispatcher.cursor.mark_delete == 2


@KINDS
def test_consumer_at_its_limit_is_released_by_a_whole_entry_only_and_then_by_all_that_was_acknowledged(kind):
    """Consumer.removePendingAcks looks at the limit; a part of a batch only lowers the count."""
    dispatcher = kind(unacked_max=8)
    dispatcher.connect("a", "a", 100)
    come(dispatcher, HIGH, size=7)
    come(dispatcher, HIGH)
    come(dispatcher, HIGH)
    assert dispatcher.consumers["a"].is_blocked and dispatcher.unacked == 8
    assert dispatcher.ack_places(0, range(6), "a") == [] and dispatcher.consumers["a"].is_blocked
    assert (
        dispatcher.ack([1], "a") == [("a", 2)]
        and not dispatcher.consumers["a"].is_blocked
        and dispatcher.unacked == 2
    )


@KINDS
def test_subscription_at_its_limit_is_released_by_a_part_of_a_batch(kind):
    dispatcher = kind(unacked_all_max=8)
    dispatcher.connect("a", "a", 100)
    come(dispatcher, HIGH, size=8)
    come(dispatcher, HIGH)
    assert dispatcher.is_full
    assert dispatcher.ack_places(0, range(4), "a") == [], "half of the limit is left"
    assert dispatcher.ack_places(0, [4], "a") == [("a", 1)] and dispatcher.unacked == 4


@KINDS
def test_limits_count_what_is_left_of_an_entry_that_comes_again(kind):
    dispatcher = kind(unacked_max=5)
    dispatcher.connect("a", "a", 100)
    come(dispatcher, HIGH, size=4)
    dispatcher.ack_places(0, [0, 1, 2], "a")
    dispatcher.redeliver("a", [0])
    for position in (1, 2, 3):
        assert come(dispatcher, HIGH) == [("a", position)]
    assert dispatcher.unacked == 4 and not dispatcher.consumers["a"].is_blocked


@KINDS
def test_a_restored_dispatcher_counts_as_the_one_that_was_kept(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    come(dispatcher, HIGH, size=4)
    dispatcher.ack_places(0, [0, 2], "a")
    other = kind(cursor=Cursor.from_json(dispatcher.cursor.to_json()), entries=dispatcher.entries)
    if hasattr(dispatcher, "selector"):
        other.selector.add("a", "a", None)
    other.restore(dispatcher.to_json())
    for one in (dispatcher, other):
        one.redeliver("a", [0])
    assert other.to_json() == dispatcher.to_json() and permits(other) == {"a": 94}


def test_active_consumer_pays_for_what_is_left_of_an_entry_as_well():
    dispatcher = ActiveDispatcher(SingleActiveDispatcher("persistent://public/default/t", is_exclusive=True))
    dispatcher.connect("a", "a", 20)
    dispatcher.entries[0] = Entry(0, 0, batch=tuple(range(10)))
    assert (
        dispatcher.arrived(0, dispatcher.entries[0]) == [("a", 0)] and dispatcher.consumers["a"].permits == 10
    )
    dispatcher.ack_places(0, range(7), "a")
    assert dispatcher.redeliver("a", []) == [("a", 0)] and dispatcher.consumers["a"].permits == 7


def test_cursor_keeps_places_until_the_entry_is_acknowledged_however_that_happens():
    ends = (
        lambda one: one.ack(1),
        lambda one: one.ack_cumulative(2),
        lambda one: one.reset(0),
    )
    for end in ends:
        cursor = Cursor(end=4)
        assert cursor.ack_places(1, [2, 0]) == 2 and cursor.ack_places(1, [0]) == 0
        assert cursor.left(1, 4) == 2 and cursor.places_left(1, 4) == (1, 3)
        assert Cursor.from_json(cursor.to_json()) == cursor
        end(cursor)
        assert cursor.acked_in_batch == {} and cursor.left(1, 4) == 4 and cursor.places_left(1, 4) == ()
