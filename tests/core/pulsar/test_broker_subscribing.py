"""Letting consumers in and out: what is answered and told in which order, who may take a subscription away,
and what a seek does to all of them."""

import pytest

from broker_core.plain import to_plain
from broker_core.pulsar import commands as c
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED
from tests.core.playbook import play, wake
from tests.core.pulsar.brokers import A, B, C, P, broker

EACH = pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER, SHARED, KEY_SHARED])
SECOND_US = 1_000_000


def subscribe(node, out, connection, kind, *, request=1, consumer=1, permits=100, **asked):
    name = {A: "a", B: "b", C: "c"}[connection]
    sent = play(node, out, connection, c.CommandSubscribe(request, consumer, name, [], kind, **asked))
    return sent + (play(node, out, connection, c.CommandFlow(consumer, permits)) if permits else [])


def send(node, out, *numbers, now_us=0, **how):
    return play(node, out, P, *[c.CommandSend(1, number, number, **how) for number in numbers], now_us=now_us)


def entries(sent):
    return [
        (connection, message.entry) for connection, message in sent if isinstance(message, c.CommandMessage)
    ]


@EACH
def test_consumer_that_asks_twice_is_there_and_stays_as_it_is(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    send(node, out, 0)
    before, told = to_plain(node.state), len(out.told)
    assert subscribe(node, out, A, kind, request=7, permits=0) == [(A, c.CommandSuccess(7))]
    assert to_plain(node.state) == before and len(out.told) == told


@EACH
def test_coming_and_going_are_told_with_the_partition_where_there_is_one(kind):
    for partition in (-1, 3):
        node, out = broker(failover_delay_us=0)
        where = {"partition": 3} if partition == 3 else {}
        subscribe(node, out, A, kind, topic="orders", partition=partition)
        connected = next(data for what, data in out.told if what == "pulsar.consumer.connected")
        assert connected == {"consumer": "a", "client": "a", "consumers": 1, **where}
        play(node, out, A, c.CommandCloseConsumer(2, 1))
        assert out.told[-1] == (
            "pulsar.consumer.disconnected",
            {"consumer": "a", "client": "a", "consumers": 0, "redelivered": 0, "waiting": 0, **where},
        )


def test_one_connection_may_have_consumers_of_several_subscriptions_and_topics():
    node, out = broker()
    for number, (topic, name) in enumerate((("topic", "one"), ("topic", "two"), ("other", "one")), 1):
        subscribe(node, out, A, SHARED, request=number, consumer=number, topic=topic, subscription=name)
    assert send(node, out, 5) == [(A, c.CommandMessage(1, 0, 5)), (A, c.CommandMessage(2, 0, 5))]
    assert {key: list(topic.subscriptions) for key, topic in node.state.topics.items()} == {
        "topic": ["subscription", "one", "two"], "other": ["one"],
    }  # fmt: skip


def test_closing_is_answered_after_what_it_gave_back_has_gone_to_the_others():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    send(node, out, 0, 1)
    subscribe(node, out, B, SHARED)
    sent = play(node, out, A, c.CommandCloseConsumer(2, 1))
    assert sent == [(B, c.CommandMessage(1, 0, 0)), (B, c.CommandMessage(1, 1, 1)), (A, c.CommandSuccess(2))]
    assert node.state.redelivered == 2 and node.state.connections[B].consumers[1].redelivered == 2


@EACH
def test_closed_consumer_is_not_heard_any_more(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    send(node, out, 0)
    play(node, out, A, c.CommandCloseConsumer(2, 1))
    before = to_plain(node.state)
    late = (
        c.CommandFlow(1, 5),
        c.CommandAck(1, [0]),
        c.CommandAck(1, [0], True),
        c.CommandRedeliverUnacknowledgedMessages(1, []),
    )
    assert play(node, out, A, *late) == [] and to_plain(node.state) == before


@EACH
def test_same_consumer_id_may_come_again_and_has_what_it_had_not_acknowledged(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    send(node, out, 0, 1)
    play(node, out, A, c.CommandAck(1, [0]), c.CommandCloseConsumer(2, 1))
    assert entries(subscribe(node, out, A, kind, request=3)) == [(A, 1)] and node.state.redelivered == 1


def test_type_may_change_when_all_have_left_and_what_was_sent_before_is_still_known():
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, SHARED)
    send(node, out, 0, 1, 2)
    play(node, out, A, c.CommandAck(1, [1]), c.CommandCloseConsumer(2, 1))
    for request, kind in ((3, KEY_SHARED), (5, FAILOVER), (7, EXCLUSIVE), (9, SHARED)):
        assert entries(subscribe(node, out, A, kind, request=request)) == [(A, 0), (A, 2)]
        assert node.subscription().type == kind
        play(node, out, A, c.CommandCloseConsumer(request + 1, 1))
    assert node.state.redelivered == 8, "two with each of the four"


def test_key_shared_policy_may_change_when_all_have_left():
    node, out = broker()
    subscribe(node, out, A, KEY_SHARED)
    play(node, out, A, c.CommandCloseConsumer(2, 1))
    subscribe(node, out, A, KEY_SHARED, request=3, allows_out_of_order=True)
    assert node.subscription().attached.allows_out_of_order and node.subscription().policy == (False, True)
    play(node, out, A, c.CommandCloseConsumer(4, 1))
    play(node, out, A, c.CommandSubscribe(5, 1, "a", [(0, 9)], KEY_SHARED))
    assert node.subscription().policy == (True, False) and node.subscription().selector.algorithm == "sticky"


# --- unsubscribe


@EACH
def test_only_consumer_takes_the_subscription_away_and_its_entries_with_it(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    send(node, out, 0, 1)
    assert play(node, out, A, c.CommandUnsubscribe(5, 1)) == [(A, c.CommandSuccess(5))]
    assert (
        node.find() is None
        and node.topic("topic", -1).ledger.entries == {}
        and node.state.connections[A].consumers == {}
    )
    assert out.told[-1] == ("pulsar.subscription.deleted", {"subscription": "subscription", "waiting": 2})
    assert out.told[-2][1] == {"consumer": "a", "client": "a", "consumers": 0, "redelivered": 0, "waiting": 2}


@pytest.mark.parametrize("kind", [FAILOVER, SHARED, KEY_SHARED])
def test_refused_unsubscribe_changes_nothing_and_its_number_says_which(kind):
    node, out = broker(failover_delay_us=0)
    for connection in (A, B):
        subscribe(node, out, connection, kind)
    before = to_plain(node.state)
    assert play(node, out, B, c.CommandUnsubscribe(5, 1)) == [
        (B, c.CommandError(5, c.METADATA_ERROR, "Unconnected or shared consumer attempting to unsubscribe")),
    ]  # fmt: skip
    assert to_plain(node.state) == before


# --- seek


@EACH
def test_seek_closes_everybody_and_answers_last(kind):
    node, out = broker(failover_delay_us=0, retention=10)
    others = [B] if kind != EXCLUSIVE else []
    for connection in (A, *others):
        subscribe(node, out, connection, kind)
    send(node, out, 0, 1, 2)
    sent = play(node, out, A, c.CommandSeek(5, 1, 1))
    assert sent == [
        *[(connection, c.CommandCloseConsumer(0, 1)) for connection in (A, *others)],
        (A, c.CommandSuccess(5)),
    ]
    assert node.consumers == {} and node.of_consumer == {} and node.subscription().consumers == []
    assert out.told[-1] == ("pulsar.subscription.seek", {"subscription": "subscription", "position": 1})
    assert entries(subscribe(node, out, A, kind, request=6)) == [(A, 1), (A, 2)], (
        "what was sent before is not sent again but read anew"
    )
    assert (
        node.state.redelivered
        == sum(data["redelivered"] for what, data in out.told if what == "pulsar.consumer.disconnected")
        == 0
    )


@pytest.mark.parametrize(
    ("at_us", "position"), [(0, 0), (1, 1), (SECOND_US, 1), (SECOND_US + 1, 2), (9 * SECOND_US, 4)]
)
def test_seek_by_time_goes_to_the_first_entry_published_then_or_later(at_us, position):
    node, out = broker(retention=10)
    subscribe(node, out, A, SHARED)
    for number in range(4):
        send(node, out, number, now_us=number * SECOND_US)
    play(node, out, A, c.CommandSeek(5, 1, -1, at_us))
    assert (
        node.subscription().cursor.read_position == position
        and node.subscription().cursor.mark_delete == position - 1
    )


def test_seek_makes_every_acknowledgement_behind_it_and_none_before_it_forgotten():
    node, out = broker(retention=10)
    subscribe(node, out, A, SHARED)
    send(node, out, 0, 1, 2, 3)
    send(node, out, 4, batch=(4, 5))
    play(
        node,
        out,
        A,
        c.CommandAck(1, [0, 2, 3], False, {4: [1]}),
        c.CommandRedeliverUnacknowledgedMessages(1, [1]),
        c.CommandSeek(5, 1, 2),
    )
    known = node.subscription()
    assert (
        known.cursor.mark_delete,
        known.cursor.ahead,
        known.redelivery_counts,
        known.cursor.acked_in_batch,
    ) == (1, {}, {}, {})
    sent = [
        message
        for _, message in subscribe(node, out, A, SHARED, request=6)
        if isinstance(message, c.CommandMessage)
    ]
    assert [(message.entry, message.redelivery_count, message.batch, message.places) for message in sent] == [
        (2, 0, (), ()), (3, 0, (), ()), (4, 0, (4, 5), ()),
    ]  # fmt: skip


def test_seek_of_one_subscription_leaves_the_others_alone():
    node, out = broker(retention=10)
    subscribe(node, out, A, SHARED, subscription="one")
    subscribe(node, out, B, SHARED, subscription="two")
    send(node, out, 0, 1)
    play(node, out, B, c.CommandAck(1, [0]))
    before = to_plain(node.find("two").to_json())
    play(node, out, A, c.CommandSeek(5, 1, 0))
    assert to_plain(node.find("two").to_json()) == before and list(node.consumers) == [f"{B}.1"]


def test_seek_of_failover_needs_a_switch_of_its_own_for_whoever_comes_first():
    node, out = broker(retention=10)
    for connection in (A, B):
        subscribe(node, out, connection, FAILOVER)
    wake(node, out, "switch:topic|subscription")
    send(node, out, 0, 1)
    play(node, out, A, c.CommandSeek(5, 1, 0), now_us=5 * SECOND_US)
    out.deadlines.pop("switch:topic|subscription", None)
    play(node, out, B, c.CommandSubscribe(6, 1, "b", [], FAILOVER), c.CommandFlow(1, 9), now_us=6 * SECOND_US)
    assert out.deadlines["switch:topic|subscription"] == 7 * SECOND_US
    assert entries(wake(node, out, "switch:topic|subscription")) == [(B, 0), (B, 1)]


def test_seek_of_nobody_known_is_refused():
    node, out = broker()
    assert play(node, out, A, c.CommandSeek(5, 1, 0), c.CommandUnsubscribe(6, 1)) == [
        (A, c.CommandError(5, c.METADATA_ERROR, "Consumer not found")),
        (A, c.CommandError(6, c.METADATA_ERROR, "Consumer not found")),
    ]
