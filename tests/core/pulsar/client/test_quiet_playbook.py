"""A quiet program step by step: what it sets, posts and opens its door for, what it has done when somebody
looks, and what ends the quiet."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import pytest

from broker_core.events import Cause
from broker_core.pulsar import commands as c
from broker_core.pulsar.client.acks import ACKS
from broker_core.pulsar.client.config import ConsumerConfig
from broker_core.pulsar.client.consumer import (
    Consumer,
    ConsumerState,
    HoldAcks,
    ReleaseAcks,
    Resubscribe,
    Subscribe,
)
from broker_core.pulsar.client.quiet import FLOW, GROUPS_MAX, ROOM
from broker_core.pulsar.settings import SHARED
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program
from tests.core.playbook import Counted, Played, play, wake

GROUP_US = 1_050
"""A group that begins with a message done at 100 leaves at 1,150: that is between two of a program that takes
100 us for each."""


@dataclass
class Door:
    """As a link is at an open door: when each message arrived, and which with what it followed from."""

    room: int = 0
    times: deque[int] = field(default_factory=deque)
    queue: deque[tuple[object, Cause | None]] = field(default_factory=deque)


class Unwatched(Counted):
    is_watched = False


class Quiet(Played):
    door: Door | None  # type: ignore[assignment]

    def open_door(self, connection, room):
        self.door = self.door or Door()
        self.door.room = room

    def shut_door(self):
        if self.door is not None:
            self.door.room = 0

    def arrive(self, at_us, *numbers):
        """Messages come to the open door at this moment."""
        assert self.door is not None and self.door.room >= len(numbers), "there is no room"
        for number in numbers:
            self.door.room -= 1
            self.door.times.append(at_us)
            self.door.queue.append((c.CommandMessage(1, number, number), Cause(command=number)))


def quiet(*numbers, queue_size=20, service_us=100, **options):
    """It has begun with the first of these at 0, the others are in its queue."""
    config = ConsumerConfig(SHARED, queue_size=queue_size, **{"ack_group_us": GROUP_US, **options})
    node, out = Consumer(ConsumerState("c1", Program(service_us), config), Unwatched()), Quiet("c1")
    for _, command in play(node, out, PERSON, Subscribe("broker", [])):
        play(node, out, 1, c.CommandSuccess(command.request_id))
    play(node, out, 1, *[c.CommandMessage(1, number, number) for number in numbers])
    return node, out


def handled(node):
    return [number for what, number in node.traffic.log if what == "handled"]


def test_it_wakes_for_its_group_alone():
    node, out = quiet(0, 1, 2)
    assert node.state.program.is_quiet and out.deadlines == {ACKS: 100 + GROUP_US}
    assert node.traffic.received_count == 0, "nobody wants to hear of what it receives"


@pytest.mark.parametrize(("waiting", "room"), [(0, 8), (1, 7), (7, 1)])
def test_door_is_open_for_as_many_as_are_not_half_of_the_queue(waiting, room):
    """With nine more than the one in hand the tenth is taken, and permits go out."""
    node, out = quiet(*range(1 + waiting))
    assert out.door.room == room and FLOW not in out.deadlines and not node.state.awaits_flow


def test_with_half_of_the_queue_there_it_wakes_for_its_permits_and_its_door_is_open_for_any_number():
    node, out = quiet(*range(10))
    assert out.deadlines[FLOW] == 100 + 8 * 100, "as the tenth is begun"
    assert out.door.room == ROOM and node.state.awaits_flow


@pytest.mark.parametrize(
    ("now_us", "log"), [(0, []), (99, []), (100, [0]), (299, [0, 1]), (300, [0, 1, 2]), (9_000, [0, 1, 2])]
)
def test_who_looks_sees_what_it_has_handled_by_then(now_us, log):
    node, out = quiet(0, 1, 2)
    node.settle(now_us, out)
    assert handled(node) == log == node.state.parts[1].acks and node.state.program.finished == len(log)
    left = [number for number in (0, 1, 2) if number not in log]
    assert (
        node.state.program.hand == (left[0] if left else -1)
        and [message.entry for message in node.state.queue] == left[1:]
    )
    assert out.take() == [] and out.deadlines == {ACKS: 100 + GROUP_US}, (
        "looking sends nothing and sets nothing"
    )


def test_looking_often_is_the_same_as_looking_once():
    once, out = quiet(0, 1, 2)
    often, other = quiet(0, 1, 2)
    for now_us in (50, 100, 100, 230, 299, 300):
        often.settle(now_us, other)
    once.settle(300, out)
    assert once.state == often.state and once.traffic.log == often.traffic.log


def test_what_comes_to_the_door_is_taken_when_it_is_its_turn():
    node, out = quiet(0)
    out.arrive(50, 1)
    out.arrive(60, 2)
    node.settle(199, out)
    assert handled(node) == [0] and node.state.program.hand == 1 and node.state.program.done_us == 200
    assert [message.entry for message in node.state.queue] == [2] and node.state.parts[1].taken == 2


def test_idle_program_begins_with_what_comes_when_it_comes_and_for_its_reason():
    node, out = quiet(0)
    out.arrive(700, 1)
    node.settle(699, out)
    assert node.state.hand is None and node.state.parts[1].taken == 1
    node.settle(750, out)
    assert (node.state.program.hand, node.state.program.done_us, node.state.program.because) == (
        1,
        800,
        Cause(command=1),
    )
    assert node.state.parts[1].taken == 2
    node.settle(800, out)
    assert handled(node) == [0, 1] and node.state.hand is None and node.state.parts[1].taken == 2


def test_several_that_come_while_nobody_looks_are_each_begun_when_they_come():
    node, out = quiet(0)
    for at_us, number in ((300, 1), (320, 2), (700, 3)):
        out.arrive(at_us, number)
    node.settle(5_000, out)
    assert (
        handled(node) == [0, 1, 2, 3]
        and node.state.parts[1].taken == 4
        and node.state.parts[1].acks == [0, 1, 2, 3]
    )
    assert node.state.program.done_us == 800


def test_door_that_has_room_left_when_a_group_goes_keeps_it_and_one_that_is_shut_is_opened_again():
    node, out = quiet(0, 1, 2, ack_group_us=150)
    assert out.door.room == 6
    wake(node, out, ACKS)  # 0 and 1
    assert out.door.room == 6 and node.state.hand.entry == 2
    node, out = quiet(0, 1, 2, ack_group_us=150)
    out.shut_door()
    wake(node, out, ACKS)
    assert out.door.room == 6, "of nine until half of the queue is taken, three are"


def test_message_that_comes_as_the_last_one_is_done_finds_it_idle():
    """At the same microsecond the program is done first; either way it begins then."""
    node, out = quiet(0)
    out.arrive(100, 1)
    node.settle(100, out)
    assert handled(node) == [0] and node.state.program.hand == 1 and node.state.program.done_us == 200
    assert node.state.program.because == Cause(command=1)


def test_message_that_is_done_as_its_group_leaves_is_in_the_next_one():
    node, out = quiet(0, 1, 2, ack_group_us=100)  # it leaves at 200
    assert wake(node, out, ACKS) == [(1, c.CommandAck(1, [0]))]
    assert node.state.program.hand == 1
    assert [(message.entries, leaves_us) for _, message, leaves_us in out.posted] == [
        ([1], 300)
    ] and out.deadlines[ACKS] == 400


def test_last_group_of_an_idle_program_ends_the_quiet_and_shuts_the_door():
    node, out = quiet(0)
    assert wake(node, out, ACKS) == [(1, c.CommandAck(1, [0]))]
    assert not node.state.program.is_quiet and out.door.room == 0 and out.deadlines == {}
    play(node, out, 1, c.CommandMessage(1, 1, 1), now_us=5_000)
    assert node.state.program.is_quiet and out.deadlines[ACKS] == 5_100 + GROUP_US


@pytest.mark.parametrize(
    ("group_us", "size"), [(50, 1), (100, 1), (101, 2), (150, 2), (200, 2), (201, 3), (300, 3), (350, 4)]
)
def test_groups_are_posted_as_far_as_the_queue_tells_them(group_us, size):
    """A group has its first message and those that are done before it leaves."""
    node, out = quiet(*range(12), queue_size=1_000, ack_group_us=group_us)
    wake(node, out, ACKS)
    first = node.state.hand.entry
    assert first == size
    known = min((11 - first) // size, GROUPS_MAX)
    groups = [list(range(first + number * size, first + (number + 1) * size)) for number in range(known)]
    assert [message.entries for _, message, _ in out.posted] == groups
    assert [leaves_us for *_, leaves_us in out.posted] == [
        (group[0] + 1) * 100 + group_us for group in groups
    ]
    assert list(node.state.leaving) == [((group[0] + 1) * 100 + group_us, size) for group in groups]
    assert out.deadlines[ACKS] == (first + known * size + 1) * 100 + group_us, (
        "it wakes for the first one that is not known"
    )


def test_no_more_than_so_many_groups_are_posted():
    node, out = quiet(*range(2 * GROUPS_MAX + 40), queue_size=1_000, ack_group_us=150)
    wake(node, out, ACKS)
    assert len(out.posted) == GROUPS_MAX == len(node.state.leaving)


def test_groups_that_have_left_are_no_longer_its_own():
    node, out = quiet(*range(9), queue_size=1_000, ack_group_us=150)
    wake(node, out, ACKS)  # 0 and 1 at 250; [2, 3] leaves at 450, [4, 5] at 650, [6, 7] at 850
    node.settle(449, out)
    assert node.state.parts[1].acks == [2, 3] and len(node.state.leaving) == 3
    node.settle(450, out)
    assert node.state.parts[1].acks == [] and len(node.state.leaving) == 2
    node.settle(900, out)
    assert node.state.parts[1].acks == [8] and not node.state.leaving and handled(node) == list(range(9))


def test_groups_that_have_not_left_are_withdrawn_and_it_wakes_for_the_first_of_them():
    node, out = quiet(*range(9), queue_size=1_000, ack_group_us=150)
    wake(node, out, ACKS)
    node.recall(500, out)
    assert [message.entries for _, message, _ in out.posted] == [[2, 3]], "that one has left"
    assert out.deadlines[ACKS] == 650 and not node.state.leaving and node.state.parts[1].acks == [4]


def test_recalling_where_nothing_is_posted_keeps_its_deadline_and_sets_that_of_the_message_in_hand():
    node, out = quiet(0, 1, 2)
    node.recall(150, out)
    assert out.deadlines == {ACKS: 100 + GROUP_US, DONE: 200} and handled(node) == [0]
    assert not node.state.program.is_quiet and out.room == 0, "what is sent to it now is received"


def test_permits_go_out_as_the_message_is_begun_that_makes_half_of_the_queue():
    node, out = quiet(*range(10))
    assert wake(node, out, FLOW) == [(1, c.CommandFlow(1, 10))]  # at 900
    assert node.state.program.hand == 9 and node.state.parts[1].taken == 0 and not node.state.awaits_flow
    assert node.state.program.is_quiet and FLOW not in out.deadlines and out.door.room == 9, (
        "ten more make the next half"
    )


def test_permits_withdraw_the_groups_that_would_leave_before_them_on_the_same_connection():
    node, out = quiet(*range(10), ack_group_us=150)
    wake(node, out, ACKS)
    assert len(out.posted) == 3
    assert wake(node, out, FLOW) == [(1, c.CommandFlow(1, 10))]
    assert [message.entries for _, message, _ in out.posted] == [[2, 3], [4, 5], [6, 7]], (
        "at 900 all of them have left"
    )
    assert node.state.parts[1].acks == [8]


def test_wake_for_permits_that_are_no_longer_awaited_does_nothing():
    node, out = quiet(0)
    wake(node, out, ACKS)
    out.deadlines[FLOW] = 2_000
    assert wake(node, out, FLOW) == [] and out.deadlines == {}


ORDERS = [
    (PERSON, Pause()),
    (PERSON, Pace(300)),
    (PERSON, HoldAcks()),
    (PERSON, ReleaseAcks()),
    (1, c.CommandPing()),
]


@pytest.mark.parametrize(("connection", "order"), ORDERS)
def test_whatever_is_said_to_it_ends_the_quiet_with_the_message_in_hand(connection, order):
    node, out = quiet(*range(12))
    play(node, out, connection, order, now_us=250)
    assert not node.state.program.is_quiet and not node.state.awaits_flow
    assert handled(node) == [0, 1] and node.state.program.hand == 2
    assert out.deadlines == {ACKS: 100 + GROUP_US, DONE: 300} and out.door.room == 0


def test_what_was_in_hand_is_gone_with_the_order_that_takes_it():
    for connection, order in (
        (PERSON, Leave()),
        (PERSON, Resubscribe([])),
        (1, Closed("reset")),
        (1, c.CommandCloseConsumer(0, 1)),
    ):
        node, out = quiet(*range(12))
        play(node, out, connection, order, now_us=250)
        assert (
            not node.state.program.is_quiet
            and node.state.hand is None
            and DONE not in out.deadlines
            and FLOW not in out.deadlines
        )
        assert handled(node) == [0, 1] and {
            number for what, number in node.traffic.log if what == "dropped"
        } == set(range(2, 12))


def test_who_leaves_acknowledges_what_it_has_handled_by_then_and_takes_back_what_was_posted():
    node, out = quiet(*range(9), queue_size=1_000, ack_group_us=150)
    wake(node, out, ACKS)
    sent = play(node, out, PERSON, Leave(), now_us=720)
    assert [message.entries for _, message, _ in out.posted] == [[2, 3], [4, 5]]
    assert sent[0] == (1, c.CommandAck(1, [6])) and handled(node) == list(range(7))


def test_idle_program_that_is_spoken_to_with_nothing_to_acknowledge_wakes_for_nothing():
    node, out = quiet(0)
    wake(node, out, ACKS)
    play(node, out, 1, c.CommandMessage(1, 1, 1), now_us=5_000)
    play(node, out, PERSON, Pause(), now_us=5_050)
    assert out.deadlines == {DONE: 5_100}, (
        "no group has begun: that of the message in hand begins when it is done"
    )


def test_order_in_the_microsecond_in_which_half_of_the_queue_is_taken_sends_the_permits():
    node, out = quiet(*range(10))
    assert (
        play(node, out, PERSON, Pace(100), now_us=900) == [(1, c.CommandFlow(1, 10))]
        and FLOW not in out.deadlines
    )
    assert node.state.parts[1].taken == 0


@pytest.mark.parametrize(("now_us", "hand", "done_us", "queue"), [(150, 1, 200, [2]), (250, 2, 350, [])])
def test_message_that_comes_past_the_door_finds_the_program_as_far_as_it_is(now_us, hand, done_us, queue):
    node, out = quiet(0, 1)
    out.shut_door()
    play(node, out, 1, c.CommandMessage(1, 2, 2), now_us=now_us)
    assert (
        node.state.program.hand,
        node.state.program.done_us,
        [message.entry for message in node.state.queue],
    ) == (hand, done_us, queue)
    assert node.state.program.is_quiet


def test_batch_ends_the_quiet():
    node, out = quiet(0)
    play(node, out, 1, c.CommandMessage(1, 7, 70, 0, (70, 71)), now_us=150)
    assert not node.state.program.is_quiet and node.state.program.hand == 70 and handled(node) == [0]
    assert out.deadlines == {ACKS: 100 + GROUP_US, DONE: 250}


@pytest.mark.parametrize(
    "options",
    [
        {"partitions": 2},
        {"ack_group_us": 0},
        {"cannot": 7},
        {"ack_timeout_us": 10**6},
        {"acks_cumulatively": True},
    ],
)
def test_program_of_which_more_shows_than_its_groups_wakes_for_each_message(options):
    node, out = quiet(1, 2, **options)
    assert not node.state.program.is_quiet and out.deadlines[DONE] == 100 and FLOW not in out.deadlines


def test_watched_program_wakes_for_each_message():
    node, _ = quiet()
    watched = Consumer(node.state, Counted())
    assert node.can_be_quiet and not watched.can_be_quiet


def test_stuck_program_and_one_with_a_batch_that_is_not_done_are_not_quiet():
    node, out = quiet()
    play(node, out, PERSON, HoldAcks())
    play(node, out, 1, c.CommandMessage(1, 1, 1))
    assert not node.state.program.is_quiet and DONE in out.deadlines
    node, out = quiet()
    play(node, out, 1, c.CommandMessage(1, 7, 70, 0, (70, 71)))
    wake(node, out, DONE)
    assert not node.state.program.is_quiet
    wake(node, out, DONE)
    play(node, out, 1, c.CommandMessage(1, 8, 8), now_us=300)
    assert node.state.program.is_quiet, "the batch is acknowledged, and the next message begins"
