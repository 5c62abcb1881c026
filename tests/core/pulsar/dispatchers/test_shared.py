"""Shared: everybody with permits gets its turn, better levels first."""

from hypothesis import given
from hypothesis import strategies as st

from broker_core.pulsar.dispatchers.receiver import Receiver
from broker_core.pulsar.dispatchers.shared import ROUND_ROBIN_BATCH, SharedTurns


def test_at_most_twenty_in_a_row_go_to_one() -> None:
    turns = SharedTurns()
    for name in ("a", "b"):
        turns.add(Receiver(name, permits=1_000))
    assert [turns.take(100) for _ in range(3)] == [
        ("a", ROUND_ROBIN_BATCH),
        ("b", ROUND_ROBIN_BATCH),
        ("a", ROUND_ROBIN_BATCH),
    ]


def test_a_removal_before_the_index_passes_over_one_consumer() -> None:
    turns = SharedTurns()
    for name in ("a", "b", "c"):
        turns.add(Receiver(name, permits=9))
    turns.take(1)
    turns.remove("a")
    assert turns.take(1)[0] == "c"


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=8), st.integers(0, 9))
def test_the_turns_to_come_begin_with_whose_turn_it_is_and_telling_them_changes_nothing(
    given: list[tuple[int, int]], turns_before: int
) -> None:
    turns = SharedTurns()
    for place, (priority, permits) in enumerate(given):
        turns.add(Receiver(str(place), priority, permits))
    for _ in range(turns_before):
        turns.take(1)
    index, told = turns.index, turns.upcoming()
    assert turns.index == index and sorted(known.consumer for known in told) == sorted(
        str(place) for place in range(len(given))
    )
    name, _count = turns.take(1)
    assert name is None or told[0].consumer == name


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), max_size=8), st.integers(1, 7))
def test_all_permits_are_used_up_and_no_level_overtakes_a_better_one(
    given: list[tuple[int, int]], messages: int
) -> None:
    turns = SharedTurns()
    for place, (priority, permits) in enumerate(given):
        turns.add(Receiver(str(place), priority, permits))
    levels, taken = [], 0
    while True:
        name, count = turns.take(messages)
        if name is None:
            break
        assert 1 <= count <= messages
        taken += count
        levels.append(given[int(name)][0])
    assert taken == sum(permits for _priority, permits in given)
    assert levels == sorted(levels)
