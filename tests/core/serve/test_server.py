"""A server with sockets, on loopback: clients come, stay unread, are too many; the command starts it, and ends it."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest

from broker_core.errors import CommandError, InvariantError
from broker_core.kafka.log.storage import StorageFull
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.operator import SetAlarm
from broker_core.rabbitmq.properties import Content
from broker_core.serve import server as serving
from broker_core.serve import sockets
from broker_core.serve.__main__ import main
from broker_core.serve.journal import Began, Came, Journal, entries_of
from broker_core.serve.replay import replay
from broker_core.serve.run import Run
from broker_core.serve.server import Server, epoch_us
from broker_core.wire.acts import Crash
from broker_core.wire.amqp.frames import PROTOCOL_HEADER
from broker_core.wire.amqp.receiver import Receiver
from broker_core.wire.amqp.remote import Accepted, Arrived
from broker_core.wire.amqp.sender import encode
from broker_core.wire.open_server import BROKER
from mqsite.keeper import ROOT

PATIENCE_S = 30
HELLO = (m.ConnectionStartOk(), m.ConnectionTuneOk(heartbeat=0), m.ConnectionOpen(), m.ChannelOpen(1))


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.receiver = Receiver(0)
        self.waiting: list[object] = []

    def send(self, *methods: object) -> None:
        self.writer.write(b"".join(encode(method, 131_072) for method in methods))

    async def next(self, kind: type) -> object:
        """The next method of this kind; others before it are dropped."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                while self.waiting:
                    method = self.waiting.pop(0)
                    if isinstance(method, kind):
                        return method
                data = await self.reader.read(65_536)
                if not data:
                    raise EOFError
                self.waiting += [method for _, method in self.receiver.receive(data)]


@asynccontextmanager
async def served(path=None):
    began_us = epoch_us()
    server = Server(Run(0, began_us), Journal(Began(0, began_us), path), asyncio.get_running_loop())
    port = await server.listen("127.0.0.1", 0)
    try:
        yield server, port
    finally:
        await server.close()


async def client(port: int) -> Client:
    one = Client(*await asyncio.open_connection("127.0.0.1", port))
    one.writer.write(PROTOCOL_HEADER)
    one.send(*HELLO)
    await one.next(m.ChannelOpenOk)
    return one


async def ended(one: Client) -> bool:
    try:
        await one.next(int)
    except (EOFError, ConnectionError):
        return True
    return False


async def test_two_clients_talk_and_the_journal_has_it(tmp_path):
    path = tmp_path / "run.highwater"
    async with served(path) as (server, port):
        one, two = await client(port), await client(port)
        two.send(m.QueueDeclare(1, "q"), m.BasicConsume(1, "q", "t", no_ack=True))
        await two.next(m.BasicConsumeOk)
        one.send(
            m.ConfirmSelect(1),
            *(m.BasicPublish(1, "", "q", message=Content(body=b"%d" % n)) for n in range(50)),
        )
        bodies = [(await two.next(m.BasicDeliver)).message.body for _ in range(50)]
        assert bodies == [b"%d" % n for n in range(50)]
        one.writer.close()
        two.send(m.ConnectionClose(200, "bye"))
        await two.next(m.ConnectionCloseOk)
        assert await ended(two)
        while server.sockets:
            await asyncio.sleep(0.01)
    assert replay(path).differs is None


async def test_what_is_due_of_itself_happens_without_a_client_saying_anything():
    async with served() as (_, port):
        one = await client(port)
        one.send(
            m.QueueDeclare(1, "dead"), m.BasicConsume(1, "dead", "t", no_ack=True),
            m.QueueDeclare(1, "q", arguments={
                "x-message-ttl": 20, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
            }),
            m.BasicPublish(1, "", "q", message=Content(body=b"late")),
        )  # fmt: skip
        assert (await one.next(m.BasicDeliver)).message.body == b"late"


async def test_client_that_does_not_read_holds_up_nobody_and_loses_nothing(monkeypatch):
    monkeypatch.setattr(sockets, "UNWRITTEN_BYTES_MAX", 1 << 14)
    async with served() as (server, port):
        slow, other = await client(port), await client(port)
        slow.send(m.QueueDeclare(1, "q"), m.BasicConsume(1, "q", "t", no_ack=True))
        await slow.next(m.BasicConsumeOk)
        slow.writer.transport.pause_reading()
        body = b"x" * 60_000
        other.send(m.ConfirmSelect(1))
        for number in range(400):  # 24 MB: more than loopback takes
            other.send(m.BasicPublish(1, "", "q", message=Content(body=body)))
            while (await other.next(m.BasicAck)).delivery_tag <= number:
                pass
        held = max(socket.transport.get_write_buffer_size() for socket in server.sockets.values())
        assert held < 1 << 21, "the rest waits on the server's side"
        slow.writer.transport.resume_reading()
        for _ in range(400):
            assert len((await slow.next(m.BasicDeliver)).message.body) == 60_000


async def test_client_that_never_reads_is_closed(monkeypatch):
    monkeypatch.setattr(sockets, "UNWRITTEN_BYTES_MAX", 1 << 14)
    monkeypatch.setattr(sockets, "UNREAD_S", 0.2)
    async with served() as (server, port):
        slow = await client(port)
        slow.send(m.QueueDeclare(1, "q"), m.BasicConsume(1, "q", "t", no_ack=True))
        await slow.next(m.BasicConsumeOk)
        slow.writer.transport.pause_reading()
        for _ in range(300):
            slow.send(m.BasicPublish(1, "", "q", message=Content(body=b"x" * 60_000)))
        async with asyncio.timeout(PATIENCE_S):
            while server.sockets:
                await asyncio.sleep(0.02)


