"""The numbers of java.util.Random."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.hashing.java_random import JavaRandom


def test_the_generator_gives_javas_numbers() -> None:
    # `new Random(42)`: these are printed in many a textbook.
    random = JavaRandom.seeded(42)
    assert [random.below(10) for _ in range(10)] == [0, 3, 8, 4, 0, 5, 5, 8, 9, 3]
    random, letters = JavaRandom.seeded(7), list("abcdefgh")
    random.shuffle(letters)
    assert sorted(letters) == list("abcdefgh") and letters != list("abcdefgh")


@given(st.integers(1, 1 << 30), st.integers(-(2**63), 2**63 - 1))
def test_a_drawn_number_is_below_its_limit(limit: int, seed: int) -> None:
    assert 0 <= JavaRandom.seeded(seed).below(limit) < limit


LIMITS = (1, 2, 3, 10, 100, 16, 1 << 30, (1 << 30) + 1, 7, 1_000_003)
# What JDK 17's `new Random(seed).nextInt(limit)` gives for these limits in turn. The eighth is drawn again
# when it falls beyond the last whole run.
DRAWN = {
    0: [0, 1, 1, 7, 15, 4, 591027245, 251269761, 6, 327820],
    7: [0, 1, 0, 4, 80, 7, 963443984, 755731200, 5, 277931],
    -1: [0, 0, 0, 9, 4, 9, 447147238, 857465478, 3, 412368],
    42: [0, 0, 0, 4, 70, 15, 297510752, 196118093, 3, 64595],
    1 << 62: [0, 1, 1, 7, 15, 4, 591027245, 251269761, 6, 327820],
}


@pytest.mark.parametrize("seed", DRAWN)
def test_numbers_below_any_limit_are_javas(seed: int) -> None:
    random = JavaRandom.seeded(seed)
    assert [random.below(limit) for limit in LIMITS] == DRAWN[seed]


def test_only_48_bits_of_a_seed_count() -> None:
    assert JavaRandom.seeded(1 << 48 | 42) == JavaRandom.seeded(42) and JavaRandom.seeded(-1).state < 1 << 48


@pytest.mark.parametrize(
    ("seed", "items", "shuffled"),
    [
        (7, list("abcdefgh"), list("acgbedhf")),
        (2024, list(range(13)), [8, 4, 9, 10, 1, 7, 6, 5, 12, 0, 3, 2, 11]),
        (7, [1], [1]),
        (7, [], []),
    ],
)
def test_lists_are_shuffled_as_collections_shuffle_does(
    seed: int, items: list[object], shuffled: list[object]
) -> None:
    JavaRandom.seeded(seed).shuffle(items)
    assert items == shuffled


def test_generator_goes_on_from_its_state() -> None:
    random = JavaRandom.seeded(42)
    random.below(10), random.below(3)
    assert [JavaRandom(random.state).below(1 << 30)] == [random.below(1 << 30)]
