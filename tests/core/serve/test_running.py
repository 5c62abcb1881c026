"""A broker in a thread of its own, as a test holds it: pika's clients, faults, waits, a reset, the file that is kept."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager, suppress

import pika
import pytest
from pika.exceptions import ChannelClosedByBroker, ConnectionClosedByBroker, NackError

import highwater
from broker_core.errors import CommandError, InvariantError
from broker_core.rabbitmq import methods as m
from broker_core.serve.replay import replay

RESET_MS_MAX = 20


@pytest.fixture
def rabbitmq():
    with highwater.run() as rabbitmq:
        yield rabbitmq


@contextmanager
def channel_of(rabbitmq, name=None):
    parameters = pika.URLParameters(rabbitmq.url)
    parameters.client_properties = {"connection_name": name} if name else None
    connection = pika.BlockingConnection(parameters)
    try:
        yield connection.channel()
    finally:
        with suppress(pika.exceptions.AMQPError):
            connection.close()


def test_client_is_served_and_the_run_is_kept(rabbitmq, tmp_path):
    with channel_of(rabbitmq, "orders") as channel:
        channel.queue_declare("orders")
        channel.basic_publish("", "orders", b"one")
        assert rabbitmq.wait_for_queue("orders", ready=1, unacked=0)["consumers"] == 0
        (connection,) = rabbitmq.connections()
        assert (connection["connection"], connection["channels"]) == ("orders", 1)
        assert [each["queue"] for each in rabbitmq.queues()] == ["orders"]
    assert replay(rabbitmq.save(tmp_path / "run.highwater")).differs is None


def test_fault_strikes_and_is_waited_for(rabbitmq):
    with channel_of(rabbitmq) as channel:
        channel.queue_declare("orders")
        fault = rabbitmq.fault("nack", "basic.publish", queue="orders", nth=2)
        channel.confirm_delivery()
        channel.basic_publish("", "orders", b"one")
        assert (fault.hits, rabbitmq.unmet()) == (0, [fault.state()])
        with pytest.raises(NackError):
            channel.basic_publish("", "orders", b"two")
        fault.wait(timeout=1)
        assert fault.hits == 1 and rabbitmq.unmet() == []


def test_refusal_closes_the_channel_with_its_code(rabbitmq):
    rabbitmq.fault("refuse", "queue.declare", code=406, text="other arguments")
    with channel_of(rabbitmq) as channel, pytest.raises(ChannelClosedByBroker) as refused:
        channel.queue_declare("orders")
    assert (refused.value.reply_code, refused.value.reply_text) == (
        406,
        "PRECONDITION_FAILED - other arguments",
    )


def test_consumer_of_a_lost_confirm_sees_the_message_twice(rabbitmq):
    """What a fault of this kind is for: the publisher cannot know, sends again, and the consumer has both."""
    rabbitmq.fault("close_connection", "basic.publish", when="unanswered", nth=1)
    for _ in range(2):
        with channel_of(rabbitmq) as channel:
            channel.queue_declare("orders")
            channel.confirm_delivery()
            try:
                channel.basic_publish("", "orders", b"order 7")
            except pika.exceptions.AMQPConnectionError:
                continue
    assert rabbitmq.wait_for_queue("orders", ready=2)["ready"] == 2


def test_wait_is_met_by_what_another_thread_does(rabbitmq):
    def consume() -> None:
        with channel_of(rabbitmq) as channel:
            for _ in channel.consume("orders", inactivity_timeout=0.2):
                break

    with channel_of(rabbitmq) as channel:
        channel.queue_declare("orders")
        channel.basic_publish("", "orders", b"one")
        thread = threading.Thread(target=consume)
        thread.start()
        assert rabbitmq.wait_for_consumer("orders", timeout=10)["consumers"] == 1
        thread.join()
        assert rabbitmq.wait_for_queue("orders", ready=1)["ready"] == 1


def test_wait_that_is_not_met_says_how_it_is(rabbitmq):
    with channel_of(rabbitmq) as channel:
        channel.queue_declare("orders")
        channel.basic_publish("", "orders", b"one")
        rabbitmq.wait_for_queue("orders", ready=1)
        began = time.monotonic()
        with pytest.raises(
            TimeoutError, match=r"queue orders with ready=0 .* ready=1, unacked=0, consumers=0"
        ):
            rabbitmq.wait_for_queue("orders", ready=0, timeout=0.05)
        assert time.monotonic() - began < 2
        with pytest.raises(TimeoutError, match="it is not there"):
            rabbitmq.wait_for_queue("none", timeout=0)
        with pytest.raises(TimeoutError, match="fault 1 with hits=1"):
            rabbitmq.fault("hold", "tx.select").wait(timeout=0)


def test_crash_and_start_keep_what_is_durable(rabbitmq):
    with channel_of(rabbitmq) as channel:
        channel.queue_declare("kept", durable=True)
        channel.queue_declare("gone")
        rabbitmq.crash()
        with pytest.raises(pika.exceptions.AMQPError):
            channel.queue_declare("kept", passive=True)
    assert rabbitmq.state()["is_up"] is False
    rabbitmq.start()
    assert [each["queue"] for each in rabbitmq.queues()] == ["kept"]


def test_stop_tells_the_clients(rabbitmq):
    with channel_of(rabbitmq) as channel:
        rabbitmq.stop()
        with pytest.raises(ConnectionClosedByBroker) as closed:
            channel.queue_declare("orders")
    assert closed.value.reply_code == 320


def test_reset_takes_everything_away_within_its_time(rabbitmq):
    with channel_of(rabbitmq) as channel:
        channel.queue_declare("orders", durable=True)
        fault = rabbitmq.fault("hold", "basic.publish")
        took = []
        for _ in range(5):
            began = time.perf_counter()
            rabbitmq.reset()
            took.append((time.perf_counter() - began) * 1_000)
        assert min(took) < RESET_MS_MAX
        assert rabbitmq.queues() == rabbitmq.connections() == rabbitmq.faults() == []
        with pytest.raises(CommandError, match="there is no fault 1"):
            fault.release()
        with pytest.raises(pika.exceptions.AMQPError):
            channel.queue_declare("orders")
    with channel_of(rabbitmq) as channel:
        channel.queue_declare("orders")
        assert "queue.declare" in rabbitmq.events()[-2]


def test_reset_begins_a_kept_run_again_and_keeps_what_it_began_with(tmp_path):
    path = tmp_path / "run.highwater"
    definitions = {"queues": [{"name": "orders", "vhost": "/", "durable": True}]}
    with highwater.run(journal=path, definitions=definitions) as rabbitmq:
        with channel_of(rabbitmq) as channel:
            channel.queue_declare("mine")
        rabbitmq.reset()
        assert [each["queue"] for each in rabbitmq.queues()] == ["orders"]
        with channel_of(rabbitmq) as channel:
            channel.queue_declare("other")
    found = replay(path)
    assert found.differs is None
    assert sorted(found.run.broker.state.vhosts["/"].queues) == ["orders", "other"]


def test_wait_ends_with_a_reset(rabbitmq):
    failed = []

    def wait() -> None:
        try:
            rabbitmq.wait_for_queue("orders", timeout=60)
        except CommandError as error:
            failed.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    while not rabbitmq.control.server.waiting:
        time.sleep(0.001)
    rabbitmq.reset()
    thread.join(timeout=10)
    assert failed == ["server: was reset"]


def test_last_events_are_told_in_words(rabbitmq):
    rabbitmq.fault("lose_answer", "basic.publish", queue="orders")
    with channel_of(rabbitmq, "shop") as channel:
        channel.queue_declare("orders")
        channel.basic_publish("", "orders", b"one")
        rabbitmq.wait_for_queue("orders", ready=1)
        told = [each.partition(" s  ")[2] for each in rabbitmq.events(4)]
    assert told == [
        "shop > queue.declare queue='orders'",
        "shop < queue.declare-ok queue='orders'",
        "shop > basic.publish routing_key='orders' body_bytes=3 body='one'",
        "fault 1 strikes basic.publish of shop: lose_answer",
    ]


@pytest.mark.parametrize("lingers_s", [0, 0.2])
def test_broken_rule_of_ours_is_raised_at_the_end(monkeypatch, lingers_s):
    """lingers_s: of its thread, after its loop has closed on its own: who then leaves `run` finds no loop to end."""
    run_loop = asyncio.run

    def lingering(main: object) -> None:
        try:
            run_loop(main)
        finally:
            time.sleep(lingers_s)

    def broken(*arguments: object) -> None:
        raise InvariantError("a queue has a message twice")

    monkeypatch.setattr(asyncio, "run", lingering)
    with pytest.raises(InvariantError, match="a message twice"), highwater.run() as rabbitmq:
        rabbitmq.control.server.loop.set_exception_handler(lambda loop, context: None)
        broker = rabbitmq.control.run.broker
        handler_of = broker.handler_of
        monkeypatch.setattr(
            broker, "handler_of", lambda kind: broken if kind is m.QueueDeclare else handler_of(kind)
        )
        with pytest.raises(pika.exceptions.AMQPError), channel_of(rabbitmq) as channel:
            channel.queue_declare("orders")
        deadline = time.monotonic() + 10
        while not rabbitmq.loop.is_closed() and time.monotonic() < deadline:
            time.sleep(0.001)


def test_argument_that_is_wrong_is_refused_before_anything_runs(tmp_path):
    before = threading.active_count()
    (tmp_path / "there").write_text("")
    for arguments, field in (
        ({"journal": tmp_path / "there"}, "journal"),
        ({"definitions": tmp_path / "none"}, "definitions"),
        ({"scenario": tmp_path / "none"}, "scenario"),
    ):
        with pytest.raises(CommandError) as refused:
            highwater.run(**arguments).__enter__()
        assert refused.value.field == field
    with pytest.raises(OSError, match=r"192\.0\.2\.1"):
        highwater.run(host="192.0.2.1").__enter__()
    assert threading.active_count() == before
