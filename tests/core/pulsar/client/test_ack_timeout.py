"""The ack time-out: what the program has taken has a clock that is counted in ticks, and what is not
acknowledged in time is asked for again."""

import pytest

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.consumer import HoldAcks, ReleaseAcks, Resubscribe
from broker_core.pulsar.client.timeouts import TIME_OVER
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Pace, Pause, Resume
from tests.core.playbook import play, wake
from tests.core.pulsar.client.programs import ONE, TWO, batch, consumer, done, dropped, messages, waiting

SECOND_US = 1_000_000
TIMEOUT_US = 2 * SECOND_US
OVER_US = TIMEOUT_US + SECOND_US
"""For what is taken in the first second: the third tick after that."""


def over(node, out):
    return [command for _, command in wake(node, out, TIME_OVER)]


def asked(*entries, consumer_id=ONE):
    return c.CommandRedeliverUnacknowledgedMessages(consumer_id, list(entries))


def stuck(*entries, **options):
    """A program that has handled these, one each second, and acknowledged none."""
    node, out = consumer(ack_timeout_us=TIMEOUT_US, **options)
    play(node, out, PERSON, HoldAcks())
    play(node, out, PERSON, Pace(SECOND_US))
    play(node, out, 1, *messages(*entries))
    done(node, out, len(entries))
    return node, out


def test_clock_begins_when_the_program_takes_the_message_and_not_when_it_arrives():
    node, out = consumer(ack_timeout_us=TIMEOUT_US)
    play(node, out, PERSON, Pause())
    play(node, out, 1, *messages(1))
    assert TIME_OVER not in out.deadlines
    play(node, out, PERSON, Resume(), now_us=2_500_000)
    assert out.deadlines[TIME_OVER] == 2 * SECOND_US + OVER_US


@pytest.mark.parametrize(
    ("timeout_us", "taken_us", "over_us"),
    [
        (2_000_000, 0, 3_000_000),
        (2_000_000, 999_999, 3_000_000),
        (2_000_000, 1_000_000, 4_000_000),
        (2_500_000, 0, 4_000_000),
        (1_000_000, 400_000, 2_000_000),
        (30_000_000, 10_400_000, 41_000_000),
        (500_000, 0, 1_000_000),
        (500_000, 700_000, 1_500_000),
    ],
)
def test_time_is_over_at_the_first_tick_after_the_time_out_and_a_tick_is_a_second_or_the_shorter_time_out(
    timeout_us, taken_us, over_us
):
    node, out = consumer(ack_timeout_us=timeout_us)
    play(node, out, 1, *messages(1), now_us=taken_us)
    assert out.deadlines[TIME_OVER] == over_us and timeout_us <= over_us - taken_us


def test_ticks_are_counted_from_when_the_consumer_was_made():
    node, out = consumer(ack_timeout_us=TIMEOUT_US)
    play(node, out, PERSON, Resubscribe([]), now_us=5_300_000)
    play(node, out, 1, c.CommandSuccess(3), *messages(1), now_us=6_000_000)
    assert out.deadlines[TIME_OVER] == 5_300_000 + OVER_US


def test_message_behind_it_has_its_own_clock():
    _, out = stuck(1, 2)
    assert out.deadlines[TIME_OVER] == OVER_US, "of the first"


def test_batch_has_one_clock_from_its_first_message_to_its_last_acknowledgement():
    """UnAckedMessageTracker knows an entry; what of it is acknowledged stops nothing."""
    node, out = consumer(ack_timeout_us=TIMEOUT_US, ack_group_us=0)
    play(node, out, PERSON, Pace(1_500_000))
    play(node, out, 1, batch(7, 70, 71), *messages(8))
    assert out.deadlines[TIME_OVER] == OVER_US
    done(node, out)  # 70, at 1.5 s
    assert out.deadlines[TIME_OVER] == OVER_US and len(node.state.tracked) == 1
    assert (
        done(node, out) == [c.CommandAck(ONE, [7])] and out.deadlines[TIME_OVER] == 3 * SECOND_US + OVER_US
    ), "of 8, taken at 3 s"


def test_batch_whose_time_is_over_is_asked_for_whatever_of_it_is_acknowledged():
    node, out = consumer(ack_timeout_us=TIMEOUT_US, ack_group_us=0, acks_batch_index=True)
    play(node, out, 1, batch(7, 70, 71))
    assert done(node, out) == [c.CommandAck(ONE, [], False, {7: [0]})]
    assert over(node, out) == [asked(7)] and node.state.tracked == []


