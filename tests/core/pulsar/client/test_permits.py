"""Permits that a consumer grants: for its whole queue once, then for what its program has taken, each time
that is half of it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.consumer import Resubscribe, Unsubscribe
from broker_core.pulsar.settings import FAILOVER
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import Leave, Pause, Resume
from tests.core.playbook import play, wake
from tests.core.pulsar.client.programs import ONE, TWO, batch, consumer, done, messages, waiting


def grants(sent):
    return [
        (command.consumer_id, command.message_permits)
        for command in sent
        if isinstance(command, c.CommandFlow)
    ]


def commands(sent):
    return [command for _, command in sent]


@pytest.mark.parametrize(
    ("queue_size", "each", "given_for_eight"),
    [
        (1, 1, 8),
        (2, 1, 8),
        (3, 1, 8),
        (4, 2, 4),
        (5, 2, 4),
        (6, 3, 2),
        (7, 3, 2),
        (8, 4, 2),
        (9, 4, 2),
        (16, 8, 1),
        (17, 8, 1),
        (18, 0, 0),
    ],
)
def test_half_of_the_queue_taken_rounded_down_means_permits_for_as_many(queue_size, each, given_for_eight):
    node, out = consumer(queue_size=queue_size)
    sent = commands(play(node, out, 1, *messages(*range(8))))
    sent += done(node, out, 7)
    assert grants(sent) == [(ONE, each)] * given_for_eight
    assert node.state.parts[ONE].taken == 8 - each * given_for_eight


def test_what_waits_in_the_queue_is_not_taken():
    node, out = consumer(queue_size=4)
    assert play(node, out, 1, *messages(1, 2, 3, 4)) == [] and node.state.parts[ONE].taken == 1
    assert grants(done(node, out)) == [(ONE, 2)] and waiting(node) == [3, 4]


def test_paused_program_takes_nothing_and_grants_nothing():
    node, out = consumer(queue_size=2)
    play(node, out, PERSON, Pause())
    assert play(node, out, 1, *messages(1, 2)) == []
    assert commands(play(node, out, PERSON, Resume())) == [c.CommandFlow(ONE, 1)]


def test_message_in_hand_of_a_paused_program_is_handled_and_the_next_one_is_not_begun():
    node, out = consumer(queue_size=2)
    play(node, out, 1, *messages(1, 2))
    play(node, out, PERSON, Pause())
    assert done(node, out) == [] and node.state.program.finished == 1
    assert (
        waiting(node) == [2]
        and node.state.program.hand == -1
        and node.state.hand is None
        and "done" not in out.deadlines
    )


def test_each_message_of_a_batch_takes_a_permit_when_the_program_takes_it():
    node, out = consumer(queue_size=4)
    assert play(node, out, 1, batch(7, 70, 71, 72, 73)) == [] and node.state.parts[ONE].taken == 1
    assert [grants(done(node, out)) for _ in range(4)] == [[(ONE, 2)], [], [(ONE, 2)], []]


def test_each_part_counts_what_was_taken_of_its_own():
    node, out = consumer(FAILOVER, partitions=2, queue_size=4)
    play(node, out, 1, *messages(1), *messages(1, 2, consumer_id=TWO), *messages(2))
    assert [grants(done(node, out)) for _ in range(3)] == [[], [(TWO, 2)], [(ONE, 2)]]


def test_new_subscription_grants_the_whole_queue_and_begins_to_count():
    node, out = consumer(queue_size=10)
    play(node, out, 1, *messages(1, 2, 3))
    assert node.state.parts[ONE].taken == 1
    play(node, out, PERSON, Resubscribe([]))
    assert (
        commands(play(node, out, 1, c.CommandSuccess(3))) == [c.CommandFlow(ONE, 10)]
        and node.state.parts[ONE].taken == 0
    )


def test_same_success_a_second_time_grants_nothing():
    node, out = consumer()
    assert play(node, out, 1, c.CommandSuccess(1)) == []


@pytest.mark.parametrize("ends", ["leave", "reset", "closed by the broker", "unsubscribed"])
def test_success_of_a_former_subscription_grants_nothing(ends):
    """It was under way when the consumer went: whoever grants permits now would grant them for somebody
    else."""
    node, out = consumer()
    if ends == "leave":
        play(node, out, PERSON, Leave())
    elif ends == "reset":
        play(node, out, 1, Closed("reset"))
    elif ends == "closed by the broker":
        play(node, out, 1, c.CommandCloseConsumer(0, ONE))
    else:
        play(node, out, PERSON, Unsubscribe())
        play(node, out, 1, c.CommandSuccess(2))
        assert not node.state.is_subscribed
        assert play(node, out, 1, c.CommandSuccess(2)) == [], "of the request to unsubscribe, again"
        return
    assert play(node, out, 1, c.CommandSuccess(1)) == [] and not node.state.is_subscribed


def test_part_that_its_broker_closes_is_granted_the_whole_queue_again():
    node, out = consumer(partitions=2, queue_size=10)
    play(node, out, 1, *messages(1, 2), *messages(1, consumer_id=TWO))
    assert commands(play(node, out, 1, c.CommandCloseConsumer(0, ONE)))[0].request_id == 3
    assert commands(play(node, out, 1, c.CommandSuccess(3))) == [c.CommandFlow(ONE, 10)]
    assert node.state.parts[ONE].taken == 0 and node.state.parts[TWO].taken == 1


def test_messages_of_a_consumer_that_is_not_let_in_yet_take_nothing():
    node, out = consumer(queue_size=2)
    play(node, out, 1, c.CommandCloseConsumer(0, ONE))
    assert play(node, out, 1, *messages(1), batch(2, 20, 21)) == []
    assert waiting(node) == [] and node.state.program.hand == -1 and node.traffic.received_count == 0


def test_what_is_asked_for_again_out_of_the_queue_gives_its_permits_back():
    node, out = consumer(queue_size=6, ack_timeout_us=50)
    play(node, out, 1, *messages(1, 2, 3, 4))
    node.state.tracked.append((50, ONE, 2))  # as if it had been taken before, too
    sent = commands(wake(node, out, "time_over"))
    assert sent == [c.CommandRedeliverUnacknowledgedMessages(ONE, [1, 2, 3]), c.CommandFlow(ONE, 3)]
    assert waiting(node) == [4] and node.state.parts[ONE].taken == 0


@settings(max_examples=50, deadline=None)
@given(
    queue_size=st.integers(1, 12),
    sizes=st.lists(st.integers(1, 4), max_size=20),
    pauses=st.lists(st.integers(0, 60), max_size=4),
)
def test_permits_out_are_never_more_than_the_queue_has_room_for_and_half_of_it_comes_back(
    queue_size, sizes, pauses
):
    """The broker's part is played here: it sends while it has permits, a batch even beyond them."""
    node, out = consumer(queue_size=queue_size)
    permits, sent, number, steps = queue_size, 0, 0, 0
    waits = [tuple(range(sum(sizes[:place]), sum(sizes[: place + 1]))) for place in range(len(sizes))]
    while waits or node.state.program.hand >= 0:
        steps += 1
        while waits and permits > 0:
            numbers = waits.pop(0)
            permits -= len(numbers)
            sent += len(numbers)
            number += 1
            answer = play(
                node,
                out,
                1,
                c.CommandMessage(ONE, number, numbers[0], 0, numbers if len(numbers) > 1 else ()),
            )
            permits += sum(count for _, count in grants(commands(answer)))
        if steps in pauses:
            play(node, out, PERSON, Pause())
            done(node, out, node.state.program.hand >= 0)
            permits += sum(count for _, count in grants(commands(play(node, out, PERSON, Resume()))))
        elif node.state.program.hand >= 0:
            permits += sum(count for _, count in grants(done(node, out)))
        assert permits + len(node.state.queue) + node.state.parts[ONE].taken == queue_size
        assert node.state.parts[ONE].taken < max(queue_size // 2, 1)
    assert node.state.program.finished == sent == sum(sizes)
    assert all(first[1] < second[1] for first, second in pairwise(node.traffic.log))
