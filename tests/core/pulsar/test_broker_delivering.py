"""From a message of a producer to one for a consumer: what is stored, who is sent it and with what, and what
is counted."""

import pytest

from broker_core.plain import from_plain, to_plain
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState
from broker_core.pulsar.settings import (
    DRAINING,
    EXCLUSIVE,
    FAILOVER,
    KEY_SHARED,
    RECENTLY_JOINED,
    SHARED,
    BrokerSettings,
)
from broker_core.sim.node import Closed, Opened
from tests.core.playbook import Played, play, wake
from tests.core.pulsar.brokers import A, B, C, P, broker

EACH = pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER, SHARED, KEY_SHARED])


def subscribe(node, out, connection, kind, *, request=1, consumer=1, permits=100, **asked):
    name = {A: "a", B: "b", C: "c"}[connection]
    return play(
        node,
        out,
        connection,
        c.CommandSubscribe(request, consumer, name, [], kind, **asked),
        *([c.CommandFlow(consumer, permits)] if permits else []),
    )


def send(node, out, *numbers, **how):
    return play(node, out, P, *[c.CommandSend(1, number, number, **how) for number in numbers])


def again(*entries, consumer_id=1):
    return c.CommandRedeliverUnacknowledgedMessages(consumer_id, list(entries))


# --- what a message says


