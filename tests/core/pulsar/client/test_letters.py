"""Retry letters and dead letters: when a message is one, which topic it goes to, with what, and that it is
acknowledged where it came from."""

import pytest

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.again import ASK_AGAIN
from broker_core.pulsar.client.config import Backoff
from broker_core.pulsar.client.consumer import HoldAcks, Redeliver, ReleaseAcks, Resubscribe, Subscribe
from broker_core.pulsar.client.letters import DLQ_PRODUCER_ID, RETRY_PRODUCER_ID
from broker_core.pulsar.client.timeouts import TIME_OVER
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Pace
from tests.core.playbook import play, wake
from tests.core.pulsar.client.programs import ONE, TWO, batch, consumer, done, dropped, messages

SECOND_US = 1_000_000
RETRY, DLQ = "topic-subscription-RETRY", "topic-subscription-DLQ"


def given_back(node, out, entry, *, count=0, reconsumed=0, consumer_id=ONE, now_us=0):
    """What the client sends about a message that its program cannot handle, until it has asked for it or for
    nothing."""
    sent = play(
        node, out, 1, c.CommandMessage(consumer_id, entry, 5, count, (), (), reconsumed), now_us=now_us
    )
    sent = [command for _, command in sent] + (done(node, out) if DONE in out.deadlines else [])
    while not sent and ASK_AGAIN in out.deadlines:
        sent = [command for _, command in wake(node, out, ASK_AGAIN)]
    return sent


def kinds(sent):
    return [type(command) for command in sent]


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
@pytest.mark.parametrize(
    ("most", "count", "is_dead"),
    [(1, 0, False), (1, 1, True), (3, 2, False), (3, 3, True), (3, 4, True), (0, 99, False)],
)
def test_message_is_a_dead_letter_once_it_has_been_asked_for_as_often_as_it_may_be(
    kind, most, count, is_dead
):
    node, out = consumer(kind, cannot=5, max_redeliver=most, ack_group_us=0)
    sent = given_back(node, out, 9, count=count)
    assert kinds(sent) == (
        [c.CommandProducer, c.CommandSend, c.CommandAck]
        if is_dead
        else [c.CommandRedeliverUnacknowledgedMessages]
    )
    assert node.state.waits_again == [] and node.state.parts[ONE].candidates == {}


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_nothing_is_sent_before_the_delay_of_the_last_negative_acknowledgement_is_over(kind):
    node, out = consumer(kind, cannot=5, max_redeliver=1, ack_group_us=0, nack_delay_us=9 * SECOND_US)
    play(node, out, 1, c.CommandMessage(ONE, 9, 5, 1))
    assert done(node, out) == [] and node.state.waits_again == [(9 * SECOND_US + 100, ONE, 9)]
    assert [wake(node, out, ASK_AGAIN) for _ in range(2)] == [[], []]
    assert kinds([command for _, command in wake(node, out, ASK_AGAIN)]) == [
        c.CommandProducer,
        c.CommandSend,
        c.CommandAck,
    ]


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_time_out_leads_to_a_dead_letter_as_a_negative_acknowledgement_does(kind):
    node, out = consumer(kind, max_redeliver=1, ack_group_us=0, ack_timeout_us=2 * SECOND_US)
    play(node, out, PERSON, HoldAcks())
    play(node, out, 1, c.CommandMessage(ONE, 8, 4, 0), c.CommandMessage(ONE, 9, 5, 1))
    done(node, out, 2)
    sent = [command for _, command in wake(node, out, TIME_OVER)]
    assert kinds(sent) == [
        c.CommandProducer,
        c.CommandSend,
        c.CommandAck,
        c.CommandRedeliverUnacknowledgedMessages,
    ]
    assert sent[1].message == 5 and sent[2] == c.CommandAck(ONE, [9]) and sent[3].entries == [8]
    assert play(node, out, PERSON, ReleaseAcks()) == [] and node.state.held == []


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_message_that_comes_once_more_than_it_may_is_a_dead_letter_on_arrival_and_its_permit_is_granted_again(
    kind,
):
    node, out = consumer(kind, max_redeliver=1, ack_group_us=0, queue_size=2)
    sent = [command for _, command in play(node, out, 1, c.CommandMessage(ONE, 9, 5, 2))]
    assert kinds(sent) == [c.CommandProducer, c.CommandSend, c.CommandAck, c.CommandFlow]
    assert node.state.hand is None and node.traffic.received_count == 0


