"""A connection at the broker: its channels go together, what it may not say closes it, and silence is counted
in looks."""

import pytest

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.connection import Connection
from broker_core.sim.node import Closed, Opened
from tests.core.playbook import Played
from tests.core.rabbitmq.plays import play, queue_of

P, A, B = 1, 2, 3  # connections of the publisher and of two workers


def broker_with_two_channels(prefetch: int) -> tuple[Broker, Played]:
    """Worker A consumes on two channels, both at their prefetch, and messages wait."""
    broker, out = Broker(BrokerState()), Played("broker")
    play(broker, out, P, Opened("publisher"), m.ChannelOpen(1), m.QueueDeclare(1, "q"))
    play(
        broker,
        out,
        A,
        Opened("a"),
        *[
            method
            for channel in (1, 2)
            for method in (
                m.ChannelOpen(channel),
                m.BasicQos(channel, 0, prefetch),
                m.BasicConsume(channel, "q", "c"),
            )
        ],
    )
    play(broker, out, P, *[m.BasicPublish(1, "", "q", message=message) for message in range(4)])
    return broker, out


def test_channels_of_a_closed_connection_give_back_together_and_what_they_held_waits_in_order():
    broker, out = broker_with_two_channels(prefetch=1)
    assert play(broker, out, A, Closed("reset")) == []
    assert queue_of(broker, "q").head(4) == [(0, True), (1, True), (2, False), (3, False)]
    assert list(broker.connections) == [P] and queue_of(broker, "q").ring == []
    kind, data = out.told[-1]
    assert (kind, data["consumer"], data["delivered"], data["ready"]) == (
        "rabbitmq.channel.closed",
        "a",
        0,
        4,
    )


def test_what_a_closed_connection_held_goes_to_the_others_and_never_to_its_own_other_channel():
    broker, out = broker_with_two_channels(prefetch=2)
    play(broker, out, B, Opened("b"), m.ChannelOpen(1), m.BasicConsume(1, "q", "c"))
    sent = play(broker, out, A, Closed("reset"))
    assert [(connection, method.message, method.redelivered) for connection, method in sent] == [
        (B, message, True) for message in range(4)
    ]
    assert [kind for kind, _ in out.told].count("rabbitmq.channel.closed") == 1


@pytest.mark.parametrize(
    ("method", "text"),
    [
        (m.BasicPublish(7, "", "q", message=0), "expected 'channel.open'"),
        (m.BasicAck(7, 1), "expected 'channel.open'"),
        (m.QueueDeclare(7, "q"), "expected 'channel.open'"),
        (m.ChannelClose(7, 200, "Goodbye"), "expected 'channel.open'"),
        (m.BasicQos(0, 0, 1), "unexpected method in connection state running"),
        (m.ChannelOpen(1), "second 'channel.open' seen"),
    ],
    ids=["publish", "ack", "declare", "close", "channel 0", "open again"],
)
def test_channel_that_is_not_as_the_method_needs_it_closes_the_connection_with_504(method, text):
    broker, out = broker_with_two_channels(prefetch=1)
    assert play(broker, out, A, method) == [(A, m.ConnectionClose(504, f"CHANNEL_ERROR - {text}"))]
    assert out.closed == [A] and A not in broker.connections and "heartbeat:2" not in out.deadlines
    assert queue_of(broker, "q").ready == 4


def test_consumer_tag_used_twice_on_a_channel_closes_the_connection_with_530():
    broker, out = broker_with_two_channels(prefetch=1)
    sent = play(broker, out, A, m.BasicConsume(2, "q", "c"))
    assert sent == [(A, m.ConnectionClose(530, "NOT_ALLOWED - attempt to reuse consumer tag 'c'"))]
    assert out.closed == [A] and queue_of(broker, "q").ready == 4


def test_channel_the_broker_closed_drops_what_was_on_its_way_until_the_client_says_so():
    broker, out = broker_with_two_channels(prefetch=1)
    assert play(broker, out, A, m.BasicAck(1, 9))[-1][1].reply_code == 406
    assert play(broker, out, A, m.BasicAck(1, 1), m.BasicQos(1, 0, 3), m.ChannelOpen(1)) == []
    assert list(broker.connections[A].channels) == [2]
    assert play(broker, out, A, m.ChannelClose(1, 200, "Goodbye")) == [(A, m.ChannelCloseOk(1))]
    play(broker, out, A, m.ChannelCloseOk(1), m.ChannelOpen(1))
    assert broker.connections[A].channels[1] == Channel(A, 1)
    play(broker, out, A, m.ChannelClose(1, 200, "Goodbye"))
    assert play(broker, out, A, m.BasicQos(1, 0, 1)) == [
        (A, m.ConnectionClose(504, "CHANNEL_ERROR - expected 'channel.open'"))
    ]


def test_peer_is_given_up_at_the_second_look_in_a_row_that_found_nothing():
    connection = Connection("w", 0)
    assert connection.looks_left() == 3
    assert [connection.look(), connection.looks_left()] == [False, 2]
    assert [connection.look(), connection.looks_left()] == [False, 1]
    connection.was_heard = True
    assert connection.looks_left() == 3
    assert [connection.look() for _ in range(3)] == [False, False, True]


def test_unacked_of_a_connection_are_those_of_all_its_channels():
    connection = Connection("w", 0, channels={1: Channel(2, 1), 2: Channel(2, 2)})
    for number, channel in connection.channels.items():
        for message in range(number):
            channel.deliver(8, "c", message, 0)
    assert connection.unacked_count() == 3
