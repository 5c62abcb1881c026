"""When partitions of a Kafka lane are read by nobody, told by hand: the first and the last of them, the
bill's figure, and what is read again."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.events import Cause
from broker_core.lab.kafka.pause import KafkaNotes
from tests.core.lab.small import consumer, paper

STEPS = st.lists(
    st.tuples(
        st.integers(0, 20), st.booleans(), st.sampled_from("ab"), st.sets(st.integers(0, 3), min_size=1)
    ),
    max_size=12,
)


def lane_with_bill() -> Any:
    lane = paper(consumer("c1"))
    lane.ledger.begin(1, "leave", "c1")
    return lane


def at(lane: Any, now_us: int) -> Any:
    lane.now_us = now_us
    return lane


def stop(notes: KafkaNotes, lane: Any, now_us: int, *numbers: int) -> None:
    notes.stop(at(lane, now_us), numbers, Cause(), "rule")


def resume(notes: KafkaNotes, lane: Any, now_us: int, name: str, *numbers: int) -> None:
    notes.resume(at(lane, now_us), name, numbers, Cause())


def test_pause_is_told_at_its_first_partitions_and_at_its_last_and_not_in_between() -> None:
    notes, lane = KafkaNotes([0] * 3), lane_with_bill()
    stop(notes, lane, 10, 0, 1)
    stop(notes, lane, 20, 2)
    resume(notes, lane, 30, "c2", 0)
    resume(notes, lane, 45, "c2", 1, 2)
    assert lane.emitted == [
        ("kafka.group.partitions_paused", {"partitions": 2}),
        ("kafka.group.partitions_resumed", {"pause_us": 35, "paused_from_us": 10}),
    ]  # fmt: skip
    assert (notes.dark_us, notes.dark_most, lane.ledger.kept_bill.partitions_stopped) == (20 + 35 + 25, 3, 3)


def test_stopping_nothing_and_handing_out_what_was_not_paused_tells_nothing() -> None:
    notes, lane = KafkaNotes([0]), lane_with_bill()
    stop(notes, lane, 10)
    resume(notes, lane, 20, "c1", 0)
    assert lane.emitted == [] and notes.readers == {0: "c1"} and notes.dark_us == 0


def test_partition_that_is_stopped_twice_has_been_so_since_the_first_time() -> None:
    notes, lane = KafkaNotes([0]), lane_with_bill()
    stop(notes, lane, 10, 0)
    stop(notes, lane, 25, 0)
    assert notes.paused_us == {0: 10} and notes.readers == {}


def test_without_a_bill_a_pause_is_told_at_its_beginning_and_its_end_has_no_figure() -> None:
    notes, lane = KafkaNotes([0]), paper(consumer("c1"))
    stop(notes, lane, 10, 0)
    resume(notes, lane, 30, "c1", 0)
    assert [kind for kind, _ in lane.emitted] == ["kafka.group.partitions_paused"] and notes.dark_us == 20


def test_partition_has_moved_when_somebody_else_reads_it_than_the_last_time_and_not_at_first() -> None:
    notes, lane = KafkaNotes([0, 0]), lane_with_bill()
    resume(notes, lane, 5, "c1", 0, 1)
    stop(notes, lane, 10, 0, 1)
    resume(notes, lane, 20, "c1", 0)
    resume(notes, lane, 22, "c2", 1)
    assert notes.moved == 1 and notes.last_readers == {0: "c1", 1: "c2"}
    assert notes.last_since_us == {0: 5, 1: 22}, "a pause in between is not a new reader"


@settings(max_examples=25)
@given(STEPS)
def test_spans_add_up_and_nothing_is_read_and_paused_at_once(
    steps: list[tuple[int, bool, str, set[int]]],
) -> None:
    notes, lane, now_us, since, dark_us = KafkaNotes([0] * 4), lane_with_bill(), 0, dict[int, int](), 0
    for wait_us, stops, name, numbers in steps:
        now_us += wait_us
        if stops:
            stop(notes, lane, now_us, *sorted(numbers))
            for number in numbers:
                since.setdefault(number, now_us)
        else:
            resume(notes, lane, now_us, name, *sorted(numbers))
            dark_us += sum(now_us - since.pop(number) for number in list(since) if number in numbers)
        assert (
            notes.paused_us == since and not notes.readers.keys() & since.keys() and notes.dark_us == dark_us
        )
    paused = [kind for kind, _ in lane.emitted]
    assert (
        paused
        == ["kafka.group.partitions_paused", "kafka.group.partitions_resumed"] * (len(paused) // 2)
        + paused[len(paused) // 2 * 2 :]
    )


@pytest.mark.parametrize(
    ("reads", "redelivered", "high"),
    [
        ([(0, 5)], 0, 5),
        ([(0, 5), (5, 9)], 0, 9),
        ([(0, 5), (3, 5)], 2, 5),
        ([(0, 5), (3, 9)], 2, 9),
        ([(0, 5), (1, 3)], 2, 5),
        ([(0, 5), (7, 9)], 0, 9),
        ([(0, 5), (0, 5), (0, 5)], 10, 5),
        ([(0, 5), (2, 2)], 0, 5),
    ],
)
def test_records_below_the_highest_that_was_read_are_read_again(
    reads: list[tuple[int, int]], redelivered: int, high: int
) -> None:
    notes = KafkaNotes([0])
    for offset, end in reads:
        notes.note_reads(0, offset, end)
    assert (notes.redelivered, notes.high_read) == (redelivered, [high])


def test_topic_that_has_grown_counts_its_new_partitions_from_nothing() -> None:
    notes = KafkaNotes([4])
    notes.note_read(2, 0)
    notes.note_read(2, 0)
    assert notes.high_read == [4, 0, 1] and notes.redelivered == 1
