"""One connection and its faults: slow, cut both ways or one, full, reset, closed. Every moment is exact, as
there is no jitter."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError, InvariantError
from broker_core.rng import SeededRandom
from broker_core.sim.network import JITTER_COUNT, Link, due_us, jitter_table
from broker_core.sim.node import Outbox
from tests.core.sim.puppet import DELAY_US, Puppet, cause, diary, joined, say, slot, stage, texts


def tell(node: Puppet, connection: int, out: Outbox) -> None:
    out.tell("toy.told", None, {}, {})


# -- slow ----------------------------------------------------------------------------------------------------


def test_another_delay_is_for_what_is_sent_from_now_on_each_way() -> None:
    world, connection = joined()
    say(world, "a", connection, "fast")
    world.set_delay(connection, 5_000)
    say(world, "a", connection, "slow")
    say(world, "b", connection, "back")
    world.advance(20_000)
    assert diary(world, "b") == [(11_000, "fast"), (15_000, "slow")] and diary(world, "a") == [
        (15_000, "back")
    ]


def test_message_that_would_overtake_arrives_with_the_one_before_it() -> None:
    world, connection = joined()
    world.set_delay(connection, 5_000)
    say(world, "a", connection, "slow")
    world.set_delay(connection, 100)
    say(world, "a", connection, "fast")
    world.advance(14_999)
    assert diary(world, "b") == []
    world.advance(20_000)
    assert diary(world, "b") == [(15_000, "slow"), (15_000, "fast")]
    say(world, "a", connection, "free")
    world.advance(30_000)
    assert diary(world, "b")[2] == (20_100, "free")


def test_another_delay_is_of_one_connection_only() -> None:
    world, connection = joined()
    world.set_delay(connection, 5_000)
    other = slot(world, "a").connect("b")
    say(world, "a", other, "hello")
    world.advance(20_000)
    assert diary(world, "b") == [(11_000, "opened by a"), (11_000, "hello")]


# -- cut -----------------------------------------------------------------------------------------------------


def test_cut_holds_what_is_under_way_and_what_is_sent_and_a_heal_sends_it_again_in_order() -> None:
    world, connection = joined()
    say(world, "a", connection, "under way")
    world.cut(connection)
    say(world, "a", connection, "sent later")
    world.advance(20_000)
    assert diary(world, "b") == [] and slot(world, "a").unsent(connection) == 2
    world.heal(connection)
    say(world, "a", connection, "after")
    world.advance(30_000)
    assert diary(world, "b") == [(20_000 + DELAY_US, text) for text in ("under way", "sent later", "after")]
    assert slot(world, "a").unsent(connection) == 0


def test_message_not_due_yet_when_the_cut_heals_keeps_its_moment() -> None:
    world, connection = joined()
    say(world, "a", connection, "under way")
    world.cut(connection)
    world.advance(10_400)
    world.heal(connection)
    world.advance(20_000)
    assert diary(world, "b") == [(11_000, "under way")], "it was not due, so nothing held it"


def test_one_way_cut_lets_the_other_way_through() -> None:
    world, connection = joined()
    world.cut(connection, "a")
    say(world, "a", connection, "held")
    say(world, "b", connection, "heard")
    world.advance(20_000)
    assert texts(world, "a") == ["heard"] and texts(world, "b") == []


def test_second_cut_is_refused_unless_it_cuts_the_way_that_was_left() -> None:
    world, connection = joined()
    world.cut(connection, "a", cause(1))
    with pytest.raises(CommandError, match="cut already"):
        world.cut(connection, "a")
    world.cut(connection, None, cause(2))
    with pytest.raises(CommandError, match="cut already"):
        world.cut(connection, "b")
    assert [link.cut_by for link in world.of_connection[connection]] == [cause(2), cause(2)]
    world.heal(connection)
    assert [link.cut_by for link in world.of_connection[connection]] == [None, None]


def test_heal_of_a_stopped_receivers_link_waits_for_it_too() -> None:
    world, connection = joined()
    world.cut(connection)
    world.pause("b")
    say(world, "a", connection, "hello")
    world.advance(20_000)
    world.heal(connection)
    world.advance(30_000)
    assert diary(world, "b") == [] and slot(world, "a").unsent(connection) == 0, "it left the sender's side"
    world.resume("b")
    world.advance(30_000)
    assert diary(world, "b") == [(30_000, "hello")]


def test_resume_does_not_heal_a_cut() -> None:
    world, connection = joined()
    world.pause("b")
    world.cut(connection)
    say(world, "a", connection, "hello")
    world.advance(20_000)
    world.resume("b")
    world.advance(30_000)
    assert diary(world, "b") == []
    world.heal(connection)
    world.advance(40_000)
    assert diary(world, "b") == [(31_000, "hello")]


# -- full ----------------------------------------------------------------------------------------------------


def test_full_receiver_hears_nothing_and_can_still_speak() -> None:
    world, connection = joined()
    world.fill(connection, "a", True)
    say(world, "a", connection, "one", "two")
    say(world, "b", connection, "speaks")
    world.advance(20_000)
    assert (
        texts(world, "a") == ["speaks"]
        and texts(world, "b") == []
        and slot(world, "a").unsent(connection) == 2
    )
    world.fill(connection, "a", False)
    world.advance(30_000)
    assert diary(world, "b") == [(21_000, "one"), (21_000, "two")]


@pytest.mark.parametrize("first", ["heal", "drain"])
def test_what_is_cut_and_full_waits_for_both(first: str) -> None:
    world, connection = joined()
    world.cut(connection, "a")
    world.fill(connection, "a", True)
    say(world, "a", connection, "hello")
    world.advance(20_000)
    for act in (first, "drain" if first == "heal" else "heal"):
        assert diary(world, "b") == []
        if act == "heal":
            world.heal(connection)
        else:
            world.fill(connection, "a", False)
        world.advance(world.now_us + 5_000)
    assert diary(world, "b") == [(26_000, "hello")]


# -- reset ---------------------------------------------------------------------------------------------------


def test_reset_loses_what_is_under_way_and_tells_both_ends_why() -> None:
    world, connection = joined(acts={"reset": tell})
    say(world, "a", connection, "lost")
    say(world, "b", connection, "lost too")
    world.advance(10_500)
    world.reset(connection, cause(7))
    world.advance(20_000)
    assert diary(world, "a") == diary(world, "b") == [(11_500, "reset")]
    assert [event.cause for event in world.told] == [cause(7)] * 2 and world.links == {}


def test_reset_of_a_slow_connection_takes_its_delay() -> None:
    world, connection = joined()
    world.set_delay(connection, 7_000)
    world.reset(connection)
    world.advance(30_000)
    assert diary(world, "a") == diary(world, "b") == [(17_000, "reset")]


def test_reset_before_the_peer_has_heard_of_the_connection_is_learnt_by_its_maker_alone() -> None:
    world = stage("a", "b")
    connection = slot(world, "a").connect("b")
    say(world, "a", connection, "hello")
    world.reset(connection)
    world.advance(20_000)
    assert texts(world, "a") == ["reset"] and texts(world, "b") == []


def test_what_an_end_sends_before_it_learns_of_the_reset_is_lost_without_a_word() -> None:
    world, connection = joined()
    world.reset(connection)
    say(world, "a", connection, "into the void")
    world.advance(20_000)
    assert texts(world, "b") == ["reset"] and texts(world, "a") == ["reset"]


def test_broken_connection_cannot_be_broken_cut_or_filled_again() -> None:
    world, connection = joined()
    world.reset(connection)
    with pytest.raises(CommandError, match="no such connection"):
        world.reset(connection)
    world.advance(20_000)
    acts: list[Callable[[], object]] = [
        lambda: world.reset(connection),
        lambda: world.cut(connection),
        lambda: world.fill(connection, "a", True),
    ]
    for act in acts:
        with pytest.raises(CommandError) as refusal:
            act()
        assert (refusal.value.field, refusal.value.reason) == ("link", "there is no such connection")
    assert world.connection("a", "b") is None


def test_reset_goes_through_a_cut_that_was_of_the_connection() -> None:
    world, connection = joined()
    world.cut(connection)
    world.reset(connection)
    world.advance(20_000)
    assert texts(world, "a") == texts(world, "b") == ["reset"]


# -- closed --------------------------------------------------------------------------------------------------


def test_closed_end_hears_nothing_more_and_its_peer_hears_all_that_was_sent() -> None:
    world, connection = joined()
    say(world, "a", connection, "one")
    say(world, "b", connection, "too late")
    slot(world, "a").close(connection)
    world.advance(20_000)
    assert texts(world, "b") == ["one", "closed"] and texts(world, "a") == []
    assert world.links == {} and slot(world, "b").links == {}


def test_both_ends_may_close_at_once_and_neither_hears_of_it() -> None:
    world, connection = joined()
    slot(world, "a").close(connection)
    slot(world, "b").close(connection)
    world.advance(20_000)
    assert texts(world, "a") == texts(world, "b") == [] and world.links == {}


def test_closing_waits_behind_a_cut() -> None:
    world, connection = joined()
    world.cut(connection, "a")
    say(world, "a", connection, "one")
    slot(world, "a").close(connection)
    world.advance(20_000)
    assert texts(world, "b") == []
    world.heal(connection)
    world.advance(30_000)
    assert texts(world, "b") == ["one", "closed"]


@pytest.mark.parametrize("way", ["send", "close"])
def test_connection_that_an_end_does_not_have_is_our_own_mistake(way: str) -> None:
    world, connection = joined()
    slot(world, "a").close(connection)
    with pytest.raises(InvariantError, match=f"a sends on connection {connection}"):
        getattr(slot(world, "a"), way)(connection, *(() if way == "close" else ("x",)))


def test_newest_open_connection_is_found_from_either_side() -> None:
    world, first = joined()
    assert world.connection("b", "a") == world.connection("a", "b") == first
    second = slot(world, "b").connect("a")
    assert world.connection("a", "b") == second
    slot(world, "b").close(second)
    assert world.connection("a", "b") == first
    world.start("c", "puppet", slot(world, "a").node.state.__class__())
    assert world.connection("a", "c") is None
    with pytest.raises(CommandError, match="no ghost"):
        world.connection("a", "ghost")


# -- how late ------------------------------------------------------------------------------------------------


@given(st.integers(0, 5_000), st.integers(0, 10**6))
@settings(max_examples=50)
def test_jitter_stays_in_its_bounds_and_reaches_both_ends(jitter_us: int, seed: int) -> None:
    table = jitter_table(SeededRandom(seed), jitter_us)
    assert len(table) == JITTER_COUNT and min(table) >= 0 and max(table) <= jitter_us
    if 0 < jitter_us <= 20:  # 1,024 draws of at most 21 values
        assert min(table) == 0 and max(table) == jitter_us


def test_jitter_costs_one_draw_and_none_where_there_is_none() -> None:
    random = SeededRandom(7)
    jitter_table(random, 0)
    assert random.draws == {}
    jitter_table(random, 300)
    assert random.draws == {"network.jitter": 1}


@given(
    st.lists(st.tuples(st.integers(0, 900), st.integers(0, 3_000)), min_size=1, max_size=20),
    st.integers(1, 5),
)
@settings(max_examples=50)
def test_nothing_is_due_before_what_was_sent_earlier_or_sooner_than_the_delay(
    sends: list[tuple[int, int]], number: int
) -> None:
    table = jitter_table(SeededRandom(7), 200)
    link, now_us, before = Link(number, 1, 1, 2, 0), 0, 0
    for step_us, link.delay_us in sends:
        now_us += step_us
        at_us = due_us(link, now_us, table)
        assert at_us >= max(before, now_us + link.delay_us)
        assert at_us <= max(before, now_us + link.delay_us + 200)
        before = at_us
        assert link.last_us == at_us


def test_two_links_are_not_late_together() -> None:
    table = jitter_table(SeededRandom(7), 1_000)
    late = [
        [due_us(Link(number, 1, 1, 2, 0), now_us, table) - now_us for now_us in range(0, 4_000, 500)]
        for number in (1, 2)
    ]
    assert late[0] != late[1]
