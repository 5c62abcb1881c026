"""A master, two brokers, a producer and consumers in a world whose links and processes fail: who is removed
when, and that no message is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.errors import CommandError
from broker_core.sim.design import Design
from broker_core.sim.keeping import keep, restored
from broker_core.sim.program import Pause, Resume
from broker_core.sim.world import World
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import owned_by
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.client import producer as producers
from broker_core.tubemq.client.balance_program import BalanceProgram
from broker_core.tubemq.client.producer import NO_KEY, Producer, ProducerState
from broker_core.tubemq.client.program_state import ProgramState, Shutdown, Start
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import Master, MasterState
from broker_core.tubemq.message_log import HEADER_BYTES
from tests.core.playbook import Counted
from tests.core.tubemq.programs import program_state

KEYS = [f"{broker}:t:{number}" for broker in (1, 2) for number in range(3)]
NAMES = {1: "b1", 2: "b2"}
SIZE = 100
BOOT_US = 300 * MILLISECOND_US


def design(traffic: Counted) -> Design:
    return Design(
        {
            "master": (MasterState, Master),
            "broker": (BrokerState, Broker),
            "consumer": (ProgramState, lambda state: BalanceProgram(state, traffic)),
            "producer": (
                ProducerState,
                lambda state: Producer(state, KEYS, lambda code: KEYS[code % len(KEYS)]),
            ),
        },
        r.Request | Start | Shutdown | Pause | Resume | producers.Connect,
        jitter_us=200,
    )


def begun(consumers: int = 2, until_us: int = 5 * SECOND_US) -> tuple[World, Counted]:
    """Five seconds in all are registered for what is theirs."""
    traffic = Counted()
    world = World("tube", design(traffic), 7)
    world.start("master", "master", MasterState(configured(["t#1:1:3:1,2:1:3:1"])))
    for number, name in NAMES.items():
        world.start(
            name,
            "broker",
            BrokerState(
                number,
                {key: Partition() for key in KEYS if key.startswith(f"{number}:")},
                transfer_bytes_max=4 * (HEADER_BYTES + SIZE),
            ),
        )
    world.start("producer", "producer", ProducerState())
    world.order("producer", producers.Connect(NAMES))
    for node_id in range(consumers):
        launch(world, f"c{node_id}-1", consumers, node_id)
    world.advance(until_us)
    return world, traffic


def launch(world: World, client_id: str, source_count: int, node_id: int) -> None:
    world.start(
        client_id,
        "consumer",
        program_state(client_id, source_count, node_id, 10 * MILLISECOND_US),
    )
    world.order(client_id, Start(["master"], NAMES, BOOT_US))


def state(world: World, name: str) -> Any:
    return world.slots[name].node.state


def send(world: World, first: int, count: int) -> None:
    slot = world.slots["producer"]
    for number in range(first, first + count):
        slot.send(*slot.node.send(number, NO_KEY, SIZE))  # type: ignore[attr-defined]


def partitions(world: World) -> dict[str, Partition]:
    return {
        key: partition for name in NAMES.values() for key, partition in state(world, name).partitions.items()
    }


def owners(world: World) -> dict[str, str]:
    return {
        key: partition.groups["g"].owner
        for key, partition in partitions(world).items()
        if "g" in partition.groups
    }


def told(world: World, kind: str) -> list[Any]:
    return [event for event in world.told if event.kind == f"tubemq.{kind}"]


def handled(traffic: Counted) -> list[int]:
    return [message for what, message in traffic.log if what == "handled"]


def test_without_a_fault_each_message_is_handled_once_by_the_node_of_its_partition() -> None:
    world, traffic = begun()
    send(world, 0, 60)
    world.advance(10 * SECOND_US)
    assert sorted(handled(traffic)) == list(range(60))
    assert owners(world) == {key: f"c{node}-1" for node in (0, 1) for key in owned_by(KEYS, 2, node)}
    assert all(
        partition.groups["g"].offset == partition.end == 10 for partition in partitions(world).values()
    )


@pytest.mark.parametrize("fault", ["crash", "pause"])
def test_dead_clients_thirty_seconds_are_counted_by_each_from_what_it_heard_last(fault: str) -> None:
    world, _ = begun()
    silent_us = world.now_us
    getattr(world, fault)("c0-1")
    world.advance(silent_us + 31 * SECOND_US)
    (by_master,) = told(world, "master.consumer_timed_out")
    by_brokers = told(world, "broker.registration_timed_out")
    assert silent_us + 30 * SECOND_US - 13 * SECOND_US <= by_master.at_us <= silent_us + 30 * SECOND_US
    assert {event.data["partition"] for event in by_brokers} == set(owned_by(KEYS, 2, 0))
    assert all(silent_us + 29 * SECOND_US <= event.at_us for event in by_brokers), (
        "they have heard its reads, 400 ms apart"
    )
    assert {owner for owner in owners(world).values() if owner} == {"c1-1"}, (
        "nobody takes over: a node id's partitions are its own"
    )


def test_stopped_client_that_goes_on_learns_what_it_lost() -> None:
    world, _ = begun()
    world.pause("c0-1")
    world.advance(world.now_us + 40 * SECOND_US)
    world.resume("c0-1")
    world.advance(world.now_us + 25 * SECOND_US)
    lost = [key for event in told(world, "client.disconnected") for key in event.data["partitions"]]
    assert sorted(lost) == sorted(owned_by(KEYS, 2, 0))
    # The master, asked for a sign of life, knows it no more: it registers again, and takes what is its own.
    assert {key for key, owner in owners(world).items() if owner == "c0-1"} == set(owned_by(KEYS, 2, 0))


def test_successor_is_refused_by_the_master_and_then_waits_for_the_brokers() -> None:
    world, traffic = begun()
    send(world, 0, 12)
    world.advance(world.now_us + 10 * SECOND_US)
    silent_us = world.now_us
    world.crash("c0-1")
    launch(world, "c0-2", 2, 0)
    for _ in range(60):
        world.advance(world.now_us + SECOND_US)
        if state(world, "c0-2").phase == "refused":  # its operator starts it again every second
            assert state(world, "c0-2").refused_code == r.NODE_ID_TAKEN
    assert {key for key, owner in owners(world).items() if owner == "c0-2"} == set(owned_by(KEYS, 2, 0))
    (started,) = [event for event in told(world, "client.started") if event.data["client"] == "c0-2"]
    assert silent_us + 17 * SECOND_US <= started.at_us <= silent_us + 32 * SECOND_US
    send(world, 12, 12)
    world.advance(world.now_us + 5 * SECOND_US)
    assert sorted(set(handled(traffic))) == list(range(24))


def test_client_with_another_source_count_stays_out_until_the_group_is_gone() -> None:
    world, _ = begun()
    launch(world, "c2-1", 3, 2)
    world.advance(world.now_us + 5 * SECOND_US)
    assert (state(world, "c2-1").phase, state(world, "c2-1").refused_code) == (
        "refused",
        r.SOURCE_COUNT_DIFFERS,
    )
    for client in ("c0-1", "c1-1"):
        world.order(client, Shutdown())
    world.advance(world.now_us + 5 * SECOND_US)
    assert (
        state(world, "c2-1").phase == "started" and state(world, "master").groups["g"].terms.source_count == 3
    )
    world.advance(world.now_us + 5 * SECOND_US)
    assert {key for key, owner in owners(world).items() if owner} == set(owned_by(KEYS, 3, 2)), (
        "the rest is nobody's"
    )


def test_reset_between_client_and_broker_costs_one_pass_and_no_message() -> None:
    world, traffic = begun(1)
    send(world, 0, 60)
    world.advance(world.now_us + 15 * MILLISECOND_US)
    connection = world.connection("c0-1", "b1")
    assert connection is not None
    world.reset(connection)
    world.advance(world.now_us + 21 * SECOND_US)
    assert sorted(set(handled(traffic))) == list(range(60)) and set(owners(world).values()) == {"c0-1"}
    again = sum(state(world, name).read_again for name in NAMES.values())
    assert len(handled(traffic)) - 60 <= again <= 4, "one batch at the most comes again"


def test_cut_to_one_broker_leaves_the_partitions_of_the_other_only_until_a_call_is_out() -> None:
    world, traffic = begun(1)
    connection = world.connection("c0-1", "b1")
    assert connection is not None
    world.cut(connection, "b1")
    world.advance(world.now_us + SECOND_US)
    send(world, 0, 12)
    world.advance(world.now_us + 5 * SECOND_US)
    assert handled(traffic) == [], "its one thread waits for the answer of a read"
    world.heal(connection)
    world.advance(world.now_us + 5 * SECOND_US)
    assert sorted(handled(traffic)) == list(range(12))


def test_slow_broker_slows_the_reads_of_the_other_too() -> None:
    counts = []
    for delay_us in (1_000, 200_000):
        world, traffic = begun(1)
        connection = world.connection("c0-1", "b1")
        assert connection is not None
        world.set_delay(connection, delay_us)
        world.advance(world.now_us + SECOND_US)
        send(world, 0, 60)
        world.advance(world.now_us + SECOND_US)
        counts.append(len(handled(traffic)))
    assert counts[0] > counts[1] > 0, "reads are made one after another"


FAULTS = ("send", "send", "reset", "pause", "resume", "cut", "heal", "slow", "order pause", "order resume")
STEP = st.tuples(
    st.sampled_from(FAULTS),
    st.integers(0, 1),
    st.sampled_from((*NAMES.values(), "master")),
    st.integers(0, 3) | st.integers(0, 3_000),
)


def act(world: World, what: str, client: str, peer: str, number: int) -> None:
    match what:
        case "pause" | "resume":
            getattr(world, what)(client)
        case "order pause" | "order resume":
            world.order(client, Pause() if what == "order pause" else Resume())
        case "reset" | "cut" | "heal" | "slow":
            connection = world.connection(client, peer)
            if connection is not None and what == "slow":
                world.set_delay(connection, number * 10)
            elif connection is not None:
                getattr(world, what)(connection)


@given(
    st.lists(STEP, max_size=7),
    st.integers(0, 7),
    st.integers(BOOT_US, BOOT_US + 15_000) | st.just(5 * SECOND_US),
)
@example(
    script=[("send", 0, "b1", 0), ("reset", 0, "b1", 0)], kept_at=7, begin_us=BOOT_US + 5_800
)  # a connect is out
@example(script=[("send", 0, "b2", 0), ("reset", 0, "b2", 0)], kept_at=7, begin_us=BOOT_US + 8_200)
@settings(max_examples=40)
def test_nobody_has_what_is_anothers_and_everything_is_done_once_short_faults_are_over(
    script: list[tuple[str, int, str, int]], kept_at: int, begin_us: int
) -> None:
    """No fault lasts the 30 s after which a client would be removed: three seconds each at the most, and
    seven of them. They begin while the clients start, connect, or read."""
    world, traffic = begun(until_us=begin_us)
    sent = 0
    for place, (what, node_id, peer, wait_ms) in enumerate(script):
        if place == kept_at:
            world.told.clear()
            world = restored("tube", design(traffic), 7, keep(world))
        if what == "send":
            send(world, sent, 12)
            sent += 12
        try:
            act(world, what, f"c{node_id}-1", peer, wait_ms)
        except CommandError:
            continue
        world.advance(world.now_us + wait_ms * MILLISECOND_US)
        for key, owner in owners(world).items():
            assert not owner or key in owned_by(KEYS, 2, int(owner[1]))
    for client in ("c0-1", "c1-1"):
        for what, peers in (("resume", ("b1",)), ("order resume", ("b1",)), ("heal", ("b1", "b2", "master"))):
            for peer in peers:
                try:
                    act(world, what, client, peer, 0)
                except CommandError:
                    continue
    world.advance(world.now_us + 40 * SECOND_US)
    assert all(
        partition.groups["g"].offset == partition.end
        for partition in partitions(world).values()
        if partition.end
    )
    assert set(handled(traffic)) == set(range(sent)), "at least once each"
