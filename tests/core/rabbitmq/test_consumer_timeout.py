"""A delivery that is not acknowledged in time closes its channel: RabbitMQ's `consumer_timeout`, looked at
once a minute."""

from __future__ import annotations

import pytest

from broker_core.lab.lab import Lab
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.sim.node import Closed, Opened
from tests.core.lab.small import lab_of, order
from tests.core.playbook import Played, wake
from tests.core.rabbitmq.plays import play, queue_of

SECOND, MINUTE = 1_000_000, 60_000_000
P, A, B = 1, 2, 3  # connections of the publisher and of two workers
TEXT = (
    "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms. "
    "This timeout value can be configured, see consumers doc guide to learn more"
)


def broker(*workers: int, timeout_us: int | None = 30 * MINUTE) -> tuple[Broker, Played]:
    """A queue "q" and workers with a prefetch of 1, whose channels open at 0."""
    node, out = Broker(BrokerState(consumer_timeout_us=timeout_us)), Played("broker")
    play(node, out, P, Opened("publisher"), m.ChannelOpen(1), m.QueueDeclare(1, "q"))
    for connection in workers:
        play(
            node,
            out,
            connection,
            Opened(f"w{connection}"),
            m.ChannelOpen(1),
            m.BasicQos(1, 0, 2),
            m.BasicConsume(1, "q", "c"),
        )
    return node, out


def ticks(node: Broker, out: Played, connection: int, count: int) -> list[object]:
    """Let a channel look so many times; what was sent then."""
    return [each for _ in range(count) for each in wake(node, out, f"tick:{connection}.1")]


def test_the_channel_is_closed_at_the_first_look_at_which_a_delivery_is_older_than_the_timeout() -> None:
    node, out = broker(A, B)
    play(node, out, P, m.BasicPublish(1, "", "q", message=0), now_us=10 * SECOND)
    assert ticks(node, out, A, 30) == [], "at 30:00 it is 29:50 old"
    assert ticks(node, out, A, 1) == [
        (B, m.BasicDeliver(1, "c", 1, True, "", "q", 0)),
        (A, m.ChannelClose(1, 406, TEXT)),
    ]
    assert A in node.connections and queue_of(node, "q").ring == ["3.1.c"] and "tick:2.1" not in out.deadlines
    assert [kind for kind, _ in out.told][-2:] == ["rabbitmq.channel.timed_out", "rabbitmq.channel.closed"]


def test_a_delivery_exactly_as_old_as_the_timeout_is_in_time() -> None:
    node, out = broker(A)
    play(node, out, P, m.BasicPublish(1, "", "q", message=0))
    assert ticks(node, out, A, 30) == []
    assert len(ticks(node, out, A, 1)) == 1


def test_acknowledging_later_deliveries_does_not_help_the_oldest() -> None:
    node, out = broker(A)
    play(node, out, P, m.BasicPublish(1, "", "q", message=0))
    for message in range(1, 30):
        play(node, out, P, m.BasicPublish(1, "", "q", message=message), now_us=message * MINUTE)
        assert ticks(node, out, A, 1) == []
        play(node, out, A, m.BasicAck(1, message + 1), now_us=message * MINUTE)
    assert [type(method) for _, method in ticks(node, out, A, 2)] == [m.ChannelClose]


def test_a_late_ack_on_the_closed_channel_is_dropped_and_a_new_channel_serves() -> None:
    node, out = broker(A)
    play(node, out, P, m.BasicPublish(1, "", "q", message=0))
    ticks(node, out, A, 31)
    assert play(node, out, A, m.BasicAck(1, 1)) == [] and queue_of(node, "q").acked == 0 and out.closed == []
    again = play(
        node, out, A, m.ChannelCloseOk(1), m.ChannelOpen(1), m.BasicConsume(1, "q", "c"), now_us=32 * MINUTE
    )
    assert again == [(A, m.BasicDeliver(1, "c", 1, True, "", "q", 0))]
    assert out.deadlines["tick:2.1"] == 33 * MINUTE, "a channel's looks count from its opening"


@pytest.mark.parametrize("end", [m.ChannelClose(1, 200, "Goodbye"), Closed("reset")])
def test_a_closed_channel_looks_no_more(end: object) -> None:
    node, out = broker(A)
    play(node, out, A, end)
    assert "tick:2.1" not in out.deadlines


def test_without_a_timeout_a_delivery_may_wait_for_ever() -> None:
    node, out = broker(A, timeout_us=None)
    play(node, out, P, m.BasicPublish(1, "", "q", message=0))
    assert ticks(node, out, A, 1_000) == []


# -- in a lab ------------------------------------------------------------------------------------------------


def lab(**options: object) -> Lab:
    return lab_of("rabbitmq", rate=1, algorithm="prefetch_5", **options)


def held(each: Lab) -> dict[str, int]:
    lane = each.lanes["rabbitmq"]
    return {name: lane.reads.held(consumer) for name, consumer in lane.consumers.items()}


def test_a_stuck_worker_loses_its_records_after_half_an_hour_and_its_connection_stays() -> None:
    """Reports rabbitmq-server#3032, lapin#357, celery#6760."""
    each = lab()
    each.advance_to(10 * SECOND)
    order(each, "pause", "c1")
    each.advance_to(1_700 * SECOND)
    assert held(each)["c1"] == 5
    each.advance_to(1_980 * SECOND)
    lane = each.lanes["rabbitmq"]
    assert held(each)["c1"] == 0 and not lane.reads.is_served(lane.consumers["c1"])
    assert len(lane.reads.broker().connections) == 3 and lane.reads.redelivered() == 5
    assert lane.sentence["code"] == "rabbitmq.timed_out" and lane.reads.is_settled()
    order(each, "resume", "c1")
    each.advance_to(1_990 * SECOND)
    assert lane.reads.is_served(lane.consumers["c1"]), "it has opened a new channel"


def test_a_worker_that_is_only_slow_opens_a_new_channel_at_once() -> None:
    each = lab(consumer_timeout_ms=1_000, prefetch=50)
    each.advance_to(1 * SECOND)
    order(each, "pause", "c2")
    order(each, "slow", "c1", rate=1)
    each.advance_to(59 * SECOND)
    order(each, "pause", "c1")
    order(each, "resume", "c1")
    each.advance_to(70 * SECOND)
    lane = each.lanes["rabbitmq"]
    assert lane.reads.is_served(lane.consumers["c1"]) and not lane.reads.is_served(lane.consumers["c2"])


def test_a_silent_worker_whose_channel_was_closed_is_given_up_by_its_heartbeats_later() -> None:
    each = lab(consumer_timeout_ms=1_000)
    each.advance_to(10 * SECOND)
    order(each, "pause", "c1")
    each.advance_to(30 * SECOND)
    order(each, "crash", "c1")
    each.advance_to(61 * SECOND)
    lane = each.lanes["rabbitmq"]
    assert held(each)["c1"] == 0 and lane.reads.is_settled()
    each.advance_to(300 * SECOND)
    assert len(lane.reads.broker().connections) == 2
