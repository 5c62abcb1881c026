"""What is sent again: after a client asked for it, after its consumer left; in which order, to whom, and what
it holds up meanwhile."""

from tests.core.pulsar.dispatchers.arriving import HIGH, LOW, arrive
from tests.core.pulsar.dispatchers.kinds import BY_KEY, KINDS, come, current, ordered, shared


def positions(sent):
    return [position for _, position in sent]


@KINDS
def test_asked_for_again_comes_before_anything_new_in_the_order_of_positions(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 4)
    arrive(dispatcher, *[HIGH] * 6)
    assert dispatcher.redeliver("a", [3, 0, 2]) == []
    assert positions(dispatcher.flow("a", 9)) == [0, 2, 3, 4, 5]


@KINDS
def test_only_what_the_consumer_has_is_sent_again(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 10)
    arrive(dispatcher, HIGH, HIGH)
    dispatcher.connect("b", "b", 0)
    before = dispatcher.to_json()
    assert dispatcher.redeliver("b", [0, 1]) == dispatcher.redeliver("a", [7, -1]) == []
    assert dispatcher.to_json() == before
    assert dispatcher.redeliver("a", [1, 7]) == [("a", 1)]


@KINDS
def test_asked_for_twice_before_it_goes_it_is_sent_once(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 1)
    arrive(dispatcher, HIGH)
    dispatcher.redeliver("a", [0])
    dispatcher.redeliver("a", [0])
    assert dispatcher.flow("a", 5) == [("a", 0)] and dispatcher.consumers["a"].permits == 4


@KINDS
def test_while_it_waits_nobody_has_it_and_it_counts_as_sent_before(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 2)
    arrive(dispatcher, HIGH, HIGH)
    dispatcher.redeliver("a", [0])
    assert dispatcher.pending() == {"a": [1]} and dispatcher.unacked == 1 and dispatcher.sent_before == {0}
    assert dispatcher.replay.positions == [0]
    dispatcher.check()


def test_shared_gives_it_to_whose_turn_it_is_which_may_be_another():
    dispatcher = shared()
    dispatcher.connect("a", "a", 5)
    dispatcher.connect("b", "b", 5)
    assert arrive(dispatcher, HIGH, HIGH) == [("a", 0), ("b", 1)]
    assert dispatcher.redeliver("b", [1]) == [("a", 1)]


@BY_KEY
def test_by_key_it_comes_back_to_the_keys_own_consumer(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 10)
    dispatcher.connect("b", "b", 10)
    arrive(dispatcher, LOW, HIGH)
    assert dispatcher.redeliver("b", [0]) == [("b", 0)] and dispatcher.redeliver("a", [1]) == [("a", 1)]


def test_negative_acknowledgement_of_3_2_has_no_hash_until_a_read_has_looked_at_it():
    """MessageRedeliveryController gets the hash only where the entry itself is at hand."""
    dispatcher = ordered()
    dispatcher.connect("a", "a", 0)
    dispatcher.connect("b", "b", 1)
    arrive(dispatcher, LOW)
    dispatcher.redeliver("b", [0])
    assert dispatcher.replay.positions == [0] and dispatcher.replay.counts == {}
    assert dispatcher.flow("a", 5) == [] and dispatcher.replay.counts == {LOW: 1}, (
        "a read looked for somebody who takes it"
    )
    assert arrive(dispatcher, LOW, HIGH) == [("a", 2)] and dispatcher.flow("b", 9) == [("b", 0), ("b", 1)]


def test_current_keeps_its_hash_so_newer_ones_of_its_key_wait_behind_it():
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    dispatcher.connect("b", "b", 1)
    arrive(dispatcher, LOW)
    dispatcher.redeliver("b", [0])
    assert dispatcher.replay.counts == {LOW: 1}
    assert arrive(dispatcher, LOW, HIGH) == [("a", 2)] and dispatcher.flow("b", 9) == [("b", 0), ("b", 1)]


@KINDS
def test_leavers_entries_go_to_the_others_in_order_before_anything_new(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 4)
    arrive(dispatcher, *[LOW] * 6)
    dispatcher.connect("b", "b", 0)
    assert dispatcher.disconnect("a") == []
    assert dispatcher.flow("b", 3) == [("b", 0), ("b", 1), ("b", 2)]
    assert dispatcher.flow("b", 9) == [("b", 3), ("b", 4), ("b", 5)]


@KINDS
def test_what_a_leaver_had_acknowledged_is_not_sent_again(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 4)
    arrive(dispatcher, *[LOW] * 4)
    dispatcher.ack([0, 2], "a")
    dispatcher.connect("b", "b", 9)
    assert dispatcher.disconnect("a") == [("b", 1), ("b", 3)] and dispatcher.sent_before == {1, 3}


