"""A consumer comes, is refused, is closed by its broker, goes and comes again: what it says with which
number, and what it takes for said."""

import pytest

from broker_core.errors import InvariantError
from broker_core.pulsar import commands as c
from broker_core.pulsar.client.config import ConsumerConfig
from broker_core.pulsar.client.consumer import Consumer, Resubscribe, Seek, Subscribe, Unsubscribe
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Pace, Program
from tests.core.playbook import Counted, Played, play, wake
from tests.core.pulsar.client.programs import ONE, TWO, consumer, done, dropped, messages, waiting


def new(**options):
    return Consumer(ConsumerState("c1", Program(100), ConsumerConfig(**options)), Counted()), Played("c1")


def said(node, out, *received, connection=1):
    return [command for _, command in play(node, out, connection, *received)]


def numbers(sent):
    """(request id, consumer id) of what is answered."""
    return [(command.request_id, command.consumer_id) for command in sent]


def test_subscribe_says_all_that_its_configuration_has():
    node, out = new(
        type=KEY_SHARED,
        topic="orders",
        subscription="billing",
        priority=3,
        allows_out_of_order=True,
        initial_position="earliest",
    )
    assert said(node, out, Subscribe("broker", [(0, 9), (20, 29)]), connection=PERSON) == [
        c.CommandSubscribe(
            1, ONE, "c1", [(0, 9), (20, 29)], KEY_SHARED, "orders", -1, "billing", 3, True, "earliest"
        ),
    ]
    assert out.connected == {1: "broker"} and node.state.connection == 1


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({}, [("topic", -1)]),
        ({"partitions": 2}, [("topic", 0), ("topic", 1)]),
        ({"topics": 2}, [("topic-0", -1), ("topic-1", -1)]),
        ({"uses_retry_topic": True}, [("topic", -1), ("topic-subscription-RETRY", -1)]),
        (
            {"partitions": 1, "uses_retry_topic": True, "topic": "orders", "subscription": "s"},
            [("orders", 0), ("orders-s-RETRY", -1)],
        ),
    ],
)
def test_each_partition_topic_and_retry_letter_topic_has_a_consumer_of_its_own(options, parts):
    node, out = new(type=SHARED, **options)
    sent = said(node, out, Subscribe("broker", []), connection=PERSON)
    assert [(command.topic, command.partition) for command in sent] == parts
    assert numbers(sent) == [(number, number) for number in range(1, len(parts) + 1)]
    for request_id in range(1, len(parts)):
        said(node, out, c.CommandSuccess(request_id))
        assert not node.state.is_subscribed
    said(node, out, c.CommandSuccess(len(parts)))
    assert node.state.is_subscribed


def test_who_is_not_started_is_not_subscribed():
    node, _ = new()
    assert not node.state.is_subscribed and not node.state.has_unsubscribed and node.state.refused == ""


def test_refusal_is_of_the_part_that_asked_and_the_next_success_ends_it():
    node, out = new(type=EXCLUSIVE, partitions=2)
    said(node, out, Subscribe("broker", []), connection=PERSON)
    said(
        node,
        out,
        c.CommandSuccess(1),
        c.CommandError(2, "ConsumerBusy", "Exclusive consumer is already connected"),
    )
    assert [part.refused for part in node.state.parts.values()] == [
        "",
        "ConsumerBusy",
    ] and node.state.refused == "ConsumerBusy"
    assert numbers(said(node, out, Resubscribe([]), connection=PERSON)) == [
        (3, ONE),
        (4, TWO),
        (5, ONE),
        (6, TWO),
    ]
    assert said(node, out, c.CommandSuccess(6)) == [c.CommandFlow(TWO, 1000)] and node.state.refused == ""


