"""Acknowledgements at a dispatcher: whoever sends them, for what is pending, waits, is acknowledged, or was
never there."""

import pytest

from broker_core.errors import InvariantError
from tests.core.pulsar.dispatchers.arriving import HIGH, LOW, arrive
from tests.core.pulsar.dispatchers.kinds import BY_KEY, KINDS, come, shared


def with_two(kind, **options):
    """a has entries 0, 2 and 4, b has 1 and 3."""
    dispatcher = kind(**options)
    if kind is shared:
        for name in "ab":
            dispatcher.connect(name, name, 0)
        arrive(dispatcher, *[HIGH] * 5)
        for name in "ababa":
            dispatcher.flow(name, 1)
    else:
        dispatcher.connect("a", "a", 10)
        dispatcher.connect("b", "b", 10)
        arrive(dispatcher, HIGH, LOW, HIGH, LOW, HIGH)
    assert dispatcher.pending() == {"a": [0, 2, 4], "b": [1, 3]}
    return dispatcher


@KINDS
def test_several_at_once_of_any_order_are_gone(kind):
    dispatcher = with_two(kind)
    dispatcher.ack([4, 0, 2], "a")
    assert dispatcher.pending() == {"a": [], "b": [1, 3]} and dispatcher.unacked == 2
    assert dispatcher.cursor.mark_delete == 0 and dispatcher.cursor.ranges == [(1, 2), (3, 4)]


@KINDS
@pytest.mark.parametrize("by", ["a", "b", None, "nobody"])
def test_whoever_says_so_it_is_settled_at_who_has_it(kind, by):
    dispatcher = with_two(kind)
    dispatcher.ack([0, 1, 2], by)
    assert dispatcher.pending() == {"a": [4], "b": [3]} and dispatcher.cursor.mark_delete == 2
    assert [dispatcher.consumers[name].unacked for name in "ab"] == [1, 1] and dispatcher.unacked == 2
    dispatcher.check()


@KINDS
@pytest.mark.parametrize("positions", [[], [0], [-3], [7], [5, 10**9]])
def test_what_is_acknowledged_already_or_does_not_exist_changes_nothing(kind, positions):
    dispatcher = with_two(kind)
    dispatcher.ack([0], "a")
    before, cursor = dispatcher.to_json(), (dispatcher.cursor.mark_delete, dict(dispatcher.cursor.ahead))
    for by in ("a", "b", None):
        assert dispatcher.ack(positions, by) == []
    assert dispatcher.to_json() == before and cursor == (
        dispatcher.cursor.mark_delete,
        dispatcher.cursor.ahead,
    )


@KINDS
def test_one_that_is_there_counts_though_another_of_the_command_does_not(kind):
    dispatcher = with_two(kind)
    dispatcher.ack([9, 0, 0, 1], "a")
    assert (
        dispatcher.pending() == {"a": [2, 4], "b": [3]}
        and dispatcher.cursor.mark_delete == 1
        and dispatcher.unacked == 3
    )


@KINDS
def test_what_has_not_been_read_is_never_sent_once_it_is_acknowledged(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 1)
    arrive(dispatcher, HIGH, HIGH, HIGH)
    dispatcher.ack([1], "a")
    assert dispatcher.flow("a", 5) == [("a", 2)]
    dispatcher.check()


@KINDS
def test_what_waits_to_be_sent_again_is_not_sent_once_it_is_acknowledged(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 2)
    arrive(dispatcher, HIGH, HIGH)
    assert dispatcher.redeliver("a", [0, 1]) == [] and dispatcher.replay.positions == [0, 1]
    assert dispatcher.ack([0], "a") == []
    assert (
        dispatcher.flow("a", 5) == [("a", 1)] and 0 not in dispatcher.replay and dispatcher.sent_before == {1}
    )


@KINDS
def test_entry_that_a_leaver_had_and_acknowledges_late_is_not_sent_to_the_others(kind):
    """Its last acknowledgements may come after its consumer is closed."""
    dispatcher = with_two(kind)
    dispatcher.connect("c", "c", 0)
    for name in "ab":
        dispatcher.consumers[name].permits = 0
    dispatcher.available = 0
    dispatcher.disconnect("a")
    assert dispatcher.ack([0, 4], "a") == []
    sent = dispatcher.flow("b", 10) + dispatcher.flow("c", 10)
    assert [position for _, position in sent] == [2]
    dispatcher.check()


