"""Faults of a run: each strikes the method that it is about, keeps the order of its channel, is counted, and comes again in
a replay."""

from __future__ import annotations

import pytest

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.plain import to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.serve.journal import Began, Journal
from broker_core.serve.replay import replay
from broker_core.serve.run import Run
from broker_core.wire.acts import Crash, EndFault, SetFault, Start
from broker_core.wire.faults.fault import ACTIONS, read_fault
from tests.core.rabbitmq.laws import check_laws
from tests.core.serve.wire_clients import BEGAN_US, SEED, Client, Turns

PERSISTENT = Properties(delivery_mode=2)
MS = 1_000


@pytest.fixture
def turns(tmp_path):
    """A run whose laws hold at its end, and which is the same again from its journal."""
    path = tmp_path / "run.highwater"
    turns = Turns(Journal(Began(SEED, BEGAN_US), path))
    yield turns
    check_laws(turns.run.broker)
    found = replay(path)
    assert found.differs is None
    assert to_plain(found.run.broker.state) == to_plain(turns.run.broker.state)
    assert shown(found.run) == shown(turns.run)


def shown(run: Run) -> list[dict]:
    return [run.faults.plain(row) for row in run.faults.rows.values()]


def fault(turns: Turns, **fields):
    turns.act(0, SetFault(read_fault(fields)))
    return turns.run.faults.rows[turns.run.faults.last]


def opened(turns: Turns, number: int = 1, name: str = "") -> Client:
    client = Client(turns, number)
    client.open(name=name)
    return client


def publish(body: bytes, queue: str = "q", properties: Properties = PERSISTENT) -> m.BasicPublish:
    return m.BasicPublish(1, "", queue, message=Content(properties, body))


def ready(turns: Turns, name: str = "q") -> list[bytes]:
    broker = turns.run.broker
    queue = broker.state.vhosts["/"].queues[name]
    return [broker.messages.at[message].content.body for message in queue.bodies.values()]


def kinds(methods: list) -> list[str]:
    return [type(each).__struct_config__.tag for each in methods]


def test_method_is_refused_with_the_code_that_was_said(turns):
    one, other = opened(turns), opened(turns, 2)
    row = fault(turns, do="refuse", method="queue.declare", queue="q", code=403, text="not today")
    (close,) = one.send(m.QueueDeclare(1, "q"))
    assert (close.reply_code, close.reply_text) == (403, "ACCESS_REFUSED - not today")
    assert (close.class_id, close.method_id) == (50, 10)
    assert kinds(other.send(m.QueueDeclare(1, "another"))) == ["queue.declare-ok"]
    assert (row.matches, row.hits) == (1, 1) and "q" not in turns.run.broker.state.vhosts["/"].queues


def test_hard_code_closes_the_connection(turns):
    one = opened(turns)
    fault(turns, do="refuse", method="channel.open", code=541)
    (close,) = one.send(m.ChannelOpen(2))
    assert isinstance(close, m.ConnectionClose) and close.reply_code == 541
    assert not turns.run.broker.connections


def test_only_the_nth_method_is_struck(turns):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"), m.ConfirmSelect(1))
    row = fault(turns, do="nack", method="basic.publish", nth=2)
    answers = [one.send(publish(b"%d" % number))[0] for number in range(3)]
    assert kinds(answers) == ["basic.ack", "basic.nack", "basic.ack"]
    assert [each.delivery_tag for each in answers] == [1, 2, 3]
    assert (row.matches, row.hits) == (3, 1) and ready(turns) == [b"0", b"2"]


def test_fault_of_one_connection_spares_another(turns):
    one, other = opened(turns, name="orders"), opened(turns, 2, name="stock")
    fault(turns, do="refuse", connection="orders", code=404)
    assert kinds(other.send(m.QueueDeclare(1, "q"))) == ["queue.declare-ok"]
    assert kinds(one.send(m.QueueDeclare(1, "q"))) == ["channel.close"]


def test_fault_of_one_of_two_connections_with_one_name_spares_the_other_and_ends_with_it(turns):
    one, other = opened(turns, name="worker"), opened(turns, 2, name="worker")
    first, second = turns.run.broker.connections
    row = fault(turns, do="hold", by="server", connection_number=first, must_hit=False)
    assert one.send(m.QueueDeclare(1, "q")) == [] and turns.run.faults.held(row) == 1
    assert kinds(other.send(m.QueueDeclare(1, "q"))) == ["queue.declare-ok"]
    one.hang_up()
    assert row.is_over and turns.run.faults.held(row) == 0
    late = fault(turns, do="hold", by="server", connection_number=second, must_hit=False)
    turns.act(0, Crash())
    turns.act(0, Start())
    assert late.is_over and not turns.run.broker.connections


