"""What can become of a process: it exits, is killed, its machine goes silent, it is stopped and goes on. One
playbook each."""

from __future__ import annotations

import pytest

from broker_core.errors import CommandError
from broker_core.events import Cause
from broker_core.sim.node import Outbox
from tests.core.sim.puppet import DELAY_US, Puppet, cause, diary, joined, say, slot, stage, texts


def tell(node: Puppet, connection: int, out: Outbox) -> None:
    out.tell("toy.told", None, {}, {})


def later(*names: str, step_us: int = 100) -> list[tuple[str, int]]:
    """Deadlines, one after the other from 10,100 on."""
    return [(name, 10_000 + step_us * place) for place, name in enumerate(names, 1)]


# -- exit ----------------------------------------------------------------------------------------------------


def test_exit_lets_what_was_sent_arrive_and_then_closes() -> None:
    world, connection = joined(acts={"closed": tell})
    say(world, "a", connection, "last words")
    world.exit("a", cause(4))
    world.advance(20_000)
    assert diary(world, "b") == [(11_000, "last words"), (11_000, "closed")]
    assert world.told[0].cause == cause(4), "the peer learns from what"
    assert world.links == {} and world.of_connection == {} and slot(world, "b").links == {}


def test_what_is_on_its_way_to_a_process_that_exits_is_lost() -> None:
    world, connection = joined()
    say(world, "b", connection, "too late")
    world.exit("a")
    say(world, "b", connection, "later still")
    world.advance(20_000)
    assert texts(world, "b") == ["closed"] and world.links == {} and world.heap == []


def test_exit_takes_its_deadlines_with_it() -> None:
    world = stage("a", "b")
    node = world.node("a")
    slot(world, "a").deadline("due", 5)
    world.exit("a")
    world.advance(10)
    assert node is not None and node.state.diary == []


def test_exit_of_a_process_that_was_stopped_closes_its_connections_too() -> None:
    world, _ = joined()
    world.pause("a")
    world.exit("a")
    world.advance(20_000)
    assert texts(world, "b") == ["closed"] and world.condition("a") is None


def test_both_ends_may_exit_at_once_and_nothing_is_left_on_the_way() -> None:
    world, _ = joined()
    world.exit("a")
    world.exit("b")
    world.advance(20_000)
    assert world.links == {} and world.of_connection == {}


# -- the machine goes silent ---------------------------------------------------------------------------------


def test_crash_lets_what_was_sent_arrive_and_says_nothing_more() -> None:
    world, connection = joined()
    slot(world, "a").deadline("due", 12_000)
    say(world, "a", connection, "last words")
    world.crash("a")
    say(world, "b", connection, "are you there")
    world.advance(60_000)
    assert texts(world, "b") == ["last words"] and diary(world, "a") == []
    assert list(slot(world, "b").links) == [connection], "its end stays open"


def test_connection_to_a_crashed_machine_opens_and_stays_silent() -> None:
    world = stage("a", "b")
    world.crash("a")
    connection = slot(world, "b").connect("a")
    say(world, "b", connection, "hello")
    world.advance(60_000)
    assert texts(world, "b") == texts(world, "a") == [] and connection in slot(world, "b").links


def test_connection_to_a_name_without_a_process_opens_and_stays_silent() -> None:
    world = stage("a")
    connection = slot(world, "a").connect("nobody")
    say(world, "a", connection, "hello")
    world.advance(60_000)
    assert texts(world, "a") == [] and connection in slot(world, "a").links
    world.start("nobody", "puppet", slot(world, "a").node.state.__class__())
    say(world, "a", connection, "and now?")
    world.advance(120_000)
    assert texts(world, "nobody") == [], "one that starts later is another process"


@pytest.mark.parametrize(
    ("condition", "reason"),
    [("", "has not crashed"), ("pause", "has not crashed"), ("exit", "there is no a")],
)
def test_only_a_crashed_process_can_be_forgotten(condition: str, reason: str) -> None:
    world = stage("a")
    if condition:
        getattr(world, condition)("a")
    with pytest.raises(CommandError, match=reason) as refusal:
        world.forget("a")
    assert refusal.value.field == "node"


def test_forgotten_crash_leaves_its_peers_as_they_are() -> None:
    world, connection = joined()
    world.crash("a")
    world.forget("a")
    say(world, "b", connection, "hello?")
    world.advance(60_000)
    assert texts(world, "b") == [] and connection in slot(world, "b").links
    slot(world, "b").close(connection)
    world.advance(120_000)
    assert slot(world, "b").links == {} and slot(world, "b").deadlines == {}


# -- killed --------------------------------------------------------------------------------------------------


def test_killed_process_loses_what_it_sent_and_breaks_each_of_its_connections_once() -> None:
    world, connection = joined(acts={"reset": tell})
    again = slot(world, "b").connect("a")
    world.advance(20_000)
    say(world, "a", connection, "lost")
    world.kill("a", cause(6))
    world.advance(40_000)
    assert diary(world, "b") == [(20_000 + DELAY_US, "reset")] * 2
    assert [event.cause for event in world.told] == [cause(6), cause(6)]
    assert slot(world, "b").links == {} and again != connection


def test_who_connects_to_a_killed_process_is_refused_after_the_way_there_and_back() -> None:
    world = stage("a", "b", acts={"reset": tell})
    world.kill("a", cause(6))
    slot(world, "b").connect("a")
    world.advance(30_000)
    assert diary(world, "b") == [(2 * DELAY_US, "reset")] and world.told[0].cause == cause(6)


