"""The consuming program on its own, step by step: its buffer, what a person orders, and each way in which it
can lose its channel."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client.publisher import Declare
from broker_core.rabbitmq.client.worker import Retake, Subscribe, Worker, WorkerState
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume
from tests.core.playbook import Counted, Played, wake
from tests.core.rabbitmq.plays import play
from tests.core.rabbitmq.programs import publisher, publisher_state, worker_state

SERVICE_US = 100


def subscribed(prefetch: int = 5) -> tuple[Worker, Any, Counted]:
    traffic = Counted()
    node, out = Worker(worker_state("c1", "q", prefetch, Program(SERVICE_US)), traffic), Played("c1")
    play(node, out, PERSON, Subscribe("broker"))
    return node, out, traffic


def delivery(tag: int) -> m.BasicDeliver:
    """Message 10 + tag."""
    return m.BasicDeliver(1, "ctag", tag, False, "", "q", 10 + tag)


def ack(tag: int) -> tuple[int, m.BasicAck]:
    return 1, m.BasicAck(1, tag)


def at_work(*tags: int) -> tuple[Worker, Any, Counted]:
    """These have arrived at 50; it has the first in hand."""
    node, out, traffic = subscribed()
    assert play(node, out, 1, *map(delivery, tags), now_us=50) == []
    return node, out, traffic


# -- one message at a time -----------------------------------------------------------------------------------


def test_buffer_is_worked_off_in_the_order_of_delivery_and_then_it_waits() -> None:
    node, out, traffic = at_work(1, 2, 3)
    assert list(node.state.buffer) == [(2, 12, True), (3, 13, True)] and traffic.received_count == 3
    for tag in (1, 2, 3):
        assert node.state.hand_tag == tag and out.deadlines[DONE] == 50 + tag * SERVICE_US
        assert wake(node, out, DONE) == [ack(tag)]
    assert DONE not in out.deadlines and node.state.program.is_free and node.state.program.finished == 3
    play(node, out, 1, delivery(4), now_us=1_000)
    assert out.deadlines[DONE] == 1_100


def test_message_that_arrives_at_a_paused_program_waits_in_its_buffer() -> None:
    node, out, traffic = subscribed()
    play(node, out, PERSON, Pause())
    play(node, out, 1, delivery(1), delivery(2))
    assert DONE not in out.deadlines and len(node.state.buffer) == 2 and traffic.received_count == 2
    play(node, out, PERSON, Resume(), now_us=500)
    assert out.deadlines[DONE] == 600 and node.state.hand_tag == 1


@pytest.mark.parametrize("order", [Resume(), Pace(7)])
def test_order_while_a_message_is_in_hand_takes_no_second_one(order: Any) -> None:
    node, out, _ = at_work(1, 2)
    play(node, out, PERSON, order, now_us=80)
    assert out.deadlines[DONE] == 150 and list(node.state.buffer) == [(2, 12, True)]


def test_pace_of_a_paused_program_is_remembered() -> None:
    node, out, _ = at_work(1, 2)
    play(node, out, PERSON, Pause(), Pace(7))
    wake(node, out, DONE)
    play(node, out, PERSON, Resume(), now_us=500)
    assert out.deadlines[DONE] == 507


def test_heartbeat_does_not_disturb_the_message_in_hand() -> None:
    node, out, traffic = at_work(1, 2)
    assert wake(node, out, "heartbeat") == [(1, m.Heartbeat())]
    assert out.deadlines == {DONE: 150, "heartbeat": 2 * m.HEARTBEAT_SEND_US} and traffic.log == []


# -- the end of a channel ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last_word", "answer", "refused"),
    [
        (m.ChannelClose(1, 404, "NOT_FOUND"), [(1, m.ChannelCloseOk(1))], 404),
        (Closed("reset"), [], 0),
        (Closed("closed"), [], 0),
    ],
    ids=["channel exception", "reset", "closed"],
)
def test_what_it_was_sent_and_has_not_acked_is_the_brokers_again(
    last_word: Any, answer: list[Any], refused: int
) -> None:
    node, out, traffic = at_work(1, 2, 3)
    wake(node, out, DONE)
    assert play(node, out, 1, last_word) == answer
    assert DONE not in out.deadlines and not node.state.buffer and node.state.program.hand == -1
    assert traffic.log == [("handled", 11), ("dropped", 12)] and node.state.refused == refused
    assert node.state.program.finished == 1


def test_connection_exception_is_remembered_and_the_connection_ends_with_closed() -> None:
    node, out, traffic = at_work(1)
    assert play(node, out, 1, m.ConnectionClose(504, "CHANNEL_ERROR")) == [] and traffic.log == []
    assert play(node, out, 1, Closed("closed")) == []
    assert (node.state.refused, node.state.connection, traffic.log) == (
        504,
        0,
        [("dropped", 11)],
    ) and out.deadlines == {}


def test_leave_of_one_that_was_refused_sends_nothing_on_its_dead_channel() -> None:
    node, out, _ = at_work(1)
    play(node, out, 1, m.ChannelClose(1, 404, "NOT_FOUND"))
    assert play(node, out, PERSON, Leave()) == []


def test_resume_without_a_connection_takes_nothing() -> None:
    node, out, _ = at_work(1)
    play(node, out, PERSON, Pause())
    play(node, out, 1, Closed("reset"))
    assert play(node, out, PERSON, Resume()) == [] and DONE not in out.deadlines


def test_started_again_it_subscribes_on_a_new_connection() -> None:
    node, out, _ = at_work(1, 2)
    play(node, out, 1, Closed("reset"))
    sent = play(node, out, PERSON, Subscribe("broker"), now_us=1_000)
    assert [connection for connection, _ in sent] == [2] * 7 and node.state.connection == 2
    assert out.deadlines == {"heartbeat": 1_000 + m.HEARTBEAT_SEND_US}


def test_restored_in_the_middle_of_its_work_it_goes_on_the_same() -> None:
    node, out, _ = at_work(1, 2, 3)
    wake(node, out, DONE)
    twin = Worker(from_plain(to_plain(node.state), WorkerState), Counted())
    again: Any = Played("c1")
    again.deadlines, again.connected = dict(out.deadlines), dict(out.connected)
    sent = []
    for each, each_out in ((node, out), (twin, again)):
        play(each, each_out, PERSON, Pause(), now_us=180)
        done = wake(each, each_out, DONE)
        sent.append(done + play(each, each_out, PERSON, Resume(), now_us=400))
    assert sent[0] == sent[1] == [ack(2)]
    assert to_plain(twin.state) == to_plain(node.state) and again.deadlines == out.deadlines


# -- the publisher -------------------------------------------------------------------------------------------


def test_publisher_breaks_its_silence_each_half_interval() -> None:
    node, out = publisher(publisher_state("q")), Played("publisher")
    play(node, out, PERSON, Declare("broker"), now_us=70)
    assert out.deadlines == {"heartbeat": 70 + m.HEARTBEAT_SEND_US}
    assert wake(node, out, "heartbeat") == [(1, m.Heartbeat())]
    assert out.deadlines == {"heartbeat": 70 + 2 * m.HEARTBEAT_SEND_US}


# -- a cancel by the server ----------------------------------------------------------------------------------


def test_cancel_by_the_server_has_no_code_and_leaves_the_channel_open() -> None:
    node, out, _ = at_work(1, 2)
    assert play(node, out, 1, m.BasicCancel(1, "another", True)) == [] and not node.state.is_cancelled
    assert play(node, out, 1, m.BasicCancel(1, "ctag", True)) == []
    state = node.state
    assert (state.is_cancelled, state.refused, state.refused_text) == (True, 0, "")
    assert out.told[-1] == ("rabbitmq.consumer.cancelled", {"consumer": "c1"})
    assert wake(node, out, DONE) == [ack(1)], "it settles what it holds"
    again = play(node, out, PERSON, Retake(5, "late", "", 0))
    assert [type(method).__name__ for _, method in again] == ["BasicQos", "BasicConsume"]
    assert not node.state.is_cancelled and node.state.tag == "ctag-2"