async def test_one_client_too_many_is_cut_off(monkeypatch):
    monkeypatch.setattr(serving, "SOCKETS_MAX", 1)
    async with served() as (_, port):
        one = await client(port)
        assert await ended(Client(*await asyncio.open_connection("127.0.0.1", port)))
        one.send(m.QueueDeclare(1, "q"))
        await one.next(m.QueueDeclareOk)


async def test_publisher_is_not_read_while_memory_is_short():
    async with served() as (server, port):
        one = await client(port)
        one.send(m.QueueDeclare(1, "q"))
        await one.next(m.QueueDeclareOk)
        server.order(SetAlarm("memory", True))
        one.send(m.BasicPublish(1, "", "q"), m.BasicPublish(1, "", "q"))
        (socket,) = server.sockets.values()
        async with asyncio.timeout(PATIENCE_S):
            while not socket.is_held:
                await asyncio.sleep(0.01)
        server.order(SetAlarm("memory", False))
        assert not socket.is_held
        one.send(m.QueueDeclare(1, "q", passive=True))
        assert (await one.next(m.QueueDeclareOk)).message_count == 2


async def test_crash_closes_the_sockets():
    async with served() as (server, port):
        one = await client(port)
        server.order(Crash())
        assert await ended(one)
        with pytest.raises(CommandError):
            server.order(Crash())


async def test_state_that_cannot_be_stops_the_server_and_the_journal_has_what_led_there(
    tmp_path, monkeypatch
):
    path = tmp_path / "run.highwater"
    async with served(path) as (server, port):
        one, other = await client(port), await client(port)
        monkeypatch.setattr(server.run.broker, "handler_of", lambda kind: broken)
        server.loop.set_exception_handler(lambda loop, context: None)
        one.send(m.QueueDeclare(1, "q"))
        assert isinstance(await asyncio.wait_for(server.failed, PATIENCE_S), InvariantError)
        assert await ended(one) and await ended(other)
    last = list(entries_of(path))[-1]
    assert isinstance(last, Came) and last.act == Arrived(encode(m.QueueDeclare(1, "q")))


async def test_full_disk_stops_the_server_before_an_answer_leaves(tmp_path, monkeypatch):
    def full(*arguments: object, **named: object) -> None:
        raise StorageFull("No space left on device")

    async with served(tmp_path / "run.highwater") as (server, port):
        one = await client(port)
        monkeypatch.setattr(server.journal._log, "append_pairs", full)
        server.loop.set_exception_handler(lambda loop, context: None)
        one.send(m.QueueDeclare(1, "q"))
        assert isinstance(await asyncio.wait_for(server.failed, PATIENCE_S), StorageFull)
        assert await ended(one) and one.waiting == []


def broken(*arguments: object) -> None:
    raise InvariantError("a queue has a message twice")


# --- the command


def started(*arguments: str) -> tuple[subprocess.Popen, str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "broker_core.serve", "serve", "--amqp", "0", "--json", *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    return process, process.stdout.readline()


def test_command_serves_until_it_is_interrupted_and_its_journal_replays(tmp_path):
    path = tmp_path / "run.highwater"
    process, line = started("--journal", str(path))
    try:
        asyncio.run(used(json.loads(line)["amqp"]))
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0 and not errors
    again = subprocess.run(
        [sys.executable, "-m", "broker_core.serve", "replay", path], cwd=ROOT, capture_output=True, text=True
    )
    assert again.returncode == 0 and "the same answers" in again.stdout


def test_replay_of_a_run_that_broke_says_so(tmp_path, monkeypatch, capsys):
    path = tmp_path / "run.highwater"
    journal = Journal(Began(0, 0), path)
    journal.note(1, 1, Accepted(BROKER))
    journal.flush(1)
    journal.close()
    assert main(["replay", str(path)]) == 0
    monkeypatch.setattr(Run, "act", broken)
    assert main(["replay", str(path)]) == 3
    assert "the run breaks a rule of ours: a queue has a message twice" in capsys.readouterr().err


async def used(port: int) -> None:
    one = await client(port)
    one.send(m.QueueDeclare(1, "q"))
    await one.next(m.QueueDeclareOk)


def test_journal_of_a_run_that_never_began_is_not_left_behind(tmp_path):
    path = tmp_path / "run.highwater"
    for _ in range(2):
        process, _ = started("--journal", str(path), "--host", "192.0.2.1")
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 2 and "amqp: 192.0.2.1:0" in errors and not path.exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--definitions", "{missing}"], "definitions: cannot be read: No such file or directory"),
        (["--definitions", "{list}"], "definitions: must be an object"),
        (["--definitions", "{text}"], "definitions: is no JSON"),
        (["--journal", "{list}"], "is there already"),
        (["--amqps", "0"], "amqps: needs --certificate and --key"),
        (["--amqps", "0", "--certificate", "{list}", "--key", "{list}"], "certificate: cannot be used"),
        (["--host", "192.0.2.1"], "amqp: 192.0.2.1:0"),
        (["--seed", "x"], "invalid int value"),
    ],
)
def test_command_says_what_is_wrong(tmp_path, arguments, text):
    (tmp_path / "list").write_text("[]")
    (tmp_path / "text").write_text("no")
    places = {name: tmp_path / name for name in ("missing", "list", "text")}
    process, line = started(*(each.format(**places) for each in arguments))
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2 and text in errors and not line
    assert "Traceback" not in errors
