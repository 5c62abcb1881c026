"""A node's outbox in a world: deadlines, draws and connections."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.sim.network import JITTER_MASK
from broker_core.sim.world import World
from tests.core.sim.puppet import (
    DELAY_US,
    Note,
    PuppetState,
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


@pytest.mark.parametrize("now_us", [10_000, 10_001, 10_777, 13_333])
def test_message_takes_its_links_delay_and_the_jitter_of_its_moment(now_us: int) -> None:
    world = World("w", replace(design_of(), jitter_us=900), 7)
    for name in ("a", "b"):
        world.start(name, "puppet", PuppetState())
    connection = slot(world, "a").connect("b")
    world.advance(now_us)
    diary(world, "b").clear()
    link = slot(world, "a").links[connection]
    say(world, "a", connection, "x")
    world.advance(30_000)
    due_us = now_us + DELAY_US + world.jitter[(now_us + link.number) & JITTER_MASK]
    assert diary(world, "b") == [(due_us, "x")] and link.last_us == due_us


def test_messages_keep_their_order_when_the_link_grows_faster() -> None:
    world, connection = joined()
    for delay_us in (5_000, 100):
        world.set_delay(connection, delay_us)
        say(world, "a", connection, f"sent {delay_us}")
    world.advance(30_000)
    assert diary(world, "b") == [(15_000, "sent 5000"), (15_000, "sent 100")]
