"""The laws of a world, over random scripts of talk and faults."""

import json
import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.events import Cause
from broker_core.sim.keeping import keep, restored
from broker_core.sim.world import World
from tests.core.sim.chatter import ACTIONS, DESIGN, NAMES, act, digest, new_world, take

ROOT = Path(__file__).parents[3]
END_US = 40_000

acts = st.tuples(st.integers(0, END_US), st.sampled_from(ACTIONS), st.integers(0, 2), st.integers(0, 2))
begin = [(0, "talk", 0, 1), (0, "talk", 1, 2), (0, "talk", 2, 0)]
scripts = st.lists(acts, max_size=14).map(lambda extra: sorted([*begin, *extra], key=lambda entry: entry[0]))
cuts = st.lists(st.integers(0, END_US), max_size=6)


def run(script, stops=(), restore_at=None, by_report=False) -> World:
    """A world after its script. stops: extra moments at which `advance` is called. restore_at: once kept and
    restored there."""
    world = new_world()
    moments = sorted(
        [(at, 1, entry) for at, *entry in script] + [(at, 0, None) for at in stops],
        key=lambda moment: moment[:2],
    )
    for at_us, _, action in moments:
        if restore_at is not None and at_us > restore_at:
            world.advance(restore_at)
            world, restore_at = twin_of(world), None
        go(world, at_us, by_report)
        if action:
            act(world, tuple(action))
    go(world, END_US, by_report)
    return world


def go(world: World, until_us: int, by_report: bool) -> None:
    world.advance(until_us, by_report=by_report)
    while world.is_midway:
        assert by_report and world.told
        world.advance(until_us, by_report=True)


def twin_of(world: World) -> World:
    told, world.told = world.told, []
    twin = restored("toy", DESIGN, 7, json.loads(json.dumps(keep(world)), object_hook=integer_keys))
    twin.told = told
    return twin


def integer_keys(entry):
    """JSON has texts for keys; MessagePack, which checkpoints are in, keeps integers."""
    return {int(key) if key.isdigit() else key: value for key, value in entry.items()}


@given(scripts, cuts)
@settings(deadline=None)
def test_advancing_in_pieces_is_advancing_at_once(script, stops):
    assert digest(run(script, stops)) == digest(run(script))


@given(scripts)
@settings(deadline=None)
def test_stopping_at_each_report_changes_nothing(script):
    assert digest(run(script, by_report=True)) == digest(run(script))


@given(scripts, st.integers(0, END_US))
@settings(deadline=None)
def test_restored_world_goes_on_the_same(script, restore_at):
    assert digest(run(script, restore_at=restore_at)) == digest(run(script))


@given(scripts)
@settings(deadline=None)
def test_messages_of_one_connection_never_overtake(script):
    world = run(script)
    for name in NAMES:
        node = world.node(name)
        if node is None:
            continue
        for what in ("said", "answered"):
            heard: dict[int, list[int]] = {}
            for _, kind, connection, number in node.state.diary:
                if kind == what:
                    heard.setdefault(connection, []).append(number)
            assert all(numbers == sorted(numbers) for numbers in heard.values())


@given(scripts, st.integers(1_000, 20_000), st.booleans())
@settings(deadline=None)
def test_nothing_crosses_a_cut_before_it_heals_and_all_of_it_after(script, cut_at, one_way):
    world = new_world()
    for at_us, *action in [
        entry for entry in script if entry[0] < cut_at and entry[1] in ("talk", "hush", "slow", "fast")
    ]:
        world.advance(at_us)
        act(world, tuple(action))
    world.advance(cut_at)
    connection = world.connection("a", "b")
    world.cut(connection, "a" if one_way else None)
    heard = len(diary(world, "b", connection))
    answered = len(diary(world, "a", connection))
    world.advance(cut_at + 10_000)
    assert len(diary(world, "b", connection)) == heard
    assert one_way or len(diary(world, "a", connection)) == answered
    said = world.node("a").state.said.get(connection, 0)
    world.heal(connection)
    world.advance(cut_at + 30_000)
    numbers = [number for _, kind, _, number in diary(world, "b", connection) if kind == "said"]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= said


def diary(world: World, name: str, connection: int):
    return [entry for entry in world.node(name).state.diary if entry[2] == connection]


@given(scripts)
@settings(deadline=None)
def test_cancelled_deadline_never_fires(script):
    world = run([entry for entry in script if entry[1] not in ("start", "exit", "forget")])
    for name in NAMES:
        quiet = False
        orders = {at for at, what, one, _ in script if what == "talk" and NAMES[one] == name}
        for at_us, kind, _, number in world.node(name).state.diary:
            if kind == "hushed":
                quiet = True
            elif kind == "said" and number % 7 == 0:
                quiet = False  # which sets a deadline again
            elif kind == "talk" and at_us in orders:
                quiet = False
            assert not (quiet and kind in ("talk", "late"))


def test_same_bytes_in_processes_that_hash_texts_differently():
    program = (
        "from tests.core.sim.test_world_laws import *\n"
        "script = sorted([*begin, *((k * 977 % END_US, ACTIONS[k * 7 % 16], k % 3, k * 5 % 3) for k in "
        "range(60))])\n"
        "world = run(script)\nprint(digest(world))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1 and outputs.pop().strip()


def test_cause_of_an_order_crosses_to_the_peer():
    world = new_world()
    act(world, ("talk", 0, 1))
    world.advance(5_000)
    world.exit("a")
    world.advance(10_000)
    (event,) = take(world)
    assert (event["kind"], event["id"]) == ("toy.closed", "toy:1")


def test_silence_is_blamed_on_what_silenced_the_peer():
    world = new_world()
    act(world, ("talk", 0, 1))
    world.advance(5_000)
    connection = world.connection("a", "b")
    world.cut(connection, "a", Cause(command=5))
    world.slots["b"].blame_silence(connection)
    assert world.cause == Cause(command=5)
    world.crash("a", Cause(command=6))
    world.slots["b"].blame_silence(connection)
    assert world.cause == Cause(command=6)
