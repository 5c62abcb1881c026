"""The cable between two nodes: what is done to it holds for the connections of today and of later, and
outlives both processes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from broker_core.errors import CommandError
from broker_core.sim.keeping import keep, restored
from broker_core.sim.routes import cut_route, heal_route, slow_route
from tests.core.sim.puppet import PuppetState, cause, design_of, diary, joined, say, slot, stage, texts


def test_cut_route_holds_one_way_and_the_answers_still_come() -> None:
    world, connection = joined()
    cut_route(world, "a", "b", cause(3))
    say(world, "a", connection, "held")
    say(world, "b", connection, "heard")
    world.advance(20_000)
    assert (
        texts(world, "a") == ["heard"]
        and texts(world, "b") == []
        and slot(world, "a").unsent(connection) == 1
    )
    assert (
        slot(world, "a").links[connection].cut_by == cause(3)
        and slot(world, "b").links[connection].cut_by is None
    )
    heal_route(world, "a", "b")
    assert slot(world, "a").links[connection].cut_by is None
    world.advance(30_000)
    assert diary(world, "b") == [(21_000, "held")]


def test_later_connection_is_cut_as_well_and_blames_the_same_cause() -> None:
    world = stage("a", "b", "c")
    cut_route(world, "a", "b", cause(3))
    to_b, to_c = slot(world, "a").connect("b"), slot(world, "a").connect("c")
    world.advance(20_000)
    assert texts(world, "b") == [] and texts(world, "c") == ["opened by a"]
    slot(world, "b").blame_silence(to_b)
    assert world.cause == cause(3)
    world.cause = None
    slot(world, "c").blame_silence(to_c)
    assert world.cause is None


def test_route_outlives_the_process_at_its_end() -> None:
    world = stage("a", "b")
    cut_route(world, "a", "b")
    slow_route(world, "b", "a", 9_000)
    world.crash("b")
    world.forget("b")
    world.start("b", "puppet", PuppetState())
    connection = slot(world, "a").connect("b")
    say(world, "b", connection, "slow answer")
    world.advance(30_000)
    assert texts(world, "b") == [] and diary(world, "a") == [(9_000, "slow answer")]


def test_slow_route_is_for_every_connection_until_it_is_as_designed_again() -> None:
    world, connection = joined()
    slow_route(world, "a", "b", 6_000)
    later = slot(world, "a").connect("b")
    say(world, "a", connection, "today")
    say(world, "b", connection, "as ever")
    world.advance(20_000)
    assert diary(world, "b") == [(16_000, "opened by a"), (16_000, "today")] and diary(world, "a") == [
        (11_000, "as ever")
    ]
    slow_route(world, "a", "b", None)
    say(world, "a", later, "fast again")
    say(world, "a", slot(world, "a").connect("b"), "new")
    world.advance(30_000)
    assert [at_us for at_us, _ in diary(world, "b")[2:]] == [21_000] * 3


def test_delay_of_nothing_is_a_delay_and_not_the_designs() -> None:
    world, _ = joined()
    slow_route(world, "a", "b", 0)
    slot(world, "a").connect("b")
    world.advance(10_000)
    assert diary(world, "b") == [(10_000, "opened by a")]


def test_cut_route_and_slow_route_are_one_cable() -> None:
    world, connection = joined()
    cut_route(world, "a", "b")
    slow_route(world, "a", "b", 6_000)
    say(world, "a", connection, "hello")
    heal_route(world, "a", "b")
    say(world, "a", slot(world, "a").connect("b"), "still slow")
    world.advance(30_000)
    assert diary(world, "b")[-1] == (16_000, "still slow")


def test_route_is_cut_and_healed_once_and_each_way_by_itself() -> None:
    world, _ = joined()
    with pytest.raises(CommandError, match="not cut"):
        heal_route(world, "a", "b")
    cut_route(world, "a", "b")
    with pytest.raises(CommandError, match="cut already") as refusal:
        cut_route(world, "a", "b")
    assert refusal.value.field == "link"
    with pytest.raises(CommandError, match="not cut"):
        heal_route(world, "b", "a")
    heal_route(world, "a", "b")
    with pytest.raises(CommandError, match="not cut"):
        heal_route(world, "a", "b")


@pytest.mark.parametrize(("one", "other", "missing"), [("ghost", "b", "ghost"), ("a", "ghost", "ghost")])
def test_route_of_an_unknown_node_is_refused_and_leaves_no_route(one: str, other: str, missing: str) -> None:
    world, _ = joined()
    acts: list[Callable[[], object]] = [
        lambda: cut_route(world, one, other),
        lambda: slow_route(world, one, other, 5_000),
    ]
    for act in acts:
        with pytest.raises(CommandError, match=f"there is no {missing}"):
            act()
    assert world.routes == {}


def test_heal_of_a_connection_does_not_mend_its_cable() -> None:
    world, connection = joined()
    cut_route(world, "a", "b")
    world.heal(connection)
    say(world, "a", connection, "through")
    say(world, "a", slot(world, "a").connect("b"), "held")
    world.advance(30_000)
    assert texts(world, "b") == ["through"]


def test_reset_on_a_cut_cable_is_learnt_by_the_end_that_can_still_hear() -> None:
    world, connection = joined()
    cut_route(world, "a", "b")
    world.reset(connection)
    world.advance(20_000)
    assert texts(world, "a") == ["reset"] and texts(world, "b") == []
    heal_route(world, "a", "b")
    world.advance(30_000)
    assert texts(world, "b") == ["reset"] and world.links == {}


def test_kept_routes_hold_in_the_restored_world() -> None:
    world, _ = joined()
    cut_route(world, "a", "b", cause(3))
    slow_route(world, "b", "a", 4_000)
    twin = restored("w", design_of(), 7, keep(world))
    connection = slot(twin, "a").connect("b")
    say(twin, "b", connection, "slow")
    twin.advance(20_000)
    assert texts(twin, "b") == [] and diary(twin, "a") == [(14_000, "slow")]
    heal_route(twin, "a", "b")
    twin.advance(30_000)
    assert texts(twin, "b") == ["opened by a"]
