"""Seeded lives of a RabbitMQ server: every message is ready, out, acknowledged or dropped by rule; tags rise, prefetch
is kept, nothing crosses a virtual host, circles of dead letters end, and what was confirmed survives a restart.
"""

import pytest

from tests.simulation.rabbit_life import RabbitLife
from tests.simulation.seeds import seeds

STEPS = 120


@pytest.mark.parametrize("seed", seeds(times=5))
def test_what_was_confirmed_is_acknowledged_or_still_there(seed):
    life = RabbitLife(seed).run(STEPS)
    lost = sorted(life.confirmed - life.left - {*life.acked})
    assert not lost, f"seed {seed}: {lost[:5]} were confirmed and are gone"


def test_lives_confirm_redeliver_and_restart():
    lives = [RabbitLife(seed).run(STEPS) for seed in range(4)]
    assert all(life.confirmed for life in lives) and any(life.left for life in lives)
    assert sum(life.world.slots["broker"].number > 1 for life in lives) > 0, "the server came back"


def test_a_life_is_the_same_each_time():
    one, other = RabbitLife(3).run(40), RabbitLife(3).run(40)
    assert one.world.made == other.world.made and one.acked == other.acked