def test_candidate_that_is_acknowledged_is_none_any_more():
    node, out = consumer(max_redeliver=1, ack_group_us=0)
    play(node, out, 1, c.CommandMessage(ONE, 9, 5, 1))
    assert list(node.state.parts[ONE].candidates) == [9]
    assert done(node, out) == [c.CommandAck(ONE, [9])] and node.state.parts[ONE].candidates == {}


def test_candidate_in_the_queue_behind_one_that_is_asked_for_is_a_dead_letter_with_it():
    """removeExpiredMessagesFromQueue asks for it as well, and each that is asked for is looked at."""
    node, out = consumer(cannot=5, max_redeliver=1, ack_group_us=0, nack_delay_us=100_000, queue_size=100)
    play(node, out, PERSON, Pace(100_000))
    came = [(9, 5, 0), (10, 6, 0), (9, 5, 1), (11, 7, 1)]
    play(node, out, 1, *[c.CommandMessage(ONE, entry, number, count) for entry, number, count in came])
    done(node, out)
    sent = []
    while not sent:
        sent = [command for _, command in wake(node, out, ASK_AGAIN)]
    assert [command.message for command in sent if isinstance(command, c.CommandSend)] == [5, 7]
    assert dropped(node) == [5, 5, 7] and not node.state.queue and node.state.hand.entry == 10


def test_who_asks_for_everything_makes_no_dead_letters_by_it():
    node, out = consumer(max_redeliver=1, ack_group_us=0)
    play(node, out, PERSON, HoldAcks())
    play(node, out, 1, c.CommandMessage(ONE, 9, 5, 1), *messages(10))
    done(node, out)
    sent = [command for _, command in play(node, out, PERSON, Redeliver())]
    assert sent == [c.CommandRedeliverUnacknowledgedMessages(ONE, [])] and list(
        node.state.parts[ONE].candidates
    ) == [9]


@pytest.mark.parametrize(("options", "count"), [({}, 16), ({"max_redeliver": 2}, 2)])
def test_retry_letter_topic_has_a_policy_of_its_own_for_what_times_out(options, count):
    node, out = consumer(uses_retry_topic=True, ack_timeout_us=SECOND_US, ack_group_us=0, **options)
    for entry, times in ((8, count - 1), (9, count)):
        play(node, out, 1, c.CommandMessage(ONE, entry, entry, times))
    assert list(node.state.parts[ONE].candidates) == [9]


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER])
def test_where_one_has_everything_there_are_no_dead_letters(kind):
    """Nobody counts there how often a message has been asked for."""
    node, out = consumer(kind, cannot=5, max_redeliver=1, ack_group_us=0)
    assert given_back(node, out, 9, count=7) == [c.CommandRedeliverUnacknowledgedMessages(ONE, [])]


def test_dead_letter_keeps_its_key_and_is_delivered_at_once():
    node, out = consumer(cannot=5, max_redeliver=1, ack_group_us=0)
    sent = given_back(node, out, 9, count=1)
    assert sent == [
        c.CommandProducer(DLQ_PRODUCER_ID, DLQ, -1, "c1-1-DLQ"),
        c.CommandSend(DLQ_PRODUCER_ID, 5, 55, sequence_id=0),
        c.CommandAck(ONE, [9]),
    ]


def test_producer_of_dead_letters_is_made_once_and_numbers_them():
    node, out = consumer(cannot=5, max_redeliver=1, ack_group_us=0)
    sent = [command for entry in (9, 10, 11) for command in given_back(node, out, entry, count=1)]
    assert kinds(sent).count(c.CommandProducer) == 1
    assert [command.sequence_id for command in sent if isinstance(command, c.CommandSend)] == [0, 1, 2]


