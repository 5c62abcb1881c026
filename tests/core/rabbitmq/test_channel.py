"""A channel: delivery tags, what an acknowledgement names, and the prefetch its consumers get."""

import pytest

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.channel import Channel
from broker_core.sim.node import Opened
from tests.core.playbook import Played
from tests.core.rabbitmq.plays import play

P, A = 1, 2  # connections of the publisher and of a worker


def channel_with(*messages: int) -> Channel:
    channel = Channel(A, 1)
    for message in messages:
        channel.deliver(8, "c", message, 0)
    return channel


def opened(*methods: object) -> tuple[Broker, Played]:
    """A queue "q", and a worker that has sent these methods on channel 1."""
    broker, out = Broker(BrokerState()), Played("broker")
    play(broker, out, P, Opened("publisher"), m.ChannelOpen(1), m.QueueDeclare(1, "q"))
    play(broker, out, A, Opened("a"), m.ChannelOpen(1), *methods)
    return broker, out


def publish(broker: Broker, out: Played, *messages: int) -> list[tuple[str, int, int]]:
    """Publish to "q". Gives (consumer tag, delivery tag, message) of each delivery."""
    sent = play(broker, out, P, *[m.BasicPublish(1, "", "q", message=message) for message in messages])
    return [(method.consumer_tag, method.delivery_tag, method.message) for _, method in sent]


def test_tags_count_on_over_what_was_settled():
    channel = channel_with(5, 6)
    assert channel.settle(1, False) == {1: (8, "c", 5, 0)}
    assert channel.deliver(8, "c", 7, 0) == 3 and list(channel.unacked) == [2, 3]


@pytest.mark.parametrize(
    ("tag", "multiple", "settled"),
    [
        (2, False, [6]),
        (2, True, [5, 6]),
        (0, True, [5, 6, 7]),
        (0, False, None),
        (4, False, None),
        (4, True, None),
    ],
)
def test_acknowledgement_names_one_all_up_to_it_or_none(tag, multiple, settled):
    found = channel_with(5, 6, 7).settle(tag, multiple)
    assert (found if found is None else [position for _, _, position, _ in found.values()]) == settled


def test_tag_is_settled_once_and_all_of_nothing_is_no_error():
    channel = channel_with(5)
    assert channel.settle(1, False) == {1: (8, "c", 5, 0)}
    assert channel.settle(1, False) is None and channel.settle(1, True) is None
    assert channel.settle(0, True) == {}


def test_consumers_of_a_channel_share_its_delivery_tags():
    broker, out = opened(m.BasicConsume(1, "q", "x"), m.BasicConsume(1, "q", "y"))
    assert publish(broker, out, 0, 1, 2) == [("x", 1, 0), ("y", 2, 1), ("x", 3, 2)]


def test_prefetch_is_of_consumers_made_after_it():
    broker, out = opened(
        m.BasicQos(1, 0, 1), m.BasicConsume(1, "q", "x"), m.BasicQos(1, 0, 2), m.BasicConsume(1, "q", "y")
    )
    assert publish(broker, out, 0, 1, 2, 3) == [("x", 1, 0), ("y", 2, 1), ("y", 3, 2)]


def test_tag_of_a_cancelled_consumer_that_holds_nothing_is_free_again():
    broker, out = opened(m.BasicConsume(1, "q", "x"), m.BasicCancel(1, "x"), m.BasicConsume(1, "q", "x"))
    assert out.closed == [] and publish(broker, out, 0) == [("x", 1, 0)]


def test_closed_channel_leaves_the_connection_and_its_number_free():
    broker, out = opened(m.BasicConsume(1, "q", "x"))
    publish(broker, out, 0)
    assert play(broker, out, A, m.ChannelClose(1, 200, "Goodbye")) == [(A, m.ChannelCloseOk(1))]
    assert play(broker, out, A, m.ChannelOpen(1), m.BasicConsume(1, "q", "x")) == [
        (A, m.BasicDeliver(1, "x", 1, True, "", "q", 0))
    ]
