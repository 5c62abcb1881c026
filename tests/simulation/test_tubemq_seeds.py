"""Seeded lives of a TubeMQ cluster: a partition is read by one client at a time; what was confirmed is not read again,
and what was not is; once a change has settled each partition has a reader; a broker that comes back has its offsets."""

import pytest

from broker_core.lab.checkpoint import decode, encode
from broker_core.sim.keeping import keep, restored
from broker_core.tubemq.assignment import owned_by
from tests.simulation.seeds import seeds
from tests.simulation.tubemq_life import KEYS, OWN, SERVED, SOURCE_COUNT, TubeMqLife

STEPS = 120


@pytest.mark.parametrize("seed", seeds(times=5))
def test_group_outlives_its_faults(seed):
    life = TubeMqLife(seed).run(STEPS)
    what = f"seed {seed}: {life.what}"
    assert life.is_started(), what
    written = sum(partition.end for partition in life.partitions().values())
    for group in (SERVED, OWN):
        held = life.held(group)
        assert sorted(key for keys in held.values() for key in keys) == KEYS, f"{what}: {held}"
        owners = {key: each.groups[group].owner for key, each in life.partitions().items()}
        assert owners == {key: name for name, keys in held.items() for key in keys}, f"{what}: {group}"
        for key, partition in life.partitions().items():
            place = partition.groups[group]
            assert (place.offset, place.pending) == (partition.end, 0), (
                f"{what}: {group} is at the end of {key}"
            )
        assert len(life.handled[group].count) == written, f"{what}: nothing is passed over"
    given = [owned_by(KEYS, SOURCE_COUNT, node_id) for node_id in range(SOURCE_COUNT)]
    assert [*life.held(OWN).values()] == given, f"{what}: each has what its rule gives it"
    again = sum(life.state(name).read_again for name in ("b1", "b2"))
    twice = sum(sum(handled.count.values()) - written for handled in life.handled.values())
    assert twice <= again, f"{what}: what comes twice was read twice"


@pytest.mark.parametrize("seed", seeds())
def test_cluster_goes_on_the_same_after_a_restore(seed):
    life, other = TubeMqLife(seed).suffer(STEPS // 2), TubeMqLife(seed).suffer(STEPS // 2)
    kept = decode(encode(keep(life.world)))
    other.world = restored("tube", other.world.design, seed, kept)
    for _ in range(4):
        for each in (life, other):
            each.wait(10_000_000)
    assert decode(encode(keep(other.world))) == decode(encode(keep(life.world))), f"seed {seed}: {life.what}"


def test_lives_hand_over_read_again_and_change_masters():
    lives = [TubeMqLife(seed).run(STEPS) for seed in range(4)]
    assert all(life.ledger.reads > 100 and life.ledger.handed_over > len(KEYS) for life in lives)
    assert sum(life.state(name).read_again for life in lives for name in ("b1", "b2")) > 0
    assert sum(life.what["master"] for life in lives) > 4 and sum(life.what["broker"] for life in lives) > 4


def test_a_life_is_the_same_each_time():
    one, other = TubeMqLife(3).suffer(25), TubeMqLife(3).suffer(25)
    assert one.world.made == other.world.made and one.ledger == other.ledger
