"""Bad input to broker and client: the original's error, or its silence, and the state untouched."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.plain import to_plain
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState
from broker_core.pulsar.client.config import ConsumerConfig
from broker_core.pulsar.client.consumer import Consumer, Subscribe
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.selectors import AssignRefused
from broker_core.pulsar.selectors.sticky_ranges import check_client_ranges
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED, TYPES, BrokerSettings
from broker_core.sim.node import PERSON, Opened
from broker_core.sim.program import DONE, Program
from tests.core.playbook import Counted, Played, play, wake

P, A, B = 1, 2, 3


def broker(algorithm="auto_split", kind=KEY_SHARED, ranges=()):
    """With one consumer, which has messages 0 and 1; message 2 has arrived, too."""
    node, out = (
        Broker(BrokerState(), lambda code: 7 * code, BrokerSettings(algorithm, failover_delay_us=0)),
        Played("broker"),
    )
    play(node, out, P, Opened("producer"), c.CommandProducer(1))
    for connection, name in ((A, "a"), (B, "b")):
        play(node, out, connection, Opened(name))
    play(node, out, A, c.CommandSubscribe(1, 1, "a", list(ranges), kind), c.CommandFlow(1, 2))
    play(node, out, P, *[c.CommandSend(1, number, number) for number in range(3)])
    return node, out


@pytest.mark.parametrize(
    ("algorithm", "ranges", "message"),
    [
        ("sticky", [(9, 3)], "Fixed hash range start > end"),
        ("sticky", [(0, 9)], "Range conflict with consumer"),
        ("sticky", [(70_000, 70_001), (5, 5)], "Range conflict with consumer"),
        ("sticky", [], "Must specify key shared meta for consumer."),
        ("sticky_document", [(0, 70_000)], "Ranges must be [0, 65536) but provided range is [0, 70000)"),
        ("sticky_document", [(9, 9)], "start >= end"),
    ],
)
def test_sticky_ranges_that_cannot_be_are_refused_by_their_name_and_leave_no_trace(
    algorithm, ranges, message
):
    node, out = broker(algorithm, ranges=[(0, 9)])
    before = to_plain(node.subscription().to_json())
    sent = play(node, out, B, c.CommandSubscribe(5, 1, "b", ranges))
    if sent == [(A, c.CommandPing())]:  # who is in the way is asked first
        sent = play(node, out, A, c.CommandPong())
    ((connection, answer),) = sent
    assert (connection, answer.request_id, answer.error) == (
        B,
        5,
        "ConsumerAssignError",
    ) and message in answer.message
    assert to_plain(node.subscription().to_json()) == before and node.state.connections[B].consumers == {}


def test_bounds_are_the_clients_to_check_and_the_broker_takes_what_no_key_reaches():
    for ranges in ([(0, 65_536)], [(-1, 5)]):
        with pytest.raises(AssignRefused) as refusal:
            check_client_ranges(ranges)
        assert refusal.value.kind == "out_of_bounds"
    node, out = broker("sticky", ranges=[(0, 9)])
    assert play(node, out, B, c.CommandSubscribe(5, 1, "b", [(70_000, 70_009)])) == [(B, c.CommandSuccess(5))]


@pytest.mark.parametrize("kind", TYPES)
def test_who_is_not_there_is_told_so_or_not_heard(kind):
    node, out = broker(kind=kind)
    before = to_plain(node.state)
    silent = [
        c.CommandFlow(9, 5),
        c.CommandAck(9, [0]),
        c.CommandAck(9, [0], True),
        c.CommandRedeliverUnacknowledgedMessages(9, [0]),
    ]
    assert play(node, out, A, *silent) == []
    for command in (c.CommandSeek(5, 9, 0), c.CommandUnsubscribe(5, 9)):
        assert play(node, out, A, command) == [(A, c.CommandError(5, "MetadataError", "Consumer not found"))]
    assert play(node, out, A, c.CommandCloseConsumer(6, 9)) == [(A, c.CommandSuccess(6))]
    assert to_plain(node.state) == before


@pytest.mark.parametrize(
    "command",
    [
        c.CommandSend(9, 1, 1),
        c.CommandSuccess(1),
        c.CommandError(1, "UnknownError", "no"),
        c.CommandMessage(1, 0, 0),
        c.CommandSendReceipt(1, 0, 0),
        c.CommandActiveConsumerChange(1, True),
        c.CommandFlow(1, 0),
        c.CommandFlow(1, -5),
    ],
    ids=str,
)
def test_what_makes_no_sense_to_a_broker_costs_the_client_its_connection(command):
    """ServerCnx.handleSend (no such producer), PulsarDecoder (a broker's own commands), Consumer.flowPermits."""
    node, out = broker(kind=SHARED)
    play(node, out, B, c.CommandSubscribe(1, 1, "b", [], SHARED), c.CommandFlow(1, 10))
    sent = play(node, out, A, command)
    assert out.closed == [A] and A not in node.state.connections
    assert ("pulsar.connection.refused", {"client": "a"}) in out.told
    assert [message.entry for _, message in sent] == [0, 1], "another consumer has what was not acknowledged"
    assert play(node, out, A, command) == [] and out.closed == [A]
    node.subscription().check()


def test_asking_again_for_what_another_one_has_or_nobody_has_changes_nothing():
    node, out = broker(kind=SHARED)
    play(node, out, B, c.CommandSubscribe(1, 1, "b", [], SHARED))
    before = to_plain(node.state)
    assert play(node, out, B, c.CommandRedeliverUnacknowledgedMessages(1, [0, 1, 99])) == []
    assert play(node, out, A, c.CommandRedeliverUnacknowledgedMessages(1, [99])) == []
    assert to_plain(node.state) == before


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_cumulative_acknowledgement_is_refused_by_the_client_and_ignored_by_the_broker(kind):
    node, out = broker(kind=kind)
    before = to_plain(node.state)
    assert play(node, out, A, c.CommandAck(1, [1], True)) == []
    assert to_plain(node.state) == {**before, "ignored_cumulative": 1}
    client, said = (
        Consumer(ConsumerState("a", Program(100), ConsumerConfig(kind, acks_cumulatively=True)), Counted()),
        Played("a"),
    )
    play(client, said, PERSON, Subscribe("broker", []))
    play(client, said, 1, c.CommandSuccess(1), c.CommandMessage(1, 0, 0))
    assert wake(client, said, DONE) == [] and "acks" not in said.deadlines
    assert said.told == [("pulsar.ack.refused", {
        "consumer": "a", "error": "InvalidConfigurationException",
        "message": "Cannot use cumulative acks on a non-exclusive/non-failover subscription",
    })]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "message"),
    [(EXCLUSIVE, "Exclusive consumer is already connected"), (SHARED, "Subscription is of different type")],
)
def test_who_comes_to_a_busy_subscription_is_refused_and_the_one_there_notices_nothing(kind, message):
    node, out = broker(kind=EXCLUSIVE)
    before = to_plain(node.subscription().to_json())
    sent = play(node, out, B, c.CommandSubscribe(5, 1, "b", [], kind))
    sent = play(node, out, A, c.CommandPong()) if sent == [(A, c.CommandPing())] else sent
    assert sent == [(B, c.CommandError(5, "ConsumerBusy", message))]
    assert to_plain(node.subscription().to_json()) == before


