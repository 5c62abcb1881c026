"""Seeded lives of consumer groups under faults, and what must hold in all of them.

one owner      per partition and generation, or member epoch                                             group_laws.py
no zombie      commits of a generation that is over are not in the log; commits that were answered are   group_ledger.py
at least once  nothing confirmed is skipped, no commit passes what nobody handled, a reader begins where the group has committed
duplicates     what a lane counts as read twice is what was read twice, record by record
rest           at most three rebalances after the last member came or went, and everything subscribed to has its owner
restore        from a checkpoint at any point a world goes on the same
"""

import pytest

from broker_core.lab.checkpoint import decode, encode
from broker_core.sim.keeping import keep, restored
from tests.simulation.group_laws import last_change_us, rebalances
from tests.simulation.group_life import SECOND, TOPICS, GroupLife
from tests.simulation.seeds import seeds

STEPS = 60
QUIET_US, REBALANCES_MAX = 60 * SECOND, 3


@pytest.mark.parametrize("seed", seeds())
def test_group_outlives_its_faults(seed):
    life = GroupLife(seed).run(STEPS)
    what = f"seed {seed}: {life.what}"
    # At least once, and the duplicates are known.
    skipped = life.deliveries.confirmed - set(life.reads.handled_count)
    assert not skipped, f"{what}: {sorted(skipped)[:10]} were never handled"
    again = life.reads.begun_again
    assert sum(notes.redelivered for notes in life.notes.values()) == again, (
        f"{what}: what a lane counts as read twice"
    )
    handled_again = sum(count - 1 for count in life.reads.handled_count.values())
    assert handled_again <= again, f"{what}: nobody handles a record twice without having been given it twice"
    life.check_commits()
    # Rest. By then who was dead is out: sessions last 6 s, max.poll.interval.ms 10 s, a rebalance as long,
    # and a client's request 30 s.
    assert life.owned() == [
        (topic, number) for topic in TOPICS for number in range(life.partitions(topic))
    ], what
    last_us = max(life.healed_us, last_change_us(life.told))
    assert last_us <= life.healed_us + QUIET_US, (
        f"{what}: members come and go {(last_us - life.healed_us) // SECOND} s after all was mended"
    )
    late = rebalances(life.told, last_us)
    assert late <= REBALANCES_MAX, f"{what}: {late} rebalances after the last member came or went"
    print(
        f"\n{what}: {len(life.deliveries.confirmed)} confirmed, {again} read again, {len(life.ledger.taken)} "
        f"commits taken, "
        f"{late} rebalances to rest; {dict(life.faults)}"
    )


@pytest.mark.parametrize("seed", seeds())
def test_group_goes_on_the_same_after_a_restore(seed):
    """In the middle of its faults, through the bytes of a checkpoint: with everything that waits, is on its
    way, or is known only to a node."""
    life, other = GroupLife(seed).suffer(STEPS // 2), GroupLife(seed).deaf()
    kept = decode(encode(keep(life.world)))
    other.world = restored("kafka", other.world.design, seed, kept, lambda told: None)
    for _ in range(4):
        for world in (life.world, other.world):
            world.advance(world.now_us + 2 * SECOND)
    assert decode(encode(keep(other.world))) == decode(encode(keep(life.world))), f"seed {seed}: {life.what}"


def test_a_life_is_the_same_each_time():
    one, other = GroupLife(3).run(25), GroupLife(3).run(25)
    assert one.told == other.told and one.world.made == other.world.made
