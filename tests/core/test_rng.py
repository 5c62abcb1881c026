"""Named streams of chance: each draw depends on the seed, the stream and its number alone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.rng import SeededRandom

STREAMS = st.lists(st.sampled_from(("kafka.member", "network.jitter", "dice")), max_size=30)


@given(STREAMS, st.integers(-(1 << 70), 1 << 70))
@settings(max_examples=50)
def test_a_draw_of_one_stream_never_shifts_another(draws: list[str], seed: int) -> None:
    mixed, alone = SeededRandom(seed), {name: SeededRandom(seed) for name in set(draws)}
    assert [mixed.below(name, 1_000) for name in draws] == [alone[name].below(name, 1_000) for name in draws]
    assert mixed.draws == dict(Counter(draws))


@given(STREAMS, st.integers(0, 30))
@settings(max_examples=50)
def test_one_restored_from_its_counters_goes_on_the_same(draws: list[str], cut: int) -> None:
    whole = SeededRandom(7)
    expected = [whole.bits(name, 16) for name in draws]
    first = SeededRandom(7)
    begun = [first.bits(name, 16) for name in draws[:cut]]
    second = SeededRandom(7, dict(first.draws))
    assert begun + [second.bits(name, 16) for name in draws[cut:]] == expected


@pytest.mark.parametrize("count", [1, 8, 64, 16_384])
def test_as_many_bits_as_were_asked_for(count: int) -> None:
    random = SeededRandom(7)
    drawn = [random.bits("dice", count) for _ in range(40)]
    assert all(0 <= each < 1 << count for each in drawn) and max(drawn).bit_length() == count


def test_seeds_and_streams_give_different_numbers() -> None:
    drawn = {
        (seed, stream): SeededRandom(seed).bits(stream, 64) for seed in (7, 8, -7) for stream in ("a", "b")
    }
    assert len(set(drawn.values())) == 6


@given(st.integers(1, 1 << 32))
@settings(max_examples=50)
def test_a_number_below_a_limit_is_below_it(limit: int) -> None:
    random = SeededRandom(7)
    assert all(0 <= random.below("dice", limit) < limit for _ in range(5))


def test_every_side_of_a_die_comes_up_about_as_often() -> None:
    random = SeededRandom(7)
    sides = Counter(random.below("dice", 6) for _ in range(600))
    assert sorted(sides) == list(range(6)) and max(sides.values()) < 2 * min(sides.values())


def test_numbers_of_a_seed_stay_what_stored_labs_were_played_with() -> None:
    random = SeededRandom(7)
    assert [random.below("kafka.member", 100) for _ in range(6)] == [91, 3, 14, 83, 39, 46]
    assert random.bits("network.jitter", 64) == 0x3F495A87F0D56B5A
