"""The numbers of java.util.Random."""

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
