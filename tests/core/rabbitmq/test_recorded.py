"""What was recorded from RabbitMQ 3.10.8, played on a broker node that is kept and restored on the way; that it answers as
recorded without: tests/vectors/test_all_vectors.py."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from broker_core.conformance.rabbitmq import run_session
from broker_core.conformance.rabbitmq_session import Frames, Session
from broker_core.lab import checkpoint
from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from tests.core.rabbitmq.laws import check_laws

VECTORS = Path(__file__).parents[2] / "vectors" / "rabbitmq"
EVERY = 9


def rows(name: str) -> list[dict[str, Any]]:
    document = json.loads(gzip.decompress((VECTORS / f"{name}.json.gz").read_bytes()))
    found: list[dict[str, Any]] = document.get("sessions") or document["scenarios"]
    return found


class Restored(Session):
    """Before each step the broker goes through a checkpoint, and after it its laws are looked at."""

    def step(self, step: dict[str, Any]) -> Frames | dict[str, Any]:
        plain = checkpoint.decode(checkpoint.encode(to_plain(self.broker.state)))
        self.broker = Broker(from_plain(plain, BrokerState))
        assert to_plain(self.broker.state) == to_plain(from_plain(plain, BrokerState))
        found = super().step(step)
        check_laws(self.broker)
        return found


@pytest.mark.parametrize("name", ["topology", "dispatch", "sessions", "consistent_hash_exchange"])
def test_broker_that_is_kept_and_restored_before_each_step_answers_the_same(name: str) -> None:
    results = [run_session(row, Restored) for row in rows(name)[::EVERY]]
    assert {each.id for each in results if each.outcome == "failed"} == set()
