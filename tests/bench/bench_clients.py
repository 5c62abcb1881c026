"""What a message of a real client costs the server, in CPU of its process, our journal included, beside a real RabbitMQ in the
same run where one is installed; how soon it is ready and empty again; and whether its memory grows.

Prints a table when run as a script; `make bench` calls `run()`. The client is a bare socket with bytes made beforehand, so
that it is never what is waited for. Without a real one here, the bars are what one of 3.10.8 took on the machine of the recordings.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.wire.amqp.frames import PROTOCOL_HEADER
from broker_core.wire.amqp.receiver import Receiver
from broker_core.wire.amqp.sender import encode
from tests.bench.bench_feed import cpu_s, resident_mib
from tests.bench.real_rabbitmq import Running, installed, real_rabbitmq

Figure = tuple[str, float, str, str, str]

MESSAGES, EACH = 20_000, 3_000
BODIES = (100, 1_024)
GROUP = 100
STARTS = 5
RESETS = 5
MANY, ROUND = 200_000, 10_000
"""Messages that come and go, and how many lie in the queue at most."""
SETTLING_S = 0.3
"""For what a server does of its own accord once it has answered."""
BARS = {
    "published, confirms per 100": "58 to 72 us",
    "published, a confirm each": "83 to 102 us",
    "delivered and acknowledged": "67 to 97 us",
}


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    with ExitStack() as stack:
        root = installed()
        real = stack.enter_context(real_rabbitmq(root)) if root else None
        figures = [_ready(real), _reset()]
        for size in BODIES:
            figures += _messages(size, real)
        return [*figures, *_memory(real)]


def _ready(real: Running | None) -> Figure:
    times = []
    for _ in range(STARTS):
        with ours() as server:
            times.append(server.ready_s)
    note = f"the fastest of {STARTS} starts" + (f"; a real one {real.ready_s:.1f} s" if real else "")
    return "ready after", round(min(times), 2), "s", "0.5 s", note


def _reset() -> Figure:
    """Of a server that holds a message of each publish."""
    with tempfile.TemporaryDirectory() as folder:
        process, ready = _started("--control", "0", "--journal", str(Path(folder) / "run.highwater"))
        try:
            times = []
            for _ in range(RESETS):
                client = _Client(ready["amqp"])
                client.publish(b"x" * 100, GROUP, EACH // GROUP)
                times.append(_reset_s(ready["control"]))
        finally:
            _end(process)
    return (
        "reset after",
        round(max(times) * 1_000, 1),
        "ms",
        "20 ms",
        f"the slowest of {RESETS}, with {EACH:,} messages in a queue",
    )


def _reset_s(control: str) -> float:
    connection = http.client.HTTPConnection(urlsplit(control).netloc)
    began = time.perf_counter()
    connection.request("POST", "/reset", "{}", {"Content-Type": "application/json"})
    status = connection.getresponse().status
    taken = time.perf_counter() - began
    connection.close()
    if status != http.client.OK:
        raise RuntimeError(f"the server answered {status}")
    return taken


def _messages(size: int, real: Running | None) -> list[Figure]:
    with ours() as server:
        taken = _costs(server, size)
    others = _costs(real, size) if real else {}
    figures = []
    for what, us in taken.items():
        bar = f"{others[what]} us, a real one now" if real else BARS[what]
        figures.append(
            (
                f"a message of {size:,} bytes {what}",
                us,
                "us of CPU",
                bar,
                f"prefetch {GROUP}" if "acknowledged" in what else "",
            )
        )
    return figures


def _costs(server: Running, size: int) -> dict[str, float]:
    """What was done -> microseconds of the server's CPU a message."""
    publisher, consumer = _Client(server.port), _Client(server.port)
    body = b"x" * size
    taken = {}
    grouped, each, delivered = BARS
    taken[grouped] = _cpu_us(server, MESSAGES, lambda: publisher.publish(body, GROUP, MESSAGES // GROUP))
    taken[each] = _cpu_us(server, EACH, lambda: publisher.publish(body, 1, EACH))
    taken[delivered] = _cpu_us(server, MESSAGES, lambda: consumer.consume(MESSAGES))
    publisher.close()
    consumer.close()
    return taken


def _cpu_us(server: Running, count: int, work: Callable[[], None]) -> float:
    time.sleep(SETTLING_S)
    before = cpu_s(server.pid)
    work()
    time.sleep(SETTLING_S)
    return round((cpu_s(server.pid) - before) / count * 1_000_000, 1)


def _memory(real: Running | None) -> list[Figure]:
    """How much it grows between a tenth of the messages and all of them."""
    with ours() as server:
        grown = _grown_mib(server)
    note = f"from {MANY // 10:,} messages on" + (f"; a real one {_grown_mib(real):.1f} MiB" if real else "")
    return [(f"memory grows, {MANY:,} messages published and acknowledged", grown, "MiB", "flat", note)]


def _grown_mib(server: Running) -> float:
    publisher, consumer = _Client(server.port), _Client(server.port)
    sizes = []
    for _ in range(MANY // ROUND):
        publisher.publish(b"x" * 100, GROUP, ROUND // GROUP)
        consumer.consume(ROUND)
        sizes.append(resident_mib(server.pid))
    publisher.close()
    consumer.close()
    return round(sizes[-1] - sizes[len(sizes) // 10], 1)


class _Client:
    """A connection with a channel, and a queue that goes with the connections."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.receiver = Receiver(0)
        self.is_consuming = False
        self.sent = self.confirmed = 0
        tune = m.ConnectionTuneOk(channel_max=1, frame_max=131_072, heartbeat=0)
        # A real server takes nothing that comes before it has asked for it.
        self.ask(PROTOCOL_HEADER, m.ConnectionStart)
        self.ask(encode(m.ConnectionStartOk()), m.ConnectionTune)
        self.ask(encode(tune) + encode(m.ConnectionOpen()), m.ConnectionOpenOk)
        self.ask(encode(m.ChannelOpen(1)), m.ChannelOpenOk)
        self.ask(encode(m.QueueDeclare(1, "q")), m.QueueDeclareOk)
        self.ask(encode(m.ConfirmSelect(1)), m.ConfirmSelectOk)
        self.ask(encode(m.BasicQos(1, 0, GROUP)), m.BasicQosOk)

    def ask(self, data: bytes, answer: type) -> None:
        self.socket.sendall(data)
        self.wait(answer)

    def wait(self, kind: type) -> list[object]:
        found: list[object] = []
        while not found:
            found = [method for method in self._read() if isinstance(method, kind)]
        return found

    def publish(self, body: bytes, at_once: int, rounds: int) -> None:
        """Send so many at once, and wait until all of them are confirmed; a server may confirm several by one answer."""
        one = encode(m.BasicPublish(1, "", "q", message=Content(Properties(delivery_mode=1), body)))
        for _ in range(rounds):
            self.socket.sendall(one * at_once)
            self.sent += at_once
            while self.confirmed < self.sent:
                for method in self._read():
                    if isinstance(method, m.BasicAck):
                        self.confirmed += method.delivery_tag - self.confirmed if method.multiple else 1

    def consume(self, count: int) -> None:
        if not self.is_consuming:
            self.is_consuming = True
            self.socket.sendall(encode(m.BasicConsume(1, "q", "t")))
        done = 0
        while done < count:
            came = self.wait(m.BasicDeliver)
            self.socket.sendall(b"".join(encode(m.BasicAck(1, each.delivery_tag)) for each in came))  # type: ignore[attr-defined]
            done += len(came)

    def close(self) -> None:
        """With its queue."""
        self.ask(encode(m.QueueDelete(1, "q")), m.QueueDeleteOk)
        self.ask(encode(m.ConnectionClose(200, "")), m.ConnectionCloseOk)
        self.socket.close()

    def _read(self) -> list[object]:
        data = self.socket.recv(1 << 18)
        if not data:
            raise EOFError("the server has closed the connection")
        return [method for _, method in self.receiver.receive(data)]


@contextmanager
def ours() -> Iterator[Running]:
    """With its journal."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        process, ready = _started("--journal", str(Path(folder) / "run.highwater"))
        try:
            yield Running(process.pid, ready["amqp"], time.perf_counter() - began)
        finally:
            _end(process)


def _started(*arguments: str) -> tuple[subprocess.Popen[str], dict[str, object]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "broker_core.serve", "serve", "--amqp", "0", "--json", *arguments],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def _end(process: subprocess.Popen[str]) -> None:
    os.kill(process.pid, signal.SIGTERM)
    process.communicate()


if __name__ == "__main__":
    for figure in run():
        print(*figure)