positions = st.lists(st.one_of(st.integers(-5, 12), st.integers(10**6, 10**9)), max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(TYPES),
    st.lists(st.tuples(st.sampled_from([A, B]), positions, st.booleans()), max_size=12),
)
def test_whatever_is_acknowledged_by_whomever_the_rest_is_still_read(kind, acks):
    node, out = broker(kind=kind)
    cursor, marks = node.subscription().cursor, -1
    for connection, entries, is_cumulative in acks:
        play(node, out, connection, c.CommandAck(1, entries, is_cumulative))
        assert marks <= cursor.mark_delete < cursor.end == 3
        marks = cursor.mark_delete
        node.subscription().check()
    unacked = [position for position in range(3) if not cursor.is_acked(position)]
    sent = play(
        node,
        out,
        A,
        c.CommandCloseConsumer(7, 1),
        c.CommandSubscribe(8, 2, "a", [], kind),
        c.CommandFlow(2, 10),
    )
    assert [message.entry for _, message in sent if isinstance(message, c.CommandMessage)] == unacked
    assert kind in (EXCLUSIVE, FAILOVER) or node.state.ignored_cumulative <= len(acks)


def test_places_that_a_batch_does_not_have_are_not_acknowledged():
    node, out = broker(kind=SHARED)
    play(node, out, A, c.CommandFlow(1, 9), c.CommandAck(1, [2]))
    play(node, out, P, c.CommandSend(1, 3, 3, batch=(3, 4, 5)))
    play(node, out, A, c.CommandAck(1, [], False, {3: [3, 99, -1, 1], 0: [7], 77: [0]}))
    subscription = node.subscription()
    assert subscription.cursor.acked_in_batch == {3: [1]}
    assert subscription.attached.unacked == 4, "messages 0, 1, 3 and 5"
    subscription.check()


def test_entry_that_is_asked_for_twice_in_one_command_counts_once():
    node, out = broker(kind=SHARED)
    play(node, out, A, c.CommandFlow(1, 9))
    sent = play(node, out, A, c.CommandRedeliverUnacknowledgedMessages(1, [0, 0, 0]))
    assert [(message.entry, message.redelivery_count) for _, message in sent] == [(0, 1)]


def test_consumer_that_waits_for_the_word_about_another_cannot_be_asked_for_again():
    """ServerCnx.handleSubscribe, of a consumer whose future is not done."""
    node, out = broker(kind=EXCLUSIVE)
    asked = c.CommandSubscribe(5, 1, "b", [], EXCLUSIVE)
    assert play(node, out, B, asked) == [(A, c.CommandPing())]
    again = c.CommandSubscribe(6, 1, "b", [], EXCLUSIVE, "another")
    assert play(node, out, B, again) == [
        (B, c.CommandError(6, "ServiceNotReady", "Consumer is already present on the connection"))
    ]
    assert "another" not in node.state.topics
    assert [answer.request_id for _, answer in play(node, out, A, c.CommandPong())] == [5]


@pytest.mark.parametrize(("topic", "name"), [("a|b", "c"), ("a", "b|c"), ("a:b", "c:d"), ("%7C|", "|")])
def test_names_with_bars_and_colons_have_timers_of_their_own(topic, name):
    node, out = broker(kind=SHARED)
    play(node, out, B, c.CommandSubscribe(1, 1, "b", [], SHARED, topic, subscription=name))
    play(node, out, B, c.CommandProducer(1, topic), c.CommandFlow(1, 9))
    play(node, out, B, c.CommandSend(1, 0, 0, deliver_at_us=5_000))
    (timer,) = [key for key in out.deadlines if key.startswith("delayed")]
    node.wake(timer, out.deadlines.pop(timer), out)
    assert [message.entry for _, message in out.take()] == [0]
