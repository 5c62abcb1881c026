"""Runs of real clients, pika and aio-pika, again without them: the same answers and the same state at the end.

A tenth of the seeds that other simulations try: 4 runs in `make test`, 200 in `make simulate`.
"""

import pytest

from broker_core.plain import to_plain
from broker_core.serve.replay import replay
from tests.core.rabbitmq.laws import check_laws
from tests.simulation.client_life import live
from tests.simulation.seeds import seeds


@pytest.mark.parametrize("seed", seeds()[::10])
async def test_run_of_real_clients_is_the_same_again(seed, tmp_path):
    run = await live(seed, path := tmp_path / "run.highwater")
    check_laws(run.broker)
    found = replay(path)
    assert found.differs is None and found.answered > 10
    found.run.advance(run.world.now_us)
    assert to_plain(found.run.broker.state) == to_plain(run.broker.state)