@EACH
def test_plain_message_says_its_position_and_number(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    assert send(node, out, 7, 8) == [(A, c.CommandMessage(1, 0, 7)), (A, c.CommandMessage(1, 1, 8))]


@EACH
def test_batch_and_retry_letter_say_so(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    assert send(node, out, 7, batch=(7, 8)) == [(A, c.CommandMessage(1, 0, 7, 0, (7, 8)))]
    assert send(node, out, 9, reconsumed=2) == [(A, c.CommandMessage(1, 1, 9, 0, (), (), 2))]


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_redelivery_count_is_each_entrys_own_and_ends_with_its_acknowledgement(kind):
    node, out = broker()
    subscribe(node, out, A, kind)
    send(node, out, 0, 1)
    play(node, out, A, again(0))
    assert [(message.entry, message.redelivery_count) for _, message in play(node, out, A, again(0, 1))] == [
        (0, 2),
        (1, 1),
    ]
    assert send(node, out, 2) == [(A, c.CommandMessage(1, 2, 2))], "others are as they were"
    play(node, out, A, c.CommandAck(1, [0]))
    assert node.subscription().redelivery_counts == {1: 1}


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER])
def test_where_one_has_everything_nothing_is_counted(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    send(node, out, 0, 1)
    assert play(node, out, A, again(0)) == [(A, c.CommandMessage(1, 0, 0)), (A, c.CommandMessage(1, 1, 1))]
    assert node.subscription().redelivery_counts == {} and node.state.redelivered == 2


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_no_entries_named_means_all_that_the_consumer_has(kind):
    node, out = broker()
    subscribe(node, out, A, kind)
    send(node, out, 0, 1, 2)
    play(node, out, A, c.CommandAck(1, [1]))
    assert [message.entry for _, message in play(node, out, A, again())] == [
        0,
        2,
    ] and node.subscription().redelivery_counts == {0: 1, 2: 1}


def test_rest_of_a_batch_goes_out_with_its_places_to_whoever_gets_it():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    send(node, out, 10, batch=(10, 11, 12, 13))
    play(node, out, A, c.CommandAck(1, [], False, {0: [0]}), c.CommandAck(1, [], False, {0: [2, 0]}))
    assert node.subscription().cursor.acked_in_batch == {0: [0, 2]}
    subscribe(node, out, B, SHARED)
    assert play(node, out, A, c.CommandCloseConsumer(2, 1))[0] == (
        B,
        c.CommandMessage(1, 0, 10, 0, (11, 13), (1, 3)),
    )


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED, EXCLUSIVE, FAILOVER])
def test_tally_of_what_is_sent_again_counts_messages_that_are_sent_and_not_those_of_the_entry(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    send(node, out, 10, batch=(10, 11, 12, 13))
    play(node, out, A, c.CommandAck(1, [], False, {0: [0, 1, 3]}))
    (message,) = [message for _, message in play(node, out, A, again(0))]
    assert (message.batch, message.places) == ((12,), (2,))
    assert node.state.redelivered == node.state.connections[A].consumers[1].redelivered == 1


@pytest.mark.parametrize("acked", [{"entries": [0]}, {"entries": [], "in_batch": {0: [1]}}])
def test_acknowledgement_of_an_entry_or_of_a_part_of_it_forgets_how_often_it_was_asked_for(acked):
    """PersistentSubscription.acknowledgeMessage takes all positions of the command out of the
    RedeliveryTracker."""
    node, out = broker()
    subscribe(node, out, A, SHARED)
    send(node, out, 10, batch=(10, 11, 12))
    play(node, out, A, again(0))
    assert node.subscription().redelivery_counts == {0: 1}
    play(node, out, A, c.CommandAck(1, **acked))
    assert node.subscription().redelivery_counts == {}


def test_batch_is_acknowledged_with_its_last_place_whoever_said_the_others():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    subscribe(node, out, B, SHARED)
    send(node, out, 10, batch=(10, 11))
    play(node, out, A, c.CommandAck(1, [], False, {0: [1]}))
    assert node.subscription().cursor.backlog == 1
    play(node, out, B, c.CommandAck(1, [], False, {0: [0]}))
    assert node.subscription().cursor.backlog == 0 and node.subscription().cursor.acked_in_batch == {}


def test_place_of_an_entry_that_is_not_kept_any_more_is_ignored():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    send(node, out, 10, batch=(10, 11))
    play(node, out, A, c.CommandAck(1, [0]), c.CommandAck(1, [], False, {0: [1], 99: [0]}))
    assert node.subscription().cursor.acked_in_batch == {} and node.subscription().cursor.mark_delete == 0


def test_whole_entry_ends_what_was_acknowledged_of_it_in_part():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    send(node, out, 10, batch=(10, 11))
    play(node, out, A, c.CommandAck(1, [], False, {0: [1]}), c.CommandAck(1, [0]))
    assert node.subscription().cursor.acked_in_batch == {}


def test_who_hears_of_each_entry_hears_before_it_goes_and_changes_nothing():
    heard = []
    nodes = []
    for overhears in (
        None,
        lambda subscription, key, position: heard.append((subscription.name, key, position)),
    ):
        node, out = (
            Broker(BrokerState(), lambda code: 7 * code, BrokerSettings("auto_split"), overhears),
            Played("broker"),
        )
        play(node, out, P, Opened("producer"), c.CommandProducer(1))
        for connection, name in ((A, "a"), (B, "b")):
            play(node, out, connection, Opened(name))
        subscribe(node, out, A, SHARED)
        sent = send(node, out, 0, 1) + play(node, out, A, again(0)) + send(node, out, 2, batch=(2, 3))
        nodes.append((to_plain(node.state), sent))
    assert nodes[0] == nodes[1]
    assert heard == [("subscription", f"{A}.1", position) for position in (0, 1, 0, 2)]


def test_what_waited_goes_out_together_with_the_entry_that_has_just_come():
    """The usual case is one message out for one in; here two go, of which the second is the new one."""
    node, out = broker()
    subscribe(node, out, A, KEY_SHARED, permits=10)
    subscribe(node, out, B, KEY_SHARED, permits=0)
    assert send(node, out, 1) == []
    node.subscription().attached.consumers[
        f"{B}.1"
    ].permits = 5  # as if they had come in the middle of a read
    node.subscription().attached.available += 5
    node.subscription().attached.changed()
    assert send(node, out, 9_000) == [(B, c.CommandMessage(1, 0, 1)), (A, c.CommandMessage(1, 1, 9_000))]


# --- keys


@pytest.mark.parametrize(
    ("order", "command", "hash32", "key"),
    [
        (RECENTLY_JOINED, c.CommandSend(1, 0, 5), 35, 5),
        (RECENTLY_JOINED, c.CommandSend(1, 0, 5, 0), 0, 0),
        (RECENTLY_JOINED, c.CommandSend(1, 0, -1, sequence_id=4), -7, -1),
        (DRAINING, c.CommandSend(1, 0, 5, sequence_id=4), 35, 5),
        (DRAINING, c.CommandSend(1, 0, -1), -7, -1),
        (DRAINING, c.CommandSend(1, 0, -1, 6, sequence_id=4), 42, 6),
    ],
)
def test_ordering_key_before_key_before_none(order, command, hash32, key):
    node, out = broker(order=order)
    play(node, out, P, command)
    entry = node.topic("topic", -1).ledger.entries[0]
    assert (entry.hash32, entry.key, entry.fallback) == (hash32, key, "")


# --- producers


def test_producer_without_a_name_has_that_of_its_connection_and_topics_are_made_for_it():
    node, out = broker()
    play(node, out, A, c.CommandProducer(5, "new", 2), c.CommandProducer(6, "new", 3, "given", True))
    assert node.state.connections[A].producers == {
        5: ("new-partition-2", "a", False),
        6: ("new-partition-3", "given", True),
    }
    assert node.topic("new", 2).full_name == "persistent://public/default/new-partition-2"
    assert play(node, out, A, c.CommandSend(6, 1, 1, sequence_id=0)) == [(A, c.CommandSendReceipt(6, 0, 0))]


def test_receipt_comes_before_what_it_makes_go_out():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    play(node, out, P, c.CommandProducer(2, wants_receipts=True))
    assert play(node, out, P, c.CommandSend(2, 7, 7, sequence_id=3)) == [
        (P, c.CommandSendReceipt(2, 3, 0)),
        (A, c.CommandMessage(1, 0, 7)),
    ]


@pytest.mark.parametrize("has_dedup", [False, True])
def test_message_without_a_number_is_never_a_duplicate(has_dedup):
    node, out = broker(has_dedup=has_dedup)
    play(node, out, P, c.CommandProducer(2, wants_receipts=True))
    assert [receipt.entry for _, receipt in play(node, out, P, *[c.CommandSend(2, 7, 7)] * 3)] == [0, 1, 2]


def test_numbers_of_a_name_count_on_over_its_connections_and_per_topic():
    node, out = broker(has_dedup=True)
    play(node, out, P, c.CommandProducer(2, name="p"), c.CommandProducer(3, "other", -1, "p"))
    play(
        node,
        out,
        P,
        *[c.CommandSend(2, number, 1, sequence_id=number) for number in range(3)],
        c.CommandSend(3, 9, 1, sequence_id=0),
    )
    play(node, out, P, Closed("reset"))
    play(
        node,
        out,
        8,
        Opened("again"),
        c.CommandProducer(1, name="p"),
        c.CommandSend(1, 2, 1, sequence_id=2),
        c.CommandSend(1, 3, 1, sequence_id=3),
    )
    assert [entry.message for entry in node.topic("topic", -1).ledger.entries.values()] == [0, 1, 2, 3]
    assert node.topic("topic", -1).duplicates == 1 and node.topic("other", -1).ledger.end == 1


# --- connections that end


@EACH
def test_what_a_lost_connection_had_waits_for_who_comes(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    send(node, out, 0, 1)
    play(node, out, A, c.CommandAck(1, [1]), Closed("reset"))
    assert out.told[-1][1] == {"consumer": "a", "client": "a", "consumers": 0, "redelivered": 0, "waiting": 1}
    assert subscribe(node, out, B, kind)[1:] == [
        *([(B, c.CommandActiveConsumerChange(1, True))] if kind == FAILOVER else []),
        (B, c.CommandMessage(1, 0, 0)),
    ]


def test_lost_connection_takes_its_consumers_of_every_subscription_with_it():
    node, out = broker()
    for number, name in enumerate(("one", "two"), 1):
        subscribe(node, out, A, SHARED, request=number, consumer=number, subscription=name)
    subscribe(node, out, B, SHARED, subscription="one")
    send(node, out, 0, 1)
    sent = play(node, out, A, Closed("reset"))
    assert sent == [(B, c.CommandMessage(1, 0, 0))], "one's first message was a's"
    assert [data["consumers"] for what, data in out.told[-2:]] == [1, 0]
    assert node.find("two").waiting == 2 and list(node.of_consumer) == [(B, 1)]


def test_newcomer_that_is_let_go_by_a_lost_connection_is_told_if_it_is_still_there():
    node, out = broker()
    subscribe(node, out, A, KEY_SHARED)
    send(node, out, 1)
    subscribe(node, out, B, KEY_SHARED)
    subscribe(node, out, C, KEY_SHARED)
    play(node, out, A, c.CommandAck(1, [0]))
    assert [data for what, data in out.told if what == "pulsar.consumer.let_go"] == [
        {"consumer": "b"},
        {"consumer": "c"},
    ]
    assert out.rules[-1] == "pulsar.order.recently_joined"


# --- checkpoints in the middle


@EACH
@pytest.mark.parametrize("order", [RECENTLY_JOINED, DRAINING])
def test_broker_that_is_kept_at_any_moment_goes_on_the_same(kind, order):
    steps = [
        (P, c.CommandSend(1, 0, 1, batch=(0, 1, 2))),
        (P, c.CommandSend(1, 3, 2)),
        (A, c.CommandAck(1, [], False, {0: [1]})),
        (B, c.CommandFlow(1, 3)),
        (A, again(0)),
        (P, c.CommandSend(1, 4, 1, deliver_at_us=5_000)),
        (A, c.CommandAck(1, [1])),
        (P, c.CommandSend(1, 5, 1)),
        (A, c.CommandCloseConsumer(5, 1)),
        (B, c.CommandFlow(1, 10)),
        (B, c.CommandAck(1, [0])),
    ]
    for kept in range(len(steps)):
        node, out = broker(order=order, failover_delay_us=0)
        subscribe(node, out, A, kind, permits=5)
        if kind != EXCLUSIVE:
            subscribe(node, out, B, kind, permits=2)
        other, heard = None, Played("broker")
        for number, (connection, command) in enumerate(steps):
            if number == kept:
                other = Broker(from_plain(to_plain(node.state), BrokerState), node.hash_of, node.settings)
            sent = play(node, out, connection, command, now_us=10 * number)
            if other is not None:
                assert play(other, heard, connection, command, now_us=10 * number) == sent, (kept, command)
        assert other is not None and to_plain(other.state) == to_plain(node.state)
        for name in [name for name in out.deadlines if not name.startswith("keep_alive")]:
            heard.deadlines[name] = out.deadlines[name]
            assert wake(node, out, name) == wake(other, heard, name)
