"""Shared, where entries hold several messages: how many entries go to whose turn it is. Fact 4.7: messages,
by what an entry holds on average."""

import pytest

from broker_core.pulsar.dispatchers.shared import SharedDispatcher
from broker_core.pulsar.entry import Entry


def shared(*sizes, consumers=("a", "b"), permits=1000, **options):
    """These entries are there before anybody can take one; then each consumer may take so many messages.
    Gives what was sent, in order."""
    dispatcher = SharedDispatcher(**options)
    for consumer in consumers:
        dispatcher.connect(consumer, consumer, 0)
    for position, size in enumerate(sizes):
        first = 100 * position
        dispatcher.entries[position] = Entry(
            0, first, batch=tuple(range(first, first + size)) if size > 1 else ()
        )
        dispatcher.arrived(position, dispatcher.entries[position])
    dispatcher._grant(dispatcher.consumers[consumers[-1]], permits)
    sent = [*dispatcher.flow(consumers[0], permits)]
    dispatcher.check()
    return dispatcher, sent


def runs(sent):
    """(consumer, how many entries in a row)."""
    found = []
    for consumer, _ in sent:
        if found and found[-1][0] == consumer:
            found[-1][1] += 1
        else:
            found.append([consumer, 1])
    return [tuple(run) for run in found]


@pytest.mark.parametrize(("sizes", "expected"), [
    ([1] * 50, [("a", 20), ("b", 20), ("a", 10)]),          # messages on their own: twenty in a row
    ([10] * 7, [("a", 2), ("b", 2), ("a", 2), ("b", 1)]),   # twenty messages are two entries
    ([7] * 6, [("a", 2), ("b", 2), ("a", 2)]),              # 20 / 7, rounded down
    ([30] * 3, [("a", 1), ("b", 1), ("a", 1)]),             # one at least
    # 36 / 6 = 6 on average, so three entries, whatever they hold
    ([1, 1, 1, 1, 16, 16], [("a", 3), ("b", 3)]),
])  # fmt: skip
def test_one_turn_is_twenty_messages_by_the_average_of_the_read(sizes, expected):
    _, sent = shared(*sizes)
    assert runs(sent) == expected and [position for _, position in sent] == list(range(len(sizes)))


def test_last_turn_is_what_is_left_of_the_messages_in_the_read():
    _, sent = shared(*[10] * 3)
    assert runs(sent) == [("a", 2), ("b", 1)]


def test_turn_is_never_more_than_its_permits_on_average_but_one_entry_may_be():
    dispatcher, sent = shared(*[10] * 4, permits=15)
    assert runs(sent) == [("a", 1), ("b", 1), ("a", 1), ("b", 1)]
    assert {name: known.permits for name, known in dispatcher.consumers.items()} == {
        "a": -5,
        "b": -5,
    } and dispatcher.available == 0


def test_turn_is_no_more_than_what_is_left_of_the_consumers_limit():
    """Fact 4.9; the entry that reaches the limit goes as a whole."""
    dispatcher, sent = shared(*[5] * 8, unacked_max=12)
    assert runs(sent) == [("a", 2), ("b", 2), ("a", 1), ("b", 1)]
    assert all(known.is_blocked and known.unacked == 15 for known in dispatcher.consumers.values())
    assert dispatcher.replay.positions == [6, 7]


def test_what_comes_again_counts_as_the_entry_is_long_when_it_is_shared_out():
    """The metadata says how many messages an entry holds; what of it is acknowledged the cursor alone
    knows."""
    dispatcher, _ = shared(*[10] * 4, consumers=("a",))
    for position in range(4):
        dispatcher.ack_places(position, range(9), "a")
    dispatcher.connect("b", "b", 1000)
    sent = dispatcher.disconnect("a")
    assert sent == [("b", position) for position in range(4)] and dispatcher.consumers["b"].permits == 996
