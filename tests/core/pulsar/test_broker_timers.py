"""What the broker does later, and what it tells once: timers of a subscription, news of its dispatcher, what
it keeps of numbers and entries."""

import pytest

from broker_core.errors import InvariantError
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.pulsar import commands as c
from broker_core.pulsar.settings import DRAINING, EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED, Asked
from broker_core.pulsar.subscription import ServerMetadata
from tests.core.playbook import play, wake
from tests.core.pulsar.brokers import A, B, C, P, broker

SECOND_US = 1_000_000
SUBSCRIPTION = "topic|subscription"


def subscribe(node, out, connection, kind, *, permits=100, **asked):
    name = {A: "a", B: "b", C: "c"}[connection]
    return play(
        node, out, connection, c.CommandSubscribe(1, 1, name, [], kind, **asked), c.CommandFlow(1, permits)
    )


def send(node, out, *numbers, **how):
    return play(node, out, P, *[c.CommandSend(1, number, number, **how) for number in numbers])


def received(sent):
    return [
        (connection, message.message) for connection, message in sent if isinstance(message, c.CommandMessage)
    ]


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        (EXCLUSIVE, "pulsar.dispatcher.exclusive"),
        (FAILOVER, "pulsar.dispatcher.failover"),
        (SHARED, "pulsar.dispatcher.shared"),
        (KEY_SHARED, "pulsar.selector.auto_split"),
    ],
)
def test_who_leaves_is_told_with_the_rule_of_its_subscription_and_what_it_had(kind, rule):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    send(node, out, 0, 1)
    play(node, out, A, c.CommandAck(1, [0]), c.CommandCloseConsumer(2, 1))
    assert out.rules[-1] == rule
    data = {"consumer": "a", "client": "a", "consumers": 0, "redelivered": 0, "waiting": 1}
    assert out.told[-1] == ("pulsar.consumer.disconnected", data)


@pytest.mark.parametrize("name", ["switch", "delayed", "unblock"])
def test_timer_of_a_subscription_that_has_been_taken_away_does_nothing(name):
    node, out = broker()
    subscribe(node, out, A, SHARED)
    play(node, out, A, c.CommandUnsubscribe(5, 1))
    out.deadlines[f"{name}:{SUBSCRIPTION}"] = SECOND_US
    told = list(out.told)
    assert wake(node, out, f"{name}:{SUBSCRIPTION}") == [] and out.told == told
    out.deadlines["delayed:topic|never_made"] = SECOND_US
    assert wake(node, out, "delayed:topic|never_made") == []


def test_timer_of_a_subscription_that_nobody_has_ever_connected_to_does_nothing():
    node, out = broker()
    out.deadlines[f"delayed:{SUBSCRIPTION}"] = SECOND_US
    assert wake(node, out, f"delayed:{SUBSCRIPTION}") == []


def test_switch_that_a_failover_subscription_did_not_begin_wakes_nobody():
    node, out = broker()
    subscribe(node, out, A, FAILOVER)
    wake(node, out, f"switch:{SUBSCRIPTION}")
    told = list(out.told)
    out.deadlines[f"switch:{SUBSCRIPTION}"] = SECOND_US
    assert wake(node, out, f"switch:{SUBSCRIPTION}") == [] and out.told == told


def test_failover_without_partitions_tells_the_topic_and_in_which_order_its_consumers_stand():
    node, out = broker()
    subscribe(node, out, A, FAILOVER)
    send(node, out, 0)
    assert received(wake(node, out, f"switch:{SUBSCRIPTION}")) == [(A, 0)]
    assert out.told[-1] == ("pulsar.topic.active_changed", {"consumer": "a", "redelivered": 0})


def test_slot_that_drained_while_nothing_waited_for_it_sets_no_timer():
    node, out = broker(order=DRAINING)
    subscribe(node, out, A, KEY_SHARED)
    send(node, out, 1)
    subscribe(node, out, B, KEY_SHARED)
    assert play(node, out, A, c.CommandAck(1, [0])) == []
    assert f"unblock:{SUBSCRIPTION}" not in out.deadlines and node.subscription().attached.drained == 1


