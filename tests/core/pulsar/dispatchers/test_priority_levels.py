"""Shared: turns within a priority level, levels one after the other, and where the round stands after
somebody came, left or was blocked."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pulsar.dispatchers.receiver import Receiver
from broker_core.pulsar.dispatchers.shared import ROUND_ROBIN_BATCH, SharedDispatcher, SharedTurns
from tests.core.pulsar.dispatchers.arriving import HIGH, arrive
from tests.core.pulsar.dispatchers.kinds import come


def turns(*consumers):
    """consumers: (name, level, permits), in the order in which they come."""
    made = SharedTurns()
    for name, level, permits in consumers:
        made.add(Receiver(name, level, permits))
    return made


def taken(made, times=100):
    found = []
    for _ in range(times):
        name, _ = made.take(1)
        if name is None:
            break
        found.append(name)
    return "".join(found)


@pytest.mark.parametrize(
    ("consumers", "order"),
    [
        ([("a", 0, 2), ("b", 0, 1), ("c", 0, 1), ("d", 1, 2), ("e", 1, 1)], "abcaded"),
        ([("a", 1, 2), ("b", 0, 2)], "bbaa"),
        ([("a", 2, 1), ("b", 1, 1), ("c", 0, 1)], "cba"),
        ([("a", 0, 0), ("b", 3, 2)], "bb"),
        ([("a", 5, 1), ("b", 5, 2), ("c", 5, 1)], "abcb"),
        ([("a", 0, 0), ("b", 0, 0)], ""),
        ([], ""),
    ],
)
def test_turns_by_level_and_permits(consumers, order):
    assert taken(turns(*consumers)) == order


@pytest.mark.parametrize(("messages", "permits", "count"), [
    (1, 100, 1), (20, 100, 20), (21, 100, 20), (100, 7, 7), (100, 19, 19), (5, 1, 1), (0, 3, 1),
])  # fmt: skip
def test_turn_is_at_most_twenty_messages_and_what_its_permits_allow(messages, permits, count):
    made = turns(("a", 0, permits))
    assert made.take(messages) == ("a", count) and made.find("a").permits == permits - count
    assert ROUND_ROBIN_BATCH == 20


def test_better_level_that_gets_permits_again_interrupts_the_worse_one():
    made = turns(("a", 0, 1), ("d", 1, 5), ("e", 1, 5))
    assert taken(made, 3) == "ade"
    made.flow("a", 1)
    assert taken(made, 3) == "ade"


def test_list_is_sorted_only_when_the_newcomer_is_better_than_the_one_before_it():
    made = turns(("a", 1, 9), ("b", 1, 9))
    made.add(Receiver("c", 2, 9))
    assert [known.consumer for known in made.consumers] == ["a", "b", "c"]
    made.add(Receiver("d", 0, 9))
    assert [known.consumer for known in made.consumers] == ["d", "a", "b", "c"], "a stable sort"
    made.add(Receiver("e", 0, 9))
    assert [known.consumer for known in made.consumers] == ["d", "e", "a", "b", "c"]


def test_blocked_consumer_is_passed_over_though_it_has_permits():
    made = turns(("a", 0, 9), ("b", 0, 9), ("c", 1, 9))
    made.find("a").is_blocked = True
    assert taken(made, 3) == "bbb"
    made.find("b").is_blocked = True
    assert taken(made, 2) == "cc"


@pytest.mark.parametrize(("leaver", "after"), [("a", "cbc"), ("b", "cac"), ("c", "bab")])
def test_removal_leaves_the_index_alone(leaver, after):
    """It stood after a, at b: without a or b the one after it is passed over, without c nobody is."""
    made = turns(("a", 0, 9), ("b", 0, 9), ("c", 0, 9))
    assert taken(made, 1) == "a" and made.index == 1
    made.remove(leaver)
    assert taken(made, 3) == after


def test_index_behind_the_end_begins_at_the_front():
    made = turns(("a", 0, 9), ("b", 0, 9))
    assert taken(made, 2) == "ab" and made.index == 2
    made.remove("b")
    assert taken(made, 1) == "a"


def test_nobody_with_permits_leaves_the_round_where_it_is():
    made = turns(("a", 0, 1), ("b", 0, 1), ("c", 0, 1))
    assert taken(made) == "abc" and made.next() is None and made.index == 0, "past the end is the front"
    made.flow("c", 1)
    made.flow("b", 1)
    assert taken(made) == "bc" and made.index == 0


def test_who_is_not_in_the_round_is_not_found_and_removes_nothing():
    made = turns(("a", 0, 1))
    made.remove("b")
    assert made.find("b") is None and taken(made) == "a"


def test_turns_to_come_stand_at_the_index_where_nobody_has_permits():
    made = turns(("a", 0, 1), ("b", 0, 1), ("c", 1, 0))
    assert [known.consumer for known in made.upcoming()] == ["a", "b", "c"]
    taken(made, 1)
    assert [known.consumer for known in made.upcoming()] == ["b", "a", "c"]
    taken(made)
    assert [known.consumer for known in made.upcoming()] == ["c", "a", "b"], (
        "index 2 is c's, which nobody has moved"
    )


# --- the dispatcher over them


def started(*consumers, **options):
    dispatcher = SharedDispatcher(**options)
    for name, level, permits in consumers:
        dispatcher.connect(name, name, permits, level)
    return dispatcher


def names(sent):
    return "".join(name for name, _ in sent)


def test_messages_that_arrive_one_by_one_go_round():
    assert names(arrive(started(("a", 0, 9), ("b", 0, 9), ("c", 0, 9)), *[HIGH] * 7)) == "abcabca"


def test_worse_level_gets_something_only_when_the_better_one_has_no_permits():
    dispatcher = started(("d", 1, 9), ("a", 0, 2), ("b", 0, 1))
    assert names(arrive(dispatcher, *[HIGH] * 5)) == "abadd"
    dispatcher.flow("b", 1)
    assert names(arrive(dispatcher, HIGH, HIGH)) == "bd"


def test_turn_of_one_read_ends_with_its_permits_or_with_twenty():
    dispatcher = started(("a", 0, 0), ("b", 0, 0), ("c", 0, 0))
    arrive(dispatcher, *[HIGH] * 60)
    (
        dispatcher.consumers["a"].permits,
        dispatcher.consumers["b"].permits,
        dispatcher.consumers["c"].permits,
    ) = 25, 10, 30
    dispatcher.available = 65
    assert [name * count for name, count in (("a", 20), ("b", 10), ("c", 20), ("a", 5), ("c", 5))] == [
        name * count for name, count in _runs(dispatcher.read_on())
    ]  # fmt: skip


def _runs(sent):
    runs: list[list] = []
    for name, _ in sent:
        if runs and runs[-1][0] == name:
            runs[-1][1] += 1
        else:
            runs.append([name, 1])
    return runs


def test_batch_may_use_up_a_turn_before_its_twenty():
    dispatcher = started(("a", 0, 0), ("b", 0, 9))
    dispatcher.consumers["b"].permits = dispatcher.available = 0
    for size in (5, 1, 1):
        come(dispatcher, HIGH, size=size)
    dispatcher.consumers["a"].permits, dispatcher.consumers["b"].permits, dispatcher.available = 3, 3, 6
    assert dispatcher.read_on() == [("a", 0), ("b", 1), ("b", 2)]


def test_blocked_consumer_gets_no_turn_until_it_is_released():
    dispatcher = started(("a", 0, 50), ("b", 0, 50), unacked_max=2)
    assert names(arrive(dispatcher, *[HIGH] * 4)) == "abab" and arrive(dispatcher, HIGH) == []
    assert dispatcher.ack([0], "a") == [("a", 4)]


def test_who_comes_gets_its_turn_at_the_end_of_its_level():
    dispatcher = started(("a", 0, 9), ("b", 0, 9))
    arrive(dispatcher, HIGH)
    dispatcher.connect("c", "c", 9)
    assert names(arrive(dispatcher, *[HIGH] * 4)) == "bcab"


def test_checkpoint_keeps_whose_turn_it_is():
    dispatcher = started(("a", 1, 9), ("b", 0, 1), ("c", 1, 9))
    arrive(dispatcher, HIGH, HIGH)
    again = SharedDispatcher(cursor=dispatcher.cursor, entries=dispatcher.entries)
    again.restore(dispatcher.to_json())
    assert [known.consumer for known in again.turns.consumers] == [
        "b",
        "a",
        "c",
    ] and again.turns.index == dispatcher.turns.index == 2
    assert again.turns.find("a") is again.consumers["a"], "one consumer, known twice"
    assert arrive(again, HIGH, HIGH) == [("c", 2), ("a", 3)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 40))
def test_with_permits_for_all_nobody_of_a_level_is_ahead_of_another_by_more_than_one(granted, count):
    dispatcher = started(*[(chr(97 + place), 3, 100 * permits) for place, permits in enumerate(granted)])
    counts = Counter(names(arrive(dispatcher, *[HIGH] * count)))
    assert max(counts.values()) - min([counts[chr(97 + place)] for place in range(len(granted))]) <= 1
