"""The ways of giving messages back, each against its rule in shared/vectors/pulsar/pulsar_facts.md, by
number; what they come to in a client is in `client/test_negative_acks.py`, `client/test_ack_timeout.py`,
`client/test_letters.py`, in a dispatcher in `dispatchers/test_batch_costs.py`."""

import pytest

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.again import ASK_AGAIN
from broker_core.pulsar.client.config import NEGATIVE_ACK_DELAY_US, Backoff, ConsumerConfig
from broker_core.pulsar.client.consumer import HoldAcks, Redeliver, Unsubscribe
from broker_core.pulsar.client.timeouts import TIME_OVER
from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave
from tests.core.playbook import play, wake
from tests.core.pulsar.brokers import A, B, P, broker
from tests.core.pulsar.client.programs import ONE, batch, consumer, done, messages

SECOND_US = 1_000_000
MANY, ONE_ACTIVE = [SHARED, KEY_SHARED], [EXCLUSIVE, FAILOVER]


def served(kind, *, entries=3, size=1, permits=1000, **settings):
    """Consumer a of a subscription of this type has been sent so many entries."""
    node, out = broker(failover_delay_us=0, **settings)
    play(node, out, A, c.CommandSubscribe(1, 1, "a", [], kind), c.CommandFlow(1, permits))
    for number in range(entries):
        first = 100 * number
        play(
            node,
            out,
            P,
            c.CommandSend(1, first, number, batch=tuple(range(first, first + size)) if size > 1 else ()),
        )
    return node, out


def join(node, out, kind, *, name="b", connection=B):
    return [
        one
        for one in play(
            node, out, connection, c.CommandSubscribe(1, 1, name, [], kind), c.CommandFlow(1, 1000)
        )
        if is_message(one)
    ]


def is_message(sent):
    return isinstance(sent[1], c.CommandMessage)


def again(*entries):
    return c.CommandRedeliverUnacknowledgedMessages(1, list(entries))


# --- 2.5, 3.18: one active consumer


@pytest.mark.parametrize("kind", ONE_ACTIVE)
def test_2_5_redelivery_rewinds_to_mark_delete_and_passes_over_what_is_acknowledged(kind):
    node, out = served(kind, entries=4)
    play(node, out, A, c.CommandAck(1, [0]), c.CommandAck(1, [2]))
    assert [message.entry for _, message in play(node, out, A, again())] == [1, 3]


def test_3_18_who_is_not_active_asks_in_vain_and_during_a_switch_everybody_does():
    node, out = broker(failover_delay_us=SECOND_US)
    for connection, name in ((A, "a"), (B, "b")):
        play(node, out, connection, c.CommandSubscribe(1, 1, name, [], FAILOVER), c.CommandFlow(1, 100))
    play(node, out, P, c.CommandSend(1, 0, 0))
    assert play(node, out, A, again()) == play(node, out, B, again()) == []
    wake(node, out, next(name for name in out.deadlines if name.startswith("switch")))
    active = next(iter(node.subscription().dispatcher.picker.active.split(".")))
    others = {A, B} - {int(active)}
    assert [is_message(one) for one in play(node, out, int(active), again())] == [True]
    assert [one for other in others for one in play(node, out, other, again())] == []


def test_3_18_single_positions_mean_everything():
    node, out = served(EXCLUSIVE)
    assert [message.entry for _, message in play(node, out, A, again(2))] == [0, 1, 2]


