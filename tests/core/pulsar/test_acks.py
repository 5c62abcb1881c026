"""How a consuming program acknowledges: everything up to a message, place by place of a batch, late, or not
at all."""

import pytest

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.config import ConsumerConfig
from broker_core.pulsar.client.consumer import (
    Consumer,
    HoldAcks,
    ReleaseAcks,
    Resubscribe,
    Seek,
    Subscribe,
    Unsubscribe,
)
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.settings import FAILOVER, KEY_SHARED, SHARED
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Pace, Program
from tests.core.playbook import Counted, Played, play, wake

TIMEOUT_US = 2_000_000


def consumer(kind=KEY_SHARED, queue_size=1000, **options):
    state, out = (
        ConsumerState("c1", Program(100), ConsumerConfig(kind, queue_size=queue_size, **options)),
        Played("c1"),
    )
    node = Consumer(state, Counted(), lambda message: message + 50)
    for number, _ in enumerate(play(node, out, PERSON, Subscribe("broker", [])), 1):
        play(node, out, 1, c.CommandSuccess(number))
    return node, out


def messages(*numbers, consumer_id=1):
    return [c.CommandMessage(consumer_id, number, number) for number in numbers]


def handle(node, out, *numbers, **options):
    play(node, out, 1, *messages(*numbers, **options))
    return [command for _ in numbers for command in wake(node, out, DONE)]


def third_look(node, out):
    """The tracker looks at each third of the delay."""
    return [command for _ in range(3) for command in wake(node, out, "ask_again")]


def test_cumulative_acknowledgement_names_the_last_one():
    node, out = consumer(FAILOVER, acks_cumulatively=True)
    handle(node, out, 5, 6)
    assert wake(node, out, "acks") == [(1, c.CommandAck(1, [6], True))]


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_where_many_are_active_its_own_client_refuses_it_and_nothing_is_acknowledged(kind):
    node, out = consumer(kind, acks_cumulatively=True)
    handle(node, out, 5, 6)
    assert [(told, data["error"]) for told, data in out.told] == [
        ("pulsar.ack.refused", "InvalidConfigurationException")
    ]
    assert node.state.refused_acks == 2 and "acks" not in out.deadlines and node.state.parts[1].acks == []


def test_batch_index_acknowledgement_tells_the_broker_of_each_place():
    node, out = consumer(acks_batch_index=True)
    play(node, out, 1, c.CommandMessage(1, 7, 20, 0, (20, 21, 22)))
    wake(node, out, DONE)
    wake(node, out, DONE)
    assert wake(node, out, "acks") == [(1, c.CommandAck(1, [], False, {7: [0, 1]}))]
    wake(node, out, DONE)
    assert wake(node, out, "acks") == [(1, c.CommandAck(1, [7]))]


def test_rest_of_a_batch_that_comes_again_is_the_places_that_were_left():
    node, out = consumer(ack_group_us=0)
    play(node, out, 1, c.CommandMessage(1, 7, 20, 1, (21, 22), (1, 2)))
    assert wake(node, out, DONE) == [] and node.state.parts[1].batches == {7: [2]}
    assert wake(node, out, DONE) == [(1, c.CommandAck(1, [7]))]


def test_stuck_program_handles_everything_and_acknowledges_when_it_is_released():
    node, out = consumer(ack_group_us=0)
    play(node, out, PERSON, HoldAcks())
    assert handle(node, out, 5, 6) == [] and node.state.program.finished == 2
    assert play(node, out, PERSON, ReleaseAcks()) == [(1, c.CommandAck(1, [5])), (1, c.CommandAck(1, [6]))]
    assert node.state.held == [] and handle(node, out, 7) == [(1, c.CommandAck(1, [7]))]


