"""A producer that waits for receipts, and the broker's deduplication: what is sent again is there once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.plain import from_plain, to_plain
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState
from broker_core.pulsar.client.producer import (
    DEFAULT,
    GIVES_UP,
    RECONNECT,
    GiveUp,
    Open,
    Producer,
    ProducerState,
)
from broker_core.pulsar.settings import BrokerSettings
from broker_core.sim.node import PERSON, Closed, Opened
from tests.core.playbook import Played, play, wake


def producer(**options):
    node, out = Producer(ProducerState(waits_for_receipts=True, **options), lambda code: code), Played("p")
    play(node, out, PERSON, Open("broker"))
    return node, out


def broker(**settings):
    node, out = Broker(BrokerState(), lambda code: code, BrokerSettings(**settings)), Played("broker")
    node.subscription()
    return node, out


def send(node, out, *numbers):
    for number in numbers:
        node.gather(number, number, 0, out)
    return [command for _, command in out.take()]


def test_what_has_no_receipt_is_sent_again_in_order_on_the_next_connection():
    node, out = producer()
    first, second, third = send(node, out, 10, 11, 12)
    play(node, out, 1, c.CommandSendReceipt(1, second.sequence_id, 0))
    play(node, out, 1, Closed("reset"))
    assert send(node, out, 13) == []
    sent = [command for _, command in wake(node, out, RECONNECT)]
    assert (
        sent[0] == c.CommandProducer(1, "topic", -1, "", True)
        and sent[1:3] == [first, third]
        and sent[3].message == 13
    )


def test_batch_is_confirmed_by_its_highest_sequence_id():
    node, out = producer(batching=DEFAULT)
    send(node, out, 10, 11)
    ((_, batch),) = wake(node, out, "batch:0")
    assert list(node.state.unconfirmed) == [1] and batch.batch == (10, 11)
    play(node, out, 1, c.CommandSendReceipt(1, 1, 0))
    assert node.state.unconfirmed == {}


@pytest.mark.parametrize(
    ("has_dedup", "kept", "receipts"),
    [(True, [10, 11], [0, 1, -1, -1]), (False, [10, 11, 10, 11], [0, 1, 2, 3])],
)
def test_lost_receipts_make_duplicates_unless_the_broker_drops_them(has_dedup, kept, receipts):
    node, out = broker(has_dedup=has_dedup)
    sender, sends = producer()
    commands = send(sender, sends, 10, 11)
    answers = play(node, out, 1, Opened("p"), c.CommandProducer(1, wants_receipts=True), *commands)
    play(node, out, 1, Closed("reset"))
    node = Broker(
        from_plain(to_plain(node.state), BrokerState), lambda code: code, node.settings
    )  # restored in between
    play(sender, sends, 1, Closed("reset"))
    again = [command for _, command in wake(sender, sends, RECONNECT)]
    answers += play(node, out, 2, Opened("p"), *again)
    assert [answer.entry for _, answer in answers] == receipts
    assert [entry.message for entry in node.topic("topic", -1).ledger.entries.values()] == kept
    play(sender, sends, 2, *[answer for connection, answer in answers if connection == 2])
    assert sender.state.unconfirmed == {}


def test_delayed_message_is_no_part_of_a_batch_which_goes_out_before_it():
    node, out = producer(batching=DEFAULT)
    send(node, out, 10, 11)
    node.gather(12, 12, 0, out, -1, 5_000)
    batch, delayed = [command for _, command in out.take()]
    assert (batch.batch, batch.sequence_id) == ((10, 11), 1) and (delayed.message, delayed.sequence_id) == (
        12,
        2,
    )
    assert "batch:0" not in out.deadlines


def test_client_gives_up_a_connection_that_answers_nothing_and_connects_again():
    node, out = producer()
    assert play(node, out, PERSON, GiveUp(2_000)) == [] and out.deadlines[GIVES_UP] == 2_000
    commands = send(node, out, 10)
    assert wake(node, out, GIVES_UP) == [] and out.closed == [1] and not node.state.connection
    assert send(node, out, 11) == []
    again = [command for _, command in wake(node, out, RECONNECT)]
    assert again[1:] == [*commands, c.CommandSend(1, 11, 11, -1, 1)]
    assert out.told == [("pulsar.producer.sent_again", {"messages": 2})]
    play(node, out, PERSON, GiveUp(1))
    play(node, out, 2, Closed("reset"))
    assert GIVES_UP not in out.deadlines, "it is over already"


@pytest.mark.parametrize("has_dedup", [False, True])
def test_broker_counts_what_it_took_what_it_dropped_and_what_it_stored_twice(has_dedup):
    node, out = broker(has_dedup=has_dedup)
    batch = c.CommandSend(1, 7, 7, -1, 2, (7, 8, 9))
    play(
        node,
        out,
        1,
        Opened("p"),
        c.CommandProducer(1, wants_receipts=True),
        c.CommandSend(1, 5, 5, -1, 0),
        batch,
        batch,
    )
    topic = node.topic("topic", -1)
    assert (topic.taken, topic.duplicates, topic.repeated) == (4, 3 * has_dedup, 3 * (not has_dedup))
    play(
        node,
        out,
        2,
        Opened("other"),
        c.CommandProducer(1, wants_receipts=True),
        c.CommandSend(1, 6, 6, -1, 0),
    )
    assert topic.taken == 5 and topic.sequence_ids == {"p": 2, "other": 0}, (
        "each producer's name counts for itself"
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["send", "answers", "break", "again"]), max_size=40))
def test_with_deduplication_each_message_is_there_once_in_order_and_without_it_none_is_lost(happens):
    for has_dedup in (True, False):
        sender, sends = producer()
        node, out = broker(has_dedup=has_dedup)
        connection, number, answers = 1, 0, []
        commands = [c.CommandProducer(1, wants_receipts=True)]
        play(node, out, 1, Opened("p"))
        for what in (*happens, "break", "again", "answers"):
            if what == "send":
                commands += send(sender, sends, number)
                number += 1
            elif what == "break" and sender.state.connection:
                answers += play(
                    node, out, connection, *commands, Closed("reset")
                )  # they arrive, and nobody hears the answers
                commands, answers = [], []
                play(sender, sends, connection, Closed("reset"))
            elif what == "again" and not sender.state.connection:
                connection += 1
                commands += [command for _, command in wake(sender, sends, RECONNECT)]
                play(node, out, connection, Opened("p"))
            elif what == "answers" and sender.state.connection:
                play(
                    sender,
                    sends,
                    connection,
                    *[answer for _, answer in play(node, out, connection, *commands)],
                )
                commands = []
        stored = [entry.message for entry in node.topic("topic", -1).ledger.entries.values()]
        assert sender.state.unconfirmed == {} and list(dict.fromkeys(stored)) == list(range(number))
        assert not has_dedup or stored == list(range(number))
        assert node.topic("topic", -1).taken == number == len(stored) - node.topic("topic", -1).repeated


def test_producer_that_wants_no_receipts_gets_none_and_an_unknown_one_is_ignored():
    node, out = broker()
    assert (
        play(
            node,
            out,
            1,
            Opened("p"),
            c.CommandProducer(1),
            c.CommandSend(1, 5, 5, -1, 0),
            c.CommandSend(9, 6, 6, -1, 1),
        )
        == []
    )
    assert node.topic("topic", -1).ledger.end == 1
