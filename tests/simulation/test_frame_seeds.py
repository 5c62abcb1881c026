"""Frames of any kind in any state: no crash, no hang, no refusal that the original does not know, and the run is the same again.

500 frames a life: 22,500 in `make test`, a million in `make simulate`.
"""

import signal

import pytest

from broker_core.plain import to_plain
from broker_core.serve.replay import replay
from tests.core.rabbitmq.laws import check_laws
from tests.simulation.frame_life import FrameLife
from tests.simulation.seeds import seeds

FRAMES, LIVES_MAX = 500, 2_000
HANGS_S = 60
CODES = {311, 313, 320, 402, 403, 404, 405, 406, 501, 502, 503, 504, 505, 506, 530, 540, 541}
"""Of AMQP 0-9-1 and RabbitMQ's source."""


@pytest.fixture(autouse=True)
def watch():
    """A life that hangs is ended with where it is."""

    def give_up(*_):
        raise AssertionError(f"more than {HANGS_S} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(HANGS_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("seed", seeds(LIVES_MAX, times=3))
def test_whatever_comes_is_answered_or_refused_by_a_code_of_the_original(seed, tmp_path):
    life = FrameLife(seed).run(FRAMES)
    assert life.closes <= CODES
    check_laws(life.turns.run.broker)
    (path := tmp_path / "run.highwater").write_bytes(life.turns.journal.data())
    found = replay(path)
    assert found.differs is None and to_plain(found.run.broker.state) == to_plain(life.turns.run.broker.state)


def test_lives_come_as_far_as_channels_and_are_refused_in_many_ways():
    lives = [FrameLife(seed).run(FRAMES) for seed in range(8)]
    assert all(life.opened for life in lives)
    assert {404, 406, 501, 503, 504, 540} <= set().union(*(life.closes for life in lives))