def test_ack_timeout_asks_for_what_a_stuck_program_holds_each_at_its_time():
    node, out = consumer(ack_timeout_us=TIMEOUT_US)
    play(node, out, PERSON, HoldAcks())
    play(node, out, PERSON, Pace(1_000_000))
    handle(node, out, 5, 6)
    assert out.deadlines["time_over"] == TIMEOUT_US + 1_000_000, "it is counted in ticks of a second"
    assert wake(node, out, "time_over") == [(1, c.CommandRedeliverUnacknowledgedMessages(1, [5]))]
    assert out.deadlines["time_over"] == TIMEOUT_US + 2_000_000 and [
        message.entry for message in node.state.held
    ] == [6]
    play(node, out, PERSON, ReleaseAcks())
    assert "time_over" not in out.deadlines and node.state.parts[1].acks == [6]


def test_acknowledged_message_has_no_clock_any_more():
    node, out = consumer(ack_timeout_us=TIMEOUT_US, ack_group_us=0)
    play(node, out, 1, *messages(5, 6))
    wake(node, out, DONE)
    assert node.state.tracked == [(1_000_000 + TIMEOUT_US, 1, 6, -1)]


def test_where_one_is_active_it_asks_for_everything_and_drops_what_it_has_not_taken():
    node, out = consumer(FAILOVER, queue_size=4, ack_timeout_us=50)
    play(node, out, 1, *messages(5, 6, 7))
    sent = wake(node, out, "time_over")
    assert sent == [(1, c.CommandRedeliverUnacknowledgedMessages(1, [])), (1, c.CommandFlow(1, 3))]
    assert (
        not node.state.queue
        and node.traffic.log == [("dropped", 6), ("dropped", 7)]
        and node.state.hand.entry == 5
    )


def test_negative_acknowledgement_of_failover_reads_again_too():
    node, out = consumer(FAILOVER, cannot=5, nack_delay_us=100_000)
    handle(node, out, 5)
    play(node, out, 1, *messages(6, 7))
    assert third_look(node, out) == [(1, c.CommandRedeliverUnacknowledgedMessages(1, []))]
    assert not node.state.queue and node.state.waits_again == []


def test_retry_letter_is_delivered_later_and_in_the_end_is_a_dead_letter():
    node, out = consumer(
        SHARED, cannot=5, uses_retry_topic=True, max_redeliver=2, nack_delay_us=3_000_000, ack_group_us=0
    )
    assert [part.topic for part in node.state.parts.values()] == ["topic", "topic-subscription-RETRY"]
    sent = handle(node, out, 5)
    retry = c.CommandProducer(1_000_001, "topic-subscription-RETRY", -1, "c1-1-RETRY")
    assert sent == [
        (1, retry),
        (1, c.CommandSend(1_000_001, 5, 55, sequence_id=0, deliver_at_us=3_000_100, reconsumed=1)),
        (1, c.CommandAck(1, [5])),
    ]
    play(node, out, 1, c.CommandMessage(2, 0, 5, 0, (), (), 1))
    again = c.CommandSend(1_000_001, 5, 55, sequence_id=1, deliver_at_us=3_000_100, reconsumed=2)
    assert wake(node, out, DONE)[0] == (1, again), "its producer is there already"
    play(node, out, 1, c.CommandMessage(2, 1, 5, 0, (), (), 2))
    sent = wake(node, out, DONE)
    assert sent[0] == (1, c.CommandProducer(1_000_000, "topic-subscription-DLQ", -1, "c1-1-DLQ")) and sent[
        2
    ] == (1, c.CommandAck(2, [1]))


def test_without_a_policy_a_retry_letter_gives_up_after_sixteen_times():
    node, out = consumer(SHARED, cannot=5, uses_retry_topic=True)
    for times, topic in ((15, "topic-subscription-RETRY"), (16, "topic-subscription-DLQ")):
        play(node, out, 1, c.CommandMessage(2, times, 5, 0, (), (), times))
        assert wake(node, out, DONE)[0][1].topic == topic


def test_another_priority_means_another_subscription_of_the_same_consumer():
    node, out = consumer(SHARED)
    sent = play(node, out, PERSON, Resubscribe([], 3))
    assert [type(command).__name__ for _, command in sent] == ["CommandCloseConsumer", "CommandSubscribe"]
    assert sent[1][1].priority_level == 3