# --- 4.11 to 4.13, 9.11: many


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.parametrize("size", [1, 5])
def test_4_11_blocked_consumer_is_released_at_half_of_its_limit_in_messages(kind, size):
    node, out = served(kind, entries=5, size=size, unacked_max=4 * size)
    (known,) = node.subscription().attached.consumers.values()
    assert known.is_blocked and known.unacked == 4 * size
    assert play(node, out, A, c.CommandAck(1, [0])) == [] and known.is_blocked
    assert [message.entry for _, message in play(node, out, A, c.CommandAck(1, [1]))] == [
        4
    ] and not known.is_blocked


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.parametrize("end", [c.CommandCloseConsumer(2, 1), Closed("reset")])
def test_4_12_what_a_leaver_had_goes_to_the_others_and_its_redelivery_count_is_not_raised(kind, end):
    node, out = served(kind)
    join(node, out, kind)
    sent = [one for one in play(node, out, A, end) if is_message(one)]
    assert [(to, message.entry, message.redelivery_count) for to, message in sent] == [
        (B, 0, 0),
        (B, 1, 0),
        (B, 2, 0),
    ]


@pytest.mark.parametrize("kind", MANY)
def test_4_12_counts_are_lost_with_the_last_consumer_and_the_next_one_reads_from_mark_delete_on(kind):
    node, out = served(kind)
    play(node, out, A, again(0, 1), c.CommandAck(1, [1]))
    assert node.subscription().redelivery_counts == {0: 1}
    play(node, out, A, c.CommandCloseConsumer(2, 1))
    assert node.subscription().redelivery_counts == {}
    assert [(message.entry, message.redelivery_count) for _, message in join(node, out, kind)] == [
        (0, 0),
        (2, 0),
    ]


@pytest.mark.parametrize("kind", MANY)
def test_4_13_another_consumer_may_acknowledge(kind):
    node, out = served(kind)
    join(node, out, kind)
    play(node, out, B, c.CommandAck(1, [0, 2]))
    assert node.subscription().unacked(f"{A}.1") == [1]


def test_9_11_key_shared_leaver_is_out_of_the_selector_before_its_messages_are_shared_out():
    node, out = served(KEY_SHARED, entries=6)
    join(node, out, KEY_SHARED)
    sent = [
        to
        for to, message in play(node, out, A, c.CommandCloseConsumer(2, 1))
        if isinstance(message, c.CommandMessage)
    ]
    assert set(sent) == {B} and len(sent) == 6


# --- 11: batches


@pytest.mark.parametrize("kind", [*MANY, *ONE_ACTIVE])
def test_11_4_a_batch_is_one_position_and_permits_are_in_messages(kind):
    node, _ = served(kind, entries=2, size=5, permits=20)
    assert node.subscription().cursor.end == 2 and node.subscription().permits(f"{A}.1") == 10


@pytest.mark.parametrize("kind", [*MANY, *ONE_ACTIVE])
@pytest.mark.parametrize("by_index", [False, True])
def test_11_5_without_index_acks_an_entry_counts_when_all_its_messages_do(kind, by_index):
    node, out = consumer(kind, acks_batch_index=by_index, ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71))
    assert done(node, out) == ([c.CommandAck(ONE, [], False, {7: [0]})] if by_index else [])
    assert done(node, out) == [c.CommandAck(ONE, [7])]


# --- 12: acknowledgements, redelivery, dead letters


@pytest.mark.parametrize("kind", MANY)
def test_12_1_cumulative_is_refused_by_the_client_and_ignored_by_the_broker(kind):
    node, out = consumer(kind, acks_cumulatively=True, ack_group_us=0)
    play(node, out, 1, *messages(1))
    assert done(node, out) == [] and node.state.refused_acks == 1
    node, out = served(kind)
    assert play(node, out, A, c.CommandAck(1, [2], True)) == [] and node.subscription().cursor.backlog == 3


@pytest.mark.parametrize("kind", ONE_ACTIVE)
def test_12_1_cumulative_has_exactly_one_id_and_12_2_single_ones_are_allowed(kind):
    node, out = served(kind)
    play(node, out, A, c.CommandAck(1, [0, 1], True))
    assert node.subscription().cursor.mark_delete == -1
    play(node, out, A, c.CommandAck(1, [1]))
    assert (node.subscription().cursor.mark_delete, node.subscription().cursor.ranges) == (-1, [(0, 1)])


