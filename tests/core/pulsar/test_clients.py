"""The client programs on their own."""

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.config import Backoff, ConsumerConfig
from broker_core.pulsar.client.consumer import Consumer, Resubscribe, Subscribe, Unsubscribe
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.client.producer import Open, Producer, ProducerState
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Pause, Program, Resume
from tests.core.playbook import Counted, Played, play, wake


def consumer(queue_size=1000, **options):
    counted = Counted()
    node, out = (
        Consumer(
            ConsumerState("c1", Program(100), ConsumerConfig(queue_size=queue_size, **options)), counted
        ),
        Played("c1"),
    )
    assert play(node, out, PERSON, Subscribe("broker", [])) == [(1, c.CommandSubscribe(1, 1, "c1", []))]
    assert play(node, out, 1, c.CommandSuccess(1)) == [(1, c.CommandFlow(1, queue_size))]
    return node, out, counted


def messages(*numbers):
    return [c.CommandMessage(1, number, number) for number in numbers]


def test_permits_are_granted_again_when_half_of_the_queue_has_been_taken():
    node, out, _ = consumer(queue_size=4)
    play(node, out, 1, *messages(0, 1, 2, 3))
    assert out.take() == []
    assert wake(node, out, DONE) == [(1, c.CommandFlow(1, 2))]
    assert wake(node, out, DONE) == []
    assert wake(node, out, DONE) == [(1, c.CommandFlow(1, 2))]


def test_acknowledgements_of_a_tenth_of_a_second_go_together():
    node, out, _ = consumer()
    play(node, out, 1, *messages(5, 6))
    wake(node, out, DONE)
    assert out.deadlines["acks"] == 100 + c.ACK_GROUP_US
    wake(node, out, DONE)
    assert wake(node, out, "acks") == [(1, c.CommandAck(1, [5, 6]))]


def test_without_grouping_each_message_is_acknowledged_at_once():
    node, out, _ = consumer(ack_group_us=0)
    play(node, out, 1, *messages(5))
    assert wake(node, out, DONE) == [(1, c.CommandAck(1, [5]))]


def test_leaving_acknowledges_what_was_handled_and_drops_the_rest():
    node, out, counted = consumer()
    play(node, out, 1, *messages(5, 6))
    wake(node, out, DONE)
    assert play(node, out, PERSON, Leave()) == [(1, c.CommandAck(1, [5])), (1, c.CommandCloseConsumer(2, 1))]
    assert counted.log[-1] == ("dropped", 6) and out.closed == [1] and "acks" not in out.deadlines


def test_messages_that_its_queue_drops_are_counted_as_dropped():
    node, out, counted = consumer()
    play(node, out, 1, *messages(5, 6, 7))
    play(node, out, PERSON, Resubscribe([(0, 9)]))
    assert counted.log == [("dropped", 5), ("dropped", 6), ("dropped", 7)]
    assert node.state.ranges == [(0, 9)]


def test_new_ranges_mean_a_new_subscription_and_what_was_under_way_is_ignored():
    node, out, _ = consumer()
    assert play(node, out, PERSON, Resubscribe([(0, 9)])) == [
        (1, c.CommandCloseConsumer(2, 1)),
        (1, c.CommandSubscribe(3, 1, "c1", [(0, 9)])),
    ]
    play(node, out, 1, *messages(7))
    assert play(node, out, 1, c.CommandSuccess(2)) == []
    assert play(node, out, 1, c.CommandSuccess(3)) == [(1, c.CommandFlow(1, 1000))]
    assert not node.state.queue


def test_paused_program_keeps_what_it_receives():
    node, out, _ = consumer()
    play(node, out, PERSON, Pause())
    play(node, out, 1, *messages(5))
    assert [message.message for message in node.state.queue] == [5]
    play(node, out, PERSON, Resume())
    assert node.state.program.hand == 5


def test_refusal_is_remembered_by_its_name():
    node, out, _ = consumer()
    play(node, out, 1, c.CommandError(1, "ConsumerAssignError", "Range conflict"))
    assert node.state.refused == "ConsumerAssignError"


