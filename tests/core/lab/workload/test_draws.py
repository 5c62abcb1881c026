"""The draws of synthetic workloads: exact arithmetic, known answers, and frequencies that are what they
claim."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.workload.draws import draws, scale, zipf_table
from broker_core.lab.workload.parse import workload_from_json


@given(draw=st.integers(0, 2**64 - 1), limit=st.integers(1, 2**63))
def test_scaling_is_the_exact_high_half_of_the_product(draw: int, limit: int) -> None:
    assert int(scale(np.array([draw], dtype=np.uint64), limit)[0]) == draw * limit >> 64


def test_draws_never_change() -> None:
    # Written down once: a lab that was saved with these must find them again.
    assert [int(draw) for draw in draws(7, 0, 0, 3)] == KNOWN_DRAWS
    assert [int(draw) for draw in draws(7, 0, 1, 3)] == KNOWN_DRAWS[1:]


KNOWN_DRAWS: list[int] = [11241344834629033336, 7548029490970160968, 18386555679719319649]


@pytest.mark.parametrize("exponent_milli", [0, 500, 1000, 1100, 2000, 5000])
def test_zipf_weights_are_the_powers_they_stand_for(exponent_milli: int) -> None:
    weights = np.diff(zipf_table(1000, exponent_milli), prepend=np.uint64(0))
    for rank in (1, 2, 3, 10, 100, 999, 1000):
        # weight ** 1000 against (2**43 / rank ** (milli / 1000)) ** 1000, without a float: one part in a
        # million, or one unit.
        weight = int(weights[rank - 1])
        exact = Fraction(2 ** (43 * 1000), rank**exponent_milli)
        low, high = weight - weight // 10**6 - 1, weight + weight // 10**6 + 2
        assert max(0, low) ** 1000 <= exact <= high**1000


def test_a_million_zipf_keys_fit_the_table() -> None:
    table = zipf_table(1_000_000, 0)
    assert int(table[-1]) == 10**6 * 2**43


def test_zipf_gives_the_first_key_twice_the_records_of_the_second() -> None:
    counts = Counter(workload_from_json({"kind": "zipf", "keys": 1000, "exponent": 1}).key_codes(0, 200_000))
    assert counts[0] / counts[1] == pytest.approx(2, rel=0.05)


def test_the_hot_key_gets_its_share_and_the_others_the_rest_evenly() -> None:
    counts = Counter(workload_from_json({"kind": "hot_key", "keys": 11, "share": 0.3}).key_codes(0, 200_000))
    assert counts[0] / 200_000 == pytest.approx(0.3, rel=0.02)
    assert [counts[code] / 200_000 for code in range(1, 11)] == pytest.approx([0.07] * 10, rel=0.05)


@pytest.mark.parametrize(("share", "codes"), [(0, {1}), (1, {0})])
def test_a_share_of_nothing_or_all_is_just_that(share: int, codes: set[int]) -> None:
    assert set(workload_from_json({"kind": "hot_key", "keys": 2, "share": share}).key_codes(0, 5000)) == codes


def test_uniform_keys_are_uniform() -> None:
    counts = Counter(workload_from_json({"kind": "uniform", "keys": 10}).key_codes(0, 200_000))
    assert [counts[code] / 200_000 for code in range(10)] == pytest.approx([0.1] * 10, rel=0.05)
