"""The four types at the broker: send this command, expect those."""

import pytest

from broker_core.hashing.murmur3 import murmur3_32
from broker_core.plain import from_plain, to_plain
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState, consumer_key
from broker_core.pulsar.settings import DRAINING, EXCLUSIVE, FAILOVER, KEY_SHARED, RECENTLY_JOINED, SHARED
from tests.core.playbook import Played, play, wake
from tests.core.pulsar.brokers import A, B, C, P, broker

SECOND_US = 1_000_000


def subscribe(
    node, out, connection, kind, *, request=1, consumer=1, permits=100, now_us=0, ranges=(), **asked
):
    name = {A: "a", B: "b", C: "c"}[connection]
    command = c.CommandSubscribe(request, consumer, name, list(ranges), kind, **asked)
    sent = play(node, out, connection, command, now_us=now_us)
    if (connection, c.CommandSuccess(request)) in sent:
        sent += play(node, out, connection, c.CommandFlow(consumer, permits), now_us=now_us)
    return sent


def send(node, out, *numbers, now_us=0, **how):
    return play(node, out, P, *[c.CommandSend(1, number, number, **how) for number in numbers], now_us=now_us)


def got(sent):
    """Who received which messages."""
    return [
        ({A: "a", B: "b", C: "c"}[connection], message.message)
        for connection, message in sent
        if isinstance(message, c.CommandMessage)
    ]


def test_type_is_that_of_the_connected_consumers_until_the_last_one_leaves():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    ((connection, answer),) = subscribe(node, out, B, KEY_SHARED)
    assert (connection, answer.error, answer.message) == (
        B,
        "ConsumerBusy",
        "Subscription is of different type",
    )
    send(node, out, 0, 1)
    play(node, out, A, c.CommandAck(1, [1]), c.CommandCloseConsumer(2, 1))
    assert got(subscribe(node, out, B, EXCLUSIVE)) == [("b", 0)]
    assert node.subscription().type == EXCLUSIVE and node.state.redelivered == 1


def test_second_exclusive_consumer_is_refused_once_the_first_has_shown_that_it_lives():
    node, out = broker()
    subscribe(node, out, A, EXCLUSIVE)
    assert subscribe(node, out, B, EXCLUSIVE) == [(A, c.CommandPing())]
    ((connection, answer),) = play(node, out, A, c.CommandPong())
    assert (connection, answer.error, answer.message) == (
        B,
        "ConsumerBusy",
        "Exclusive consumer is already connected",
    )


def test_second_exclusive_consumer_is_let_in_when_the_first_is_silent():
    node, out = broker()
    subscribe(node, out, A, EXCLUSIVE)
    subscribe(node, out, B, EXCLUSIVE)
    assert wake(node, out, f"liveness:{A}") == [(B, c.CommandSuccess(1))]


def test_failover_takes_a_second_and_tells_everybody_who_is_active():
    node, out = broker()
    for connection in (A, B):
        assert subscribe(node, out, connection, FAILOVER, topic="orders", partition=1)[:1] == [
            (connection, c.CommandSuccess(1))
        ]
    switched = wake(node, out, "switch:orders-partition-1|subscription")
    assert switched == [
        (A, c.CommandActiveConsumerChange(1, False)),
        (B, c.CommandActiveConsumerChange(1, True)),
    ]
    kind, data = out.told[-1]
    assert kind == "pulsar.subscription.active_changed" and data == {"consumer": "b", "redelivered": 0}


@pytest.mark.parametrize(("order", "at_once"), [(RECENTLY_JOINED, [0, 1, 2, 3]), (DRAINING, [0, 1, 3])])
def test_a_gap_between_two_sticky_ranges_of_one_consumer_is_its_own_by_3_2_and_nobodys_by_the_current_rule(
    order, at_once
):
    node, out = broker(order=order)
    subscribe(node, out, A, KEY_SHARED, ranges=((0, 10), (20, 30)))
    assert got(send(node, out, 0, 1, 2, 3)) == [
        ("a", number) for number in at_once
    ]  # slots 0 (or 1), 7, 14, 21
    kept = from_plain(to_plain(node.state), BrokerState)
    for state in (node.state, kept):
        again = Broker(state, node.hash_of, node.settings)
        answer = subscribe(again, Played("broker"), B, KEY_SHARED, ranges=((11, 19),))
        if order == DRAINING:  # the message that waited for a consumer that covers it
            assert got(answer) == [("b", 2)] and again.subscription().waiting == 0
        # slots of that gap are asked for by nobody, so they can be had; what is at its consumer stays there
        else:
            assert got(answer) == []


