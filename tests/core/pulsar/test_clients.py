"""The client programs by themselves."""

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.consumer import Consumer, ConsumerState, Resubscribe, Subscribe
from broker_core.pulsar.client.producer import Open, Producer, ProducerState
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Pause, Program, Resume
from tests.core.playbook import Counted, Played, play, wake


def consumer(queue_size=1000, **options):
    counted = Counted()
    node, out = Consumer(ConsumerState("c1", Program(100), queue_size, **options), counted), Played("c1")
    assert play(node, out, PERSON, Subscribe("broker", [])) == [(1, c.CommandSubscribe(1, 1, "c1", []))]
    assert play(node, out, 1, c.CommandSuccess(1)) == [(1, c.CommandFlow(1, queue_size))]
    return node, out, counted


def messages(*numbers):
    return [c.CommandMessage(1, number, False) for number in numbers]


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
    assert play(node, out, PERSON, Resubscribe([(0, 9)])) == [(1, c.CommandCloseConsumer(2, 1)), (1, c.CommandSubscribe(3, 1, "c1", [(0, 9)]))]
    play(node, out, 1, *messages(7))
    assert play(node, out, 1, c.CommandSuccess(2)) == []
    assert play(node, out, 1, c.CommandSuccess(3)) == [(1, c.CommandFlow(1, 1000))]
    assert not node.state.queue


def test_paused_program_keeps_what_it_receives():
    node, out, _ = consumer()
    play(node, out, PERSON, Pause())
    play(node, out, 1, *messages(5))
    assert list(node.state.queue) == [5]
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
    assert node.send(3, -1) == (1, c.CommandSend(1, 3, -1))
    assert play(node, out, 1, c.CommandPing()) == [(1, c.CommandPong())]