def test_two_messages_to_a_killed_process_are_refused_with_one_reset() -> None:
    world = stage("a", "b")
    world.kill("a")
    connection = slot(world, "b").connect("a")
    say(world, "b", connection, "one", "two")
    world.advance(30_000)
    assert texts(world, "b") == ["reset"] and slot(world, "b").links == {}
    world.forget("a")
    assert world.links == {} and world.of_connection == {}, "the dead end's side goes with its process"


# -- stopped, and on again -----------------------------------------------------------------------------------


def test_stopped_process_finds_its_deadlines_first_and_then_its_messages_each_in_order() -> None:
    world, connection = joined()
    world.pause("b")
    for name, at_us in later("late", "later"):
        slot(world, "b").deadline(name, at_us)
    say(world, "a", connection, "one", "two")
    world.advance(30_000)
    assert diary(world, "b") == []
    world.resume("b")
    world.advance(30_000)
    assert diary(world, "b") == [(30_000, text) for text in ("due: late", "due: later", "one", "two")]


def test_what_is_sent_after_it_goes_on_comes_behind_what_has_waited() -> None:
    world, connection = joined()
    world.pause("b")
    say(world, "a", connection, "waited")
    world.advance(30_000)
    world.resume("b")
    say(world, "a", connection, "new")
    world.advance(40_000)
    assert diary(world, "b") == [(30_000, "waited"), (31_000, "new")]


def test_deadline_ahead_when_it_goes_on_keeps_its_moment() -> None:
    world, _ = joined()
    slot(world, "b").deadline("ahead", 40_000)
    world.pause("b")
    world.advance(30_000)
    world.resume("b")
    world.advance(50_000)
    assert diary(world, "b") == [(40_000, "due: ahead")]


def test_deadline_that_came_due_while_it_was_stopped_still_follows_from_its_cause() -> None:
    world, _ = joined(acts={"due: late": tell})
    slot(world, "b").deadline("late", 10_500, because=cause(9))
    world.pause("b", cause(2))
    world.advance(20_000)
    world.resume("b")
    world.advance(20_000)
    assert [(event.at_us, event.cause) for event in world.told] == [(20_000, cause(9))]


def test_what_a_stopped_process_has_sent_arrives() -> None:
    world, connection = joined()
    say(world, "b", connection, "on its way")
    world.pause("b")
    world.advance(30_000)
    assert texts(world, "a") == ["on its way"]


def test_connection_to_a_stopped_process_waits_for_it() -> None:
    world = stage("a", "b")
    world.pause("b")
    connection = slot(world, "a").connect("b")
    say(world, "a", connection, "hello")
    world.advance(50_000)
    assert texts(world, "b") == [] and slot(world, "a").unsent(connection) == 0, "the network does not notice"
    world.resume("b")
    world.advance(50_000)
    assert texts(world, "b") == ["opened by a", "hello"]


def test_reset_of_a_stopped_process_is_learnt_when_it_goes_on() -> None:
    world, connection = joined()
    world.pause("b")
    say(world, "a", connection, "lost")
    world.reset(connection)
    world.advance(30_000)
    assert texts(world, "a") == ["reset"] and texts(world, "b") == []
    world.resume("b")
    world.advance(30_000)
    assert texts(world, "b") == ["reset"] and world.links == {}


@pytest.mark.parametrize("end", ["pause", "crash", "kill"])
@pytest.mark.parametrize("before", ["pause", "crash", "kill"])
def test_one_that_does_not_run_can_neither_stop_nor_break_again(before: str, end: str) -> None:
    world = stage("a")
    getattr(world, before)("a", cause(1))
    with pytest.raises(CommandError, match="a is paused" if before == "pause" else "a is crashed"):
        getattr(world, end)("a", cause(2))
    assert slot(world, "a").silenced_by == cause(1)


@pytest.mark.parametrize("act", ["exit", "crash", "kill", "forget", "pause", "resume"])
def test_nothing_can_be_done_to_a_name_without_a_process(act: str) -> None:
    world = stage("a")
    with pytest.raises(CommandError) as refusal:
        getattr(world, act)("ghost")
    assert (refusal.value.field, refusal.value.reason) == ("node", "there is no ghost")


# -- whose fault silence is ----------------------------------------------------------------------------------


@pytest.mark.parametrize("silenced", ["pause", "crash"])
def test_silence_is_blamed_on_the_process_before_the_link(silenced: str) -> None:
    world, connection = joined()
    world.cut(connection, "a", cause(5))
    getattr(world, silenced)("a", cause(6))
    slot(world, "b").blame_silence(connection)
    assert world.cause == cause(6)


def test_silence_is_blamed_on_the_way_here_and_not_on_the_way_there() -> None:
    world, connection = joined()
    world.cut(connection, "b", cause(5))
    world.cause = cause(1)
    slot(world, "b").blame_silence(connection)
    assert world.cause == cause(1), "what b sends is cut; what it hears is not"
    slot(world, "a").blame_silence(connection)
    assert world.cause == cause(5)


def test_silence_of_a_forgotten_process_leaves_the_cause_as_it_is() -> None:
    world, connection = joined()
    world.crash("a", cause(6))
    world.forget("a")
    world.cause = cause(1)
    slot(world, "b").blame_silence(connection)
    assert world.cause == cause(1)


def test_one_that_went_on_is_to_blame_no_longer() -> None:
    world, connection = joined()
    world.pause("a", cause(6))
    world.resume("a")
    world.cause = None
    slot(world, "b").blame_silence(connection)
    assert world.cause is None and slot(world, "b").why() == Cause()