def test_letters_of_both_kinds_have_a_producer_and_numbers_each():
    node, out = consumer(cannot=5, max_redeliver=1, uses_retry_topic=True, ack_group_us=0)
    sent = [
        command
        for entry in (1, 2, 3, 4)
        for command in given_back(node, out, entry, reconsumed=1 - entry % 2)
    ]
    assert [
        (command.producer_id, command.name) for command in sent if isinstance(command, c.CommandProducer)
    ] == [
        (RETRY_PRODUCER_ID, "c1-1-RETRY"),
        (DLQ_PRODUCER_ID, "c1-1-DLQ"),
    ]
    letters = [
        (command.producer_id, command.sequence_id) for command in sent if isinstance(command, c.CommandSend)
    ]
    assert letters == [
        (RETRY_PRODUCER_ID, 0),
        (DLQ_PRODUCER_ID, 0),
        (RETRY_PRODUCER_ID, 1),
        (DLQ_PRODUCER_ID, 1),
    ]


def test_letters_are_named_after_topic_and_subscription_and_not_after_the_partition():
    node, out = consumer(
        cannot=5, max_redeliver=1, topic="orders", subscription="billing", partitions=2, ack_group_us=0
    )
    sent = given_back(node, out, 9, count=1, consumer_id=TWO)
    assert (sent[0].topic, sent[0].partition) == ("orders-billing-DLQ", -1) and sent[2] == c.CommandAck(
        TWO, [9]
    )


@pytest.mark.parametrize(("most", "reconsumed", "topic"), [
    (2, 0, RETRY), (2, 1, RETRY), (2, 2, DLQ), (2, 3, DLQ), (0, 0, RETRY), (0, 15, RETRY), (0, 16, DLQ),
])  # fmt: skip
def test_retry_letter_counts_its_rounds_by_itself_and_gives_up_after_the_last(most, reconsumed, topic):
    node, out = consumer(cannot=5, max_redeliver=most, uses_retry_topic=True, ack_group_us=0)
    _, letter, ack = given_back(node, out, 9, reconsumed=reconsumed, consumer_id=TWO)
    assert letter.reconsumed == (reconsumed + 1 if topic == RETRY else 0) and ack == c.CommandAck(TWO, [9])
    assert list(node.state.letters) == [RETRY_PRODUCER_ID if topic == RETRY else DLQ_PRODUCER_ID]


@pytest.mark.parametrize(
    ("options", "count", "delay_us"),
    [
        ({"nack_delay_us": 3 * SECOND_US}, 0, 3 * SECOND_US),
        ({}, 0, 60 * SECOND_US),
        ({"backoff": Backoff(SECOND_US, 5 * SECOND_US)}, 0, SECOND_US),
        ({"backoff": Backoff(SECOND_US, 5 * SECOND_US)}, 2, 4 * SECOND_US),
    ],
)
def test_retry_letter_is_to_be_delivered_after_the_delay_from_now_on(options, count, delay_us):
    node, out = consumer(cannot=5, uses_retry_topic=True, ack_group_us=0, **options)
    _, letter, _ = given_back(node, out, 9, count=count, now_us=7 * SECOND_US)
    assert letter.deliver_at_us == 7 * SECOND_US + 100 + delay_us and letter.key == 55


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER, SHARED, KEY_SHARED])
def test_retry_letters_are_for_every_type_and_nothing_is_asked_for_again(kind):
    node, out = consumer(kind, cannot=5, uses_retry_topic=True, max_redeliver=1, ack_group_us=0)
    assert kinds(given_back(node, out, 9)) == [c.CommandProducer, c.CommandSend, c.CommandAck]
    assert node.state.waits_again == [] and "ask_again" not in out.deadlines