def test_delayed_method_holds_what_comes_behind_it_on_its_channel_only(turns):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"), m.ChannelOpen(2))
    fault(turns, do="delay", method="queue.purge", ms=500)
    assert one.send(m.QueuePurge(1, "q"), m.QueueDeclare(1, "q", passive=True)) == []
    assert kinds(one.send(m.QueueDeclare(2, "q", passive=True))) == ["queue.declare-ok"]
    turns.wait(497 * MS)
    assert one.received() == []
    turns.wait(3 * MS)
    assert kinds(one.received()) == ["queue.purge-ok", "queue.declare-ok"]


def test_held_methods_go_on_when_they_are_released_and_the_fault_is_over(turns):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"), m.ConfirmSelect(1))
    row = fault(turns, do="hold", method="basic.publish")
    assert one.send(*(publish(b"%d" % number) for number in range(3))) == []
    assert turns.run.faults.held(row) == 3 and row.hits == 1
    turns.wait(60 * SECOND_US)
    turns.act(0, EndFault(row.number))
    assert [each.delivery_tag for each in one.received()] == [1, 2, 3]
    assert ready(turns) == [b"0", b"1", b"2"] and turns.run.faults.held(row) == 0
    assert kinds(one.send(publish(b"3"))) == ["basic.ack"]


def test_what_is_held_of_a_client_that_goes_is_gone(turns):
    one, other = opened(turns), opened(turns, 2)
    one.send(m.QueueDeclare(1, "q"))
    row = fault(turns, do="hold", method="basic.publish")
    one.send(publish(b"0"))
    one.hang_up()
    assert turns.run.faults.held(row) == 0
    turns.act(0, EndFault(row.number, True))
    assert ready(turns) == [] and not turns.run.faults.rows
    assert kinds(other.send(m.QueueDelete(1, "q"))) == ["queue.delete-ok"]


def test_swallowed_publish_is_lost_and_the_confirms_after_it_are_theirs(turns):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"), m.ConfirmSelect(1))
    fault(turns, do="swallow", method="basic.publish", queue="q", nth=1)
    answers = one.send(publish(b"0"), publish(b"1"))
    assert [each.delivery_tag for each in answers] == [2] and ready(turns) == [b"1"]


@pytest.mark.parametrize("properties", [Properties(), PERSISTENT], ids=["transient", "persistent"])
def test_confirm_is_lost_and_the_message_is_there(turns, properties):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q", durable=True), m.ConfirmSelect(1))
    row = fault(turns, do="lose_answer", method="basic.publish", nth=1)
    one.send(publish(b"0", properties=properties), publish(b"1", properties=properties))
    turns.wait(SECOND_US)
    assert ready(turns) == [b"0", b"1"] and row.hits == 1
    one.send(publish(b"2", properties=properties))
    turns.wait(SECOND_US)
    (channel,) = turns.run.broker.channels.values()
    assert channel.last_publish == 3 and channel.unconfirmed == [1]


def test_lost_answer_takes_no_delivery_with_it(turns):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"), publish(b"0"))
    fault(turns, do="lose_answer", method="basic.consume")
    assert kinds(one.send(m.BasicConsume(1, "q", "t"))) == ["basic.deliver"]


def test_ack_that_the_broker_never_got_is_delivered_again(turns):
    one, other = opened(turns), opened(turns, 2)
    one.send(m.QueueDeclare(1, "q"), publish(b"0"), m.BasicConsume(1, "q", "t"))
    fault(turns, do="swallow", method="basic.ack", queue="q")
    one.send(m.BasicAck(1, 1))
    one.hang_up()
    (_, deliver) = other.send(m.BasicConsume(1, "q", "t"))
    assert deliver.redelivered and deliver.message.body == b"0"


@pytest.mark.parametrize(
    ("when", "answers", "stored"),
    [("before", [], []), ("unanswered", [], [b"0"]), ("after", ["basic.ack"], [b"0"])],
)
def test_connection_ends_before_or_after_the_work(turns, when, answers, stored):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"), m.ConfirmSelect(1))
    fault(turns, do="close_connection", method="basic.publish", when=when)
    assert kinds(one.send(publish(b"0"))) == answers
    assert turns.ended == [1] and ready(turns) == stored and not turns.run.broker.connections


def test_connection_is_closed_with_a_code(turns):
    one = opened(turns)
    fault(turns, do="close_connection", method="queue.declare", code=320, text="maintenance")
    (close,) = one.send(m.QueueDeclare(1, "q"))
    assert (close.reply_code, close.reply_text) == (320, "CONNECTION_FORCED - maintenance")


@pytest.mark.parametrize(("when", "found"), [("before", []), ("after", ["queue.declare-ok"])])
def test_channel_is_closed_before_or_after_the_work(turns, when, found):
    one = opened(turns)
    fault(turns, do="close_channel", method="queue.declare", when=when)
    assert kinds(one.send(m.QueueDeclare(1, "q"))) == [*found, "channel.close"]
    assert ("q" in turns.run.broker.state.vhosts["/"].queues) == bool(found)