def test_one_timer_serves_all_slots_that_drain_within_its_interval():
    node, out = broker(order=DRAINING)
    subscribe(node, out, A, KEY_SHARED)
    send(node, out, 1, 2)
    subscribe(node, out, B, KEY_SHARED)
    assert send(node, out, 1, 2) == []
    play(node, out, A, c.CommandAck(1, [0]), now_us=SECOND_US)
    play(node, out, A, c.CommandAck(1, [1]), now_us=SECOND_US + 4_000)
    assert out.deadlines[f"unblock:{SUBSCRIPTION}"] == SECOND_US + 10_000
    assert received(wake(node, out, f"unblock:{SUBSCRIPTION}")) == [(B, 1), (B, 2)]
    assert f"unblock:{SUBSCRIPTION}" not in out.deadlines


def test_delayed_messages_set_their_timer_only_when_current_has_another_one_to_set():
    node, out = broker(order=DRAINING)
    subscribe(node, out, A, KEY_SHARED)
    send(node, out, 1, deliver_at_us=SECOND_US)
    assert (
        f"unblock:{SUBSCRIPTION}" not in out.deadlines
        and out.deadlines.pop(f"delayed:{SUBSCRIPTION}") == SECOND_US
    )
    send(node, out, 2, deliver_at_us=2 * SECOND_US)
    assert f"delayed:{SUBSCRIPTION}" not in out.deadlines, "the timer of the first one runs"
    send(node, out, 3, deliver_at_us=SECOND_US // 2)
    assert out.deadlines[f"delayed:{SUBSCRIPTION}"] == SECOND_US // 2, "an earlier one comes before it"


def test_each_newcomer_that_is_let_go_is_told_once():
    node, out = broker()
    subscribe(node, out, A, KEY_SHARED)
    send(node, out, 1)
    subscribe(node, out, B, KEY_SHARED)
    subscribe(node, out, C, KEY_SHARED)
    play(node, out, A, c.CommandAck(1, [0]))
    send(node, out, 1, 2, 3)
    play(node, out, A, c.CommandAck(1, [1, 2, 3]))
    assert [data["consumer"] for kind, data in out.told if kind == "pulsar.consumer.let_go"] == ["b", "c"]


def test_without_deduplication_and_receipts_no_number_of_a_producer_is_kept():
    node, out = broker()
    send(node, out, 0, 1, sequence_id=5)
    topic = node.topic("topic", -1)
    assert topic.sequence_ids == {} and (topic.taken, topic.repeated) == (0, 0) and topic.ledger.end == 2


def test_sequence_id_zero_counts_as_a_number():
    node, out = broker(order=DRAINING, has_dedup=True)
    subscribe(node, out, A, KEY_SHARED)
    play(node, out, P, c.CommandSend(1, 0, -1, sequence_id=0), c.CommandSend(1, 0, -1, sequence_id=0),
         c.CommandSend(1, 1, -1, sequence_id=3, batch=(1, 2), first_sequence_id=0))  # fmt: skip
    entries = node.subscription().entries
    assert [entries[at].hash32 for at in (0, 1)] == [murmur3_32("producer-0")] * 2 and len(entries) == 2
    assert node.topic("topic", -1).duplicates == 1


def test_seek_forward_lets_go_of_what_is_behind_everybody():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    send(node, out, 0, 1, 2, 3)
    play(node, out, A, c.CommandSeek(5, 1, 3))
    assert list(node.topic("topic", -1).ledger.entries) == [3] and node.topic("topic", -1).ledger.first == 3


def test_seek_to_where_nothing_is_kept_or_has_been_means_the_nearest_entry():
    for wanted, position in ((0, 2), (99, 4), (2, 2)):
        node, out = broker()
        subscribe(node, out, A, SHARED)
        send(node, out, 0, 1, 2, 3)
        play(node, out, A, c.CommandAck(1, [0, 1]), c.CommandSeek(5, 1, wanted))
        assert (
            node.subscription().cursor.read_position == position
            and node.subscription().cursor.mark_delete == position - 1
        )


def test_deleted_subscription_lets_go_of_what_only_it_had_not_acknowledged():
    node, out = broker()
    subscribe(node, out, A, SHARED, subscription="slow")
    subscribe(node, out, B, SHARED)
    send(node, out, 0, 1)
    play(node, out, B, c.CommandAck(1, [0, 1]))
    assert len(node.topic("topic", -1).ledger.entries) == 2
    play(node, out, A, c.CommandUnsubscribe(5, 1))
    assert node.topic("topic", -1).ledger.entries == {} and out.told[-1] == (
        "pulsar.subscription.deleted",
        {"subscription": "slow", "waiting": 2},
    )


def test_active_consumer_gets_no_more_than_its_permits_and_each_message_of_a_batch_takes_one():
    for kind in (EXCLUSIVE, FAILOVER):
        node, out = broker(failover_delay_us=0)
        subscribe(node, out, A, kind, permits=3)
        assert received(send(node, out, 0, 1)) == [(A, 0), (A, 1)]
        assert received(send(node, out, 2, batch=(2, 3, 4))) == [(A, 2)], (
            "one permit is left, so the whole batch goes"
        )
        assert send(node, out, 5) == [] and node.subscription().permits(f"{A}.1") == -2
        assert play(node, out, A, c.CommandFlow(1, 2)) == []
        assert received(play(node, out, A, c.CommandFlow(1, 1))) == [(A, 5)]


def test_redelivered_messages_are_counted_once_each_time_and_a_batch_by_its_messages():
    node, out = broker()
    subscribe(node, out, A, SHARED)
    send(node, out, 0)
    send(node, out, 1, batch=(1, 2, 3))
    for times in (1, 2):
        play(node, out, A, c.CommandRedeliverUnacknowledgedMessages(1, []))
        assert node.state.redelivered == 4 * times == node.state.connections[A].consumers[1].redelivered


@pytest.mark.parametrize("order", [DRAINING, "recently_joined"])
def test_who_allows_out_of_order_delivery_waits_for_nobody_by_either_rule(order):
    node, out = broker(order=order)
    subscribe(node, out, A, KEY_SHARED, allows_out_of_order=True)
    send(node, out, 1)
    subscribe(node, out, B, KEY_SHARED, allows_out_of_order=True)
    assert received(send(node, out, 1)) == [(B, 1)] and f"unblock:{SUBSCRIPTION}" not in out.deadlines


def test_subscription_refuses_a_type_that_there_is_not_and_stays_as_it_was():
    node, _ = broker()
    known = node.subscription()
    with pytest.raises(ServerMetadata, match="Unsupported subscription type"):
        known.connect("2.1", Asked("a", "Round_Robin"))
    assert known.dispatcher is None and known.type is None


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER, SHARED, KEY_SHARED])
def test_who_has_granted_no_permits_is_sent_nothing(kind):
    node, out = broker(failover_delay_us=0, retention=10)
    send(node, out, 0)
    sent = play(
        node, out, A, c.CommandSubscribe(1, 1, "a", [], kind, initial_position="earliest", subscription="new")
    )
    assert received(sent) == [] and node.find("new").permits(f"{A}.1") == 0
    assert received(play(node, out, A, c.CommandFlow(1, 1))) == [(A, 0)]


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER, SHARED, KEY_SHARED])
def test_what_waits_is_neither_acknowledged_nor_at_anybody(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind, permits=3)
    send(node, out, 0, 1, 2, 3, 4)
    play(node, out, A, c.CommandAck(1, [1]))
    known = node.subscription()
    assert (known.waiting, known.unacked_count(f"{A}.1"), known.waiting_for(f"{A}.1")) == (
        2,
        2,
        0 if kind == SHARED else 2,
    )
    play(node, out, A, c.CommandCloseConsumer(2, 1))
    assert (known.waiting, known.unacked_count(f"{A}.1")) == (4, 0), "whatever it had waits again"


def test_law_that_is_broken_in_a_dispatcher_is_found_by_its_subscription():
    node, out = broker()
    node.subscription().check()
    subscribe(node, out, A, SHARED)
    node.subscription().attached.available += 1
    with pytest.raises(InvariantError, match="101 permits are counted, there are 100"):
        node.subscription().check()
