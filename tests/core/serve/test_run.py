"""A run: what comes from outside is the whole of it, so that its journal gives it again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import SECOND_US
from broker_core.conformance.rabbitmq import run_session
from broker_core.errors import CommandError
from broker_core.lab.checkpoint import decode
from broker_core.lab.checkpoint import encode as encode_state
from broker_core.plain import to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.operator import SetAlarm
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.serve.journal import Began, Came, Full, Journal, Left, entries_of
from broker_core.serve.replay import replay
from broker_core.serve.run import Run
from broker_core.sim.keeping import keep, restored
from broker_core.wire.acts import Backlog, Crash, Define, EndFault, SetFault, Start, Stop
from broker_core.wire.amqp.frames import PROTOCOL_HEADER
from broker_core.wire.amqp.remote import Arrived
from broker_core.wire.amqp.sender import encode
from broker_core.wire.faults.fault import read_fault
from tests.core.rabbitmq.laws import check_laws
from tests.core.serve.wire_clients import BEGAN_US, SEED, Client, OverBytes, Turns

VECTORS = Path(__file__).parents[2] / "vectors" / "rabbitmq"
PERSISTENT = Properties(delivery_mode=2)
ODD = {"$t": "S", "v": {"hex": "00ff"}}
"""Octets that are no text, as a long string has them."""


def recorded(name: str) -> list[dict]:
    document = json.loads(gzip.decompress((VECTORS / f"{name}.json.gz").read_bytes()))
    return document.get("sessions") or document["scenarios"]


@pytest.mark.parametrize(("name", "every"), [("topology", 3), ("dispatch", 3), ("sessions", 6)])
def test_recorded_sessions_are_answered_over_bytes_as_they_were_recorded(name, every):
    rows = [
        row for row in recorded(name)[::every] if row["id"] != "props-passthrough"
    ]  # its table is written otherwise
    results = [run_session(row, OverBytes) for row in rows]
    assert {each.id for each in results if each.outcome == "failed"} == set() and len(results) >= 39


def lived(turns: Turns) -> None:
    """A publisher and a consumer, two faults, names that the server makes, and a client that just goes."""
    one, two = Client(turns, 1, cut=50), Client(turns, 2)
    one.open()
    two.open()
    queue = one.send(m.QueueDeclare(1, ""), m.ConfirmSelect(1))[0].queue
    one.send(
        m.QueueDeclare(1, "kept", durable=True), m.QueueDeclare(1, "ttl", arguments={"x-message-ttl": 50})
    )
    for name in (queue, "kept", "ttl"):
        one.send(
            *(
                m.BasicPublish(1, "", name, message=Content(PERSISTENT, b"m%d" % number))
                for number in range(5)
            )
        )
    two.send(m.BasicQos(1, 0, 2), m.BasicConsume(1, "kept", "t"), m.BasicAck(1, 1))
    turns.wait(SECOND_US)
    turns.act(0, SetAlarm("memory", True))
    one.send(m.BasicPublish(1, "", "kept", message=Content(body=b"held")))
    turns.act(0, SetAlarm("memory", False))
    two.hang_up()
    turns.act(0, Crash())
    turns.act(0, Start())
    three = Client(turns, 3)
    three.open()
    three.send(m.BasicConsume(1, "kept", "t", no_ack=True), m.BasicGet(1, "none"))


def test_run_is_the_same_again_from_its_journal(tmp_path):
    path = tmp_path / "run.highwater"
    turns = Turns(Journal(Began(SEED, BEGAN_US), path))
    lived(turns)
    found = replay(path)
    assert found.differs is None and found.acts > 40 and found.answered > 20
    assert to_plain(found.run.broker.state) == to_plain(turns.run.broker.state)
    check_laws(found.run.broker)


class Kept(Turns):
    """A run whose world is a new one after every turn, from a checkpoint of the one before."""

    def leave(self) -> None:
        super().leave()
        plain = decode(encode_state(keep(self.run.world)))
        self.run = Run(SEED, BEGAN_US)
        design = self.run.world.design
        self.run.world = restored("rabbitmq", design, SEED, plain, lambda told: None)


def noisy(turns: Turns) -> None:
    """Messages that have begun, on two channels, when time passes; a client that reads nothing; bytes of none."""
    one, two, three = (Client(turns, number, cut=7) for number in (1, 2, 3))
    one.open(heartbeat=2)
    one.send(m.ChannelOpen(2), m.QueueDeclare(1, "q"))
    begun = encode(m.BasicPublish(1, "", "q", message=Content(PERSISTENT, b"body")))
    other = encode(m.BasicPublish(2, "", "q", message=Content(Properties(headers={"a": [1, None]}), b"b")))
    first, second = encode(m.BasicPublish(1, "", "q")).index(b"\xce") + 1, len(begun) - 5
    one.write(begun[:first] + other[:first])
    turns.wait(SECOND_US)
    one.write(begun[first:second])
    turns.act(1, Backlog(True))
    one.write(begun[second:] + other[first:] + encode(m.BasicGet(1, "q")))
    turns.act(1, Backlog(False))
    two.write(PROTOCOL_HEADER + encode(m.ConnectionStartOk(response=ODD)))
    three.write(b"AMQP\x01\x01\x08\x00")
    turns.wait(20 * SECOND_US)


def broken(turns: Turns) -> None:
    """Faults of every kind that lasts: methods that wait, links that are cut, a server that is down; and octets that are no
    text on a link that carries nothing."""
    one, two = Client(turns, 1), Client(turns, 2)
    one.open(name="one")
    two.open(name="two")
    one.send(m.QueueDeclare(1, "q"))
    for fields in (
        {"do": "hold", "method": "basic.publish", "connection": "one"},
        {"do": "delay", "method": "basic.deliver", "ms": 700},
        {"do": "cut", "method": "basic.get", "connection": "two", "way": "to_server", "ms": 4_000},
        {"do": "crash", "method": "queue.purge", "ms": 3_000},
    ):
        turns.act(0, SetFault(read_fault(fields)))
    one.send(m.BasicPublish(1, "", "q", message=Content(PERSISTENT, b"held")), m.BasicConsume(1, "q", "t"))
    turns.act(0, EndFault(1))
    two.send(m.BasicGet(1, "q"), m.ConnectionUpdateSecret(ODD))
    turns.wait(SECOND_US)
    one.send(m.QueuePurge(1, "q"))
    turns.wait(SECOND_US)
    Client(turns, 3).open()
    turns.wait(3 * SECOND_US)
    Client(turns, 4).open()
    turns.wait(20 * SECOND_US)


@pytest.mark.parametrize("life", [lived, noisy, broken])
def test_run_goes_on_the_same_from_a_checkpoint_of_any_turn(life):
    life(turns := Turns())
    life(kept := Kept())
    assert kept.journal.data() == turns.journal.data()
    assert keep(kept.run.world) == keep(turns.run.world)


def test_run_kept_in_memory_is_the_file_that_it_would_have_been(tmp_path):
    kept = tmp_path / "kept.highwater"
    for journal in (
        on_disk := Journal(Began(SEED, BEGAN_US), kept),
        in_memory := Journal(Began(SEED, BEGAN_US)),
    ):
        lived(Turns(journal))
    assert kept.read_bytes() == in_memory.data() == on_disk.data() and in_memory.size == on_disk.size


@given(st.data())
def test_journal_of_a_run_that_ended_anywhere_replays_as_far_as_it_goes(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("torn") / "run.highwater"
    lived(Turns(Journal(Began(SEED, BEGAN_US), path)))
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(200, len(whole)))])
    assert replay(path).differs is None


def test_another_answer_is_found_and_named(tmp_path):
    path = tmp_path / "run.highwater"
    turns = Turns(journal := Journal(Began(SEED, BEGAN_US), path))
    Client(turns, 1).open()
    journal.note(turns.now_us, 1, Arrived(encode(m.QueueDeclare(1, "q"))))
    journal.answer(turns.now_us, [(1, [encode(m.QueueDeclareOk(1, "q", 7))])])
    journal.flush(turns.now_us)
    found = replay(path)
    assert found.differs is not None and "queue.declare of socket 1" in found.differs


def test_journal_says_from_when_on_it_keeps_nothing(tmp_path):
    path = tmp_path / "run.highwater"
    turns = Turns(Journal(Began(SEED, BEGAN_US), path, bytes_max=20_000))
    one = Client(turns, 1)
    one.open()
    for _ in range(40):
        one.send(m.BasicPublish(1, "", "none", message=Content(body=b"x" * 1_000)))
    entries = list(entries_of(path))
    assert isinstance(entries[-1], Full) and path.stat().st_size <= 20_100
    found = replay(path)
    assert found.differs is None and found.full_from_us == entries[-1].at_us


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "cannot be read"), (b"", "it has no beginning"), (b"x" * 100, "is no run of Highwater"),
    ],
)  # fmt: skip
def test_file_that_is_no_journal_is_refused(tmp_path, content, text):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError, match=text):
        replay(path)


def test_journal_of_other_rules_is_refused(tmp_path):
    path = tmp_path / "run.highwater"
    Journal(Began(SEED, BEGAN_US, rules=1), path)
    with pytest.raises(CommandError, match="was made under rules 1"):
        replay(path)


def test_what_a_client_is_answered_is_in_the_journal_before(tmp_path):
    path = tmp_path / "run.highwater"
    turns = Turns(Journal(Began(SEED, BEGAN_US), path))
    Client(turns, 1).open()
    kinds = [type(each) for each in entries_of(path)]
    assert kinds == [Began, Came, Came, Left, Came, Left]


# --- what an operator does


def test_crash_breaks_every_connection_and_keeps_what_the_disk_had():
    turns = Turns()
    one = Client(turns, 1)
    one.open()
    one.send(m.QueueDeclare(1, "kept", durable=True), m.QueueDeclare(1, "gone"))
    one.send(m.BasicPublish(1, "", "kept", message=Content(PERSISTENT, b"1")), m.BasicPublish(1, "", "kept"))
    turns.act(0, Crash())
    assert turns.ended == [1]
    with pytest.raises(CommandError, match="is down"):
        turns.act(0, Crash())
    two = Client(turns, 2)
    two.write(PROTOCOL_HEADER)
    assert turns.ended == [1, 2], "a server that is down takes nobody"
    turns.act(0, Start())
    three = Client(turns, 3)
    three.open()
    assert three.send(m.QueueDeclare(1, "kept", passive=True))[0].message_count == 1
    assert three.send(m.QueueDeclare(1, "gone", passive=True))[0].reply_code == 404


def test_stop_says_why():
    turns = Turns()
    one = Client(turns, 1)
    one.open()
    turns.act(0, Stop())
    (close,) = one.received()
    assert (close.reply_code, close.reply_text[:31]) == (320, "CONNECTION_FORCED - broker forc")


def test_definitions_come_to_the_server():
    turns = Turns()
    turns.act(0, Define({
        "vhosts": [{"name": "shop"}], "users": [{"name": "ann", "password": "secret"}],
        "permissions": [{"user": "ann", "vhost": "shop", "configure": "", "write": ".*", "read": ".*"}],
        "queues": [{"name": "orders", "vhost": "shop"}],
        "bindings": [{"source": "amq.topic", "vhost": "shop", "destination": "orders", "destination_type": "queue",
                      "routing_key": "order.#"}],
    }))  # fmt: skip
    one = Client(turns, 1)
    one.write(PROTOCOL_HEADER)
    one.send(
        m.ConnectionStartOk(response="\0ann\0secret"), m.ConnectionTuneOk(), m.ConnectionOpen("shop"), m.ChannelOpen(1),
        m.BasicPublish(1, "amq.topic", "order.paid"),
    )  # fmt: skip
    assert one.send(m.QueueDeclare(1, "orders", passive=True))[0].message_count == 1
    assert one.send(m.QueueDeclare(1, "mine"))[0].reply_code == 403
    assert "definitions" not in turns.run.broker.state.users


def test_definitions_that_the_server_would_refuse_change_nothing():
    turns = Turns()
    before = to_plain(turns.run.broker.state)
    wrong = {"queues": [{"name": "q", "vhost": "/", "arguments": {"x-max-length": -1}}]}
    with pytest.raises(CommandError, match=r"queues\.0: RabbitMQ refuses it: 406"):
        turns.act(0, Define(wrong))
    assert to_plain(turns.run.broker.state) == before


def test_client_that_does_not_read_is_waited_for_on_the_servers_side():
    turns = Turns()
    one = Client(turns, 1)
    one.open()
    one.send(m.QueueDeclare(1, "q"), m.BasicConsume(1, "q", "t", no_ack=True))
    turns.act(1, Backlog(True))
    assert one.send(*(m.BasicPublish(1, "", "q", message=Content(body=b"%d" % n)) for n in range(3))) == []
    turns.act(1, Backlog(False))
    assert [each.message.body for each in one.received()] == [b"0", b"1", b"2"]