@KINDS
def test_last_one_to_leave_leaves_everything_to_the_cursor(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 2)
    come(dispatcher, HIGH)
    come(dispatcher, HIGH)
    come(dispatcher, HIGH, at_us=900)
    dispatcher.redeliver("a", [0])
    dispatcher.flow("a", 2)
    dispatcher.disconnect("a")
    assert len(dispatcher.replay) == 0 and dispatcher.delayed == [] and dispatcher.consumers == {}
    assert positions(dispatcher.connect("b", "b", 9)) == [0, 1] and dispatcher.delayed == [(900, 2)]
    dispatcher.check()


@KINDS
def test_full_subscription_of_nobody_is_not_full(kind):
    dispatcher = kind(unacked_all_max=2)
    dispatcher.connect("a", "a", 9)
    arrive(dispatcher, HIGH, HIGH, HIGH)
    assert dispatcher.is_full
    assert dispatcher.pending() == {"a": [0, 1]}
    dispatcher.disconnect("a")
    assert not dispatcher.is_full
    assert positions(dispatcher.connect("b", "b", 9)) == [0, 1, 2] and dispatcher.is_full, (
        "it is asked before a read, which may go beyond"
    )


@KINDS
def test_leaver_of_a_full_subscription_makes_room_for_half_and_more(kind):
    dispatcher = kind(unacked_all_max=4)
    dispatcher.connect("a", "a", 9)
    arrive(dispatcher, *[HIGH] * 4)
    dispatcher.connect("b", "b", 0)
    dispatcher.disconnect("a")
    assert not dispatcher.is_full and dispatcher.unacked == 0
    assert positions(dispatcher.flow("b", 9)) == [0, 1, 2, 3] and dispatcher.is_full


@KINDS
def test_blocked_consumer_that_asks_again_is_released_whatever_it_still_has(kind):
    """Consumer.redeliverUnacknowledgedMessages unblocks it, and passes on what it granted meanwhile."""
    dispatcher = kind(unacked_max=4)
    dispatcher.connect("a", "a", 5)
    arrive(dispatcher, *[HIGH] * 6)
    dispatcher.flow("a", 7)
    known = dispatcher.consumers["a"]
    assert (known.is_blocked, known.permits, known.withheld, dispatcher.available) == (True, 1, 7, 0)
    assert dispatcher.redeliver("a", [0]) == [("a", 0)], "one is given back, and one makes it full again"
    assert (known.is_blocked, known.permits, known.withheld, known.unacked) == (True, 7, 0, 4)
    dispatcher.check()


@KINDS
def test_blocked_consumer_that_gives_everything_back_gets_as_much_as_its_limit_again(kind):
    dispatcher = kind(unacked_max=3)
    dispatcher.connect("a", "a", 9)
    arrive(dispatcher, *[HIGH] * 5)
    assert (
        positions(dispatcher.redeliver("a", [0, 1, 2])) == [0, 1, 2] and dispatcher.consumers["a"].is_blocked
    )
    assert dispatcher.consumers["a"].permits == 3


@BY_KEY
def test_leavers_keys_go_to_their_new_consumers_each(kind):
    dispatcher = kind()
    for name in "abc":
        dispatcher.connect(name, name, 20)
    owner = {hash32: dispatcher.owner(hash32) for hash32 in (100, 20_000, 40_000)}
    assert owner == {100: "c", 20_000: "b", 40_000: "a"}
    arrive(dispatcher, 100, 20_000, 40_000, 100)
    assert dispatcher.disconnect("c") == [("b", 0), ("b", 3)], "its right neighbour has its range now"
    assert dispatcher.owner(100) == "b" and dispatcher.pending() == {"a": [2], "b": [0, 1, 3]}


@BY_KEY
def test_nobody_takes_what_a_leaver_of_sticky_ranges_had_until_its_gap_is_closed(kind):
    dispatcher = kind("sticky")
    dispatcher.connect("a", "a", 10, [(0, 999)])
    dispatcher.connect("b", "b", 10, [(30_000, 65_535)])
    arrive(dispatcher, LOW, LOW)
    assert dispatcher.disconnect("a") == [] and dispatcher.replay.positions == [0, 1]
    assert arrive(dispatcher, LOW, HIGH) == [("b", 3)], "the others are served meanwhile"
    assert dispatcher.waiting_for("b") == 0
    assert dispatcher.connect("c", "c", 10, [(0, 99), (100, 200)]) == [("c", 0), ("c", 1), ("c", 2)]