def test_12_3_to_12_6_ranges_backlog_and_rewind():
    cursor = Cursor(end=10, read_position=10)
    assert [cursor.ack(position) for position in range(1, 10)] == [True] * 9
    assert (cursor.mark_delete, cursor.ranges, cursor.backlog) == (-1, [(0, 9)], 1)
    assert not cursor.ack(5) and not cursor.ack(10) and cursor.backlog == 1
    cursor.rewind()
    assert cursor.read(10) == [0]
    assert cursor.ack(0) and (cursor.mark_delete, cursor.ranges, cursor.backlog) == (9, [], 0)


@pytest.mark.parametrize(("position", "backlog"), [("latest", 0), ("earliest", 2)])
def test_12_7_initial_position_is_for_a_new_subscription_only(position, backlog):
    node, out = broker()
    play(node, out, P, c.CommandSend(1, 0, 0), c.CommandSend(1, 1, 1))
    play(
        node, out, A, c.CommandSubscribe(1, 1, "a", [], SHARED, subscription="new", initial_position=position)
    )
    assert node.subscription("new").cursor.backlog == backlog
    play(
        node,
        out,
        B,
        c.CommandSubscribe(1, 1, "b", [], SHARED, subscription="new", initial_position="earliest"),
    )
    assert node.subscription("new").cursor.backlog == backlog


def test_12_8_negative_ack_one_minute_at_least_a_tenth_of_a_second_looked_at_each_third_for_a_whole_batch():
    assert ConsumerConfig().nack_delay_us == NEGATIVE_ACK_DELAY_US == 60 * SECOND_US
    for options, at_us, look_us in (
        ({}, 60 * SECOND_US, 20 * SECOND_US), ({"nack_delay_us": 5}, 100_000, 33_334),
        ({"backoff": Backoff(3 * SECOND_US, 60 * SECOND_US)}, 6 * SECOND_US, SECOND_US),
    ):  # fmt: skip
        node, out = consumer(cannot=70, **options)
        play(node, out, 1, batch(7, 70, 71, count=1))
        done(node, out)
        assert node.state.waits_again == [(100 + at_us, ONE, 7)] and out.deadlines[ASK_AGAIN] == 100 + look_us


def test_12_9_ack_time_out_is_off_by_default():
    node, out = consumer()
    play(node, out, 1, *messages(1))
    assert TIME_OVER not in out.deadlines


@pytest.mark.parametrize(
    ("kind", "asked"), [*[(kind, [1]) for kind in MANY], *[(kind, []) for kind in ONE_ACTIVE]]
)
def test_12_10_single_ids_are_asked_for_where_many_share_and_everything_elsewhere(kind, asked):
    for options in ({"cannot": 1, "nack_delay_us": 100_000}, {"ack_timeout_us": SECOND_US}):
        node, out = consumer(kind, **options)
        play(node, out, PERSON, HoldAcks())
        play(node, out, 1, *messages(1))
        done(node, out)
        while not (
            sent := wake(node, out, next(name for name in (ASK_AGAIN, TIME_OVER) if name in out.deadlines))
        ):
            pass
        assert [command for _, command in sent] == [c.CommandRedeliverUnacknowledgedMessages(ONE, asked)]


def test_12_11_redelivery_of_single_positions_blocks_no_hash_in_3_2():
    node, out = served(KEY_SHARED, entries=1, permits=1)
    assert play(node, out, A, again(0)) == [] and node.subscription().attached.replay.counts == {}


@pytest.mark.parametrize("kind", MANY)
def test_12_12_count_rises_with_each_request_and_travels_with_the_message(kind):
    node, out = served(kind, entries=1)
    assert [
        message.redelivery_count for times in range(3) for _, message in play(node, out, A, again(0))
    ] == [1, 2, 3]
    assert [message.redelivery_count for _, message in play(node, out, A, again())] == [4], (
        "redeliverUnacknowledgedMessages() counts, too"
    )