def test_the_current_rule_refuses_ranges_of_one_consumer_that_overlap_and_3_2_takes_them():
    for order, message in (
        (DRAINING, "Consumer's own ranges conflict: [0,10] overlaps with [5,20]"),
        (RECENTLY_JOINED, None),
    ):
        node, out = broker(order=order)
        ((_, answer),) = play(node, out, A, c.CommandSubscribe(1, 1, "a", [(0, 10), (5, 20)], KEY_SHARED))
        assert (None if answer == c.CommandSuccess(1) else answer.message) == message


@pytest.mark.parametrize("order", [RECENTLY_JOINED, DRAINING])
def test_messages_without_a_key_go_to_one_consumer_by_3_2_and_by_their_numbers_under_the_current_rule(order):
    node, out = broker(order=order)
    subscribe(node, out, A, KEY_SHARED)
    subscribe(node, out, B, KEY_SHARED)
    messages = [c.CommandSend(1, number, -1, sequence_id=number) for number in range(20)]
    owner = {consumer_key(A, 1): "a", consumer_key(B, 1): "b"}
    spread = [
        owner[node.subscription().selector.select(murmur3_32(f"producer-{number}"))] for number in range(20)
    ]
    first = got(play(node, out, P, *messages[:10]))
    again = Broker(from_plain(to_plain(node.state), BrokerState), node.hash_of, node.settings)
    whole = first + got(play(again, Played("broker"), P, *messages[10:]))
    if order == DRAINING:
        assert whole == list(zip(spread, range(20), strict=True)) and {"a", "b"} == set(spread)
    else:
        assert len({consumer for consumer, _ in whole}) == 1
    # What was pending comes back by the same hashes, also after a checkpoint.
    left = [number for consumer, number in whole if consumer == "a"]
    play(again, out, A, c.CommandCloseConsumer(2, 1))
    assert (
        sorted(again.subscription().attached.pending()[consumer_key(B, 1)]) == list(range(20))
        if left
        else True
    )


def test_under_the_current_rule_a_key_and_an_ordering_key_decide_and_a_message_without_a_number_is_none_key():
    node, out = broker(order=DRAINING)
    subscribe(node, out, A, KEY_SHARED)
    commands = [
        c.CommandSend(1, 0, 5, sequence_id=0),
        c.CommandSend(1, 1, -1, 5, sequence_id=1),
        c.CommandSend(1, 2, -1),
        c.CommandSend(1, 3, -1, sequence_id=9, batch=(3, 4, 5), first_sequence_id=7),
    ]
    play(node, out, P, *commands)
    entries = node.subscription().entries
    assert [entries[at].hash32 for at in range(4)] == [35, 35, -7, murmur3_32("producer-7")]
    assert [entries[at].fallback for at in range(4)] == ["", "", "", "producer-7"]


def test_cumulative_acknowledgement_is_ignored_on_shared_and_counts_on_failover():
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, SHARED)
    send(node, out, 0, 1, 2)
    state = node.subscription().to_json()
    assert play(node, out, A, c.CommandAck(1, [2], True)) == []
    assert node.subscription().to_json() == state and node.state.ignored_cumulative == 1
    play(node, out, A, c.CommandCloseConsumer(2, 1))
    subscribe(node, out, A, FAILOVER, request=3)
    play(node, out, A, c.CommandAck(1, [2], True))
    assert node.subscription().cursor.mark_delete == 2


def test_redelivery_count_rises_when_asked_for_and_is_forgotten_with_the_last_consumer():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    send(node, out, 0)
    for count in (1, 2):
        ((_, again),) = play(node, out, A, c.CommandRedeliverUnacknowledgedMessages(1, [0]))
        assert again.redelivery_count == count
    play(node, out, A, c.CommandCloseConsumer(2, 1))
    sent = subscribe(node, out, B, SHARED)
    assert got(sent) == [("b", 0)] and sent[-1][1].redelivery_count == 0


