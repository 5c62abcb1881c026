"""The rule of 3.2 step by step: who is recently joined and up to where, who is let go by which
acknowledgement, and who stands behind them."""

import pytest

from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.selectors import selector_from_json
from tests.core.pulsar.dispatchers.arriving import HIGH, LOW, arrive
from tests.core.pulsar.dispatchers.kinds import ordered

QUARTER = 20_000
"""With a, b and c, in this order, it is b's, LOW is c's and HIGH is a's."""


def one(*hashes, permits=100, **options):
    """a has these."""
    dispatcher = ordered(**options)
    dispatcher.connect("a", "a", permits)
    arrive(dispatcher, *hashes)
    return dispatcher


@pytest.mark.parametrize(
    ("acked", "limit"), [([], 3), ([0], 3), ([0, 1], 3), ([2], 3), ([1, 2], 3), ([0, 1, 2], None)]
)
def test_newcomer_waits_from_the_read_position_on_while_anything_before_it_is_unacknowledged(acked, limit):
    dispatcher = one(HIGH, HIGH, HIGH)
    dispatcher.ack(acked, "a")
    dispatcher.connect("b", "b", 100)
    assert dispatcher.recently_joined == ({} if limit is None else {"b": limit})


def test_first_of_all_is_never_recently_joined():
    dispatcher = one(HIGH)
    dispatcher.disconnect("a")
    dispatcher.connect("b", "b", 100)
    assert dispatcher.recently_joined == {} and dispatcher.pending() == {"b": [0]}


