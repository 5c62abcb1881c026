"""Permits at a dispatcher: what is granted, taken by messages and batches, withheld from who is blocked, and
what all of them add up to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.pulsar.dispatchers.arriving import HIGH, LOW, arrive
from tests.core.pulsar.dispatchers.kinds import BY_KEY, KINDS, come, current, ordered, permits, shared


@KINDS
def test_each_message_takes_a_permit_and_none_is_sent_without(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 2)
    assert arrive(dispatcher, HIGH, HIGH, HIGH) == [("a", 0), ("a", 1)]
    assert permits(dispatcher) == {"a": 0} and dispatcher.available == 0
    assert dispatcher.flow("a", 5) == [("a", 2)] and dispatcher.available == 4


@KINDS
def test_acknowledging_gives_no_permits_back(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 2)
    arrive(dispatcher, HIGH, HIGH, HIGH)
    assert dispatcher.ack([0, 1], "a") == [] and permits(dispatcher) == {"a": 0}


@KINDS
def test_asking_again_takes_permits_a_second_time(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 3)
    arrive(dispatcher, HIGH, HIGH)
    assert dispatcher.redeliver("a", [0, 1]) == [("a", 0)] and dispatcher.available == 0
    assert dispatcher.flow("a", 1) == [("a", 1)]


@KINDS
@pytest.mark.parametrize(("size", "left"), [(1, 1), (2, 0), (3, -1), (7, -5)])
def test_last_permits_let_a_whole_batch_through_and_what_it_took_beyond_them_is_owed(kind, size, left):
    dispatcher = kind()
    dispatcher.connect("a", "a", 2)
    assert come(dispatcher, HIGH, size=size) == [("a", 0)] and permits(dispatcher) == {"a": left}
    assert dispatcher.available == max(left, 0)
    come(dispatcher, HIGH)
    if left > 0:
        return
    for granted in range(-left):
        assert dispatcher.flow("a", 1) == [] and dispatcher.available == 0, granted
    assert dispatcher.flow("a", 1) == [("a", 1)] and permits(dispatcher) == {"a": 0}


@KINDS
def test_grant_that_pays_what_is_owed_and_more_counts_with_what_is_more(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 1)
    come(dispatcher, HIGH, size=4)
    dispatcher.flow("a", 10)
    assert permits(dispatcher) == {"a": 7} and dispatcher.available == 7
    dispatcher.check()


@KINDS
def test_who_leaves_takes_its_permits_with_it_and_nobody_has_what_it_owed(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 1)
    dispatcher.connect("b", "b", 9)
    come(dispatcher, HIGH, size=3)
    before = dispatcher.available
    holder = next(name for name, positions in dispatcher.pending().items() if positions)
    assert before == (9 if holder == "a" else 1 + 6)
    dispatcher.disconnect("a")
    assert dispatcher.available == permits(dispatcher)["b"] == 6 and dispatcher.unacked == 3
    dispatcher.check()


@KINDS
def test_permits_with_which_a_consumer_connects_count_at_once(kind):
    dispatcher = kind()
    arrive(dispatcher, HIGH, HIGH)
    assert dispatcher.connect("a", "a", 1) == [("a", 0)] and dispatcher.available == 0


@KINDS
def test_batch_counts_its_messages_as_unacknowledged(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 100)
    come(dispatcher, HIGH, size=3)
    come(dispatcher, HIGH)
    assert (dispatcher.consumers["a"].unacked, dispatcher.unacked) == (4, 4)
    dispatcher.ack([0], "a")
    assert (dispatcher.consumers["a"].unacked, dispatcher.unacked) == (1, 1)
    dispatcher.ack([1], "a")
    assert (dispatcher.consumers["a"].unacked, dispatcher.unacked) == (0, 0)


@KINDS
@pytest.mark.parametrize("released_with", [0, 3])
def test_what_a_blocked_consumer_grants_is_withheld_until_it_is_released(kind, released_with):
    dispatcher = kind(unacked_max=2)
    dispatcher.connect("a", "a", 2)
    arrive(dispatcher, *[HIGH] * 6)
    for _ in range(released_with):
        assert dispatcher.flow("a", 1) == []
    known = dispatcher.consumers["a"]
    assert (known.is_blocked, known.permits, known.withheld, dispatcher.available) == (
        True,
        0,
        released_with,
        0,
    )
    sent = dispatcher.ack([0], "a")
    assert sent == [("a", 2)][:released_with], "and with it the limit is reached again"
    assert known.withheld == 0 and known.permits == max(released_with - 1, 0)
    dispatcher.check()


@KINDS
def test_limits_of_zero_are_none(kind):
    dispatcher = kind(unacked_max=0, unacked_all_max=0)
    dispatcher.connect("a", "a", 500)
    assert len(arrive(dispatcher, *[HIGH] * 150)) == 150
    dispatcher.disconnect("a")
    assert (
        len(dispatcher.connect("b", "b", 500)) == 150
        and not dispatcher.is_full
        and not dispatcher.consumers["b"].is_blocked
    )


@KINDS
def test_batch_that_goes_beyond_the_limit_blocks_and_its_permits_are_not_available(kind):
    dispatcher = kind(unacked_max=3)
    dispatcher.connect("a", "a", 10)
    come(dispatcher, HIGH, size=5)
    known = dispatcher.consumers["a"]
    assert (known.is_blocked, known.permits, known.unacked, dispatcher.available) == (True, 5, 5, 0)
    dispatcher.disconnect("a")
    assert dispatcher.available == 0
    dispatcher.check()


@BY_KEY
def test_consumer_without_permits_holds_up_its_own_keys_only(kind):
    dispatcher = kind()
    dispatcher.connect("a", "a", 0)
    dispatcher.connect("b", "b", 10)
    assert arrive(dispatcher, HIGH, LOW, HIGH, LOW) == [("b", 1), ("b", 3)]
    assert dispatcher.replay.positions == [0, 2]
    assert dispatcher.flow("a", 1) == [("a", 0)] and dispatcher.flow("a", 9) == [("a", 2)]


@BY_KEY
@pytest.mark.parametrize("read_batch", [1, 2, 100])
def test_reads_in_small_pieces_send_the_same(kind, read_batch):
    dispatcher = kind(read_batch=read_batch)
    dispatcher.connect("a", "a", 0)
    dispatcher.connect("b", "b", 0)
    arrive(dispatcher, LOW, HIGH, LOW, LOW, HIGH)
    assert sorted(dispatcher.flow("b", 3) + dispatcher.flow("a", 3), key=lambda sent: sent[1]) == [
        ("b", 0), ("a", 1), ("b", 2), ("b", 3), ("a", 4),
    ]  # fmt: skip


def test_no_read_is_larger_than_the_permits_of_all():
    dispatcher = shared(read_batch=100)
    dispatcher.connect("a", "a", 0)
    arrive(dispatcher, *[HIGH] * 10)
    assert len(dispatcher.flow("a", 4)) == 4 and dispatcher.cursor.read_position == 4


@settings(max_examples=50, deadline=None)
@given(
    kind=st.sampled_from([shared, ordered, current]),
    limit=st.sampled_from([0, 4]),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["come", "come", "flow", "ack", "again", "join", "leave"]), st.integers(0, 60)
        ),
        max_size=40,
    ),
)
def test_granted_is_taken_or_left(kind, limit, steps):
    """Of each consumer: what it has granted is what it was sent, message by message, and what it has left or
    withheld."""
    dispatcher = kind(unacked_max=limit)
    granted: dict[str, int] = {}
    taken: dict[str, int] = {}
    for what, number in steps:
        names, sent = list(dispatcher.consumers), []
        chosen = names[number % len(names)] if names else ""
        if what == "come":
            sent = come(dispatcher, (LOW, HIGH)[number % 2], size=number % 4 + 1)
        elif what == "join" and f"c{number % 5}" not in names:
            granted[f"c{number % 5}"], taken[f"c{number % 5}"] = number % 7, 0
            sent = dispatcher.connect(f"c{number % 5}", f"c{number % 5}", number % 7)
        elif not names:
            continue
        elif what == "leave":
            sent = dispatcher.disconnect(chosen)
        elif what == "flow":
            granted[chosen] += number % 9
            sent = dispatcher.flow(chosen, number % 9)
        elif what == "ack":
            sent = dispatcher.ack(dispatcher.pending()[chosen][: number % 5], names[number // 2 % len(names)])
        elif what == "again":
            sent = dispatcher.redeliver(chosen, dispatcher.pending()[chosen][:: number % 3 + 1])
        for name, position in sent:
            taken[name] += dispatcher.entries[position].size
        for name, known in dispatcher.consumers.items():
            assert granted[name] == taken[name] + known.permits + known.withheld
            assert known.unacked == sum(dispatcher.entries[position].size for position in known.pending)
        assert dispatcher.unacked == sum(known.unacked for known in dispatcher.consumers.values())
        dispatcher.check()
