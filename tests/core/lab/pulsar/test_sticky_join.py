"""The lab's plan for a newcomer under sticky ranges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.pulsar.sticky_join import plan_join
from broker_core.pulsar.selectors import SELECTORS


@pytest.mark.parametrize("algorithm", ["sticky", "sticky_document"])
@given(names=st.lists(st.sampled_from("abcdef"), max_size=60))
def test_plan_join_moves_slots_of_one_owner_and_never_overlaps(algorithm: str, names: list[str]) -> None:
    selector = SELECTORS[algorithm]()
    owned: dict[str, list[tuple[int, int]]] = {}
    for name in names:
        if name in owned:
            selector.remove(name)
            del owned[name]
            continue
        before = dict(owned)
        widest, kept, given_ = plan_join(owned, name, algorithm == "sticky_document")
        if widest is not None:
            selector.remove(widest)
            selector.add(widest, ranges=kept)
            owned[widest] = kept
        selector.add(name, ranges=given_)  # a range that overlaps would be refused
        assert {other for other in before if owned[other] != before[other]} <= {widest}
        owned[name] = given_


def test_plan_join_takes_the_widest_gap_when_nobody_can_share() -> None:
    assert plan_join({"a": [(5, 5)]}, "b", space=64) == (None, [], [(6, 63)])