@pytest.mark.parametrize("kind", MANY)
def test_12_13_client_and_broker_together_deliver_once_more_than_the_maximum_and_then_bury(kind):
    broker_node, at_broker = served(kind, entries=1)
    client, at_client = consumer(kind, cannot=1, max_redeliver=2, nack_delay_us=100_000, ack_group_us=0)
    client.key_of = lambda message: 4
    coming, seen = [c.CommandMessage(1, 0, 0)], []
    while coming:
        seen += [message.redelivery_count for message in coming]
        play(client, at_client, 1, *coming)
        done(client, at_client)
        while not (said := [command for _, command in wake(client, at_client, ASK_AGAIN)]):
            pass
        coming = [
            message
            for command in said
            for _, message in play(broker_node, at_broker, A, command)
            if isinstance(message, c.CommandMessage)
        ]
    assert seen == [0, 1, 2] and broker_node.subscription().cursor.mark_delete == 0
    (letter,) = broker_node.topic("topic-subscription-DLQ", -1).ledger.entries.values()
    assert (letter.message, letter.key, broker_node.topic("topic-subscription-DLQ", -1).subscriptions) == (
        0,
        4,
        {},
    )


@pytest.mark.parametrize("kind", ONE_ACTIVE)
def test_12_14_disconnect_rewinds_for_the_next_active_one_and_12_15_what_is_acknowledged_decides(kind):
    node, out = served(kind, entries=5)
    play(node, out, A, c.CommandAck(1, [1], True), c.CommandAck(1, [3]))
    play(node, out, A, c.CommandCloseConsumer(2, 1))
    assert [message.entry for _, message in join(node, out, kind)] == [2, 4]


# --- the client's own ends


@pytest.mark.parametrize("kind", [*MANY, *ONE_ACTIVE])
def test_everything_is_asked_for_at_once_and_the_queue_is_dropped(kind):
    node, out = consumer(kind, queue_size=4, ack_timeout_us=SECOND_US, cannot=9, nack_delay_us=60 * SECOND_US)
    play(node, out, 1, *messages(9), *messages(1, 2, 3))
    done(node, out)
    sent = [command for _, command in play(node, out, PERSON, Redeliver())]
    assert sent == [c.CommandRedeliverUnacknowledgedMessages(ONE, []), c.CommandFlow(ONE, 2)]
    assert not node.state.queue and node.state.tracked == [] and node.state.hand.entry == 1
    assert len(node.state.waits_again) == 1, (
        "negative acknowledgements are still sent when their delay is over"
    )


@pytest.mark.parametrize("kind", [*MANY, *ONE_ACTIVE])
def test_closing_sends_what_was_acknowledged_and_forgets_the_rest(kind):
    node, out = consumer(kind, cannot=9, max_redeliver=1)
    play(node, out, 1, *messages(1, 9, 2))
    done(node, out, 2)
    sent = [command for _, command in play(node, out, PERSON, Leave())]
    assert [type(command) for command in sent] == [c.CommandAck, c.CommandCloseConsumer] and sent[
        0
    ].entries == [1]
    assert node.state.waits_again == node.state.tracked == [] and not {ASK_AGAIN, TIME_OVER, DONE} & set(
        out.deadlines
    )


@pytest.mark.parametrize("kind", [*MANY, *ONE_ACTIVE])
def test_unsubscribing_takes_the_cursor_and_nothing_is_given_back(kind):
    node, out = served(kind)
    assert [type(message) for _, message in play(node, out, A, c.CommandUnsubscribe(5, 1))] == [
        c.CommandSuccess
    ]
    assert node.find() is None
    client, at_client = consumer(kind)
    assert [type(command) for _, command in play(client, at_client, PERSON, Unsubscribe())] == [
        c.CommandUnsubscribe
    ]
