"""The skew of each second is that of the second, however long the lab is left to itself, and though nobody
looks at what is on its way."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.shares import skew_milli
from tests.core.lab.lives import order

SECOND = 1_000_000


LANES: dict[str, dict[str, Any]] = {
    "pulsar": {"model": "pulsar"},
    "shared": {"model": "pulsar", "algorithm": "shared"},
    "partitions": {"model": "pulsar", "partitions": 3},
    "kafka": {"model": "kafka", "brokers": 1},
    "cluster": {"model": "kafka"},
    "tubemq": {"model": "tubemq"},
    "rabbitmq": {"model": "rabbitmq"},
}


def lab_of(name: str, delay_us: int) -> Lab:
    lane = {**LANES[name], "network_delay_us": delay_us}
    keys = [[f"key-{number}", 20 + number] for number in range(9)]
    workload = (
        {"kind": "hot_key", "keys": 40, "rate": 45}
        if delay_us > 1_000
        else {"kind": "keys", "keys": keys, "keyless": 60, "rate": 100}
    )
    return Lab(
        scenario_from_json(
            {"seed": 3, "consumers": 3, "consumer_rate": 12, "lanes": [lane], "workload": workload}
        )
    )


NEAR_US, FAR_US = 1_000, 300_000
# Kafka's cluster costs as much as all others: of one broker near, of three far.
CASES = [(name, delay) for name in LANES for delay in (NEAR_US, FAR_US)]
CASES = [case for case in CASES if case not in (("kafka", FAR_US), ("cluster", NEAR_US))]


@pytest.mark.parametrize(("name", "delay_us"), CASES)
def test_history_is_what_a_look_at_each_second_finds(name: str, delay_us: int) -> None:
    looked_at, left_alone, model = lab_of(name, delay_us), lab_of(name, delay_us), LANES[name]["model"]
    seen: dict[int, int | None] = {}
    for kind in ("join", "crash", "rejoin"):
        for lab in (looked_at, left_alone):
            order(lab, kind, None if kind == "join" else "c2")
        for _ in range(45):
            looked_at.advance_to(looked_at.now_us + SECOND)
            looked_at.view()
            seen[looked_at.now_us // SECOND] = skew_milli(looked_at.lanes[model])
        left_alone.advance_to(looked_at.now_us)
    kept = {second: skew for second, skew in left_alone.lanes[model].history.items() if second > 0}
    assert kept == seen and any(seen.values())
    assert left_alone.checkpoint() == looked_at.checkpoint()
