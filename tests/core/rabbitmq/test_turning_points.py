"""What the broker tells of a change: whose turn it was, who got what, who was passed over, and from what it
follows."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.events import Cause, Json
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import LISTED_MAX, BrokerState
from broker_core.rabbitmq.client import hello
from broker_core.sim.node import Closed, Opened
from tests.core import playbook
from tests.core.playbook import Played, wake
from tests.core.rabbitmq.plays import play, queue_of

P = 1  # connection of the publisher; worker n is connection n, from 2 on


class Told(Played):
    """It keeps the inputs of what is reported, too."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.inputs: list[Json] = []

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        self.inputs.append(inputs)
        return super().tell(kind, rule, inputs, data)


def broker(*prefetch: int, messages: int = 0) -> tuple[Broker, Any]:
    """Workers w2, w3, ... with these limits, and so many messages published after they have subscribed."""
    node, out = Broker(BrokerState()), Told("broker")
    play(node, out, P, Opened("publisher"), m.ChannelOpen(1), m.QueueDeclare(1, "q"))
    for connection, limit in enumerate(prefetch, 2):
        subscribe(node, out, connection, limit)
    play(node, out, P, *[m.BasicPublish(1, "", "q", message=message) for message in range(messages)])
    return node, out


def subscribe(node: Broker, out: Any, connection: int, limit: int) -> list[Any]:
    return play(
        node,
        out,
        connection,
        Opened(f"w{connection}"),
        m.ChannelOpen(1),
        m.BasicQos(1, 0, limit),
        m.BasicConsume(1, "q", "c"),
    )


def test_subscription_tells_its_prefetch_and_how_many_consume() -> None:
    _, out = broker(0, 5)
    assert [kind for kind, _ in out.told] == ["rabbitmq.consumer.subscribed"] * 2
    assert out.rules == ["rabbitmq.queue.joins_at_the_end_of_the_ring"] * 2
    assert out.inputs == [{"prefetch": 0}, {"prefetch": 5}]
    assert out.told[1][1] == {
        "consumer": "w3",
        "connection": 3,
        "consumers": 2,
        "delivered": 0,
        "turns": ["w2", "w3"],
        "received": [],
        "skipped": [],
    }


def test_newcomer_takes_the_backlog_when_the_others_are_at_their_limit() -> None:
    node, out = broker(1, messages=4)
    sent = subscribe(node, out, 3, 2)
    assert [(connection, method.message) for connection, method in sent] == [(3, 1), (3, 2)]
    _, data = out.told[-1]
    assert data["delivered"] == 2 and data["received"] == [{"consumer": "w3", "records": 2}]
    assert data["turns"] == ["w3"] and data["skipped"] == [
        {"consumer": "w2", "connection": 2, "unacked": 1}, {"consumer": "w3", "connection": 3, "unacked": 2},
    ]  # fmt: skip


def test_long_lists_are_told_in_part() -> None:
    _, out = broker(*[0] * (LISTED_MAX + 2))
    assert (
        out.told[-1][1]["turns"] == [f"w{number}" for number in range(2, LISTED_MAX + 2)]
        and out.told[-1][1]["turns_more"] == 2
    )


def test_closed_channel_without_a_consumer_tells_nothing() -> None:
    node, out = broker(0)
    told = len(out.told)
    assert play(node, out, P, m.ChannelClose(1, 200, "Goodbye")) == [(P, m.ChannelCloseOk(1))]
    assert len(out.told) == told


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (m.ChannelClose(1, 200, "Goodbye"), "rabbitmq.channel.closed_by_client"),
        (m.BasicAck(1, 99), "rabbitmq.channel.exception"),
        (m.ChannelOpen(1), "rabbitmq.connection.exception"),
        (Closed("reset"), "rabbitmq.connection.closed_by_peer"),
    ],
    ids=["closed", "channel exception", "connection exception", "peer is gone"],
)
def test_closed_consumer_tells_why_and_what_became_of_its_messages(method: Any, reason: str) -> None:
    node, out = broker(2, 1, messages=4)
    told = len(out.told)
    play(node, out, 2, method)
    assert [kind for kind, _ in out.told[told:]] == ["rabbitmq.channel.closed"]
    assert (out.rules[-1], out.inputs[-1]) == (
        "rabbitmq.queue.requeue_in_original_order",
        {"unacked": 2, "reason": reason},
    )
    assert out.told[-1][1] == {
        "consumer": "w2", "connection": 2, "delivered": 0, "ready": 3, "turns": [], "received": [],
        "skipped": [{"consumer": "w3", "connection": 3, "unacked": 1}],
    }  # fmt: skip


def test_missed_heartbeats_tell_what_the_silent_one_and_all_others_hold() -> None:
    node, out = broker(2, 1, messages=4)
    node.connections[2].was_heard, node.connections[2].silent = False, 1
    wake(node, out, "heartbeat:2")
    (kind, data), (closed, _) = out.told[-2:]
    assert (kind, closed) == ("rabbitmq.connection.missed_heartbeats", "rabbitmq.channel.closed")
    assert data == {"consumer": "w2", "connection": 2, "unacked": 2, "unacked_in_all": 3}


def test_messages_sent_a_second_time_are_counted() -> None:
    node, out = broker(0, messages=3)
    assert node.state.redelivered == 0
    play(node, out, 2, m.BasicNack(1, 3, True, True))
    assert node.state.redelivered == 3
    play(node, out, 2, m.BasicNack(1, 4, requeue=True))
    assert node.state.redelivered == 4


def test_renamed_connection_is_known_by_the_name_its_program_gave() -> None:
    node, out = broker()
    playbook.play(
        node,
        out,
        2,
        Opened("host-7"),
        *hello("orders"),
        m.ChannelOpen(1),
        m.QueueDeclare(1, "q"),
        m.BasicConsume(1, "q", "c"),
    )
    assert out.told[-1][1]["consumer"] == "orders"


def test_message_for_a_queue_that_is_not_there_is_dropped_without_a_word() -> None:
    node, out = broker(0)
    assert play(node, out, P, m.BasicPublish(1, "", "nowhere", message=0)) == [] and out.closed == []
    assert [method.message for _, method in play(node, out, P, m.BasicPublish(1, "", "q", message=1))] == [1]


def test_queue_declared_again_keeps_what_it_has() -> None:
    node, out = broker(messages=2)
    play(node, out, P, m.QueueDeclare(1, "q"))
    assert queue_of(node, "q").ready == 2


def test_cancel_of_a_tag_that_is_not_there_is_as_if_it_had_been() -> None:
    node, out = broker(0)
    assert (
        play(node, out, 2, m.BasicCancel(1, "other")) == []
        and queue_of(node, "q").ring == ["2.1.c"]
        and out.closed == []
    )


def test_nack_of_two_consumers_of_one_channel_gives_back_to_each_ones_queue() -> None:
    node, out = broker()
    play(node, out, P, m.QueueDeclare(1, "r"))
    play(
        node,
        out,
        2,
        Opened("w2"),
        m.ChannelOpen(1),
        m.BasicConsume(1, "q", "cq"),
        m.BasicConsume(1, "r", "cr"),
    )
    play(
        node,
        out,
        P,
        m.BasicPublish(1, "", "q", message=0),
        m.BasicPublish(1, "", "r", message=1),
        m.BasicPublish(1, "", "q", message=2),
    )
    again = play(node, out, 2, m.BasicNack(1, 0, True, True))
    assert [(method.consumer_tag, method.message, method.redelivered) for _, method in again] == [
        ("cq", 0, True),
        ("cq", 2, True),
        ("cr", 1, True),
    ]
