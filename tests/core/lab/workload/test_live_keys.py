"""Live keys by first appearance, and the reading of key codes a chunk at a time."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.workload import base as workload_base
from broker_core.lab.workload.base import CHUNK_SIZE, CHUNKS_MAX, CodeArray, CodeChunks, distinct_until
from broker_core.lab.workload.live_keys import NO_KEY, LiveKeys

CODES = st.lists(st.integers(-1, 6), max_size=25)


def noted(codes: list[int], *cuts: int) -> LiveKeys:
    keys, places = LiveKeys(), [0, *sorted(cuts), len(codes)]
    for start, stop in pairwise(places):
        keys.note(start, codes[start:stop])
    return keys


@settings(max_examples=25)
@given(CODES, st.integers(0, 25), st.integers(0, 26))
def test_keys_are_in_the_order_of_their_first_record_wherever_a_stretch_ends(
    codes: list[int], cut: int, count: int
) -> None:
    keys = noted(codes, min(cut, len(codes)))
    assert keys.codes == [code for code in dict.fromkeys(codes) if code != NO_KEY]
    assert keys.first_seen == [codes.index(code) for code in keys.codes]
    assert keys.count_at(count) == len({code for code in codes[:count] if code != NO_KEY})


def test_record_that_brings_a_key_belongs_to_the_count_after_it() -> None:
    keys = noted([-1, 4, -1, 2])
    assert [keys.count_at(count) for count in range(5)] == [0, 0, 1, 1, 2]


@settings(max_examples=25)
@given(CODES, CODES)
def test_restored_keys_go_on_as_the_live_ones(before: list[int], after: list[int]) -> None:
    live, again = noted(before), LiveKeys()
    again.restore(live.codes, live.first_seen)
    for keys in (live, again):
        keys.note(len(before), after)
    assert again == live


def test_restored_keys_are_copies() -> None:
    codes, first = [3], [0]
    keys = LiveKeys()
    keys.restore(codes, first)
    keys.note(5, [8])
    assert (codes, first) == ([3], [0]) and (keys.codes, keys.first_seen) == ([3, 8], [0, 5])


class Source:
    """Codes that are the records' numbers, and what was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def codes(self, start: int, stop: int) -> CodeArray:
        self.asked.append((start, stop))
        return np.arange(start, stop)


def test_chunk_is_computed_once_whatever_is_asked_of_it() -> None:
    source = Source()
    chunks = CodeChunks(source.codes)
    assert chunks.at(5) == 5 and chunks.between(3, 6) == [3, 4, 5] and chunks.of([9, 2, 9]) == [9, 2, 9]
    assert source.asked == [(0, CHUNK_SIZE)]


def test_stretch_over_a_border_is_computed_for_itself_and_nothing_of_nothing() -> None:
    source = Source()
    chunks = CodeChunks(source.codes)
    assert chunks.between(CHUNK_SIZE - 1, CHUNK_SIZE + 1) == [
        CHUNK_SIZE - 1,
        CHUNK_SIZE,
    ] and source.asked == [(CHUNK_SIZE - 1, CHUNK_SIZE + 1)]
    assert chunks.between(4, 4) == chunks.between(5, 4) == chunks.of([]) == [] and len(source.asked) == 1
    assert chunks.between(CHUNK_SIZE - 2, CHUNK_SIZE) == [CHUNK_SIZE - 2, CHUNK_SIZE - 1], (
        "up to the border is one chunk"
    )


def test_records_of_several_chunks_are_in_the_order_in_which_they_were_asked_for() -> None:
    chunks = CodeChunks(Source().codes)
    asked = [2 * CHUNK_SIZE, 3, CHUNK_SIZE + 7, 3]
    assert chunks.of(asked) == asked and chunks.of(list(reversed(asked))) == list(reversed(asked))


def test_only_the_last_chunks_are_kept_and_an_early_one_is_computed_again() -> None:
    source = Source()
    chunks = CodeChunks(source.codes)
    for number in range(CHUNKS_MAX + 1):
        chunks.at(number * CHUNK_SIZE)
    assert chunks.at(CHUNK_SIZE) == CHUNK_SIZE and len(source.asked) == CHUNKS_MAX + 1
    assert chunks.at(1) == 1 and source.asked[-1] == (0, CHUNK_SIZE) and len(source.asked) == CHUNKS_MAX + 2


@pytest.mark.parametrize("block", [1, 3, 100])
def test_distinct_keys_are_the_same_however_large_a_block_is(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = np.array([4, -1, 2, 4, 0, 2, -1, 7])
    monkeypatch.setattr(workload_base, "DISTINCT_BLOCK", block)
    assert distinct_until(lambda start, stop: codes[start:stop], 8, 9) == ([4, 2, 0, 7], [0, 2, 4, 7])
    assert distinct_until(lambda start, stop: codes[start:stop], 3, 9) == ([4, 2], [0, 2])
    assert distinct_until(lambda start, stop: codes[start:stop], 0, 9) == ([], [])


def test_once_every_key_is_known_no_more_records_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source()
    monkeypatch.setattr(workload_base, "DISTINCT_BLOCK", 2)
    assert distinct_until(lambda start, stop: source.codes(start, stop) % 2, 100, 2) == (
        [0, 1],
        [0, 1],
    ) and source.asked == [(0, 2)]