def test_delivery_is_lost_late_or_ends_the_connection(turns):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"), m.BasicConsume(1, "q", "t"))
    lost = fault(turns, do="swallow", method="basic.deliver", queue="q", nth=1)
    late = fault(turns, do="delay", method="basic.deliver", nth=2, ms=300)
    last = fault(turns, do="close_connection", method="basic.deliver", nth=4)
    assert one.send(publish(b"0"), publish(b"1"), publish(b"2")) == []
    turns.wait(300 * MS)
    assert [each.message.body for each in one.received()] == [b"1", b"2"]
    assert one.send(publish(b"3")) == []
    assert turns.ended == [1] and [lost.hits, late.hits, last.hits] == [1, 1, 1]
    assert ready(turns) == [b"0", b"1", b"2", b"3"]


def test_alarm_blocks_publishers_and_ends_with_its_time(turns):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"))
    fault(turns, do="alarm", method="basic.publish", nth=1, ms=400)
    assert kinds(one.send(publish(b"0"))) == ["connection.blocked"]
    one.send(publish(b"1"))
    assert ready(turns) == [b"0"]
    turns.wait(400 * MS)
    assert kinds(one.received()) == ["connection.unblocked"] and ready(turns) == [b"0", b"1"]


def test_alarm_lasts_until_it_is_released(turns):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"))
    row = fault(turns, do="alarm", method="basic.publish", resource="disk")
    one.send(publish(b"0"), publish(b"1"))
    turns.wait(60 * SECOND_US)
    assert ready(turns) == [b"0"]
    turns.act(0, EndFault(row.number))
    assert ready(turns) == [b"0", b"1"] and not turns.run.broker.alarms


@pytest.mark.parametrize(
    ("when", "answers", "kept"),
    [("before", [], 0), ("unanswered", [], 1), ("after", ["queue.declare-ok"], 1)],
)
def test_server_crashes_at_a_method_and_is_there_again(turns, when, answers, kept):
    one, other = opened(turns), opened(turns, 2)
    other.send(m.QueueDeclare(1, "gone"))
    fault(turns, do="crash", method="queue.declare", queue="q", when=when)
    assert kinds(one.send(m.QueueDeclare(1, "q", durable=True))) == answers
    assert sorted(turns.ended) == [1, 2] and turns.run.is_up
    assert len(turns.run.broker.state.vhosts["/"].queues) == kept
    opened(turns, 3)


def test_crashed_server_is_down_as_long_as_was_said(turns):
    one = opened(turns)
    fault(turns, do="crash", method="queue.declare", ms=2_000)
    one.send(m.QueueDeclare(1, "q"))
    assert not turns.run.is_up
    opened(turns, 2)
    assert turns.ended == [1, 2]
    turns.wait(2 * SECOND_US)
    assert turns.run.is_up
    opened(turns, 3)


def test_end_of_a_crash_brings_the_server_back(turns):
    one = opened(turns)
    row = fault(turns, do="crash", method="queue.declare", ms=60_000)
    one.send(m.QueueDeclare(1, "q"))
    turns.act(0, EndFault(row.number))
    assert turns.run.is_up
    turns.wait(61 * SECOND_US)


@pytest.mark.parametrize(
    ("way", "stored"), [("to_client", [b"0", b"1"]), ("to_server", [b"0"]), ("both", [b"0"])]
)
def test_link_is_cut_one_way_and_heals(turns, way, stored):
    one = opened(turns)
    one.send(m.QueueDeclare(1, "q"), m.ConfirmSelect(1))
    row = fault(turns, do="cut", method="basic.publish", way=way, nth=1)
    answers = one.send(publish(b"0"), publish(b"1"))
    assert kinds(answers) == (["basic.ack"] if way == "to_server" else [])
    assert ready(turns) == stored
    turns.act(0, EndFault(row.number))
    turns.wait(MS)
    assert len(answers + one.received()) == 2 and ready(turns) == [b"0", b"1"]


def test_cut_link_ends_in_missed_heartbeats(turns):
    one = Client(turns, 1)
    one.open(heartbeat=10)
    fault(turns, do="cut", method="queue.declare", way="to_server")
    one.send(m.QueueDeclare(1, "q"))
    turns.wait(40 * SECOND_US)
    assert not turns.run.broker.connections


def test_first_fault_that_was_set_strikes_and_all_count(turns):
    one = opened(turns)
    first = fault(turns, do="refuse", method="queue.declare", nth=2, code=404)
    second = fault(turns, do="refuse", method="queue.declare", code=403)
    (close,) = one.send(m.QueueDeclare(1, "q"))
    one.send(m.ChannelCloseOk(1), m.ChannelOpen(1))
    (again,) = one.send(m.QueueDeclare(1, "q"))
    assert (close.reply_code, again.reply_code) == (403, 404)
    assert (first.matches, first.hits, second.matches, second.hits) == (2, 1, 2, 1)


