"""What a broker does at its time: a Failover's switch after its second, delayed messages, drained slots; and
what it does not do before."""

import pytest

from broker_core.pulsar import commands as c
from broker_core.pulsar.settings import DRAINING, EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED
from broker_core.sim.node import Closed
from tests.core.playbook import play, wake
from tests.core.pulsar.brokers import A, B, C, P, broker

SECOND_US = 1_000_000
MANY = pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])


def subscribe(node, out, connection, kind, *, now_us=0, permits=100, partition=-1, **asked):
    name = {A: "a", B: "b", C: "c"}[connection]
    command = c.CommandSubscribe(
        1, 1, name, [], kind, "topic" if partition < 0 else "orders", partition, **asked
    )
    return play(
        node, out, connection, command, *([c.CommandFlow(1, permits)] if permits else []), now_us=now_us
    )


def send(node, out, *numbers, producer=1, now_us=0, **how):
    return play(
        node, out, P, *[c.CommandSend(producer, number, number, **how) for number in numbers], now_us=now_us
    )


def got(sent):
    return [
        (connection, message.entry) for connection, message in sent if isinstance(message, c.CommandMessage)
    ]


def roles(sent):
    return [
        (connection, message.is_active)
        for connection, message in sent
        if isinstance(message, c.CommandActiveConsumerChange)
    ]


# --- a switch


def partition(number, *connections, **settings):
    """Consumers of Failover on this partition of orders, whose messages producer 2 sends."""
    node, out = broker(**{"failover_delay_us": 0, **settings})
    play(node, out, P, c.CommandProducer(2, "orders", number))
    for connection in connections:
        subscribe(node, out, connection, FAILOVER, partition=number)
    return node, out


def test_switch_takes_its_second_from_the_join_that_made_it_and_tells_all_then():
    node, out = partition(1, failover_delay_us=SECOND_US)
    assert roles(subscribe(node, out, A, FAILOVER, partition=1, now_us=500)) == []
    name = "switch:orders-partition-1|subscription"
    assert (
        out.deadlines[name] == 500 + SECOND_US
        and node.find(topic="orders", partition=1).attached.since_us == 500
    )
    assert (
        roles(subscribe(node, out, B, FAILOVER, partition=1, now_us=900)) == []
        and out.deadlines[name] == 500 + SECOND_US
    )
    send(node, out, 0, producer=2)
    assert not [kind for kind, _ in out.told if kind.endswith("active_changed")]
    sent = wake(node, out, name)
    assert (roles(sent), got(sent)) == ([(A, False), (B, True)], [(B, 0)])
    assert out.told[-1] == ("pulsar.subscription.active_changed", {"consumer": "b", "redelivered": 0})


def test_standby_is_told_so_at_once_and_sets_no_timer():
    node, out = partition(0, A, failover_delay_us=SECOND_US)
    wake(node, out, "switch:orders-partition-0|subscription")
    assert roles(subscribe(node, out, B, FAILOVER, partition=0, now_us=5 * SECOND_US)) == [(B, False)]
    assert "switch:orders-partition-0|subscription" not in out.deadlines


def test_join_that_makes_a_third_one_active_sends_to_it_at_once_where_there_is_no_delay():
    """On partition 2 a of [a, c] is active, and c of [a, b, c]."""
    node, out = partition(2, A, C)
    assert got(send(node, out, 0, 1, producer=2)) == [(A, 0), (A, 1)]
    sent = subscribe(node, out, B, FAILOVER, partition=2)
    assert got(sent) == [(C, 0), (C, 1)] and roles(sent) == [(A, False), (B, False), (C, True)]
    assert sent[0] == (B, c.CommandSuccess(1)) and node.state.redelivered == 2


