"""How many records waited longer than so many seconds, against a count by hand."""

from hypothesis import given
from hypothesis import strategies as st

from broker_core.analysis.waiting import WAIT_S_MAX, added, waited_longer

WAITS = st.lists(st.integers(0, 700_000_000), max_size=30)


@given(WAITS)
def test_the_curve_says_of_each_second_how_many_waited_longer(waits):
    curve = waited_longer(waits)
    for seconds in range(1, WAIT_S_MAX + 1):
        longer = sum(wait > seconds * 1_000_000 for wait in waits)
        assert (curve[seconds - 1] if seconds <= len(curve) else 0) == longer
    assert not curve or curve[-1] > 0, "it ends with the longest wait"


@given(WAITS, WAITS)
def test_groups_add_up(first, second):
    assert added([waited_longer(first), waited_longer(second)]) == waited_longer(first + second)
