"""What a program cannot handle is asked for again after its delay: when the tracker looks, what it asks for
together, what becomes of the rest."""

import pytest

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.config import Backoff
from broker_core.pulsar.client.consumer import Resubscribe, Unsubscribe
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import Leave, Pause
from tests.core.playbook import play, wake
from tests.core.pulsar.client.programs import ONE, TWO, batch, consumer, done, dropped, messages, waiting

SECOND_US = 1_000_000
ASK_AGAIN = "ask_again"


def looks(node, out, times=1):
    """What the tracker asks for, as (when, command), in so many looks."""
    seen = []
    for _ in range(times):
        at_us = out.deadlines[ASK_AGAIN]
        seen += [(at_us, command) for _, command in wake(node, out, ASK_AGAIN)]
    return seen


def asked(*entries, consumer_id=ONE):
    return c.CommandRedeliverUnacknowledgedMessages(consumer_id, list(entries))


@pytest.mark.parametrize(
    ("delay_us", "every_us"),
    [
        (60 * SECOND_US, 20 * SECOND_US),
        (3 * SECOND_US, SECOND_US),
        (SECOND_US, 333_334),
        (150_000, 50_000),
        (100_000, 33_334),
        (1_000, 33_334),
    ],
)
def test_tracker_looks_at_each_third_of_the_delay_which_counts_as_a_tenth_of_a_second_at_least(
    delay_us, every_us
):
    node, out = consumer(cannot=5, nack_delay_us=delay_us)
    play(node, out, 1, *messages(5))
    done(node, out)
    assert out.deadlines[ASK_AGAIN] == 100 + every_us


@pytest.mark.parametrize("delay_us", [60 * SECOND_US, 3 * SECOND_US, SECOND_US, 1_000_001, 250_000, 100_000])
def test_third_look_asks_for_it_whether_or_not_its_delay_divides_by_three(delay_us):
    node, out = consumer(cannot=5, nack_delay_us=delay_us)
    play(node, out, 1, *messages(5))
    done(node, out)
    assert looks(node, out, 2) == []
    ((at_us, command),) = looks(node, out)
    assert command == asked(5) and delay_us <= at_us - 100 <= delay_us + 2
    assert looks(node, out) == [] and ASK_AGAIN not in out.deadlines, (
        "nothing waits any more: the tracker rests after one look more"
    )


def test_those_whose_time_has_come_at_one_look_are_asked_for_together_in_the_order_of_their_positions():
    node, out = consumer(cannot=2, nack_delay_us=300_000)
    play(node, out, 1, *messages(8, 6, 7, 4))
    assert done(node, out, 4) == []
    assert out.deadlines[ASK_AGAIN] == 100 + 100_000, "the first one begins the looks, the others begin none"
    assert looks(node, out, 3) == [(300_100, asked(8))], "the others are 100 to 300 us younger"
    assert looks(node, out) == [(400_100, asked(4, 6))]


def test_later_one_waits_for_the_next_look_though_its_time_is_over_before():
    node, out = consumer(cannot=1, nack_delay_us=300_000)
    play(node, out, 1, *messages(1))
    done(node, out)
    wake(node, out, ASK_AGAIN)
    play(node, out, 1, *messages(2), now_us=150_000)
    done(node, out)  # at 150,100
    assert looks(node, out) == [] and looks(node, out) == [(300_100, asked(1))]
    assert looks(node, out) == [] and looks(node, out) == [(500_100, asked(2))]


def test_one_that_is_given_back_before_the_tracker_rests_is_looked_at_in_its_step():
    node, out = consumer(cannot=1, nack_delay_us=3 * SECOND_US)
    play(node, out, 1, *messages(1))
    done(node, out)
    looks(node, out, 3)  # the last one at 3,000,100
    play(node, out, 1, *messages(2), now_us=3_500_000)
    done(node, out)
    assert looks(node, out, 3) == [] and looks(node, out) == [(7_000_100, asked(2))], (
        "half a second after its delay"
    )


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED, EXCLUSIVE, FAILOVER])
def test_delay_counts_as_a_tenth_of_a_second_at_least(kind):
    node, out = consumer(kind, cannot=5, nack_delay_us=1_000)
    play(node, out, 1, *messages(5))
    done(node, out)
    assert node.state.waits_again == [(100 + 100_000, ONE, 5)]


def test_entry_that_came_a_second_time_meanwhile_waits_for_the_later_time_only():
    """As after a time-out of another message took it out of the queue."""
    node, out = consumer(cannot=5, nack_delay_us=300_000)
    play(node, out, 1, *messages(5))
    done(node, out)
    play(node, out, 1, *messages(5, count=1), now_us=200_000)
    done(node, out)
    assert node.state.waits_again == [(500_100, ONE, 5)]


def test_tracker_begins_its_steps_with_the_first_one_after_it_has_rested():
    node, out = consumer(cannot=1, nack_delay_us=3 * SECOND_US)
    play(node, out, 1, *messages(1))
    done(node, out)
    looks(node, out, 4)
    play(node, out, 1, *messages(2), now_us=10 * SECOND_US)
    done(node, out)
    assert out.deadlines[ASK_AGAIN] == 10 * SECOND_US + 100 + SECOND_US


