"""A broker, a publisher and two workers in a world whose links and processes fail: who notices what, when,
and that no message is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.errors import CommandError
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client.publisher import Declare, PublisherState
from broker_core.rabbitmq.client.worker import Subscribe, Worker, WorkerState
from broker_core.sim.design import Design
from broker_core.sim.keeping import keep, restored
from broker_core.sim.program import Leave, Order, Pause, Program, Resume
from broker_core.sim.world import World
from tests.core.playbook import Counted
from tests.core.rabbitmq.plays import queue_of
from tests.core.rabbitmq.programs import publisher, publisher_state, worker_state

WORKERS = ("w1", "w2")
SERVICE_US = 10 * MILLISECOND_US


def design(traffic: Counted) -> Design:
    return Design(
        {
            "broker": (BrokerState, Broker), "publisher": (PublisherState, publisher),
            "worker": (WorkerState, lambda state: Worker(state, traffic)),
        },
        m.Method | Declare | Subscribe | Order, jitter_us=200,
    )  # fmt: skip


def begun(prefetch: int = 2) -> tuple[World, Counted]:
    """All are connected, and half a second is over."""
    traffic = Counted()
    world = World("rabbit", design(traffic), 7)
    world.start("broker", "broker", BrokerState())
    world.start("publisher", "publisher", publisher_state("q"))
    world.order("publisher", Declare("broker"))
    for name in WORKERS:
        join(world, name, prefetch)
    world.advance(SECOND_US // 2)
    return world, traffic


def join(world: World, name: str, prefetch: int = 2) -> None:
    world.start(name, "worker", worker_state(name, "q", prefetch, Program(SERVICE_US)))
    world.order(name, Subscribe("broker"))


def publish(world: World, *messages: int) -> None:
    slot = world.slots["publisher"]
    for message in messages:
        slot.send(*slot.node.publish(message, -1))  # type: ignore[attr-defined]


def after(world: World, wait_us: int) -> int:
    """So much later, all of which has happened; gives the time."""
    world.advance(world.now_us + wait_us)
    return world.now_us


def queue(world: World) -> Any:
    return queue_of(world.slots["broker"].node, "q")


def held(world: World) -> dict[str, int]:
    """Unacked messages of each connection's program."""
    return {
        each.name: each.unacked_count()
        for each in world.slots["broker"].node.state.connections.values()
        if each.name in WORKERS
    }


def told(world: World, kind: str) -> list[Any]:
    return [event for event in world.told if event.kind == f"rabbitmq.{kind}"]


def done(traffic: Counted) -> list[int]:
    return [message for what, message in traffic.log if what == "handled"]


def test_without_a_fault_each_message_is_handled_once() -> None:
    world, traffic = begun()
    publish(world, *range(10))
    after(world, SECOND_US)
    assert (
        sorted(done(traffic)) == list(range(10))
        and queue(world).acked == 10
        and held(world) == {"w1": 0, "w2": 0}
    )


