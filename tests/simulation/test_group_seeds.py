"""Seeded lives of consumer groups under faults: one owner per partition and generation, nothing confirmed is skipped, the group comes to rest.

`make seed SEED=7` reruns one; HIGHWATER_GROUP_SEEDS says how many: 200 in `make test`, 2,000 in `make simulate`.
"""

import os

import pytest

from tests.simulation.group_life import PARTITIONS, GroupLife

SEEDS = [int(os.environ["SEED"])] if "SEED" in os.environ else range(int(os.environ.get("HIGHWATER_GROUP_SEEDS", "6")))
STEPS = 60
QUIET_US, REBALANCES_MAX = 20_000_000, 3


@pytest.mark.parametrize("seed", SEEDS)
def test_every_confirmed_record_is_read_at_least_once(seed):
    life = GroupLife(seed).run(STEPS)
    what = f"seed {seed}: {life.protocol} {life.assignor} {life.commits}"
    owned = sorted(number for name in life.consumers for _, number in life.state(name).owned)
    assert owned == list(range(PARTITIONS)), what
    skipped = life.deliveries.confirmed - set(life.reads.handled_count)
    assert not skipped, f"{what}: {sorted(skipped)[:10]} were never handled"
    assert life.notes.redelivered == life.read_again, f"{what}: what a lane counts as read twice"
    handled_again = sum(count - 1 for count in life.reads.handled_count.values())
    assert handled_again <= life.read_again, f"{what}: nobody handles a record twice without having been given it twice"
    # By then whoever was dead is out: sessions last 6 s, max.poll.interval.ms 10 s, a rebalance as long, and a client's request 30 s.
    late = life.rebalances_since(life.healed_us + QUIET_US)
    assert late <= REBALANCES_MAX, f"{what}: {late} rebalances after all has been well for {QUIET_US // 1_000_000} s"
    rest = life.rebalances_since(life.healed_us)
    print(f"\n{what}: {len(life.deliveries.confirmed)} confirmed, {life.read_again} read again, {rest} rebalances to rest")


def test_a_life_is_the_same_each_time():
    one, other = GroupLife(3).run(25), GroupLife(3).run(25)
    assert one.told == other.told and one.world.made == other.world.made