def test_fault_that_has_not_struck_is_unmet(turns):
    met, unmet = (
        fault(turns, do="swallow", method="tx.select"),
        fault(turns, do="swallow", method="tx.commit"),
    )
    fault(turns, do="swallow", method="tx.rollback", must_hit=False)
    opened(turns).send(m.TxSelect(1))
    assert turns.run.faults.unmet() == [unmet] and met.hits == 1


def test_publish_through_exchanges_concerns_the_queues_that_it_reaches(turns):
    one = opened(turns)
    one.send(
        m.ExchangeDeclare(1, "in", "fanout"), m.ExchangeDeclare(1, "out", "topic"), m.ExchangeBind(1, "out", "in", ""),
        m.QueueDeclare(1, "q"), m.QueueBind(1, "q", "out", "order.#"), m.ConfirmSelect(1),
    )  # fmt: skip
    row = fault(turns, do="nack", method="basic.publish", queue="q")
    answers = one.send(m.BasicPublish(1, "in", "order.paid"), m.BasicPublish(1, "in", "stock"))
    assert kinds(answers) == ["basic.nack", "basic.ack"] and row.hits == 1
    assert turns.run.broker.state.vhosts["/"].exchanges["in"].published == 1, (
        "a struck publish is not counted"
    )


def test_faults_outlive_a_crash_of_the_server(turns):
    row = fault(turns, do="refuse", method="queue.declare", code=403)
    turns.act(0, Crash())
    turns.act(0, EndFault(fault(turns, do="hold").number))
    turns.act(0, Start())
    assert kinds(opened(turns).send(m.QueueDeclare(1, "q"))) == ["channel.close"] and row.hits == 1


@pytest.mark.parametrize(
    ("fields", "field", "text"),
    [
        ({}, "do", "must be one of refuse, nack"),
        ({"do": "explode"}, "do", "must be one of"),
        ({"do": "hold", "colour": "red"}, "colour", "no such field"),
        ({"do": "hold", "code": 403}, "code", "does not belong to hold"),
        ({"do": "refuse"}, "code", "refuse needs it"),
        ({"do": "refuse", "code": 200}, "code", "must be one of 320, 403"),
        ({"do": "refuse", "code": "403"}, "code", "must be a whole number"),
        ({"do": "refuse", "code": True}, "code", "must be a whole number"),
        ({"do": "delay"}, "ms", "delay needs it"),
        ({"do": "delay", "ms": 0}, "ms", "must be 1 to"),
        ({"do": "delay", "ms": -1}, "ms", "must be 0 to"),
        ({"do": "hold", "nth": -1}, "nth", "must be 0 to"),
        ({"do": "hold", "method": "basic.push"}, "method", "AMQP has no basic.push"),
        ({"do": "hold", "method": "basic.deliver", "by": "client"}, "by", "no client sends"),
        ({"do": "hold", "method": "basic.publish", "by": "server"}, "by", "no server sends"),
        ({"do": "hold", "by": "router"}, "by", "must be one of client, server"),
        ({"do": "nack", "method": "basic.ack"}, "method", "nack answers basic.publish"),
        ({"do": "refuse", "method": "basic.deliver", "code": 403}, "do", "strikes what a client sends"),
        ({"do": "crash", "method": "basic.deliver", "when": "unanswered"}, "when", "no answer of its own"),
        ({"do": "crash", "when": "later"}, "when", "must be one of before"),
        ({"do": "cut", "way": "up"}, "way", "must be one of to_client"),
        ({"do": "alarm", "resource": "cpu"}, "resource", "must be one of memory"),
        ({"do": "close_channel", "code": 501}, "code", "must be one of 403"),
        ({"do": "hold", "must_hit": 1}, "must_hit", "must be true or false"),
        ({"do": "refuse", "code": 403, "text": "x" * 201}, "text", "at most 200"),
    ],
)  # fmt: skip
def test_wrong_fault_is_refused_at_its_field(fields, field, text):
    with pytest.raises(CommandError, match=text) as refused:
        read_fault(fields)
    assert refused.value.field == field


@pytest.mark.parametrize("do", ACTIONS)
def test_fault_is_the_same_from_what_is_shown_of_it(do):
    fields = {"do": do, "method": "basic.publish", "nth": 3, "must_hit": False}
    given = {"refuse": {"code": 406}, "delay": {"ms": 5}, "cut": {"way": "to_client"}}.get(do, {})
    found = read_fault(fields | given)
    assert found.plain() == fields | given and read_fault(found.plain()) == found
