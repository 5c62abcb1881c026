"""A node's outbox in a world: deadlines, connections, posts that are withdrawn, and a door."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.events import Cause
from broker_core.sim.network import DOOR, JITTER_MASK
from broker_core.sim.node import Opened
from broker_core.sim.world import World
from tests.core.sim.puppet import (
    DELAY_US,
    Note,
    PuppetState,
    cause,
    design_of,
    diary,
    joined,
    say,
    slot,
    stage,
    texts,
)

# -- deadlines -----------------------------------------------------------------------------------------------


def test_deadline_of_the_same_name_is_moved_and_comes_due_once() -> None:
    world = stage("a")
    for at_us in (50, 90, 20):
        slot(world, "a").deadline("due", at_us)
    world.advance(200)
    assert diary(world, "a") == [(20, "due: due")] and slot(world, "a").deadlines == {}


@pytest.mark.parametrize(
    ("asked", "heard"),
    [((50, 90), [(90, "due: due")]), ((90, 50), [(50, "due: due")]), ((50, 50), [(50, "due: due")])],
)
def test_last_word_about_a_deadline_holds(asked: tuple[int, ...], heard: list[tuple[int, str]]) -> None:
    world = stage("a")
    for at_us in asked:
        slot(world, "a").deadline("due", at_us)
    world.advance(200)
    assert diary(world, "a") == heard


def test_cancelled_deadline_is_forgotten_and_may_be_set_anew() -> None:
    world = stage("a")
    slot(world, "a").deadline("due", 50)
    slot(world, "a").cancel("due")
    slot(world, "a").cancel("never set")
    world.advance(60)
    assert diary(world, "a") == []
    slot(world, "a").deadline("due", 70)
    world.advance(80)
    assert diary(world, "a") == [(70, "due: due")]


def test_deadlines_of_two_nodes_have_names_of_their_own() -> None:
    world = stage("a", "b")
    slot(world, "a").deadline("due", 50)
    slot(world, "b").deadline("due", 60)
    slot(world, "a").cancel("due")
    world.advance(100)
    assert diary(world, "a") == [] and diary(world, "b") == [(60, "due: due")]


@given(
    st.lists(
        st.tuples(st.sampled_from(("set", "cancel")), st.sampled_from("xyz"), st.integers(0, 90)), max_size=20
    ),
    st.integers(0, 90),
)
@settings(max_examples=50)
def test_what_comes_due_is_what_was_asked_for_last(orders: list[tuple[str, str, int]], look_us: int) -> None:
    world = stage("a")
    wanted: dict[str, int] = {}
    for what, name, at_us in orders:
        if what == "set":
            slot(world, "a").deadline(name, at_us)
            wanted[name] = at_us
        else:
            slot(world, "a").cancel(name)
            wanted.pop(name, None)
    world.advance(look_us)
    assert sorted(diary(world, "a")) == sorted(
        (at_us, f"due: {name}") for name, at_us in wanted.items() if at_us <= look_us
    )
    assert sorted(slot(world, "a").deadlines) == sorted(
        name for name, at_us in wanted.items() if at_us > look_us
    )


def test_draws_come_from_the_worlds_named_streams() -> None:
    world, twin = stage("a", "b"), stage("a", "b")
    drawn = [slot(world, name).draw("dice", 6) for name in "abba"]
    assert [slot(twin, "a").draw("dice", 6) for _ in range(4)] == drawn, "whoever draws, the stream goes on"
    assert world.random.draws["dice"] == 4 and set(drawn) <= set(range(6))


# -- connections ---------------------------------------------------------------------------------------------


def test_connection_is_good_for_sending_at_once_and_the_peer_hears_who_opened_it_first() -> None:
    world = stage(
        "a", "b", acts={"opened by a": lambda node, connection, out: out.send(connection, Note("welcome"))}
    )
    connection = slot(world, "a").connect("b")
    say(world, "a", connection, "hello")
    world.advance(5_000)
    assert diary(world, "b") == [(1_000, "opened by a"), (1_000, "hello")] and diary(world, "a") == [
        (2_000, "welcome")
    ]


def test_connections_are_numbered_through_the_whole_world() -> None:
    world = stage("a", "b", "c")
    assert [slot(world, one).connect(other) for one, other in (("a", "b"), ("c", "b"), ("a", "b"))] == [
        1,
        2,
        3,
    ]
    assert sorted(slot(world, "b").links) == [1, 2, 3] and sorted(slot(world, "a").links) == [1, 3]


def test_node_may_connect_to_itself() -> None:
    world = stage("a")
    connection = slot(world, "a").connect("a")
    world.advance(2_000)
    assert texts(world, "a") == ["opened by a"] and connection in slot(world, "a").links


def test_unsent_counts_what_waits_on_this_side_and_not_what_is_under_way() -> None:
    world, connection = joined()
    say(world, "a", connection, "under way")
    assert slot(world, "a").unsent(connection) == 0
    world.fill(connection, "a", True)
    say(world, "a", connection, "held")
    assert slot(world, "a").unsent(connection) == 2 and slot(world, "b").unsent(connection) == 0
    world.fill(connection, "a", False)
    assert slot(world, "a").unsent(connection) == 0


# -- posts ---------------------------------------------------------------------------------------------------


def post(world: object, *leaves: int) -> None:
    for number, leaves_us in enumerate(leaves):
        slot(world, "a").post(1, Note(f"post {number}"), leaves_us, cause(number))  # type: ignore[arg-type]


def test_posted_message_leaves_at_its_moment_and_follows_from_what_it_names() -> None:
    world, _ = joined(acts={"post 0": lambda node, connection, out: out.tell("toy.told", None, {}, {})})
    post(world, 12_000, 15_000)
    world.advance(30_000)
    assert diary(world, "b") == [(13_000, "post 0"), (16_000, "post 1")] and world.told[0].cause == cause(0)


def test_withdrawn_posts_never_arrive_and_the_rest_keeps_its_moments() -> None:
    world, connection = joined()
    post(world, 12_000, 15_000, 18_000)
    slot(world, "a").withdraw(connection, 2)
    world.advance(30_000)
    assert diary(world, "b") == [(13_000, "post 0")] and world.heap == []


def test_what_is_sent_after_a_withdrawal_does_not_wait_for_what_is_gone() -> None:
    world, connection = joined()
    post(world, 12_000, 25_000)
    slot(world, "a").withdraw(connection, 1)
    world.advance(13_500)
    say(world, "a", connection, "sent")
    world.advance(30_000)
    assert diary(world, "b") == [(13_000, "post 0"), (14_500, "sent")]


def test_what_is_sent_after_a_withdrawal_still_comes_after_what_has_not_arrived() -> None:
    world, connection = joined()
    post(world, 18_000, 25_000)
    slot(world, "a").withdraw(connection, 1)
    say(world, "a", connection, "sent")
    world.advance(30_000)
    assert diary(world, "b") == [(19_000, "post 0"), (19_000, "sent")]


def test_withdrawing_all_of_them_frees_the_link_from_now_on() -> None:
    world, connection = joined()
    post(world, 25_000)
    slot(world, "a").withdraw(connection, 1)
    say(world, "a", connection, "sent")
    world.advance(30_000)
    assert diary(world, "b") == [(11_000, "sent")]


def test_withdrawal_leaves_other_links_and_deadlines_alone() -> None:
    world, connection = joined()
    slot(world, "a").deadline("mine", 26_000)
    say(world, "b", connection, "back")
    post(world, 25_000)
    slot(world, "a").withdraw(connection, 1)
    world.advance(30_000)
    assert diary(world, "a") == [(11_000, "back"), (26_000, "due: mine")] and diary(world, "b") == []


def test_withdrawal_on_a_connection_that_is_gone_is_no_mistake() -> None:
    world, connection = joined()
    post(world, 25_000)
    slot(world, "a").close(connection)
    slot(world, "a").withdraw(connection, 1)
    slot(world, "a").withdraw(99, 1)


def test_posted_message_never_arrives_before_one_that_was_posted_earlier() -> None:
    world, connection = joined()
    world.set_delay(connection, 5_000)
    post(world, 12_000)
    world.set_delay(connection, 100)
    post(world, 13_000, 20_000)
    say(world, "a", connection, "sent")
    world.advance(30_000)
    assert diary(world, "b") == [(17_000, "post 0"), (17_000, "post 0"), (20_100, "post 1"), (20_100, "sent")]


@pytest.mark.parametrize("now_us", [10_000, 10_001, 10_777, 13_333])
def test_sent_fed_and_posted_at_one_moment_arrive_at_one_moment_jitter_and_all(now_us: int) -> None:
    arrived = []
    for way in ("send", "feed", "post"):
        world = World("w", replace(design_of(), jitter_us=900), 7)
        for name in ("a", "b"):
            world.start(name, "puppet", PuppetState())
        connection = slot(world, "a").connect("b")
        world.advance(now_us)
        diary(world, "b").clear()
        link = slot(world, "a").links[connection]
        if way == "feed":
            slot(world, "b").open_door(connection, 4)
            slot(world, "a").feed(connection, Note("x"))
            arrived.append(link.times[0])
        else:
            more = (now_us, Cause()) if way == "post" else ()
            getattr(slot(world, "a"), way)(connection, Note("x"), *more)
            world.advance(30_000)
            arrived.append(diary(world, "b")[0][0])
        assert link.last_us == arrived[-1]
    assert arrived == [now_us + DELAY_US + world.jitter[(now_us + link.number) & JITTER_MASK]] * 3


# -- a door --------------------------------------------------------------------------------------------------


def test_what_did_not_come_through_a_door_cannot_be_put_back() -> None:
    world, _ = joined()
    slot(world, "b").put_back([])
    with pytest.raises(InvariantError, match="b puts back what did not come through a door"):
        slot(world, "b").put_back([(12_000, Note("x"), None)])


def test_put_back_goes_before_what_was_sent_later_each_at_its_moment() -> None:
    world, connection = joined()
    slot(world, "b").open_door(connection, 4)
    slot(world, "b").put_back([(10_500, Note("first"), cause(1)), (10_700, Note("second"), None)])
    world.advance(20_000)
    assert diary(world, "b") == [(10_500, "first"), (10_700, "second")]


def test_door_opens_on_a_quiet_connection_only() -> None:
    world, connection = joined()
    say(world, "a", connection, "under way")
    slot(world, "b").open_door(connection, 4)
    assert slot(world, "b").door is None, "what is under way goes in first"
    world.advance(12_000)
    slot(world, "b").open_door(99, 4)
    assert slot(world, "b").door is None, "there is no such connection"
    world.cut(connection)
    slot(world, "b").open_door(connection, 4)
    assert slot(world, "b").door is None
    world.heal(connection)
    slot(world, "b").open_door(connection, 4)
    door = slot(world, "b").door
    assert door is not None and door.room == 4 and door.trouble == DOOR


def test_fed_messages_keep_their_order_when_the_link_grows_faster() -> None:
    world, connection = joined()
    slot(world, "b").open_door(connection, 4)
    for delay_us in (5_000, 100):
        world.set_delay(connection, delay_us)
        slot(world, "a").feed(connection, Note(f"fed {delay_us}"))
    link = slot(world, "a").links[connection]
    assert list(link.times) == [15_000, 15_000] and link.last_us == 15_000
    say(world, "a", connection, "sent")
    assert link.last_us == 15_000 and world.heap[0][0] == 15_000, (
        "nor does what is sent then come before them"
    )


def test_shut_door_sends_who_has_not_arrived_on_the_long_way() -> None:
    world, connection = joined()
    slot(world, "b").open_door(connection, 4)
    slot(world, "a").feed(connection, Note("fed"))
    slot(world, "b").shut_door()
    assert slot(world, "b").door is None and slot(world, "a").links[connection].room == 0
    world.advance(20_000)
    assert diary(world, "b") == [(11_000, "fed")]


def test_sending_shuts_out_what_is_fed_after_it() -> None:
    world, connection = joined()
    slot(world, "b").open_door(connection, 4)
    slot(world, "a").feed(connection, Note("fed"))
    link = slot(world, "a").links[connection]
    assert list(link.times) == [11_000] and link.room == 3
    say(world, "a", connection, "sent")
    slot(world, "a").feed(connection, Note("fed later"))
    assert link.room == 0 and len(link.times) == 1 and len(link.queue) == 3


def test_opened_and_closed_doors_leave_no_trace_on_an_end_without_one() -> None:
    world, connection = joined()
    slot(world, "a").shut_door()
    slot(world, "a").feed(connection, Opened("x"))
    world.advance(20_000)
    assert texts(world, "b") == ["opened by x"], "without a door to feed is to send"
    assert slot(world, "a").why() == Cause()


@pytest.mark.parametrize("room", [0, 2, 3, 9])
def test_posting_several_is_posting_one_after_the_other(room: int) -> None:
    seen = []
    for is_each in (False, True):
        world = World("w", replace(design_of(), jitter_us=900), 7)
        for name in ("a", "b"):
            world.start(name, "puppet", PuppetState())
        connection = slot(world, "a").connect("b")
        world.advance(10_000)
        if room:
            slot(world, "b").open_door(connection, room)
        messages = [Note(f"post {number}") for number in range(3)]
        if is_each:
            slot(world, "a").post_each(connection, messages, 12_000, 400, cause(5))
        else:
            for number, message in enumerate(messages):
                slot(world, "a").post(connection, message, 12_000 + number * 400, cause(5))
        link = slot(world, "a").links[connection]
        seen.append(
            (
                link.last_us,
                link.room,
                list(link.times),
                list(link.queue),
                [entry[:2] for entry in sorted(world.heap)],
            )
        )
    assert seen[0] == seen[1] and seen[0][1] == max(0, room - 3)
