"""Where new replicas go: the striped placer."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.error_codes import Refused
from broker_core.kafka.replication.replica_placer import UsableBroker, place_replicas

RACKS = [
    UsableBroker(1, "a"),
    UsableBroker(2, "a"),
    UsableBroker(3, "b"),
    UsableBroker(4, "b"),
    UsableBroker(5, "c"),
]


def test_replicas_of_a_partition_are_in_different_racks_while_there_are_any() -> None:
    rack_of = {broker.broker_id: broker.rack for broker in RACKS}
    for replicas in place_replicas(RACKS, 20, 3, JavaRandom.seeded(1)):
        assert len({rack_of[broker] for broker in replicas}) == 3


def test_leaders_go_from_rack_to_rack() -> None:
    rack_of = {broker.broker_id: broker.rack for broker in RACKS}
    leaders = [rack_of[replicas[0]] for replicas in place_replicas(RACKS, 3, 1, JavaRandom.seeded(1))]
    assert sorted(leaders, key=str) == ["a", "b", "c"]


def test_a_fenced_broker_may_follow_and_does_not_lead() -> None:
    brokers = [UsableBroker(1), UsableBroker(2), UsableBroker(3, is_fenced=True)]
    placed = place_replicas(brokers, 10, 3, JavaRandom.seeded(1))
    assert {replicas[0] for replicas in placed} == {1, 2}
    assert all(3 in replicas for replicas in placed)


@pytest.mark.parametrize(
    ("brokers", "factor", "words"),
    [
        (RACKS, 0, "must be positive"),
        (RACKS, 6, "only 5 broker"),
        ([UsableBroker(1, is_fenced=True)], 1, "currently fenced"),
    ],
)
def test_what_cannot_be_placed_is_refused(brokers: list[UsableBroker], factor: int, words: str) -> None:
    with pytest.raises(Refused, match=words):
        place_replicas(brokers, 1, factor, JavaRandom.seeded(1))


@given(
    st.lists(st.tuples(st.sampled_from([None, "a", "b", "c"]), st.booleans()), min_size=1, max_size=9),
    st.integers(1, 9),
    st.integers(1, 30),
    st.integers(0, 2**31),
)
def test_each_partition_has_so_many_brokers_and_leaders_are_spread(
    known: list[tuple[str | None, bool]], factor: int, partitions: int, seed: int
) -> None:
    brokers = [UsableBroker(number, rack, is_fenced) for number, (rack, is_fenced) in enumerate(known)]
    unfenced = {broker.broker_id for broker in brokers if not broker.is_fenced}
    if not unfenced or factor > len(brokers):
        with pytest.raises(Refused):
            place_replicas(brokers, partitions, factor, JavaRandom.seeded(seed))
        return
    placed = place_replicas(brokers, partitions, factor, JavaRandom.seeded(seed))
    assert len(placed) == partitions
    assert all(len(set(replicas)) == len(replicas) == factor for replicas in placed)
    assert set(Counter(replicas[0] for replicas in placed)) <= unfenced
