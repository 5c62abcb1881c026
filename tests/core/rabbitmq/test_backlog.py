"""Messages that wait in a queue whose consumers are all at their limit are put there together: the lab is the
one that one step a message makes."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError, InvariantError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.rabbitmq import backlog
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.methods import BasicAck
from broker_core.rabbitmq.queue import WorkQueue
from tests.core.lab.journals import random_command

SECOND = 1_000_000
NEVER = 1 << 60


def lab_of(prefetch: str, rate: int, **changed: Any) -> Lab:
    lane = {"model": "rabbitmq", "algorithm": prefetch}
    return Lab(
        scenario_from_json(
            {
                "workload": {"kind": "uniform", "keys": 20, "rate": rate},
                "consumer_rate": 5,
                "lanes": [lane],
                **changed,
            }
        )
    )


def lived(seed: int, worth: int, prefetch: str, rate: int) -> list[str]:
    """What a lab has told and shows each time that somebody looks. worth: messages in the queue from which on
    those that arrive are no steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backlog, "WORTH", worth)
        draw, lab, seen = random.Random(seed), lab_of(prefetch, rate, seed=seed), []
        for number in range(14):
            told = lab.advance_to(lab.now_us + draw.choice([1, 100_000, 700_001, 3_000_000, 11_000_000]))
            command = random_command(draw, lab)
            if command["kind"] == "set_algorithm":
                command["args"] = {
                    "algorithm": draw.choice(["prefetch_1", "prefetch_5", "prefetch_unlimited"])
                }
            try:
                lab.submit(
                    {**command, "command_id": f"x{number}", "position": lab.position + 1, "at_us": lab.now_us}
                )
            except CommandError:  # it makes no sense now
                seen.append("refused")
            seen.append(json.dumps([[str(event) for event in told], lab.view(), lab.checkpoint().hex()]))
        return seen


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    prefetch=st.sampled_from(["prefetch_1", "prefetch_5"]),
    rate=st.sampled_from([5, 14, 40]),
)
@settings(max_examples=25, deadline=None)
def test_a_lab_tells_and_shows_the_same_whether_messages_that_wait_are_steps(seed, prefetch, rate):
    plain = lived(seed, NEVER, prefetch, rate)
    assert lived(seed, 1, prefetch, rate) == plain
    assert lived(seed, backlog.WORTH, prefetch, rate) == plain


def published_one_by_one(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The messages that are a step of their own, from now on."""
    steps: list[int] = []
    publish = Broker.published

    def published(
        self: Broker, connection: int, channel: int, routing_key: str, message: int, now_us: int, out: Any
    ) -> None:
        steps.append(message)
        publish(self, connection, channel, routing_key, message, now_us, out)

    monkeypatch.setattr(Broker, "published", published)
    return steps


def test_with_a_backlog_a_message_needs_no_step(monkeypatch):
    steps = published_one_by_one(monkeypatch)
    lab = lab_of("prefetch_1", 40)
    lab.advance_to(10 * SECOND)
    assert len(steps) < 60 and lab.record_count == 400
    queue = lab.lanes["rabbitmq"].world.node("broker").state.queues
    (only,) = queue.values()
    held = sum(map(only.unacked_count, only.consumers))
    assert only.published == 399 == only.acked + only.ready + held and only.ready > 200, (
        "the last one is on its way"
    )


def test_with_consumers_that_keep_up_each_message_is_a_step(monkeypatch):
    steps = published_one_by_one(monkeypatch)
    lab = lab_of("prefetch_1", 5)
    lab.advance_to(10 * SECOND)
    assert len(steps) == 49, "the last one is on its way"


def test_an_ack_of_an_unknown_delivery_finds_all_that_has_arrived_in_the_queue(monkeypatch):
    closed = []
    for worth in (NEVER, 1):
        monkeypatch.setattr(backlog, "WORTH", worth)
        lane = {"model": "rabbitmq", "algorithm": "prefetch_1", "network_delay_us": 300_000}
        lab = Lab(
            scenario_from_json(
                {"workload": {"kind": "uniform", "keys": 20, "rate": 40}, "consumer_rate": 5, "lanes": [lane]}
            )
        )
        lab.advance_to(9 * SECOND)
        slot = lab.lanes["rabbitmq"].world.slots["c1"]
        for connection in slot.links:
            slot.send(connection, BasicAck(1, 999_999))
        told = lab.advance_to(15 * SECOND)
        closed.append(([str(event) for event in told], json.dumps(lab.view()), lab.checkpoint()))
        assert any("rabbitmq.channel.closed" in str(event) for event in told)
    assert closed[0] == closed[1]


def test_a_publisher_is_heard_by_what_waits():
    lab = lab_of("prefetch_1", 40)
    lab.advance_to(300 * SECOND)
    broker = lab.lanes["rabbitmq"].world.node("broker")
    assert any(known.name == "publisher" and known.was_heard for known in broker.state.connections.values())


def test_messages_wait_together_only_where_no_turn_comes():
    queue = WorkQueue()
    queue.wait(range(2))
    assert queue.only_waits and queue.head(9) == [(0, False), (1, False)] and queue.published == 2
    with pytest.raises(InvariantError, match="messages from 1 on do not only wait behind 1"):
        queue.wait(range(1, 3))
    assert queue.consume("c", 1) == [("c", 0, False)] and queue.only_waits, (
        "it is out of the ring: its turn came while it had no room"
    )
    assert queue.ack("c", 0) == [("c", 1, False)] and not queue.only_waits, (
        "nothing is left for which its turn could come"
    )
    with pytest.raises(InvariantError, match="messages from 2 on"):
        queue.wait(range(2, 3))
    assert queue.published == 2 and queue.ready == 0
