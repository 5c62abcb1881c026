"""Messages that go straight into what the broker does with them: the lab is the one in which the broker
receives each of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.lanes import pulsar
from broker_core.lab.scenario import scenario_from_json
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.sent import Sent
from broker_core.sim.stream import Stream
from tests.core.lab.journals import random_command

OPTIONS: list[dict[str, Any]] = [
    {},
    {"receiver_queue_size": 3},
    {"receiver_queue_size": 5, "order": "draining"},
    {"order": "out_of_order", "receiver_queue_size": 10},
    {"unacked_max": 3},
    {"unacked_all_max": 8},
    {"unacked_max": 10, "unacked_all_max": 30, "receiver_queue_size": 20},
    {"ordering_keys": 3},
    {"partitions": 3},
    {"receipts": True},
    {"receipts": True, "deduplication": True},
    {"nack_delay_us": 100_000, "fails_every": 3},
    {"subscriptions": {"audit": {"type": "shared", "consumers": 2, "rate": 30}}},
    {"network_delay_us": 200_000},
]
ALGORITHMS = [
    "auto_split",
    "sticky",
    "consistent_hash",
    "consistent_hash_current",
    "shared",
    "failover",
    "exclusive",
]


def one_by_one(
    sender: Any, receiver: Any, publish: Callable[[int, int], tuple[int, Any]], ordering_keys: int
) -> Stream:
    return Stream(sender, publish)


def lived(seed: int, algorithm: str, asked: dict[str, Any], stream: Callable[..., Stream]) -> list[str]:
    """What a lab has told and shows each time that somebody looks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pulsar, "Sent", stream)
        draw, seen = random.Random(seed), []
        workload = {
            "kind": draw.choice(["uniform", "hot_key"]),
            "keys": draw.choice([5, 50]),
            "rate": draw.choice([5, 30, 90]),
        }
        lab = Lab(
            scenario_from_json(
                {
                    "seed": seed,
                    "workload": workload if seed % 5 else {"rate": 36},
                    "consumers": draw.choice([1, 2, 4]),
                    "consumer_rate": 10,
                    "lanes": [{"model": "pulsar", "algorithm": algorithm, **asked}],
                }
            )
        )
        for number in range(10):
            told = lab.advance_to(lab.now_us + draw.choice([1, 100_000, 700_001, 3_000_000, 8_000_000]))
            command = random_command(draw, lab)
            try:
                lab.submit(
                    {**command, "command_id": f"x{number}", "position": lab.position + 1, "at_us": lab.now_us}
                )
            except CommandError:  # it makes no sense now
                seen.append("refused")
            seen.append(json.dumps([[str(event) for event in told], lab.view(), lab.checkpoint().hex()]))
        return seen


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), algorithm=st.sampled_from(ALGORITHMS), asked=st.sampled_from(OPTIONS))
@example(seed=5, algorithm="consistent_hash_current", asked={})
@settings(max_examples=30, deadline=None)
def test_a_lab_tells_and_shows_the_same_whether_its_broker_receives_each_message(seed, algorithm, asked):
    assert lived(seed, algorithm, asked, Sent) == lived(seed, algorithm, asked, one_by_one)


def counted(monkeypatch: pytest.MonkeyPatch, where: type, name: str) -> list[Any]:
    """What a method returns, from now on."""
    results: list[Any] = []
    method = getattr(where, name)

    def call(self: Any, *arguments: Any) -> Any:
        results.append(method(self, *arguments))
        return results[-1]

    monkeypatch.setattr(where, name, call)
    return results


def test_in_the_demo_a_message_is_neither_received_nor_dispatched_by_itself(monkeypatch):
    lab = Lab(scenario_from_json({"lanes": [{"model": "pulsar"}]}))
    lab.advance_to(2_000_000)
    ledger = lab.lanes["pulsar"].reads.topics(lab.lanes["pulsar"])[0].ledger
    first, dispatched = ledger.end, counted(monkeypatch, Broker, "dispatch")
    lab.advance_to(12_000_000)
    assert ledger.end - first == 360
    assert 1 <= len(dispatched) <= 3, (
        "one was on its way when somebody looked; what reaches an idle program is a step"
    )


def test_what_its_consumer_has_no_room_for_waits_with_the_others_and_is_not_dispatched_either(monkeypatch):
    lane = {"model": "pulsar", "receiver_queue_size": 4}
    lab = Lab(
        scenario_from_json(
            {"workload": {"kind": "uniform", "keys": 20, "rate": 40}, "consumer_rate": 5, "lanes": [lane]}
        )
    )
    given, dispatched = (
        counted(monkeypatch, KeySharedDispatcher, "give"),
        counted(monkeypatch, Broker, "dispatch"),
    )
    lab.advance_to(20_000_000)
    assert None in given, "the first for which there was no room"
    dispatcher = (
        next(iter(lab.lanes["pulsar"].world.node(pulsar.BROKER).state.topics.values()))
        .subscriptions["subscription"]
        .dispatcher
    )
    dispatcher.check()
    assert len(dispatcher.replay) + sum(len(known.pending) for known in dispatcher.consumers.values()) > 300
    assert len(dispatcher.replay) > 2 * len(dispatched) > 0
