"""Everything up to a message that is one of a batch: what its client makes of that, and what the broker does
with it. Facts 12.1, 11.5."""

import pytest

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.acks import ACKS
from broker_core.pulsar.client.timeouts import TIME_OVER
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, SHARED
from broker_core.sim.node import PERSON
from broker_core.sim.program import Pause
from tests.core.playbook import play, wake
from tests.core.pulsar.brokers import A, P, broker
from tests.core.pulsar.client.programs import ONE, TWO, batch, consumer, done, messages


def up_to(entry, in_batch=None, consumer_id=ONE):
    return c.CommandAck(consumer_id, [entry], True, in_batch)


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER])
def test_without_index_acks_a_batch_counts_with_its_last_message_and_before_that_the_entry_before_it_does(
    kind,
):
    node, out = consumer(kind, acks_cumulatively=True, ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71, 72))
    assert [done(node, out) for _ in range(3)] == [[up_to(6)], [], [up_to(7)]]


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER])
def test_with_index_acks_each_message_counts_with_all_before_it_in_the_batch(kind):
    node, out = consumer(kind, acks_cumulatively=True, acks_batch_index=True, ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71, 72))
    assert [done(node, out) for _ in range(3)] == [[up_to(7, {7: [0]})], [up_to(7, {7: [1]})], [up_to(7)]]


def test_what_was_given_back_earlier_in_the_batch_is_acknowledged_with_what_comes_after_it():
    node, out = consumer(EXCLUSIVE, acks_cumulatively=True, acks_batch_index=True, cannot=70, ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71, 72))
    assert [done(node, out) for _ in range(3)] == [[], [up_to(7, {7: [0, 1]})], [up_to(7)]]


def test_group_has_one_command_with_the_last_of_all_that_gathered():
    node, out = consumer(EXCLUSIVE, acks_cumulatively=True, acks_batch_index=True)
    play(node, out, 1, *messages(6), batch(7, 70, 71), batch(8, 80, 81, 82))
    assert done(node, out, 5) == []
    assert [command for _, command in wake(node, out, ACKS)] == [up_to(8, {8: [0, 1]})]
    done(node, out)
    assert [command for _, command in wake(node, out, ACKS)] == [up_to(8)] and ACKS not in out.deadlines


def test_each_partition_has_its_own_last_one():
    node, out = consumer(FAILOVER, partitions=2, acks_cumulatively=True)
    play(node, out, 1, batch(7, 70, 71), batch(3, 30, 31, consumer_id=TWO))
    done(node, out, 3)
    assert [command for _, command in wake(node, out, ACKS)] == [up_to(7), up_to(2, consumer_id=TWO)]


def test_it_ends_the_clocks_of_all_entries_before_it():
    node, out = consumer(EXCLUSIVE, acks_cumulatively=True, ack_timeout_us=2_000_000, cannot=6)
    play(node, out, 1, *messages(5), batch(7, 70, 71))
    done(node, out, 2)
    assert [entry for _, _, entry, _ in node.state.tracked] == [7]
    done(node, out)
    assert node.state.tracked == [] and TIME_OVER not in out.deadlines


def test_what_comes_again_after_it_was_acknowledged_is_dropped_and_its_permits_are_granted():
    """isDuplicate: the group may still wait, or be on its way."""
    node, out = consumer(EXCLUSIVE, acks_cumulatively=True, cannot=9, nack_delay_us=100_000, queue_size=8)
    play(node, out, 1, *messages(9), *messages(10), batch(11, 110, 111))
    done(node, out, 4)
    while not wake(node, out, "ask_again"):
        pass
    sent = play(node, out, 1, *messages(9, 10), batch(11, 110, 111), *messages(12))
    assert [message.entry for message in (node.state.hand, *node.state.queue)] == [12]
    assert sent == [(1, c.CommandFlow(ONE, 4))], "half of the queue"


@pytest.mark.parametrize("acks_batch_index", [False, True])
def test_individual_one_that_waits_for_its_group_is_known_too(acks_batch_index):
    node, out = consumer(SHARED, acks_batch_index=acks_batch_index, cannot=70, nack_delay_us=100_000)
    play(node, out, 1, batch(7, 70, 71), *messages(8))
    done(node, out, 3)
    play(node, out, PERSON, Pause())
    node.state.parts[ONE].has_asked = True
    play(node, out, 1, batch(7, 70, 71, count=1), *messages(8, count=1))
    assert [message.message for message in node.state.queue] == ([70] if acks_batch_index else [70, 71])


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER])
@pytest.mark.parametrize(
    ("ack", "mark_delete", "left"),
    [
        (up_to(1), 1, {}),
        (up_to(1, {1: [0, 1]}), 0, {1: [0, 1]}),
        (up_to(1, {1: [0, 1, 2]}), 1, {}),
        (up_to(0, {0: [0]}), 0, {}),
    ],
)
def test_broker_takes_everything_before_the_entry_and_the_places_of_its_batch(kind, ack, mark_delete, left):
    node, out = broker(failover_delay_us=0)
    play(node, out, A, c.CommandSubscribe(1, 1, "a", [], kind), c.CommandFlow(1, 100))
    play(node, out, P, c.CommandSend(1, 0, 5), c.CommandSend(1, 10, 5, batch=(10, 11, 12)))
    play(node, out, A, ack)
    cursor = node.subscription().cursor
    assert (cursor.mark_delete, cursor.acked_in_batch) == (mark_delete, left)