@pytest.mark.parametrize(("count", "delay_us"), [(0, 300_000), (1, 900_000), (2, 2_000_000), (50, 2_000_000)])
def test_with_backoff_the_delay_follows_the_redelivery_count_and_the_looks_its_smallest_one(count, delay_us):
    node, out = consumer(cannot=5, nack_delay_us=60 * SECOND_US, backoff=Backoff(300_000, 2_000_000, 3))
    play(node, out, 1, *messages(5, count=count))
    done(node, out)
    assert out.deadlines[ASK_AGAIN] == 100 + 100_000
    times = 0
    while not (seen := looks(node, out)):
        times += 1
    assert seen == [(100 + -(-delay_us // 100_000) * 100_000, asked(5))]


def test_each_part_is_asked_for_its_own():
    node, out = consumer(partitions=2, cannot=1, nack_delay_us=300_000)
    play(node, out, 1, *messages(3), *messages(4, 3, consumer_id=TWO), *messages(1))
    done(node, out, 4)
    assert looks(node, out, 3) == [(300_100, asked(3))]
    assert looks(node, out) == [(400_100, asked(3, 4, consumer_id=TWO)), (400_100, asked(1))], (
        "in the order of those that waited"
    )


def test_message_that_is_given_back_counts_as_taken_but_not_as_handled_nor_acknowledged():
    node, out = consumer(queue_size=4, cannot=5, ack_group_us=0)
    play(node, out, 1, *messages(5, 6))
    assert done(node, out) == [c.CommandFlow(ONE, 2)]
    assert dropped(node) == [5] and node.state.program.finished == 0 and node.state.parts[ONE].acks == []
    assert done(node, out) == [c.CommandAck(ONE, [6])]


def test_batch_of_which_two_messages_cannot_be_handled_is_asked_for_once_at_the_later_time():
    """NegativeAcksTracker keeps a time for each entry, whatever its message's place in the batch; the second
    one replaces the first."""
    node, out = consumer(cannot=10, nack_delay_us=300_000)
    play(node, out, 1, batch(7, 10, 11, 20))
    done(node, out, 3)
    assert node.state.waits_again == [(300_300, ONE, 7)] and out.deadlines[ASK_AGAIN] == 100_100
    assert (
        looks(node, out, 3) == []
        and looks(node, out) == [(400_100, asked(7))]
        and node.state.waits_again == []
    )


def test_batches_of_two_parts_at_one_position_wait_each_for_itself():
    node, out = consumer(partitions=2, cannot=10, nack_delay_us=300_000)
    play(node, out, 1, batch(7, 10, 11), batch(7, 20, 21, consumer_id=TWO))
    done(node, out, 4)
    assert node.state.waits_again == [(300_100, ONE, 7), (300_300, TWO, 7)]


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER])
def test_where_one_has_everything_it_is_asked_for_all_and_again_for_what_still_waits(kind):
    """The tracker only forgets what it has asked for."""
    node, out = consumer(kind, cannot=2, nack_delay_us=300_000, queue_size=100)
    play(node, out, 1, *messages(2, 3, 4, 5, 6))
    done(node, out, 3)  # 2 and 4 are given back, 5 is in hand
    sent = looks(node, out, 3)
    assert sent == [(300_100, c.CommandRedeliverUnacknowledgedMessages(ONE, []))]
    assert waiting(node) == [] and node.state.waits_again == [(300_300, ONE, 4)]
    assert node.state.parts[ONE].taken == 4 + 1, "what its queue drops it may be sent again"
    assert dropped(node) == [2, 4, 6] and node.state.hand.entry == 5
    assert (
        looks(node, out) == [(400_100, c.CommandRedeliverUnacknowledgedMessages(ONE, []))]
        and node.state.waits_again == []
    )


def test_failover_asks_for_all_of_the_part_that_it_concerns_only():
    node, out = consumer(FAILOVER, partitions=2, cannot=2, nack_delay_us=300_000)
    play(node, out, 1, *messages(2), *messages(2, 3, consumer_id=TWO), *messages(3))
    done(node, out, 2)  # 2 of ONE at 100 us, and 12 of TWO at 200 us
    assert looks(node, out, 3) == [(300_100, c.CommandRedeliverUnacknowledgedMessages(ONE, []))]
    assert node.state.waits_again == [(300_200, TWO, 2)] and waiting(node) == [], (
        "3 of ONE is dropped, 13 of TWO in hand"
    )
    assert looks(node, out) == [(400_100, c.CommandRedeliverUnacknowledgedMessages(TWO, []))]


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_paused_program_still_asks_for_what_it_gave_back(kind):
    node, out = consumer(kind, cannot=5, nack_delay_us=300_000)
    play(node, out, 1, *messages(5, 6))
    done(node, out)
    play(node, out, PERSON, Pause())
    assert looks(node, out, 3) == [(300_100, asked(5))]


@pytest.mark.parametrize("end", [Leave(), Resubscribe([]), Closed("reset"), c.CommandCloseConsumer(0, ONE)])
def test_who_goes_forgets_what_it_would_have_asked_for(end):
    """The broker sends it again on its own: the consumer that had it is gone."""
    node, out = consumer(cannot=5, nack_delay_us=300_000)
    play(node, out, 1, *messages(5))
    done(node, out)
    play(node, out, PERSON if isinstance(end, Leave | Resubscribe) else 1, end)
    assert node.state.waits_again == []
    if ASK_AGAIN in out.deadlines:  # of a part that its broker closed; it finds nothing and sets no other
        assert looks(node, out) == [] and ASK_AGAIN not in out.deadlines


def test_who_unsubscribes_forgets_it_when_its_broker_has_said_so():
    node, out = consumer(cannot=5, nack_delay_us=300_000)
    play(node, out, 1, *messages(5))
    done(node, out)
    play(node, out, PERSON, Unsubscribe())
    assert len(node.state.waits_again) == 1
    play(node, out, 1, c.CommandSuccess(2))
    assert node.state.waits_again == [] and looks(node, out) == []