def test_message_of_a_batch_that_is_given_back_ends_the_clock_of_all_and_the_next_one_begins_another():
    node, out = consumer(ack_timeout_us=TIMEOUT_US, cannot=70, nack_delay_us=60 * SECOND_US)
    play(node, out, PERSON, Pace(1_200_000))
    play(node, out, 1, batch(7, 70, 71, 72))
    done(node, out)
    assert node.state.tracked == [(SECOND_US + OVER_US, ONE, 7, -1)], "71 was taken at 1.2 s"


def test_consumer_of_partitions_has_a_clock_for_each_message_of_a_batch():
    """MultiTopicsConsumerImpl tracks messages by their own ids."""
    node, out = consumer(partitions=1, ack_timeout_us=TIMEOUT_US, ack_group_us=0)
    play(node, out, PERSON, Pace(1_500_000))
    play(node, out, 1, batch(7, 70, 71))
    done(node, out)
    assert node.state.tracked == [(SECOND_US + OVER_US, ONE, 7, 1)]


@pytest.mark.parametrize(
    ("options", "timeout_us"),
    [
        ({}, 0),
        ({"max_redeliver": 3}, 30 * SECOND_US),
        ({"max_redeliver": 3, "ack_timeout_us": TIMEOUT_US}, TIMEOUT_US),
        ({"uses_retry_topic": True}, 0),
    ],
)
@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER, SHARED, KEY_SHARED])
def test_dead_letter_policy_sets_a_time_out_of_thirty_seconds_where_there_is_none(kind, options, timeout_us):
    node, out = consumer(kind, **options)
    play(node, out, 1, *messages(1))
    assert out.deadlines.get(TIME_OVER, 0) == (timeout_us + SECOND_US if timeout_us else 0)


def test_program_that_is_in_time_never_asks():
    node, out = consumer(ack_timeout_us=TIMEOUT_US)
    play(node, out, 1, *messages(1, 2))
    done(node, out)
    assert out.deadlines[TIME_OVER] == OVER_US, (
        "the first one is acknowledged, the second one has been taken at 100"
    )
    done(node, out)
    assert TIME_OVER not in out.deadlines and node.state.tracked == []


def test_acknowledged_is_said_to_the_client_and_not_yet_to_the_broker():
    """What waits for its group is acknowledged as far as its tracker sees it."""
    node, out = consumer(ack_timeout_us=TIMEOUT_US, ack_group_us=60_000_000)
    play(node, out, 1, *messages(1))
    done(node, out)
    assert TIME_OVER not in out.deadlines and node.state.parts[ONE].acks == [1]


def test_all_whose_time_is_over_at_once_are_asked_for_together():
    node, out = consumer(ack_timeout_us=TIMEOUT_US)
    play(node, out, PERSON, HoldAcks())
    play(node, out, PERSON, Pace(0))
    play(node, out, 1, *messages(3))
    done(node, out)
    play(node, out, 1, *messages(1))
    done(node, out)
    assert over(node, out) == [asked(1, 3)] and TIME_OVER not in out.deadlines


def test_others_keep_their_moment():
    node, out = stuck(1, 2, 3)
    seen = []
    while TIME_OVER in out.deadlines:
        at_us = out.deadlines[TIME_OVER]
        seen += [(at_us, command) for command in over(node, out)]
    assert seen == [(OVER_US + late * SECOND_US, asked(entry)) for late, entry in ((0, 1), (1, 2), (2, 3))]
    assert node.state.held == [], "what is asked for again is no more the program's to acknowledge"


def test_message_in_hand_is_asked_for_and_the_program_goes_on_with_it():
    node, out = consumer(ack_timeout_us=50, ack_group_us=0)
    play(node, out, 1, *messages(1))
    assert over(node, out) == [asked(1)] and node.state.hand.entry == 1
    assert done(node, out) == [c.CommandAck(ONE, [1])] and node.state.program.finished == 1


@pytest.mark.parametrize("entries", [(2, 1, 3), (1, 3, 2)])
def test_releasing_acknowledges_what_nobody_has_asked_for_meanwhile(entries):
    node, out = stuck(*entries, ack_group_us=0)
    over(node, out)
    sent = [command for _, command in play(node, out, PERSON, ReleaseAcks(), now_us=TIMEOUT_US)]
    assert sent == [c.CommandAck(ONE, [entry]) for entry in entries[1:]] and TIME_OVER not in out.deadlines


def test_each_part_is_asked_for_its_own():
    node, out = consumer(partitions=2, ack_timeout_us=TIMEOUT_US)
    play(node, out, PERSON, HoldAcks())
    play(node, out, PERSON, Pace(0))
    for entry, consumer_id in ((4, TWO), (4, ONE), (2, TWO)):
        play(node, out, 1, *messages(entry, consumer_id=consumer_id))
        done(node, out)
    assert over(node, out) == [asked(2, 4, consumer_id=TWO), asked(4)]