def test_reset_gives_what_a_worker_held_to_the_other_at_once() -> None:
    world, traffic = begun()
    publish(world, 0, 1, 2, 3)
    after(world, 2 * MILLISECOND_US + MILLISECOND_US // 2)
    connection = world.connection("w1", "broker")
    assert connection is not None and held(world) == {"w1": 2, "w2": 2}
    world.reset(connection)
    after(world, SECOND_US)
    assert world.slots["w1"].node.state.connection == 0 and held(world) == {"w2": 0}
    assert sorted(done(traffic)) == [0, 1, 2, 3] and world.slots["broker"].node.state.redelivered == 2
    (closed,) = told(world, "channel.closed")
    assert closed.inputs == {"unacked": 2, "reason": "rabbitmq.connection.closed_by_peer"}


@pytest.mark.parametrize("fault", ["crash", "pause", "cut"])
def test_silent_worker_is_given_up_two_to_three_intervals_after_its_last_word(fault: str) -> None:
    world, _ = begun()
    publish(world, 0, 1, 2, 3)
    silent_us = after(world, 3 * MILLISECOND_US)
    if fault == "cut":
        connection = world.connection("w1", "broker")
        assert connection is not None
        world.cut(connection, "w1")
    else:
        getattr(world, fault)("w1")
    world.advance(silent_us + 2 * m.HEARTBEAT_US - SECOND_US)
    assert told(world, "connection.missed_heartbeats") == [] and held(world)["w1"] >= 1
    world.advance(silent_us + 3 * m.HEARTBEAT_US + SECOND_US)
    (missed,) = told(world, "connection.missed_heartbeats")
    assert 2 * m.HEARTBEAT_US <= missed.at_us - silent_us <= 3 * m.HEARTBEAT_US
    assert missed.data["consumer"] == "w1" and "w1" not in held(world) and queue(world).acked == 4


def test_worker_whose_way_here_is_cut_hears_that_it_was_given_up_and_what_it_sent_is_lost() -> None:
    world, traffic = begun(prefetch=1)
    connection = world.connection("w1", "broker")
    assert connection is not None
    world.cut(connection, "w1")
    publish(world, 0, 1)
    after(world, 4 * m.HEARTBEAT_US)
    assert world.slots["w1"].node.state.connection not in (0, connection), "it has connected again"
    assert sorted(done(traffic)) == [0, 0, 1], "both have handled message 0: at least once"
    assert queue(world).acked == 2, "and one of them has acknowledged it"
    assert world.connection("w1", "broker") != connection


def test_worker_whose_way_there_is_cut_gets_nothing_and_is_never_given_up() -> None:
    world, traffic = begun(prefetch=1)
    connection = world.connection("w1", "broker")
    assert connection is not None
    world.cut(connection, "broker")
    publish(world, 0, 1, 2)
    after(world, 5 * m.HEARTBEAT_US)
    assert told(world, "connection.missed_heartbeats") == [] and held(world) == {"w1": 1, "w2": 0}
    assert done(traffic) == [1, 2], "its heartbeats arrive, so its message is nobody else's"
    world.heal(connection)
    after(world, SECOND_US)
    assert done(traffic) == [1, 2, 0] and held(world) == {"w1": 0, "w2": 0}


def test_full_worker_keeps_its_messages_at_the_broker_and_holds_no_more_than_its_prefetch() -> None:
    world, traffic = begun(prefetch=2)
    connection = world.connection("w1", "broker")
    assert connection is not None
    world.fill(connection, "broker", True)
    publish(world, *range(8))
    after(world, SECOND_US)
    assert world.slots["broker"].unsent(connection) == 2 and held(world) == {"w1": 2, "w2": 0}
    assert sorted(done(traffic)) == [1, 3, 4, 5, 6, 7]
    world.fill(connection, "broker", False)
    after(world, SECOND_US)
    assert sorted(done(traffic)) == list(range(8)) and queue(world).ready == 0


def test_slow_link_slows_its_own_worker_only() -> None:
    world, traffic = begun(prefetch=1)
    connection = world.connection("w1", "broker")
    assert connection is not None
    world.set_delay(connection, 400 * MILLISECOND_US)
    publish(world, *range(20))
    after(world, 399 * MILLISECOND_US)
    assert 0 not in done(traffic) and len(done(traffic)) == 19
    after(world, SECOND_US)
    assert queue(world).acked == 20


def test_paused_program_keeps_its_heartbeats_and_a_stopped_process_does_not() -> None:
    world, traffic = begun(prefetch=1)
    world.order("w1", Pause())
    publish(world, 0, 1)
    after(world, 5 * m.HEARTBEAT_US)
    assert told(world, "connection.missed_heartbeats") == [] and held(world) == {"w1": 1, "w2": 0}
    world.order("w1", Resume())
    after(world, SECOND_US)
    assert done(traffic) == [1, 0]


def test_worker_that_leaves_gives_back_what_it_has_and_hears_no_more() -> None:
    world, traffic = begun()
    publish(world, 0, 1, 2, 3)
    after(world, 5 * MILLISECOND_US)
    world.order("w1", Leave())
    after(world, SECOND_US)
    assert (
        sorted(done(traffic)) == [0, 1, 2, 3]
        and held(world) == {"w1": 0, "w2": 0}
        and queue(world).ring == ["3.1.ctag"]
    )


FAULTS = (
    "publish",
    "publish",
    "publish",
    "cut",
    "heal",
    "reset",
    "pause",
    "resume",
    "fill",
    "drain",
    "slow",
    "rest",
)
SCRIPT = st.lists(
    st.tuples(st.sampled_from(FAULTS), st.sampled_from(WORKERS), st.integers(0, 30_000)), max_size=20
)


def act(world: World, what: str, name: str, number: int) -> None:
    if what in ("pause", "resume"):
        getattr(world, what)(name)
        return
    connection = world.connection(name, "broker")
    if connection is None or what in ("publish", "rest"):
        return
    match what:
        case "cut" | "heal" | "reset":
            getattr(world, what)(connection)
        case "fill" | "drain":
            world.fill(connection, "broker", what == "fill")
        case "slow":
            world.set_delay(connection, number)


@given(SCRIPT, st.integers(0, 3), st.integers(0, 20))
@settings(max_examples=30)
def test_every_message_is_ready_held_or_acked_and_all_are_done_once_the_faults_are_over(
    script: list[tuple[str, str, int]], prefetch: int, kept_at: int
) -> None:
    world, traffic = begun(prefetch)
    published = 0
    for place, (what, name, number) in enumerate(script):
        if place == kept_at:
            world.told.clear()
            world = restored("rabbit", design(traffic), 7, keep(world))
        if what == "publish":
            publish(world, *range(published, published + 3))
            published += 3
        try:
            act(world, what, name, number)
        except CommandError:
            continue
        after(world, number)
        assert queue(world).ready + sum(held(world).values()) + queue(world).acked == queue(world).published
    for name in WORKERS:
        for heal in ("resume", "heal", "drain"):
            try:
                act(world, heal, name, 0)
            except CommandError:
                continue
    join(world, "w3")
    after(world, 5 * m.HEARTBEAT_US)
    assert queue(world).acked == queue(world).published == published
    assert set(done(traffic)) == set(range(published)), "at least once each"
