"""Draining hashes step by step: which slots drain when owners change, what waits for them, and when it goes
(PIP-379)."""

import pytest

from broker_core.pulsar.dispatchers import draining as module
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.selectors import SELECTORS, selector_from_json
from tests.core.pulsar.dispatchers.arriving import HIGH, LOW, arrive
from tests.core.pulsar.dispatchers.kinds import come, current

QUARTER = 20_000
"""With a, b and c, in this order, it is b's, LOW is c's and HIGH is a's."""


def slots(dispatcher):
    """Slot -> (who must acknowledge, how many)."""
    return {slot: (entry.consumer, entry.count) for slot, entry in dispatcher.draining.items()}


def moved(*hashes, permits=100):
    """a has these; then b joins and takes over the lower half."""
    dispatcher = current()
    dispatcher.connect("a", "a", permits)
    arrive(dispatcher, *hashes)
    dispatcher.connect("b", "b", permits)
    return dispatcher


def test_slot_drains_where_its_entries_are_at_another_than_its_owner():
    assert slots(moved(LOW, LOW, LOW + 1, HIGH)) == {LOW: ("a", 2), LOW + 1: ("a", 1)}


def test_hashes_of_one_slot_drain_together():
    """65,536 apart they are one slot; what drains is a slot and not a key."""
    dispatcher = moved(LOW, LOW + 65_536)
    assert slots(dispatcher) == {LOW: ("a", 2)}
    assert arrive(dispatcher, LOW + 2 * 65_536) == []
    dispatcher.ack([0], "a")
    assert slots(dispatcher) == {LOW: ("a", 1)}


def test_top_bit_of_a_hash_makes_no_other_slot():
    assert slots(moved(LOW | 1 << 31, LOW)) == {LOW: ("a", 2)}


def test_each_acknowledgement_counts_off_and_the_last_one_ends_it():
    dispatcher = moved(LOW, LOW)
    dispatcher.ack([1], "a")
    assert slots(dispatcher) == {LOW: ("a", 1)} and dispatcher.drained == 0
    dispatcher.ack([0], "a")
    assert slots(dispatcher) == {} and dispatcher.drained == 1


def test_acknowledged_by_the_new_owner_it_drains_as_well():
    dispatcher = moved(LOW)
    dispatcher.ack([0], "b")
    assert slots(dispatcher) == {} and dispatcher.pending() == {"a": [], "b": []}


def test_several_slots_drain_each_by_itself():
    dispatcher = moved(LOW, LOW + 1, LOW + 2)
    assert arrive(dispatcher, LOW, LOW + 1, LOW + 2) == []
    dispatcher.ack([1], "a")
    assert dispatcher.unblock() == [("b", 4)] and dispatcher.replay.positions == [3, 5]
    dispatcher.ack([0, 2], "a")
    assert dispatcher.unblock() == [("b", 3), ("b", 5)] and dispatcher.drained == 3


def test_acknowledging_a_slot_that_does_not_drain_counts_nothing_off():
    dispatcher = moved(LOW, HIGH)
    dispatcher.ack([1], "a")
    assert slots(dispatcher) == {LOW: ("a", 1)}


def test_own_entries_of_the_new_owner_are_not_counted_off():
    """After a second move an entry of the slot may be at the new owner from before; only the former one's
    hold the slot up."""
    dispatcher = moved(LOW)
    dispatcher.was_acked("b", LOW)
    assert slots(dispatcher) == {LOW: ("a", 1)}


def test_entry_that_its_holder_asks_for_again_does_not_hold_its_slot_any_longer():
    dispatcher = moved(LOW)
    assert arrive(dispatcher, LOW) == []
    assert dispatcher.redeliver("a", [0]) == [("b", 0), ("b", 1)] and slots(dispatcher) == {}


def test_leaver_holds_nothing_and_what_it_had_goes_to_the_owner_before_what_waited():
    dispatcher = moved(LOW)
    arrive(dispatcher, LOW)
    assert dispatcher.disconnect("a") == [("b", 0), ("b", 1)] and slots(dispatcher) == {}


def test_newcomers_that_leave_give_the_slots_back_and_nothing_drains():
    dispatcher = moved(LOW, HIGH)
    arrive(dispatcher, LOW)
    assert dispatcher.disconnect("b") == [("a", 2)] and slots(dispatcher) == {}


def test_second_newcomer_may_make_the_slots_of_the_first_drain():
    """a has LOW's, b takes the slot over and gets nothing of it; then c takes it over: what must be
    acknowledged is still a's."""
    dispatcher = moved(LOW, QUARTER)
    assert slots(dispatcher) == {LOW: ("a", 1), QUARTER: ("a", 1)}
    dispatcher.connect("c", "c", 100)
    assert [dispatcher.owner(hash32) for hash32 in (LOW, QUARTER, HIGH)] == ["c", "b", "a"]
    assert slots(dispatcher) == {LOW: ("a", 1), QUARTER: ("a", 1)}
    assert arrive(dispatcher, LOW) == []
    dispatcher.ack([0], "a")
    assert dispatcher.unblock() == [("c", 2)]


def test_holder_changes_with_a_second_move_once_the_first_has_drained():
    dispatcher = moved(LOW)
    arrive(dispatcher, LOW)
    dispatcher.ack([0], "a")
    dispatcher.unblock()
    dispatcher.connect("c", "c", 100)
    assert slots(dispatcher) == {LOW: ("b", 1)}


