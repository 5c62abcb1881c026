"""Limits of unacknowledged messages: who is blocked, what still goes out, and at which acknowledgement it is
over."""

import pytest

from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.dispatchers.shared import SharedDispatcher
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.selectors import SELECTORS
from tests.core.pulsar.dispatchers.arriving import HIGH, LOW, arrive


def shared(**options):
    return SharedDispatcher(**options)


def ordered(**options):
    return KeySharedDispatcher(SELECTORS["auto_split"](), **options)


def current(**options):
    return DrainingDispatcher(SELECTORS["auto_split"](), **options)


KINDS = pytest.mark.parametrize("kind", [shared, ordered, current])


@KINDS
@pytest.mark.parametrize(("limit", "released_at"), [(6, 2), (7, 2), (2, 0)])
def test_subscription_at_its_limit_reads_again_when_less_than_half_of_it_is_left(kind, limit, released_at):
    dispatcher = kind(unacked_all_max=limit)
    dispatcher.connect("a", "a", 100)
    assert len(arrive(dispatcher, *[HIGH] * (limit + 3))) == limit and dispatcher.is_full
    for acked in range(limit - released_at - 1):
        assert dispatcher.ack([acked], "a") == [] and dispatcher.is_full
    assert dispatcher.ack([limit - released_at - 1], "a") == [("a", limit + more) for more in range(3)]
    dispatcher.check()


@KINDS
def test_subscription_with_a_limit_of_one_is_never_below_half_of_it(kind):
    dispatcher = kind(unacked_all_max=1)
    dispatcher.connect("a", "a", 100)
    assert arrive(dispatcher, HIGH, HIGH) == [("a", 0)]
    assert dispatcher.ack([0], "a") == [] and dispatcher.is_full and dispatcher.unacked == 0


@KINDS
@pytest.mark.parametrize(("limit", "released_at"), [(6, 3), (7, 3), (2, 1)])
def test_consumer_at_its_limit_gets_more_when_half_of_it_is_acknowledged_with_what_it_granted_meanwhile(
    kind, limit, released_at
):
    dispatcher = kind(unacked_max=limit)
    dispatcher.connect("a", "a", limit + 1)
    assert len(arrive(dispatcher, *[HIGH] * (limit + 3))) == limit and dispatcher.consumers["a"].is_blocked
    assert dispatcher.flow("a", 1) == [] and dispatcher.available == 0
    for acked in range(limit - released_at - 1):
        assert dispatcher.ack([acked], "a") == [] and dispatcher.consumers["a"].is_blocked
    sent = dispatcher.ack([limit - released_at - 1], "a")
    assert (
        sent == [("a", limit), ("a", limit + 1)][: limit - released_at]
        and dispatcher.consumers["a"].withheld == 0
    )
    dispatcher.check()


@KINDS
def test_full_subscription_still_sends_again_what_a_leaver_had(kind):
    dispatcher = kind(unacked_all_max=4)
    dispatcher.connect("a", "a", 100)
    arrive(dispatcher, *[LOW] * 5)
    assert dispatcher.is_full
    dispatcher.connect("b", "b", 100)
    assert dispatcher.disconnect("a") == [("b", 0), ("b", 1), ("b", 2), ("b", 3)] and dispatcher.is_full
    assert dispatcher.ack([0, 1], "b") == [] and dispatcher.ack([2], "b") == [("b", 4)]


@pytest.mark.parametrize("kind", [ordered, current])
def test_message_of_a_blocked_consumer_waits_though_it_has_permits_while_others_get_theirs(kind):
    dispatcher = kind(unacked_max=2)
    dispatcher.connect("a", "a", 10)
    dispatcher.connect("b", "b", 10)
    assert arrive(dispatcher, HIGH, HIGH, HIGH, LOW) == [("a", 0), ("a", 1), ("b", 3)]
    assert dispatcher.consumers["a"].permits == 8 and dispatcher.pending() == {"a": [0, 1], "b": [3]}
    assert dispatcher.ack([0], "a") == [("a", 2)]


@KINDS
def test_who_leaves_takes_its_part_of_the_limit_with_it(kind):
    dispatcher = kind(unacked_all_max=4)
    dispatcher.connect("a", "a", 100)
    arrive(dispatcher, *[HIGH] * 6)
    assert (
        dispatcher.disconnect("a") == []
        and not dispatcher.is_full
        and dispatcher.unacked == dispatcher.available == 0
    )
    assert [position for _, position in dispatcher.connect("b", "b", 3)] == [0, 1, 2], (
        "it begins again at mark-delete"
    )


@KINDS
def test_what_the_last_one_had_counts_as_sent_before_and_what_is_acknowledged_does_not(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    arrive(dispatcher, HIGH, HIGH, HIGH)
    dispatcher.ack([1], "a")
    dispatcher.disconnect("a")
    assert dispatcher.sent_before == {0, 2}
    dispatcher.ack([2])
    assert dispatcher.sent_before == {0} and dispatcher.connect("b", "b", 100) == [("b", 0)]


@KINDS
def test_delayed_message_comes_when_it_is_due_though_others_wait_before_it(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 1)
    arrive(dispatcher, LOW, LOW)
    dispatcher.connect("b", "b", 10)
    position = dispatcher.cursor.end
    dispatcher.entries[position] = Entry(HIGH, position, deliver_at_us=500)
    dispatcher.arrived(position, dispatcher.entries[position])
    dispatcher.ack([0], "a")
    if isinstance(dispatcher, DrainingDispatcher):
        dispatcher.unblock()
    assert dispatcher.next_delayed_us == 500 and position not in {
        place for places in dispatcher.pending().values() for place in places
    }
    dispatcher.flow("a", 5)
    dispatcher.now_us = 500
    assert [place for _, place in dispatcher.due()] == [position] and dispatcher.delayed == []


def test_where_order_is_nobodys_wish_what_waits_for_permits_blocks_no_newer_one_of_its_key():
    dispatcher = ordered(allows_out_of_order=True)
    dispatcher.connect("a", "a", 1)
    dispatcher.connect("b", "b", 9)
    assert arrive(dispatcher, HIGH, HIGH, LOW) == [("a", 0), ("b", 2)]
    assert dispatcher.replay.counts == {} and dispatcher.replay.positions == [1]
    dispatcher.consumers["a"].permits += 1
    dispatcher.available += 1
    assert arrive(dispatcher, HIGH)[0][0] == "a"


def test_permits_of_somebody_who_is_not_in_the_round_change_nothing():
    dispatcher = shared()
    dispatcher.connect("a", "a", 1)
    dispatcher.turns.flow("nobody", 5)
    assert [known.permits for known in dispatcher.turns.consumers] == [1]
