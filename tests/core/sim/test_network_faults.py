"""Single faults of the network and of processes, one sentence each."""

import pytest

from broker_core.errors import CommandError, InvariantError
from broker_core.sim.keeping import keep, restored
from broker_core.sim.routes import cut_route, heal_route
from tests.core.sim.chatter import DESIGN, act, new_world


def kinds(world, name):
    return [kind for _, kind, _, _ in world.node(name).state.diary]


def talking():
    world = new_world()
    act(world, ("talk", 0, 1))
    world.advance(5_000)
    return world, world.connection("a", "b")


def test_message_takes_the_delay_and_at_most_the_jitter_more():
    world, _ = talking()
    opened, first = world.node("b").state.diary[:2]
    assert 700 <= opened[0] <= 1_100 and 700 <= first[0] <= 1_100


def test_reset_loses_what_is_under_way_and_both_ends_learn_of_it():
    world, connection = talking()
    world.set_delay(connection, 4_000)
    world.advance(6_500)
    heard = kinds(world, "b").count("said")
    world.reset(connection)
    world.advance(20_000)
    assert kinds(world, "a").count("closed") == kinds(world, "b").count("closed") == 1
    assert kinds(world, "b").count("said") == heard
    assert world.connection("a", "b") is None


def test_crashed_node_is_silent_and_its_peer_is_told_nothing():
    world, connection = talking()
    world.crash("b")
    heard = len(kinds(world, "b"))
    world.advance(60_000)
    assert len(kinds(world, "b")) == heard
    assert "closed" not in kinds(world, "a") and world.connection("a", "b") == connection


def test_exit_closes_the_connections_behind_it():
    world, _ = talking()
    world.exit("b")
    world.advance(10_000)
    assert kinds(world, "a")[-2:].count("closed") == 1 or "closed" in kinds(world, "a")
    assert world.links == {} and world.of_connection == {}


def test_paused_process_receives_everything_late_and_in_order():
    world, _ = talking()
    world.pause("b")
    before = world.node("b").state.diary[:]
    world.advance(20_000)
    assert world.node("b").state.diary == before
    world.resume("b")
    world.advance(21_000)
    numbers = [number for _, kind, _, number in world.node("b").state.diary if kind == "said"]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 19


def test_full_receiver_keeps_messages_with_their_sender():
    world, connection = talking()
    world.fill(connection, "a", True)
    world.advance(15_000)
    waiting = world.slots["a"].unsent(connection)
    assert waiting >= 9
    world.fill(connection, "a", False)
    world.advance(17_000)
    assert world.slots["a"].unsent(connection) == 0


def test_sending_on_a_closed_connection_is_our_own_mistake():
    world, connection = talking()
    world.slots["a"].close(connection)
    with pytest.raises(InvariantError):
        world.slots["a"].send(connection, None)


def test_refusals_name_the_field_and_change_nothing():
    world, connection = talking()
    world.cut(connection)
    with pytest.raises(CommandError, match="cut already"):
        world.cut(connection)
    with pytest.raises(CommandError, match="no nobody"):
        world.crash("nobody")
    world.heal(connection)
    with pytest.raises(CommandError, match="not cut"):
        world.heal(connection)
    with pytest.raises(CommandError, match="not paused"):
        world.resume("a")


def test_cut_route_holds_also_what_goes_over_a_new_connection():
    world, _ = talking()
    cut_route(world, "a", "b")
    with pytest.raises(CommandError):
        cut_route(world, "a", "b")
    heard = len(world.node("b").state.diary)
    act(world, ("talk", 0, 1))  # a new connection, between the same two
    world.advance(world.now_us + 20_000)
    assert len(world.node("b").state.diary) == heard
    heal_route(world, "a", "b")
    world.advance(world.now_us + 20_000)
    assert len(world.node("b").state.diary) > heard
    with pytest.raises(CommandError):
        heal_route(world, "a", "b")


def test_killed_process_is_noticed_by_its_peers():
    world, _ = talking()
    world.kill("b")
    world.advance(world.now_us + 20_000)
    assert kinds(world, "a").count("closed") == 1 and world.condition("b") == "crashed"


def test_killed_process_refuses_who_connects_later_and_a_silent_machine_does_not():
    for end, closed in (("kill", 1), ("crash", 0)):
        world, _ = talking()
        getattr(world, end)("b")
        world.advance(world.now_us + 20_000)
        before = kinds(world, "a").count("closed")
        act(world, ("talk", 0, 1))
        world.advance(world.now_us + 20_000)
        assert kinds(world, "a").count("closed") - before == closed


def test_killed_process_that_goes_from_the_books_breaks_what_was_on_its_way_to_it():
    world, _ = talking()
    world.kill("b")
    world.advance(world.now_us + 20_000)
    before = kinds(world, "a").count("closed")
    act(world, ("talk", 0, 1))
    world.forget("b")
    world.advance(world.now_us + 20_000)
    assert kinds(world, "a").count("closed") == before + 1


def test_a_world_kept_while_a_killed_process_is_asked_goes_on_the_same():
    world, _ = talking()
    world.kill("b")
    act(world, ("talk", 0, 1))
    world.told.clear()
    other = restored("toy", DESIGN, 7, keep(world))
    for each in (world, other):
        each.advance(30_000)
        each.told.clear()
    assert keep(world) == keep(other) and kinds(world, "a") == kinds(other, "a")