def test_acknowledging_one_part_stops_the_clock_of_its_entry_only():
    node, out = consumer(partitions=2, ack_timeout_us=TIMEOUT_US, ack_group_us=0)
    play(node, out, PERSON, HoldAcks())
    play(node, out, 1, *messages(4, consumer_id=TWO))
    done(node, out)
    node.state.holds_acks = False
    play(node, out, 1, *messages(4))
    assert done(node, out) == [c.CommandAck(ONE, [4])]
    assert node.state.tracked == [(OVER_US, TWO, 4, -1)] and out.deadlines[TIME_OVER] == OVER_US


def test_message_that_is_given_back_has_no_clock_while_it_waits_to_be_asked_for():
    node, out = consumer(ack_timeout_us=TIMEOUT_US, cannot=5, nack_delay_us=9_000_000)
    play(node, out, 1, *messages(5))
    done(node, out)
    assert node.state.tracked == [] and TIME_OVER not in out.deadlines and len(node.state.waits_again) == 1


def test_what_still_waits_in_the_queue_behind_an_older_entry_stays_there():
    node, out = consumer(ack_timeout_us=50, queue_size=100)
    play(node, out, 1, *messages(1, 2, 3))
    assert over(node, out) == [asked(1)] and waiting(node) == [2, 3] and dropped(node) == []


def test_batch_in_the_queue_is_dropped_with_the_entry_behind_it():
    node, out = consumer(ack_timeout_us=50, queue_size=100)
    play(node, out, 1, batch(7, 70, 71, 72), *messages(8, 9))
    assert over(node, out) == [asked(7, 8)]
    assert waiting(node) == [9] and dropped(node) == [71, 72, 8] and node.state.parts[ONE].taken == 1 + 3


def test_what_is_dropped_ends_where_another_part_begins():
    node, out = consumer(ack_timeout_us=50, queue_size=100, partitions=2)
    play(node, out, 1, batch(7, 70, 71), *messages(7, consumer_id=TWO), *messages(8))
    assert over(node, out) == [asked(7)]
    assert [(message.consumer_id, message.entry) for message in node.state.queue] == [(TWO, 7), (ONE, 8)]


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER])
def test_where_one_has_everything_all_of_it_is_asked_for_and_no_clock_goes_on(kind):
    node, out = consumer(kind, ack_timeout_us=TIMEOUT_US, queue_size=10)
    play(node, out, PERSON, HoldAcks())
    play(node, out, 1, *messages(1, 2, 3, 4, 5, 6))
    done(node, out, 3)
    assert over(node, out) == [c.CommandRedeliverUnacknowledgedMessages(ONE, []), c.CommandFlow(ONE, 6)]
    assert (
        dropped(node) == [5, 6]
        and node.state.held == node.state.tracked == []
        and TIME_OVER not in out.deadlines
    )
    assert node.state.hand.entry == 4, "with which the program goes on"


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_asked_for_again_it_may_be_taken_a_second_time_and_has_a_new_clock(kind):
    node, out = consumer(kind, ack_timeout_us=TIMEOUT_US)
    play(node, out, PERSON, HoldAcks())
    play(node, out, 1, *messages(1))
    done(node, out)
    over(node, out)
    play(node, out, 1, *messages(1, count=1), now_us=6 * SECOND_US)
    assert out.deadlines[TIME_OVER] == 6 * SECOND_US + OVER_US


@pytest.mark.parametrize("end", [Leave(), Closed("reset")])
def test_who_goes_has_no_clocks(end):
    node, out = stuck(1, 2)
    play(node, out, 1, *messages(3))
    play(node, out, PERSON if isinstance(end, Leave) else 1, end)
    assert node.state.tracked == node.state.held == [] and not {TIME_OVER, DONE} & set(out.deadlines)


def test_clocks_of_a_part_that_its_broker_closes_are_forgotten_and_the_others_run():
    node, out = consumer(partitions=2, ack_timeout_us=TIMEOUT_US)
    play(node, out, PERSON, HoldAcks())
    play(node, out, PERSON, Pace(SECOND_US))
    play(node, out, 1, *messages(1), *messages(2, consumer_id=TWO))
    done(node, out, 2)
    play(node, out, 1, c.CommandCloseConsumer(0, ONE))
    assert over(node, out) == [], "the clock of the first one finds nothing"
    assert out.deadlines[TIME_OVER] == SECOND_US + OVER_US and over(node, out) == [asked(2, consumer_id=TWO)]