def test_closed_connection_drops_everything():
    node, out, counted = consumer()
    play(node, out, 1, *messages(5), Closed("reset"))
    assert counted.log[-1] == ("dropped", 5) and not node.state.is_subscribed


def test_producer_answers_pings_and_sends():
    node, out = Producer(ProducerState()), Played("p")
    assert play(node, out, PERSON, Open("broker")) == [(1, c.CommandProducer(1))]
    assert node.send(3, -1) == (1, c.CommandSend(1, 3, -1, -1, 0))
    assert play(node, out, 1, c.CommandPing()) == [(1, c.CommandPong())]


def test_message_that_cannot_be_handled_is_asked_for_again_after_its_delay():
    node, out, counted = consumer(queue_size=9, cannot=5, nack_delay_us=3_000_000)
    play(node, out, 1, *messages(5, 6))
    wake(node, out, DONE)
    assert counted.log == [("dropped", 5)] and node.state.program.hand == 6
    assert out.deadlines["ask_again"] == 100 + 1_000_000
    assert [wake(node, out, "ask_again") for _ in range(2)] == [[], []]
    assert wake(node, out, "ask_again") == [(1, c.CommandRedeliverUnacknowledgedMessages(1, [5]))]


def test_message_that_came_too_often_is_a_dead_letter():
    node, out, _ = consumer(cannot=5, max_redeliver=2, ack_group_us=0)
    for count in (0, 1):
        play(node, out, 1, c.CommandMessage(1, 5, 5, count))
        assert wake(node, out, DONE) == []
    play(node, out, 1, c.CommandMessage(1, 5, 5, 2))
    assert wake(node, out, DONE) == [], (
        "it is one once the delay of its last negative acknowledgement is over"
    )
    while not (sent := wake(node, out, "ask_again")):
        pass
    assert sent[0] == (1, c.CommandProducer(1_000_000, "topic-subscription-DLQ", -1, "c1-1-DLQ"))
    assert sent[2] == (1, c.CommandAck(1, [5]))


def test_backoff_waits_longer_each_time():
    node, out, _ = consumer(cannot=5, backoff=Backoff(1_000_000, 4_000_000))
    for count, delay_us in enumerate((1_000_000, 2_000_000, 4_000_000, 4_000_000)):
        play(node, out, 1, c.CommandMessage(1, 5, 5, count))
        wake(node, out, DONE)
        assert node.state.waits_again[-1][0] == 100 + delay_us


def test_message_not_acknowledged_in_time_is_asked_for_again_while_the_program_goes_on():
    node, out, _ = consumer(ack_timeout_us=50)
    play(node, out, 1, *messages(5))
    assert wake(node, out, "time_over") == [(1, c.CommandRedeliverUnacknowledgedMessages(1, [5]))]
    wake(node, out, DONE)
    assert node.state.parts[1].acks == [5]


def test_batch_is_acknowledged_with_its_last_message():
    node, out, counted = consumer(ack_group_us=0)
    play(node, out, 1, c.CommandMessage(1, 7, 20, 0, (20, 21)))
    assert wake(node, out, DONE) == []
    assert wake(node, out, DONE) == [(1, c.CommandAck(1, [7]))]
    assert counted.log == [("handled", 20), ("handled", 21)]


def test_each_partition_has_its_own_permits_and_acknowledgements():
    counted = Counted()
    node, out = (
        Consumer(
            ConsumerState("c1", Program(100), ConsumerConfig("Failover", partitions=2, queue_size=4)), counted
        ),
        Played("c1"),
    )
    sent = play(node, out, PERSON, Subscribe("broker", []))
    assert [(command.consumer_id, command.partition) for _, command in sent] == [(1, 0), (2, 1)]
    assert (
        play(node, out, 1, c.CommandSuccess(1)) == [(1, c.CommandFlow(1, 4))] and not node.state.is_subscribed
    )
    play(node, out, 1, c.CommandSuccess(2), c.CommandActiveConsumerChange(2, True))
    play(
        node,
        out,
        1,
        *[c.CommandMessage(2, entry, 10 + entry) for entry in range(3)],
        c.CommandMessage(1, 0, 20),
    )
    assert [wake(node, out, DONE) for _ in range(4)] == [[(1, c.CommandFlow(2, 2))], [], [], []]
    assert wake(node, out, "acks") == [(1, c.CommandAck(1, [0])), (1, c.CommandAck(2, [0, 1, 2]))]


