"""A batch at its consumer: taken apart, message by message, acknowledged as one entry; and what an old
delivery of it may still do."""

import pytest

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.consumer import HoldAcks, ReleaseAcks, Resubscribe
from broker_core.pulsar.settings import FAILOVER
from broker_core.sim.node import PERSON
from broker_core.sim.program import Pause, Resume
from tests.core.playbook import play, wake
from tests.core.pulsar.client.programs import ONE, TWO, batch, consumer, done, dropped, messages, waiting


def test_messages_of_a_batch_are_taken_in_its_order_between_what_came_before_and_after():
    node, out = consumer()
    play(node, out, 1, *messages(1), batch(7, 70, 71), *messages(8))
    done(node, out, 4)
    assert (
        node.traffic.log == [("handled", number) for number in (1, 70, 71, 8)]
        and node.traffic.received_count == 4
    )


def test_each_message_keeps_what_its_batch_said_of_deliveries():
    node, out = consumer()
    play(node, out, PERSON, Pause())
    play(node, out, 1, c.CommandMessage(ONE, 7, 70, 3, (70, 72), (0, 2), 2))
    assert list(node.state.queue) == [
        c.CommandMessage(ONE, 7, 70, 3, (), (0,), 2), c.CommandMessage(ONE, 7, 72, 3, (), (2,), 2),
    ]  # fmt: skip


def test_paused_program_leaves_a_batch_in_the_queue():
    node, out = consumer()
    play(node, out, PERSON, Pause())
    play(node, out, 1, batch(7, 70, 71))
    assert waiting(node) == [7, 7] and node.state.program.hand == -1
    play(node, out, PERSON, Resume())
    assert node.state.program.hand == 70


@pytest.mark.parametrize("order", [(70, 71, 72), (72, 70, 71)])
def test_batch_of_a_stuck_program_is_acknowledged_when_the_last_of_it_is(order):
    node, out = consumer(ack_group_us=0)
    play(node, out, PERSON, HoldAcks())
    play(node, out, 1, batch(7, *order))
    done(node, out, 2)
    assert play(node, out, PERSON, ReleaseAcks()) == [] and node.state.parts[ONE].batches == {7: [2]}
    assert done(node, out) == [c.CommandAck(ONE, [7])] and node.state.parts[ONE].batches == {}


def test_two_batches_are_counted_each_for_itself():
    node, out = consumer(ack_group_us=0)
    play(node, out, PERSON, HoldAcks())
    play(node, out, 1, batch(7, 70, 71), batch(8, 80, 81))
    done(node, out)
    node.state.holds_acks = False
    assert done(node, out, 3) == [c.CommandAck(ONE, [8])]
    assert [command for _, command in play(node, out, PERSON, ReleaseAcks())] == [c.CommandAck(ONE, [7])]


def test_entries_at_one_position_of_two_parts_are_two_batches():
    node, out = consumer(partitions=2, ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71), batch(7, 75, 76, consumer_id=TWO))
    assert [done(node, out) for _ in range(4)] == [[], [c.CommandAck(ONE, [7])], [], [c.CommandAck(TWO, [7])]]


def test_batch_of_which_one_message_is_given_back_is_not_acknowledged_however_often_the_others_are_handled():
    node, out = consumer(cannot=70, ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71, 72))
    assert done(node, out, 3) == [] and node.state.parts[ONE].batches == {7: [0]}


def asked_again(node, out):
    """Entry 7 is asked for again while its second message is in hand and the third is in the queue, behind a
    message of entry 1."""
    play(node, out, 1, batch(7, 70, 71), *messages(1), batch(9, 90, 91))
    done(node, out)
    while not (sent := wake(node, out, "ask_again")):
        pass
    return [command for _, command in sent]


def test_old_delivery_in_hand_completes_nothing_after_its_entry_was_asked_for():
    node, out = consumer(cannot=70, nack_delay_us=100_000, ack_group_us=0)
    assert asked_again(node, out) == [c.CommandRedeliverUnacknowledgedMessages(ONE, [7])]
    assert node.state.hand.places == (~1,) and node.state.parts[ONE].batches == {9: [0, 1]}
    assert [done(node, out) for _ in range(4)] == [[], [c.CommandAck(ONE, [1])], [], [c.CommandAck(ONE, [9])]]


def test_new_delivery_is_complete_by_itself_while_the_old_one_is_still_handled():
    node, out = consumer(cannot=70, nack_delay_us=100_000, ack_group_us=0)
    asked_again(node, out)
    node.state.config.cannot = 0
    play(node, out, 1, batch(7, 70, 71, count=1))
    sent = [done(node, out) for _ in range(6)]
    assert sent == [[], [c.CommandAck(ONE, [1])], [], [c.CommandAck(ONE, [9])], [], [c.CommandAck(ONE, [7])]]


def test_second_delivery_that_was_on_its_way_makes_the_first_one_old_in_hand_and_in_the_queue():
    node, out = consumer(ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71, 72))
    play(node, out, 1, batch(7, 70, 71, 72, count=1))
    assert [message.places for message in node.state.queue] == [
        (~1,),
        (~2,),
        (0,),
        (1,),
        (2,),
    ] and node.state.hand.places == (~0,)
    assert done(node, out, 5) == [] and done(node, out) == [c.CommandAck(ONE, [7])]


def test_old_delivery_stays_old_when_a_third_one_comes():
    node, out = consumer(ack_group_us=0)
    for count in range(3):
        play(node, out, 1, batch(7, 70, 71, count=count))
    assert [message.places[0] for message in (node.state.hand, *node.state.queue)] == [~0, ~1, ~0, ~1, 0, 1]
    assert done(node, out, 5) == [] and done(node, out) == [c.CommandAck(ONE, [7])]


def test_batch_of_another_part_at_the_same_position_is_not_made_old():
    node, out = consumer(partitions=2, ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71, consumer_id=TWO), batch(7, 70, 71), batch(7, 70, 71, count=1))
    assert node.state.hand.places == (0,) and [message.places[0] for message in node.state.queue] == [
        1,
        ~0,
        ~1,
        0,
        1,
    ]


def test_place_of_an_old_delivery_is_still_told_where_places_are():
    node, out = consumer(acks_batch_index=True)
    play(node, out, 1, batch(7, 70, 71), batch(7, 70, 71, count=1))
    done(node, out)
    assert node.state.parts[ONE].in_batch == {7: [0]} and "acks" in out.deadlines
    done(node, out, 3)
    assert [command for _, command in wake(node, out, "acks")] == [c.CommandAck(ONE, [7])]


def test_failover_makes_every_batch_old_that_its_part_has_begun():
    node, out = consumer(FAILOVER, cannot=70, nack_delay_us=100_000, ack_group_us=0, queue_size=100)
    assert asked_again(node, out) == [c.CommandRedeliverUnacknowledgedMessages(ONE, [])]
    assert dropped(node) == [70, 1, 90, 91] and node.state.parts[ONE].batches == {}
    assert done(node, out) == [] and node.state.program.finished == 1


def test_closing_forgets_batches_so_that_the_next_delivery_begins_anew():
    node, out = consumer(ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71))
    done(node, out)
    play(node, out, PERSON, Resubscribe([]))
    play(node, out, 1, c.CommandSuccess(3), batch(7, 70, 71, count=1))
    assert node.state.hand.places == (0,), "nothing of the former one is there to be old"
    assert done(node, out, 2) == [c.CommandAck(ONE, [7])]
