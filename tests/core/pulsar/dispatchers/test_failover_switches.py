"""Exclusive and Failover step by step: who is active where, what a switch sends again, what counts from
whoever was active before."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.pulsar.dispatchers.active import FAILOVER_DELAY_US, ActiveDispatcher
from broker_core.pulsar.dispatchers.errors import ServerMetadata
from broker_core.pulsar.dispatchers.single_active import NOT_PARTITIONED, SingleActiveDispatcher, Standby
from broker_core.pulsar.entry import Entry

TOPIC = "persistent://public/default/t"


def failover(partition=0, *, consumers=(), **options):
    dispatcher = ActiveDispatcher(SingleActiveDispatcher(TOPIC, partition), **{"delay_us": 0, **options})
    for name, permits in consumers:
        dispatcher.connect(name, name, permits)
    return dispatcher


def exclusive(permits=100):
    dispatcher = ActiveDispatcher(SingleActiveDispatcher(TOPIC, is_exclusive=True))
    dispatcher.connect("a", "a", permits)
    return dispatcher


def come(dispatcher, *sizes):
    sent = []
    for size in sizes:
        position = dispatcher.cursor.end
        entry = dispatcher.entries[position] = Entry(
            0, position, batch=tuple(range(size)) if size > 1 else ()
        )
        sent += dispatcher.arrived(position, entry)
    return sent


def picker(partition, *consumers, **options):
    """consumers: names, or (name, level)."""
    made = SingleActiveDispatcher(
        f"{TOPIC}-partition-{partition}" if partition >= 0 else TOPIC, partition, **options
    )
    for one in consumers:
        name, level = one if isinstance(one, tuple) else (one, 0)
        made.add(Standby(name, name, level))
    return made


# --- who is active


@pytest.mark.parametrize(("consumers", "actives"), [
    ("A", "AAAAA"), ("AB", "ABABA"), ("CBA", "ABCAB"), ("BCAED", "ABCDE"),
    ([("A", 1), ("B", 0), ("C", 1)], "BBBBB"), ([("A", 2), ("B", 1), ("C", 1), ("D", 2)], "BCBCB"),
])  # fmt: skip
def test_partition_index_modulo_the_consumers_of_the_best_level_sorted_by_name(consumers, actives):
    assert "".join(picker(number, *consumers).active for number in range(5)) == actives


def test_names_are_sorted_as_java_compares_them_and_equal_ones_as_they_came():
    made = picker(0, "\uffff", "\U00010000")
    assert made.active == "\U00010000", "its first UTF-16 unit is a surrogate, D800"
    made = SingleActiveDispatcher(f"{TOPIC}-partition-1", 1)
    for key in ("second", "first"):
        made.add(Standby(key, "same"))
    assert made.order == ["second", "first"] and made.active == "first"


def test_topic_without_partitions_asks_the_ring_of_names_whoever_came_first():
    actives = {picker(NOT_PARTITIONED, *order).active for order in ("ABC", "CBA", "BAC")}
    assert len(actives) == 1
    by_topic = set()
    for number in range(30):
        made = SingleActiveDispatcher(f"{TOPIC}{number}")
        for name in "ABC":
            made.add(Standby(name, name))
        by_topic.add(made.active)
    assert by_topic == {"A", "B", "C"}, "its name falls on one of them"


def test_ring_of_partitions_is_masters_and_asks_their_full_names():
    by_ring = [picker(number, "A", "B", "C", uses_ring=True).active for number in range(12)]
    assert set(by_ring) == {"A", "B", "C"} and by_ring != [
        picker(number, "A", "B", "C").active for number in range(12)
    ]


def test_ring_is_of_the_best_level_only():
    assert {picker(number, ("A", 1), ("B", 0), ("C", 1), uses_ring=True).active for number in range(8)} == {
        "B"
    }


def test_in_the_order_of_their_coming_neither_names_nor_levels_count():
    made = picker(NOT_PARTITIONED, ("C", 2), ("A", 0), in_order=True)
    assert (made.active, made.order) == ("C", ["C", "A"])
    assert made.remove("A").switched is False and made.active == "C"


@pytest.mark.parametrize(
    ("partition", "joins", "switched", "notified"),
    [
        (0, "A", True, "A"),
        (0, "AB", False, "B"),
        (1, "AB", True, "AB"),
        (0, "BA", True, "AB"),
        (1, "BA", False, "A"),
        (2, "ABC", True, "ABC"),
    ],
)
def test_all_are_told_of_a_switch_and_only_the_newcomer_that_it_stands_by(
    partition, joins, switched, notified
):
    made = picker(partition, *joins[:-1])
    change = made.add(Standby(joins[-1], joins[-1]))
    assert (change.switched, "".join(change.notified)) == (switched, notified)


def test_nobody_left_is_no_switch_and_nobody_is_told():
    made = picker(0, "A")
    change = made.remove("A")
    assert (change.switched, change.notified, made.active, made.order) == (False, (), None, [])


def test_exclusive_is_active_whatever_its_partition_and_nobody_is_told():
    made = SingleActiveDispatcher(TOPIC, 7, is_exclusive=True)
    change = made.add(Standby("a", "A"))
    assert (change.switched, change.notified, made.active) == (True, (), "a")
    assert made.remove("a").notified == ()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ABCDEFG"), st.integers(0, 2)), unique_by=lambda one: one[0], min_size=1
    ),
    st.integers(0, 6),
)
def test_partitions_are_spread_evenly_over_the_best_level(consumers, more):
    level = min(level for _, level in consumers)
    best = sorted(name for name, known in consumers if known == level)
    actives = [picker(number, *consumers).active for number in range(2 * len(best) + more)]
    counts = [actives.count(name) for name in best]
    assert sum(counts) == len(actives) and max(counts) - min(counts) <= 1


# --- what is sent


def test_active_one_reads_as_far_as_its_permits_and_standby_permits_wait():
    dispatcher = failover(consumers=[("a", 1), ("b", 9)])
    assert come(dispatcher, 1, 1) == [("a", 0)]
    assert dispatcher.flow("b", 5) == [] and dispatcher.flow("a", 1) == [("a", 1)]
    assert dispatcher.consumers["b"].permits == 14


@pytest.mark.parametrize("read_batch", [1, 2, 100])
def test_reads_of_any_size_send_the_same(read_batch):
    dispatcher = failover(read_batch=read_batch)
    come(dispatcher, *[1] * 5)
    assert (
        dispatcher.connect("a", "a", 4) == [("a", 0), ("a", 1), ("a", 2), ("a", 3)]
        and dispatcher.consumers["a"].permits == 0
    )


def test_read_takes_whole_batches_beyond_its_permits():
    """It reads as many entries as it has permits, each of which may be a batch."""
    dispatcher = failover()
    come(dispatcher, 3, 3, 1)
    assert dispatcher.connect("a", "a", 2) == [("a", 0), ("a", 1)] and dispatcher.consumers["a"].permits == -4
    assert dispatcher.flow("a", 4) == [] and dispatcher.flow("a", 1) == [("a", 2)]


@pytest.mark.parametrize("make", [exclusive, lambda: failover(consumers=[("a", 100)])])
def test_asked_for_again_means_all_that_is_not_acknowledged_whatever_is_named(make):
    dispatcher = make()
    come(dispatcher, 1, 1, 1, 1)
    dispatcher.ack([1], "a")
    assert dispatcher.redeliver("a", [3]) == [("a", 0), ("a", 2), ("a", 3)] and dispatcher.sent_before == {
        0,
        2,
        3,
    }
    assert dispatcher.redeliver("a", []) == [("a", 0), ("a", 2), ("a", 3)]


def test_exclusive_begins_at_once_and_who_comes_after_it_reads_from_mark_delete():
    dispatcher = exclusive()
    assert not dispatcher.switching and not dispatcher.starts_timer and dispatcher.delay_us == 0
    come(dispatcher, 1, 1, 1)
    dispatcher.ack([0, 2], "a")
    assert dispatcher.disconnect("a") == [] and dispatcher.active is None and dispatcher.notices == []
    assert dispatcher.cursor.read_position == 1 and dispatcher.sent_before == {1}
    assert dispatcher.connect("b", "b", 9) == [("b", 1)]


def test_standby_that_comes_or_goes_does_not_disturb_the_active_one():
    dispatcher = failover(consumers=[("a", 9)])
    come(dispatcher, 1, 1)
    assert dispatcher.connect("b", "b", 9) == dispatcher.disconnect("b") == []
    assert dispatcher.sent_before == set() and dispatcher.pending() == {"a": [0, 1]}


def test_newcomer_that_moves_the_role_gets_what_the_old_one_has_not_acknowledged():
    dispatcher = failover(partition=1, consumers=[("a", 9)])
    come(dispatcher, 1, 1, 1)
    dispatcher.ack([0], "a")
    assert dispatcher.connect("b", "b", 9) == [("b", 1), ("b", 2)] and dispatcher.rewound == 2
    assert dispatcher.pending() == {"a": [], "b": [1, 2]}, "as far as the broker knows"
    dispatcher.ack([1], "a")
    assert dispatcher.pending()["b"] == [2] and dispatcher.sent_before == {2}


def test_acknowledgement_of_something_that_was_sent_again_ends_its_being_sent_before():
    dispatcher = failover(consumers=[("a", 3), ("b", 0)])
    come(dispatcher, 1, 1, 1)
    dispatcher.disconnect("a")
    assert dispatcher.sent_before == {0, 1, 2}
    dispatcher.ack_cumulative(1)
    assert dispatcher.sent_before == {2} and dispatcher.flow("b", 9) == [("b", 2)]
    dispatcher.ack_cumulative(1)
    assert dispatcher.sent_before == {2}, "one that says nothing new changes nothing"


def test_during_the_second_what_arrives_waits_and_acknowledgements_count():
    dispatcher = failover(delay_us=FAILOVER_DELAY_US)
    dispatcher.now_us = 300
    dispatcher.connect("a", "a", 9)
    assert (dispatcher.switching, dispatcher.starts_timer, dispatcher.since_us) == (True, True, 300)
    assert come(dispatcher, 1, 1) == [] and dispatcher.read_on() == []
    dispatcher.ack([0])
    assert dispatcher.switch() == [("a", 1)] and not dispatcher.switching and dispatcher.rewound == 0


def test_who_leaves_in_its_second_leaves_the_switch_to_whoever_is_active_then():
    dispatcher = failover(delay_us=FAILOVER_DELAY_US, consumers=[("a", 9), ("b", 9)])
    come(dispatcher, 1)
    assert dispatcher.disconnect("a") == [] and dispatcher.active == "b"
    assert dispatcher.switch() == [("b", 0)] and dispatcher.notices[-1:] == [("b", True)]


def test_switch_for_nobody_sends_nothing():
    dispatcher = failover(delay_us=FAILOVER_DELAY_US, consumers=[("a", 9)])
    come(dispatcher, 1)
    dispatcher.disconnect("a")
    assert dispatcher.switch() == [] and dispatcher.active is None and dispatcher.cursor.read_position == 0


def test_consumers_stand_in_the_order_of_the_pick():
    dispatcher = failover()
    for name, level in (("c", 1), ("a", 1), ("b", 0)):
        dispatcher.connect(name, name, 1, level)
    assert dispatcher.picker.order == ["b", "a", "c"]


def test_unknown_leaver_is_refused_and_changes_nothing():
    dispatcher = failover(consumers=[("a", 1)])
    before = dispatcher.to_json()
    with pytest.raises(ServerMetadata, match="Consumer was not connected"):
        dispatcher.disconnect("b")
    assert dispatcher.to_json() == before and list(dispatcher.consumers) == ["a"]


def test_active_one_that_is_not_there_breaks_a_law():
    dispatcher = failover(consumers=[("a", 1)])
    dispatcher.picker.active = "b"
    with pytest.raises(InvariantError, match="b is active of"):
        dispatcher.check()
    failover().check()


def test_checkpoint_in_the_middle_of_a_switch_goes_on_the_same():
    dispatcher = failover(1, delay_us=FAILOVER_DELAY_US, consumers=[("a", 9)])
    dispatcher.switch()
    come(dispatcher, 1, 1)
    dispatcher.now_us = 700
    dispatcher.connect("b", "b", 5)
    again = failover(1, delay_us=FAILOVER_DELAY_US, cursor=dispatcher.cursor, entries=dispatcher.entries)
    again.restore(dispatcher.to_json())
    assert (again.active, again.switching, again.since_us) == (
        "b",
        True,
        700,
    ) and again.to_json() == dispatcher.to_json()
    assert again.switch() == [("b", 0), ("b", 1)] and again.rewound == 2 and again.consumers["b"].permits == 3