def test_only_consumer_may_unsubscribe():
    node, out = broker()
    for connection in (A, B):
        subscribe(node, out, connection, SHARED)
    ((_, refusal),) = play(node, out, A, c.CommandUnsubscribe(5, 1))
    assert (refusal.error, refusal.message) == (
        "MetadataError",
        "Unconnected or shared consumer attempting to unsubscribe",
    )
    play(node, out, B, c.CommandCloseConsumer(2, 1))
    assert play(node, out, A, c.CommandUnsubscribe(6, 1)) == [(A, c.CommandSuccess(6))]
    assert not node.state.topics["topic"].subscriptions


def test_sole_consumer_of_failover_may_unsubscribe_only_while_nobody_stands_by():
    node, out = broker(failover_delay_us=0)
    for connection in (A, B):
        subscribe(node, out, connection, FAILOVER)
    for connection in (A, B):
        ((_, refusal),) = play(node, out, connection, c.CommandUnsubscribe(5, 1))
        assert refusal.error == "MetadataError"
    assert out.told[-1] == (
        "pulsar.unsubscribe.refused",
        {
            "consumer": "b",
            "error": "MetadataError",
            "message": "Unconnected or shared consumer attempting to unsubscribe",
        },
    )
    assert list(node.subscription().consumers) == [f"{A}.1", f"{B}.1"]
    assert play(node, out, A, c.CommandUnsubscribe(6, 9))[0][1].error == "MetadataError", (
        "there is no such consumer"
    )


def test_cursor_goes_with_the_subscription_and_the_next_one_begins_at_its_initial_position():
    for initial_position, kept, expected in (
        ("latest", 10, []),
        ("earliest", 10, [0, 1, 2]),
        ("earliest", 0, []),
    ):
        node, out = broker(retention=kept)
        subscribe(node, out, A, SHARED, permits=1)
        send(node, out, 0, 1, 2)
        play(node, out, A, c.CommandUnsubscribe(6, 1))
        assert node.find() is None and len(node.state.topics["topic"].ledger.entries) == (3 if kept else 0)
        again = subscribe(node, out, A, EXCLUSIVE, request=7, consumer=2, initial_position=initial_position)
        assert [number for _, number in got(again)] == expected
        assert node.subscription().type == EXCLUSIVE, "the type was that subscription's"


def test_unknown_type_is_refused_before_there_is_a_topic_or_a_subscription_of_it():
    node, out = broker()
    before = to_plain(node.state)
    ((connection, answer),) = subscribe(node, out, A, "Round_Robin", topic="new", subscription="new")
    assert (connection, answer.error, answer.message) == (A, "MetadataError", "Unsupported subscription type")
    assert to_plain(node.state) == before


def test_acknowledgements_of_what_is_not_there_change_nothing():
    node, out = broker(failover_delay_us=0)
    for kind, request in ((SHARED, 1), (KEY_SHARED, 2), (EXCLUSIVE, 3), (FAILOVER, 4)):
        subscribe(node, out, A, kind, request=request, consumer=request)
        send(node, out, 10 * request)
        before = to_plain(node.state)
        last = node.topic("topic", -1).ledger.end
        for command in (
            c.CommandAck(request, [last, last + 7, 10**9]),
            c.CommandAck(request, [-5]),
            c.CommandAck(9, [last - 1]),
            c.CommandAck(request, []),
            c.CommandAck(request, [last + 3], True),
            c.CommandAck(request, [last - 1, last - 2], True),
            c.CommandAck(request, [], True),
        ):
            assert play(node, out, A, command) == []
        node.state.ignored_cumulative = before["ignored_cumulative"]  # counted, no more
        assert to_plain(node.state) == before
        play(node, out, A, c.CommandAck(request, [last - 1]), c.CommandCloseConsumer(9, request))


def test_initial_position_counts_only_for_a_new_subscription():
    node, out = broker(retention=10)
    send(node, out, 0, 1)
    assert got(subscribe(node, out, A, SHARED, subscription="new")) == []
    assert got(
        subscribe(node, out, B, SHARED, subscription="from_the_start", initial_position="earliest")
    ) == [("b", 0), ("b", 1)]


def test_seek_by_id_and_by_time_closes_everybody_first():
    node, out = broker(retention=10)
    subscribe(node, out, A, SHARED)
    for number in range(4):
        send(node, out, number, now_us=number * SECOND_US)
    play(node, out, A, c.CommandAck(1, [0, 1, 2, 3]))
    assert play(node, out, A, c.CommandSeek(7, 1, 1)) == [
        (A, c.CommandCloseConsumer(0, 1)),
        (A, c.CommandSuccess(7)),
    ]
    assert got(subscribe(node, out, A, SHARED, request=8)) == [("a", 1), ("a", 2), ("a", 3)]
    play(node, out, A, c.CommandSeek(9, 1, -1, 3 * SECOND_US))
    assert got(subscribe(node, out, A, SHARED, request=10)) == [("a", 3)]


