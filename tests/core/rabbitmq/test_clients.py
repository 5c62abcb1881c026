"""The client programs on their own."""

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client import hello
from broker_core.rabbitmq.client.publisher import Declare
from broker_core.rabbitmq.client.worker import Subscribe, Worker
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume
from tests.core.playbook import Counted, Played, wake
from tests.core.rabbitmq.plays import play
from tests.core.rabbitmq.programs import publisher, publisher_state, worker_state


def worker(prefetch: int = 5, service_us: int = 100) -> tuple[Worker, Played, Counted]:
    counted = Counted()
    node, out = Worker(worker_state("c1", "q", prefetch, Program(service_us)), counted), Played("c1")
    assert play(node, out, PERSON, Subscribe("broker")) == [
        *((1, method) for method in hello("c1")),
        (1, m.ChannelOpen(1)),
        (1, m.QueueDeclare(1, "q")),
        (1, m.BasicQos(1, 0, prefetch)),
        (1, m.BasicConsume(1, "q", "ctag")),
    ]
    return node, out, counted


def delivery(tag: int, message: int) -> m.BasicDeliver:
    return m.BasicDeliver(1, "ctag", tag, False, "", "q", message)


def test_messages_are_handled_one_at_a_time_in_order_and_acked_each_by_itself():
    node, out, counted = worker()
    assert play(node, out, 1, delivery(1, 10), delivery(2, 11), now_us=50) == []
    assert out.deadlines[DONE] == 150
    assert wake(node, out, DONE) == [(1, m.BasicAck(1, 1))]
    assert wake(node, out, DONE) == [(1, m.BasicAck(1, 2))]
    assert counted.log == [("handled", 10), ("handled", 11)]


def test_paused_program_finishes_what_it_has_in_hand_and_takes_no_more():
    node, out, _ = worker()
    play(node, out, 1, delivery(1, 10), delivery(2, 11))
    play(node, out, PERSON, Pause())
    wake(node, out, DONE)
    assert DONE not in out.deadlines
    play(node, out, PERSON, Resume(), now_us=1_000)
    assert out.deadlines[DONE] == 1_100


def test_pace_counts_from_the_next_message():
    node, out, _ = worker()
    play(node, out, 1, delivery(1, 10), delivery(2, 11))
    play(node, out, PERSON, Pace(5_000))
    wake(node, out, DONE)
    assert out.deadlines[DONE] == 5_100


def test_leaving_closes_the_channel_and_lets_go():
    node, out, counted = worker()
    play(node, out, 1, delivery(1, 10), delivery(2, 11))
    assert play(node, out, PERSON, Leave()) == [(1, m.ChannelClose(1, 200, "Goodbye"))]
    assert DONE not in out.deadlines and not node.state.buffer
    assert counted.log[-1] == ("dropped", 10)


def test_refused_channel_is_remembered_with_its_code():
    node, out, _ = worker()
    assert play(node, out, 1, m.ChannelClose(1, 404, "NOT_FOUND")) == [(1, m.ChannelCloseOk(1))]
    assert node.state.refused == 404


def test_refused_connection_is_remembered_with_its_code():
    node, out, counted = worker()
    play(
        node,
        out,
        1,
        delivery(1, 10),
        m.ConnectionClose(504, "CHANNEL_ERROR - expected 'channel.open'"),
        Closed("closed"),
    )
    assert node.state.refused == 504 and counted.log == [("dropped", 10)]


def test_silence_is_broken_by_a_heartbeat_every_half_interval_until_the_connection_is_gone():
    node, out, _ = worker()
    assert out.deadlines["heartbeat"] == m.HEARTBEAT_US // 2
    assert wake(node, out, "heartbeat") == [(1, m.Heartbeat())]
    play(node, out, 1, Closed("reset"))
    assert "heartbeat" not in out.deadlines


def test_publisher_declares_its_queue_and_publishes_to_it():
    node, out = publisher(publisher_state("q")), Played("publisher")
    assert play(node, out, PERSON, Declare("broker")) == [
        (1, method) for method in (*hello("publisher"), m.ChannelOpen(1), m.QueueDeclare(1, "q"))
    ]
    assert node.publish(7, -1) == (1, m.BasicPublish(1, "", "q", message=7))
