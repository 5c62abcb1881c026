"""A Shared subscription at work: nothing acknowledged is sent again, nothing else is lost, and limits
hold."""

from hypothesis import given
from hypothesis import strategies as st

from broker_core.pulsar.dispatchers.shared import SharedDispatcher
from broker_core.pulsar.entry import Entry

steps = st.lists(
    st.tuples(
        st.sampled_from(["publish", "publish", "ack", "join", "leave", "flow", "again"]),
        st.integers(0, 2**16),
    ),
    min_size=5,
    max_size=80,
)


def shared(*permits: int, **options: int) -> SharedDispatcher:
    dispatcher = SharedDispatcher(**options)
    for number, count in enumerate(permits, 1):
        dispatcher.connect(f"c{number}", f"c{number}", count)
    return dispatcher


def test_turns_are_taken_in_groups_of_twenty() -> None:
    dispatcher = shared()
    dispatcher.publish([0] * 60)
    dispatcher.connect("a", "a", 0)
    dispatcher.connect("b", "b", 0)
    dispatcher.consumers["a"].permits = dispatcher.consumers["b"].permits = 100
    dispatcher.available = 200
    assert [consumer for consumer, _ in dispatcher.read_on()] == ["a"] * 20 + ["b"] * 20 + ["a"] * 20


def test_what_a_leaver_had_goes_to_the_others_before_anything_new() -> None:
    dispatcher = shared(2, 0)
    dispatcher.publish([0] * 3)
    dispatcher.disconnect("c1")
    assert dispatcher.flow("c2", 5) == [("c2", 0), ("c2", 1), ("c2", 2)]
    assert dispatcher.sent_before == {0, 1}


def test_blocked_consumer_is_released_at_half_and_gets_its_withheld_permits() -> None:
    dispatcher = shared(10, unacked_max=4)
    assert len(dispatcher.publish([0] * 9)) == 4
    assert dispatcher.flow("c1", 3) == [] and dispatcher.consumers["c1"].withheld == 3
    assert dispatcher.ack([0], "c1") == [] and dispatcher.consumers["c1"].is_blocked
    assert dispatcher.ack([1], "c1") == [("c1", 4), ("c1", 5)]


def test_full_subscription_reads_nothing_new_but_sends_again() -> None:
    dispatcher = shared(10, 10, unacked_all_max=4)
    assert len(dispatcher.publish([0] * 4)) == 4 and dispatcher.is_full
    assert dispatcher.publish([0]) == []
    assert dispatcher.redeliver("c1", [0]) == [("c2", 0)]
    assert dispatcher.ack([0, 1], "c2") == [], (
        "exactly half of its limit is left: PersistentDispatcherMultipleConsumers.addUnAckedMessages"
    )
    assert dispatcher.ack([2], "c1") == [("c1", 4)]


def test_delayed_message_waits_for_its_time_and_others_pass_it() -> None:
    dispatcher = shared(10)
    for position, at_us in enumerate((0, 500, 0)):
        entry = dispatcher.entries[position] = Entry(0, position, deliver_at_us=at_us)
        sent = dispatcher.arrived(position, entry)
        assert sent == ([] if at_us else [("c1", position)])
    assert dispatcher.next_delayed_us == 500 and dispatcher.due() == []
    dispatcher.now_us = 500
    assert dispatcher.due() == [("c1", 1)]


def test_batch_takes_a_permit_for_each_message_and_may_take_more_than_there_are() -> None:
    dispatcher = shared(2)
    for position in range(2):
        entry = dispatcher.entries[position] = Entry(0, position, batch=(1, 2, 3))
        dispatcher.arrived(position, entry)
    assert (
        dispatcher.pending() == {"c1": [0]}
        and dispatcher.consumers["c1"].permits == -1
        and dispatcher.available == 0
    )
    assert dispatcher.flow("c1", 1) == [] and dispatcher.flow("c1", 1) == [("c1", 1)]


@given(steps, st.sampled_from([0, 3, 50]), st.integers(1, 9))
def test_laws_of_a_shared_subscription(
    order: list[tuple[str, int]], unacked_max: int, read_batch: int
) -> None:
    dispatcher = SharedDispatcher(
        read_batch=read_batch, unacked_max=unacked_max, unacked_all_max=3 * unacked_max
    )
    acked: set[int] = set()
    for what, number in order:
        mark_delete, names = dispatcher.cursor.mark_delete, list(dispatcher.consumers)
        pending = [
            (position, name) for name, positions in dispatcher.pending().items() for position in positions
        ]
        sent: list[tuple[str, int]] = []
        if what == "publish":
            sent = dispatcher.publish([0] * (number % 5 + 1))
        elif what == "ack" and pending:
            position = pending[number % len(pending)][0]
            acked.add(position)
            sent = dispatcher.ack([position], names[number % len(names)])
        elif what == "join" and f"c{number % 6}" not in names:
            sent = dispatcher.connect(f"c{number % 6}", f"c{number % 6}", number % 7, number % 3)
        elif what == "leave" and names:
            sent = dispatcher.disconnect(names[number % len(names)])
        elif what == "flow" and names:
            sent = dispatcher.flow(names[number % len(names)], number % 9)
        elif what == "again" and pending:
            position, name = pending[number % len(pending)]
            sent = dispatcher.redeliver(name, [position])
        dispatcher.check()
        again = SharedDispatcher(
            read_batch=read_batch,
            unacked_max=unacked_max,
            unacked_all_max=3 * unacked_max,
            entries=dispatcher.entries,
        )
        again.restore(dispatcher.to_json())
        assert again.to_json() == dispatcher.to_json() and again.consumers == dispatcher.consumers
        assert dispatcher.cursor.mark_delete >= mark_delete and not {position for _, position in sent} & acked
        held = [position for positions in dispatcher.pending().values() for position in positions]
        assert len(held) == len(set(held)), "a message is at one consumer"
    if not dispatcher.consumers:
        dispatcher.connect("last", "last", 0)
    for _ in range(3 * dispatcher.cursor.end + 3):
        for name in list(dispatcher.consumers):
            dispatcher.flow(name, 5)
        dispatcher.ack([position for positions in dispatcher.pending().values() for position in positions])
    assert dispatcher.cursor.backlog == 0, "nothing that was not acknowledged is lost"


def test_each_delayed_message_has_its_timer() -> None:
    """Found by a seeded life: once the first was due, nobody woke for the second."""
    dispatcher = shared(10)
    for position, at_us in enumerate((1_000, 2_000)):
        entry = dispatcher.entries[position] = Entry(0, position, deliver_at_us=at_us)
        assert dispatcher.arrived(position, entry) == []
    dispatcher.has_news, dispatcher.now_us = False, 1_000
    assert dispatcher.due() == [("c1", 0)] and dispatcher.has_news and dispatcher.next_delayed_us == 2_000
