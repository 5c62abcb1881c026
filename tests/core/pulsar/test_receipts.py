"""A producer that waits for receipts, and the broker's deduplication: what is sent again is there once."""

import pytest

from broker_core.plain import from_plain, to_plain
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState
from broker_core.pulsar.client.producer import DEFAULT, RECONNECT, Open, Producer, ProducerState
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
    assert sent[0] == c.CommandProducer(1, "topic", -1, "", True) and sent[1:3] == [first, third] and sent[3].message == 13


def test_batch_is_confirmed_by_its_highest_sequence_id():
    node, out = producer(batching=DEFAULT)
    send(node, out, 10, 11)
    ((_, batch),) = wake(node, out, "batch")
    assert list(node.state.unconfirmed) == [1] and batch.batch == (10, 11)
    play(node, out, 1, c.CommandSendReceipt(1, 1, 0))
    assert node.state.unconfirmed == {}


@pytest.mark.parametrize(("has_dedup", "kept", "receipts"), [(True, [10, 11], [0, 1, -1, -1]), (False, [10, 11, 10, 11], [0, 1, 2, 3])])
def test_lost_receipts_make_duplicates_unless_the_broker_drops_them(has_dedup, kept, receipts):
    node, out = broker(has_dedup=has_dedup)
    sender, sends = producer()
    commands = send(sender, sends, 10, 11)
    answers = play(node, out, 1, Opened("p"), c.CommandProducer(1, wants_receipts=True), *commands)
    play(node, out, 1, Closed("reset"))
    node = Broker(from_plain(to_plain(node.state), BrokerState), lambda code: code, node.settings)  # restored in between
    play(sender, sends, 1, Closed("reset"))
    again = [command for _, command in wake(sender, sends, RECONNECT)]
    answers += play(node, out, 2, Opened("p"), *again)
    assert [answer.entry for _, answer in answers] == receipts
    assert [entry.message for entry in node.topic("topic", -1).ledger.entries.values()] == kept
    play(sender, sends, 2, *[answer for connection, answer in answers if connection == 2])
    assert sender.state.unconfirmed == {}


def test_producer_that_wants_no_receipts_gets_none_and_an_unknown_one_is_ignored():
    node, out = broker()
    assert play(node, out, 1, Opened("p"), c.CommandProducer(1), c.CommandSend(1, 5, 5, -1, 0), c.CommandSend(9, 6, 6, -1, 1)) == []
    assert node.topic("topic", -1).ledger.end == 1