@pytest.mark.parametrize("answer", [c.CommandError(99, "ConsumerBusy", ""), c.CommandSuccess(99)])
def test_answer_to_a_request_that_nobody_made_changes_nothing(answer):
    node, out = new()
    said(node, out, Subscribe("broker", []), connection=PERSON)
    assert said(node, out, answer) == [] and node.state.refused == "" and not node.state.is_subscribed


def test_success_after_the_connection_has_broken_grants_nothing():
    node, out = new()
    said(node, out, Subscribe("broker", []), connection=PERSON)
    said(node, out, Closed("reset"))
    assert said(node, out, c.CommandSuccess(1)) == [] and not node.state.is_subscribed


def test_pings_are_answered_on_the_connection_they_came_by_in_any_state():
    node, out = new()
    assert play(node, out, 7, c.CommandPing()) == [(7, c.CommandPong())]
    node, out = consumer()
    assert play(node, out, 1, c.CommandPing()) == [(1, c.CommandPong())]


def test_each_request_has_a_number_that_none_before_it_had():
    node, out = consumer(partitions=2)
    sent = said(node, out, Seek(3), connection=PERSON)
    sent += said(node, out, c.CommandCloseConsumer(0, TWO))
    sent += said(node, out, Unsubscribe(), connection=PERSON)
    sent += said(node, out, Resubscribe([]), connection=PERSON)
    sent += said(node, out, Leave(), connection=PERSON)
    assert [type(command).__name__.removeprefix("Command") for command in sent] == [
        "Seek",
        "Seek",
        "Subscribe",
        "Unsubscribe",
        "CloseConsumer",
        "CloseConsumer",
        "Subscribe",
        "Subscribe",
        "CloseConsumer",
        "CloseConsumer",
    ]
    assert [command.request_id for command in sent] == list(range(3, 13))


def test_ranges_and_level_of_a_new_subscription_stay_for_the_one_after_it():
    node, out = consumer(KEY_SHARED)
    said(node, out, Resubscribe([(0, 9)], 2), connection=PERSON)
    (again,) = said(node, out, c.CommandCloseConsumer(0, ONE))
    assert (again.ranges, again.priority_level) == ([(0, 9)], 2)
    _, again = said(node, out, Resubscribe([(5, 9)]), connection=PERSON)
    assert (again.ranges, again.priority_level) == ([(5, 9)], 2), "-1 leaves the level as it is"
    _, again = said(node, out, Resubscribe([], 0), connection=PERSON)
    assert again.priority_level == 0


def test_active_role_is_told_part_by_part_and_lost_with_the_subscription():
    node, out = consumer(FAILOVER, partitions=2)
    said(node, out, c.CommandActiveConsumerChange(TWO, True), c.CommandActiveConsumerChange(ONE, False))
    assert [part.is_active for part in node.state.parts.values()] == [False, True]
    said(node, out, c.CommandActiveConsumerChange(TWO, False))
    assert not node.state.parts[TWO].is_active
    for end, connection in (
        (Resubscribe([]), PERSON),
        (c.CommandCloseConsumer(0, ONE), 1),
        (Closed("reset"), 1),
    ):
        said(node, out, c.CommandActiveConsumerChange(ONE, True))
        said(node, out, end, connection=connection)
        assert not node.state.parts[ONE].is_active


def test_leaving_lets_go_of_everything_and_closes_the_connection_last():
    node, out = consumer()
    play(node, out, 1, *messages(1, 2, 3))
    done(node, out)
    assert [type(command) for command in said(node, out, Leave(), connection=PERSON)] == [
        c.CommandAck,
        c.CommandCloseConsumer,
    ]
    state = node.state
    assert dropped(node) == [2, 3] and waiting(node) == [] and state.hand is None and state.program.hand == -1
    assert (
        out.closed == [1] and state.connection == 0 and DONE not in out.deadlines and not state.is_subscribed
    )


def test_leaving_twice_says_nothing_more():
    node, out = consumer()
    said(node, out, Leave(), connection=PERSON)
    assert said(node, out, Leave(), connection=PERSON) == [] and out.closed == [1]


