"""A run of real clients whose programs are drawn: aio-pika in the server's loop, pika in threads, over sockets on loopback. Some go
without a word, and the server may crash and start again meanwhile."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import aio_pika
import aiormq
import pika
import pika.exceptions

from broker_core.serve.journal import Began, Journal
from broker_core.serve.run import Run
from broker_core.serve.server import Server, epoch_us
from broker_core.wire.acts import Crash, Start

CLIENTS, STEPS = 3, 12
QUEUES = ("a", "b", "c")
PATIENCE_S = 20.0
AIO_ENDS = (
    aiormq.exceptions.AMQPError,
    aio_pika.exceptions.AMQPError,
    ConnectionError,
    asyncio.TimeoutError,
    RuntimeError,
)
"""What a client raises whose channel was refused or whose server crashed."""


async def live(seed: int, path: Path) -> Run:
    """Runs the clients to their end. path: of the journal. Returns the run as it then is."""
    draw, began_us = random.Random(seed), epoch_us()
    server = Server(Run(seed, began_us), Journal(Began(seed, began_us), path), asyncio.get_running_loop())
    port = await server.listen("127.0.0.1", 0)
    url = f"amqp://guest:guest@127.0.0.1:{port}/"
    programs = []
    for _ in range(CLIENTS):
        own = random.Random(draw.random())
        programs.append(_aio_pika(own, url) if own.random() < 0.5 else asyncio.to_thread(_pika, own, url))
    if draw.random() < 0.3:
        programs.append(_crash(server, draw.uniform(0.02, 0.2)))
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*programs)
        while server.sockets:
            await asyncio.sleep(0.005)
    await server.close()
    assert not server.failed.done()
    return server.run


async def _crash(server: Server, after_s: float) -> None:
    await asyncio.sleep(after_s)
    server.order(Crash())
    await asyncio.sleep(0.01)
    server.order(Start())


async def _aio_pika(draw: random.Random, url: str) -> None:
    with suppress(*AIO_ENDS):
        connection = await aio_pika.connect(url)
        try:
            channel = await connection.channel(publisher_confirms=draw.random() < 0.7)
            await channel.set_qos(prefetch_count=draw.randint(1, 5))
            exchange = await channel.declare_exchange("x", draw.choice(("topic", "topic", "fanout")))
            for _ in range(STEPS):
                name, body = draw.choice(QUEUES), b"m" * draw.choice((0, 10, 2_000))
                queue = await channel.declare_queue(name, durable=True)
                match draw.randrange(6):
                    case 0:
                        await queue.bind(exchange, draw.choice(("a.#", "*.b", "a.b")))
                    case 1 | 2:
                        sent = aio_pika.Message(
                            body, delivery_mode=draw.choice((1, 2)), headers={"n": draw.randrange(9)}
                        )
                        await exchange.publish(sent, draw.choice(("a.b", "c")), mandatory=False)
                    case 3:
                        await channel.default_exchange.publish(aio_pika.Message(body), name)
                    case 4:
                        got = await queue.get(fail=False)
                        if got is not None:
                            await (
                                got.ack() if draw.random() < 0.6 else got.reject(requeue=draw.random() < 0.5)
                            )
                    case _:
                        tag = await queue.consume(_settler(draw))
                        await asyncio.sleep(0.01)
                        await queue.cancel(tag)
        finally:
            with suppress(*AIO_ENDS):
                await connection.close()


def _settler(draw: random.Random) -> Callable[[aio_pika.abc.AbstractIncomingMessage], object]:
    async def settle(message: aio_pika.abc.AbstractIncomingMessage) -> None:
        with suppress(*AIO_ENDS):
            await (message.ack() if draw.random() < 0.8 else message.nack(requeue=False))

    return settle


def _pika(draw: random.Random, url: str) -> None:
    with suppress(pika.exceptions.AMQPError, ConnectionError):
        parameters = pika.URLParameters(url)
        parameters.connection_attempts = 1
        connection = pika.BlockingConnection(parameters)
        try:
            channel = connection.channel()
            if draw.random() < 0.6:
                channel.confirm_delivery()
            channel.basic_qos(prefetch_count=draw.randint(1, 5))
            for _ in range(STEPS):
                name = draw.choice(QUEUES)
                channel.queue_declare(name, durable=True)
                match draw.randrange(5):
                    case 0 | 1:
                        channel.basic_publish(
                            "",
                            name,
                            b"m" * draw.choice((0, 10, 2_000)),
                            pika.BasicProperties(expiration="50"),
                        )
                    case 2:
                        method, _, _ = channel.basic_get(name)
                        if method is not None and draw.random() < 0.7:
                            channel.basic_ack(method.delivery_tag)
                    case 3:
                        for method, _, _ in channel.consume(name, inactivity_timeout=0.01):
                            if method is None or draw.random() < 0.3:
                                break
                            channel.basic_ack(method.delivery_tag)
                        channel.cancel()
                    case _:
                        if draw.random() < 0.3:
                            channel.queue_declare(name, durable=False)  # refused: 406
                        channel.queue_purge(name)
        finally:
            if connection.is_open:
                connection.close()
