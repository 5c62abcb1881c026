"""A client and the server on a loop whose clock jumps: hours pass in no time, timers of both sides in their order."""

from __future__ import annotations

import asyncio
import time

import pika
import pytest
from pika.adapters.asyncio_connection import AsyncioConnection

import highwater
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.properties import Content
from broker_core.serve.replay import replay
from tests.core.serve.test_server import client

HOUR_S = 3_600
REAL_S_MAX = 20


@pytest.fixture
def run_virtually():
    """Run a coroutine on a virtual loop. Returns how many seconds its clock came to."""

    def run(coroutine) -> float:
        began = time.monotonic()
        with asyncio.Runner(loop_factory=highwater.virtual_loop) as runner:
            runner.run(coroutine)
            assert time.monotonic() - began < REAL_S_MAX
            return runner.get_loop().time()

    return run


def test_client_waits_an_hour_for_a_message_in_no_time(run_virtually, tmp_path):
    async def wait() -> None:
        async with highwater.run_here() as rabbitmq:
            one = await client(rabbitmq.port)
            one.send(
                m.QueueDeclare(1, "dead"), m.BasicConsume(1, "dead", "t", no_ack=True),
                m.QueueDeclare(1, "q", arguments={
                    "x-message-ttl": HOUR_S * 1_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
                }),
                m.BasicPublish(1, "", "q", message=Content(body=b"late")),
            )  # fmt: skip
            assert (await rabbitmq.wait_for_queue("q", ready=1))["ready"] == 1
            await asyncio.sleep(HOUR_S - 1)
            assert rabbitmq.queues()[1]["ready"] == 1
            await rabbitmq.wait_for_queue("q", ready=0)
            path = rabbitmq.save(tmp_path / "run.highwater")
            one.writer.close()
        assert replay(path).differs is None

    assert HOUR_S <= run_virtually(wait()) < HOUR_S + 5


def test_idle_client_with_heartbeats_is_there_after_an_hour(run_virtually):
    async def idle() -> None:
        loop = asyncio.get_running_loop()
        async with highwater.run_here() as rabbitmq:
            opened, closed = loop.create_future(), loop.create_future()
            parameters = pika.URLParameters(rabbitmq.url + "?heartbeat=30")
            connection = AsyncioConnection(
                parameters, opened.set_result, lambda _, why: opened.set_exception(why), on_close_callback=lambda _, why: closed.set_result(why),
                custom_ioloop=loop,
            )  # fmt: skip
            await opened
            await asyncio.sleep(HOUR_S)
            assert not closed.done() and len(rabbitmq.connections()) == 1
            cut = rabbitmq.fault("cut", "channel.open", way="to_client")
            connection.channel()
            await cut.wait()
            began = loop.time()
            await closed
            assert 30 < loop.time() - began <= 120, "missed heartbeats"

    assert HOUR_S <= run_virtually(idle()) <= HOUR_S + 121


def test_aio_pika_takes_a_message_after_an_hour_and_keeps_its_heartbeats(run_virtually):
    aio_pika = pytest.importorskip("aio_pika")

    async def take() -> None:
        loop = asyncio.get_running_loop()
        async with highwater.run_here() as rabbitmq:
            connection = await aio_pika.connect(rabbitmq.url + "?heartbeat=20")
            channel = await connection.channel()
            queue = await channel.declare_queue("orders")
            taken = loop.create_future()
            await queue.consume(taken.set_result, no_ack=True)
            await rabbitmq.wait_for_consumer("orders")
            loop.call_later(
                HOUR_S,
                lambda: loop.create_task(
                    channel.default_exchange.publish(aio_pika.Message(b"late"), "orders")
                ),
            )
            assert (await taken).body == b"late" and loop.time() >= HOUR_S
            assert len(rabbitmq.connections()) == 1
            await connection.close()

    assert HOUR_S <= run_virtually(take()) < HOUR_S + 60


def test_clock_stands_while_a_thread_works(run_virtually):
    async def work() -> None:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(HOUR_S):
            await loop.run_in_executor(None, time.sleep, 0.05)
        assert loop.time() == 0

    assert run_virtually(work()) == 0


def test_timers_of_one_loop_come_in_their_order(run_virtually):
    seen: list[tuple[float, int]] = []

    async def wait(seconds: float, number: int) -> None:
        await asyncio.sleep(seconds)
        seen.append((round(asyncio.get_running_loop().time(), 6), number))

    async def all_of_them() -> None:
        await asyncio.gather(
            *(wait(seconds, number) for number, seconds in enumerate((5, 0.1, 86_400 * 3, 5)))
        )

    run_virtually(all_of_them())
    assert seen == [(0.1, 1), (5, 0), (5, 3), (86_400 * 3, 2)]


async def test_time_out_of_a_wait_is_the_loops(run_virtually):
    with pytest.raises(TimeoutError):
        await asyncio.to_thread(run_virtually, in_vain())


async def in_vain() -> None:
    async with highwater.run_here() as rabbitmq:
        await rabbitmq.wait_for_consumer("none", timeout=600)