def test_leave_of_the_active_one_waits_for_the_second_with_what_it_had():
    node, out = partition(0, A, B, failover_delay_us=SECOND_US)
    wake(node, out, "switch:orders-partition-0|subscription")
    send(node, out, 0, 1, producer=2)
    assert got(play(node, out, A, Closed("reset"), now_us=3 * SECOND_US)) == []
    assert out.told[-1][1] == {
        "consumer": "a",
        "client": "a",
        "consumers": 1,
        "redelivered": 0,
        "waiting": 0,
        "partition": 0,
    }
    assert out.deadlines["switch:orders-partition-0|subscription"] == 4 * SECOND_US
    assert got(wake(node, out, "switch:orders-partition-0|subscription")) == [(B, 0), (B, 1)]
    assert out.told[-1] == ("pulsar.subscription.active_changed", {"consumer": "b", "redelivered": 2})


def test_who_was_active_may_still_acknowledge_what_it_works_on():
    node, out = partition(1, A)
    send(node, out, 0, 1, producer=2)
    subscribe(node, out, B, FAILOVER, partition=1)
    play(node, out, A, c.CommandAck(1, [1], True))
    assert node.find(topic="orders", partition=1).cursor.mark_delete == 1


def test_exclusive_has_no_switch_and_tells_nobody():
    node, out = broker(failover_delay_us=SECOND_US)
    sent = subscribe(node, out, A, EXCLUSIVE)
    assert (
        roles(sent) == []
        and got(send(node, out, 0)) == [(A, 0)]
        and "switch:topic|subscription" not in out.deadlines
    )


@pytest.mark.parametrize("connections", [(A, B), (B, A)])
def test_each_partition_switches_by_itself(connections):
    node, out = broker(failover_delay_us=SECOND_US)
    for number in (0, 1):
        for consumer, connection in enumerate(connections):
            command = c.CommandSubscribe(1, 1 + number, "ab"[connection - A], [], FAILOVER, "orders", number)
            play(node, out, connection, command, now_us=100 * number + consumer)
    assert {name: at_us for name, at_us in out.deadlines.items() if name.startswith("switch")} == {
        "switch:orders-partition-0|subscription": SECOND_US,
        "switch:orders-partition-1|subscription": SECOND_US + 100,
    }
    for number, active in ((0, A), (1, B)):
        sent = wake(node, out, f"switch:orders-partition-{number}|subscription")
        assert sorted(roles(sent)) == [(A, active == A), (B, active == B)]


# --- delayed messages


@MANY
def test_delayed_message_sets_its_timer_and_goes_when_it_wakes(kind):
    node, out = broker()
    subscribe(node, out, A, kind)
    assert send(node, out, 0, deliver_at_us=SECOND_US) == [] and got(send(node, out, 1)) == [(A, 1)]
    assert out.deadlines["delayed:topic|subscription"] == SECOND_US
    assert (
        got(wake(node, out, "delayed:topic|subscription")) == [(A, 0)]
        and "delayed:topic|subscription" not in out.deadlines
    )


@MANY
def test_next_delayed_message_sets_the_next_timer(kind):
    node, out = broker()
    subscribe(node, out, A, kind)
    send(node, out, 0, deliver_at_us=2 * SECOND_US)
    send(node, out, 1, deliver_at_us=SECOND_US)
    assert (
        got(wake(node, out, "delayed:topic|subscription")) == [(A, 1)]
        and out.deadlines["delayed:topic|subscription"] == 2 * SECOND_US
    )


@MANY
def test_delayed_message_that_arrived_before_anybody_had_come_is_delayed_as_well(kind):
    node, out = broker()
    send(node, out, 0, deliver_at_us=SECOND_US)
    send(node, out, 1)
    assert (
        got(subscribe(node, out, A, kind)) == [(A, 1)]
        and out.deadlines["delayed:topic|subscription"] == SECOND_US
    )
    assert got(wake(node, out, "delayed:topic|subscription")) == [(A, 0)]