def test_acknowledgement_for_a_letter_gathers_with_the_others():
    node, out = consumer(cannot=5, max_redeliver=1)
    play(node, out, 1, *messages(1), c.CommandMessage(ONE, 9, 5, 2), *messages(2))
    assert kinds([command for _, command in out.sent]) == [] and node.state.parts[ONE].acks == [9]
    done(node, out, 2)
    assert node.state.parts[ONE].acks == [9, 1, 2] and wake(node, out, "acks") == [
        (1, c.CommandAck(ONE, [9, 1, 2]))
    ]


def test_all_that_came_of_a_batch_are_dead_letters_together_also_what_was_handled():
    """possibleSendToDeadLetterTopicMessages keeps an entry with its messages."""
    node, out = consumer(cannot=5, max_redeliver=1, ack_group_us=0)
    play(node, out, 1, batch(9, 4, 5, 6, count=1))
    assert done(node, out, 3) == []
    sent = []
    while not sent:
        sent = [command for _, command in wake(node, out, ASK_AGAIN)]
    assert [command.message for command in sent if isinstance(command, c.CommandSend)] == [4, 5, 6] and sent[
        -1
    ] == c.CommandAck(ONE, [9])
    assert node.state.parts[ONE].batches == {}


def test_of_a_batch_that_was_acknowledged_in_part_the_rest_are_dead_letters():
    node, out = consumer(cannot=5, max_redeliver=1, ack_group_us=0, acks_batch_index=True, queue_size=4)
    sent = [command for _, command in play(node, out, 1, c.CommandMessage(ONE, 9, 5, 2, (5, 6), (1, 2)))]
    assert [command.message for command in sent if isinstance(command, c.CommandSend)] == [5, 6]
    assert sent[-2:] == [c.CommandAck(ONE, [9]), c.CommandFlow(ONE, 2)] and node.traffic.received_count == 0


def test_batch_of_which_one_message_is_a_retry_letter_is_acknowledged_with_its_last_one():
    node, out = consumer(cannot=5, uses_retry_topic=True, ack_group_us=0)
    play(node, out, 1, batch(9, 4, 5, 6))
    assert [kinds(done(node, out)) for _ in range(3)] == [
        [],
        [c.CommandProducer, c.CommandSend],
        [c.CommandAck],
    ]


def test_message_that_is_a_letter_now_has_no_clock_of_the_ack_timeout():
    node, out = consumer(cannot=5, max_redeliver=1, ack_timeout_us=SECOND_US)
    given_back(node, out, 9, count=1)
    assert node.state.tracked == [] and "time_over" not in out.deadlines


def test_same_connection_keeps_its_producers_when_its_consumer_subscribes_again():
    node, out = consumer(cannot=5, max_redeliver=1, ack_group_us=0)
    given_back(node, out, 9, count=1)
    play(node, out, PERSON, Resubscribe([]))
    play(node, out, 1, c.CommandSuccess(3))
    assert given_back(node, out, 10, count=1) == [
        c.CommandSend(DLQ_PRODUCER_ID, 5, 55, sequence_id=1),
        c.CommandAck(ONE, [10]),
    ]


@pytest.mark.parametrize("end", [Closed("reset"), Leave()])
def test_next_connection_has_a_producer_of_its_own_or_its_letters_would_be_lost(end):
    """The broker ignores a message of a producer that it does not know, and the consumer would acknowledge it
    all the same."""
    node, out = consumer(cannot=5, max_redeliver=1, ack_group_us=0)
    given_back(node, out, 9, count=1)
    play(node, out, PERSON if isinstance(end, Leave) else 1, end)
    ((connection, subscribe),) = play(node, out, PERSON, Subscribe("broker", []))
    play(node, out, connection, c.CommandSuccess(subscribe.request_id))
    assert given_back(node, out, 10, count=1) == [
        c.CommandProducer(DLQ_PRODUCER_ID, DLQ, -1, "c1-2-DLQ"),
        c.CommandSend(DLQ_PRODUCER_ID, 5, 55, sequence_id=0),
        c.CommandAck(ONE, [10]),
    ]
