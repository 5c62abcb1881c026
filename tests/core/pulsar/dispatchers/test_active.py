"""Exclusive and Failover at work: the active one reads on, and who becomes active reads again from
mark-delete."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.errors import ConsumerBusy
from broker_core.pulsar.dispatchers.single_active import NOT_PARTITIONED, SingleActiveDispatcher
from broker_core.pulsar.entry import Entry


def failover(partition: int = 0, **options: int) -> ActiveDispatcher:
    return ActiveDispatcher(SingleActiveDispatcher("persistent://public/default/t", partition), **options)


def publish(dispatcher: ActiveDispatcher, count: int) -> list[tuple[str, int]]:
    sent = []
    for _ in range(count):
        position = dispatcher.cursor.end
        entry = dispatcher.entries[position] = Entry(0, position)
        sent += dispatcher.arrived(position, entry)
    return sent


def test_nobody_reads_during_the_second_after_a_switch() -> None:
    dispatcher = failover()
    dispatcher.connect("a", "a", 10)
    assert dispatcher.switching and publish(dispatcher, 2) == [] and dispatcher.flow("a", 1) == []
    assert dispatcher.switch() == [("a", 0), ("a", 1)] and dispatcher.notices == [("a", True)]


def test_next_active_consumer_gets_again_what_was_not_acknowledged_with_holes() -> None:
    dispatcher = failover(delay_us=0)
    for name in "ab":
        dispatcher.connect(name, name, 10)
    publish(dispatcher, 5)
    dispatcher.ack([0, 2], "a")
    assert dispatcher.disconnect("a") == [("b", 1), ("b", 3), ("b", 4)]
    assert dispatcher.sent_before == {1, 3, 4} and dispatcher.rewound == 3


def test_newcomer_with_a_better_priority_takes_over_and_the_old_one_may_still_acknowledge() -> None:
    dispatcher = failover(delay_us=0)
    dispatcher.connect("b", "b", 10, 1)
    assert publish(dispatcher, 2) == [("b", 0), ("b", 1)]
    assert dispatcher.connect("a", "a", 10, 0) == [("a", 0), ("a", 1)]
    dispatcher.ack([0, 1], "b")
    assert dispatcher.cursor.mark_delete == 1


def test_standby_learns_that_it_is_one_and_cannot_ask_for_messages_again() -> None:
    dispatcher = failover(delay_us=0)
    dispatcher.connect("a", "a", 10)
    dispatcher.notices.clear()
    dispatcher.connect("b", "b", 10)
    assert dispatcher.notices == [("b", False)]
    publish(dispatcher, 1)
    assert dispatcher.redeliver("b", [0]) == [] and dispatcher.redeliver("a", [0]) == [("a", 0)]


def test_another_switch_in_the_same_second_starts_no_second_timer_and_the_last_active_one_reads() -> None:
    dispatcher = failover()
    dispatcher.connect("b", "b", 10, 1)
    assert dispatcher.starts_timer
    dispatcher.starts_timer, dispatcher.now_us = False, 400_000
    publish(dispatcher, 1)
    dispatcher.connect("a", "a", 10, 0)
    assert dispatcher.active == "a" and not dispatcher.starts_timer and dispatcher.since_us == 0
    assert dispatcher.switch() == [("a", 0)] and dispatcher.notices == [("a", True), ("b", False)]


def test_during_a_switch_nobody_is_given_anything_again() -> None:
    dispatcher = failover()
    dispatcher.connect("b", "b", 10, 1)
    dispatcher.switch()
    publish(dispatcher, 2)
    dispatcher.connect("a", "a", 10, 0)
    assert (
        dispatcher.redeliver("a", []) == dispatcher.redeliver("b", []) == []
        and dispatcher.sent_before == set()
    )
    assert dispatcher.switch() == [("a", 0), ("a", 1)] and dispatcher.sent_before == {0, 1}


def test_cumulative_acknowledgement_takes_everything_before_it() -> None:
    dispatcher = failover(delay_us=0)
    dispatcher.connect("a", "a", 10)
    publish(dispatcher, 5)
    dispatcher.ack([4], "a")
    dispatcher.ack_cumulative(2)
    assert (dispatcher.cursor.mark_delete, dispatcher.cursor.backlog) == (2, 1)
    dispatcher.ack_cumulative(1)
    dispatcher.ack_cumulative(9)
    assert dispatcher.cursor.mark_delete == 2


def test_second_consumer_of_exclusive_is_refused_and_changes_nothing() -> None:
    dispatcher = ActiveDispatcher(SingleActiveDispatcher("persistent://public/default/t", is_exclusive=True))
    dispatcher.connect("a", "a", 1)
    state = dispatcher.to_json()
    with pytest.raises(ConsumerBusy, match="Exclusive consumer is already connected"):
        dispatcher.connect("b", "b", 1)
    assert dispatcher.to_json() == state and dispatcher.active == "a" and not dispatcher.switching


def test_documents_rule_for_one_topic_picks_who_subscribed_first() -> None:
    picker = SingleActiveDispatcher("persistent://public/default/t", NOT_PARTITIONED, in_order=True)
    dispatcher = ActiveDispatcher(picker, delay_us=0)
    for name in "cab":
        dispatcher.connect(name, name, 1)
    assert dispatcher.active == "c"
    dispatcher.disconnect("c")
    assert dispatcher.active == "a"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["publish", "ack", "cumulative", "join", "leave", "flow", "switch"]),
            st.integers(0, 999),
        ),
        max_size=60,
    )
)
def test_laws_of_a_single_active_consumer(order: list[tuple[str, int]]) -> None:
    dispatcher, acked = failover(partition=1), set()
    for what, number in order:
        mark_delete, names = dispatcher.cursor.mark_delete, list(dispatcher.consumers)
        unacked = dispatcher.cursor.unacked_read()
        sent: list[tuple[str, int]] = []
        if what == "publish":
            sent = publish(dispatcher, number % 5)
        elif what == "ack" and unacked:
            sent = dispatcher.ack([unacked[number % len(unacked)]])
            acked.add(unacked[number % len(unacked)])
        elif what == "cumulative" and unacked:
            dispatcher.ack_cumulative(unacked[number % len(unacked)])
            acked.update(range(unacked[number % len(unacked)] + 1))
        elif what == "join" and f"c{number % 5}" not in names:
            sent = dispatcher.connect(f"c{number % 5}", f"c{number % 5}", number % 4, number % 2)
        elif what == "leave" and names:
            sent = dispatcher.disconnect(names[number % len(names)])
        elif what == "flow" and names:
            sent = dispatcher.flow(names[number % len(names)], number % 7)
        elif what == "switch" and dispatcher.switching:
            sent = dispatcher.switch()
        dispatcher.check()
        assert {consumer for consumer, _ in sent} <= {dispatcher.active}
        assert dispatcher.cursor.mark_delete >= mark_delete and not {position for _, position in sent} & acked
        again = failover(partition=1)
        again.restore(dispatcher.to_json())
        assert again.to_json() == dispatcher.to_json() and again.picker.order == dispatcher.picker.order
    if not dispatcher.consumers:
        dispatcher.connect("last", "last", 0)
    dispatcher.switch()
    for _ in range(3):
        dispatcher.flow(dispatcher.active, dispatcher.cursor.end)
        dispatcher.ack(dispatcher.cursor.unacked_read())
    assert dispatcher.cursor.backlog == 0, "nothing that was not acknowledged is lost"