@pytest.mark.parametrize(("first", "second"), [(SHARED, KEY_SHARED), (KEY_SHARED, SHARED)])
def test_delayed_message_stays_delayed_when_the_subscription_changes_its_type(first, second):
    node, out = broker()
    subscribe(node, out, A, first)
    send(node, out, 0, deliver_at_us=SECOND_US)
    play(node, out, A, c.CommandCloseConsumer(2, 1))
    assert got(subscribe(node, out, A, second)) == [] and node.subscription().type == second


@MANY
def test_new_subscription_that_begins_at_the_earliest_entry_delays_what_is_kept(kind):
    node, out = broker(retention=10)
    send(node, out, 0, deliver_at_us=SECOND_US)
    assert got(subscribe(node, out, A, kind, subscription="new", initial_position="earliest")) == []
    assert out.deadlines["delayed:topic|new"] == SECOND_US


@MANY
@pytest.mark.parametrize(
    ("now_us", "waits"), [(SECOND_US - 1, True), (SECOND_US, False), (9 * SECOND_US, False)]
)
def test_who_comes_or_grants_after_its_time_gets_it_at_once(kind, now_us, waits):
    node, out = broker()
    send(node, out, 0, deliver_at_us=SECOND_US)
    subscribe(node, out, A, kind, permits=0)
    assert got(play(node, out, A, c.CommandFlow(1, 5), now_us=now_us)) == ([] if waits else [(A, 0)])
    assert ("delayed:topic|subscription" in out.deadlines) == waits


@MANY
def test_delayed_message_that_a_lost_consumer_left_goes_by_the_time_of_the_loss(kind):
    node, out = broker()
    subscribe(node, out, A, kind)
    send(node, out, 0, deliver_at_us=SECOND_US)
    subscribe(node, out, B, kind, now_us=10)
    wake(node, out, "delayed:topic|subscription")
    holder = next(
        A if key == f"{A}.1" else B
        for key in node.subscription().consumers
        if node.subscription().unacked(key)
    )
    other = A + B - holder
    assert got(play(node, out, holder, Closed("reset"), now_us=2 * SECOND_US)) == [(other, 0)]


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER])
def test_where_one_has_everything_nothing_is_delayed(kind):
    node, out = broker(failover_delay_us=0)
    subscribe(node, out, A, kind)
    assert (
        got(send(node, out, 0, deliver_at_us=SECOND_US)) == [(A, 0)]
        and "delayed:topic|subscription" not in out.deadlines
    )


# --- drained slots


def drained(node, out, *acks, now_us=0):
    """a has messages 1 and 2, b has their slots now, and 1 and 2 came again."""
    subscribe(node, out, A, KEY_SHARED)
    send(node, out, 1, 2)
    subscribe(node, out, B, KEY_SHARED)
    assert send(node, out, 1, 2) == []
    return play(node, out, A, *acks, now_us=now_us)


def test_drained_slot_is_read_again_after_ten_milliseconds():
    node, out = broker(order=DRAINING)
    assert (
        drained(node, out, c.CommandAck(1, [0]), now_us=500) == []
        and out.deadlines["unblock:topic|subscription"] == 10_500
    )
    assert got(wake(node, out, "unblock:topic|subscription")) == [(B, 2)]


def test_read_that_comes_before_it_takes_what_may_go_and_the_timer_finds_nothing():
    node, out = broker(order=DRAINING)
    drained(node, out, c.CommandAck(1, [0]))
    assert got(play(node, out, B, c.CommandFlow(1, 1), now_us=2_000)) == [(B, 2)]
    assert wake(node, out, "unblock:topic|subscription") == []


def test_slot_that_drains_after_the_timer_sets_another_one():
    node, out = broker(order=DRAINING)
    drained(node, out, c.CommandAck(1, [0]))
    wake(node, out, "unblock:topic|subscription")
    play(node, out, A, c.CommandAck(1, [1]), now_us=SECOND_US)
    assert out.deadlines["unblock:topic|subscription"] == SECOND_US + 10_000
    assert got(wake(node, out, "unblock:topic|subscription")) == [(B, 3)]