@pytest.mark.parametrize("order", [Seek(3), Unsubscribe()])
def test_who_is_not_connected_orders_nothing(order):
    node, out = consumer()
    play(node, out, 1, Closed("reset"))
    assert play(node, out, PERSON, order) == []


def test_closed_connection_forgets_what_was_held_and_whose_time_runs():
    node, out = consumer(ack_timeout_us=TIMEOUT_US)
    play(node, out, PERSON, HoldAcks())
    handle(node, out, 5)
    play(node, out, 1, Closed("reset"))
    assert node.state.held == [] and node.state.tracked == [] and "time_over" not in out.deadlines


def asked_again(node, out, *after):
    """Of entry 7, three messages, the first cannot be handled; its time has come while the program has the
    second in hand."""
    play(node, out, 1, c.CommandMessage(1, 7, 20, 0, (20, 21, 22)), *messages(*after))
    wake(node, out, DONE)
    assert node.state.program.hand == 21
    return third_look(node, out)


def entries(node):
    return [message.entry for message in node.state.queue]


def test_what_is_asked_for_again_leaves_the_front_of_the_queue_with_the_message_behind_it():
    node, out = consumer(queue_size=6, cannot=20, nack_delay_us=100_000)
    assert node.state.parts[1].taken == 0
    assert asked_again(node, out, 8, 9) == [
        (1, c.CommandRedeliverUnacknowledgedMessages(1, [7, 8])),
        (1, c.CommandFlow(1, 4)),
    ]
    assert entries(node) == [9]


def test_nothing_leaves_a_queue_that_begins_with_another_entry():
    node, out = consumer(ack_group_us=0, cannot=20, nack_delay_us=100_000)
    play(node, out, 1, c.CommandMessage(1, 7, 20, 0, (20,)), *messages(5, 6, 8))
    assert wake(node, out, DONE) == [] and node.state.program.hand == 5
    assert third_look(node, out) == [(1, c.CommandRedeliverUnacknowledgedMessages(1, [7]))] and entries(
        node
    ) == [6, 8]


def test_message_of_a_batch_that_was_asked_for_again_completes_nothing():
    node, out = consumer(ack_group_us=0, cannot=20, nack_delay_us=100_000)
    assert (
        asked_again(node, out) == [(1, c.CommandRedeliverUnacknowledgedMessages(1, [7]))]
        and entries(node) == []
    )
    assert wake(node, out, DONE) == [], "the batch comes again, whole"
    assert node.state.parts[1].batches == {} and node.state.program.finished == 1


def test_batch_that_comes_again_is_complete_when_its_own_messages_are_done():
    node, out = consumer(ack_group_us=0, cannot=20, nack_delay_us=100_000)
    asked_again(node, out)
    node.state.config.cannot = 0
    play(node, out, 1, c.CommandMessage(1, 7, 20, 1, (20, 21, 22)))
    handled = [wake(node, out, DONE) for _ in range(4)]  # one of the old delivery, three of the new one
    assert handled == [[], [], [], [(1, c.CommandAck(1, [7]))]]


def test_place_of_a_batch_that_was_asked_for_again_still_counts_with_batch_index_acknowledgement():
    node, out = consumer(ack_group_us=0, acks_batch_index=True, cannot=20, nack_delay_us=100_000)
    asked_again(node, out)
    assert wake(node, out, DONE) == [(1, c.CommandAck(1, [], False, {7: [1]}))]


def test_failover_asks_for_everything_again_and_the_one_in_hand_completes_nothing():
    node, out = consumer(FAILOVER, ack_group_us=0, cannot=20, nack_delay_us=100_000)
    assert (1, c.CommandRedeliverUnacknowledgedMessages(1, [])) in asked_again(node, out)
    assert wake(node, out, DONE) == [] and node.state.program.hand == -1


def test_batch_that_arrives_twice_is_complete_with_its_last_delivery():
    node, out = consumer(ack_group_us=0)
    play(node, out, 1, c.CommandMessage(1, 7, 20, 1, (20, 21)), c.CommandMessage(1, 7, 20, 2, (20, 21)))
    assert [wake(node, out, DONE) for _ in range(4)] == [[], [], [], [(1, c.CommandAck(1, [7]))]]