def test_two_subscriptions_get_everything_each_and_entries_go_when_both_have_acknowledged():
    node, out = broker()
    subscribe(node, out, A, EXCLUSIVE, subscription="one")
    subscribe(node, out, B, EXCLUSIVE, subscription="two")
    del node.state.topics["topic"].subscriptions["subscription"]
    assert got(send(node, out, 0, 1)) == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    play(node, out, A, c.CommandAck(1, [0, 1]))
    assert len(node.state.topics["topic"].ledger.entries) == 2
    play(node, out, B, c.CommandAck(1, [0]))
    assert list(node.state.topics["topic"].ledger.entries) == [1]


def test_ordering_key_comes_before_the_key():
    node, out = broker()
    subscribe(node, out, A, KEY_SHARED)
    send(node, out, 5, ordering_key=3)
    assert node.state.topics["topic"].ledger.entries[0].hash32 == 21


def test_duplicate_sequence_ids_are_dropped():
    node, out = broker(has_dedup=True)
    subscribe(node, out, A, SHARED)
    assert [
        len(send(node, out, number, sequence_id=sequence_id))
        for number, sequence_id in ((0, 4), (1, 4), (2, 3), (3, 5))
    ] == [1, 0, 0, 1]
    assert node.state.topics["topic"].duplicates == 2


def test_rest_of_a_batch_that_is_acknowledged_in_part_is_sent_again():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    send(node, out, 10, batch=(10, 11, 12))
    play(node, out, A, c.CommandAck(1, [], False, {0: [1]}))
    ((_, again),) = play(node, out, A, c.CommandRedeliverUnacknowledgedMessages(1, [0]))
    assert (again.batch, again.places) == ((10, 12), (0, 2))
    play(node, out, A, c.CommandAck(1, [], False, {0: [0, 2]}))
    assert node.subscription().cursor.mark_delete == 0 and not node.subscription().cursor.acked_in_batch


def test_delayed_message_goes_out_when_its_time_has_come():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    assert send(node, out, 0, deliver_at_us=3 * SECOND_US) == []
    assert out.deadlines["delayed:topic|subscription"] == 3 * SECOND_US
    assert got(wake(node, out, "delayed:topic|subscription")) == [("a", 0)]


def test_drained_slot_goes_to_its_new_consumer_ten_milliseconds_later():
    node, out = broker(order="draining")
    subscribe(node, out, A, KEY_SHARED)
    send(node, out, 1)
    subscribe(node, out, B, KEY_SHARED)
    assert send(node, out, 1) == []
    assert play(node, out, A, c.CommandAck(1, [0])) == []
    assert out.deadlines["unblock:topic|subscription"] == 10_000
    assert got(wake(node, out, "unblock:topic|subscription")) == [("b", 1)]


def test_newcomer_is_let_go_with_the_last_message_before_its_join():
    node, out = broker()
    subscribe(node, out, A, KEY_SHARED)
    send(node, out, 1)
    subscribe(node, out, B, KEY_SHARED)
    assert send(node, out, 1) == []
    assert got(play(node, out, A, c.CommandAck(1, [0]))) == [("b", 1)]
    assert out.told[-1] == ("pulsar.consumer.let_go", {"consumer": "b"})


def test_restored_broker_goes_on_the_same():
    for kind in (EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED):
        node, out = broker(failover_delay_us=0)
        for connection in (A, B):
            subscribe(node, out, connection, kind, permits=2)
        send(node, out, *range(6))
        play(node, out, A, c.CommandAck(1, [0]))
        kept = to_plain(node.state)
        again = Broker(from_plain(kept, BrokerState), lambda code: 7 * code, node.settings)
        assert to_plain(again.state) == kept
        for permits in (1, 3):
            assert play(again, Played(), A, c.CommandFlow(1, permits)) == play(
                node, Played(), A, c.CommandFlow(1, permits)
            )
        assert play(again, Played(), A, c.CommandAck(1, [1, 2])) == play(
            node, Played(), A, c.CommandAck(1, [1, 2])
        )
        assert to_plain(again.state) == to_plain(node.state)