@KINDS
def test_who_asks_again_for_what_it_has_acknowledged_gets_nothing(kind):
    dispatcher = with_two(kind)
    dispatcher.ack([0], "a")
    assert dispatcher.redeliver("a", [0]) == [] and dispatcher.sent_before == set()


@KINDS
def test_batches_are_counted_off_by_their_messages_also_between_single_ones(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    for size in (1, 3, 1, 2):
        come(dispatcher, HIGH, size=size)
    dispatcher.ack([0, 1], "a")
    assert dispatcher.unacked == 3 and dispatcher.consumers["a"].unacked == 3
    dispatcher.ack([2, 3, 3], "a")
    assert dispatcher.unacked == 0 and dispatcher.consumers["a"].unacked == 0


@KINDS
def test_batch_that_its_topic_does_not_keep_any_more_counts_as_one_message(kind):
    """Another subscription's acknowledgements trim a topic only behind everybody, so this is for what should
    not be."""
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    come(dispatcher, HIGH, size=3)
    come(dispatcher, HIGH, size=2)
    del dispatcher.entries[0]
    dispatcher.ack([0], "a")
    assert dispatcher.consumers["a"].unacked == 4


@KINDS
def test_release_of_a_blocked_consumer_by_somebody_elses_word_sends_at_once(kind):
    dispatcher = kind(unacked_max=2)
    dispatcher.connect("a", "a", 10)
    arrive(dispatcher, HIGH, HIGH, HIGH)
    dispatcher.connect("b", "b", 0)
    assert dispatcher.ack([0], "b") == [("a", 2)]


@KINDS
def test_release_of_a_full_subscription_by_an_acknowledgement_of_one_of_several(kind):
    dispatcher = kind(unacked_all_max=4)
    dispatcher.connect("a", "a", 10)
    arrive(dispatcher, *[HIGH] * 6)
    assert dispatcher.is_full and dispatcher.ack([0, 1, 2, 99], "a") == [("a", 4), ("a", 5)]


@BY_KEY
def test_older_entry_of_a_key_that_somebody_acknowledges_lets_the_newer_one_go(kind):
    """1 waits behind 0 of its key, which waits for permits of b; a says that 0 is done."""
    dispatcher = kind()
    dispatcher.connect("a", "a", 10)
    dispatcher.connect("b", "b", 1)
    arrive(dispatcher, LOW, LOW, LOW)
    assert dispatcher.pending()["b"] == [0] and dispatcher.replay.positions == [1, 2]
    assert dispatcher.ack([1], "a") == [] and dispatcher.flow("b", 5) == [("b", 2)]


@BY_KEY
def test_each_settled_entry_is_told_once_with_the_hash_it_had(kind):
    dispatcher = kind()
    heard = []
    dispatcher.connect("a", "a", 10)
    arrive(dispatcher, LOW, LOW + 1, LOW)
    dispatcher.on_settled = lambda consumer, hash32: heard.append((consumer, hash32))
    dispatcher.ack([0, 1, 0, 9], "a")
    dispatcher.ack([2], None)
    assert heard == [("a", LOW), ("a", LOW + 1), ("a", LOW)]


@KINDS
def test_laws_that_are_broken_are_found(kind):
    dispatcher = with_two(kind)
    del dispatcher.consumers["a"].pending[2]
    with pytest.raises(
        InvariantError, match="5 entries are read and not acknowledged, and only 4 are sent or wait"
    ):
        dispatcher.check()
    dispatcher = with_two(kind)
    dispatcher.available -= 1
    with pytest.raises(InvariantError, match="permits are counted, there are"):
        dispatcher.check()


@KINDS
def test_nobody_connected_breaks_no_law(kind):
    dispatcher = with_two(kind)
    for name in "ab":
        dispatcher.disconnect(name)
    dispatcher.check()
    assert dispatcher.available == dispatcher.unacked == 0 and not dispatcher.is_full
