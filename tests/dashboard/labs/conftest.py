"""A lab's runner alone, and two labs of one shard."""

import pytest

from tests.dashboard.labs.driven import Clock, Driven
from tests.dashboard.labs.neighbours import Two
from tests.dashboard.world import World


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def playing(clock: Clock) -> Driven:
    return Driven(clock).play()


@pytest.fixture
def two(world: World) -> Two:
    return Two(world)