def test_keys_of_others_go_on_until_something_waits_for_the_newcomer():
    dispatcher = one(HIGH)
    dispatcher.connect("b", "b", 100)
    assert arrive(dispatcher, HIGH, HIGH) == [("a", 1), ("a", 2)]
    assert arrive(dispatcher, LOW, HIGH) == [], "and then nothing new is read"
    assert dispatcher.cursor.read_position == 4 and dispatcher.replay.positions == [3]
    assert dispatcher.ack([0, 1, 2], "a") == [("b", 3), ("a", 4)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_newcomer_is_let_go_by_the_acknowledgement_that_closes_the_last_hole_before_its_join(order):
    dispatcher = one(HIGH, HIGH, HIGH)
    dispatcher.connect("b", "b", 100)
    arrive(dispatcher, LOW)
    for position in order[:-1]:
        assert (
            dispatcher.ack([position], "a") == []
            and dispatcher.recently_joined == {"b": 3}
            and dispatcher.let_go == []
        )
    dispatcher.has_news = False
    assert dispatcher.ack([order[-1]], "a") == [("b", 3)]
    assert dispatcher.recently_joined == {} and dispatcher.let_go == ["b"] and dispatcher.has_news


def test_what_lies_after_the_join_need_not_be_acknowledged():
    dispatcher = one(HIGH)
    dispatcher.connect("b", "b", 100)
    arrive(dispatcher, HIGH, HIGH)
    dispatcher.ack([0], "a")
    assert dispatcher.recently_joined == {} and arrive(dispatcher, LOW) == [("b", 3)]


def test_who_joined_later_is_held_by_the_older_ones_holes_and_by_its_own():
    dispatcher = one(HIGH)
    dispatcher.connect("b", "b", 100)
    arrive(dispatcher, HIGH)
    dispatcher.connect("c", "c", 100)
    assert list(dispatcher.recently_joined.items()) == [("b", 1), ("c", 2)]
    assert dispatcher.ack([1], "a") == [] and dispatcher.let_go == []
    dispatcher.ack([0], "a")
    assert dispatcher.recently_joined == {} and dispatcher.let_go == ["b", "c"], (
        "one acknowledgement may let several go"
    )


def test_newcomer_behind_one_that_must_wait_waits_though_its_limit_is_no_higher():
    dispatcher = one(HIGH, HIGH)
    dispatcher.connect("b", "b", 100)
    dispatcher.connect("c", "c", 100)
    assert dispatcher.recently_joined == {"b": 2, "c": 2}
    dispatcher.ack([0], "a")
    assert list(dispatcher.recently_joined) == ["b", "c"]
    dispatcher.ack([1], "a")
    assert dispatcher.recently_joined == {}


def test_newcomer_that_leaves_is_forgotten_and_the_others_wait_on():
    dispatcher = one(HIGH)
    dispatcher.connect("b", "b", 100)
    dispatcher.connect("c", "c", 100)
    dispatcher.disconnect("b")
    assert dispatcher.recently_joined == {"c": 1} and dispatcher.let_go == []


def test_newcomer_that_is_left_alone_waits_no_longer_and_is_not_told():
    dispatcher = one(HIGH, HIGH)
    dispatcher.connect("b", "b", 100)
    arrive(dispatcher, LOW)
    assert dispatcher.disconnect("a") == [("b", 0), ("b", 1), ("b", 2)]
    assert dispatcher.recently_joined == {} and dispatcher.let_go == []


def test_last_one_to_leave_takes_what_was_remembered_with_it():
    dispatcher = one(HIGH)
    dispatcher.connect("b", "b", 100)
    dispatcher.disconnect("b")
    dispatcher.disconnect("a")
    assert dispatcher.recently_joined == {} and dispatcher.disconnect("a") == []


def test_leaver_lets_an_older_newcomer_go_whose_join_nothing_lies_before_any_more():
    """What the leaver had is sent to its new owner, acknowledged there, and with it the last hole is
    closed."""
    dispatcher = one(HIGH)
    dispatcher.connect("b", "b", 100)
    dispatcher.connect("c", "c", 100)
    arrive(dispatcher, LOW)
    sent = dispatcher.disconnect("a")
    assert [position for _, position in sent] == [0] and dispatcher.recently_joined == {"b": 1, "c": 1}
    ((holder, _),) = sent
    assert dispatcher.ack([0], holder) == [("c", 1)] and dispatcher.recently_joined == {}


def test_out_of_order_remembers_no_join_and_blocks_no_hash():
    dispatcher = one(HIGH, LOW, allows_out_of_order=True)
    dispatcher.connect("b", "b", 0)
    assert dispatcher.recently_joined == {}
    assert arrive(dispatcher, LOW, HIGH) == [("a", 3)] and dispatcher.replay.counts == {}
    assert dispatcher.flow("b", 9) == [("b", 2)]


def test_waiting_message_of_a_key_holds_the_next_one_of_it_in_the_same_read():
    dispatcher = one(permits=0)
    dispatcher.connect("b", "b", 0)
    arrive(dispatcher, LOW, HIGH, LOW)
    assert dispatcher.flow("a", 5) == [("a", 1)] and dispatcher.replay.positions == [0, 2]
    assert dispatcher.flow("b", 1) == [("b", 0)] and dispatcher.replay.positions == [2]
    assert dispatcher.flow("b", 1) == [("b", 2)]


def test_group_goes_as_far_as_the_limit_of_unacknowledged_messages():
    dispatcher = ordered(unacked_max=3)
    arrive(dispatcher, *[HIGH] * 5)
    assert dispatcher.connect("a", "a", 100) == [
        ("a", 0),
        ("a", 1),
        ("a", 2),
    ] and dispatcher.replay.positions == [3, 4]
    assert dispatcher.ack([0], "a") == [] and dispatcher.ack([1], "a") == [("a", 3), ("a", 4)]


def test_replay_that_sends_nothing_lets_the_next_read_look_ahead_and_new_keys_pass():
    dispatcher = ordered(read_batch=2)
    dispatcher.connect("a", "a", 100)
    dispatcher.connect("b", "b", 0)
    assert arrive(dispatcher, LOW, LOW, LOW, HIGH, LOW, HIGH) == [("a", 3), ("a", 5)]
    assert dispatcher.replay.positions == [0, 1, 2, 4]
    assert dispatcher.flow("b", 9) == [("b", 0), ("b", 1), ("b", 2), ("b", 4)]


def test_with_a_newcomer_there_is_no_looking_ahead():
    dispatcher = ordered(read_batch=1)
    dispatcher.connect("a", "a", 100)
    arrive(dispatcher, HIGH)
    dispatcher.connect("b", "b", 100)
    assert arrive(dispatcher, LOW) == []
    assert (
        arrive(dispatcher, HIGH) == []
        and dispatcher.flow("a", 1) == []
        and dispatcher.cursor.read_position == 2
    )


def test_owner_is_looked_up_again_after_every_join_and_leave():
    dispatcher = one(LOW)
    assert dispatcher.owner(LOW) == "a"
    dispatcher.connect("b", "b", 0)
    assert dispatcher.owner(LOW) == "b" and dispatcher.owner(QUARTER) == "b"
    dispatcher.connect("c", "c", 0)
    assert (dispatcher.owner(LOW), dispatcher.owner(QUARTER)) == ("c", "b")
    dispatcher.disconnect("c")
    assert dispatcher.owner(LOW) == "b"


def test_checkpoint_keeps_who_is_recently_joined_oldest_first_and_goes_on_the_same():
    dispatcher = one(HIGH)
    dispatcher.connect("b", "b", 100)
    arrive(dispatcher, HIGH)
    dispatcher.connect("c", "c", 100)
    arrive(dispatcher, LOW)
    again = KeySharedDispatcher(
        selector_from_json(dispatcher.selector.to_json()),
        cursor=dispatcher.cursor,
        entries=dispatcher.entries,
    )
    again.restore(dispatcher.to_json())
    assert (
        list(again.recently_joined.items()) == [("b", 1), ("c", 2)]
        and again.to_json() == dispatcher.to_json()
    )
    assert again.ack([0, 1], "a") == [("c", 2)] and again.let_go == ["b", "c"]