def test_timer_is_wanted_only_where_something_had_to_wait():
    dispatcher = moved(LOW, LOW + 1)
    dispatcher.has_news = False
    arrive(dispatcher, LOW)
    assert dispatcher.draining[LOW].blocked == 1 and dispatcher.draining[LOW + 1].blocked == 0
    dispatcher.ack([1], "a")
    assert not dispatcher.unblocked and not dispatcher.has_news
    dispatcher.ack([0], "a")
    assert dispatcher.unblocked and dispatcher.has_news and not dispatcher.has_timer


def test_interval_that_is_over_is_over_for_all_and_sends_what_may_go():
    dispatcher = moved(LOW)
    arrive(dispatcher, LOW, LOW)
    dispatcher.ack([0], "a")
    dispatcher.has_timer = True
    assert (
        dispatcher.unblock() == [("b", 1), ("b", 2)] and not dispatcher.unblocked and not dispatcher.has_timer
    )


def test_waiting_entries_go_as_far_as_permits_do_and_the_rest_with_the_next_ones():
    dispatcher = moved(LOW, permits=1)
    assert dispatcher.consumers["b"].permits == 1
    assert arrive(dispatcher, LOW, LOW, LOW) == []
    dispatcher.ack([0], "a")
    assert (
        dispatcher.unblock() == [("b", 1)]
        and dispatcher.flow("b", 1) == [("b", 2)]
        and dispatcher.flow("b", 5) == [("b", 3)]
    )


def test_entry_without_permits_holds_only_later_ones_of_its_own_slot():
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    dispatcher.connect("b", "b", 0)
    assert arrive(dispatcher, LOW, LOW + 1, HIGH, LOW) == [("a", 2)]
    assert dispatcher.flow("b", 1) == [("b", 0)], "the oldest of those that wait"
    assert dispatcher.flow("b", 9) == [("b", 1), ("b", 3)]


def test_batch_that_takes_the_last_permits_leaves_what_was_chosen_behind_it():
    dispatcher = current()
    dispatcher.connect("a", "a", 0)
    for size in (4, 1, 1):
        come(dispatcher, HIGH, size=size)
    assert dispatcher.flow("a", 3) == [("a", 0)] and dispatcher.consumers["a"].permits == -1
    dispatcher.check()
    assert dispatcher.flow("a", 3) == [("a", 1), ("a", 2)]


@pytest.mark.parametrize(("consumers", "most"), [(1, 3), (2, 6), (3, 7)])
def test_as_many_may_wait_as_the_look_ahead_of_each_and_of_all_lets(consumers, most, monkeypatch):
    monkeypatch.setattr(module, "LOOK_AHEAD_PER_CONSUMER", 3)
    monkeypatch.setattr(module, "LOOK_AHEAD_PER_SUBSCRIPTION", 7)
    dispatcher = current()
    dispatcher.connect("a", "a", 100)
    for name in "bc"[: consumers - 1]:
        dispatcher.connect(name, name, 100)
    dispatcher.available -= dispatcher.consumers["a"].permits - 1
    dispatcher.consumers["a"].permits = 1
    assert arrive(dispatcher, HIGH) == [("a", 0)]
    arrive(dispatcher, *[HIGH] * 20)
    waiting = most if consumers > 1 else 0
    assert len(dispatcher.replay) == waiting, "alone and without permits nothing is read at all"
    assert dispatcher.cursor.read_position == 1 + waiting


def test_sticky_consumers_that_allow_nothing_out_of_order_do_not_drain():
    dispatcher = DrainingDispatcher(SELECTORS["sticky"](), is_sticky=True)
    dispatcher.connect("a", "a", 10, [(0, 65_535)])
    arrive(dispatcher, LOW)
    dispatcher.disconnect("a")
    dispatcher.connect("b", "b", 0, [(0, 9)])
    dispatcher.connect("c", "c", 10, [(10, 65_535)])
    assert dispatcher.draining == {} and dispatcher.pending() == {"b": [], "c": [0]}


def test_checkpoint_keeps_what_drains_and_what_has_had_to_wait():
    dispatcher = moved(LOW, LOW, LOW + 1)
    arrive(dispatcher, LOW, LOW + 1)
    dispatcher.ack([2], "a")
    again = DrainingDispatcher(
        selector_from_json(dispatcher.selector.to_json()),
        cursor=dispatcher.cursor,
        entries=dispatcher.entries,
    )
    again.restore(dispatcher.to_json())
    assert again.draining == dispatcher.draining and again.unblocked and again.drained == 1
    assert again.to_json() == dispatcher.to_json()
    assert (
        again.unblock() == [("b", 4)] and again.draining[LOW].blocked > dispatcher.draining[LOW].blocked == 1
    )


def test_question_how_much_waits_for_a_consumer_changes_nothing():
    dispatcher = moved(LOW, HIGH)
    arrive(dispatcher, LOW, LOW)
    dispatcher.cursor.end += 1
    dispatcher.entries[4] = dispatcher.entries[1]
    before = dispatcher.to_json()
    assert (dispatcher.waiting_for("a"), dispatcher.waiting_for("b"), dispatcher.waiting_for("nobody")) == (
        1,
        2,
        0,
    )
    dispatcher.cursor.ack(2)
    assert dispatcher.waiting_for("b") == 1 and dispatcher.to_json() == before