def test_consumer_that_its_broker_closes_drops_what_it_has_and_subscribes_again():
    node, out, counted = consumer()
    play(node, out, 1, *messages(5, 6))
    assert play(node, out, 1, c.CommandCloseConsumer(0, 1)) == [(1, c.CommandSubscribe(2, 1, "c1", []))]
    assert counted.log == [("dropped", 6), ("dropped", 5)] and not node.state.queue


def test_default_batch_is_one_entry_with_the_key_of_its_first_message():
    node, out = Producer(ProducerState(batching="default", batch_max=4)), Played("p")
    play(node, out, PERSON, Open("broker"))
    for number, key in ((0, 1), (1, 2), (2, 1)):
        node.gather(number, key, 0, out)
    assert out.take() == [] and out.deadlines["batch:0"] == 1_000
    node.gather(3, 3, 0, out)
    assert (
        out.take() == [(1, c.CommandSend(1, 0, 1, -1, 3, (0, 1, 2, 3), first_sequence_id=0))]
        and "batch:0" not in out.deadlines
    )


def test_key_based_batches_go_out_by_their_highest_sequence_id():
    node, out = Producer(ProducerState(batching="key_based")), Played("p")
    play(node, out, PERSON, Open("broker"))
    for number, key in ((0, 1), (1, 2), (2, -1), (3, 1), (4, -1)):
        node.gather(number, key, 0, out)
    sent = [(message.key, message.sequence_id, message.batch) for _, message in wake(node, out, "batch:0")]
    assert sent == [(2, 1, ()), (1, 3, (0, 3)), (-1, 4, (2, 4))]


def test_partition_follows_the_key_and_goes_in_turn_without_one():
    node, out = Producer(ProducerState(partitions=3), lambda code: 10 + code), Played("p")
    assert len(play(node, out, PERSON, Open("broker"))) == 3
    assert [
        node.send(number, key)[1].producer_id for number, key in enumerate((4, 4, -1, -1, -1, -1, 5))
    ] == [3, 3, 1, 2, 3, 1, 1]


def test_who_unsubscribes_drops_what_it_has_and_may_subscribe_again():
    node, out, counted = consumer()
    play(node, out, 1, *messages(5, 6))
    assert play(node, out, PERSON, Unsubscribe()) == [(1, c.CommandUnsubscribe(2, 1))]
    assert not node.state.has_unsubscribed, "not before the broker has said so"
    assert (
        play(node, out, 1, c.CommandSuccess(2)) == []
        and node.state.has_unsubscribed
        and not node.state.is_subscribed
    )
    assert [message for kind, message in counted.log if kind == "dropped"] == [
        6,
        5,
    ] and DONE not in out.deadlines
    assert play(node, out, 1, *messages(7)) == [] and play(node, out, PERSON, Unsubscribe()) == []
    again = play(node, out, PERSON, Resubscribe([], 2))
    assert [type(command) for _, command in again] == [
        c.CommandCloseConsumer,
        c.CommandSubscribe,
    ] and not node.state.has_unsubscribed


def test_refused_unsubscribe_changes_nothing_for_its_client():
    node, out, _ = consumer()
    play(node, out, 1, *messages(5, 6))
    play(node, out, PERSON, Unsubscribe())
    play(
        node,
        out,
        1,
        c.CommandError(2, "MetadataError", "Unconnected or shared consumer attempting to unsubscribe"),
    )
    assert node.state.is_subscribed and not node.state.refused and len(node.state.queue) == 1