def test_who_comes_again_has_its_parts_and_counts_on_from_its_last_request():
    node, out = consumer(partitions=2)
    play(node, out, 1, *messages(1, 2))
    said(node, out, Closed("reset"))
    assert dropped(node) == [1, 2] and waiting(node) == []
    assert play(node, out, PERSON, Subscribe("other", [])) == [
        (2, c.CommandSubscribe(3, ONE, "c1", [], SHARED, partition=0)),
        (2, c.CommandSubscribe(4, TWO, "c1", [], SHARED, partition=1)),
    ]
    assert out.connected[2] == "other" and node.state.connection == 2
    assert play(node, out, 2, c.CommandSuccess(4), c.CommandSuccess(3)) == [
        (2, c.CommandFlow(TWO, 1000)),
        (2, c.CommandFlow(ONE, 1000)),
    ]


def test_message_in_hand_of_the_part_that_is_closed_is_dropped_and_the_next_one_of_another_begun():
    node, out = consumer(partitions=2)
    play(node, out, 1, *messages(1, 2), *messages(3, consumer_id=TWO), *messages(4))
    assert numbers(said(node, out, c.CommandCloseConsumer(0, ONE))) == [(3, ONE)]
    assert dropped(node) == [2, 4, 1] and node.state.program.hand == 13 and waiting(node) == []
    assert done(node, out) == [] and node.state.program.finished == 1


def test_part_whose_message_is_not_in_hand_leaves_the_program_alone():
    node, out = consumer(partitions=2)
    play(node, out, 1, *messages(1), *messages(3, consumer_id=TWO))
    said(node, out, c.CommandCloseConsumer(0, TWO))
    assert node.state.program.hand == 1 and out.deadlines[DONE] == 100 and dropped(node) == [13]


def test_unsubscribing_says_nothing_of_a_part_that_is_not_let_in():
    node, out = consumer(partitions=2)
    said(node, out, c.CommandCloseConsumer(0, ONE))
    assert said(node, out, Unsubscribe(), connection=PERSON) == [c.CommandUnsubscribe(4, TWO)]
    said(node, out, c.CommandSuccess(4))
    assert node.state.has_unsubscribed and not node.state.parts[ONE].unsubscribe_id


def test_unsubscribed_part_that_subscribes_again_has_not_unsubscribed():
    node, out = consumer()
    said(node, out, Unsubscribe(), connection=PERSON)
    said(node, out, c.CommandSuccess(2))
    assert node.state.has_unsubscribed
    sent = said(node, out, Resubscribe([]), connection=PERSON)
    assert not node.state.has_unsubscribed
    said(node, out, c.CommandSuccess(sent[-1].request_id))
    assert (
        node.state.is_subscribed and said(node, out, c.CommandSuccess(2)) == [] and node.state.is_subscribed
    )


def test_another_pace_counts_from_the_next_message_on():
    node, out = consumer()
    play(node, out, 1, *messages(1, 2))
    said(node, out, Pace(700), connection=PERSON)
    assert out.deadlines[DONE] == 100
    done(node, out)
    assert out.deadlines[DONE] == 800


def test_program_that_is_done_with_nothing_breaks_a_law():
    node, out = consumer()
    with pytest.raises(InvariantError, match="c1 is done with nothing"):
        node.done(0, out)


def test_messages_of_two_parts_are_handled_in_the_order_of_their_arrival():
    node, out = consumer(partitions=2)
    play(
        node, out, 1, *messages(5, consumer_id=TWO), *messages(1), *messages(6, consumer_id=TWO), *messages(2)
    )
    done(node, out, 4)
    assert [number for _, number in node.traffic.log] == [15, 1, 16, 2] and node.traffic.received_count == 4
    assert [command.entries for _, command in wake(node, out, "acks")] == [[1, 2], [5, 6]]
